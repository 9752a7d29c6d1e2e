"""The namespace: found from a tensor, complete, lazy, and imported on first use."""

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.graph.nodes import Buffer
from tests.pages import page

xp = compiler.array_api
ABSENT = {"fft", "complex64", "complex128"}


def test_a_tensor_names_it() -> None:
    x = Tensor([1.0, 2.0])
    assert x.__array_namespace__() is xp
    assert x.__array_namespace__(api_version="2022.12") is xp
    assert page(lambda: x.__array_namespace__(api_version="1999.12"))[:2] == [
        "__array_namespace__: no such version of the array API",
        "  got:      '1999.12'",
    ]
    assert xp.__array_api_version__ == "2024.12"


def test_it_has_what_numpys_namespace_has_of_the_standard() -> None:
    known = {name for name in xp.__all__ if hasattr(np, name)}
    own = {"cumulative_prod", "cumulative_sum", "__array_api_version__"}
    assert set(xp.__all__) - known <= {"__array_namespace_info__", *own}
    assert all(getattr(xp, name) is not None for name in xp.__all__ if name != "newaxis")
    assert not any(hasattr(xp, name) for name in ABSENT)


def test_nothing_loads_it_unasked() -> None:
    program = "from compiler import Tensor; Tensor([1.0]).exp(); import sys; print(*sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0 and "compiler.tensor" in ended.stdout.split()
    assert not [name for name in ended.stdout.split() if name.startswith("compiler.array_api")]


def test_calls_are_lazy_and_carry_the_users_line() -> None:
    made = xp.mean(xp.exp(xp.asarray([1.0, 2.0])), axis=0)
    assert not isinstance(made.node, Buffer)
    assert made.node.origin is not None and made.node.origin.file == __file__
    assert made.node.origin.method == "mean"


@pytest.mark.parametrize(("wrong", "got"), [(lambda: xp.exp(1.0), "float"),
                                            (lambda: xp.add(1, 2), "int")])  # fmt: skip
def test_a_number_is_no_array(wrong: Callable[[], object], got: str) -> None:
    assert page(wrong)[1:4] == [
        f"  got:      {got}", "  expected: a tensor", "  hint:     xp.asarray(data) makes one",
    ]  # fmt: skip


def test_a_compiled_program_of_the_namespace() -> None:
    data = np.arange(6.0).reshape(2, 3)
    x = xp.asarray(data)
    program = compiler.compile(xp.sum(xp.multiply(x, 2.0), axis=1))
    (result,) = program.run()
    np.testing.assert_array_equal(result, (data * 2).sum(1))


@pytest.mark.parametrize("kind", ["bool", "int", "float", "complex", "index"])
def test_a_tensor_of_one_element_is_a_number(kind: str) -> None:
    match kind:
        case "complex":
            assert complex(Tensor(2.5)) == 2.5 + 0j
        case "index":
            assert [10, 20, 30][Tensor(1)] == 20
        case "bool":
            assert bool(Tensor(0.5)) and 3 in Tensor([1, 3]) and 4 not in Tensor([1, 3])
        case "int":
            assert int(Tensor(3)) == 3
        case "float":
            assert float(Tensor(2.5)) == 2.5
