"""Findings for programs as people write them: the right ones, and no others."""

import pytest

from compiler.findings.rules import RULES
from tests.findings.corpus import PROGRAMS, compiled

EXPECTED = {
    "polynomial": {"float64"},  # Tensor(0.0) is float64, and so is the result
}
"""The rules that are right to fire, with why; on any other program none is."""
MOST_FALSE = 0.02
"""The share of all pairs of program and rule that may be false alarms."""


def fired(name: str) -> set[str]:
    return {each.rule for each in compiled(name).findings}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_has_the_findings_that_are_right(name: str) -> None:
    assert fired(name) >= EXPECTED.get(name, set())


def test_hardly_an_alarm_is_false() -> None:
    false = {(name, rule) for name in PROGRAMS for rule in fired(name) - EXPECTED.get(name, set())}
    share = len(false) / (len(PROGRAMS) * len(RULES))
    assert share <= MOST_FALSE, f"{share:.1%}: {sorted(false)}"
    programs = {name for name, _ in false}
    assert len(programs) / len(PROGRAMS) <= MOST_FALSE, sorted(false)


def test_most_programs_have_nothing_to_be_told() -> None:
    silent = [name for name in PROGRAMS if not fired(name)]
    assert len(silent) >= 0.8 * len(PROGRAMS)


@pytest.mark.parametrize("name", EXPECTED)
def test_what_is_said_has_a_line_and_is_shown_somewhere(name: str) -> None:
    made = compiled(name)
    known = {line.entity for stage in made.stages for line in stage.lines}
    for each in made.findings:
        assert each.subject in known and each.line in known
        assert each.place.startswith("corpus.py:") and each.instead and str(each)
