"""`from_jax`: how programs are called, what is refused, where nodes come from."""

import inspect
import math
from typing import Any

import jax
import jax.experimental
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import compiler
from compiler import DataError, DTypeError, ShapeError, Tensor
from compiler.core.node import toposort
from compiler.device.buffers import data
from compiler.imported.constants import computed, leaves

WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3) / 10


def layer(params: Any, x: Any) -> Any:
    with jax.named_scope("linear"):
        h = x @ params["w"]
    return jax.nn.relu(h + params["b"])


PARAMS = {"w": WEIGHT, "b": np.ones(3, np.float32)}
X = np.ones((2, 4), np.float32)
EXPECTED = np.maximum(X @ WEIGHT + 1, 0)


def test_a_program_tells_what_it_takes_and_gives() -> None:
    program = compiler.from_jax(layer, PARAMS, x=X)
    assert repr(program) == (
        "JaxProgram(layer(params.b: f32[3], params.w: f32[4,3], x: f32[2,4]) -> f32[2,3]; "
        "6 equations)"
    )
    np.testing.assert_allclose(program(PARAMS, x=X).numpy(), EXPECTED)
    assert [node.name for node in leaves(program(PARAMS, x=X))] == ["x", "params.w", "params.b"]
    assert compiler.compile(program(PARAMS, x=X)).check().ok


def test_examples_are_arrays_structs_tensors_and_numbers() -> None:
    struct = jax.ShapeDtypeStruct((2, 4), np.float32)
    for example in (X, jnp.asarray(X), struct, Tensor(X)):
        program = compiler.from_jax(layer, PARAMS, example)
        for value in (X, jnp.asarray(X), Tensor(X), X.astype(np.float64)):
            np.testing.assert_allclose(program(PARAMS, value).numpy(), EXPECTED)
    power = compiler.from_jax(lambda x, n: x * n, X, 3)
    np.testing.assert_array_equal(power(X, 5).numpy(), X * 5)


def test_results_have_the_containers_of_the_function() -> None:
    program = compiler.from_jax(lambda x: {"a": x, "b": (x.sum(), [x * 2])}, X)
    made = program(X)
    assert sorted(made) == ["a", "b"]
    assert made["b"][0].item() == 8 and made["b"][1][0].shape == (2, 4)


def test_one_program_runs_on_other_data() -> None:
    x = Tensor(X)
    plan = compiler.compile(compiler.from_jax(layer, PARAMS, X)(PARAMS, x))
    (got,) = plan.run({x: X * 2})
    np.testing.assert_allclose(got, np.maximum(X * 2 @ WEIGHT + 1, 0), rtol=1e-6)


def test_constants_share_their_memory() -> None:
    table = jnp.arange(1000.0)
    program = compiler.from_jax(lambda x: x @ table, np.ones((2, 1000), np.float32))
    made = program(np.ones((2, 1000), np.float32))
    (constant,) = (n for n in leaves(made) if n.shape == (1000,))
    assert data(constant).ctypes.data == table.unsafe_buffer_pointer()
    np.testing.assert_allclose(made.numpy(), [499500.0] * 2)


def test_all_that_is_not_supported_is_told_at_once() -> None:
    def f(x: Any) -> Any:
        y = jnp.linalg.svd(x)[1] + lax.bessel_i0e(x[0])
        return y + lax.bessel_i0e(x[1])

    first = inspect.getsourcelines(f)[1]
    with pytest.raises(DataError, match="primitives are not supported") as caught:
        compiler.from_jax(f, np.ones((3, 3), np.float32))
    page = str(caught.value)
    assert f"2 × bessel_i0e (test_program.py:{first + 1}, test_program.py:{first + 2})" in page
    assert f"1 × svd (test_program.py:{first + 1})" in page


def test_types_that_are_not_supported_are_told() -> None:
    with pytest.raises(DataError, match="elements of type complex64"):
        compiler.from_jax(lambda x: x, np.ones(3, np.complex64))
    with pytest.raises(DataError, match="keys of the generator rbg"):
        compiler.from_jax(jax.random.normal, jax.random.key(0, impl="rbg"))


