"""Random bits against the published vectors, and the distributions made from them."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from compiler import DataError, DTypeError, Tensor, compile
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Threefry
from compiler.ops.random_bits import threefry
from compiler.pipeline import kernels
from tests.evaluate import ENGINES, assert_same

VECTORS = (
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
    ((0x243F6A88, 0x85A308D3), (0x13198A2E, 0x03707344), (0xC4923A9C, 0x483DF7A0)),
)
"""(counter, key, result) of Threefry-2x32, 20 rounds: the authors' known-answer tests."""
COUNTERS, KEYS, RESULTS = (
    np.array([low | high << 32 for low, high in column], np.uint64)
    for column in zip(*VECTORS, strict=True)
)


@pytest.fixture(autouse=True)
def _seeded() -> Iterator[None]:
    Tensor.manual_seed(7)
    yield
    Tensor.manual_seed(0)


def test_published_vectors() -> None:
    assert_same(threefry(COUNTERS, KEYS), RESULTS)


@pytest.mark.parametrize("engine", ENGINES)
def test_published_vectors_on_every_engine(engine: str) -> None:
    node = Threefry((new_buffer(COUNTERS), new_buffer(KEYS)))
    assert_same(ENGINES[engine]([node])[0], RESULTS)


def test_the_same_seed_gives_the_same_numbers_and_each_call_new_ones() -> None:
    first, second = Tensor.rand(3, 50).numpy(), Tensor.rand(3, 50).numpy()
    Tensor.manual_seed(7)
    assert_same(Tensor.rand(3, 50).numpy(), first)
    assert not (first == second).any()
    Tensor.manual_seed(8)
    assert not (Tensor.rand(3, 50).numpy() == first).any()


def test_element_i_depends_on_counter_i_alone() -> None:
    whole = Tensor.rand(100).numpy()
    Tensor.manual_seed(7)
    assert_same(np.concatenate([Tensor.rand(40).numpy(), Tensor.rand(60).numpy()]), whole)


def test_another_draw_runs_the_same_program() -> None:
    Tensor.rand(77).realize()
    before = kernels.PROGRAMS.misses
    Tensor.rand(77).realize()
    assert kernels.PROGRAMS.misses == before


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rand(dtype: str) -> None:
    values = Tensor.rand(200, 500, dtype=dtype).numpy().astype(np.float64)
    assert values.min() >= 0 and values.max() < 1
    assert abs(values.mean() - 0.5) < 0.005 and abs(values.var() - 1 / 12) < 0.002
    assert abs(np.corrcoef(values[:, :-1].ravel(), values[:, 1:].ravel())[0, 1]) < 0.015


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_randn(dtype: str) -> None:
    values = Tensor.randn(200, 500, dtype=dtype).numpy().astype(np.float64)
    assert abs(values.mean()) < 0.015 and abs(values.std() - 1) < 0.015
    inside = [(np.abs(values) < width).mean() for width in (1, 2, 3)]
    np.testing.assert_allclose(inside, [0.6827, 0.9545, 0.9973], atol=0.005)


def test_randint() -> None:
    values = Tensor.randint(60_000, low=-3, high=3, dtype="int8").numpy()
    assert values.dtype == np.int8
    counts = np.bincount(values.astype(int) + 3, minlength=6)
    assert len(counts) == 6 and (np.abs(counts - 10_000) < 400).all()
    assert Tensor.randint(0, 3).numpy().shape == (0, 3)


def test_every_stage_agrees_on_random_numbers() -> None:
    report = compile([Tensor.rand(4, 5), Tensor.randn(6), Tensor.randint(7, high=100)]).check()
    assert report.ok, str(report)


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: Tensor.rand(3, dtype="int32"), DTypeError),
        (lambda: Tensor.randint(3, low=5, high=5), DataError),
        (lambda: Tensor.randint(3, low=0, high=300, dtype="uint8"), DataError),
    ],
)
def test_refusals(make: Callable[[], Tensor], error: type[Exception]) -> None:
    with pytest.raises(error, match="expected"):
        make()


REFUSED: dict[str, Callable[[], Tensor]] = {
    "no such probability": lambda: Tensor([0.5, 1.5]).bernoulli(),
    "no such probability (": lambda: Tensor([float("nan")]).bernoulli(),
    "the range is empty": lambda: Tensor.uniform(3, low=3.0, high=1.0),
    "a negative standard deviation": lambda: Tensor.normal(3, std=-1.0),
}


@pytest.mark.parametrize("words", REFUSED)
def test_no_such_distribution(words: str) -> None:
    with pytest.raises(DataError, match=words.rstrip(" (")):
        REFUSED[words]()


def test_a_distribution_at_its_ends() -> None:
    assert set(Tensor.uniform(9, low=2.0, high=2.0).tolist()) == {2.0}
    assert set(Tensor.normal(9, mean=2.0, std=0.0).tolist()) == {2.0}
    assert Tensor([0.0, 1.0]).bernoulli().tolist() == [0, 1]
    assert (Tensor([-2.0, 3.0]) + 0).bernoulli().tolist() == [0, 1], "computed: not refused"
