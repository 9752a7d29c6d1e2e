"""Index arrays, masks, `gather` and `take` against NumPy, on every engine."""

from typing import Any

import numpy as np
import pytest

from compiler import AxisError, DTypeError, ShapeError, Tensor, compile
from tests.evaluate import assert_same, evaluate, every_engine

RNG = np.random.default_rng(5)
DATA = RNG.standard_normal((4, 5, 6)).astype(np.float32)
ROWS, COLUMNS = np.array([0, -1, 2]), np.array([[1], [3]])
MASK = DATA[:, :, 0] > 0
INDICES: tuple[Any, ...] = (
    (ROWS,), ([0, 2],), (ROWS, slice(1, 4)), (slice(None), ROWS), (ROWS, np.array([1, 2, 0])),
    (COLUMNS, ROWS), (0, ROWS), (ROWS, ..., 0), (slice(None), ROWS, slice(None, None, -1)),
    (ROWS, None, slice(2, 3)), (ROWS, slice(None), ROWS), (MASK,), (MASK[:, 0],),
    (..., np.array([5, 0])), (slice(1, 3), COLUMNS, ROWS), (np.array([], int),), (MASK, 0),
    (np.array(2),), (np.array([3], np.uint8), 1),
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("index", INDICES, ids=lambda i: str(len(i)))
def test_known_positions(index: Any, engine: str) -> None:
    assert_same(evaluate(Tensor(DATA)[index], engine), DATA[index], index)


@every_engine
@pytest.mark.parametrize("index", INDICES[:11], ids=lambda i: str(len(i)))
def test_computed_positions(index: Any, engine: str) -> None:
    computed = tuple(Tensor(i) + 0 if isinstance(i, np.ndarray | list) else i for i in index)
    assert_same(evaluate(Tensor(DATA)[computed], engine), DATA[index], index)


@every_engine
def test_computed_positions_out_of_range_read_zero(engine: str) -> None:
    positions = Tensor([0, 4, -5, 100, -4]) + 0
    expected = np.array([DATA[0, 0, 0], 0, 0, 0, DATA[0, 0, 0]], np.float32)
    assert_same(evaluate(Tensor(DATA[:, 0, 0])[positions], engine), expected)


@every_engine
def test_positions_into_what_is_computed(engine: str) -> None:
    x = Tensor(DATA)
    flipped = (x.exp().permute(2, 0, 1).flip(1) + 1)[:, ROWS]
    expected = (np.exp(DATA).transpose(2, 0, 1)[:, ::-1] + 1)[:, ROWS]
    assert_same(evaluate(flipped, engine), expected, ulps=4)
    assert_same(evaluate(x.sum(axis=2)[ROWS, 1], engine), DATA.sum(axis=2)[ROWS, 1], rtol=1e-5)
    assert_same(evaluate(x[ROWS].max(axis=0), engine), DATA[ROWS].max(axis=0))
    padded = np.pad(DATA, ((1, 1), (0, 0), (0, 0)))
    assert_same(evaluate(x.pad(((1, 1), None, None))[ROWS], engine), padded[ROWS])


@every_engine
def test_gather_and_take(engine: str) -> None:
    x, index = Tensor(DATA), RNG.integers(-5, 5, (4, 3, 6))
    assert_same(evaluate(x.gather(1, index), engine), np.take_along_axis(DATA, index, 1))
    part = np.take_along_axis(DATA[:2, :, :3], index[:2, :, :3], 1)
    assert_same(evaluate(x.gather(-2, Tensor(index[:2, :, :3])), engine), part)
    assert_same(evaluate(x.take([1, 7, -1]), engine), np.take(DATA, [1, 7, -1]))
    assert_same(evaluate(x.take([[1, 2], [0, 0]], axis=2), engine), DATA[:, :, [[1, 2], [0, 0]]])
    assert_same(evaluate(Tensor(DATA[:0])[np.array([], int)], engine), DATA[:0])


def test_a_reduction_is_not_repeated_for_each_position() -> None:
    program = compile(Tensor(DATA).sum(axis=2)[ROWS])
    assert len(program.schedule.items) == 2
    (decision,) = [d for d in program.decisions if d.kind == "fuse" and not d.taken]
    assert "read at positions found in data" in decision.reason
    assert program.check().ok


@pytest.mark.parametrize(
    ("select", "error", "text"),
    [
        (lambda x: x[np.array([4])], AxisError, "getitem: index 4 is out of range for axis 0"),
        (lambda x: x[:, [-6]], AxisError, "index -6 is out of range for axis 1"),
        (lambda x: x[np.array([0.5])], DTypeError, "getitem: positions must be integers"),
        (lambda x: x[Tensor([0.5]) * 2], DTypeError, "positions must be integers"),
        (lambda x: x[ROWS, [1, 2]], ShapeError, "do not broadcast together"),
        (lambda x: x[ROWS, 0, 0, 0], AxisError, "too many indices"),
        (lambda x: x.gather(0, ROWS), ShapeError, "gather: the index does not fit the tensor"),
        (lambda x: x.take([0], axis=3), AxisError, "take: axis 3 is out of range"),
    ],
)
def test_refusals(select: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text) as caught:
        select(Tensor(DATA))
    assert "test_tensor_gathering.py" in str(caught.value)
