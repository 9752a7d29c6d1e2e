"""Derivatives of functions: `grad`, `value_and_grad`, `vjp`, `jvp`."""

import numpy as np
import pytest

import compiler
from compiler import DataError, GradientError, ShapeError, Tensor

X = np.array([0.5, 1.5, -1.0])


def test_grad() -> None:
    slope = compiler.grad(lambda x: (x**3).sum())
    np.testing.assert_allclose(slope(X).numpy(), 3 * X**2)
    curve = compiler.grad(lambda x: slope(x).sum())
    np.testing.assert_allclose(curve(X).numpy(), 6 * X)
    assert compiler.grad(lambda x: compiler.grad(lambda y: (y * y * y).sum())(x).sum())(
        Tensor(2.0)
    ).item() == 12


def test_a_value_used_from_around_is_no_argument() -> None:
    x = Tensor(X)
    np.testing.assert_array_equal(compiler.grad(lambda a: (a * x).sum())(x).numpy(), X)
    inner = compiler.grad(lambda a: (a * (x * a)).sum())
    np.testing.assert_allclose(compiler.grad(lambda b: (inner(b) * b).sum())(x).numpy(), 4 * X * X)


def test_arguments_in_dicts_and_several_arguments() -> None:
    def loss(parameters: dict[str, Tensor], x: Tensor, power: int = 2) -> Tensor:
        return ((x * parameters["w"] + parameters["b"]) ** power).sum()

    parameters = {"w": np.ones(3), "b": Tensor(0.0)}
    value, slopes = compiler.value_and_grad(loss)(parameters, X)
    assert value.item() == (X**2).sum() and set(slopes) == {"w", "b"}
    np.testing.assert_allclose(slopes["w"].numpy(), 2 * X * X)
    np.testing.assert_allclose(slopes["b"].numpy(), 2 * X.sum())
    both = compiler.grad(loss, argnums=(0, 1))(parameters, X, power=3)
    np.testing.assert_allclose(both[1].numpy(), 3 * X * X)
    slope, rest = compiler.grad(lambda x: ((x * x).sum(), "more"), has_aux=True)(X)
    assert rest == "more" and slope.numpy().tolist() == (2 * X).tolist()


def test_vjp_and_jvp_are_rows_and_columns_of_one_jacobian() -> None:
    a = np.random.default_rng(0).standard_normal((2, 3))

    def f(x: Tensor) -> dict[str, Tensor]:
        y = (Tensor(a) @ x).tanh()
        return {"y": y, "z": y.sum() * x}

    result, pull = compiler.vjp(f, X)
    rows = []
    for place in range(5):
        one = np.eye(5)[place]
        (row,) = pull({"y": Tensor(one[:2]), "z": Tensor(one[2:])})
        rows.append(row.numpy())
    columns = []
    for place in range(3):
        _, change = compiler.jvp(f, (X,), (np.eye(3)[place],))
        columns.append(np.concatenate([change["y"].numpy(), change["z"].numpy()]))
    np.testing.assert_allclose(np.array(rows), np.array(columns).T, rtol=1e-12)
    assert result["y"].shape == (2,)


def test_forward_mode_leaves_nothing_of_the_sweep() -> None:
    x = Tensor(np.ones(8))
    _, change = compiler.jvp(lambda x: x.exp().sin().exp().sum(), (x,), (x,))
    flops = compiler.compile(change).summary()
    assert "sweep" not in str(flops)
    forward = compiler.compile(x.exp().sin().exp().sum())
    count = [len(c.optimized_graph.nodes) for c in (compiler.compile(change), forward)]
    assert count[0] <= 3 * count[1]


def test_refused() -> None:
    with pytest.raises(GradientError, match=r"(?s)not return a single.*test_differentiation.py"):
        compiler.grad(lambda x: x * 2)(X)
    with pytest.raises(GradientError, match="gradients are of floats"):
        compiler.grad(lambda x: x.sum())(np.arange(3))
    with pytest.raises(DataError, match="no such argument"):
        compiler.grad(lambda x: x.sum(), argnums=2)(X)
    with pytest.raises(DataError, match="not a function"):
        compiler.grad(3)  # type: ignore[arg-type]
    with pytest.raises(GradientError, match="returns no tensor"):
        compiler.vjp(lambda x: 3, X)
    with pytest.raises(ShapeError, match="another shape than its tensor"):
        compiler.jvp(lambda x: x * 2, (X,), (X[:2],))
    with pytest.raises(GradientError, match="differ in number"):
        compiler.jvp(lambda x: x * 2, (X,), (X, X))


def test_values_may_be_looked_at_inside() -> None:
    def f(x: Tensor) -> Tensor:
        h = x * x
        h.numpy()
        return (h * x).sum()

    np.testing.assert_allclose(compiler.grad(f)(X).numpy(), 3 * X**2)
