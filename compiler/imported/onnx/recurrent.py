"""RNN, GRU and LSTM, step by step, forwards and backwards."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from compiler.imported import steps
from compiler.imported.onnx.activations import activated
from compiler.imported.onnx.call import Call, operator
from compiler.imported.steps import State, in_steps, laid_out, stacked
from compiler.tensor import Tensor
from compiler.tensors.variables import Variable

Step: TypeAlias = Callable[[Tensor | int, State], State]
Held: TypeAlias = Callable[[Tensor], Tensor]
GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
USUAL = {"RNN": ("Tanh",), "GRU": ("Sigmoid", "Tanh"), "LSTM": ("Sigmoid", "Tanh", "Tanh")}

WITH_ALPHA = ("affine", "leakyrelu", "hardsigmoid", "elu")
WITH_BETA = ("affine", "hardsigmoid")
"""The activation functions that take a parameter from a list."""


@operator("RNN", "GRU", "LSTM")
def recurrent(
    call: Call, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None = None,
    lengths: Tensor | None = None, *states: Tensor | None,
) -> tuple[Tensor, ...]:  # fmt: skip
    """One layer: every hidden state, and the last state of each direction."""
    return layers(call, x, w, r, b, lengths, states)


def _same(x: Tensor) -> Tensor:
    return x


def layers(
    call: Call, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None, lengths: Tensor | None,
    states: Sequence[Tensor | None], held: Held = _same,
) -> tuple[Tensor, ...]:  # fmt: skip
    """A layer for each direction; `held` is applied to inputs and hidden states."""
    if call.get("layout", 0):
        x = x.transpose(0, 1)
        states = [*(s if s is None else s.transpose(0, 1) for s in states[:2]), *states[2:]]
    hidden, batch, count = r.shape[-1], x.symbolic_shape[1], x.symbolic_shape[0]
    directions, trips = w.shape[0], _count(count)
    call.check_fits("hidden_size", hidden)
    states_of = 2 if call.op == "LSTM" else 1
    rows, last = [], []
    for d in range(directions):
        weights = laid_out(r[d], trips, batch)
        backwards = d == 1 or call.get("direction", "forward") == "reverse"
        peephole = states[2] if len(states) > 2 else None
        step = _step(call, d, x, w[d], weights, None if b is None else b[d],
                     None if peephole is None else peephole[d], held)  # fmt: skip
        state: State = tuple(
            first[d] if place < len(states) and (first := states[place]) is not None
            else Tensor.zeros(1, hidden, dtype=x.dtype).expand(batch, hidden)
            for place in range(states_of)
        )  # fmt: skip
        hidden_states, state = in_steps(trips, _kept(step, lengths), state, backwards)
        rows.append(hidden_states)
        last.append(state)
    every = rows[0].unsqueeze(1) if directions == 1 else rows[0].stack(rows[1], dim=1)
    ends = [stacked([state[place] for state in last]) for place in range(states_of)]
    if call.get("layout", 0):
        every = every.permute(2, 0, 1, 3)
        ends = [end.transpose(0, 1) for end in ends]
    return (every, *ends)


def _count(count: "int | Variable") -> int:
    if isinstance(count, int):
        return count
    raise TypeError(f"the steps are counted beforehand, and there are {count} of them")


def _kept(step: Step, lengths: Tensor | None) -> steps.Step:
    """The step, with its row; after the end of a sequence the state is unchanged and the row is
    0."""

    def whole(place: Tensor | int, state: State) -> tuple[State, Tensor]:
        new = step(place, state)
        if lengths is None:
            return new, new[0]
        goes_on = lengths.gt(place).unsqueeze(1)
        kept = tuple(goes_on.where(a, old) for a, old in zip(new, state, strict=True))
        return kept, goes_on.where(kept[0], 0.0)

    return whole


def _bent(call: Call, place: int, x: Tensor) -> Tensor:
    """The activation function at that place, or its default."""
    names = [n.decode() if isinstance(n, bytes) else n for n in call.get("activations", ())]
    usual = USUAL[call.op]
    name = names[place] if place < len(names) else usual[place % len(usual)]
    before = [n.lower() for n in names[:place]]
    alpha = _parameter(call.get("activation_alpha"), before, WITH_ALPHA)
    beta = _parameter(call.get("activation_beta"), before, WITH_BETA)
    return activated(call, name, x, alpha, beta)


def _parameter(
    parameters: Sequence[float] | None, before: Sequence[str], taking: Sequence[str]
) -> float | None:
    """The parameter of an activation function: only those that have one take one, in order."""
    place = sum(name in taking for name in before)
    return parameters[place] if parameters and place < len(parameters) else None


def _step(call: Call, direction: int, x: Tensor, w: Tensor, r: Tensor, b: Tensor | None,
          peephole: Tensor | None, held: Held) -> Step:  # fmt: skip
    """One step of one direction; one product computes the gate inputs of all steps."""
    hidden, first = r.shape[-1], direction * len(USUAL[call.op])
    width = GATES[call.op] * hidden
    b_x, b_h = (b[:width], b[width:]) if b is not None else (0.0, 0.0)
    clip, from_inputs = call.get("clip"), held(x).matmul(w.T).add(b_x)

    def bend(place: int, value: Tensor) -> Tensor:
        return _bent(call, first + place, value if clip is None else value.clip(-clip, clip))

    def part(value: Tensor, gate: int) -> Tensor:
        cut: Tensor = value[:, gate * hidden : (gate + 1) * hidden]
        return cut

    def rnn(place: Tensor | int, state: State) -> State:
        return (bend(0, from_inputs[place].add(held(state[0]).matmul(r.T).add(b_h))),)

    def gru(place: Tensor | int, state: State) -> State:
        (h,) = state
        from_x = from_inputs[place]
        from_h = held(h).matmul(r.T).add(b_h)
        z = bend(0, part(from_x, 0).add(part(from_h, 0)))
        reset = bend(0, part(from_x, 1).add(part(from_h, 1)))
        if call.get("linear_before_reset", 0):
            inner = reset.mul(part(from_h, 2))
        else:
            product = held(reset.mul(h)).matmul(r[2 * hidden :].T)
            inner = product.add(b_h[2 * hidden :]) if isinstance(b_h, Tensor) else product
        new = bend(1, part(from_x, 2).add(inner))
        return (z.neg().add(1).mul(new).add(z.mul(h)),)

    def lstm(place: Tensor | int, state: State) -> State:
        h, c = state
        gates = from_inputs[place].add(held(h).matmul(r.T).add(b_h))
        i, o, f, g = (part(gates, n) for n in range(4))
        if peephole is not None:
            i = i.add(peephole[:hidden].mul(c))
            f = f.add(peephole[2 * hidden :].mul(c))
        i, f = bend(0, i), bend(0, f)
        f = i.neg().add(1) if call.get("input_forget", 0) else f
        new = f.mul(c).add(i.mul(bend(1, g)))
        if peephole is not None:
            o = o.add(peephole[hidden : 2 * hidden].mul(new))
        return bend(0, o).mul(bend(2, new)), new

    return {"RNN": rnn, "GRU": gru, "LSTM": lstm}[call.op]
