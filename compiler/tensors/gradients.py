"""Tensor methods that give derivatives: `backward`, `grad`, `gradient`, and `no_grad`.

    w = Tensor(array, requires_grad=True)
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()                      # lazy, like all else: w.grad is computed when asked for
    w.assign(w - 0.1 * w.grad)

Gradients are of values as they were written. What stands where a function jumps or bends is
PyTorch's: see `ops/derivatives.py`.
"""

import itertools
from collections.abc import Sequence
from contextlib import ContextDecorator
from typing import Any, Self

from compiler.core import lazy
from compiler.core.errors import DTypeError, GradientError, ShapeError
from compiler.core.node import substitute, toposort
from compiler.core.origin import state
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import (
    Backward,
    Checkpoint,
    Gradient,
    Recalled,
    Wrt,
    changed_by,
    needed_for,
    reached,
)
from compiler.graph.kinds.markers import Detach
from compiler.graph.kinds.placement import Multi, Unique
from compiler.graph.kinds.shaping import like
from compiler.graph.nodes import Buffer, Const, TensorNode, const
from compiler.graph.words import operation, short
from compiler.tensors import live, running, watching
from compiler.tensors.history import (
    LEAVES,
    begin_marking,
    collect,
    has_history,
    is_collecting,
    is_remembered,
    leaf_memory,
    leaves,
    leaves_in,
    remembered,
)
from compiler.tensors.placement import Placement
from compiler.tensors.value import Operand, TensorValue, as_node, operand_of, traced

_MARKS = itertools.count(1 << 50)
"""Numbers of Uniques, beyond those of clones."""


@running.owner
def collect_together(pairs: "Sequence[tuple[Any, Any]]") -> None:
    """Set the `grad` of each tensor: all of them, or none where an exception ends it."""
    run = running.Change()
    try:
        running.begin(run)
        for tensor, grad in pairs:
            run.change(tensor, "_grad", tensor._grad)
            tensor._collect(grad)
            run.changed(grad)
        run.effects.is_done = True
        running.finish(run)
    except BaseException:
        running.finish(run)
        raise


