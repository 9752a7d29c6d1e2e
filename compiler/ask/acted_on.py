"""acted_on: the loops and memory that one choice of a loop pass acted on, with names and figures.

    tile i0 16         axis = i0 in 1000   size = 16   tail = peel   loops made = i0.0 in 62, …
    pack 2 i1.0        argument = in2 f32[3200]   at = i1.0 in 2   memory made = local0 f32[1600]

A choice is listed field by field; the loops and scratch memory that it made follow from the
programs before and after. So is a coalescing of loops.
"""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from compiler.core.node import toposort
from compiler.core.trace import Match
from compiler.loops.choices import (
    KINDS,
    Choice,
    Parallelize,
    Reorder,
    Unroll,
    Vectorize,
    parse,
    word_of,
)
from compiler.loops.nodes import Argument, Local, Range, ScalarNode
from compiler.loops.printer import declared
from compiler.loops.transforms.axes import axes, nests

Binding = tuple[str, str]
WORDS = frozenset(map(word_of, KINDS))
AXES = frozenset(("axis", "into", "at", "next"))
"""The fields of choices that name an axis."""
ALL = "the whole kernel"


def acted_on(match: Match) -> tuple[Binding, ...]:
    """The parts that a rewrite of a loop pass acted on, by name; none for what is no choice."""
    before, after = match.before, match.after
    if not (isinstance(before, ScalarNode) and isinstance(after, ScalarNode)):
        return ()
    if match.rule == "coalesce":
        gone = _missing(axes(before), axes(after))
        return (("loops", _listed(gone)), *_made(before, after))
    if match.rule not in WORDS:
        return ()
    (choice,) = parse(match.algebra)
    return (*_said(choice, before), *_followed(choice, before, after), *_made(before, after))


def _said(choice: Choice, before: ScalarNode) -> Iterator[Binding]:
    """The fields of a choice, with what they name."""
    loops_by_name = axes(before)
    if isinstance(choice, Reorder):
        yield "axes", _listed(loops_by_name[name] for name in choice.axes if name in loops_by_name)
        return
    for field in fields(choice):
        value = getattr(choice, field.name)
        if field.name in AXES:
            yield field.name, _described(loops_by_name[value]) if value in loops_by_name else ALL
        elif field.name == "slot":
            yield "argument", _argument(before, value)
        elif field.name != "because" and (value or not field.kw_only):
            yield field.name, str(value)


def _argument(before: ScalarNode, slot: int) -> str:
    """`in2 f32[3200]`"""
    arguments = (n for n in toposort([before]) if isinstance(n, Argument) and n.slot == slot)
    return next(f"{n.name} {n.element.short}[{n.size}]" for n in arguments)


def _followed(choice: Choice, before: ScalarNode, after: ScalarNode) -> Iterator[Binding]:
    """Facts that follow from what the choice says."""
    match choice:
        case Reorder():
            named = set(choice.axes)
            yield "order before", _order(before, named)
            yield "order after", _order(after, named)
        case Unroll():
            yield "side by side", f"{_trip_count(before, choice.axis)} iterations"
        case Vectorize():
            yield "lanes", str(_trip_count(before, choice.axis))
        case Parallelize():
            least, left = divmod(_trip_count(before, choice.axis), choice.tasks)
            yield "iterations of a task", f"{least} or {least + 1}" if left else str(least)
        case _:
            return


def _trip_count(before: ScalarNode, axis: str) -> int:
    return axes(before)[axis].extent


def _order(root: ScalarNode, named: set[str]) -> str:
    """The loops of the nest that has the most of the named ones, outermost first."""
    rows = [[r.name for r in nest.ranges] for nest in nests(toposort([root]))]
    return ", ".join(max(rows, key=lambda row: len(named.intersection(row)), default=[]))


def _made(before: ScalarNode, after: ScalarNode) -> Iterator[Binding]:
    """The loops and the scratch memory that were not there before."""
    loops = _missing(axes(after), axes(before))
    if loops:
        yield "loops made", _listed(loops)
    nodes_before = set(toposort([before]))
    memory = [n for n in toposort([after]) if isinstance(n, Local) and n not in nodes_before]
    if memory:
        yield "memory made", ", ".join(map(_sized, sorted(memory, key=lambda n: n.number)))


def _sized(memory: Local) -> str:
    nbytes = memory.size * memory.element.itemsize
    return f"{memory.name} {memory.element.short}[{memory.size}], {nbytes:,} bytes"


def _missing(these: dict[str, Range], those: dict[str, Range]) -> list[Range]:
    return [loop for name, loop in these.items() if name not in those]


def _listed(loops: Iterable[Range]) -> str:
    return ", ".join(map(_described, loops))


def _described(loop: Range) -> str:
    """`r2 in 784 reduction`"""
    return " ".join(declared(loop).split())
