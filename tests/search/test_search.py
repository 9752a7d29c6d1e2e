"""The search over random programs, with a new seed each time, finds only planted faults."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from compiler.core.node import substitute, toposort
from compiler.core.origin import no_origin
from compiler.loops.choices import Choices, parse
from compiler.loops.nodes import Alu, Body
from compiler.machines.model import MachineModel
from tests.loops import guarded
from tests.search import choosing, running
from tests.search.cases import CHOSEN, PLAIN, ROUNDED, RUN, Case, Outcome, tried, tried_text
from tests.search.choosing import bodies, digest, plain_loops
from tests.search.exactness import rounding, settled
from tests.search.families import FAMILIES, SHARES
from tests.search.former import FORMER
from tests.search.terms import program
from tests.search.workers import searched

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 8
LITTLE = "x0 = float32[9, 20]; x1 = float32[20, 70]; x0 @ x1"


def test_a_search_finds_nothing(record_property: Callable[[str, object], None]) -> None:
    seed = random.SystemRandom().randrange(10**6)
    options = ["--seconds", str(SECONDS), "--jobs", "1", "--seed", str(seed)]
    command = [sys.executable, "-m", "tests.search", *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command[1:])}\n{done.stdout}\n{done.stderr[-3000:]}"
    record_property("printed", f"search, {done.stdout.splitlines()[-1]}")


@pytest.mark.parametrize("text", FORMER.values(), ids=FORMER)
def test_what_failed_before(text: str) -> None:
    found = tried_text(text)
    assert not found.failures, "\n".join(map(str, found.failures))
    assert found.total(CHOSEN, PLAIN) >= len(choosing.every_machine())


# --- it would find what is wrong --------------------------------------------------------------


def test_a_refused_choice_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(loops: Body, model: MachineModel) -> Choices:
        return parse("vectorize i0")  # of 9 iterations

    monkeypatch.setattr(choosing, "choose", refused)
    found = tried_text(LITTLE)
    assert {failure.error for failure in found.failures} == {
        "ScheduleError: vectorize: i0 has 9 iterations"
    }
    assert found.failures[0].text == LITTLE


def test_another_result_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(loops: Body, choices: Choices) -> Body:
        product = next(n for n in toposort([loops]) if isinstance(n, Alu) and n.op == "mul"
                       and n.dtype.is_float)  # fmt: skip
        return substitute(loops, {product: Alu(product.sources, "max")})

    monkeypatch.setattr(choosing, "transformed", wrong)
    found = tried_text(LITTLE)
    assert found.failures and all("elements differ (exact)" in f.error for f in found.failures)


def test_what_is_written_beside_a_buffer_is_a_failure() -> None:
    (body,) = bodies(program(LITTLE))
    loops = plain_loops(body)
    code, values = running.machine_code(body, loops, 0), running.arguments(loops, 0)
    assert guarded.run(code, values, "left").size == values[0].size
    with pytest.raises(AssertionError, match="a buffer"):
        guarded.run(code, [values[0][:-1], *values[1:]], "left")


def dies(case: Case, known: set[bytes]) -> Outcome:
    """A case whose process ends."""
    if case.number == 3:
        os.abort()
    return Outcome(programs=1)


def test_a_process_that_ends_is_a_failure_and_the_search_goes_on() -> None:
    def is_enough(found: Outcome) -> bool:
        return bool(found.failures) and found.programs > 100

    found = searched(7, 60.0, 1, 0.0, is_enough, dies)
    assert [(f.case, f.error) for f in found.failures] == [
        ("7.3", "its process ended with code -6")
    ]
    assert found.failures[0].text == Case(7, 3).program.text
    assert found.programs > 100  # those behind it


# --- what it is made of -----------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_program_is_its_text(family: str) -> None:
    for round in range(6):
        case = Case(1, round * len(SHARES) + SHARES.index(family))
        with no_origin():
            made = case.program
            again = program(made.text)
        assert made.family == family and made.text == case.program.text
        kernels = [list(map(digest, bodies(tensor))) for tensor in (made.term.tensor, again)]
        assert kernels[0] == kernels[1]


def test_equal_cases_have_equal_outcomes() -> None:
    first, second = (tried(Case(5, 4), set()) for _ in range(2))
    assert first.counts == second.counts and first.kernels == second.kernels
    assert first.total(CHOSEN, PLAIN) == 3 * len(first.kernels) > 0


def test_kernels_that_are_known_are_left_out() -> None:
    known: set[bytes] = set()
    first = tried(Case(5, 4), known)
    assert known == first.kernels and not tried(Case(5, 4), known).counts


@pytest.mark.parametrize(
    ("text", "how"),
    [
        (LITTLE, "exact"),
        ("x0 = float16[9]; x0.sum()", "exact"),
        ("x0 = float16[1100]; x0.sum()", "rounded"),
        ("x0 = float32[9]; x0.exp().sum()", "rounded"),
        ("x0 = float32[9]; x0 * 0.3", "rounded"),
        ("x0 = float32[9]; x0.exp().sum() < x0", "open"),
        ("x0 = float32[9]; x0.tanh().cast('int8')", "open"),
        ("x0 = int8[900]; x0.sum()", "exact"),
    ],
)
def test_what_has_to_agree(text: str, how: str) -> None:
    assert settled(plain_loops(bodies(program(text))[-1])) == how


def test_the_type_that_rounds_most_decides() -> None:
    kinds = ("x0 * 0.3", "(x0 * 0.3).cast('float16').cast('float32')")
    shares = [rounding(plain_loops(bodies(program(f"x0 = float32[9]; {k}"))[-1])) for k in kinds]
    assert 1e-5 < shares[0] < 1e-4 < 1e-2 < shares[1] < 0.1


def test_a_long_fold_rounds_once_for_each_iteration() -> None:
    def share(count: int, fold: str) -> float:
        text = f"x0 = float32[{count}]; (x0 * 0.3).{fold}()"
        return rounding(plain_loops(bodies(program(text))[-1]))

    assert share(300, "sum") == share(12_864, "max") < share(12_864, "sum") < 1e-3


def test_what_agrees() -> None:
    x = np.array([1, np.nan, np.inf, 4], np.float32)
    assert running.difference(x, x, "exact") == "" == running.difference(x, x, "rounded", 0.0)
    near = x * np.float32(1 + 1e-6)
    assert not running.difference(near, x, "rounded", 2e-6)
    assert running.difference(near, x, "rounded", 1e-7).startswith("2 of 4 elements differ")
    assert running.difference(near, x, "exact").startswith("2 of 4 elements differ (exact)")
    assert running.difference(x[::-1].copy(), x, "rounded", 1e-3).startswith("4 of 4")


def test_counts_are_those_of_each_kind() -> None:
    found = tried_text(LITTLE)
    assert found.total(CHOSEN) == len(choosing.every_machine()) and not found.total(PLAIN, ROUNDED)
    assert 3 <= found.total(RUN) <= len(choosing.every_machine())
