"""Axes by name, and bodies with some of their nodes replaced: shared by all transformations.

A choice names an axis. A part of a tiled axis with no iterations, or one, is not a loop, so a valid
choice may name an axis that does not exist. It then does nothing; any other wrong name is
refused.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

from compiler.core.errors import ScheduleError
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Choice, Choices, Tile, show, word
from compiler.loops.nodes import Body, Range, Reduce, ScalarNode, Update
from compiler.loops.placement import Nest


def axes(root: ScalarNode) -> dict[str, Range]:
    """The ranges of a body, or of nodes in one, by name."""
    return {node.name: node for node in toposort([root]) if isinstance(node, Range)}


def find(by_name: Mapping[str, Range], name: str, choice: Choice, choices: Choices) -> Range | None:
    """The range called `name`; None if tiling left it no loop. Refuses any other name."""
    if name in by_name:
        return by_name[name]
    if any(AxisName(name).is_part_of(tile.axis) for tile in choices.of(Tile)):
        return None
    refuse(choice, f"there is no axis {name}", ", ".join(sorted(by_name)))


def refuse(choice: Choice, why: str, expected: str = "") -> NoReturn:
    """Raise the `ScheduleError` of an illegal choice: the axis, the request, and the reason."""
    raise ScheduleError(word(choice), why, got=show(choice), expected=expected)


def nests(order: Iterable[ScalarNode]) -> list[Nest]:
    """The stores, updates and reductions among `order`."""
    return [node for node in order if isinstance(node, Nest)]


def remade(nest: Nest, reads: tuple[ScalarNode, ...], ranges: Iterable[ScalarNode]) -> ScalarNode:
    """The same nest on other operands, over other ranges, followed by its predicate."""
    first = fixed(nest)
    return nest.with_sources((*reads[:first], *ranges, *reads[first:]))


def fixed(nest: Nest) -> int:
    """The number of operands of a nest before its ranges."""
    return 1 if isinstance(nest, Reduce) else 4 if isinstance(nest, Update) else 3


def rebuilt(
    body: Body,
    change: Callable[[ScalarNode, tuple[ScalarNode, ...]], ScalarNode],
    provenance: Provenance[Any],
) -> Body:
    """`body` with each node replaced by `change(node, its new sources)`, sources first."""
    done: dict[ScalarNode, ScalarNode] = {}
    order: list[ScalarNode] = toposort([body])
    for node in order:
        done[node] = new = change(node, tuple(done[s] for s in node.sources))
        if new is not node:
            inherit(new, node, provenance)
    result = done[body]
    assert isinstance(result, Body)
    return result


def swapped(
    root: ScalarNode,
    replacements: Mapping[ScalarNode, ScalarNode],
    provenance: Provenance[Any],
    is_copy: bool = False,
) -> ScalarNode:
    """`root` with the given nodes replaced by others; a copy if the old nodes remain in use."""
    done: dict[ScalarNode, ScalarNode] = dict(replacements)
    order: list[ScalarNode] = toposort([root])
    for node in order:
        if node in done:
            continue
        done[node] = new = node.with_sources(tuple(done[s] for s in node.sources))
        if new is not node:
            if is_copy:
                copied(new, node, provenance)
            else:
                provenance.rebuilt(new, node)
    return done[root]


def swapped_body(
    body: Body, replacements: Mapping[ScalarNode, ScalarNode], provenance: Provenance[Any]
) -> Body:
    """`body` with the given nodes replaced; each replacement inherits the origins of its node."""
    for old, new in replacements.items():
        inherit(new, old, provenance)
    result = swapped(body, replacements, provenance)
    assert isinstance(result, Body)
    return result


def inherit(new: ScalarNode, old: ScalarNode, provenance: Provenance[Any]) -> None:
    """Record the origins of `old` for `new` and for new nodes below it."""
    if type(new) is type(old) and len(new.sources) == len(old.sources):
        provenance.rebuilt(new, old)
        for source in new.sources:
            if source not in provenance.parents:
                provenance.made(source, provenance.of(old))
    else:
        provenance.replaced(new, old)


def copied(new: ScalarNode, old: ScalarNode, provenance: Provenance[Any]) -> None:
    """Record the origins of `old` for `new`, a copy with a number of its own."""
    provenance.made(new, provenance.of(old))
    provenance.numbers.all([new])


def next_number(body: Body) -> int:
    """A number that no range has."""
    return 1 + max((n.number for n in toposort([body]) if isinstance(n, Range)), default=-1)


def record(
    matches: list[Match] | None, choice: Choice, before: ScalarNode, after: ScalarNode
) -> None:
    """Record the effect of a choice."""
    if matches is not None and before is not after:
        matches.append(Match(word(choice), show(choice), "", before, after))
