"""Everything in brackets, read and written, against NumPy; and what selects by position.

What differs on purpose is small: a position that the axis does not have is refused even where it
takes nothing, and axes of extent 1 in front of a value never count.
"""

import math
from typing import Any

import numpy as np
import pytest

from compiler import AxisError, DataError, DTypeError, ShapeError, Tensor, compile
from compiler.core.errors import CompileError
from tests.evaluate import assert_same, evaluate, every_engine
from tests.random_indices import Source

Array = np.ndarray[Any, Any]
BLOCK = 250
"""Seeds in one test."""


def drawn(seed: int) -> tuple[Source, Array, Any, Any]:
    """Data, and an index for them as NumPy and as a tensor takes it; every other one may be wrong
    somewhere, and computes no positions then: those out of range are no error."""
    source = Source(seed, wrong=0.04 * (seed % 2))
    shape = source.shape()
    x = np.arange(float(math.prod(shape))).reshape(shape).astype(source.draw.choice(("f4", "i4")))
    return (source, x, *source.index(shape))


def agree(expected: "Array | Exception", got: "Array | CompileError", what: object) -> None:
    """Equal arrays, or both refused."""
    if isinstance(got, CompileError):
        takes_nothing = "is empty" in str(got) and not isinstance(expected, Exception)
        assert takes_nothing or isinstance(expected, Exception), f"{what}: {got}"
    else:
        assert not isinstance(expected, Exception), f"{what}: NumPy says {expected}"
        assert_same(got, expected, what)


def numpys(x: Array, index: Any) -> "Array | Exception":
    try:
        return np.asarray(x[index])
    except (IndexError, ValueError, TypeError) as error:
        return error


@pytest.mark.parametrize("block", range(8))
def test_any_index_is_numpys(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        _, x, theirs, ours = drawn(seed)
        try:
            got: Any = evaluate(Tensor(x)[ours])
        except CompileError as error:
            got = error
        agree(numpys(x, theirs), got, (seed, x.shape, ours))


def value_for(source: Source, x: Array, index: Any) -> Array:
    """A value that broadcasts to `x[index]`, mostly."""
    taken = numpys(x, index)
    shape = [] if isinstance(taken, Exception) else list(taken.shape)
    if source.draw.random() < 0.3:
        shape = [n if source.draw.random() < 0.6 else 1 for n in shape]
    if source.draw.random() < 0.2:
        shape = shape[source.draw.randint(0, len(shape)) :]
    if source.draw.random() < 0.05:
        shape = [*shape, 2]
    return -1 - np.arange(math.prod(shape)).reshape(shape).astype(source.draw.choice(("f8", "i2")))


def assigned(x: Array, index: Any, value: Array) -> "Array | Exception":
    copied = x.copy()
    try:
        copied[index] = value.reshape(()) if value.size == 1 else value
    except (IndexError, ValueError, TypeError) as error:
        return error
    return copied


def written(way: str, x: Array, index: Any, value: Array | Tensor) -> Array | CompileError:
    """`x` with `value` at `[index]`, set, put or assigned, by the interpreter of the graph."""
    t = Tensor(x) + 0 if way == "assign computed" else Tensor(x.copy())
    try:
        if way == "set":
            t = t.set(index, value)
        elif way == "index_put":
            t = t.index_put(index if isinstance(index, tuple) else (index,), value)
        else:
            t[index] = value
        return evaluate(t)
    except CompileError as error:
        return error


@pytest.mark.parametrize("way", ["set", "index_put", "assign computed", "assign memory"])
@pytest.mark.parametrize("block", range(3))
def test_any_assignment_is_numpys(block: int, way: str) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        source, x, theirs, ours = drawn(seed)
        value = value_for(source, x, theirs)
        given = Tensor(value) if source.draw.random() < 0.5 else value
        got = written(way, x, ours, given)
        agree(assigned(x, theirs, value), got, (seed, x.shape, ours, value))


def are_taken(seed: int) -> bool:
    """True if NumPy accepts the index and the value of a seed."""
    source, x, theirs, _ = drawn(seed)
    found = numpys(x, theirs), assigned(x, theirs, value_for(source, x, theirs))
    return not any(isinstance(each, Exception) for each in found)


@pytest.mark.parametrize("seed", list(filter(are_taken, range(0, 80, 2))))
def test_any_index_on_machine_code(seed: int) -> None:
    source, x, theirs, ours = drawn(seed)
    value = value_for(source, x, theirs)
    t, expected = Tensor(x), assigned(x, theirs, value)
    taken, copy = numpys(x, theirs), Tensor(x.copy())
    assert_same(t[ours].numpy(), taken)
    assert_same(t.set(ours, value).numpy(), expected)
    copy[ours] = value
    assert_same(copy.numpy(), expected)


DATA = np.arange(60).reshape(3, 4, 5)
ALONE = np.array(7.0)
LISTED: tuple[tuple[Array, Any], ...] = (
    (DATA, np.s_[np.array(1)]), (DATA, np.s_[Tensor(1)]), (DATA, np.s_[Tensor(np.array(1))]),
    (DATA, np.s_[np.array(1), :, np.array(2)]), (DATA, np.s_[:, Tensor(1), [0, 2]]),
    (DATA, True), (DATA, False), (DATA, np.bool_(True)), (DATA, Tensor(True)),
    (DATA, np.s_[True, 0]), (DATA, np.s_[:, True, [0, 1]]), (DATA, np.s_[False, ..., None]),
    (ALONE, True), (ALONE, False), (ALONE, np.array(True)), (ALONE, np.s_[None, False, None]),
    (ALONE, ()), (ALONE, ...), (DATA, ()),
    (np.zeros((0, 1)), np.zeros((0, 0), bool)), (np.zeros((3, 1)), np.zeros((3, 0), bool)),
    (np.zeros(3), np.zeros(0, bool)), (DATA, np.zeros((3, 0, 5), bool)),
    (DATA, ((0, 1), (1, 2))), (DATA, np.s_[(0, 1), :]), (DATA, np.s_[:, (0, 1), (3, 4)]),
    (DATA, np.s_[((0, 1), (1, 2)),]), (DATA, range(2)), (DATA, np.s_[:, range(0, 4, 2)]),
    (DATA, [True, False, True]), (DATA, [[]]), (DATA, ([],)), (DATA, [Tensor(1), 2]),
    (DATA, np.s_[:, [0], ..., [1, 2]]), (DATA, np.s_[:, [0], None, [1, 2]]),
    (DATA, np.s_[:, [0], [1, 2]]), (DATA, np.s_[[0, 1], ..., None]),
    (DATA, np.s_[[0, 2], [True, False, True, False]]),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(LISTED)))
