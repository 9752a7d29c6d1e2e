"""A comparison of values with their own maximum: every copy has the same bits, and check sees
where it has not."""

from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.llvm import operations

SHAPES = ((3,), (2, 33))
OPTIONS = (
    Options(), Options(optimize=0), Options(optimize=3), Options(loops="plain"),
    Options(threads=1), Options(kernel_operations=4), Options(machine="x86-avx2"),
)  # fmt: skip


def _values(shape: tuple[int, ...], seed: int, dtype: Any) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _program(x: Tensor) -> tuple[Tensor, Tensor]:
    """A loss, and its gradient, where the maximum is of a sum with a product below it."""
    c = x.detach()
    loss = (x * c + c).max(-1).sum() + x.erf().sum()
    return loss, loss.gradient(x)


def _right(x: Any) -> Any:
    y = x.astype(np.float64) ** 2 + x.astype(np.float64)
    is_greatest = y == y.max(-1, keepdims=True)
    slope = 2 / np.sqrt(np.pi) * np.exp(-x.astype(np.float64) ** 2)
    return np.where(is_greatest, x, 0.0) + slope


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_a_maximum_is_not_lost(options: Options, dtype: str) -> None:
    for seed in range(3):
        for shape in SHAPES:
            x = _values(shape, seed, dtype)
            leaf = Tensor(x, requires_grad=True)
            _, gradient = compiler.compile(*_program(leaf), options=options).run()
            np.testing.assert_allclose(gradient, _right(x), atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_a_copy_has_the_bits_of_the_value(dtype: str) -> None:
    for seed in range(2):
        x = Tensor(_values((3, 37), seed, "float32")).cast(dtype)
        c = Tensor(_values((3, 37), seed + 100, "float32")).cast(dtype)
        y = x * c + x
        least = y.min(-1, keepdim=True)
        found = compiler.compile(
            (y == y.max(-1, keepdim=True)).sum(-1), (y - least).sqrt(), (y >= least).sum(), y
        ).run()
        assert (np.asarray(found[0]) >= 1).all()
        assert not np.isnan(np.asarray(found[1], np.float64)).any()
        assert int(found[2]) == x.size


class Contracted(operations._Place):
    """The fault: LLVM may make any sum and product one instruction, in one copy and not in another.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.is_reduction = True


def test_check_sees_a_copy_with_other_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    compiler.cache_clear()
    monkeypatch.setattr(operations, "_Place", Contracted)
    options = Options(loops="plain", mode="explain")
    reports = []
    for seed in range(12):
        leaf = Tensor(_values((3,), seed, "float32"), requires_grad=True)
        reports.append(compiler.compile(*_program(leaf), options=options).check())
    compiler.cache_clear()
    assert any(not report for report in reports)
    assert all(str(report.first_difference.stage) == "machine code"
               for report in reports if report.first_difference)  # fmt: skip


def test_ties_may_still_turn() -> None:
    x = Tensor(np.array([1.0, 1.0, 0.5], "float32"), requires_grad=True)
    y = (x * 3.0).exp()
    loss = y.max()
    assert compiler.compile(loss, loss.gradient(x)).check()
