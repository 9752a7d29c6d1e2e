"""The invariants of every stage: numbered from 1 without gaps, and each cited by a test."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
STAGES = ("graph", "schedule", "loops", "lowered")


@pytest.mark.parametrize("stage", STAGES)
def test_numbers(stage: str) -> None:
    header = (ROOT / "compiler" / stage / "verify.py").read_text("utf-8").split('"""')[1]
    numbers = [int(found) for found in re.findall(r"^ ?(\d+)\. ", header, re.M)]
    assert numbers == list(range(1, len(numbers) + 1))
    own = "\n".join(it.read_text("utf-8") for it in (ROOT / "tests" / stage).rglob("*.py"))
    users = "\n".join(it.read_text("utf-8") for it in (ROOT / "tests").rglob("test_*.py"))
    cited = re.findall(r"invariant (\d+)|^ *\(?(\d+),|\w\(caught, (\d+), ", own, re.M)
    cited += [(it, "", "") for it in re.findall(r"invariant (\d+)", users)]
    assert set(numbers) <= {int(n) for found in cited for n in found if n}
