"""One compilation as JSON: the only thing that reaches the browser, and what exports carry.

    {"format": "svodviz", "version": 4,
     "name":      of the compilation
     "entities":  [entity]                    all others refer to these by position
     "parents":   [[entity]]                  for each entity, what it descends from directly
     "stages":    [{"id", "label", "view", "seconds", "missing", "units"}]   in ribbon order
       unit       {"name", "title", "lines": [[text, entity or -1, why it comes from nothing]],
                   "scene": scene or null, "note"}          (the why only where there is one)
                  assembly: "flow" (see `machine_code`); of a stage that is "asked" for, or
                  arrives "later" (see `later`), only names
     "films":     [film]                      see `frames`; one per program that passes run over
     "passes":    [{"stage", "kernel", "name", "because", "seconds", "changed", "film", "shot",
                    "rewrites": [[rule, before, after]], "left_out"}]
     "rules":     [[name, algebra, source, [line of code]]]
     "rulebook":  [[stage, pass, [rule], [[target]]]]     see `whynot`
     "checks":    checks or null              see `checks`; null where nothing was checked
     "decisions": [[entity, kind, taken, reason, [numbers]]]     see `reasons`
     "plain":     [[kind, reason, [numbers], [entity]]]          nodes that left no choice
     "values":    {entity: preview}           see `values`; inside kernels without shape
     "unseen":    [[stage, kernel, words]]    what has no values inside, see `inside`
     "legend":    [[kind, shape, words, glyph]]
     "edges":     [[kind, dashes, words]]     the legend of edges
     "kernels":   [kernel]                    see `kernels`: choices, what LLVM did, and why
     "operations": {op: what it means}        see `operations`
     "schedule":  schedule or null            see `schedule`: items, lanes, memory, fusions
     "views":     [[id, label, stages, needs]]   see `views`
     "machines":  [[id, title, note]]         whose assembly can be asked for
     "host":      "x86", "arm", …             whose assembly the stage has; "" where not known
     "recorded":  {question: answer}          in exports: see `requests`, `machine_code`, `measured`
     "playground": what was tried             see `playpoints`
     "notes":     [text]}                     what was left out, and why

Scenes are described in `scene`. Text arrives printable: control characters and direction marks are
already visible as escapes. Every change of meaning raises VERSION; its history stands at the end
of this file.
"""

import os
from pathlib import Path
from typing import Any

from compiler.core.garbage import put_off
from svodviz.drawing.palette import edge_legend, legend
from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import STAGES
from svodviz.foundation.subject import name_of
from svodviz.foundation.views import view_rows
from svodviz.wire.checks import Checks, check_rows
from svodviz.wire.frames import Film
from svodviz.wire.grounds import recorded
from svodviz.wire.kernels import kernel_rows
from svodviz.wire.later import Rest, begin, joined
from svodviz.wire.machine_code import host, machine_rows
from svodviz.wire.operations import operation_words
from svodviz.wire.reasons import decision_rows
from svodviz.wire.scene import Budget, Wire, plain
from svodviz.wire.schedule import schedule_row
from svodviz.wire.stage_rows import later_row, stage_row
from svodviz.wire.whynot import rulebook

FORMAT, VERSION = "svodviz", 4
PACKAGES = Path(__file__).parents[2]


def wire(compilation: Any, checks: Checks | None = None) -> Wire:
    """The compilation as JSON data (see the module's docstring)."""
    begin(compilation)
    data, rest = opening(compilation, checks)
    return joined(data, rest.made())


def opening(compilation: Any, checks: Checks | None = None) -> tuple[Wire, Rest]:
    """The data that a page can open with, and the rest of it, which is still to be made."""
    with put_off():
        return _opening(compilation, checks)


