"""One traced call of a function: its computations, writes and visible results.

    argument            a stand-in on the same memory; a traced number for one that may change
    grad                a stand-in for a gradient that the function reads or sets
    random numbers      buffers that each replay fills anew
    history             an argument's is its stand-in's; a derivative that would follow it out of
                        the function is not captured
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.core.node import toposort
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import Recalled
from compiler.graph.nodes import TensorNode
from compiler.replay.arguments import (
    Call,
    StandIn,
    alone,
    buffers_of,
    is_same_tree,
    may_be_known,
    stand_in,
)
from compiler.replay.grads import Argument, Grads, Old, Owner, Row, kind_of
from compiler.replay.results import New, Shown
from compiler.replay.surroundings import is_immutable
from compiler.replay.walk import Surroundings
from compiler.tensors import history, live, running, trees, watching
from compiler.tensors.history import History
from compiler.tensors.readers import READERS
from compiler.tensors.running import Run
from compiler.tensors.traced_numbers import NumberRecord, TracedNumber, index_of
from compiler.tensors.value import TensorValue, next_number
from compiler.tensors.variables import is_realized
from compiler.tensors.watching import Draw, Seed, Watch


@dataclass(frozen=True, slots=True, eq=False)
class Traced:
    """The effects of a traced call."""

    shown: Shown
    """The results visible to the caller."""
    new: tuple[TensorNode, ...]
    """The new tensors among them."""
    assigned: tuple[Any, ...]
    """Tensors from before that the function assigned; the nodes are their new values."""
    nodes: tuple[TensorNode, ...]
    grads: Grads
    drawn: tuple[Draw | Seed, ...]
    asked: tuple[Any, ...]
    """Outside tensors whose history, or use in gradients, the function queried."""
    pasts: dict[TensorNode, object]
    """Outside values whose history a derivative read."""
    histories: tuple[History | None, ...]
    """The history of each root."""

    @property
    def roots(self) -> tuple[TensorNode, ...]:
        """All nodes to compute."""
        return (*self.new, *self.nodes)


def traced(
    function: Callable[..., Any], call: Call, stands: Sequence[StandIn], around: Surroundings,
    record: NumberRecord, known_places: frozenset[int],
) -> Traced:  # fmt: skip
    """Call the function once with stand-ins; afterwards all tensors are restored.

    It is called again if a tensor that it assigns, or a gradient that it reads, was not in memory
    yet. Raises `NotCapturedError` for anything that cannot be replayed.
    """
    values = [each.value for each in stands]
    args, keywords = trees.like(call.whole, values)
    fixed = frozenset(map(id, around.tensors))

    def called() -> Any:
        result = function(*args, **keywords)
        _refuse_changed((args, keywords), trees.like(call.whole, values))
        return result

    pasts = {past.place: past.is_leaf for past in call.histories}
    leaves = [stands[place].value for place, is_leaf in pasts.items() if is_leaf]
    others = [stands[place].value.node for place, is_leaf in pasts.items() if not is_leaf]
    truth_nodes = frozenset(stands[place].value.node for place in known_places)
    truths = {
        each.value.node: place for place, each in enumerate(stands)
        if place not in known_places and may_be_known(call.leaves[place])
    }
    while True:
        record.begin()
        outside = list(others)
        standing = _StandIns(outside)
        watch = Watch(next_number(), fixed, standing.node, truths=truths, known=truth_nodes)
        with history.standing_in(leaves, outside), _gradients_of(call, stands):
            try:
                effects, shown = _watched(called, watch, stands, standing, around.seen)
            finally:
                record.end()
            late = [*_not_in_memory(effects, watch), *watch.late]
            shared = _on_memory_of_others(effects, watch)
            if not late and not shared:
                return effects.traced(shown, call)
        if late:
            late[0].realize(*late[1:])
        for tensor in shared:
            give_own_memory(tensor)
        around.restore()


def give_own_memory(tensor: Any) -> None:
    """Copy the memory that a tensor shares with another one that is about to be written."""
    node = tensor.node
    # detached ones stay detached
    computed = node.sources[1] if isinstance(node, Recalled) else node
    tensor.node = tensor._new(computed).clone().realize().node
    live.note(tensor)


class _Capture(Run):
    """A function that is called to be captured. No other thread computes tensors that it assigned
    before that is undone."""

    __slots__ = ("_watch",)
    is_program = False

    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self._watch = watch

    @property
    def writes(self) -> frozenset[int]:
        """The buffers of tensors that were assigned so far."""
        held = [live.storage(before) for _, before in list(self._watch.assigned.values())]
        return frozenset(buffer.unique for buffer in held if buffer is not None)

    def undo(self) -> None:
        """Restore the state before the call."""
        self._watch.undo()
        history.restore(list(self._watch.collecting.values()))


@running.owner
def _watched(
    call: Callable[[], Any], watch: Watch, stands: Sequence[StandIn], standing: "_StandIns",
    there: dict[int, Any],
) -> "tuple[_Found, Shown]":  # fmt: skip
    """Call a function under a watch; returns the recorded effects and the result for its caller.
    The effects are undone also after an exception, which may end one of two attempts."""
    run, outer = _Capture(watch), watching.current()
    try:
        running.begin(run)
        watching.STATE.watch = watch
        result = call()
        effects = _Found(watch, stands, standing, there)
        return effects, effects.shown(result)
    finally:
        watching.STATE.watch = outer  # no call: no exception can come in between
        try:
            running.finish(run)
        finally:
            running.finish(run)


class _StandIns:
    """The stand-ins of gradients from before the call."""

    def __init__(self, pasts: list[TensorNode]) -> None:
        """`pasts` collects the nodes of stand-ins for gradients with a history."""
        self.made: dict[int, StandIn] = {}
        self.pasts = pasts

    def node(self, tensor: Any) -> TensorNode:
        """The stand-in's node for a gradient."""
        stand = stand_in(alone(tensor))
        self.made[id(tensor)] = stand
        if history.has_history(tensor.node):
            history.stand_outside(stand.value.node)
            self.pasts.append(stand.value.node)
        return stand.value.node  # type: ignore[no-any-return]