@traced
class Gradients(Placement):
    """Derivatives."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are collected for it, or for what it was computed from."""
        if is_collecting(self):
            return True
        if not LEAVES or not self.dtype.is_float:
            return False
        if watching.current():
            return has_history(self.node)
        try:
            order = toposort([remembered(self.node)])
        except GradientError:  # of memory that was written since: `backward` refuses it
            return True
        nodes = frozenset(leaves_in(order))
        return bool(nodes) and order[-1] in needed_for(order, nodes)

    @requires_grad.setter
    def requires_grad(self, flag: bool) -> None:
        self.requires_grad_(flag)

    def __iadd__(self, other: Operand) -> Self:  # type: ignore[misc]
        return self._in_place("add", other)

    def __isub__(self, other: Operand) -> Self:  # type: ignore[misc]
        return self._in_place("sub", other)

    def __imul__(self, other: Operand) -> Self:  # type: ignore[misc]
        return self._in_place("mul", other)

    def __itruediv__(self, other: Operand) -> Self:
        return self._in_place("div", other)

    def _in_place(self, name: str, other: Operand) -> Self:
        """`x -= y`: a new tensor, unless x collects gradients, which a new one would not."""
        made: Self = getattr(self, name)(other)
        if not is_collecting(self):
            return made
        if is_grad_enabled():
            raise GradientError(
                name, "a tensor that collects gradients is changed where it stands",
                got=short(self.node), expected="with compiler.no_grad(): around it",
                hint="x = x - y makes a new tensor, which collects none",
            )  # fmt: skip
        return self.assign(made)

    def requires_grad_(self, flag: bool = True) -> Self:
        """`backward` collects its gradient in `grad` from now on, or no more; returns the tensor.

        One that is not in memory yet is computed, and has memory of its own. What was computed
        from others that require gradients does so already, and collects none; see `retain_grad`.
        Raises `DTypeError` where elements are no floats.
        """
        if not flag:
            collect(self, False)
            return self
        _refuse_integers("requires_grad_", self.node)
        if not self.requires_grad:
            self._in_own_memory()
            collect(self, True)
        return self

    def retain_grad(self) -> Self:
        """`backward` collects its gradient, too, though it was computed from others. Raises
        `GradientError` where none of those requires gradients."""
        _refuse_integers("retain_grad", self.node)
        if not self.requires_grad:
            raise GradientError("retain_grad", "nothing that requires gradients led to this tensor",
                                got=short(self.node), expected="a tensor that requires_grad",
                                hint="x.requires_grad_() begins to collect gradients")  # fmt: skip
        collect(self, True)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether it was not computed from what requires gradients."""
        return is_collecting(self) or not self.requires_grad

    @property
    def grad(self) -> Self | None:
        """What `backward` collected, lazy; None before. May be set, and to None."""
        if watch := watching.current():
            watch.note_grad(self, is_read=True)
        found: Self | None = self._grad
        return found

    @grad.setter
    def grad(self, value: "Self | None") -> None:
        if value is not None:
            made = value if isinstance(value, TensorValue) else self._lift(value)
            if (made.shape, made.dtype) != (self.shape, self.dtype):
                raise ShapeError("grad", "a gradient is like its tensor", got=short(made.node),
                                 expected=short(self.node))  # fmt: skip
            value = made
        self._collect(value)

    def _collect(self, grad: "Self | None") -> None:
        if watch := watching.current():
            watch.note_grad(self, is_read=False)
        self._grad = grad

    def backward(self, gradient: Operand | None = None, create_graph: bool = False) -> None:
        """Adds to `grad` of every tensor that requires gradients what this one changes by.

        `gradient` is what the final result changes by for a change of this tensor; without it the
        tensor is the result, one element, and that is 1. Nothing is computed yet. What is collected
        has no history of its own unless `create_graph`.

        Raises `GradientError` where nothing that requires gradients led here, where an operation on
        the way has no derivative, or where memory on the way was written since; `DTypeError` for
        what are no floats, `ShapeError` for a gradient of another shape.
        """
        root, seed = self._root("backward", gradient)
        leaves = _leaves_of(root)
        found = swept([root], [seed], list(leaves))
        new = []
        for leaf, node in zip(leaves.values(), found, strict=True):
            made = leaf._new(node if create_graph else Detach((node,)))
            held = leaf.grad
            new.append((leaf, made if held is None else held.add(made)))
        collect_together(new)

    def gradient(
        self, *inputs: TensorValue, gradient: Operand | None = None, allow_unused: bool = False
    ) -> Any:
        """The derivatives of this tensor, one element, by each of `inputs`: a tensor like each,
        lazy; one alone, or a list. The inputs need not require gradients.

        `gradient` is as for `backward`. The result has a history, so it has gradients too. Tensors
        that the same operation made of the same operands are one value (`x * 2` twice, `x` and
        `x[:]`): the gradient is that of all of them.

        An input that this tensor does not depend on raises `GradientError`, or has gradient 0 where
        `allow_unused`. A value that was computed on the way and looked at has a history only where
        something that it depends on requires gradients.
        """
        root, seed = self._root("gradient", gradient)
        order = frozenset(toposort([root]))
        targets: list[TensorNode] = []
        for each in inputs:
            if not isinstance(each, TensorValue):
                raise GradientError("gradient", "gradients are of tensors",
                                    got=type(each).__name__, expected="Tensor")  # fmt: skip
            _refuse_integers("gradient", each.node)
            targets.append(_place_in(order, each) or each.node)
        marks = {n: marked(n) for n in targets if not isinstance(n, Buffer | Assign | Wrt)}
        root = substitute(root, marks) if marks else root
        targets = [marks.get(n, n) for n in targets]
        if not allow_unused:
            _refuse_unused(root, targets)
        found = swept([root], [seed], targets)
        made = [self._new(node) for node in found]
        return made[0] if len(made) == 1 else made

    def _root(self, method: str, gradient: Operand | None) -> tuple[TensorNode, TensorNode]:
        """The history of this tensor, and what the result changes by for a change of it."""
        _refuse_integers(method, self.node)
        root = remembered(self.node if is_remembered(self.node) else self.recipe)
        if gradient is not None:
            part = operand_of(method, gradient)
            seed = as_node(method, part, self.dtype)
            if seed.shape != self.shape:
                raise ShapeError(method, "a gradient is like its tensor", got=short(seed),
                                 expected=short(self.node))  # fmt: skip
            return root, seed
        if self.size != 1:
            raise GradientError(
                method, "only one element can be the result", got=short(self.node),
                expected="1 element",
                hint=f"sum() or mean() it, or say {method}(gradient=…), a tensor like this one",
            )  # fmt: skip
        return root, ones_for(root)

    def _in_own_memory(self) -> None:
        """Memory that no other tensor that requires gradients has."""
        if not is_stored(self.node):
            realized(self)
        if any(leaf.node is self.node for leaf in leaves()):
            self.node = self.clone().node
            live.note(self)
            realized(self)


def _places_in(order: Sequence[TensorNode]) -> dict[TensorNode, Any]:
    """The tensors that collect gradients, by their places in a history."""
    nodes, places = frozenset(order), dict[TensorNode, Any]()
    for leaf in list(LEAVES.values()):
        place = _place_in(nodes, leaf)
        if place is not None:
            places[place] = leaf
    return places


def _place_in(nodes: frozenset[TensorNode], tensor: Any) -> TensorNode | None:
    """The node of a history where all gradients of a tensor arrive: its value, or the operation
    that made it where the tensor was looked at since; None where it is not in that history."""
    node: TensorNode = tensor.node
    is_data = isinstance(node, Buffer) and not is_remembered(node)
    found = [node] if is_data else [*_recalled(node), *_recalled(tensor.recipe)]
    return next((each for each in found if each in nodes), None)


def _recalled(node: TensorNode) -> list[TensorNode]:
    """A node as it stands in a history, as the operation that made it; none where its own history
    was written since."""
    try:
        found = remembered(node)
    except GradientError:
        return []
    while isinstance(found, Recalled):
        found = found.sources[1]
    return [found]


def _leaves_of(root: TensorNode) -> dict[TensorNode, Any]:
    """The tensors that collect gradients with which the root changes, by their places in it;
    `GradientError` for none."""
    places = _places_in(toposort([root]))
    order = toposort([root], frozenset(filter(leaf_memory, places)))
    wanted = frozenset(places) | (leaves_in(order) - {leaf.node for leaf in leaves()})
    way = needed_for(order, wanted)
    found = reached(root, way)
    if gone := (found & wanted) - places.keys():
        raise GradientError(
            "backward", "what requires gradients was written since this tensor came about",
            got=short(gone.pop()), expected="the values that it is computed from",
            hint="take the gradient before assign(…) or x[…] = … writes them",
        )  # fmt: skip
    if kept := {place: leaf for place, leaf in places.items() if place in found}:
        return kept
    stops = [node for node in order if not changed_by(node) and way.intersection(node.sources)]
    stop = stops[-1] if stops else None
    at = f": {operation(stop)} at {stop.origin.address}" if stop and stop.origin else ""
    raise GradientError(
        "backward", "nothing that requires a gradient led to this tensor", got=short(root),
        expected="a tensor computed from one that requires_grad",
        hint=f"gradients stop at what is detached and at integers{at}" if stop
        else "w.requires_grad_() before it is used",
    )  # fmt: skip


def realized(tensor: Any) -> None:
    """Compute a tensor: by a method of the last layer."""
    tensor.realize()


def _refuse_unused(root: TensorNode, inputs: Sequence[TensorNode]) -> None:
    found = set(toposort([root]))
    for place, each in enumerate(inputs):
        if each not in found:
            raise GradientError(
                "gradient", f"nothing leads from input {place} to this tensor", got=short(each),
                expected="what this tensor was computed from",
                hint="allow_unused=True gives 0; of a value that was computed on the way (numpy(), "
                "print) the history is known where an input requires_grad",
            )  # fmt: skip


def ones_for(root: TensorNode) -> TensorNode:
    """The cotangent of a result, which belongs to the line of that."""
    outer, state.origin = state.origin, root.origin
    try:
        return like(const(1, root.dtype, root.shape), root)
    finally:
        state.origin = outer


def is_stored(node: TensorNode) -> bool:
    """Whether a tensor is in memory, or will be when what is written to it is."""
    if isinstance(node, Multi):
        return all(map(is_stored, node.sources))
    return live.storage(node) is not None


def checkpoint_of(node: TensorNode, args: tuple[TensorNode, ...]) -> TensorNode:
    """`node`, of which what is between it and `args` is computed again for gradients."""
    order = toposort([remembered(node)], frozenset(args))
    inside = {*args}
    others: dict[TensorNode, None] = {}
    for each in order:
        if each in inside or not any(source in inside for source in each.sources):
            continue
        if isinstance(each, Assign):
            raise GradientError(
                "checkpoint", "what is written in place cannot be computed again",
                got=short(each), expected="a function that writes nothing",
                hint="assign(…) what it gives, outside", origin=each.origin,
            )  # fmt: skip
        inside.add(each)
        others |= {s: None for s in each.sources if s not in inside and s.dtype.is_float}
    kept = (each for each in others if each not in inside and not isinstance(each, Const))
    if order[-1] not in inside or order[-1] in args:
        return node  # nothing of it is computed from the arguments
    return Checkpoint((order[-1], *args, *kept), len(args))


def marked(node: TensorNode) -> Wrt:
    """`node` as what a gradient is wanted of."""
    begin_marking()
    return Wrt((node, Unique((), next(_MARKS))))


def swept(
    roots: Sequence[TensorNode], seeds: Sequence[TensorNode], inputs: Sequence[TensorNode]
) -> list[TensorNode]:
    """The gradients by the inputs, where each of the roots changes by its seed.

    Raises `GradientError` where an operation on the way has no derivative.
    """
    lazy.load("compiler.graph.sweep", "check_way")(roots, inputs)
    sweep = Backward((*roots, *seeds, *inputs), len(roots))
    return [Gradient((sweep,), place) for place in range(len(inputs))]


def _refuse_integers(method: str, node: TensorNode) -> None:
    if not node.dtype.is_float:
        raise DTypeError(method, "gradients are of floats", got=short(node),
                         expected="a floating-point type", hint="cast(float32) first")  # fmt: skip


class no_grad(ContextDecorator):
    """What is computed inside has no history: gradients stop there. A function may be decorated.

    A tensor that collects gradients is written in place by `w -= 0.1 * w.grad` in it.
    """

    def _recreate_cm(self) -> "no_grad":
        return no_grad()  # calls of a decorated function may overlap

    def __enter__(self) -> "no_grad":
        self._saved = state.after
        state.after = _without_history
        return self

    def __exit__(self, *exception: object) -> None:
        state.after = self._saved


def is_grad_enabled() -> bool:
    """Whether what is computed now has a history."""
    return state.after is not _without_history


def _is_of_another_leaf(tensor: TensorValue) -> bool:
    """Whether a tensor is in the memory of another one, which requires gradients."""
    return any(leaf.node is tensor.node and leaf is not tensor for leaf in leaves())


def _without_history(result: Any) -> Any:
    """The results of a call, with gradients stopped."""
    if isinstance(result, TensorValue):
        node = result.node
        is_other = not is_stored(node) or _is_of_another_leaf(result)
        if node.dtype.is_float and not isinstance(node, Const | Detach) and is_other:
            result.node = Detach((node,))
            live.note(result)
    elif isinstance(result, list | tuple):
        for each in result:
            _without_history(each)
    return result
