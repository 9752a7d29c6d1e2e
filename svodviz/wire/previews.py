"""Previews of values for the page: of nodes of the graph and of kernels, within a time limit.

The page asks for the value of a node that it was given none of, as long as Python is there.
"""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, request
from svodviz.foundation.values import preview

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from svodviz.data import records

# Choices of patience, no measurements.
LIMIT, SECONDS = 600, 2.0
HURRIED_SECONDS = 0.2  # the same for a program with more nodes than LIMIT


def previews(
    compilation: "Compilation", stages: "Sequence[records.Stage]", entities: Entities,
    notes: list[str],
) -> "dict[str, records.Value]":  # fmt: skip
    """The previews of all nodes that are drawn, by entity; `notes` get what was left out."""
    rows = _drawn(stages)
    names = entities.names
    wanted = list(dict.fromkeys(node["e"] for node in rows))
    values: dict[str, records.Value] = {}
    until = time.monotonic() + (SECONDS if len(wanted) <= LIMIT else HURRIED_SECONDS)
    for count, number in enumerate(wanted):
        if count >= LIMIT or time.monotonic() > until:
            notes.append(f"values of {count:,} of {len(wanted):,} nodes were computed")
            break
        try:
            value = compilation.values(names[number])
        except Exception as error:
            notes.append(visible(f"no values: {type(error).__name__}: {error}"))
            break
        if value is not None:
            values[str(number)] = preview(value)
    else:
        _note_large(compilation, rows, values, notes)
    beginnings = _beginnings(compilation) if any(it["nan"] for it in values.values()) else {}
    for entity, shown in values.items():
        if shown["nan"] and (began := beginnings.get(names[int(entity)])):
            shown["began"] = began
    return values


@request("value")
def answer(explorer: Asked, arguments: Arguments, progress: Progress) -> "records.Value | None":
    """The preview of one node's value; null where it has none."""
    entity = str(arguments["entity"])
    value = explorer.compilation.values(entity)
    if value is None:
        return None
    shown = preview(value)
    began = _beginnings(explorer.compilation).get(entity) if shown["nan"] else None
    if began:
        shown["began"] = began
    return shown


def _beginnings(compilation: "Compilation") -> dict[str, str]:
    """The node where NaN first occurs, for each entity of the optimised graph with NaN."""
    from compiler.ask.first_nan import began

    graph = compilation.optimized_graph
    first_nan = began(graph.nodes, lambda node: compilation.values(graph.entity(node)))
    return {graph.entity(node): graph.entity(first) for node, first in first_nan.items()}


def _drawn(stages: "Sequence[records.Stage]") -> "list[records.NodeRow]":
    """The nodes that may have values; a graph too large to draw has none."""
    return [
        node
        for stage in stages
        for unit in stage["units"]
        if stage["id"] in ("graph", "kernels") and unit["scene"] and not unit["note"]
        for node in unit["scene"]["nodes"]
    ]


def _note_large(
    compilation: "Compilation", rows: "list[records.NodeRow]", values: "dict[str, records.Value]",
    notes: list[str],
) -> None:  # fmt: skip
    """Notes the number of nodes without a value because they or their operands are too large."""
    from compiler.ask.values import MOST_ELEMENTS

    left = {it["e"] for it in rows if it.get("shape") and str(it["e"]) not in values}
    graphs = compilation.graph, compilation.optimized_graph
    largest = max((node.size for graph in graphs for node in graph.nodes), default=0)
    if values and left and largest > MOST_ELEMENTS:
        notes.append(f"no values of {len(left):,} nodes: they have more than "
                     f"{MOST_ELEMENTS:,} elements, or follow from some that do")  # fmt: skip
