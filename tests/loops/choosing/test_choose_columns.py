"""Sums over a strided axis: which rows of sums stay in scratch memory, and around what."""

import numpy as np

import compiler
from compiler import Options, Tensor
from compiler.loops.choices import Accumulate, Choices

OPTIONS = Options(threads=2)


def chosen(tensor: Tensor) -> Choices:
    return compiler.compile(tensor, OPTIONS).choices["k0"]


def data(*shape: int) -> Tensor:
    return Tensor(np.ones(shape, np.float32))


def test_rows_of_sums_stay_near() -> None:
    (row,) = chosen(data(64, 300).sum(0)).of(Accumulate)
    assert (row.axis, row.at) == ("r1", "")
    (row,) = chosen(data(5, 64, 300).sum(1)).of(Accumulate)
    assert (row.axis, row.at) == ("r2", "i0")


def test_one_sum_for_all_results_is_computed_where_it_is() -> None:
    for tensor in (Tensor.ones(40, 16) @ Tensor.ones(16, 70), Tensor.full((64, 300), 0.5).sum(0)):
        assert not chosen(tensor).of(Accumulate)


def test_sums_that_all_rows_share_are_made_once() -> None:
    (row,) = chosen(Tensor.full((40, 64), 2.0) @ data(64, 300)).of(Accumulate)
    assert row.at == ""
