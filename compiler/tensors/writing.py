"""Tensor methods that write, scatter and count elements: `set`, `scatter`, `bincount`, `assign`.

All but `assign` and `x[…] = …` return a new tensor. Updates apply in row-major order: of several to
one element the last is kept, and float sums are accumulated in that order.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from compiler.core import dtypes
from compiler.core.dtypes import float64, int64, uint64
from compiler.core.errors import DataError, DeviceError, DTypeError, ShapeError
from compiler.graph.devices import written
from compiler.graph.kinds.effects import Scatter
from compiler.graph.nodes import Contiguous, Elementwise, Parts, TensorNode, const, elementwise
from compiler.ops.updates import UPDATES
from compiler.tensors import live, running, watching
from compiler.tensors.apply import select
from compiler.tensors.indexing import Indexing, parts_and_shape, positions_in, written_index
from compiler.tensors.movement import Conversion
from compiler.tensors.placing import (
    along,
    apart,
    check_writable,
    in_parts,
    over,
    value_for,
    with_parts,
)
from compiler.tensors.rank_zero import of_rank_zero
from compiler.tensors.readers import LOCK
from compiler.tensors.shapes import axis_of
from compiler.tensors.value import Operand, cast_to, reshaped, traced
from compiler.tensors.variables import kept

REDUCES = {name: row for row in UPDATES.values() for name in row.reduces}
"""The rows of `updates.UPDATES`, by the names that users pass."""
FEW_CHOICES = 8
"""Nested choices in one kernel: for 8 of them after a matrix product LLVM took 0.3 s, for 16 1.5 s,
for 32 15 s (two busy cores of an EPYC with AVX2, 2026-11-24)."""


@running.owner
def assign_together(pairs: Sequence[tuple[Any, Operand]], is_computed: bool = False) -> None:
    """Assign each value to its tensor: all of them, or none if an exception interrupts it. If
    `is_computed`, one program computes them now."""
    run = running.Change(live.release)
    try:
        with LOCK:
            running.begin(run)
            for tensor, value in pairs:
                run.change(tensor, "node", tensor.node)
                tensor.assign(value)
                run.changed(tensor.node)
        if is_computed and pairs:
            pairs[0][0].realize(*(tensor for tensor, _ in pairs[1:]))
        run.effects.is_done = True
        running.finish(run)
    except BaseException:
        running.finish(run)
        raise


@traced
class Writing(Indexing, Conversion):
    """Writing, scattering and counting elements."""

    __slots__ = ()

    def set(self, index: Any, value: Operand) -> Self:
        """A copy of this tensor with `value` at `[index]`, the part that `tensor[index]` reads.

        `value` is converted to this tensor's type and broadcasts to the shape of `tensor[index]`.
        If indices repeat, the last value is kept. Known indices out of range raise `AxisError`;
        computed ones are ignored.
        """
        return self._written("set", index, value, "replace")

    def assign(self, value: Operand) -> Self:
        """Assign `value`, of the same shape and type, to this tensor in place; returns the tensor.

        If the tensor is in memory, that memory is written when the tensor is computed next; `x[2:5]
        = …` writes only the slice. A lazy tensor simply becomes the value. Every other tensor keeps
        its value: tensors that need the old one are computed before it is overwritten. Memory
        shared with NumPy is written, too: an array passed to `Tensor`, or returned by `numpy()`,
        changes. A program that `compile` makes from an assigned tensor writes once in each run. `x
        += y` makes a new tensor and assigns nothing, except for a tensor that collects gradients
        (`no_grad`). Raises `DataError` for read-only memory and files.

        Threads may assign, compute and read tensors at once. Each assign takes effect once, or not
        at all if an exception interrupts it; no tensor is computed from half of one. But `x + 1`
        reads and `assign` writes: an assign by another thread in between is lost. Hold a lock of
        your own around both, and around several assigns that belong together; an optimizer's step
        and a captured function assign all their tensors at once. An array returned by `numpy()`
        changes with the memory: copy it while you hold that lock.
        """
        self._assign("assign", value_for("assign", value, self.dtype, self.shape))
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        read = written_index("setitem", index, self.node)
        is_whole = live.storage(self.node) is None or bool(self.node.extents)
        if is_whole or read.has_positions:
            start = self._new(_in_memory_now_and_then(self.node))
            self._assign("setitem", start._written("setitem", index, value, "replace").node)
            return
        parts, shape = parts_and_shape(read, self.shape)
        new = value_for("setitem", value, self.dtype, shape)
        if new.extents:
            self._assign("setitem", with_parts(self.node, parts, new))
        else:
            self._assign("setitem", *in_parts(new, parts, self.shape))

    def _assign(self, method: str, value: TensorNode, parts: Parts = ()) -> None:
        """Assign `value`, in the memory of this tensor if it has any of its own.

        With `parts`, only they are written.
        """
        with LOCK:  # threads that assign different parts of one tensor all take effect
            if running.RUNNING:
                running.settle()
            value = value if parts else kept(method, value, self.node)
            buffer = live.storage(self.node)
            if buffer is not None:
                check_writable(method, buffer)
                made = live.claim(self.node, apart(value, buffer), parts)
                value = made or (over(self.node, value, parts) if parts else value)
            else:
                self._refuse_other_device(method, value)
            if watch := watching.current():
                watch.note_assigned(self, value)  # first: the change is then recorded
            self.node = value
            live.note(self)
            if hasattr(self, "_recipe"):
                del self._recipe

    def _refuse_other_device(self, method: str, value: TensorNode) -> None:
        if self.node.devices and value.devices not in ((), self.node.devices):
            got, expected = written(value.devices), written(self.node.devices)
            what = "the value is on another device than the tensor"
            raise DeviceError(method, what, got=got, expected=expected,
                              hint="to(…) or shard(…) moves the value")  # fmt: skip

    def _written(self, method: str, index: Any, value: object, op: str) -> Self:
        """The result of `set`; with `op` the value is combined with the old elements."""
        if not self.ndim:
            return self._written_alone(method, index, value, op)
        read = written_index(method, index, self.node)
        if not read.has_positions:
            if self.node.extents:
                self[index]  # raises where it may exceed a variable extent
            parts, shape = parts_and_shape(read, self.shape)
            new = value_for(method, value, self.dtype, shape)
            if op != "replace":  # such an index has no repeated elements
                new = elementwise(op, self[index].node, new)
            return self._new(kept(method, with_parts(self.node, parts, new), self.node))
        positions = positions_in(method, self.node, read)
        updates = value_for(method, value, self.dtype, positions[0].shape)
        return self._new(Scatter((self.node, updates, *positions), op))

    def _written_alone(self, method: str, index: Any, value: object, op: str) -> Self:
        """The same for rank 0: the one element, once per true value of the index."""
        taken = self[index]
        new = value_for(method, value, self.dtype, taken.shape)
        if not taken.size:
            return self._same()
        new = reshaped(new, ())
        return self._new(new if op == "replace" else elementwise(op, self.node, new))

    def index_put(
        self, indices: Sequence[Operand], values: Operand, accumulate: bool = False
    ) -> Self:
        """A copy of this tensor with `values` at the positions `indices`, one index array per
        leading axis.

        With `accumulate` values are added to the elements, repeated indices in order.
        """
        if not isinstance(indices, tuple | list):
            what, got = "one index per leading axis is needed", type(indices).__name__
            raise DataError("index_put", what, got=got, expected="a tuple of indices")
        op = "add" if accumulate else "replace"
        return self._written("index_put", tuple(indices), values, op)

    @of_rank_zero
    def index_add(self, axis: int, index: Operand, source: Operand, alpha: Any = 1) -> Self:
        """A copy with `alpha` times the slices of `source` added to the slices at `index` along
        `axis`."""
        place = axis_of("index_add", axis, self.ndim)
        items = (slice(None),) * place + (np.asarray(index) if isinstance(index, list) else index,)
        scaled = self._lift(source) * alpha
        return self._written("index_add", items, scaled, "add")

    @of_rank_zero
    def scatter(self, axis: int, index: Operand, src: Operand) -> Self:
        """A copy with `src[i, j]` at `[index[i, j], j]` for axis 0, likewise for other axes.

        `index` has this tensor's rank and may be shorter on the other axes; `src` is a number, or
        at least as large as `index` on each axis.
        """
        return self._scattered("scatter", axis, index, src, "replace")

    @of_rank_zero
    def scatter_add(self, axis: int, index: Operand, src: Operand) -> Self:
        """As `scatter`, but `src` is added to the elements."""
        return self._scattered("scatter_add", axis, index, src, "add")

    @of_rank_zero
    def scatter_reduce(
        self, axis: int, index: Operand, src: Operand, reduce: str, include_self: bool = True
    ) -> Self:
        """As `scatter`, with elements and `src` combined by `reduce`: sum, prod, amax, amin or
        mean.

        Unless `include_self`, the old value of a written element is left out.
        """
        if reduce == "mean":
            return self._scattered_mean(axis, index, src, include_self)
        if reduce not in REDUCES:
            expected = ", ".join((*REDUCES, "mean"))
            raise DataError("scatter_reduce", "no such reduction", got=reduce, expected=expected)
        update, start = REDUCES[reduce], self
        if not include_self:
            identity = update.reduction.identity(self.dtype)
            start = self._hit("scatter_reduce", axis, index, identity)
        return start._scattered("scatter_reduce", axis, index, src, update.name)

    def _scattered(self, method: str, axis: int, index: object, src: object, op: str) -> Self:
        place = axis_of(method, axis, self.ndim)
        updates, positions = along(method, self.node, index, place, src)
        return self._new(Scatter((self.node, updates, *positions), op))

    def _hit(self, method: str, axis: int, index: object, value: object) -> Self:
        """This tensor with `value` in every element that the scatter writes."""
        return self._scattered(method, axis, index, value, "replace")

    def _scattered_mean(self, axis: int, index: object, src: object, include_self: bool) -> Self:
        """Sums divided by counts, both in a wide enough type; other elements stay unchanged.
        Integers round down."""
        method = "scatter_reduce"
        if self.dtype.kind == "bool":
            raise DTypeError(method, "truth values have no mean", got="bool", expected="numbers")
        inner = int64 if self.dtype.kind == "int" else uint64
        inner = self.dtype.accumulator if self.dtype.is_float else inner
        updates, positions = along(method, self.node, index, axis_of(method, axis, self.ndim), src)
        start, one = self.cast(inner), self._new(const(1, int64, self.shape))
        if not include_self:
            start, one = (each._hit(method, axis, index, 0) for each in (start, one))
        total = Scatter((start.node, cast_to(updates, inner), *positions), "add")
        count = cast_to(one._scattered(method, axis, index, 1, "add").node, inner)
        quotient = elementwise("fdiv" if self.dtype.is_float else "idiv", total, count)
        if self.dtype.kind != "int":
            return self._new(cast_to(quotient, self.dtype))
        zero = const(0, inner, self.shape)
        rest = elementwise("mod", total, count)
        below = elementwise("lt", rest, zero)  # counts are positive: remainders have the sum's sign
        floored = elementwise("sub", quotient, cast_to(below, inner))
        return self._new(cast_to(floored, self.dtype))

    def bincount(self, weights: Operand | None = None, minlength: int = 0) -> Self:
        """The number of occurrences of 0, 1, …, or the sums of their `weights`, as NumPy's
        bincount. Integers of rank 1 only.

        The result is one longer than the greatest element, which is computed now.
        """
        if self.ndim != 1 or not (self.dtype.is_integer or self.dtype.kind == "bool"):
            got = f"{self.dtype}, rank {self.ndim}"
            raise DTypeError("bincount", "counts integers of rank 1", got=got, expected="rank 1")
        values = np.asarray(self)
        if values.size and values.min() < 0:
            raise DataError("bincount", "a negative number", got=str(values.min()), expected="≥ 0")
        length = max(int(values.max()) + 1 if values.size else 0, minlength)
        if weights is None:
            return self._counted(self, length, 1, int64)
        given = self._lift(weights)
        if given.shape != self.shape:
            raise ShapeError(
                "bincount", "one weight per element", got=str(given.shape), expected=str(self.shape)
            )
        return self._counted(self, length, given, float64)

    def _counted(self, numbers: Any, length: int, weights: object, dtype: dtypes.DType) -> Self:
        """Zeros with `weights` added at the indices `numbers`; indices out of range are ignored."""
        positions = cast_to(numbers.node, int64)
        updates = value_for("bincount", weights, dtype, positions.shape)
        base = const(0, dtype, (length,))
        return self._new(Scatter((base, updates, positions), "add"))

    def histogram(
        self, bins: int = 10, range: tuple[float, float] | None = None
    ) -> tuple[Self, Self]:
        """The counts of elements in `bins` equal intervals of `range`, and the edges, as in NumPy.

        The last interval includes its upper edge; elements outside, and NaN, are not counted.
        Without a range the minimum and maximum are computed now.
        """
        if bins < 1:
            raise DataError("histogram", "no bins", got=str(bins), expected="1 or more")
        low, high = self._limits() if range is None else (float(range[0]), float(range[1]))
        if not (np.isfinite(low) and np.isfinite(high) and low <= high):
            got = f"{low} to {high}"
            raise DataError("histogram", "the range is not finite", got=got, expected="low ≤ high")
        if low == high:
            low, high = low - 0.5, high + 0.5
        dtype = self.dtype if self.dtype.is_float else float64
        edges = self._lift(np.linspace(low, high, bins + 1, dtype=dtype.numpy))
        flat = self._new(cast_to(reshaped(self.node, (self.size,)), dtype))
        return self._counted(_bins_of(flat, edges, bins), bins, 1, int64), edges

    def _limits(self) -> tuple[Any, Any]:
        """The minimum and maximum in their own type; 0 and 1 for an empty tensor."""
        values = np.asarray(self)
        return (values.min(), values.max()) if values.size else (0.0, 1.0)


def _in_memory_now_and_then(node: TensorNode) -> TensorNode:
    """`node`, stored to memory if it is `FEW_CHOICES` nested choices between an old and a new
    value.

    Otherwise a loop that writes elements one by one would become a single deep nest of choices.
    """
    inner, count = node, 0
    while isinstance(inner, Elementwise) and inner.op == "where":
        inner, count = inner.sources[2], count + 1
    return Contiguous((node,)) if count >= FEW_CHOICES else node


def _bins_of(flat: Any, edges: Any, bins: int) -> Any:
    """The bin of each element, -1 outside: estimated, then corrected against the edges."""
    low, high = edges[0], edges[bins]
    estimate = ((flat - low) / (high - low) * bins).cast(int64)
    number = estimate.clip(0, bins - 1)
    number = number - (flat < edges[number]).cast(int64)
    is_next = (flat >= edges[number + 1]) & (number != bins - 1)
    number = number + is_next.cast(int64)
    inside = (flat >= low) & (flat <= high)
    return flat._new(select("histogram", inside, number, -1))
