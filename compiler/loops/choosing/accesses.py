"""Accesses: the loads and stores of a kernel with one output, the strides of each loop in them, and
an estimate of its time. Choices are based on these.

    out[i0*64 + i1]   moves 64 elements along i0, 1 along i1
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from compiler.core.node import toposort
from compiler.loops.nodes import (
    Alu,
    Argument,
    Body,
    Const,
    DefineVar,
    Load,
    Range,
    Reduce,
    ScalarNode,
    Store,
)
from compiler.loops.placement import dependencies, fused_products
from compiler.loops.symbolic import as_sum
from compiler.machines.model import FMA, MachineModel


@dataclass(frozen=True, slots=True)
class Access:
    """One load or store, and its stride along each range.

    `uneven`: ranges without a constant stride: those that are divided, and those along which the
    index of a row is read from memory.
    `predicated`: ranges that its predicate depends on.
    `is_affine`: the index is a sum of multiples of ranges, plus a start that may be a variable.
    """

    node: Load | Store
    argument: Argument
    steps: dict[Range, int]
    uneven: frozenset[Range]
    predicated: frozenset[Range]
    is_affine: bool

    def step(self, axis: Range) -> int | None:
        """The stride along `axis`, in elements; None if it is not constant."""
        if axis in self.uneven or axis in self.predicated:
            return None
        return self.steps.get(axis, 0)


@dataclass(frozen=True, slots=True)
class Accesses:
    """The one store of a body, its loops, reductions and loads."""

    body: Body
    store: Access
    ranges: tuple[Range, ...]
    reductions: tuple[Reduce, ...]
    loads: tuple[Access, ...]
    needs: Mapping[ScalarNode, frozenset[Range]]
    order: tuple[ScalarNode, ...]

    @property
    def widest(self) -> int:
        """The bytes of the widest element in the computation, without loop-invariant ones."""
        values = [n for n in self.order if _is_value(n)]
        moved = [n for n in values if self.needs[n]]
        return max(n.dtype.itemsize for n in moved or values)

    def widest_along(self, axes: Iterable[Range]) -> int:
        """The bytes of the widest element that depends on one of `axes`."""
        along = set(axes)
        values = (n for n in self.order if _is_value(n) and self.needs[n] & along)
        return max((n.dtype.itemsize for n in values), default=self.widest)

    @property
    def nbytes(self) -> int:
        """The bytes of all arguments that the accesses touch."""
        touched: dict[Argument, int] = {}
        for access in (self.store, *self.loads):
            touched[access.argument] = touched.get(access.argument, 0) + _touched(access)
        return sum(min(n, a.size * a.element.itemsize) for a, n in touched.items())

    def nanoseconds(self, model: MachineModel) -> float:
        """The estimated time on one core with vectorised loops."""
        products = fused_products(self.body)
        compute = sum(
            math.prod(r.extent for r in self.needs[n] | _folded(n)) * _operation(n, products, model)
            for n in self.order
            if _is_value(n) and isinstance(n, Alu | Reduce) and n not in products
        )
        moved = sum(_touched(a) for a in (self.store, *self.loads))
        return max(compute, moved / model.read[model.level(self.nbytes)])


def accesses(body: Body) -> Accesses | None:
    """The accesses of a body with one store and nothing else; None for any other body."""
    if len(body.sources) != 1 or not isinstance(body.sources[0], Store):
        return None
    store = body.sources[0]
    order: list[ScalarNode] = toposort([body])
    needs = dependencies(body)
    loads = tuple(_access(n, needs) for n in order if isinstance(n, Load))
    reductions = tuple(n for n in order if isinstance(n, Reduce))
    written = _access(store, needs)
    return Accesses(body, written, store.ranges, reductions, loads, needs, tuple(order))


def _access(node: Load | Store, needs: Mapping[ScalarNode, frozenset[Range]]) -> Access:
    argument, where = node.sources[:2]
    assert isinstance(argument, Argument)
    total = as_sum(where)
    steps = {t: c for t, c in total.terms.items() if isinstance(t, Range)}
    others = [term for term in total.terms if not isinstance(term, Range | DefineVar)]
    uneven = frozenset[Range]().union(*(needs[term] for term in others))
    predicated = frozenset[Range]() if node.predicate is None else needs[node.predicate]
    return Access(node, argument, steps, uneven, predicated, not others)


def _is_value(node: ScalarNode) -> bool:
    """True if a node computes with data, not with indices."""
    return not isinstance(node, Const | Range | Body) and node.bounds is None


def _folded(node: ScalarNode) -> frozenset[Range]:
    return frozenset(node.ranges) if isinstance(node, Reduce) else frozenset()


def _operation(node: Alu | Reduce, products: set[ScalarNode], model: MachineModel) -> float:
    is_product = isinstance(node, Reduce) and node.sources[0] in products
    return model.operation_ns(FMA if is_product else node.op, node.sources[-1].dtype.itemsize, True)


def _touched(access: Access) -> int:
    """The bytes of an argument that are accessed, each counted once."""
    trips = extents(access.uneven.union(access.steps))
    return min(trips, access.argument.size) * access.argument.element.itemsize


def extents(ranges: Iterable[Range]) -> int:
    """The product of the extents of `ranges`."""
    return math.prod(r.extent for r in ranges)
