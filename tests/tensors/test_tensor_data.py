"""Data that become tensors, and tensors that become data: arrays of every layout, lists."""

import array
import copy
import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.errors import CompileError, DataError, DTypeError, ShapeError, SizeError
from compiler.device.buffers import data
from compiler.graph.nodes import Buffer, Const, Iota
from compiler.tensor import Tensor
from tests.evaluate import Cases, assert_same, evaluate, every_engine, samples

BASE = np.arange(24, dtype="i4").reshape(4, 6)
READ_ONLY = BASE.copy()
READ_ONLY.flags.writeable = False
UNALIGNED = np.frombuffer(b"\0" + BASE.tobytes(), "u1")[1:].view("i4").reshape(4, 6)

LAYOUTS = {
    "plain": BASE, "read-only": READ_ONLY, "transposed": BASE.T, "strided": BASE[::2, ::-3],
    "column-major": np.asfortranarray(BASE), "swapped": BASE.astype(">i4"), "unaligned": UNALIGNED,
    "broadcast": np.broadcast_to(BASE[:1], (3, 6)), "empty": BASE[:0], "rank 0": np.array(5),
    "swapped rank 0": np.array(5, ">f8"), "matrix": np.ones((2, 2)).view(np.matrix),
    "record field": np.zeros(3, "f4,i2")["f1"], "complex part": np.array([1 + 2j, 3j]).imag,
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name: str, engine: str) -> None:
    given = LAYOUTS[name]
    tensor = Tensor(given)
    assert isinstance(tensor.node, Buffer)
    held = data(tensor.node)
    assert held.flags.c_contiguous and held.flags.aligned and held.dtype.isnative
    assert type(held) is np.ndarray
    expected = np.asarray(given)
    assert_same(evaluate(tensor, engine), expected.astype(expected.dtype.newbyteorder("=")))


def test_only_what_must_be_is_copied() -> None:
    for name in ("plain", "read-only", "rank 0"):
        node = Tensor(LAYOUTS[name]).node
        assert isinstance(node, Buffer)
        assert np.shares_memory(data(node), LAYOUTS[name])
    for name in ("transposed", "strided", "swapped", "unaligned", "broadcast"):
        node = Tensor(LAYOUTS[name]).node
        assert isinstance(node, Buffer)
        assert not np.shares_memory(data(node), LAYOUTS[name])


@every_engine
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_type_converts_to_every_type(dtype: dtypes.DType, engine: str) -> None:
    cases = Cases(engine)
    for source in dtypes.ALL:
        given = samples(source)
        expected = evaluate(Tensor(given).cast(dtype))
        cases.same(Tensor(given, dtype=dtype), expected, source)
        cases.same(Tensor(given).cast(dtype), expected, source)
        cases.same(Tensor(Tensor(given), dtype), expected, source)
    cases.check()


NUMBERS: tuple[Any, ...] = (
    True, 3, -1, 2.5, math.inf, -0.0, 2**63 - 1, 2**63, np.float32(1.5), np.int8(-3),
    np.bool_(True), [1, 2], [[1.0], [2.0]], [], [[], []], [True, False], [1, 2.5], (1, 2),
    range(4), [np.float32(1)], [[1, 2], np.array([3, 4])],
    array.array("f", [1.0, 2.0]), memoryview(b"abc"), [2**63, 1],
)  # fmt: skip


@every_engine
@pytest.mark.parametrize("given", NUMBERS, ids=lambda value: type(value).__name__)
def test_numbers_and_lists_get_numpys_types(given: Any, engine: str) -> None:
    assert_same(evaluate(Tensor(given), engine), np.asarray(given))


@every_engine
def test_lists_with_a_type(engine: str) -> None:
    assert_same(evaluate(Tensor([1, 2], "f4"), engine), np.array([1, 2], "f4"))
    assert_same(evaluate(Tensor([1.9, -1.9, math.nan], int), engine), np.array([1, -1, 0]))
    assert_same(evaluate(Tensor(1e6, "f2"), engine), np.float16(np.inf))
    assert_same(evaluate(Tensor([0, 2], bool), engine), np.array([False, True]))
    assert_same(evaluate(Tensor(255, np.uint8), engine), np.uint8(255))


