"""Boolean masks as indices, on our tensors: PyTorch is not needed."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.core.errors import DataError
from compiler.imported.torch.call import Call
from compiler.imported.torch.picking import index_put, isin, searchsorted

NODE: Any = None
CALL = Call(NODE, "index_put.default", "model.py:3")
CUBE = np.arange(24.0, dtype=np.float32).reshape(3, 4, 2)
ROWS, COLUMNS = np.array([True, False, True]), np.array([False, True, True, False])
BOTH = np.outer(ROWS, COLUMNS)
CASES: dict[str, tuple[tuple[Any, ...], list[tuple[int, ...]]]] = {
    "first axis": ((ROWS,), [(), (2,), (4, 2), (1, 4, 2), (2, 4, 2), (2, 1, 1)]),
    "second axis": ((None, COLUMNS), [(), (2, 2), (3, 2, 2), (1, 1, 2), (3, 1, 1)]),
    "two axes": ((BOTH,), [(), (2,), (4, 2), (1, 2), (4, 1)]),
    "bytes": ((ROWS.astype(np.uint8),), [(), (2, 4, 2), (1, 4, 1)]),
    "with positions": ((ROWS, np.array([0, 3])), [(), (2, 2), (1, 2), (2, 1)]),
    "with one position": ((ROWS, np.array([1])), [(), (2, 2), (1, 2)]),
    "behind positions": ((np.array([0, 2]), COLUMNS), [(), (2, 2), (2,)]),
    "apart": ((ROWS, None, np.array([0, 1])), [(), (2, 4), (1, 4), (2, 1)]),
    "with a column": ((np.array([[0], [1]]), COLUMNS), [(), (2, 2, 2), (2, 1)]),
    "none": ((ROWS & False,), [(), (2,), (1, 4, 2)]),
    "all": ((ROWS | True,), [(), (3, 4, 2), (1, 1, 1)]),
}


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_values_where_a_mask_is_true(name: str, accumulate: bool) -> None:
    indices, shapes = CASES[name]
    whole = tuple(slice(None) if i is None else i.astype(bool) if i.dtype == np.uint8 else i
                  for i in indices)  # fmt: skip
    for shape in shapes:
        values = np.random.default_rng(0).random(shape, np.float32)
        wanted = CUBE.copy()
        if accumulate:
            np.add.at(wanted, whole, values)
        else:
            wanted[whole] = values
        given = [i if i is None else Tensor(i) for i in indices]
        made = index_put(CALL, Tensor(CUBE), given, Tensor(values), accumulate)
        np.testing.assert_allclose(made.numpy(), wanted, err_msg=f"{name} {shape}")


def test_a_mask_of_a_row() -> None:
    x, mask = np.arange(5.0, dtype=np.float32), np.array([True, False, True, True, False])
    made = index_put(CALL, Tensor(x), [Tensor(mask)], Tensor([7.0, 8.0, 9.0], dtype="float32"))
    assert made.numpy().tolist() == [7, 1, 8, 9, 4]


def test_several_masks_are_refused() -> None:
    with pytest.raises(DataError, match=r"index_put.default \(model.py:3\): there are several"):
        index_put(CALL, Tensor(CUBE), [Tensor(ROWS), Tensor(COLUMNS)], Tensor(1.0))


def test_one_of_several_or_none_of_them() -> None:
    x, among = Tensor([1, 2, 3, 4]), Tensor([2, 4])
    assert isin(CALL, x, among).numpy().tolist() == [False, True, False, True]
    assert isin(CALL, x, among, invert=True).numpy().tolist() == [True, False, True, False]


def test_places_in_rows_that_are_sorted_by_an_order() -> None:
    row, values = np.array([3.0, 1, 2, 5, 4]), np.array([1.0, 2.5, 5, 0, 9])
    order = Tensor(row.argsort())
    ways = ((False, None, "left"), (True, None, "right"), (False, "left", "left"),
            (False, "right", "right"))  # fmt: skip
    for right, side, numpy_side in ways:
        made = searchsorted(CALL, Tensor(row), Tensor(values), right, side, order, True)
        assert str(made.dtype) == "int32"
        assert made.numpy().tolist() == np.searchsorted(np.sort(row), values, numpy_side).tolist()
    with pytest.raises(DataError, match="side and right disagree"):
        searchsorted(CALL, Tensor(row), Tensor(values), True, "left")


def test_places_in_rows_of_matrices() -> None:
    rows = np.array([[1.0, 2, 4], [0, 0, 3]])
    values = np.array([[0.0, 2, np.nan], [0, 3, 9]])
    for right, side in ((False, "left"), (True, "right")):
        made = searchsorted(CALL, Tensor(rows), Tensor(values), right)
        wanted: list[Any] = []
        for row, value in zip(rows, values, strict=True):
            function: Any = np.searchsorted
            wanted.append(function(row, value, side))
        assert made.numpy().tolist() == [each.tolist() for each in wanted]
