"""Error messages, whole: operation, what is wrong, got, expected, the user's line, a hint."""

import inspect
import linecache
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.core import dtypes, origin
from compiler.core.errors import (
    AxisError,
    CompileError,
    DataError,
    DTypeError,
    InternalError,
    ShapeError,
    SizeError,
)
from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.playground.playground import Playground
from tests.pages import without_calls

HERE = Path(__file__)


def page(call: Callable[[], object]) -> str:
    """The message of the error `call` raises; the user's line is cut to its last part."""
    with pytest.raises(CompileError) as caught:
        call()
    return without_calls(str(caught.value)).replace(f"{HERE.parent}/", "")


def line_of(text: str) -> int:
    """The number of the only line of this file that contains `text` and a mark."""
    lines = HERE.read_text("utf-8").splitlines()
    (number,) = (i for i, line in enumerate(lines, 1) if line.strip().endswith(f"# {text}"))
    return number


def test_broadcast() -> None:
    left = Tensor.zeros(2, 3)  # left
    right = Tensor.ones(2, 4)  # right
    message = page(lambda: left + right)  # broadcast
    assert message == (
        "add: the shapes do not fit together: axis -1 is 3 and 4\n"
        "  got:      (2, 3) and (2, 4)\n"
        "  expected: equal extents, or 1, on each axis counted from the last\n"
        f"  line:     test_errors.py:{line_of('broadcast')}"
        "  message = page(lambda: left + right)  # broadcast\n"
        f"  hint:     (2, 3) made at test_errors.py:{line_of('left')};"
        f" (2, 4) made at test_errors.py:{line_of('right')}"
    )


def test_reshape() -> None:
    x = Tensor.zeros(4, 6)
    assert page(lambda: x.reshape(5, -1)) == (  # reshape
        "reshape: the number of elements changes\n"
        "  got:      (5, -1), 5 elements and a -1\n"
        "  expected: 24 elements\n"
        f"  line:     test_errors.py:{line_of('reshape')}"
        "  assert page(lambda: x.reshape(5, -1)) == (  # reshape\n"
        "  hint:     reshape keeps every element; pad, shrink or expand change how many there are"
    )


def without_line(message: str) -> str:
    """A message less the row with the user's line, which must be there and name this file."""
    rows = message.split("\n")
    (line,) = (row for row in rows if row.startswith("  line:"))
    assert "test_errors.py:" in line
    return "\n".join(row for row in rows if row != line)


X = np.zeros((4, 6))
PAGES: tuple[tuple[type[CompileError], Callable[[], object], str], ...] = (
    (
        ShapeError,
        lambda: Tensor(X) @ Tensor(X),
        "matmul: the axes to sum over differ: 6 and 4\n"
        "  got:      (4, 6) and (4, 6)\n"
        "  expected: (…, m, k) and (…, k, n)\n"
        "  hint:     transpose one operand with .mT if its axes are the other way round",
    ),
    (
        ShapeError,
        lambda: Tensor(X[:0]).max(0),
        "max: axis 0 is empty, and no elements have no max\n"
        "  got:      shape (0, 6)\n"
        "  expected: an extent of 1 or more on the axes that are folded\n"
        "  hint:     check the slice or filter that made the tensor empty",
    ),
    (
        AxisError,
        lambda: Tensor(X).sum(axis=2),
        "sum: axis 2 is out of range\n"
        "  got:      a tensor of rank 2\n"
        "  expected: an axis from -2 to 1",
    ),
    (
        AxisError,
        lambda: Tensor(X)[4],
        "getitem: index 4 is out of range for axis 0\n  got:      4\n  expected: -4 to 3",
    ),
    (
        DTypeError,
        lambda: -Tensor([True]),
        "neg: not defined for bool\n"
        "  got:      bool\n"
        "  expected: elements of kind float or int or uint\n"
        "  hint:     use ~ or logical_not to invert truth values",
    ),
    (
        DTypeError,
        lambda: Tensor([1.0]) << 1,
        "lshift: not defined for float64\n"
        "  got:      float64\n"
        "  expected: elements of kind int or uint\n"
        "  hint:     convert first, e.g. cast(int64)",
    ),
    (
        DTypeError,
        lambda: Tensor([1.0], dtype="complex64"),
        "Tensor: unknown element type\n"
        "  got:      'complex64'\n"
        "  expected: one of bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64,"
        " float16, bfloat16, float32, float64",
    ),
    (
        SizeError,
        lambda: Tensor.zeros(2**60),
        "zeros: the tensor has too many elements\n"
        "  got:      shape (1152921504606846976,), 1,152,921,504,606,846,976 elements\n"
        "  expected: at most 281,474,976,710,656",
    ),
    (
        DataError,
        lambda: Tensor([[1, 2], [3]]),
        "Tensor: the nested list is ragged\n"
        "  got:      list\n"
        "  expected: lists of equal length at each level",
    ),
    (
        DataError,
        lambda: Tensor(np.zeros(2, "c16")),
        "Tensor: cannot compute with elements of type complex128\n"
        "  got:      ndarray of complex128, shape (2,)\n"
        "  expected: numbers or truth values: bool, int8, int16, int32, int64, uint8, uint16,"
        " uint32, uint64, float16, bfloat16, float32, float64\n"
        "  hint:     convert the data with NumPy first: array.astype(…)",
    ),
    (
        DataError,
        lambda: Tensor(np.array([1], "u1")) + 300,
        "add: the Python integer does not fit into uint8\n"
        "  got:      300\n"
        "  expected: 0 … 255\n"
        "  hint:     convert the tensor to a wider type first, e.g. cast(int64)",
    ),
    (
        DataError,
        lambda: Tensor(X)["a"],
        "getitem: cannot index with str\n"
        "  got:      str\n"
        "  expected: integers, slices, None, ..., and truth values, lists, arrays and tensors of "
        "integers or truth values, e.g. x[0, 1:5:2, ..., [2, 0]]",
    ),
)


