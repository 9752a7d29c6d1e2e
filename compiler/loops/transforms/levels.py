"""Levels of ranges: a range at another level, and the reasons that forbid it."""

from collections.abc import Iterable, Mapping

from compiler.loops.choices import Choice
from compiler.loops.dots import against_words
from compiler.loops.nodes import (
    Alu,
    Argument,
    Body,
    Const,
    Custom,
    Level,
    Load,
    Range,
    ScalarNode,
    Store,
    Update,
    memory,
)
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import refuse
from compiler.ops.table import OPS


def at_level(axis: Range, level: Level, tasks: int = 0) -> Range:
    """The axis at another level."""
    return Range(axis.sources, axis.number, axis.role, 0, level, axis.part, tasks)


def length(axis: Range) -> int | None:
    """The extent, where it is a constant."""
    return axis.extent if isinstance(axis.sources[0], Const) else None


def filled_by(body: Body, needs: Mapping[ScalarNode, frozenset[Range]]) -> frozenset[Range]:
    """The ranges that fill scratch memory anew in each iteration: these cannot be unrolled."""
    effects = (n for n in needs if isinstance(n, Store | Update) and n not in body.sources)
    return frozenset[Range]().union(*(needs[effect] for effect in effects))


def check_is_free(
    axis: Range, choice: Choice, filling: frozenset[Range], built: Mapping[ScalarNode, ScalarNode]
) -> None:
    """Refuse an axis that already has a level, or is serial; `built` get their level now.

    `filling` are the ranges that fill scratch memory anew in each iteration.
    """
    if axis.role == "serial":
        refuse(choice, f"the iterations of {axis.name} are updates in order", "an axis of a store")
    if axis.level != "loop" or axis in built:
        refuse(choice, f"{axis.name} has a level already", "one choice of a level")
    if axis in filling:
        what = f"each iteration of {axis.name} fills scratch memory"
        refuse(choice, what, "an axis inside of that")


def obstacle(
    order: Iterable[ScalarNode],
    axis: Range,
    needs: Mapping[ScalarNode, frozenset[Range]],
    lanes: Iterable[Range] = (),
) -> str:
    """The reason why iterations of `axis` cannot be lanes, with those of `lanes`; empty if none."""
    others = set(lanes)
    for node in order:
        below = needs[node].union(*(needs[s] for s in node.sources))
        if axis not in below:
            continue
        other = min((r.name for r in below if r is not axis and r in others), default="")
        if other:
            return f"a value depends on {other} as well, whose iterations are lanes already"
        words = next((r for r in needs[node] if r.level == "dot"), None)
        if words is not None and (against := against_words(node, words, needs, [axis])):
            return against
        if isinstance(node, Load) and _is_overwritten(node, axis):
            return f"{memory(node).name} is overwritten, and its lanes are strided"
        if isinstance(node, Custom):
            return f"{node.name} is a custom function"
        if isinstance(node, Alu) and not OPS[node.op].has_vectors(node.sources[-1].dtype):
            return f"{node.op} of {node.sources[-1].dtype.name} does not vectorise well"
    return ""


def _is_overwritten(load: Load, axis: Range) -> bool:
    """True if a load of the written buffer has lanes that are not contiguous."""
    read = memory(load)
    is_written = isinstance(read, Argument) and read.is_written
    return is_written and as_sum(load.sources[1]).terms.get(axis) != 1
