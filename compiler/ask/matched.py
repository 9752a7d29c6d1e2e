"""matched: the names that a rule bound in a rewrite, its time, and what a choice acted on.

The rule runs once more on the node that it rewrote, as that node was: the names that are known
where it returns are what it matched. The fastest of a few more runs is its time. Loop passes have
no rules: they do what choices say, and the loops that these changed are listed instead
(`acted_on.py`).

Relies on: rules read nodes and make nodes, and do nothing else.
"""

import inspect
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any

from compiler.ask.acted_on import acted_on
from compiler.ask.why_not import described, rules_of
from compiler.core.node import Node
from compiler.core.origin import no_origin
from compiler.core.text import microseconds
from compiler.core.trace import PassRecord
from compiler.graph.rewrite import Rule
from compiler.stages.stages import ProgramStages

RUNS = 3
"""Times that a rule is run to be timed, of which the least counts. Not measured."""


@dataclass(frozen=True, slots=True)
class Matched:
    """The names that a rule gave to what it matched, and its time.

    Of a choice those of what it acted on, and no time: 0.
    """

    rule: str
    bindings: tuple[tuple[str, str], ...]
    nanoseconds: int

    def __str__(self) -> str:
        rows = [f"  {name} = {value}" for name, value in self.bindings]
        time = f" {microseconds(self.nanoseconds, 1)}" if self.nanoseconds else ""
        return "\n".join([f"{self.rule}:{time}", *rows])


def matched(compilation: ProgramStages, record: PassRecord, step: int) -> Matched | None:
    """The rule or choice that made rewrite `step` (from 1) of a pass; None for neither."""
    match = record.matches[step - 1]
    rules = rules_of(record, compilation.options)
    rule = next((r for r in rules if (r.name, r.source) == (match.rule, match.source)), None)
    if rule is None:
        bindings = acted_on(match)
        return Matched(match.rule, bindings, 0) if bindings else None
    with no_origin():
        names = _known_at_return(rule, match.before)
        times = [_nanoseconds(rule, match.before) for _ in range(RUNS)]
    return Matched(rule.name, tuple(_described_values(names)), min(times))


def _known_at_return(rule: Rule, node: Node) -> Mapping[str, Any]:
    """The local names of the rule, as it is written, when it returns."""
    names: dict[str, Any] = {}
    code = inspect.unwrap(rule.described or rule.function).__code__

    def enter(frame: FrameType, event: str, value: object) -> Any:
        return note if frame.f_code is code else None

    def note(frame: FrameType, event: str, value: object) -> Any:
        if event == "return":
            names.update(frame.f_locals)
        return note

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        rule.function(node)
    finally:
        sys.settrace(before)
    return names


def _nanoseconds(rule: Rule, node: Node) -> int:
    start = time.perf_counter_ns()
    rule.function(node)
    return time.perf_counter_ns() - start


def _described_values(names: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Nodes and plain values by their names; what a rule merely works with is left out."""
    for name, value in names.items():
        is_nodes = isinstance(value, tuple) and all(isinstance(it, Node | int) for it in value)
        if is_nodes or isinstance(value, Node | int | float | str):
            yield name, described(value)