def _opening(compilation: Any, checks: Checks | None) -> tuple[Wire, Rest]:
    entities = Entities()
    notes: list[str] = [visible(checks.note)] if checks and checks.note else []
    placing = Budget()
    stages = [
        later_row(row, compilation) if row.late
        else stage_row(row, compilation, entities, placing, notes)
        for row in STAGES
    ]  # fmt: skip
    _join_kernels(stages, entities)
    schedule = schedule_row(compilation, entities)
    films, passes, rules = _passes(compilation, entities, placing, notes)
    data: Wire = {
        "format": FORMAT,
        "version": VERSION,
        "name": visible(name_of(compilation)),
        "stages": stages,
        "films": films,
        "passes": passes,
        "rules": rules,
        "rulebook": rulebook(compilation),
        "checks": check_rows(checks, compilation) if checks else None,
        **decision_rows(compilation, entities),
        "values": {},
        "unseen": [],
        "legend": legend(),
        "edges": edge_legend(),
        "kernels": kernel_rows(compilation, entities),
        "operations": operation_words(stages, films),
        "schedule": schedule,
        "views": view_rows(),
        "machines": machine_rows(),
        "host": host(),
        "playground": recorded(compilation),
        "notes": notes,
        "entities": entities.names,
        "parents": entities.parents,
    }
    return data, Rest(compilation, entities, placing, data)


def _join_kernels(stages: list[Wire], entities: Entities) -> None:
    """Every line of a kernel's loops also descends from the schedule items that run the kernel."""
    by_id = {stage["id"]: stage for stage in stages}
    items: dict[str, list[str]] = {}
    names = entities.names
    for unit in by_id["schedule"]["units"]:
        for node in unit["scene"]["nodes"] if unit["scene"] else ():
            items.setdefault(node.get("name", ""), []).append(names[node["e"]])
    for unit in by_id["loops"]["units"]:
        for _, number, *_ in unit["lines"]:
            if number >= 0:
                entities.number(names[number], items.get(unit["name"], ()))


def _passes(
    compilation: Any, entities: Entities, placing: Budget, notes: list[str]
) -> tuple[list[Wire], list[Wire], list[list[Any]]]:
    films: dict[tuple[str, str], Film] = {}
    rules: dict[tuple[str, str, str, str], int] = {}
    rows: list[Wire] = []
    for record in compilation.passes:
        film = films.setdefault((record.stage, record.kernel), Film(entities))
        rewrites = [
            [
                rules.setdefault(_rule(it), len(rules)),
                entities.number(it.before),
                entities.number(it.after),
            ]
            for it in record.applied
        ]
        left_out = len(rewrites) - film.shoot(record.changes(film.seen))
        if left_out > 0:
            notes.append(f"{record.name}: the last {left_out} of {len(rewrites)} rewrites have no "
                         "frames of their own")  # fmt: skip
        rows.append({
            "stage": record.stage,
            "kernel": visible(record.kernel),
            "name": visible(record.name),
            "because": visible(record.because),
            "seconds": plain(record.seconds),
            "changed": bool(record.changed),
            "film": list(films).index((record.stage, record.kernel)),
            "shot": len(film.passes) - 1,
            "rewrites": rewrites,
            "left_out": max(0, left_out),
        })  # fmt: skip
    named = [
        [visible(rule), visible(algebra), place(at), [visible(it) for it in code.splitlines()]]
        for rule, algebra, at, code in rules
    ]
    return [film.wire(placing) for film in films.values()], rows, named


def _rule(it: Any) -> tuple[str, str, str, str]:
    return it.rule, it.algebra, it.source, getattr(it, "code", "")


def place(source: str) -> str:
    """A rule's "file:line" with the file as seen from the packages' folder: no machine's paths."""
    return visible(source.removeprefix(f"{PACKAGES}{os.sep}"))


# History of VERSION
#   1  stages, films, passes, decisions, values.
#   2  "schedule" and "edges"; legend rows end with a glyph; two nodes of a scene may be joined by
#      several edges, one for each kind.
#   3  "kernels"; items have "tasks".
#   4  "views", "checks", "rulebook"; rules end with their code; layouts may be null; nodes of the
#      graph have "module"; a graph too large to be drawn comes as stretches of its layers; items
#      have "bound", and there is the stage "run"; decisions, fusions, choices and places have the
#      numbers that were looked at; "plain", "unseen".
