"""Tensor methods for derivatives: `backward`, `grad`, `gradient`, and `no_grad`.

    w = Tensor(array, requires_grad=True)
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()                      # lazy: w.grad is computed when it is read
    w.assign(w - 0.1 * w.grad)

Where a function jumps or has a kink, the derivative is PyTorch's: see `ops/derivatives.py`.
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
from compiler.tensors.binary import Binary
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
from compiler.tensors.writing import Writing

_MARKS = itertools.count(1 << 50)
"""Numbers for Unique nodes, above those of clones."""


@running.owner
def collect_together(pairs: "Sequence[tuple[Any, Any]]") -> None:
    """Set the `grad` of each tensor: all of them, or none if an exception interrupts it."""
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
class Gradients(Placement, Writing, Binary):
    """Reverse-mode derivatives."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """True if gradients are collected for this tensor, or for a tensor that it was computed
        from."""
        if is_collecting(self):
            return True
        if not LEAVES or not self.dtype.is_float:
            return False
        if watching.current():
            return has_history(self.node)
        try:
            order = toposort([remembered(self.node)])
        except GradientError:  # its history was overwritten: `backward` refuses it
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
        """`x -= y`: a new tensor; a tensor that collects gradients is written in place instead,
        since the new one would not collect any."""
        made: Self = getattr(self, name)(other)
        if not is_collecting(self):
            return made
        if is_grad_enabled():
            raise GradientError(
                name, "a tensor that collects gradients cannot be changed in place here",
                got=short(self.node), expected="with compiler.no_grad(): around it",
                hint="x = x - y makes a new tensor, which collects no gradients",
            )  # fmt: skip
        return self.assign(made)

    def requires_grad_(self, flag: bool = True) -> Self:
        """Start, or with False stop, collecting gradients in `grad`; returns this tensor.

        A lazy tensor is computed first and gets memory of its own. A tensor computed from others
        that require gradients already requires them, but does not collect them: see `retain_grad`.
        Raises `DTypeError` unless elements are floats.
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
        """Collect a gradient in `grad` although this tensor was computed from others. Raises
        `GradientError` if none of them requires gradients."""
        _refuse_integers("retain_grad", self.node)
        if not self.requires_grad:
            raise GradientError("retain_grad", "nothing that requires gradients led to this tensor",
                                got=short(self.node), expected="a tensor that requires_grad",
                                hint="x.requires_grad_() begins to collect gradients")  # fmt: skip
        collect(self, True)
        return self

    @property
    def is_leaf(self) -> bool:
        """True unless the tensor was computed from one that requires gradients."""
        return is_collecting(self) or not self.requires_grad

    @property
    def grad(self) -> Self | None:
        """The gradient that `backward` collected, lazy; None before. It can be set, also to
        None."""
        if watch := watching.current():
            watch.note_grad(self, is_read=True)
        found: Self | None = self._grad
        return found

    @grad.setter
    def grad(self, value: "Self | None") -> None:
        if value is not None:
            made = value if isinstance(value, TensorValue) else self._lift(value)
            if (made.shape, made.dtype) != (self.shape, self.dtype):
                raise ShapeError("grad", "a gradient has the shape and type of its tensor",
                                 got=short(made.node), expected=short(self.node))  # fmt: skip
            value = made
        self._collect(value)

    def _collect(self, grad: "Self | None") -> None:
        if watch := watching.current():
            watch.note_grad(self, is_read=False)
        self._grad = grad

    def backward(self, gradient: Operand | None = None, create_graph: bool = False) -> None:
        """The backward pass: add the gradient of this tensor to the `grad` of every tensor that
        requires gradients.

        `gradient` is the derivative of the final result by this tensor; without it this tensor is
        the result, has one element, and its gradient is 1. Nothing is computed yet. Gradients have
        no history of their own unless `create_graph`.

        Raises `GradientError` if this tensor depends on none that requires gradients, if an
        operation on the path has no derivative, or if memory that a derivative needs was
        overwritten; `DTypeError` for elements that are not floats; `ShapeError` for a gradient of
        another shape.
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
        """The gradients of this tensor, one element, by each of `inputs`: a lazy tensor like each
        input, alone for one input, else in a list. The inputs need not require gradients.

        `gradient` is as for `backward`. The results have a history, so they can be differentiated
        again. Equal operations on equal operands are one value (`x * 2` twice, `x` and `x[:]`):
        their gradient is shared.

        An input that this tensor does not depend on raises `GradientError`, or gets the gradient 0
        with `allow_unused`. An intermediate value that was computed and read keeps its history only
        if it depends on something that requires gradients.
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
        """The history of this tensor, and the gradient of the result by it."""
        _refuse_integers(method, self.node)
        root = remembered(self.node if is_remembered(self.node) else self.recipe)
        if gradient is not None:
            part = operand_of(method, gradient)
            seed = as_node(method, part, self.dtype)
            if seed.shape != self.shape:
                raise ShapeError(method, "the gradient has another shape than its tensor",
                                 got=short(seed), expected=short(self.node))  # fmt: skip
            return root, seed
        if self.size != 1:
            raise GradientError(
                method, "only one element can be the result", got=short(self.node),
                expected="1 element",
                hint=f"sum() or mean() it, or say {method}(gradient=…), a tensor like this one",
            )  # fmt: skip
        return root, ones_for(root)

    def _in_own_memory(self) -> None:
        """Give the tensor memory that no other tensor that requires gradients uses."""
        if not is_stored(self.node):
            realized(self)
        if any(leaf.node is self.node for leaf in leaves()):
            self.node = self.clone().node
            live.note(self)
            realized(self)


