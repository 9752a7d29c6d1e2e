"""folding: reductions over a partitioned axis: partial results combine in a tree.

    blockwise(lambda x: (x * x).mean(0))(x)     x: rows in 100 chunks

    Before:  x ─▶ x * x ─▶ sum over rows ─▶ / n
    After:   each chunk ─▶ x * x ─▶ sum over its rows     100 rows of partial sums
             partial sums ─▶ sums of 8 ─▶ … ─▶ one row    by NumPy's ufunc of the reduction
             one row ─▶ / n                                a second program

Relies on: every path from an input to the result goes through the reduction, and the operations
before it treat positions along the partitioned axis independently. Memory then holds a few blocks
per thread, however large the arrays are.
Ensures: the order of combination follows from the chunks alone: each run gives the same bits.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from dask import array as da

from compiler.core.dtypes import Array
from compiler.core.errors import DataError
from compiler.core.node import toposort
from compiler.distributed.axes import axes
from compiler.distributed.blocks import Shapes, Stage
from compiler.graph.kinds.markers import PLACEHOLDER
from compiler.graph.nodes import Buffer, Reduce, TensorNode
from compiler.ops.table import REDUCTIONS

AT_ONCE = 8
"""Partial results that one task combines: a choice."""


@dataclass(frozen=True, eq=False)
class Fold:
    """A program whose reduction `number`, in topological order, runs block by block."""

    stage: Stage
    inputs: Sequence[TensorNode]
    number: int

    @staticmethod
    def of(stage: Stage, inputs: Sequence[TensorNode]) -> "Fold | None":
        """The fold of a program that reduces a partitioned axis; None if it has no such
        reduction."""
        if not any(len(lengths) > 1 for array in stage.arrays for lengths in array.chunks):
            return None
        for number, node in enumerate(_reductions(stage.whole)):
            if _is_fold(stage, node, inputs):
                return Fold(stage, inputs, number)
        return None

    def array(self, title: str) -> Any:
        """The dask array of the results."""
        stage, node = self.stage, _reductions(self.stage.whole)[self.number]
        classes = axes([node.sources[0]], self.inputs)
        first = replace(
            stage, whole=node, trace=self._before, found=classes, folded=frozenset(node.axes)
        )
        whole = da.reduction(
            first.array(f"{title}_part"), chunk=functools.partial(fold, node.op),
            aggregate=functools.partial(fold, node.op), axis=node.axes, keepdims=True,
            dtype=node.dtype.numpy, split_every=AT_ONCE, name=f"{title}_whole",
            meta=np.empty((0,) * len(node.shape), node.dtype.numpy),
        )  # fmt: skip
        rest, reduced = _after(stage.whole, node)
        if rest is reduced:
            return whole
        classes = axes([rest], [reduced])
        out = set(classes.results[0])
        needed = {axis: -1 for axis, label in enumerate(classes.inputs[0])
                  if label in classes.whole or label not in out}  # fmt: skip
        last = replace(
            stage, arrays=[whole.rechunk(needed)], whole=rest, trace=self._rest, found=classes
        )
        return last.array(title)

    def _before(self, shapes: Shapes) -> TensorNode:
        """The reduction of a block."""
        return self._reduction(self.stage.trace(shapes))

    def _rest(self, shapes: Shapes) -> TensorNode:
        """The operations after the reduction, for a block of its result that is whole along the
        reduced axes."""
        node = self._reduction(self.stage.whole)
        classes = axes([node.sources[0]], self.inputs)
        size = {label: n for axis, (label, n) in
                enumerate(zip(classes.results[0], shapes[0], strict=True))
                if axis not in node.axes}  # fmt: skip
        whole = tuple(
            tuple(size.get(label, n) for label, n in zip(labels, each.shape, strict=True))
            for labels, each in zip(classes.inputs, self.inputs, strict=True)
        )
        root = self.stage.trace(whole)
        return _after(root, self._reduction(root))[0]

    def _reduction(self, root: TensorNode) -> Reduce:
        reductions, whole = _reductions(root), _reductions(self.stage.whole)
        if [node.op for node in reductions] != [node.op for node in whole]:
            raise DataError("blockwise", "the function is another one for a block",
                            got=f"{len(reductions)} reductions",
                            expected=f"{len(whole)}")  # fmt: skip
        return reductions[self.number]


def fold(op: str, parts: Array, axis: Sequence[int], keepdims: bool) -> Array:
    """Partial results of a reduction, combined; runs on a worker."""
    reduce = REDUCTIONS[op].reference
    combined: Array = reduce(parts, axis=tuple(axis), dtype=parts.dtype, keepdims=keepdims)
    return combined


def _reductions(root: TensorNode) -> list[Reduce]:
    return [node for node in toposort([root]) if isinstance(node, Reduce)]


def _is_fold(stage: Stage, node: Reduce, inputs: Sequence[TensorNode]) -> bool:
    """True if blocks can be reduced independently, and the reduced axis is partitioned."""
    rest, _ = _after(stage.whole, node)
    if set(toposort([rest])) & set(inputs):
        return False
    if not set(inputs) <= set(toposort([node])):
        return False
    classes = axes([node.sources[0]], inputs)
    cut = {
        label for labels, array in zip(classes.inputs, stage.arrays, strict=True)
        for label, lengths in zip(labels, array.chunks, strict=True) if len(lengths) > 1
    }  # fmt: skip
    folded = {classes.results[0][axis] for axis in node.axes}
    return bool(cut & folded) and not cut & classes.whole.keys()


def _after(root: TensorNode, node: Reduce) -> tuple[TensorNode, TensorNode]:
    """The program after a reduction, and the placeholder that stands for its result there."""
    reduced = Buffer((), PLACEHOLDER, node.shape, node.dtype, "in0", "CPU")
    done: dict[TensorNode, TensorNode] = {node: reduced}
    for each in toposort([root]):
        if each not in done:
            done[each] = each.with_sources(tuple(done[source] for source in each.sources))
    return done[root], reduced
