"""Programs that `compile` and `prepare` take: tensors, lists, functions and their inputs."""

import inspect
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile, prepare
from tests.pages import page

A = np.arange(4, dtype=np.float32).reshape(2, 2)


def both(x: Any, y: Any) -> tuple[Any, Any]:
    return x + y, x * y


@pytest.mark.parametrize("make", [compile, prepare])
@pytest.mark.parametrize("form", ["one by one", "list", "tuple", "function", "arrays", "nested"])
def test_forms(make: Any, form: str) -> None:
    x = Tensor(A)
    given: dict[str, tuple[Any, ...]] = {
        "one by one": (x + x, x * x),
        "list": ([x + x, x * x],),
        "tuple": ((x + x, x * x),),
        "nested": ([x + x], [x * x]),
        "function": (both, x, x),
        "arrays": (both, A, x),
    }
    for options in ({}, {"options": Options(loops="plain")}):
        results = make(*given[form], **options).run()
        assert [r.tolist() for r in results] == [(A + A).tolist(), (A * A).tolist()]
    last = make(*given[form], Options(loops="plain"))
    assert last.options.loops == "plain" and len(last.run()) == 2


def test_pages() -> None:
    x = Tensor(A)
    assert page(lambda: compile(both, x)) == [
        "compile: the function needs other inputs: missing a required argument: 'y'",
        f"  got:      1 inputs for both{inspect.signature(both)}",
        "  expected: one example for each argument",
        "  hint:     give them after it: compile(function, x, …)",
    ]
    assert page(lambda: compile(x, Options(), options=Options()))[0] == (
        "compile: options are given twice"
    )
    assert page(lambda: compile())[0] == "compile: nothing to compile"
    assert page(lambda: compile(lambda t: t.numpy(), x))[:2] == [
        "compile: only tensors can be compiled", "  got:      ndarray",
    ]  # fmt: skip
    assert page(lambda: prepare(x, 5))[0] == "compile: these are no options"


def test_a_name_may_follow_the_options() -> None:
    x = Tensor(A)
    assert compile(x + 1, Options(), "first").name == "first"
    assert compile(x + 1, None, "second").name == "second"
    assert compile(both, A, x, Options(), "third").name == "third"
