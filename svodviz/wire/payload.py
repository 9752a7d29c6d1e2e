"""One compilation as JSON: the data of a page, live and exported.

What stands in it says `pages.Wire`; in exports it also has what was `recorded`, see `requests`,
`machine_code` and `measured`. Everything that a table is about is an entity, named by its position
in one list. Text arrives printable: control characters and direction marks are already visible as
escapes. Every change of meaning raises VERSION; its history stands at the end of this file.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

from compiler.core.garbage import put_off
from svodviz.drawing.palette import edge_legend, legend
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import STAGES, USUAL
from svodviz.foundation.subject import name_of
from svodviz.foundation.views import view_rows
from svodviz.wire.checks import Checks, check_rows
from svodviz.wire.findings import finding_rows
from svodviz.wire.grounds import recorded
from svodviz.wire.kernels import kernel_rows
from svodviz.wire.later import Rest, joined
from svodviz.wire.machine_code import host, machine_rows
from svodviz.wire.modules import has_modules, module_table
from svodviz.wire.operations import operation_words
from svodviz.wire.pass_replay import Recorder
from svodviz.wire.reasons import decision_rows
from svodviz.wire.scene import Budget, number
from svodviz.wire.schedule import schedule_row
from svodviz.wire.stage_rows import later_row, stage_row
from svodviz.wire.whynot import rulebook

if TYPE_CHECKING:
    from compiler.core.trace import Rewrite
    from compiler.program.compilation import Compilation
    from svodviz.data import pages, records

FORMAT: Final = "svodviz"
VERSION: Final = 7
PACKAGES = Path(__file__).parents[2]


def wire(compilation: "Compilation", checks: Checks | None = None) -> "pages.Wire":
    """The compilation as JSON data."""
    compilation.begin_listings()
    data, rest = opening(compilation, checks)
    return joined(data, rest.made())


def opening(compilation: "Compilation", checks: Checks | None = None) -> "tuple[pages.Wire, Rest]":
    """The data that a page opens with, and the rest, which is computed later."""
    with put_off():
        return _opening(compilation, checks)


def _opening(compilation: "Compilation", checks: Checks | None) -> "tuple[pages.Wire, Rest]":
    entities = Entities()
    notes: list[str] = [visible(checks.note)] if checks and checks.note else []
    placing = Budget()
    stages = [
        later_row(row, compilation) if row.late
        else stage_row(row, compilation, entities, placing, notes)
        for row in (STAGES if has_modules(compilation) else USUAL)
    ]  # fmt: skip
    _join_kernels(stages, entities)
    schedule = schedule_row(compilation, entities)
    replays, passes, rules = _passes(compilation, entities, placing, notes)
    reasons = decision_rows(compilation, entities)
    data: pages.Wire = {
        "format": FORMAT,
        "version": VERSION,
        "name": visible(name_of(compilation)),
        "stages": stages,
        "scopes": _scope_rows(compilation, entities),
        "replays": replays,
        "passes": passes,
        "rules": rules,
        "rulebook": rulebook(compilation),
        "checks": check_rows(checks, compilation) if checks else None,
        "findings": finding_rows(compilation),
        "decisions": reasons["decisions"],
        "plain": reasons["plain"],
        "values": {},
        "unseen": [],
        "legend": legend(),
        "edges": edge_legend(),
        "kernels": kernel_rows(compilation, entities),
        "operations": operation_words(stages, replays),
        "schedule": schedule,
        "views": view_rows(),
        "machines": machine_rows(),
        "host": host(),
        "playground": recorded(compilation),
        "notes": notes,
        "entities": entities.names,
        "parents": entities.parents,
    }
    if has_modules(compilation):
        data["modules"] = module_table(compilation, entities)
    return data, Rest(compilation, entities, placing, data)


def _scope_rows(compilation: "Compilation", entities: Entities) -> "list[records.ScopeRow]":
    """Each scope with its result and the entities of its lines, as far as the listing has these.

    They are found here and not in the page: call stacks are the compiler's, and what is alike is
    found on its own nodes, once, in time that grows as the program does.
    """
    rows = compilation.scopes.rows
    lines = compilation.user_source.entities if rows else {}
    return [
        (it.kind, visible(it.name), it.parent,
         [entities.number(lines[place]) for place in it.places if place in lines], it.count,
         -1 if it.result is None else entities.number(compilation.entity(it.result)))
        for it in rows
    ]  # fmt: skip


def _join_kernels(stages: "list[records.Stage]", entities: Entities) -> None:
    """Every line of a kernel's loops also descends from the schedule items that run the kernel."""
    by_id = {stage["id"]: stage for stage in stages}
    items: dict[str, list[str]] = {}
    names = entities.names
    for unit in by_id["schedule"]["units"]:
        for node in unit["scene"]["nodes"] if unit["scene"] else ():
            items.setdefault(node.get("name", ""), []).append(names[node["e"]])
    for unit in by_id["loops"]["units"]:
        for _, place, *_ in unit["lines"]:
            if place >= 0:
                entities.number(names[place], items.get(unit["name"], ()))


