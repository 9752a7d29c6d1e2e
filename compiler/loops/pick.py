"""pick: a sum with at most one nonzero term becomes that term, without a loop.

    Before:  acc %40 = 0.0
             for r1 in 1000   reduction
               %12 = %9 == r1                  bool
               %21 = in2[i0*1000 + r1]         f32
               %39 = where(%12, %21, 0.0)      f32
               %40 = sum(%40, %39)
    After:   %5 = min(max(%9, 0), 999)         i64
             %6 = %9 == %5                     bool
             %21 = in2[i0*1000 + %5]           f32
             %39 = where(%6, %21, 0.0)         f32
             %40 = %39 + 0.0                   f32

So a cross-entropy loss reads the score of its class for each row, instead of comparing a one-hot
row with all classes. An index outside the loop gives 0.
"""

from compiler.core.dtypes import int64
from compiler.core.node import toposort
from compiler.graph.rewrite import rule_of
from compiler.loops import nodes
from compiler.loops.nodes import ScalarNode, alu, const, index


@rule_of((nodes.Reduce, "sum"))
def pick(node: nodes.Reduce) -> ScalarNode | None:
    """sum over r of where(k == r, f(r), 0) = f(k) where k is an iteration, else 0"""
    value = node.sources[0]
    if len(node.ranges) != 1 or not isinstance(node.ranges[0].sources[0], nodes.Const):
        return None
    axis = node.ranges[0]
    position = _place(_condition(value), axis)
    if position is None or axis.extent == 0:
        return None
    last = index(axis.extent - 1)
    place = alu("min", alu("max", position, index(0)), last)
    picked = _at(value, axis, place)
    if picked is None or not node.dtype.is_float:
        return picked
    return alu("add", picked, const(0.0, node.dtype))  # a sum of -0 and zeros is 0


def _condition(value: ScalarNode) -> ScalarNode | None:
    """The condition for a nonzero term: an iteration for which it does not hold adds 0."""
    if value.dtype.kind == "bool":
        return value
    match value:
        case nodes.Alu(op="where", sources=(condition, _, nodes.Const() as other)) if (
            not other.bits
        ):
            return condition
    return None


def _place(condition: ScalarNode | None, axis: nodes.Range) -> ScalarNode | None:
    """The value of `axis` for which the condition holds, the same for all iterations."""
    match condition:
        case nodes.Alu(op="and", sources=(first, second)) if condition.dtype.kind == "bool":
            return _place(first, axis) or _place(second, axis)
        case nodes.Alu(op="eq", sources=(first, second)) if first.dtype == int64:
            pairs = ((first, second), (second, first))
            return next((a for a, b in pairs if b is axis and axis not in toposort([a])), None)
    return None


def _at(value: ScalarNode, axis: nodes.Range, iteration: ScalarNode) -> ScalarNode | None:
    """The value in one iteration; None if more than arithmetic and loads depends on the axis."""
    done: dict[ScalarNode, ScalarNode] = {axis: iteration}
    order: list[ScalarNode] = toposort([value])
    for node in order:
        if node in done:
            continue
        sources = tuple(done[s] for s in node.sources)
        if sources != node.sources and not isinstance(node, nodes.Alu | nodes.Cast | nodes.Load):
            return None
        done[node] = node.with_sources(sources)
    return done[value]
