"""Choices by default are legal and right, whatever the operands are: against NumPy.

Operands that do not move along an axis of the result, because they are constants or broadcasts, are
what kernels of every kind are chosen for that look like theirs, and are not.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.ask.checking import reference, row_of, run_machine
from compiler.machines.model import DEFAULT
from tests.evaluate import EAGER
from tests.random_tensors import programs

Array = np.ndarray[Any, Any]
SLOW = replace(DEFAULT, vector_ns=1e4, scalar_ns=1e4)
"""Wide vectors as usual, and any kernel is worth all cores."""
SETTINGS = (
    Options(threads=1), Options(threads=2), Options(threads=2, machine=SLOW),
    Options(threads=2, machine=EAGER),
)  # fmt: skip
NAMES = ("one thread", "two", "always shared", "eager")
SHAPES = ((40, 16, 70), (1, 64, 200), (65, 20, 3))
rng = np.random.default_rng(7)


def data(m: int, n: int) -> Array:
    return rng.standard_normal((m, n)).astype(np.float32)


OPERANDS: dict[str, Callable[[int, int], tuple[Tensor, Array]]] = {
    "data": lambda m, n: (lambda x: (Tensor(x), x))(data(m, n)),
    "ones": lambda m, n: (Tensor.ones(m, n), np.ones((m, n), np.float32)),
    "full": lambda m, n: (Tensor.full((m, n), 2.5), np.full((m, n), 2.5, np.float32)),
    "count": lambda m, n: (
        Tensor.arange(m * n).reshape(m, n).cast("float32"),
        np.arange(m * n, dtype=np.float32).reshape(m, n),
    ),
    "rows all the same": lambda m, n: (
        lambda x: (Tensor(x).expand(m, n), np.broadcast_to(x, (m, n))))(data(1, n)),
    "columns all the same": lambda m, n: (
        lambda x: (Tensor(x).expand(m, n), np.broadcast_to(x, (m, n))))(data(m, 1)),
    "one number": lambda m, n: (
        lambda x: (Tensor(x).expand(m, n), np.broadcast_to(x, (m, n))))(data(1, 1)),
    "turned": lambda m, n: (lambda x: (Tensor(x).T, x.T))(data(n, m)),
    "from behind": lambda m, n: (lambda x: (Tensor(x).flip(0, 1), x[::-1, ::-1]))(data(m, n)),
    "every other": lambda m, n: (lambda x: (Tensor(x)[::2, ::2], x[::2, ::2]))(
        data(2 * m, 2 * n)),
    "padded": lambda m, n: (
        lambda x: (Tensor(x).pad(((1, 0), (1, 0))), np.pad(x, ((1, 0), (1, 0)))))(
        data(m - 1, n - 1)),
}  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("left", OPERANDS)
def test_products_of_operands_of_every_kind(left: str, shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    ours, theirs = OPERANDS[left](m, k)
    pairs = [OPERANDS[right](k, n) for right in OPERANDS]
    expected = [theirs.astype(np.float64) @ y.astype(np.float64) for _, y in pairs]
    scale = [np.abs(theirs).astype(np.float64) @ np.abs(y) for _, y in pairs]
    for options in SETTINGS[2:]:
        made = compiler.compile([ours @ y for y, _ in pairs], options).run()
        for right, found, want, most in zip(OPERANDS, made, expected, scale, strict=True):
            wrong = np.abs(found - want) > 1e-6 * k * most
            assert not wrong.any(), f"{left} @ {right}, {options.threads} threads"


FOLDS: dict[str, Callable[[Any], Any]] = {
    "sums of columns": lambda x: x.sum(0), "sums of rows": lambda x: x.sum(1),
    "all": lambda x: x.sum(), "greatest of columns": lambda x: x.max(0),
    "least of rows": lambda x: x.min(1),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(64, 300), (16, 2800), (17, 1)], ids=str)
@pytest.mark.parametrize("kind", OPERANDS)
def test_folds_of_operands_of_every_kind(kind: str, shape: tuple[int, int]) -> None:
    ours, theirs = OPERANDS[kind](*(max(n, 2) if kind == "padded" else n for n in shape))
    wide, scale = theirs.astype(np.float64), 1e-5 * np.abs(theirs).sum()
    for options in SETTINGS[2:]:
        made = compiler.compile([fold(ours) for fold in FOLDS.values()], options).run()
        for (name, fold), found in zip(FOLDS.items(), made, strict=True):
            np.testing.assert_allclose(found, fold(wide), 1e-4, scale, err_msg=name)


@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize("first", (0, 20, 40))
def test_random_programs(number: int, first: int) -> None:
    for seed, tensor in programs(first, 20):
        made = compiler.compile(tensor, SETTINGS[number])
        row = row_of("machine code", reference(made, {}), lambda m=made: run_machine(m, {}))
        assert row.ok, f"program {seed}, {NAMES[number]}: {row.note}"


@pytest.mark.parametrize("first", (100, 120))
def test_every_stage_of_random_programs(first: int) -> None:
    for seed, tensor in programs(first, 20):
        report = compiler.compile(tensor, SETTINGS[3]).check()
        assert report.ok, f"program {seed}\n{report}"