class _gradients_of:
    """Context in which stand-ins of arguments have the arguments' gradients."""

    def __init__(self, call: Call, stands: Sequence[StandIn]) -> None:
        self._pairs = [
            (each.value, leaf._grad)
            for each, leaf in zip(stands, call.leaves, strict=True)
            if isinstance(leaf, TensorValue)
        ]

    def __enter__(self) -> None:
        for tensor, grad in self._pairs:
            tensor._grad = grad

    def __exit__(self, *exception: object) -> None:
        for tensor, _ in self._pairs:
            tensor._grad = None


class _Found:
    """The recorded effects of one call."""

    def __init__(
        self, watch: Watch, given: Sequence[StandIn], standing: _StandIns, there: dict[int, Any]
    ) -> None:  # fmt: skip
        self.watch = watch
        self.there = there
        self.places = {id(each.value): place for place, each in enumerate(given)}
        self.standing = standing
        self.new: dict[int, Any] = {}
        """New tensors visible to the caller, by `id`, in order."""
        self.owners = {number: self._owner(each.tensor) for number, each in watch.graded.items()}
        self.olds: dict[int, Owner] = {}
        for number, each in watch.graded.items():
            if each.is_read and id(each.before) in watch.swapped:
                self.olds.setdefault(id(each.before), self.owners[number])

    def _owner(self, tensor: Any) -> Owner:
        place = self.places.get(id(tensor))
        return Owner(tensor if place is None else None, place)

    def shown(self, result: Any) -> Shown:
        """The results visible to the caller, while tensors still have their new values."""
        leaves = [self._seen(each) for each in trees.flat(result)]
        grads: list[tuple[Owner | New, Any]] = []
        for number, each in self.watch.graded.items():
            now = each.tensor._grad
            if now is not each.before or not each.is_read:
                grads.append((self.owners[number], self._seen(now)))
        collecting: list[tuple[Owner | New, bool]] = []
        for tensor, was in self.watch.collecting.values():
            if (now := history.collects(tensor)) != was:
                collecting.append((self._owner(tensor), now))
        at = 0
        while at < len(self.new):  # the gradient of a new tensor may be new as well
            tensor = list(self.new.values())[at]
            if (grad := tensor._grad) is not None:
                grads.append((New(at), self._seen(grad)))
            if history.collects(tensor):
                collecting.append((New(at), True))
            at += 1
        self.kinds = tuple(map(type, self.new.values()))
        self.nodes = tuple(each.node for each in self.new.values())
        self.assigned = tuple(tensor for tensor, _ in self.watch.assigned.values())
        self.written = tuple(tensor.node for tensor in self.assigned)
        arranged = trees.like(result, leaves)
        return Shown(arranged, self.kinds, tuple(grads), tuple(collecting))

    def others_on(self, buffers: Iterable[int]) -> list[Any]:
        """Outside tensors that need these buffers."""
        inside = {*self.places, *(id(each.value) for each in self.standing.made.values())}
        return [each for each in READERS.of(set(buffers))
                if each._number < self.watch.first and id(each) not in inside]  # fmt: skip

    def _seen(self, each: Any) -> Any:
        """The placeholder for a tensor in the visible results."""
        if type(each) is TracedNumber:
            return Argument(index_of(each))
        if id(each) in self.places:
            return Argument(self.places[id(each)])
        if not isinstance(each, TensorValue):
            if id(each) not in self.there and not is_immutable(each):
                raise watching.NotCapturedError(
                    f"it returns a {type(each).__name__} that it may have made",
                    "return tensors and numbers, in tuples, lists and dictionaries",
                )
            return each
        if id(each) in self.olds:
            return Old(self.olds[id(each)])
        if each._number < self.watch.first:
            return each
        self.new.setdefault(id(each), each)
        return New(list(self.new).index(id(each)))

    @property
    def roots(self) -> tuple[TensorNode, ...]:
        """All nodes to compute."""
        return (*self.nodes, *self.written)

    def traced(self, shown: Shown, call: Call) -> Traced:
        """All effects, after tensors are restored."""
        grads = Grads(self._rows(), frozenset(self.watch.swapped))
        return Traced(
            shown, self.nodes, self.assigned, self.written, grads,
            tuple(self.watch.drawn), tuple(self.watch.asked.values()), self.watch.pasts,
            tuple(self._histories()),
        )  # fmt: skip

    def _rows(self) -> list[Row]:
        rows: list[Row] = []
        there: list[int] = []
        for number, each in self.watch.graded.items():
            owner, grad = self.owners[number], each.before
            if not each.is_read:
                continue
            if grad is None:
                rows.append(Row(owner, None, None, (), 0))
            elif id(grad) not in self.watch.swapped:
                rows.append(Row(owner, None, grad, (), 0))
            else:
                there.append(id(grad))
                before = self.standing.made[id(grad)]
                rows.append(Row(owner, before, None, kind_of(grad), there.index(id(grad))))
        return rows

    def _histories(self) -> list[History | None]:
        if not history.is_wanted():
            return [None] * len(self.roots)
        written = live.written(toposort(self.roots))
        count = len(self.nodes)
        memory = [None if n < count else live.storage(e) for n, e in enumerate(self.roots)]
        recipes = history.recipes(self.roots, memory, written)
        for place, node in enumerate(self.nodes):
            if (buffer := live.storage(node)) is not None:  # memory from before: it gets a copy
                recipes[place] = (buffer, True) if history.has_history(buffer) else None
        return recipes