def test_truth_values_are_0_or_1() -> None:
    odd = np.array([0, 1, 2, 255], "u1").view(bool)
    node = Tensor(odd).node
    assert isinstance(node, Buffer)
    assert data(node).view("u1").tolist() == [0, 1, 1, 1]


REFUSED: dict[str, tuple[Any, str]] = {
    "ragged": ([[1, 2], [3]], "the nested list is ragged"),
    "object": (np.array([None, 1]), "object"),
    "None": (None, "object"),
    "text": ("abc", "str"),
    "list of text": (["1", "2"], "str"),
    "bytes": (b"abc", "bytes"),
    "complex": (1j, "complex128"),
    "complex array": (np.zeros(2, "c8"), "complex64"),
    "datetime": (np.array(["2020-01-01"], "M8[D]"), "datetime64[D]"),
    "timedelta": (np.array([1], "m8[s]"), "timedelta64[s]"),
    "structured": (np.zeros(2, "f4,i2"), "structured"),
    "void": (np.zeros(2, "V3"), "void"),
    "long double": (np.zeros(2, np.longdouble), np.dtype(np.longdouble).name),
    "masked": (np.ma.array([1, 2], mask=[0, 1]), "masked"),
    "big integer": (2**64, "object"),
    "set": ({1, 2}, "object"),
    "dictionary": ({"a": 1}, "object"),
    "function": (len, "object"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_data(name: str) -> None:
    given, message = REFUSED[name]
    if name == "long double" and np.dtype(np.longdouble) == np.dtype("f8"):
        pytest.skip("long double is float64 here")
    with pytest.raises(DataError) as caught:
        Tensor(given)
    assert message in str(caught.value)
    assert "test_tensor_data.py:" in str(caught.value)


def test_integers_that_do_not_fit_into_the_type() -> None:
    for given, dtype in ((300, "u1"), ([1, -1], "u8"), ([[2**40]], "i4"), (range(300), "i1")):
        with pytest.raises(DataError, match="does not fit"):
            Tensor(given, dtype)
    assert evaluate(Tensor(np.array([300]), "u1")).tolist() == [44]


def test_unknown_types() -> None:
    for wrong in ("complex64", object, "nonsense", str):
        with pytest.raises(DTypeError, match="unknown element type"):
            Tensor([1], dtype=wrong)


@every_engine
def test_constructors(engine: str) -> None:
    cases = (
        (Tensor.zeros(2, 3), np.zeros((2, 3))),
        (Tensor.zeros((2, 3), dtype="i4"), np.zeros((2, 3), "i4")),
        (Tensor.zeros(), np.zeros(())),
        (Tensor.ones(0, 2, dtype=dtypes.bool_), np.ones((0, 2), bool)),
        (Tensor.full((2,), 7), np.full((2,), 7)),
        (Tensor.full(3, -0.0, "f2"), np.full(3, -0.0, "f2")),
        (Tensor.full((1, 2), True), np.full((1, 2), True)),
        (Tensor.eye(3), np.eye(3)),
        (Tensor.eye(2, 4, "i1"), np.eye(2, 4, dtype="i1")),
        (Tensor(BASE).zeros_like(), np.zeros_like(BASE)),
        (Tensor(BASE).ones_like("f4"), np.ones_like(BASE, "f4")),
        (Tensor(BASE).full_like(9), np.full_like(BASE, 9)),
    )
    for ours, expected in cases:
        assert_same(evaluate(ours, engine), expected)


@every_engine
@pytest.mark.parametrize(
    "arguments",
    (
        (5,),
        (0,),
        (-3,),
        (2, 7),
        (7, 2),
        (0, 10, 3),
        (10, 0, -3),
        (1.5,),
        (0, 1, 0.1),
        (0.0, -1.0, -0.25),
    ),
    ids=str,
)
def test_arange(arguments: tuple[Any, ...], engine: str) -> None:
    expected = np.arange(*arguments)
    assert_same(evaluate(Tensor.arange(*arguments), engine), expected, rtol=1e-15)
    for dtype in ("f4", "i1"):
        got = evaluate(Tensor.arange(*arguments, dtype=dtype), engine)
        assert_same(got, expected.astype(dtype))


def test_arange_is_an_iota() -> None:
    assert isinstance(Tensor.arange(5).node, Iota)
    for wrong in ((0, 1, 0), (0.0, math.inf), (math.nan,)):
        with pytest.raises(DataError, match="no finite number"):
            Tensor.arange(*wrong)


def test_sizes_no_memory_can_hold() -> None:
    for make in (
        lambda: Tensor.zeros(2**60),
        lambda: Tensor.full((2**30, 2**30), 1),
        lambda: Tensor.arange(2**60),
        lambda: Tensor.eye(2**30),
        lambda: Tensor.zeros(2**30, 1) + Tensor.zeros(1, 2**30),
    ):
        with pytest.raises(SizeError, match="too many elements"):
            make()
    with pytest.raises(ShapeError, match="negative"):
        Tensor.zeros(-1)


def test_attributes() -> None:
    x = Tensor(BASE)
    assert (x.shape, x.ndim, x.size, x.numel(), len(x)) == ((4, 6), 2, 24, 24, 4)
    assert x.dtype == dtypes.int32
    assert isinstance(Tensor(3).node, Const)


def test_repr_shows_data_only_when_there_are_any() -> None:
    x = Tensor(np.array([1.0, 2.5], "f4"))
    assert repr(x) == "Tensor([1. , 2.5], f32[2])"
    assert repr(x + 1) == "Tensor(f32[2], lazy)"
    assert repr(Tensor.zeros(64, 10, dtype="f4")) == "Tensor(f32[64,10], lazy)"
    assert repr(Tensor(True)) == "Tensor(bool[], lazy)"
    assert len(repr(Tensor(np.zeros((100, 100))))) < 300


def test_data_come_back() -> None:
    x = Tensor(BASE)
    assert x.numpy().tolist() == x.tolist() == BASE.tolist()
    assert np.shares_memory(x.numpy(), BASE)
    with pytest.raises(ValueError, match="read-only"):
        x.numpy()[0, 0] = 1
    assert BASE.flags.writeable
    assert np.asarray(x).dtype == np.int32
    assert np.asarray(x, "f4").dtype == np.float32
    assert np.array(x).flags.writeable
    assert_same(np.sqrt(x), np.sqrt(BASE))
    assert x.realize() is x


def test_one_element_becomes_a_number() -> None:
    one = Tensor(np.array([[3]]))
    assert (one.item(), int(one), float(one), bool(one)) == (3, 3, 3.0, True)
    assert not Tensor(np.array(0.0))
    assert [10, 20, 30][Tensor(np.array(1))] == 20
    for wrong in (Tensor(BASE), Tensor(BASE[:0])):
        with pytest.raises(ShapeError, match="only one element"):
            wrong.item()
        with pytest.raises(ShapeError, match="exactly one element"):
            bool(wrong)
    with pytest.raises(DataError, match="rank 0"):
        range(one)


def test_copies_are_the_tensor_itself() -> None:
    x = Tensor(BASE) + 1
    assert copy.copy(x) is x
    assert copy.deepcopy([x])[0] is x


def test_augmented_assignment_makes_a_new_tensor() -> None:
    x = y = Tensor(BASE)
    y += 1
    assert x.node is not y.node
    assert_same(evaluate(y), BASE + 1)


def test_errors_are_also_pythons() -> None:
    pairs = ((DataError, TypeError), (ShapeError, ValueError), (SizeError, MemoryError))
    assert all(issubclass(ours, (CompileError, theirs)) for ours, theirs in pairs)


class TestComputed:
    """Tensors whose data have to be computed first."""

    @pytest.fixture(autouse=True)
    def _needs_compilation(self) -> None:
        pytest.importorskip("compiler.program.compilation")

    def test_numpy(self) -> None:
        assert_same(((Tensor(BASE) + 1).T).numpy(), (BASE + 1).T)
        assert (Tensor(2) * 3).item() == 6
        assert repr((Tensor([1, 2]) + 1).realize()) == "Tensor([2, 3], i64[2])"

    def test_realize_replaces_the_node_by_data(self) -> None:
        x, y = Tensor(BASE) + 1, Tensor(BASE) * 2
        assert x.realize(y) is x
        assert isinstance(x.node, Buffer)
        assert isinstance(y.node, Buffer)
        assert_same(data(y.node), BASE * 2)


def test_making_a_tensor_does_not_load_masked_arrays() -> None:
    make = "import sys, numpy, compiler; compiler.Tensor(numpy.ones(3))"
    code = f"{make}; print('numpy.ma' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n", "loading numpy.ma takes longer than to compile most programs"