def test_indices_that_numpy_takes(number: int) -> None:
    x, index = LISTED[number]
    plain = _plain(index)
    assert_same(evaluate(Tensor(x)[index]), np.asarray(x[plain]))
    expected = x.copy()
    expected[plain] = 9
    assert_same(evaluate(Tensor(x).set(index, 9)), expected)


def _plain(index: Any) -> Any:
    """The same for NumPy."""
    if isinstance(index, tuple | list):
        return type(index)(map(_plain, index))
    return index.numpy() if isinstance(index, Tensor) else index


@every_engine
def test_rank_0_positions(engine: str) -> None:
    x = Tensor(DATA)
    for where in (2, np.int8(-1), np.array(1), Tensor(1), Tensor(np.array(1)), Tensor(1) + 0):
        number = int(where)
        assert_same(evaluate(x[where], engine), DATA[number])
        assert_same(evaluate(x.take(where, 1), engine), DATA.take(number, 1))
        assert_same(evaluate(x.take(where), engine), np.asarray(DATA.take(number)))
        assert_same(evaluate(x.index_select(2, where), engine), DATA[:, :, number])
    assert_same(evaluate(Tensor(DATA[0, 0])[Tensor(1) + 0], engine), np.asarray(DATA[0, 0, 1]))


@pytest.mark.parametrize("seed", range(60))
def test_take_and_take_along_axis(seed: int) -> None:
    source = Source(seed, wrong=0.0)
    shape = source.shape() or (2,)
    x = np.arange(float(math.prod(shape))).reshape(shape)
    axis = source.draw.randrange(-len(shape), len(shape))
    extent = shape[axis]
    theirs, ours = source.as_given(source.positions(extent, (2, 3) if extent else (2, 0)))
    if extent or np.size(theirs) == 0:
        expected = x.take(np.asarray(theirs, int), axis)
        assert_same(evaluate(Tensor(x).take(ours, axis)), expected, (seed, ours))
    wide = [source.draw.choice((1, n)) for n in shape]
    wide[axis] = source.draw.choice((0, 1, 4)) if extent else 0
    values = [source.inside(extent) for _ in range(math.prod(wide))]
    theirs, ours = source.as_given(np.array(values, "i8").reshape(wide))
    if math.prod(wide) or not isinstance(ours, list | tuple):
        expected = np.take_along_axis(x, np.asarray(theirs), axis)
        assert_same(evaluate(Tensor(x).take_along_axis(ours, axis)), expected, (seed, ours))


