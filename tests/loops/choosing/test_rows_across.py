"""Rows that lie across the sum: copied for a core, or the sum in lots."""

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.loops.choices import Accumulate, Choices, Pack, Parallelize, Prefetch
from compiler.loops.choosing.choose import choose
from compiler.loops.choosing.rows_across import LOT
from compiler.machines.model import DEFAULT
from tests.loops.transformed import assert_close, body_of, on_machine


def chosen(name: str, m: int, n: int, k: int) -> Choices:
    """The choices by default."""
    return choose(body_of(name, m, n, k), DEFAULT)


def is_copied(found: Choices) -> bool:
    """True if the rows of a core are packed: those of the first argument."""
    return any(pack.at == "i0.0" and pack.slot == 1 for pack in found.of(Pack))


@pytest.mark.parametrize("sizes", [(512, 784, 128), (1024, 784, 96), (2048, 640, 64)])
def test_rows_whose_lines_share_sets_are_copied_for_each_core(sizes: tuple[int, int, int]) -> None:
    choices = chosen("x.T @ w", *sizes)
    assert is_copied(choices) and choices.of(Parallelize)[0].axis == "i0.0"
    assert_close(*reversed(on_machine("x.T @ w", *sizes, "auto")))


@pytest.mark.parametrize(("name", "sizes"), [
    ("x.T @ w", (500, 784, 128)), ("x.T @ w", (512, 10, 128)), ("matmul", (512, 784, 128)),
])  # fmt: skip
def test_others_are_not(name: str, sizes: tuple[int, int, int]) -> None:
    """Lines that have sets of their own, one panel, rows along the sum."""
    assert not is_copied(chosen(name, *sizes))


@pytest.mark.parametrize("sizes", [(512, 784, 128), (1030, 784, 64), (513, 1021, 31)])
def test_what_a_step_of_training_takes_from_is_asked_for_a_tile_ahead(
    sizes: tuple[int, int, int],
) -> None:
    m, n, k = sizes
    generator = np.random.default_rng(0)
    weights = generator.standard_normal((m, n)).astype("float32")
    far, x = (generator.standard_normal((k, count)).astype("float32") for count in (m, n))
    program = compiler.compile(Tensor(weights) - 0.1 * (Tensor(far).T @ Tensor(x)))
    [choices] = program.choices.values()
    [ahead] = choices.of(Prefetch)
    assert "other operands are prefetched" in str(ahead.because)
    np.testing.assert_allclose(program.run()[0], weights - 0.1 * (far.T @ x), atol=1e-4)


def test_what_stays_near_is_not_asked_for() -> None:
    a, b, c = (Tensor(np.ones((256, 256), "float32")) for _ in range(3))
    assert not any(found.of(Prefetch) for found in compiler.compile(a.T @ b + c).choices.values())


@pytest.mark.parametrize("sizes", [(512, 128, 2048), (512, 131, 1603), (256, 192, 4100)])
def test_a_long_sum_across_its_rows_goes_in_lots(sizes: tuple[int, int, int]) -> None:
    """As gradients of weights are: over all rows of a batch, with few columns."""
    assert chosen("x.T @ w", *sizes).of(Accumulate)[0].rows == LOT
    expected, found = on_machine("x.T @ w", *sizes, "auto")
    np.testing.assert_allclose(found, expected, atol=1e-5 * sizes[2] ** 0.5)


def test_a_long_sum_along_its_rows_does_not() -> None:
    assert not chosen("x @ w.T", 512, 128, 2048).of(Accumulate)
