"""Data for the inputs of a program: by tensor, by name, by place, alike for every way to run it."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from compiler import DataError, DTypeError, ShapeError, Tensor, Variable, compile, prepare
from compiler.core.errors import CompileError

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(11)


def array(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def compiled(value: Any) -> Callable[..., list[Array]]:
    return compile(value).run


def prepared(value: Any) -> Callable[..., list[Array]]:
    return prepare(value).run


WAYS = pytest.mark.parametrize("way", (compiled, prepared))


def close(got: Array, expected: Array) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


@WAYS
def test_places_follow_the_program_and_not_the_graph(way: Callable[..., Any]) -> None:
    """x - y and y - x meet them in another order; they were made in one."""
    a, b = array(3), array(3)
    x = Tensor(array(3), name="x")
    y = Tensor(array(3), name="y")
    for value, expected in (
        (x - y, a - b), (y - x, b - a), ((y.exp() * x) - y, np.exp(b) * a - b),
        (y.relu() / x, np.maximum(b, 0) / a),
    ):  # fmt: skip
        close(way(value)([a, b])[0], expected)
        close(way(value)((a, b))[0], expected)
        close(way(value)({x: a, y: b})[0], expected)
        close(way(value)({y: b, "x": a})[0], expected)


@WAYS
def test_placeholders_have_their_places_among_tensors(way: Callable[..., Any]) -> None:
    w = Tensor(array(4, 2), name="w")
    x = Tensor.placeholder(3, 4, dtype="float32", name="x")
    bias = Tensor(array(2))
    data, weight, added = array(3, 4), array(4, 2), array(2)
    run = way(bias + x @ w)
    close(run([weight, data, added])[0], data @ weight + added)
    close(run({x: data})[0], data @ w.numpy() + bias.numpy())
    close(run({"x": data, bias: added})[0], data @ w.numpy() + added)
    again = Tensor.placeholder(3, 4, dtype="float32", name="x")  # of one name they are one
    close(run({again: data})[0], data @ w.numpy() + bias.numpy())


@WAYS
def test_a_line_that_declares_a_placeholder_again(way: Callable[..., Any]) -> None:
    for _ in range(2):
        w = Tensor(array(3))
        x = Tensor.placeholder(3, dtype="float32", name="x")
        a, b = array(3), array(3)
        close(way(x - w)([a, b])[0], b - a)


@WAYS
def test_what_operations_bring_in_comes_last(way: Callable[..., Any]) -> None:
    x = Tensor(array(4, 3), name="x")
    rows, weight = x[[0, 2]], array(3, 3)
    product = rows @ weight
    y = Tensor(array(2, 3), name="y")
    a, b = array(4, 3), array(2, 3)
    close(way(product + y)([a, b])[0], a[[0, 2]] @ weight + b)
    positions, other = np.array([3, 1]), array(3, 3)
    close(way(product + y)([a, b, positions, other])[0], a[[3, 1]] @ other + b)


@WAYS
def test_any_tensor_in_memory_is_a_key(way: Callable[..., Any]) -> None:
    a = array(5)
    realised = (Tensor(array(5)) * 2).realize()
    close(way(realised + 1)({realised: a})[0], a + 1)
    symbolic = Tensor(array(5), symbolic={0: Variable("n", 1, 9)})
    close(way(symbolic * 2)({symbolic: a[:3]})[0], a[:3] * 2)
    alias = Tensor(realised)
    close(way(realised + 1)({alias: a})[0], a + 1)
    written = Tensor(array(5))
    written.assign(written * 3)
    given = a.copy()
    close(way(written)({written: given})[0], a * 3)
    np.testing.assert_array_equal(given, a)


@WAYS
def test_data_may_be_a_tensor(way: Callable[..., Any]) -> None:
    x, a = Tensor(array(5)), array(5)
    close(way(x + 1)({x: Tensor(a) * 2})[0], a * 2 + 1)
    close(way(x + 1)([Tensor(a)])[0], a + 1)


@WAYS
def test_the_rest_stays(way: Callable[..., Any]) -> None:
    x, y, a = Tensor(array(3)), Tensor(array(3)), array(3)
    run = way(x - y)
    close(run({y: a})[0], x.numpy() - a)
    close(run([a])[0], a - y.numpy())
    for nothing in (None, {}, [], ()):
        close(run(nothing)[0], x.numpy() - y.numpy())


def test_a_plan_prints_the_order() -> None:
    y = Tensor(array(4, 3), name="y")
    x = Tensor(array(2, 4), name="x")
    b = Tensor(array(3))
    assert repr(prepare(b + x @ y)) == (
        "ExecutionPlan(inputs: y f32[4,3], x f32[2,4], an unnamed f32[3]; 1 items, 1 levels)"
    )
    assert repr(prepare(Tensor.arange(4))).startswith("ExecutionPlan(inputs: none; ")


def test_of_many_inputs_the_first_are_listed() -> None:
    tensors = [Tensor(np.zeros(1), name=f"x{n}") for n in range(15)]
    plan = prepare(Tensor.cat(*tensors))
    assert "x11 f64[1] and 3 more; " in repr(plan)
    with pytest.raises(DataError) as caught:
        plan.run({"y": np.zeros(1)})
    assert caught.value.expected.endswith(") and 3 more")


def pages() -> tuple[Any, dict[str, tuple[Any, type[CompileError], str]]]:
    """A program, and what it refuses with the pages for it."""
    x = Tensor(np.zeros((2, 3), "f4"), name="x")
    w = Tensor(np.zeros((2, 3), "f4"))
    p = Tensor.placeholder(2, dtype="float32", name="p")
    y = (x * w).sum(1) + p
    stranger, number = Tensor(np.zeros(2, "f4"), name="z"), Tensor(2.0)
    ok = np.zeros(2, "f4")
    order = f"x f32[2,3] ({at(0)}), an unnamed f32[2,3] ({at(1)}), p f32[2] ({at(2)})"
    by_name = "give the tensor itself as key, or a list in the order above"
    order_now = "x, f32[2,3], p"
    made_x = (f'x is input 0 of {order_now}, made at {at(0)}  '
              'x = Tensor(np.zeros((2, 3), "f4"), name="x")')  # fmt: skip
    made_w = f'it is input 1 of {order_now}, made at {at(1)}  w = Tensor(np.zeros((2, 3), "f4"))'
    made_p = (f'p is input 2 of {order_now}, made at {at(2)}  '
              'p = Tensor.placeholder(2, dtype="float32", name="p")')  # fmt: skip
    return y, {
        "no data": ({}, DataError, page("placeholder p has no data", "nothing", "float32 (2,)",
                                        made_p)),
        "a name": ({"q": ok}, DataError, page("the program has no such input", "'q'", order,
                                              by_name)),
        "another tensor": ({stranger: ok}, DataError, page(
            "the program does not read this tensor", f"f32[2], made at {at(4)}  "
            'stranger, number = Tensor(np.zeros(2, "f4"), name="z"), Tensor(2.0)', order)),
        "a computed tensor": ({y: ok}, DataError, page(
            "the tensor is computed: no data can be given for it",
            f"f32[2], made at {at(3)}  y = (x * w).sum(1) + p", order)),
        "a constant": ({number: 3.0}, DataError, page(
            "the tensor is computed: no data can be given for it", f"f64[], made at {at(4)}  "
            'stranger, number = Tensor(np.zeros(2, "f4"), name="z"), Tensor(2.0)', order)),
        "a number as key": ({0: ok}, DataError, page(
            "inputs are given by tensors or by their names", "int", order)),
        "twice": ({x: np.zeros((2, 3), "f4"), "x": np.zeros((2, 3), "f4")}, DataError, page(
            "x is given twice", "its tensor and its name, or two tensors of one memory",
            "each input once", made_x)),
        "too many": ([ok] * 4, DataError, page("too many inputs", "4", f"at most 3: {order}")),
        "a text": ("x", DataError, page(
            "these are no inputs", "str", "a dict by tensors or their names, e.g. {x: array}, or "
            f"a list in this order: {order}")),
        "one array": (ok, DataError, page(
            "these are no inputs", "ndarray", "a dict by tensors or their names, e.g. {x: array}, "
            f"or a list in this order: {order}")),
        "a shape": ({p: ok, x: np.zeros((3, 2), "f4")}, ShapeError, page(
            "x has another shape", "(3, 2)", "(2, 3)", made_x)),
        "a type": ({p: ok, w: np.zeros((2, 3))}, DTypeError, page(
            "input 1 has another type", "float64", "float32", made_w)),
        "no array": ({p: None}, DataError, page("p is no array", "NoneType", "a NumPy array",
                                                made_p)),
        "by place": ([ok], ShapeError, page("x has another shape", "(2,)", "(2, 3)", made_x)),
    }  # fmt: skip


def at(line: int) -> str:
    """The place of a line of the program in `pages`."""
    return f"test_feeding.py:{pages.__code__.co_firstlineno + 2 + line}"


def page(problem: str, got: str, expected: str, hint: str = "") -> str:
    last = f"\n  hint:     {hint}" if hint else ""
    return f"run: {problem}\n  got:      {got}\n  expected: {expected}{last}"


@WAYS
@pytest.mark.parametrize("name", pages()[1])
def test_what_does_not_fit_names_the_input(name: str, way: Callable[..., Any]) -> None:
    value, rows = pages()
    given, error, text = rows[name]
    run = way(value)
    with pytest.raises(error) as caught:
        run(given)
    found = str(caught.value).split("\n")
    (line,) = (row for row in found if row.startswith("  line:"))
    assert "run(given)" in line
    assert "\n".join(row for row in found if row != line) == text


@WAYS
def test_a_name_of_two_inputs(way: Callable[..., Any]) -> None:
    first, second = Tensor(array(2), name="x"), Tensor(array(2), name="x")
    run, a = way(first - second), array(2)
    with pytest.raises(DataError, match="several inputs have this name") as caught:
        run({"x": a})
    assert caught.value.hint == "give the tensor itself as key, or a list in the order above"
    close(run({second: a})[0], first.numpy() - a)


@WAYS
def test_rows_that_contradict_each_other_are_refused(way: Callable[..., Any]) -> None:
    n = Variable("n", 1, 6)
    x = Tensor(array(4, 2), name="x", symbolic={0: n})
    y = Tensor(array(4, 2), name="y", symbolic={0: n})
    run = way(x + y)
    for given, got in (
        ([array(5, 2), array(3, 2)], "n = 5, the rows of x and n = 3, the rows of y"),
        ([array(3, 2), array(5, 2)], "n = 3, the rows of x and n = 5, the rows of y"),
        ({x: array(3, 2)}, "n = 3, the rows of x and n = 4, the rows of y as it was made"),
        ({x: array(5, 2)}, "n = 5, the rows of x and n = 4, the rows of y as it was made"),
    ):
        with pytest.raises(DataError) as caught:
            run(given)
        assert (caught.value.operation, caught.value.got) == ("run", got)
    a, b = array(5, 2), array(5, 2)
    close(run([a, b])[0], a + b)
    for key in ("n", n):
        close(run([a, b], {key: 2})[0], a[:2] + b[:2])
    close(run({x: a}, {n: 3})[0], a[:3] + y.numpy()[:3])
    table = Tensor(array(6, 2))
    for part in (table[:n], table[: n.bind(4)]):
        close(way(x + part)({x: b})[0], b + table.numpy()[:5])
    with pytest.raises(DataError, match="y holds fewer rows than"):
        run({x: a}, {n: 5})


@WAYS
def test_data_that_are_read_in_whole_cannot_be_shorter(way: Callable[..., Any]) -> None:
    """Rows behind the variable are read by another part of the program."""
    x = Tensor(array(6, 2), name="x")
    n = Variable("n", 1, 6)
    run, a = way([x[: n.bind(3)].sum(0), x.sum(0)]), array(6, 2)
    close(run({x: a})[0], a[:3].sum(0))
    with pytest.raises(ShapeError, match="x has another shape"):
        run({x: a[:3]})


@WAYS
def test_values_of_variables_that_are_no_values(way: Callable[..., Any]) -> None:
    n = Variable("n", 1, 6)
    run = way(Tensor(array(6))[: n.bind(3)] + 1)
    for given, problem, got in (
        ([3], "values are given by variables or their names", "list"),
        ({Variable("n", 1, 5): 3}, "variable n has two pairs of bounds", "1 … 6 and 1 … 5"),
        ({Variable("m", 1, 6): 3}, "the program has no variable m", "m"),
        ({"n": n.bind(3)}, "variable n is outside its bounds", "n = 3 in 1 … 6"),
    ):
        with pytest.raises(DataError) as caught:
            run(None, given)
        assert (caught.value.problem, caught.value.got) == (problem, got)