def test_a_loop_of_unknown_length_names_its_line() -> None:
    def f(x: Any) -> Any:
        return lax.while_loop(lambda x: x < 9, lambda x: x * 2, x)

    with pytest.raises(DataError, match="known only when the program runs") as caught:
        compiler.from_jax(f, 1.0)
    assert "lax.while_loop(lambda x: x < 9" in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda p: p(PARAMS), DataError, "not like the examples"),
        (lambda p: p([1], X), DataError, "not like the examples"),
        (lambda p: p(PARAMS, X[:1]), ShapeError, "x has another shape than its example"),
        (lambda p: p(PARAMS, X.astype(np.int32)), DTypeError, "x has another type"),
        (lambda p: p(PARAMS, 1.0), ShapeError, "x has another shape"),
    ],
)
def test_wrong_calls(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call(compiler.from_jax(layer, PARAMS, X))


def test_what_is_no_function() -> None:
    with pytest.raises(DataError, match="this is not a function"):
        compiler.from_jax(3, X)  # type: ignore[arg-type]


def test_nodes_come_from_the_lines_of_the_function() -> None:
    first = inspect.getsourcelines(layer)[1]
    made = compiler.from_jax(layer, PARAMS, X)(PARAMS, X)
    lines = {
        (node.origin.method, node.origin.line)
        for node in toposort([made.node])
        if node.origin is not None and node.origin.file == __file__
    }
    assert {("dot_general", first + 2), ("add", first + 3)} <= lines
    assert first + 3 in {line for method, line in lines if method not in ("add", "dot_general")}
    listing = compiler.compile(made).user_source
    assert any("h = x @ params" in row.text and row.entity for row in listing.rows)


def test_scopes_are_those_that_jax_names() -> None:
    @jax.jit
    def block(x: Any) -> Any:
        return jnp.sin(x) * 2

    def f(x: Any) -> Any:
        with jax.named_scope("first"):
            x = block(x)
        return block(x).sum()

    paths = set()
    for node in toposort([compiler.from_jax(jax.grad(f), X)(X).node]):
        if node.origin is not None and node.origin.module is not None:
            paths.add(node.origin.module.path)
    assert "jvp(first).block" in paths
    assert any(path.startswith("transpose(jvp(first))") for path in paths)


def test_a_loop_is_repeated_and_not_written_out() -> None:
    def f(x: Any) -> Any:
        return lax.fori_loop(0, 1000, lambda i, x: x * 0.5 + i, x)

    made = compiler.from_jax(f, X)(X)
    kinds = [type(node).__name__ for node in toposort([made.node])]
    assert kinds.count("Repeat") == 1 and len(kinds) < 60
    (got,) = computed([made])
    np.testing.assert_allclose(got, f(X), rtol=1e-6)


def test_64_bits_where_jax_has_them() -> None:
    home = jax if hasattr(jax, "enable_x64") else jax.experimental
    with home.enable_x64(True):
        x = np.linspace(0.1, 2, 5)
        f = jax.grad(lambda x: (lax.lgamma(x) * lax.erf_inv(x / 3)).sum())
        made = compiler.from_jax(f, x)(x)
        assert made.dtype == np.float64
        np.testing.assert_allclose(made.numpy(), f(x), rtol=1e-9)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "float8_e5m2", "int4", "uint4"])
def test_types_of_storage(dtype: str) -> None:
    def f(x: Any) -> Any:
        return x.astype(dtype).astype("float32") * 2, x.astype(dtype)

    x = np.linspace(-3, 3, 9, dtype=np.float32)
    for got, wanted in zip(compiler.from_jax(f, x)(x), f(jnp.asarray(x)), strict=True):
        assert got.dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(got.numpy().astype("f4"), np.asarray(wanted).astype("f4"))


def test_a_key_is_an_input() -> None:
    program = compiler.from_jax(lambda key: jax.random.bits(key, (4,)), jax.random.key(0))
    for seed in (0, 7):
        key = jax.random.key(seed)
        np.testing.assert_array_equal(program(key).numpy(), jax.random.bits(key, (4,)))


def test_random_numbers_are_those_of_jax_on_machine_code() -> None:
    program = compiler.from_jax(lambda key: jax.random.normal(key, (1000,)), jax.random.key(3))
    got = program(jax.random.key(3)).numpy()
    np.testing.assert_allclose(got, jax.random.normal(jax.random.key(3), (1000,)), rtol=1e-5)
    assert math.isclose(got.std(), 1, abs_tol=0.1)