def _refuse_changed(now: Any, before: Any) -> None:
    """Raise `NotCapturedError` if a list or dictionary among the arguments was changed."""
    if not is_same_tree(now, before):
        raise watching.NotCapturedError(
            "it changes a list or dictionary among its arguments", "return the new values instead"
        )


def _not_in_memory(effects: _Found, watch: Watch) -> list[Any]:
    """Outside tensors that must be in memory before the capture: those that it assigns, and lazy
    ones that it reads and that depend on memory it writes."""
    late = [
        tensor for tensor, before in watch.assigned.values()
        if isinstance(before, Assign)
        or (live.storage(before) is None and not isinstance(before, Recalled))
    ]  # fmt: skip
    order = toposort(effects.roots)
    pending = {node for node in order if isinstance(node, Assign) and node not in watch.own}
    if pending:
        numbers = {b.unique for b in map(live.storage, pending) if b is not None}
        late += [tensor for tensor in READERS.of(numbers) if tensor.node in pending]
    read = set(order)
    late += [each for each in effects.others_on(live.written(order))
             if each.node in read and not is_realized(each.node)]  # fmt: skip
    return list({id(tensor): tensor for tensor in late}.values())


def _on_memory_of_others(effects: _Found, watch: Watch) -> list[Any]:
    """Outside tensors that share memory with another tensor that the function assigns, such as a
    detached one."""
    shared = {n: tensor for n, (tensor, before) in watch.assigned.items()
              if isinstance(before, Recalled)}  # fmt: skip
    owners: dict[int, int] = {}
    for number, (_, before) in watch.assigned.items():
        if (buffer := live.storage(before)) is not None:
            owners.setdefault(buffer.unique, number)
    for each in effects.others_on(owners.keys()):
        numbers = {owners.get(buffer.unique, each._number) for buffer in buffers_of(each.node)}
        if is_realized(each.node) and numbers != {each._number}:
            shared[each._number] = each
    return list(shared.values())
