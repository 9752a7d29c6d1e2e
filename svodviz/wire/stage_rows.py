"""One stage of a compilation as data for the page: its units with their lines and drawings."""

from typing import TYPE_CHECKING

from compiler.core.user_source import UserSource
from svodviz.drawing.condense import condensed
from svodviz.drawing.graphs import draw
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import AFTER_PASSES, StageRow, Unit, in_python, units
from svodviz.wire.machine_code import flow_row
from svodviz.wire.measured import is_measurable
from svodviz.wire.refine import pictured
from svodviz.wire.scene import Budget, number, scene

if TYPE_CHECKING:
    from compiler.core.stage import Stage
    from compiler.program.compilation import Compilation
    from svodviz.data import records

# Choices: a graph of 12,000 nodes takes 0.26 s to place in layers of our own (2026-11-23, AMD
# EPYC).
GRAPH_LIMIT = 12_000  # nodes of a graph that is still drawn
TEXT_GRAPH_LIMIT = 400  # the same where text comes first and the graph is a second view


def stage_row(
    row: StageRow, compilation: "Compilation", entities: Entities, placing: Budget,
    notes: list[str],
) -> "records.Stage":  # fmt: skip
    """A stage with all its units; one that is asked for only names them."""
    answer = _empty(row)
    if row.asked:
        return {**answer, "asked": True, "units": _names(row, compilation)}
    try:
        stage_units = list(units(compilation, row))
        answer["units"] = [_unit(row, *it, entities, placing) for it in enumerate(stage_units)]
        seconds = sum(unit.stage.seconds for unit in stage_units if unit.name != AFTER_PASSES)
    except Exception as error:
        # A stage that is made on demand may fail by itself; the others are still worth seeing.
        if not row.on_demand:
            raise
        answer["missing"] = visible(f"{type(error).__name__}: {error}")
        notes.append(f"{row.label} is missing: {answer['missing']}")
        return answer
    return {**answer, "seconds": number(seconds)}


def later_row(row: StageRow, compilation: "Compilation") -> "records.Stage":
    """The row of a stage until it arrives: only the names of its units."""
    return {**_empty(row), "later": True, "units": _names(row, compilation)}


def _empty(row: StageRow) -> "records.Stage":
    answer: records.Stage = {
        "id": row.id, "label": row.label, "view": row.view, "missing": "", "units": [],
        "seconds": 0.0,
    }  # fmt: skip
    if row.id == "passes":
        answer["python"] = row.graph.replace("{python}", row.python)
    return answer


def _names(row: StageRow, compilation: "Compilation") -> "list[records.Unit]":
    """The units of a stage that is not compiled yet."""
    names = [visible(loops.name) for loops in compilation.loops]
    if not row.per_kernel:
        names = [""] if is_measurable(compilation) else []
    return [
        {"name": name, "title": f"{row.label} {name}".rstrip(), "nodes": 0, "lines": [],
         "scene": None, "note": "", "python": in_python(row, position, name)}
        for position, name in enumerate(names)
    ]  # fmt: skip


def _unit(
    row: StageRow, position: int, unit: Unit, entities: Entities, placing: Budget
) -> "records.Unit":
    graph = pictured(unit.stage)
    limit = {"text": TEXT_GRAPH_LIMIT, "modules": 0}.get(row.view, GRAPH_LIMIT)
    nodes = graph.number_of_nodes()
    drawn = graph
    if nodes > limit and row.view not in ("text", "modules"):
        drawn = condensed(graph, f"{row.id}:{position}:stretch ")
    for each in dict.fromkeys((graph, drawn)):
        for key, attributes in each.nodes(data=True):
            entities.number(str(key), attributes.get("parents", ()))
    answer: records.Unit = {
        "name": visible(unit.name),
        "title": visible(unit.title),
        "nodes": nodes,
        "lines": _lines(row, position, unit, entities),
        "scene": scene(draw(drawn), entities, placing) if 0 < len(drawn) <= limit else None,
        "note": "",
        "python": in_python(row, position, visible(unit.name)),
    }
    if isinstance(unit.stage, UserSource):
        answer["files"] = [(row, visible(name), first) for row, name, first in unit.stage.files]
    if row.id == "asm":
        answer["flow"] = _flow(unit.stage)
    if nodes > limit > 0:
        instead = "" if drawn is graph else f" Here are {len(drawn):,} stretches of its layers."
        answer["note"] = f"The graph has {nodes:,} nodes; up to {limit:,} are drawn.{instead}"
    return answer


def _flow(stage: "Stage") -> "records.Flow | None":
    """Blocks and jumps of a stage that is assembly."""
    from compiler.llvm.looking.listing import Listing

    return flow_row(stage) if isinstance(stage, Listing) else None


def _lines(row: StageRow, position: int, unit: Unit, entities: Entities) -> "list[records.Line]":
    rows: list[records.Line] = []
    for index, line in enumerate(unit.stage.lines):
        entity = line.entity
        if entity is None and line.parents:
            entity = f"{row.id}:{position}:line {index + 1}"
        place = -1 if entity is None else entities.number(entity, line.parents)
        text = visible(line.text.expandtabs(4))
        is_alone = line.alone and line.text.strip()
        rows.append((text, place, visible(line.alone)) if is_alone else (text, place))
    return rows
