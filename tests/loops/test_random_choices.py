"""Random legal choices change nothing but how: every program equals its plain loop, on every
engine, and no access leaves its buffer."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.loops.guarded import guarded
from tests.loops.random_choices import random_choices
from tests.loops.transformed import PROGRAMS, SIZES, assert_same, body_of, transform

ROOT = Path(__file__).resolve().parents[2]
COUNT = 15
"""Cases of one process."""


@settings(max_examples=40, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 10**6), st.sampled_from(sorted(PROGRAMS)), *[st.sampled_from(SIZES)] * 3)
def test_random_choices_compute_the_same(seed: int, name: str, m: int, n: int, k: int) -> None:
    before = body_of(name, m, n, max(k, 2))
    assert_same(before, transform(before, random_choices(before, seed)))


def in_process(*arguments: object) -> subprocess.CompletedProcess[str]:
    """A process of its own, which an access to a guard page ends."""
    command = [sys.executable, "-m", "tests.loops.run_guarded", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("first", [0, 1000])
def test_every_engine_on_guarded_memory(first: int) -> None:
    done = in_process(first, COUNT)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    assert done.stdout.endswith(f"{COUNT} cases, 0 failed\n")


@pytest.mark.parametrize(("side", "offset"), [("left", -4), ("right", 28)])
def test_an_access_outside_ends_the_process(side: str, offset: int) -> None:
    code = (
        "import ctypes, numpy as np\nfrom tests.loops.guarded import guarded\n"
        f"memory, held = guarded(np.ones(7, np.float32), {side!r})\n"
        "print(held.sum(), flush=True)\n"
        f"print(ctypes.c_float.from_address(held.ctypes.data + {offset}).value)"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout == "7.0\n" and done.returncode < 0


def test_what_is_written_beside_a_buffer_is_seen() -> None:
    memory, held = guarded(np.ones(7, np.float32), "left")
    assert memory.is_intact
    np.lib.stride_tricks.as_strided(held, (8,), (4,))[7] = 2.0
    assert not memory.is_intact
