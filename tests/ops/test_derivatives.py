"""Every row of the operation tables that has a derivative, against central differences."""

import numpy as np
import pytest

from compiler import Tensor
from compiler.graph.kinds.effects import Scatter
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import Reduce, elementwise
from compiler.ops.row import Op
from compiler.ops.table import OPS, REDUCTIONS
from compiler.ops.updates import UPDATES
from tests.differences import assert_gradients, values

ROWS = [row for row in OPS.values() if "float" in row.accepts]


def drawn(row: Op, count: int) -> list[np.ndarray]:
    """Operands from the row's domain, where it is smooth and of moderate size."""
    low, high = (max(row.domain[0], -3.0), min(row.domain[1], 3.0))
    generator = np.random.default_rng(len(row.name))
    inside = (low + 0.1 * (high - low), high - 0.1 * (high - low))
    return [generator.uniform(*inside, 5) for _ in range(count)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_rows(row: Op) -> None:
    assert row.derivative is not None, f"{row.name}: a row for floats says its derivative"
    if row.result == "bool":
        assert row.derivative == ()
        return
    given = drawn(row, row.arity - row.has_condition)
    chosen = [Tensor(np.array([True, False, True, True, False])).node] * row.has_condition
    assert_gradients(
        lambda *xs: Tensor._of(elementwise(row.name, *chosen, *(x.node for x in xs))), *given
    )


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axes", [(0,), (0, 1), (1, 2)], ids=str)
def test_reductions(name: str, axes: tuple[int, ...]) -> None:
    x = np.random.default_rng(1).uniform(-2, 2, (2, 3, 2))
    assert_gradients(lambda x: Tensor._of(Reduce((x.node,), name, axes)), x)


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(name: str, axis: int) -> None:
    x = np.random.default_rng(2).uniform(-2, 2, (4, 3))
    assert_gradients(lambda x: Tensor._of(Scan((x.node,), name, axis)), x)


@pytest.mark.parametrize("zeros", [(), (1,), (0, 2), (3,)], ids=str)
@pytest.mark.parametrize("method", ["prod", "cumprod"])
def test_products_with_zeros(method: str, zeros: tuple[int, ...]) -> None:
    x = np.array([1.5, -0.5, 2.0, 3.0])
    x[list(zeros)] = 0
    assert_gradients(lambda x: getattr(x, method)(0), x)
    assert_gradients(lambda x: getattr(x, method)(1), x.reshape(2, 2))


@pytest.mark.parametrize("method", ["prod", "cumprod"])
@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 3)], ids=str)
def test_products_of_nothing(method: str, shape: tuple[int, ...]) -> None:
    x = Tensor(np.zeros(shape))
    y = getattr(x, method)(0)
    first = y.sum().gradient(x)
    second = (first * 2).sum().gradient(x)
    assert first.numpy().shape == second.numpy().shape == shape


@pytest.mark.parametrize("name", [row.name for row in UPDATES.values() if row.passes])
def test_updates(name: str) -> None:
    generator = np.random.default_rng(3)
    x, u = generator.uniform(-2, 2, (4, 2)), generator.uniform(-2, 2, (3, 2))
    rows = Tensor(np.array([[1, 1], [3, 1], [1, 9]])).node  # one place twice, one outside
    columns = Tensor(np.array([[0, 1], [0, 1], [0, 0]])).node
    assert_gradients(lambda x, u: Tensor._of(Scatter((x.node, u.node, rows, columns), name)), x, u)


# --- kinks and ties: PyTorch's values -------------------------------------------------------


def slope(y: Tensor, x: Tensor) -> np.ndarray:
    found: np.ndarray = values(y.sum().gradient(x))[0]
    return found


def test_kinks() -> None:
    x = Tensor(np.array([-1.0, 0.0, 2.0]))
    assert slope(x.abs(), x).tolist() == [-1, 0, 1]
    assert slope(x.relu(), x).tolist() == [0, 0, 1]
    assert slope(x.sign() + x.floor(), x).tolist() == [0, 0, 0]
    root = Tensor(np.array([0.0, 4.0]))
    assert slope(root.sqrt(), root).tolist() == [np.inf, 0.25]
    assert slope(x**0, x).tolist() == [0, 0, 0]
    assert slope(Tensor(np.zeros(1)) ** x[1:2], x).tolist() == [0, 0, 0]


def test_ties_share() -> None:
    a, b = Tensor(np.array([1.0, 2.0])), Tensor(np.array([1.0, 3.0]))
    assert slope(a.maximum(b), a).tolist() == [0.5, 0]
    assert slope(a.minimum(b), b).tolist() == [0.5, 0]
    row = Tensor(np.array([3.0, 1.0, 3.0]))
    assert slope(row.max(), row).tolist() == [0.5, 0, 0.5]
    running = Tensor(np.array([1.0, 1.0, 0.0, 2.0]))
    assert slope(Tensor._of(Scan((running.node,), "max", 0)), running).tolist() == [1, 2, 0, 1]


def test_what_was_not_chosen_gets_nothing() -> None:
    x = Tensor(np.array([0.0, 4.0]))
    made = (x > 0).where(x.sqrt().log(), 0.0)
    assert slope(made, x)[1] == 0.125
    y, z = Tensor(np.array([np.nan, 1.0])), Tensor(np.array([1.0, 2.0]))
    assert slope((z > 1.5).where(y, z), z).tolist() == [1, 0]
    assert slope((z > 1.5).where(z, y * z), y).tolist() == [1, 0]


def test_factors_at_one_place() -> None:
    """`scatter_reduce` by "prod": each gets the product of the others, of zeros too."""
    x, u = np.array([1.5, 0.0, 3.0]), np.array([2.0, 0.0, -3.0, 0.5, 0.0])
    places = np.array([0, 0, 2, 1, 0])
    for zeros in ((), (1,), (1, 4)):
        values_of = u + 1.0
        values_of[list(zeros)] = 0
        assert_gradients(lambda x, u: x.scatter_reduce(0, places, u, "prod"), x, values_of,
                         orders=1)  # fmt: skip