@pytest.mark.parametrize(("kind", "call", "expected"), PAGES)
def test_pages(kind: type[CompileError], call: Callable[[], object], expected: str) -> None:
    message = page(call)
    assert without_line(message) == expected
    with pytest.raises(kind):
        call()


def test_parts_of_an_error() -> None:
    error = ShapeError(
        "add", "wrong", got="a", expected="b", hint="c", origin=Origin("f.py", 3, "add")
    )
    assert (error.operation, error.problem, error.got, error.expected) == ("add", "wrong", "a", "b")
    assert str(error) == (
        "add: wrong\n  got:      a\n  expected: b\n  line:     f.py:3\n  hint:     c"
    )
    assert str(InternalError("verify", "broken")) == "verify: broken"


@pytest.mark.parametrize(
    ("kind", "python"),
    (
        (ShapeError, ValueError), (DTypeError, TypeError), (AxisError, IndexError),
        (SizeError, MemoryError), (DataError, TypeError), (InternalError, CompileError),
    ),
)  # fmt: skip
def test_each_is_also_pythons_own(kind: type[CompileError], python: type[Exception]) -> None:
    assert issubclass(kind, CompileError)
    assert issubclass(kind, python)


def here() -> int:
    """The line of the caller."""
    frame = inspect.currentframe()
    assert isinstance(frame, FrameType)
    assert isinstance(frame.f_back, FrameType)
    return frame.f_back.f_lineno


def test_nodes_carry_the_users_line_and_call() -> None:
    x, made = Tensor(X), here()
    y, used = (x @ x.T).softmax(), here()
    origins = [node.origin for node in toposort([y.node])]
    assert all(isinstance(it, Origin) and it.file == str(HERE) for it in origins)
    lines = {(it.line, it.method) for it in origins if it}
    assert lines == {(made, "tensor"), (used, "T"), (used, "matmul"), (used, "softmax")}


def test_every_way_to_make_a_node_carries_a_line() -> None:
    x = Tensor(X)
    tensors = (
        x + 1, 1 + x, -x, x[0], x.T, x == x, x.mean(), Tensor(3), Tensor(x, "f4"), x.float(),
        Tensor.arange(3), Tensor.zeros(2), Tensor.eye(2), x.zeros_like(), next(iter(x)), abs(x),
        x.shape[0] * x, x.pad(1, value=1), x.cat(x), x.where(1, 2), 2**x, x**0.5, 7 // x, x @ x.T,
    )  # fmt: skip
    for tensor in tensors:
        origin = tensor.node.origin
        assert origin is not None
        assert origin.file == str(HERE)


def test_no_origin_outlives_its_call() -> None:
    assert origin.current() is None
    with pytest.raises(ShapeError):
        Tensor(X) + Tensor.zeros(5)
    assert origin.current() is None


def test_a_notebook_cell_is_named() -> None:
    source = "from compiler.tensor import Tensor\nx = Tensor([1, 2])\ny = x + Tensor([1, 2, 3])\n"
    name = "<cell 7>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    with pytest.raises(ShapeError) as caught:
        exec(compile(source, name, "exec"), {})
    assert "line:     <cell 7>:3  y = x + Tensor([1, 2, 3])" in str(caught.value)
    assert "(2,) made at cell:2" in str(caught.value)


