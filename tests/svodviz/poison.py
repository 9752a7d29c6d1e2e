"""The sample in which every text that comes from a user's program is hostile; pages likewise."""

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import fields, replace
from itertools import cycle
from typing import Any

import numpy as np

from compiler.core.reason import Decision, Number
from compiler.findings.finding import Finding, Findings
from svodviz.foundation.escape import visible
from tests.svodviz.sample import HOSTILE, hostile
from tests.svodviz.sample_graph import Compilation, Line, PassRecord, Stage

POISONS = (
    *HOSTILE,
    "W" * 700,  # no place to break the line
    "g\u0301\u0336" + "\u0336" * 60,  # marks that would pile up over the lines above
    "\ufdfd\U0001f468\u200d\U0001f469\u200d\U0001f467\ud800",  # wide, joined, and half a character
    "$\\href{javascript:window.hacked=1}{x}$ {{constructor.constructor('hacked=1')()}}",
    "\x1b]0;title\x07\x1b[31m red",  # what a terminal would obey
    "javascript:window.hacked=1 __proto__ constructor toString",
    "} * { display: none } --page: url(http://127.0.0.1:9/); /*",
)
TEXTS = ("op", "argument", "name", "group", "dtype", "shape", "kind", "device")
# Characters that must not reach a reader: they end lines, move text, or speak to terminals.
UNPRINTABLE = (*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA0)),
               *"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f",
               "\ud800")  # fmt: skip


def poisoned() -> Compilation:
    """A compilation of which only numbers, entities and the stages' own names are harmless."""
    plain, poison = hostile(), cycle(POISONS)
    parts = {it.name: getattr(plain, it.name) for it in fields(plain)}
    stages = {name: _stage(it, poison) for name, it in parts.items() if isinstance(it, Stage)}
    per_kernel = {
        name: tuple(_stage(it, poison) for it in part) for name, part in parts.items()
        if isinstance(part, tuple) and isinstance(part[0], Stage)
    }  # fmt: skip
    schedule = replace(plain.schedule, shown=_lines(plain.schedule.lines, poison))
    return replace(
        plain, name=f"{POISONS[0]}{next(poison)}", schedule=schedule, **stages, **per_kernel,
        passes=tuple(_record(it, poison) for it in plain.passes),
        decisions=tuple(Decision(it.subject, next(poison), it.taken, next(poison))
                        for it in plain.decisions),
        arrays=_odd_values(plain.arrays), findings=_findings(poison),
    )  # fmt: skip


def _findings(poison: Iterator[str]) -> Findings:
    """One of each view, all of whose words are poison."""
    places = (("graph", "graph", "graph:11"), ("schedule", "timeline", "schedule:0"))
    rows = tuple(
        Finding(next(poison), next(poison), next(poison), 1e6, subject, stage, view,
                (Number(next(poison), 3.0, next(poison), next(poison), 4.0),), next(poison),
                next(poison))
        for stage, view, subject in places
    )  # fmt: skip
    return Findings(rows, (next(poison),))


def _stage(stage: Stage, poison: Iterator[str]) -> Stage:
    name = f"{stage.name}{next(poison)}" if stage.name else ""
    return replace(
        stage, title=next(poison), name=name, lines=_lines(stage.lines, poison),
        graph=_graph(stage.graph, poison),
    )  # fmt: skip


def _lines(lines: tuple[Line, ...], poison: Iterator[str]) -> tuple[Line, ...]:
    return tuple(replace(it, text=f"{it.text[:20]}{next(poison)}") for it in lines)


def _graph(graph: Any, poison: Iterator[str]) -> Any:
    made = graph.copy()
    for _, attributes in made.nodes(data=True):
        attributes.update({name: next(poison) for name in TEXTS})
        attributes["variables"] = next(poison)
        attributes["cost"] = {next(poison): 3}
        if "text" in attributes:
            attributes["text"] = "\n".join(next(poison) for _ in range(4))
    for _, _, attributes in made.edges(data=True):
        attributes["kind"] = next(poison)
    return made


def _record(record: PassRecord, poison: Iterator[str]) -> PassRecord:
    rewrites = tuple(
        replace(it, rule=next(poison), algebra=next(poison), source=next(poison))
        for it in record.rewrites
    )
    return replace(
        record, name=next(poison), because=next(poison), rewrites=rewrites,
        snapshots=tuple(_graph(it, poison) for it in record.snapshots),
    )  # fmt: skip


def _odd_values(arrays: dict[str, Any]) -> dict[str, Any]:
    """The same nodes, with values that no number prints as."""
    odd = (
        np.full((3, 4), np.nan), np.array([np.inf, -np.inf, -0.0, 5e-324, 1.8e308]),
        np.array([], np.float32), np.array(2**63 - 1), np.zeros((0, 3)), np.array([1 + 2j, np.nan]),
        np.array([True, False]),
    )  # fmt: skip
    return dict(zip(arrays, cycle(odd), strict=False))


def strings(value: Any) -> Iterator[str]:
    """Every string in JSON data, keys too."""
    match value:
        case str():
            yield value
        case dict():
            for key, it in value.items():
                yield from strings(key)
                yield from strings(it)
        case list() | tuple():
            for it in value:
                yield from strings(it)


def unprintable(text: str, allowed: str = "") -> str:
    """The characters of a text that no reader should meet."""
    return "".join(it for it in UNPRINTABLE if it in text and it not in allowed)


# Keys that the page tells things apart by: names of ours, never text of a program. All other
# text on its way to the page is made hostile; so what a new view shows is covered without a word.
OURS = (
    "format", "entities.*", "stages.*.id", "stages.*.view", "stages.*.units.*.name",
    "*.routes.*.1", "legend.*.0", "legend.*.1", "edges.*.0", "edges.*.1", "views.*.0",
    "views.*.2.*", "views.*.3", "machines.*.0", "kernels.*.name", "values.*.picture.*",
    "schedule.items.*.op", "schedule.items.*.args.*.1", "recorded.*.kind", "recorded.*.machine",
    "recorded.*.units.*.name", "playground.kernels.*.name", "modules.rows.*.kernels.*.0",
)  # fmt: skip
_OURS = re.compile("|".join(fnmatch.translate(it) for it in OURS))


def poisoned_wire(data: Any) -> Any:
    """The data of a page with hostile text wherever there is text that could be a program's."""
    poison = cycle([visible(it) for it in POISONS])
    return _poisoned(data, (), poison)


def _poisoned(value: Any, path: tuple[str, ...], poison: Iterator[str]) -> Any:
    match value:
        case str() if value and not _OURS.fullmatch(".".join(path)):
            return f"{value[:40]}{next(poison)}"
        case dict():
            return {key: _poisoned(it, (*path, key), poison) for key, it in value.items()}
        case list() | tuple():
            return [_poisoned(it, (*path, str(n)), poison) for n, it in enumerate(value)]
    return value
