"""Axes that are read in groups: cut into them, whatever tile comes after; the values stay."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import Compilation, Options, Tensor, compile
from compiler.core.node import toposort
from compiler.loops.choices import Choices, Tile, Vectorize
from compiler.loops.choosing.accesses import accesses
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.choose_groups import in_groups
from compiler.loops.nodes import Alu, Body
from compiler.machines.model import DEFAULT
from tests.evaluate import evaluate
from tests.rows import whole_loops

Build = Callable[[Callable[..., Tensor]], Tensor]
PROGRAMS: dict[str, Build] = {
    "the end of a small network": lambda t: (
        t(8, 1, 28, 28).conv2d(t(16, 1, 3, 3)).relu().flatten(1)
    ),
    "rows and channels merged": lambda t: t(2, 3, 11, 9).conv2d(t(7, 3, 3, 3)).flatten(1),
    "rows merged": lambda t: t(2, 3, 11, 14).conv2d(t(7, 3, 3, 3)).flatten(2),
    "all merged": lambda t: t(2, 3, 11, 9).conv2d(t(7, 3, 3, 3)).flatten(),
    "groups": lambda t: t(2, 6, 9, 9).conv2d(t(9, 2, 3, 3), groups=3).flatten(1),
    "each channel": lambda t: t(2, 6, 12, 12).conv2d(t(6, 1, 3, 3), groups=6).flatten(2),
    "every second": lambda t: t(2, 4, 13, 21).conv2d(t(10, 4, 3, 3), stride=2).flatten(1),
    "pooled": lambda t: t(2, 4, 13, 21).max_pool2d(2, stride=1).permute(1, 0, 2, 3).flatten(1),
    "heads": lambda t: (t(3, 4, 6) @ t(3, 6, 8)).swapaxes(0, 1).flatten(1),
    "odd heads": lambda t: (t(1, 2, 94, 4) @ t(1, 2, 4, 20)).swapaxes(1, 2).flatten(2),
    "heads that share keys": lambda t: (
        (t(3, 1, 4, 6) @ t(3, 5, 6, 8)).permute(2, 0, 1, 3).reshape(4, 120)
    ),
    "remainders alone": lambda t: (
        Tensor.einsum("dab,dac->acb", t(3, 7, 9), t(3, 7, 39)).reshape(7, 351)
    ),
    "batches merged with rows": lambda t: (t(3, 13, 5) @ t(3, 5, 18)).flatten(0, 1) + t(39, 1),
    "heads, a bias for each three": lambda t: (
        (t(6, 4, 5) @ t(6, 5, 8)).swapaxes(0, 1).reshape(4, 2, 24) + t(2, 1)
    ).reshape(4, 48),
    "heads, a bias for each": lambda t: (
        (t(3, 4, 6) @ t(3, 6, 8)).swapaxes(0, 1).flatten(1) + t(24)
    ),
}
LONG: dict[str, Build] = {
    "heads": lambda t: (t(8, 200, 70) @ t(8, 70, 64)).swapaxes(0, 1).flatten(1),
    "merged rows": lambda t: (t(8, 200, 70) @ t(8, 70, 64)).flatten(0, 1) + t(1600, 1),
    "the end of a network": lambda t: t(8, 3, 28, 28).conv2d(t(16, 3, 3, 3)).flatten(1),
}


OTHERS: dict[str, Build] = {
    "attention": lambda t: (t(2, 3, 40, 16) @ t(2, 3, 16, 40)).softmax(-1) @ t(2, 3, 40, 16),
    "a norm": lambda t: t(70, 300).layernorm(-1),
    "columns": lambda t: t(300, 70).sum(0) + t(70),
    "itself": lambda t: (x := t(70, 70)).T @ x,
    "a border": lambda t: t(30, 33).pad(((1, 1), (1, 1))),
    "turned": lambda t: t(50, 70).T.contiguous() + 1,
}


def random(*shape: int) -> Tensor:
    """Random numbers, the same at each call."""
    return Tensor(np.random.default_rng(sum(shape)).standard_normal(shape).astype(np.float32))


def plain(build: Build) -> Body:
    """The loops without choices of a program that is one kernel."""
    return whole_loops(compile(build(random), Options(loops="plain")))


def divisions(made: Compilation) -> list[Alu]:
    """Those that are left in the loops."""
    order: list[Any] = toposort([loops.body for loops in made.loops])
    return [n for n in order if isinstance(n, Alu) and n.op in ("idiv", "mod")]


@pytest.mark.parametrize("engine", ["loops", "lowered", "machine"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_same_values(name: str, engine: str) -> None:
    value = PROGRAMS[name](random)
    expected = compile(value, Options(loops="plain")).run()[0]
    np.testing.assert_allclose(evaluate(value, engine), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("nbytes", [16, 32, 64])
@pytest.mark.parametrize("name", PROGRAMS)
def test_vectors_of_any_width(name: str, nbytes: int) -> None:
    """Nothing chosen is refused (an error here); there are lanes, or short sums left to LLVM."""
    model = replace(DEFAULT, vector_bytes=nbytes)
    compilation = compile(PROGRAMS[name](random), Options(machine=model, threads=2))
    assert not divisions(compilation)
    left = any("so short a sum" in d.reason for d in compilation.decisions)
    assert left or any(found.of(Vectorize) for found in compilation.choices.values())


@pytest.mark.parametrize("name", LONG)
def test_long_ones_are_vectors(name: str) -> None:
    compilation = compile(LONG[name](random))
    assert not divisions(compilation)
    assert all(found.of(Vectorize) for found in compilation.choices.values())


def test_merged_heads_are_tiles_of_windows_and_merged_rows_of_products() -> None:
    choices = choose(plain(LONG["heads"]), replace(DEFAULT, cores=1))
    first, rows = choices.rows[:2]
    assert first == Tile("i1", 64, "peel", "8 groups of 64 iterations")
    assert "4 vectors of 16 pixels by 4 channels, of 64 pixels, 200 channels" in rows.because
    choices = choose(plain(LONG["merged rows"]), replace(DEFAULT, cores=1))
    first, rows = choices.rows[:2]
    assert first == Tile("i0", 200, "peel", "8 groups of 200 iterations")
    assert " rows by 4 vectors of 16 for 200 rows by 64 columns" in rows.because


@pytest.mark.parametrize(("name", "sizes"), [
    ("the end of a small network", [("i1", 676), ("i1.1", 26)]),
    ("heads that share keys", [("i1", 40), ("i1.1", 8)]),
    ("remainders alone", [("i1", 9)]),
])  # fmt: skip
def test_the_largest_groups_are_cut_first(name: str, sizes: list[tuple[str, int]]) -> None:
    seen = accesses(plain(PROGRAMS[name]))
    assert seen is not None
    cuts, parted = in_groups(seen)
    assert [(cut.axis, cut.size) for cut in cuts] == sizes
    assert all(access.is_affine for access in parted.loads)


def test_an_axis_that_no_group_divides_stays_whole() -> None:
    value = random(5, 7).unsqueeze(1).expand(5, 3, 7).reshape(105)[:100] * 2
    seen = accesses(whole_loops(compile(value.reshape(100), Options(loops="plain"))))
    assert seen is not None
    assert in_groups(seen) == ((), seen)


CHILD = """
import sys
held = [bytes(size) for size in range(1, 480, 16) for _ in range(7 * int(sys.argv[1]) % 61)]
from compiler import Options, compile
from tests.loops.choosing.test_choose_groups import OTHERS, PROGRAMS, random
for name, build in (PROGRAMS | OTHERS).items():
    made = compile(build(random), Options(threads=2))
    for shown in (name, *made.choices.items(), made.schedule, *made.decisions, *made.source):
        print(shown)
"""


def test_the_same_choices_in_every_process() -> None:
    """Whatever order sets have there: of words by their hash, of nodes by their address."""
    made = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, str(seed)], stdout=subprocess.PIPE, text=True,
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": os.getcwd()},
        )
        for seed in range(4)
    ]  # fmt: skip
    printed = [child.communicate()[0] for child in made]
    assert all(child.returncode == 0 for child in made)
    assert all(child.returncode == 0 for child in made)
    assert printed[0].count("\n") > len(PROGRAMS)
    assert set(printed) == {printed[0]}


def test_choices_of_what_is_cut_are_told_with_it() -> None:
    choices = choose(plain(PROGRAMS["batches merged with rows"]), DEFAULT)
    assert isinstance(choices, Choices)
    assert {row.kind for row in choices.refused} == {"pack", "parallelize"}
