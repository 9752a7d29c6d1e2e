"""rules: the table of rules, and `findings`, which applies them.

Each row is a rule: its name, a description, its function. A rule is a file of this folder; its
docstring states when it reports something, beyond the thresholds `WORTH` and `LEAST`.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from compiler.findings.below_roofline import FAR, below_roofline
from compiler.findings.finding import Finding, Findings
from compiler.findings.float64 import float64_by_accident
from compiler.findings.moved import moved_only
from compiler.findings.one_core import on_one_core
from compiler.findings.recompiled import recompiled
from compiler.findings.strided import strided
from compiler.findings.subject import LEAST, WORTH, Subject
from compiler.findings.unfused import unfused
from compiler.run.recompiled import MANY
from compiler.stages.stages import ProgramStages


@dataclass(frozen=True, slots=True)
class Rule:
    """A row of the table; `find` gives what the rule finds in a program."""

    name: str
    looks_for: str
    find: Callable[[Subject], Iterator[Finding]]


RULES = (
    Rule("float64", "float64 by accident, and where it came in", float64_by_accident),
    Rule("copy", "kernels that only copy or convert", moved_only),
    Rule("recompiled", f"lines that had {MANY} programs or more compiled", recompiled),
    Rule("roofline", f"kernels that take {FAR:g} times their roofline bound", below_roofline),
    Rule("strided", "reductions whose reads are strided", strided),
    Rule("one core", "parallel loops that were refused", on_one_core),
    Rule("fusion", "values that pass through memory and need not", unfused),
)
"""All rules."""
REPORTED_FROM = (
    f"Each is reported from {WORTH:.0%} of the program's time and {LEAST / 1000:g} µs on."
)
"""The thresholds of all rules, in words."""


def findings(program: ProgramStages, measured: Mapping[int, float] | None = None) -> Findings:
    """The findings of the rules for a program, ordered by the time that each would save.

    `measured` are the nanoseconds of its items in one run; where some are missing, or none are
    given, the estimates are used.
    """
    subject = Subject(program, measured)
    found = [each for rule in RULES for each in rule.find(subject)]
    rows = sorted(found, key=lambda each: (-each.gain, each.rule, each.subject))
    return Findings(tuple(rows), (*(rule.looks_for for rule in RULES), REPORTED_FROM))
