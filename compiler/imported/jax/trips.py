"""Trip counts of a `while_loop` that follow from constants.

The condition is a conjunction of parts. A part that depends only on states with known initial
values and steps, such as i < n, is counted by running it alone. The least count of these parts is
the maximal trip count, and the exact one if there is no other part. Under `vmap` a loop has a
condition for each element: it runs until all are false, and finished elements keep their states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from compiler.core.dtypes import Array
from compiler.core.lazy import loading
from compiler.imported.jax.call import Call
from compiler.imported.jax.element_types import is_key, jax_itself
from compiler.imported.jax.jaxprs import Atom, Body, Described, Jaxpr, is_literal, opened
from compiler.tensor import Tensor

LIMIT = 1_000_000


@dataclass(frozen=True)
class Trips:
    """The maximal trip count; `is_exact` if it is exact."""

    count: int
    is_exact: bool


def needed(jaxpr: Jaxpr, wanted: Sequence[Atom]) -> set[int]:
    """The operands of a jaxpr that some of its results depend on."""
    needs = {v for v in wanted if not is_literal(v)}
    for equation in reversed(jaxpr.eqns):
        if not needs.isdisjoint(equation.outvars):
            needs |= {v for v in equation.invars if not is_literal(v)}
    return {place for place, v in enumerate(jaxpr.invars) if v in needs}


def conjuncts(jaxpr: Jaxpr) -> list[Atom]:
    """The values whose conjunction is the only result of a jaxpr."""
    makers = {v: e for e in jaxpr.eqns for v in e.outvars}
    parts, stack = [], list(jaxpr.outvars)
    while stack:
        value = stack.pop()
        equation = None if is_literal(value) else makers.get(value)
        if equation is not None and equation.primitive.name == "and":
            stack += reversed(equation.invars)
        else:
            parts.append(value)
    return parts


def trips_of(
    call: Call, condition: Body, body: Body, operands: Sequence[Tensor]
) -> Trips | None:
    """The trip count of a loop; None if it is not known."""
    of_condition, of_body = int(call["cond_nconsts"]), int(call["body_nconsts"])
    constants = operands[:of_condition], operands[of_condition : of_condition + of_body]
    first = operands[of_condition + of_body :]
    jaxpr, _ = opened(condition)
    parts = conjuncts(jaxpr)
    counts = []
    for part in parts:
        loop = _Part(call, condition, body, part, constants, first)
        if (count := loop.count()) is not None:
            counts.append(count)
    if not counts:
        return None
    is_one = not jaxpr.outvars[0].aval.shape  # else one for each element of a `vmap`
    return Trips(min(counts), is_one and len(counts) == len(parts))


@dataclass(frozen=True)
class _Part:
    """One part of the condition of a loop."""

    call: Call
    condition: Body
    body: Body
    part: Atom
    constants: tuple[Sequence[Tensor], Sequence[Tensor]]
    first: Sequence[Tensor]

    def count(self) -> int | None:
        """The number of iterations after which it is false; None if it is not known."""
        states = self._states()
        if any(is_key(opened(self.body)[0].outvars[s].aval.dtype) for s in states):
            return None
        constants_of: list[dict[int, Array]] = []
        for jaxpr, wanted, constants in (
            (opened(self.condition)[0], [self.part], self.constants[0]),
            (opened(self.body)[0], [opened(self.body)[0].outvars[s] for s in states],
             self.constants[1]),
        ):  # fmt: skip
            places = [p for p in needed(jaxpr, wanted) if p < len(constants)]
            values = {place: self.call.known(constants[place]) for place in places}
            if any(value is None for value in values.values()):
                return None
            constants_of.append({place: v for place, v in values.items() if v is not None})
        begins = {s: self.call.known(self.first[s]) for s in states}
        if any(value is None for value in begins.values()):
            return None
        return self._run({s: v for s, v in begins.items() if v is not None}, *constants_of)

    def _states(self) -> list[int]:
        """The states that the part depends on, over all iterations."""
        condition, body = opened(self.condition)[0], opened(self.body)[0]
        of_condition, of_body = map(len, self.constants)
        states = {p - of_condition for p in needed(condition, [self.part]) if p >= of_condition}
        while True:
            wanted = [body.outvars[s] for s in states]
            more = {p - of_body for p in needed(body, wanted) if p >= of_body} - states
            if not more:
                return sorted(states)
            states |= more

    def _run(
        self, begins: dict[int, Array], of_condition: dict[int, Array], of_body: dict[int, Array]
    ) -> int | None:
        """The count, computed by JAX with only the states that the part depends on."""
        jax = jax_itself()
        with loading():
            from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
        condition, constants = opened(self.condition)
        alone = ClosedJaxpr(condition.replace(outvars=[self.part]), constants)
        test, step = jaxpr_as_fun(alone), jaxpr_as_fun(self.body)

        def filled(jaxpr: Body, values: dict[int, Any]) -> list[Any]:
            described = (v.aval for v in opened(jaxpr)[0].invars)
            return [values[n] if n in values else _zeros(a) for n, a in enumerate(described)]

        def goes_on(state: Any) -> Any:
            count, values = state
            moved = {s + len(self.constants[0]): v for s, v in values.items()}
            (results,) = test(*filled(self.condition, {**of_condition, **moved}))
            return results.any() & (count < LIMIT)

        def following(state: Any) -> Any:
            count, values = state
            moved = {s + len(self.constants[1]): v for s, v in values.items()}
            results = step(*filled(self.body, {**of_body, **moved}))
            return count + 1, {s: results[s] for s in values}

        begin = 0, {s: jax.numpy.asarray(v) for s, v in begins.items()}
        count = int(jax.lax.while_loop(goes_on, following, begin)[0])
        return None if count >= LIMIT else count


def _zeros(described: Described) -> Any:
    """A placeholder for a value that nothing depends on."""
    jax = jax_itself()
    if is_key(described.dtype):
        return jax.random.wrap_key_data(jax.numpy.zeros((*described.shape, 2), "uint32"))
    return jax.numpy.zeros(described.shape, described.dtype)