REFUSED: tuple[tuple[Any, type[CompileError], str], ...] = (
    (5, AxisError, """getitem: index 5 is out of range for axis 0
  got:      5
  expected: -3 to 2
"""),
    (np.s_[None, :, [4]], AxisError, """getitem: index 4 is out of range for axis 1
  got:      4
  expected: -4 to 3
"""),
    (np.s_[True, 0, 0, 0, 0], AxisError, """getitem: too many indices
  got:      4 indices, 0 times ...
  expected: at most 3 indices and one ...
"""),
    (np.s_[..., 0, ...], AxisError, """getitem: too many indices
  got:      1 indices, 2 times ...
  expected: at most 3 indices and one ...
"""),
    (np.s_[:, np.zeros((4, 4), bool)], AxisError,
     """getitem: the mask does not fit the axes it covers
  got:      shape (4, 4)
  expected: shape (4, 5)
"""),
    (np.s_[False, [0, 1]], ShapeError, """getitem: the index arrays do not broadcast together
  got:      (0,) and (2,)
  expected: equal extents, or 1, on each axis counted from the last
"""),
    (1.0, DataError, """getitem: cannot index with float
  got:      float
  expected: integers, slices, None, ..., and truth values, lists, arrays and tensors of integers \
or truth values, e.g. x[0, 1:5:2, ..., [2, 0]]
"""),
    ("a", DataError, """getitem: cannot index with str
  got:      str
  expected: integers, slices, None, ..., and truth values, lists, arrays and tensors of integers \
or truth values, e.g. x[0, 1:5:2, ..., [2, 0]]
"""),
    ([[0, 1], [2]], DataError, """getitem: the lists of positions are ragged
  got:      list
  expected: lists of equal length at each level
"""),
    (np.array([]), DTypeError, """getitem: positions must be integers
  got:      float64
  expected: an integer type, or bool for a mask
"""),
    (2**70, AxisError, """getitem: index 1180591620717411303424 is out of range for axis 0
  got:      1180591620717411303424
  expected: -3 to 2
"""),
)  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_pages(number: int) -> None:
    index, kind, page = REFUSED[number]
    for use in (lambda x: x[index], lambda x: x.set(index, 0), lambda x: x.__setitem__(index, 0)):
        with pytest.raises(kind) as caught:
            use(Tensor(DATA))
        text = str(caught.value)
        assert text.partition(":")[2].startswith(page.partition(":")[2]), text
        assert "test_indexing.py" in text


def test_computed_positions_into_nothing_are_refused() -> None:
    with pytest.raises(AxisError) as caught:
        Tensor(np.zeros((2, 0)))[:, Tensor([1]) + 0]
    assert (caught.value.problem, caught.value.got, caught.value.expected) == (
        "axis 1 is empty: no index is in range", "positions of shape (1,)",
        "an axis with elements, or no positions",
    )  # fmt: skip


def test_a_mask_without_data_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        Tensor(DATA)[Tensor.placeholder(3, dtype="bool", name="m")]
    assert str(caught.value).startswith("""getitem: the data of a mask are needed at once, but \
placeholder m has no data
  got:      bool[3]
  expected: a mask with known data: it decides the shape
""")
    assert caught.value.hint == "mask.where(x, 0) keeps the shape of x"


def test_positions_without_data_are_an_input() -> None:
    x, rows = Tensor(DATA, name="x"), Tensor.placeholder(2, dtype="int64", name="rows")
    (got,) = compile(x[rows]).run({rows: np.array([2, -3])})
    assert_same(got, DATA[[2, -3]])
    known = Tensor([0, 1])
    with pytest.raises(DataError, match="the program does not read this tensor") as caught:
        compile(x[known]).run({known: np.array([2, -3])})
    assert caught.value.hint == (
        "data that were there when they were used as an index or a mask were read then: "
        "index by a Tensor.placeholder to give others"
    )


def test_a_part_is_a_tensor_of_its_own() -> None:
    """`x[0][1] = v`, as the docstring of `Tensor` says."""
    x = Tensor(DATA[0].copy())
    row = x[0]
    row[:] = -1
    x[0][1] = -1
    assert_same(x.numpy(), DATA[0])
    x[0, 1] = -1
    assert x[0].tolist() == [0, -1, 2, 3, 4] and row.tolist() == [-1] * 5


@pytest.mark.parametrize("value", [float("nan"), 1e30, float("inf")])
def test_a_float_that_is_no_integer(value: float) -> None:
    with pytest.raises(DataError) as caught:
        Tensor(DATA).set(0, value)
    assert caught.value.problem == "the Python float does not fit into int64"
