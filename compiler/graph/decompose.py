"""decompose: operations without a machine instruction become operations that have one.

    Before:  %0 = buffer x             f32[64,10]
             %1 = relu %0              f32[64,10]
             sink %1
    After:   %0 = buffer x             f32[64,10]
             %3 = const 0.0            f32[64,10]
             %4 = max %0 %3            f32[64,10]
             sink %4

Relies on: rows of `ops.OPS` with an `expansion`; the composite kinds of `kinds.py`; `widen.py`.
Ensures: invariants 11 and 15 of `verify.py`: no operation or kind with an expansion is left. Nor
is a variable's value in this run: the compiled program serves all values of a variable.
"""

from typing import Any

from compiler.core.dtypes import Scalar
from compiler.core.trace import Match, Provenance
from compiler.graph.kinds import by_hand
from compiler.graph.kinds.composite import Composite
from compiler.graph.kinds.correlate import Correlate, Spread
from compiler.graph.kinds.gradient import Checkpoint, Recalled, Ruled, Wrt
from compiler.graph.kinds.joins import Cat, Contract, Gather
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.kinds.markers import (
    ContiguousBackward,
    Detach,
    Fuse,
    Later,
    Placeholder,
    Unroll,
)
from compiler.graph.kinds.views import View
from compiler.graph.nodes import Bind, Elementwise, TensorNode, Threefry, const, elementwise
from compiler.graph.rewrite import Rule, RuleSet, make_rule, rewrite, rule_of
from compiler.graph.widen import RULES as WIDENING
from compiler.ops import random_bits
from compiler.ops.row import Expansion
from compiler.ops.table import OPS

EXPANDED: tuple[type[Composite], ...] = (
    by_hand.BufferView, View, by_hand.Valid, by_hand.VConst, by_hand.Gep, by_hand.Vectorize,
    by_hand.Wmma, Cat, Contract, Correlate, Spread, Gather, by_hand.ScatterAxis, Detach,
    ContiguousBackward, Wrt, Recalled, Checkpoint, Ruled,
    by_hand.Noop, Unroll, Placeholder,
)  # fmt: skip
"""The kinds that `decompose` replaces. To add a kind, write its class and list it here."""

SCHEDULED: tuple[type[Composite], ...] = (Fuse, Kernel, Later)
"""The kinds that stay: the schedule handles them."""


class _GraphBuild:
    """Builds an expansion out of tensor nodes."""

    def op(self, name: str, *sources: TensorNode) -> TensorNode:
        """The operation applied to the nodes."""
        return elementwise(name, *sources)

    def const(self, value: Scalar, like: TensorNode) -> TensorNode:
        """A constant with the shape and type of `like`."""
        return const(value, like.dtype, like.shape)


def _rule(name: str, expansion: Expansion) -> Rule:
    """The rule that replaces operation `name` by its expansion."""

    def expand(node: Elementwise) -> TensorNode:
        result: TensorNode = expansion(_GraphBuild(), *node.sources)
        return result

    return make_rule(expand, ((Elementwise, name),), expansion)


@rule_of(Threefry)
def threefry(node: Threefry) -> TensorNode:
    """threefry(counter, key) = 20 rounds of add, rotate and xor on two 32-bit words"""
    return random_bits.rounds(_GraphBuild(), *node.sources)


@rule_of(Bind)
def unbind(node: Bind) -> TensorNode:
    """bind(n, 37) = n: the program is that of every value"""
    return node.sources[0]


def _kind_rule(kind: type[Composite]) -> Rule:
    """The rule that replaces nodes of a composite kind by their expansion."""
    name = kind.name_in_print or kind.__name__.lower()
    return make_rule(lambda node: node.expansion(), (kind,), kind.expansion, name)


@rule_of(Kernel)
def kernel(node: Kernel) -> TensorNode | None:
    """kernel(x; f) = kernel(x; f in machine operations)"""
    return node.with_body(lambda body: rewrite(body, RULES, Provenance()))


RULES = RuleSet(
    (
        *WIDENING,
        *(_rule(row.name, row.expansion) for row in OPS.values() if row.expansion),
        *map(_kind_rule, EXPANDED),
        kernel,
        threefry,
        unbind,
    )
)


def decompose(
    root: TensorNode, provenance: Provenance[Any], matches: list[Match] | None = None
) -> TensorNode:
    """`root` with every expandable operation expanded."""
    return rewrite(root, RULES, provenance, matches)
