"""`grad` of tensors that a captured function reads or writes.

    found     each outside tensor or argument whose `grad` the function reads or sets
    guarded   the presence of a gradient, its type and device
    replay    reads the current gradient, as an argument; sets it after the call
    changed   another capture for another guard; both are kept

A lazy gradient is computed before a call that reads it. A gradient that Python objects outside the
function refer to, too, is an ordinary outside tensor, and has to stay the same.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.graph.nodes import Buffer
from compiler.replay.arguments import Call, StandIn, alone
from compiler.tensors import history
from compiler.tensors.variables import is_realized


@dataclass(frozen=True, slots=True)
class Argument:
    """Stands for an argument: its place among the leaves of the call."""

    place: int


@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """A tensor with a `grad`: one from outside the function, or an argument."""

    around: Any
    place: int | None = None

    def tensor(self, call: Call) -> Any:
        """The tensor in this call."""
        return self.around if self.place is None else call.leaves[self.place]


@dataclass(frozen=True, slots=True)
class Old:
    """Stands for the `grad` that a tensor had before the call."""

    owner: Owner


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A tensor whose `grad` the function reads or sets."""

    owner: Owner
    before: StandIn | None
    """The stand-in for its gradient; None if there was none, or if it is fixed."""
    fixed: Any
    """The gradient, if it has to stay the same tensor."""
    kind: tuple[Any, ...]
    same: int
    """The number of the first row with the same gradient."""


class Grads:
    """All rows of one capture."""

    def __init__(self, rows: Iterable[Row], ids: frozenset[int] = frozenset()) -> None:
        """`ids` are those of the gradients that were inputs of the first call."""
        self.rows = tuple(rows)
        self.ids = ids
        self._none = [
            row.owner for row in self.rows if row.before is None and row.fixed is None
        ]
        self._fixed = [row for row in self.rows if row.fixed is not None]
        self._there = [row for row in self.rows if row.before is not None]
        self._owners = [row.owner for row in self._there]
        self._kinds = [row.kind for row in self._there]
        self._same = [row.same for row in self._there]
        self._count = len(set(self._same))

    def changed(self, call: Call) -> str:
        """The first difference to the capture, in words; "" if there is none. Lazy gradients are
        computed."""
        return self._of_others(call) or (self._of_inputs(self._now(call)) if self._there else "")

    def _of_others(self, call: Call) -> str:
        """The first difference of gradients that are no inputs."""
        for owner in self._none:
            tensor = owner.around if owner.place is None else call.leaves[owner.place]
            if tensor._collected is not None:
                return "a gradient exists that did not"
        for row in self._fixed:
            if row.owner.tensor(call)._grad is not row.fixed:
                return "a gradient is another tensor now"
        return ""

    def _of_inputs(self, now: list[Any]) -> str:
        """The first difference of gradients that are inputs."""
        others = []
        for grad, kind, same in zip(now, self._kinds, self._same, strict=True):
            if grad is None:
                return "a gradient is gone"
            if grad is not now[same]:
                return "gradients that were the same tensor differ now"
            node = grad.node
            if type(node) is not Buffer:
                others.append((grad, kind))
            elif node.dtype is not kind[0] or node.device != kind[1] or kind[3] is not Buffer:
                return "a gradient has another type or place now"
            elif history.has_history(node) is not kind[2]:
                return "a gradient has a history, or has none now"
        if len(set(map(id, now))) != self._count:
            return "gradients that were two tensors are the same now"
        return _of_lazy(others)

    def with_leaves(self, call: Call) -> Sequence[Any]:
        """The arguments of a call, followed by the gradients that are inputs, as data."""
        return (*call.leaves, *(
            grad if type(grad.node) is Buffer else alone(grad) for grad in self._now(call)
        ))  # fmt: skip

    def _now(self, call: Call) -> list[Any]:
        """The gradients that are inputs; None for one that no longer exists."""
        leaves = call.leaves
        return [
            (owner.around if owner.place is None else leaves[owner.place])._grad
            for owner in self._owners
        ]

    @property
    def are_read(self) -> bool:
        """True if the function reads gradients, which are then inputs of the program."""
        return bool(self._there)

    def inputs(self) -> Sequence[StandIn]:
        """The stand-ins of the gradients that are inputs."""
        return [row.before for row in self._there if row.before is not None]

    def origin(self, number: int, call: Call) -> Any:
        """The gradient that is input `number`, with its history."""
        return self._there[number].owner.tensor(call)._grad

    @property
    def around(self) -> frozenset[int]:
        """The `id` of each outside tensor that has a row."""
        return frozenset(id(row.owner.around) for row in self.rows if row.owner.place is None)

    @property
    def places(self) -> frozenset[int]:
        """The places of arguments that have a row."""
        return frozenset(row.owner.place for row in self.rows if row.owner.place is not None)


def _of_lazy(grads: list[tuple[Any, Any]]) -> str:
    """The first difference of gradients from their kinds, once they are computed."""
    if late := [grad for grad, _ in grads if not is_realized(grad.node)]:
        late[0].realize(*late[1:])
    if any(kind_of(grad) != kind for grad, kind in grads):
        return "a gradient has another type or place now"
    return ""


def kind_of(grad: Any) -> tuple[Any, ...]:
    """The properties of a gradient in a guard, besides its shape, which is its tensor's."""
    node = alone(grad).node
    place = node.device if type(node) is Buffer else ""
    is_past = history.has_history(grad.node)
    return node.dtype, place, is_past, type(node), node.devices, node.extents