def _places_in(order: Sequence[TensorNode]) -> dict[TensorNode, Any]:
    """The tensors that collect gradients, by their nodes in a history."""
    nodes, places = frozenset(order), dict[TensorNode, Any]()
    for leaf in list(LEAVES.values()):
        place = _place_in(nodes, leaf)
        if place is not None:
            places[place] = leaf
    return places


def _place_in(nodes: frozenset[TensorNode], tensor: Any) -> TensorNode | None:
    """The node of a history where all gradients of a tensor arrive: its value, or the operation
    that computed it, if the tensor was computed since. None if the history does not contain it."""
    node: TensorNode = tensor.node
    is_data = isinstance(node, Buffer) and not is_remembered(node)
    found = [node] if is_data else [*_recalled(node), *_recalled(tensor.recipe)]
    return next((each for each in found if each in nodes), None)


def _recalled(node: TensorNode) -> list[TensorNode]:
    """A computed node as the operation that computed it, as a history contains it; an empty list if
    what that operation read was overwritten."""
    try:
        found = remembered(node)
    except GradientError:
        return []
    while isinstance(found, Recalled):
        found = found.sources[1]
    return [found]


def _leaves_of(root: TensorNode) -> dict[TensorNode, Any]:
    """The tensors that collect gradients and that the root depends on, by their nodes in its
    history. Raises `GradientError` if there are none."""
    places = _places_in(toposort([root]))
    order = toposort([root], frozenset(filter(leaf_memory, places)))
    wanted = frozenset(places) | (leaves_in(order) - {leaf.node for leaf in leaves()})
    way = needed_for(order, wanted)
    found = reached(root, way)
    if gone := (found & wanted) - places.keys():
        raise GradientError(
            "backward", "a value that this tensor was computed from was overwritten",
            got=short(gone.pop()), expected="the values it was computed from",
            hint="take the gradient before assign(…) or x[…] = … overwrites them",
        )  # fmt: skip
    if kept := {place: leaf for place, leaf in places.items() if place in found}:
        return kept
    stops = [node for node in order if not changed_by(node) and way.intersection(node.sources)]
    stop = stops[-1] if stops else None
    at = f": {operation(stop)} at {stop.origin.address}" if stop and stop.origin else ""
    raise GradientError(
        "backward", "this tensor was not computed from one that requires gradients",
        got=short(root), expected="a tensor computed from one that requires_grad",
        hint=f"gradients stop at detached tensors and at integers{at}" if stop
        else "w.requires_grad_() before it is used",
    )  # fmt: skip