def _passes(
    compilation: "Compilation", entities: Entities, placing: Budget, notes: list[str]
) -> "tuple[list[records.Replay], list[records.Pass], list[records.Rule]]":
    recorders: dict[tuple[str, str], Recorder] = {}
    rules: dict[tuple[str, str, str, str], int] = {}
    rows: list[records.Pass] = []
    for record in compilation.passes:
        recorder = recorders.setdefault((record.stage, record.kernel), Recorder(entities))
        rewrites = [
            (
                rules.setdefault(_rule(it), len(rules)),
                entities.number(it.before),
                entities.number(it.after),
            )
            for it in record.applied
        ]
        left_out = len(rewrites) - recorder.record(record.changes(recorder.seen))
        if left_out > 0:
            notes.append(f"{record.name}: the last {left_out} of {len(rewrites)} rewrites have no "
                         "steps of their own")  # fmt: skip
        rows.append({
            "stage": record.stage,
            "kernel": visible(record.kernel),
            "name": visible(record.name),
            "because": visible(record.because),
            "needs": [visible(it) for it in record.needs],
            "gives": [visible(it) for it in record.gives],
            "seconds": number(record.seconds),
            "changed": record.changed,
            "replay": list(recorders).index((record.stage, record.kernel)),
            "replay_pass": len(recorder.passes) - 1,
            "rewrites": rewrites,
            "left_out": max(0, left_out),
        })  # fmt: skip
    named = [
        (visible(rule), visible(algebra), place(at), [visible(it) for it in code.splitlines()])
        for rule, algebra, at, code in rules
    ]
    return [it.wire(placing) for it in recorders.values()], rows, named


def _rule(it: "Rewrite") -> tuple[str, str, str, str]:
    return it.rule, it.algebra, it.source, it.code


def place(source: str) -> str:
    """A rule's "file:line", relative to the packages' folder: no absolute paths."""
    return visible(source.removeprefix(f"{PACKAGES}{os.sep}"))


# History of VERSION
#   1  stages, replays of passes, passes, decisions, values.
#   2  "schedule" and "edges"; legend rows end with a glyph; two nodes of a scene may be joined by
#      several edges, one for each kind.
#   3  "kernels"; items have "tasks".
#   4  "views", "checks", "rulebook"; rules end with their code; layouts may be null; nodes of the
#      graph have "module"; a graph too large to be drawn comes as stretches of its layers; items
#      have "bound", and there is the stage "run"; decisions, fusions, choices and places have the
#      numbers that were looked at; "plain", "unseen"; schedules have "cores".
#   5  the schedule has "shares": what each node does of an item's work; fusions have "change";
#      "findings"; "scopes", and "scope" of the graph's nodes.
#   6  findings name what shows them, and say what they bring in words; a measurement has those
#      that rest on its times.
#   7  other names: "replays", with "replay" and "replay_pass" of passes; "trace" of points of the
#      playground, with "intervals".
