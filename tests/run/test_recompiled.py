"""A line that is recompiled many times causes one warning, and is counted."""

import linecache
import warnings

import numpy as np
import pytest

import compiler
from compiler import RecompiledWarning, Tensor
from compiler.run.recompiled import KEPT, MANY, Lines

X = Tensor(np.arange(100.0))


@pytest.fixture(autouse=True)
def empty() -> None:
    compiler.cache_clear()


def test_a_line_with_many_shapes_is_told_once() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for i in range(3 * MANY):
            (X[: i + 1] * 2).sum().numpy()
    (warned,) = caught
    assert warned.category is RecompiledWarning and warned.filename == __file__
    text = linecache.getline(__file__, warned.lineno).strip()
    assert text == "(X[: i + 1] * 2).sum().numpy()"
    first, line, took, hint = str(warned.message).split("\n")
    assert first == (
        "compiled 8 times: each time the program of this line had other shapes or numbers"
    )
    assert line == f"  line:     {__file__}:{warned.lineno}  {text}"
    assert took.startswith("  took:     ") and took.endswith(" s so far")
    assert hint == (
        "  hint:     a size that changes can be a variable (n = compiler.Variable('n', 1, 100); "
        "x[: n.bind(i)]), data that change can be given to one program "
        "(plan = compiler.prepare(y); plan.run([data]))"
    )
    (count,) = compiler.cache_info().lines
    assert count.line == f"test_recompiled.py:{warned.lineno}" and count.programs == 3 * MANY


def test_what_the_hint_says_is_compiled_once() -> None:
    n = compiler.Variable("n", 1, 100)
    plan = compiler.prepare((X * 2).sum())
    compiler.cache_clear()
    for i in range(2 * MANY):
        assert (X[: n.bind(i + 1)] * 2).sum().item() == i * (i + 1)
        assert plan.run([np.full(100, float(i))])[0] == 200 * i
    assert compiler.cache_info().schedules.misses == 1


def test_numbers_that_differ_are_not_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(3 * MANY):
            (X + float(i)).numpy()


def test_a_function_that_runs_other_lines_is_not_told() -> None:
    def run(value: Tensor) -> None:
        value.numpy()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for i in range(MANY - 2):
            run((X[: i + 1] * 2).sum())
            run((X[: i + 1] * 3).exp())
    assert all(row.programs == MANY - 2 for row in compiler.cache_info().lines)


def test_lines_used_longest_ago_are_forgotten() -> None:
    lines = Lines(2)
    nodes = [(X + float(i)).node for i in range(2)]
    for _ in range(2):
        with lines.compiling(nodes):
            pass
    assert lines.most() == () and KEPT > 2, "nobody's line asked for the data"