def realized(tensor: Any) -> None:
    """Compute a tensor, by a method of the last layer."""
    tensor.realize()


def _refuse_unused(root: TensorNode, inputs: Sequence[TensorNode]) -> None:
    found = set(toposort([root]))
    for place, each in enumerate(inputs):
        if each not in found:
            raise GradientError(
                "gradient", f"this tensor does not depend on input {place}", got=short(each),
                expected="a tensor that this one was computed from",
                hint="allow_unused=True gives 0; an intermediate value that was computed (numpy(), "
                "print) keeps its history only where an input requires_grad",
            )  # fmt: skip


def ones_for(root: TensorNode) -> TensorNode:
    """The cotangent of a result, ones, attributed to the source line of the result."""
    outer, state.origin = state.origin, root.origin
    try:
        return like(const(1, root.dtype, root.shape), root)
    finally:
        state.origin = outer


def is_stored(node: TensorNode) -> bool:
    """True if a tensor is in memory, or will be once pending writes to it have run."""
    if isinstance(node, Multi):
        return all(map(is_stored, node.sources))
    return live.storage(node) is not None


def checkpoint_of(node: TensorNode, args: tuple[TensorNode, ...]) -> TensorNode:
    """`node` with a checkpoint: everything between it and `args` is recomputed in the backward
    pass."""
    order = toposort([remembered(node)], frozenset(args))
    inside = {*args}
    others: dict[TensorNode, None] = {}
    for each in order:
        if each in inside or not any(source in inside for source in each.sources):
            continue
        if isinstance(each, Assign):
            raise GradientError(
                "checkpoint", "a function that writes in place cannot be recomputed",
                got=short(each), expected="a function without writes",
                hint="assign(…) its result, outside", origin=each.origin,
            )  # fmt: skip
        inside.add(each)
        others |= {s: None for s in each.sources if s not in inside and s.dtype.is_float}
    kept = (each for each in others if each not in inside and not isinstance(each, Const))
    if order[-1] not in inside or order[-1] in args:
        return node  # no part of it is computed from the arguments
    return Checkpoint((order[-1], *args, *kept), len(args))


def marked(node: TensorNode) -> Wrt:
    """`node` marked as an input to differentiate by."""
    begin_marking()
    return Wrt((node, Unique((), next(_MARKS))))


def swept(
    roots: Sequence[TensorNode], seeds: Sequence[TensorNode], inputs: Sequence[TensorNode]
) -> list[TensorNode]:
    """The gradients by the inputs, where the cotangent of each root is its seed.

    Raises `GradientError` if an operation on the path has no derivative.
    """
    lazy.load("compiler.graph.sweep", "check_differentiable")(roots, inputs)
    sweep = Backward((*roots, *seeds, *inputs), len(roots))
    return [Gradient((sweep,), place) for place in range(len(inputs))]


def _refuse_integers(method: str, node: TensorNode) -> None:
    if not node.dtype.is_float:
        raise DTypeError(method, "gradients are of floats", got=short(node),
                         expected="a floating-point type", hint="cast(float32) first")  # fmt: skip


class no_grad(ContextDecorator):
    """Context manager and decorator: results computed inside have no history, so gradients stop
    there.

    Inside it, `w -= 0.1 * w.grad` writes a tensor that collects gradients in place.
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
    """True if results computed now have a history."""
    return state.after is not _without_history


def _is_of_another_leaf(tensor: TensorValue) -> bool:
    """True if a tensor shares the memory of another tensor that requires gradients."""
    return any(leaf.node is tensor.node and leaf is not tensor for leaf in leaves())


def _without_history(result: Any) -> Any:
    """The results of a call, detached."""
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
