"""The whole schedule as data for the page, and as text.

The rows are made in `items` and `memory_rows`; `path` is the critical path by position, the
first of paths as long, while items on any of them are critical.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from compiler.core.text import aligned
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import printed
from svodviz.wire.items import (
    Buffers,
    dependency_rows,
    item_row,
    lanes_of,
    loop_rows,
    share_rows,
    word_of,
)
from svodviz.wire.kernels import cores_of, tasks_of
from svodviz.wire.memory_rows import memory_row
from svodviz.wire.reasons import number_rows
from svodviz.wire.scene import rounded

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from compiler.schedule.analysis.opportunities import FusionOpportunity
    from compiler.schedule.items import Operation
    from compiler.schedule.printer import Schedule
    from svodviz.data import records

MOST_LISTED = 40  # rows of one table in the text


def schedule_row(compilation: "Compilation", entities: Entities) -> "records.ScheduleRows | None":
    """Everything the timeline, the memory map and the table of fusions show; None without items."""
    schedule = compilation.schedule
    if not schedule.items:
        return None
    kernels = compilation.kernels
    buffers = Buffers(entities, {node: kernels.entity(node) for node in kernels.nodes})
    lanes = lanes_of(schedule.items)
    tasks = tasks_of(compilation)
    place = {item.item_id: position for position, item in enumerate(schedule.items)}
    items = [
        item_row(schedule, number, lanes, buffers, _tasks(item.operation, tasks))
        for number, item in enumerate(schedule.items)
    ]
    return {
        "lanes": lanes,
        "items": items,
        "path": [place[it] for it in schedule.critical_path],
        "dependencies": dependency_rows(schedule, buffers),
        "loops": loop_rows(schedule),
        "shares": share_rows(schedule, entities),
        "memory": memory_row(schedule, buffers),
        "fusions": fusion_rows(schedule, entities),
        "buffers": buffers.rows,
        "moved": [visible(it) for it in compilation.transfers],
        "cores": cores_of(compilation),
    }


def _tasks(operation: "Operation", tasks: dict[str, int]) -> int:
    return tasks.get(operation.name, 1) if word_of(operation) == "kernel" else 1


def schedule_text(compilation: "Compilation") -> str:
    """The printed schedule with what the pictures show: lanes, dependencies, memory, fusions."""
    row = schedule_row(compilation, Entities())
    if row is None:
        return printed(compilation.schedule)
    parts = [printed(compilation.schedule), *_lanes(row), *_dependencies(row), *_memory(row)]
    return "\n".join([*parts, *_fusions(row)])


def _named(row: "records.ScheduleRows", item: int) -> str:
    return f"{item} {row['items'][item]['name']}"


def _table(title: str, rows: Sequence[tuple[str, ...]]) -> list[str]:
    """A title and its rows in columns, and the number of rows left out."""
    if not rows:
        return []
    shown = rows[:MOST_LISTED]
    lines = [f"  {line}" for line in aligned(shown)]
    left = len(rows) - len(shown)
    return ["", title, *lines, *([f"  … {left:,} more"] if left else [])]


def _lanes(row: "records.ScheduleRows") -> list[str]:
    counts = [sum(it["lane"] == lane for it in row["items"]) for lane in range(len(row["lanes"]))]
    lanes = [(name, f"{n:,} items") for name, n in zip(row["lanes"], counts, strict=True)]
    loops = [
        (row["items"][it["items"][0]]["name"], it["label"], f"{len(it['items']):,} items")
        for it in row["loops"]
    ]
    moved = [(text,) for text in row["moved"]]
    return [*_table("lanes", lanes), *_table("loops", loops), *_table("moved", moved)]


def _dependencies(row: "records.ScheduleRows") -> list[str]:
    rows = [
        (_named(row, source), "→", _named(row, target), kind,
         " ".join(row["buffers"][it]["name"] for it in buffers),
         f"{nbytes:,} bytes" if nbytes else "")
        for source, target, kind, buffers, nbytes, _ in row["dependencies"]
    ]  # fmt: skip
    return _table("dependencies", rows)


def _memory(row: "records.ScheduleRows") -> list[str]:
    memory, plan = row["memory"], row["memory"]["plan"]
    peak = memory["peak"]
    lines = [
        "",
        "memory",
        f"  inputs {memory['inputs']:,} bytes; made by the program: peak "
        f"{memory['alive'][peak]:,} bytes at item {_named(row, peak)}",
    ]
    if plan is None:
        return [*lines, "  no memory plan"]
    lines.append(
        f"  plan: peak {plan['peak']:,} bytes; without sharing {plan['unshared']:,}, lower bound "
        f"{plan['live']:,} over {plan['levels']} levels"
    )
    rows = [
        (row["buffers"][it["buffer"]]["name"], _offset(it), f"{it['size']:,} bytes",
         f"levels {it['first']} … {it['last']}", it["reason"])
        for it in plan["places"]
    ]  # fmt: skip
    return [*lines, *_table("memory plan", rows)]


def _offset(place: "records.PlaceRow") -> str:
    return "alone" if place["offset"] is None else f"at {place['offset']:,}"


def _change(row: "records.FusionRow") -> str:
    from compiler.schedule.analysis.opportunities import signed, signed_percent

    return f"{signed(row['change'])} ({signed_percent(-row['score'])} of the time)"


def _fusions(row: "records.ScheduleRows") -> list[str]:
    rows = [
        ("✓" if it["taken"] else "✗", _named(row, it["from"]), "+",
         it["value"] or _named(row, it["to"]),
         it["type"], _change(it),
         f"{it['saved']:,} bytes not moved", it["reason"])
        for it in row["fusions"]
    ]  # fmt: skip
    return _table("fusion opportunities", rows)


def fusion_rows(schedule: "Schedule", entities: Entities) -> "list[records.FusionRow]":
    """The table of fusion opportunities.

    Items are referred to by position, `saved` is bytes, `change` nanoseconds, the score is a share
    of the program's time. A fusion descends from both of its items, so selecting it highlights
    both. The iterations of a loop share one row, that of the first one; `times` is their number.
    """
    place = {item.item_id: position for position, item in enumerate(schedule.items)}
    names = _names(schedule)
    rows: dict[tuple[object, ...], records.FusionRow] = {}
    for number, it in enumerate(schedule.opportunities):
        row = _fusion_row(f"schedule:fusion {number}", it, schedule, place, entities)
        same = row["type"], row["saved"], row["taken"], row["value"], row["reason"]
        first = rows.setdefault((names[it.first], names[it.second], *same), row)
        first["times"] += 1
    return list(rows.values())


def _names(schedule: "Schedule") -> dict[int, str | int]:
    """The name that all iterations of an item in a loop share; of any other item its number."""
    repeated = {position for loop in loop_rows(schedule) for position in loop["items"]}
    return {
        item.item_id: item.operation.name if position in repeated else item.item_id
        for position, item in enumerate(schedule.items)
    }


def _fusion_row(
    name: str, opportunity: "FusionOpportunity", schedule: "Schedule", place: dict[int, int],
    entities: Entities,
) -> "records.FusionRow":  # fmt: skip
    ends = (opportunity.first, opportunity.second)
    return {
        "e": entities.number(name, [schedule.entity(it) for it in ends]),
        "from": place[ends[0]],
        "to": place[ends[1]],
        "type": visible(opportunity.fusion_type),
        "score": rounded(opportunity.score),
        "change": rounded(opportunity.change),
        "saved": opportunity.bytes_saved,
        "taken": opportunity.taken,
        "value": visible(opportunity.value),
        "reason": visible(opportunity.reason),
        "numbers": number_rows(opportunity.reason),
        "times": 0,
    }