def test_unknown_dtype_names() -> None:
    assert dtypes.parse("f4") is dtypes.parse(np.float32) is dtypes.float32
    with pytest.raises(DTypeError, match="cast: unknown element type"):
        Tensor(X).cast("f128x")


OUTSIDE: tuple[tuple[Callable[[], object], str], ...] = (
    (lambda: compiler.compile(3), "compile: only tensors can be compiled"),
    (lambda: compiler.prepare([]), "prepare: nothing to prepare"),
    (lambda: compiler.prepare(Tensor([1.0]) + 1).run(5), "run: these are no inputs"),
    (lambda: compiler.repeat(-1, lambda i, x: x, Tensor([1.0])),
     "repeat: invalid number of iterations"),
    (lambda: compiler.repeat(1, None, Tensor([1.0])), "repeat: the step is not a function"),
    (lambda: compiler.Variable("1a", 0, 3), "Variable: the name cannot be used"),
    (lambda: compiler.Variable("n", 1, 3).bind(4), "bind: variable n is outside its bounds"),
    (lambda: compiler.Options(optimize=9), "Options: no such level of optimisation"),
    (lambda: compiler.GraphBuilder().cast(3, "int32"), "graph builder: an operand is no node"),
    (lambda: Tensor.kernel("k", None, Tensor([1.0])), "kernel: the body is not a function"),
    (lambda: Tensor.manual_seed("a"), "manual_seed: a seed is a whole number"),
    (lambda: Tensor([1.0]).index_put(5, 1.0), "index_put: one index per leading axis"),
    (lambda: Tensor([1.0]).pad(1, "a"), "pad: the value is not a number"),
    (lambda: Tensor([1.0]).cast(None), "cast: unknown element type"),
    (lambda: Tensor([1.0])[Tensor([True, False])], "getitem: the mask does not fit the axes"),
    (lambda: assign_elsewhere(), "assign: the value is on another device"),
)


def assign_elsewhere() -> None:
    (Tensor([1.0]) + 1).assign(Tensor([1.0]).to("CPU:1"))


@pytest.mark.parametrize(("call", "beginning"), OUTSIDE, ids=[text for _, text in OUTSIDE])
def test_calls_that_make_no_node_name_their_line(
    call: Callable[[], object], beginning: str
) -> None:
    message = page(call)
    assert message.startswith(beginning)
    assert "  got:" in message and "  expected:" in message
    without_line(message)


def joined(x: Tensor, times: int) -> Tensor:
    return joined(x, times - 1) if times else x @ x


def test_the_calls_that_led_to_a_line_stand_before_it_the_innermost_last() -> None:
    here = inspect.currentframe().f_lineno  # type: ignore[union-attr]
    with pytest.raises(ShapeError) as found:
        joined(Tensor(np.ones((2, 3))), 3)
    inner = joined.__code__.co_firstlineno + 1
    code = "return joined(x, times - 1) if times else x @ x"
    rows = str(found.value).splitlines()
    first = next(place for place, row in enumerate(rows) if row.startswith("  calls:"))
    assert rows[first : first + 3] == [
        f"  calls:    {__file__}:{here + 2}  joined(Tensor(np.ones((2, 3))), 3)",
        f"            {__file__}:{inner}  {code}  (× 3)",
        f"  line:     {__file__}:{inner}  {code}",
    ]


def test_a_line_that_nothing_led_to_has_no_calls() -> None:
    with pytest.raises(ShapeError) as found:
        Tensor(np.ones((2, 3))) @ Tensor(np.ones((2, 3)))
    assert "calls:" not in str(found.value)


@pytest.mark.parametrize(("kind", "earlier", "today"), [
    ("Compilation", "biography", "lineage"),
    ("Playground", "film", "trace"),
])  # fmt: skip
def test_an_earlier_name_is_refused(kind: str, earlier: str, today: str) -> None:
    compilation = compiler.compile(Tensor(np.ones(4, np.float32)) * 2)
    owner = Playground(compilation) if kind == "Playground" else compilation
    with pytest.raises(AttributeError, match=f"{earlier} was renamed: write {today}$"):
        getattr(owner, earlier)
    with pytest.raises(AttributeError, match=f"{earlier} was renamed: write {today}$"):
        setattr(owner, earlier, None)
    assert callable(getattr(owner, today))
