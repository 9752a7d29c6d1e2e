"""Compositions are estimated to take no longer than their operations one by one."""

from collections.abc import Callable

import numpy as np
import pytest

from compiler import Tensor
from tests.search.compositions import MOST, compared, estimated, program
from tests.search.compositions import main as search

Mark = Callable[[Tensor], Tensor]
"""The use of the result of each operation: none, or it is stored to memory."""


def data(*shape: int) -> Tensor:
    return Tensor(np.random.default_rng(sum(shape)).random(shape, np.float32) - 0.5)


def cut_and_flattened(mark: Mark) -> Tensor:
    return mark(mark(data(4, 3, 28, 28)[..., 1:, 1:]).flatten(1)) @ data(3 * 27 * 27, 10)


def padded_and_flattened(mark: Mark) -> Tensor:
    return mark(data(4, 8, 28, 28).pad(((0, 0), (0, 0), (1, 1), (1, 1)))).flatten()


def pooled(mark: Mark) -> Tensor:
    x = mark(mark(data(1, 16, 56, 56).conv2d(data(32, 16, 3, 3), padding=1)).relu())
    return x.max_pool2d(3, stride=2, padding=1)


def residual(mark: Mark) -> Tensor:
    x = data(1, 16, 56, 56)
    wide = mark(x.conv2d(data(32, 16, 3, 3), stride=2, padding=1))
    return mark(wide + mark(x.conv2d(data(32, 16, 1, 1), stride=2))).relu()


def averaged(mark: Mark) -> Tensor:
    return mark(data(1, 64, 28, 28).conv2d(data(64, 64, 1, 1))).relu().mean((2, 3))


def joined(mark: Mark) -> Tensor:
    x = data(1, 16, 32, 32)
    return np.concatenate([x, mark(x.conv2d(data(16, 16, 3, 3), padding=1))], 1)


def patches(mark: Mark) -> Tensor:
    x = mark(data(1, 3, 112, 112).conv2d(data(64, 3, 16, 16), stride=16))
    x = mark(x.reshape(1, 64, 49).swapaxes(1, 2))
    return mark(np.concatenate([data(1, 1, 64), x], 1)) + data(1, 50, 64)


def enlarged(mark: Mark) -> Tensor:
    x = data(4, 16, 14, 1, 14, 1).expand(4, 16, 14, 2, 14, 2).reshape(4, 16, 28, 28)
    return mark(x).conv2d(data(16, 16, 3, 3), padding=1)


def turned(mark: Mark) -> Tensor:
    return mark(data(512, 100).softmax(-1)).T.layernorm()


FORMER: tuple[Callable[[Mark], Tensor], ...] = (
    cut_and_flattened, padded_and_flattened, pooled, residual, averaged, joined, patches, enlarged,
    turned,
)  # fmt: skip
"""Compositions that took up to 200 times as long as their operations, as estimated."""


@pytest.mark.parametrize("composed", FORMER, ids=lambda made: made.__name__)
def test_what_was_slow_before(composed: Callable[[Mark], Tensor]) -> None:
    together = estimated(composed(lambda x: x))
    assert together <= MOST * estimated(composed(Tensor.contiguous))


def test_few_compositions_are_slower_than_their_operations() -> None:
    found = [each for number in range(20) if (each := compared(f"17.{number}")) is not None]
    bad = [each for each in found if each.ratio > MOST]
    assert len(found) >= 5
    assert len(bad) <= 1, bad
    assert all(each.ratio < 10 for each in bad), bad


def test_a_case_is_the_same_program_each_time() -> None:
    first, again = (program("3.5", is_apart) for is_apart in (False, True))
    assert first[1] == again[1] and first[0].shape == again[0].shape
    np.testing.assert_allclose(first[0].numpy(), again[0].numpy(), rtol=1e-4, atol=1e-4)


def test_a_search_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert search(["--seconds", "0.5", "--seed", "1"]) in (0, 1)
    assert "seed 1: " in capsys.readouterr().out
