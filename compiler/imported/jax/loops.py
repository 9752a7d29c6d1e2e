"""Loops: unrolled if they are short, else counted loops (`tensors/repeat.py`).

    128 steps  =  32 iterations of (4 steps written out)

Each iteration is partially unrolled, as far as the program stays moderate. The stacked outputs of a
scan are states of the loop; each iteration writes only its own rows (`schedule/carry.py`). A state
that only counts, i + 1 from step to step, is not stored: it follows from its first value and the
loop counter.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from compiler.imported.axes import indices_along
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.element_types import dtype_of
from compiler.imported.jax.jaxprs import Body, inner, is_literal, opened, value_of
from compiler.imported.jax.picking import read_at
from compiler.imported.jax.trips import trips_of
from compiler.imported.steps import stacked, with_row
from compiler.tensor import Tensor
from compiler.tensors.repeat import MOST_ITERATIONS, repeat

MOST_WRITTEN_OUT = 128
"""The number of equations up to which a loop is fully unrolled: a choice."""
MOST_AT_ONCE = 8
"""The maximal number of steps unrolled in an iteration: a choice."""

Tensors: TypeAlias = Sequence[Tensor]
Step: TypeAlias = Callable[[Tensor, Tensors], tuple[Tensors, Tensors]]
"""From the number of a step and the states to the next states, and a row for each output."""
Block: TypeAlias = Step
"""Several steps starting at a number; the rows of all of them are stacked along axis 0."""


def equations_in(jaxpr: Body) -> int:
    """The number of equations of a jaxpr, including inner ones."""
    return sum(
        1 + sum(equations_in(each) for each in inner(equation.params))
        for equation in opened(jaxpr)[0].eqns
    )


def looped(
    body: Body, trips: int, step: Step, states: Tensors, rows: Tensors = (),
    counted: dict[int, int] | None = None,
) -> tuple[Tensors, Tensors]:  # fmt: skip
    """The states after `trips` steps, and the rows of all steps stacked along axis 0.

    `rows` are like those of one step; state s of `counted` increases by a constant in each step.
    """
    count = max(equations_in(body), 1)
    if trips * count <= MOST_WRITTEN_OUT:
        return _written_out(step, trips)(Tensor(0), states)
    most = min(max(MOST_WRITTEN_OUT // count, 1), MOST_AT_ONCE)
    at_once = max(n for n in range(1, most + 1) if trips % n == 0)
    plain = _Uncounted(step, states, counted or {})
    block = _written_out(plain.step, at_once)
    iterations, uncounted = trips // at_once, plain.uncounted(states)
    last, collected = _repeated(block, iterations, at_once, rows)(Tensor(0), uncounted)
    return plain.all(Tensor(trips), last), collected


@dataclass(frozen=True)
class _Uncounted:
    """A step without the states that only count."""

    whole: Step
    first: Tensors
    counted: dict[int, int]

    def uncounted(self, states: Tensors) -> Tensors:
        """The states that do not only count."""
        return [state for s, state in enumerate(states) if s not in self.counted]

    def all(self, number: Tensor, uncounted: Tensors) -> Tensors:
        """All states before a step."""
        others = iter(uncounted)
        return [
            first.add(number.cast(first.dtype).mul(self.counted[s])) if s in self.counted
            else next(others) for s, first in enumerate(self.first)
        ]  # fmt: skip

    def step(self, number: Tensor, uncounted: Tensors) -> tuple[Tensors, Tensors]:
        """The step."""
        states, rows = self.whole(number, self.all(number, uncounted))
        return self.uncounted(states), rows


def _written_out(step: Step, count: int) -> Block:
    """Unrolled steps."""

    def block(begin: Tensor, states: Tensors) -> tuple[Tensors, Tensors]:
        collected = []
        for number in range(count):
            states, rows = step(begin.add(number), states)
            collected.append(rows)
        return states, [stacked(each) for each in zip(*collected, strict=True)]

    return block


def _repeated(block: Block, count: int, size: int, rows: Tensors) -> Block:
    """`count` blocks of `size` steps as a counted loop."""

    def run(begin: Tensor, states: Tensors) -> tuple[Tensors, Tensors]:
        empty = [Tensor.full((count, size, *row.shape), 0, row.dtype) for row in rows]

        def iteration(trip: Tensor, *before: Tensor) -> tuple[Tensor, ...]:
            new, results = block(begin.add(trip.mul(size)), before[: len(states)])
            pairs = zip(before[len(states) :], results, strict=True)
            return (*new, *(with_row(old, trip, row) for old, row in pairs))

        if not states and not empty:
            return states, empty
        repeated = repeat(count, iteration, *states, *empty)
        results = repeated if isinstance(repeated, tuple) else (repeated,)
        whole = [r.reshape(count * size, *r.shape[2:]) for r in results[len(states) :]]
        return results[: len(states)], whole

    return run


def _row(x: Tensor, place: Tensor) -> Tensor:
    """The slice of axis 0 at a computed index."""
    shape = x.shape[1:]
    return read_at(x, [place, *(indices_along(shape, axis) for axis in range(len(shape)))], shape)


def counters(body: Body, constants: int, carried: int) -> dict[int, int]:
    """The states, integers of rank 0, that increase by a constant, with the constant."""
    jaxpr, _ = opened(body)
    makers = {v: e for e in jaxpr.eqns for v in e.outvars}
    constants_of = {}
    for state in range(carried):
        before, after = jaxpr.invars[constants + state], jaxpr.outvars[state]
        equation = None if is_literal(after) else makers.get(after)
        if equation is None or equation.primitive.name != "add" or before.aval.shape:
            continue
        others = [v for v in equation.invars if v is not before]
        is_whole = dtype_of(before.aval.dtype, "scan").is_integer
        if len(others) == 1 and is_literal(others[0]) and is_whole:
            constants_of[state] = int(value_of(others[0]))
    return constants_of


@primitive("scan")
def scan(call: Call, *operands: Tensor) -> Results:
    """`scan`: a body for each slice along axis 0, with states carried from step to step."""
    body, length, is_reverse = call["jaxpr"], int(call["length"]), bool(call["reverse"])
    of_constants, of_states = int(call["num_consts"]), int(call["num_carry"])
    constants, states = operands[:of_constants], operands[of_constants:][:of_states]
    scanned = operands[of_constants + of_states :]
    described = call.results[of_states:]
    rows = [Tensor.full(tuple(r.shape[1:]), 0, dtype_of(r.dtype, call.op)) for r in described]
    if not length:
        return [*states, *(Tensor.full((0, *row.shape), 0, row.dtype) for row in rows)]

    def step(number: Tensor, before: Tensors) -> tuple[Tensors, Tensors]:
        place = number.neg().add(length - 1) if is_reverse else number
        results = call.inline(body, [*constants, *before, *(_row(x, place) for x in scanned)])
        return results[:of_states], results[of_states:]

    counted = counters(body, of_constants, of_states)
    results, collected = looped(body, length, step, states, rows, counted)
    return [*results, *(each.flip(0) if is_reverse else each for each in collected)]


@primitive("while")
def while_loop(call: Call, *operands: Tensor) -> Results:
    """`while_loop`: its maximal trip count has to be known."""
    condition, body = call["cond_jaxpr"], call["body_jaxpr"]
    of_condition, of_body = int(call["cond_nconsts"]), int(call["body_nconsts"])
    outer, constants = operands[:of_condition], operands[of_condition:][:of_body]
    states = operands[of_condition + of_body :]
    trips = trips_of(call, condition, body, operands)
    if trips is None or trips.count > MOST_ITERATIONS:
        raise call.refused(
            "its trip count is known only when the program runs",
            "a condition on computed values", "a condition such as i < n of known numbers",
            "lax.fori_loop with known limits, or (i < most) & condition: then it runs to `most`, "
            "and keeps its state once the condition is false",
        )  # fmt: skip

    def step(_number: Tensor, before: Tensors) -> tuple[Tensors, Tensors]:
        after = call.inline(body, [*constants, *before])
        if trips.is_exact:
            return after, ()
        (goes_on,) = call.inline(condition, [*outer, *before])
        return [_kept(goes_on, new, old) for new, old in zip(after, before, strict=True)], ()

    counted = counters(body, of_body, len(states)) if trips.is_exact else {}
    return looped(body, trips.count, step, states, (), counted)[0]


def _kept(goes_on: Tensor, new: Tensor, old: Tensor) -> Tensor:
    """The new state where the condition, one for all or one per leading index, is true."""
    return goes_on.reshape(*goes_on.shape, *(1,) * (new.ndim - goes_on.ndim)).where(new, old)
