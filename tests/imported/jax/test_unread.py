"""Parameters of equations are read, or refused where they could change the result."""

from typing import Any

import numpy as np
import pytest

import compiler
import compiler.imported.jax.program  # (it fills the table)
from compiler import Tensor
from compiler.core.errors import DataError, GradientError
from compiler.imported.jax.call import PRIMITIVES, Call
from compiler.imported.jax.unread import UNCHANGED, USUAL, check_unread


def call(op: str, **parameters: Any) -> Call:
    walker: Any = None
    return Call(op, parameters, (), (), walker)


def test_a_parameter_that_nobody_reads_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        check_unread(call("mul", out_dtype="float64"))
    error = caught.value
    assert error.operation == "from_jax"
    assert error.problem.startswith("mul: the argument out_dtype ")
    assert (error.got, error.expected) == ("out_dtype=float64", "out_dtype=None")


@pytest.mark.parametrize("value", [None, False, ()])
def test_what_says_nothing_is_taken(value: Any) -> None:
    check_unread(call("mul", out_dtype=value))


def test_what_was_read_is_taken() -> None:
    one = call("cumsum", axis=1, reverse=True)
    assert (one["axis"], one.get("reverse")) == (1, True)
    check_unread(one)


def test_keys_are_of_the_generator_that_is_known() -> None:
    check_unread(call("random_wrap", impl="fry"))
    with pytest.raises(DataError, match="impl"):
        check_unread(call("random_wrap", impl="rbg"))


def test_what_cannot_change_a_value_is_taken() -> None:
    check_unread(call("dot_general", precision="HIGHEST", out_sharding="here"))
    check_unread(call("jit", inline=True, name="f", donated_invars=(True,)))


def test_reasons_are_of_primitives_that_exist() -> None:
    of_one = {key.partition(".")[0] for key in (*UNCHANGED, *USUAL) if "." in key}
    assert of_one - set(PRIMITIVES) <= {"shard_map"}


def test_stop_gradient_and_derivatives_of_the_user() -> None:
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    @jax.custom_vjp
    def straight(x: Any) -> Any:
        return jnp.round(x)

    straight.defvjp(lambda x: (jnp.round(x), None), lambda _, g: (g,))
    data = np.array([0.25, -1.75, 0.0], np.float32)
    for f in (lambda x: x * jax.lax.stop_gradient(x), jax.nn.relu, jax.nn.relu6):
        x = Tensor(data, requires_grad=True)
        compiler.from_jax(f, data)(x).sum().backward()
        assert x.grad is not None
        wanted = jax.grad(lambda x, f=f: f(x).sum())(data)
        np.testing.assert_allclose(x.grad.numpy(), wanted, rtol=1e-6)
    x = Tensor(data, requires_grad=True)
    y = compiler.from_jax(straight, data)(x)
    np.testing.assert_array_equal(y.numpy(), np.round(data))
    y.sum().backward()
    assert x.grad is not None
    with pytest.raises(GradientError, match="derivative of its own"):
        x.grad.numpy()
