"""A step for each row of a sequence: a counted loop equals unrolled steps."""

import numpy as np
import pytest

from compiler import Tensor, Variable
from compiler.core.node import toposort
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Contiguous
from compiler.imported import steps
from compiler.imported.steps import MOST_WRITTEN_OUT, State, in_steps, laid_out

DATA = np.random.default_rng(3).standard_normal((MOST_WRITTEN_OUT + 3, 2, 4)).astype(np.float32)


def run(x: Tensor, is_backwards: bool) -> tuple[Tensor, State]:
    """Sums so far, of which the rows are twice."""

    def step(place: Tensor | int, state: State) -> tuple[State, Tensor]:
        new = state[0].mul(0.5).add(x[place])
        return (new, state[1].sub(new)), new.mul(2)

    first = Tensor.zeros(1, 4, dtype=x.dtype).expand(x.symbolic_shape[1], 4)
    return in_steps(x.shape[0], step, (first, first.add(1)), is_backwards)


@pytest.mark.parametrize("count", (1, MOST_WRITTEN_OUT, MOST_WRITTEN_OUT + 3))
@pytest.mark.parametrize("is_backwards", (False, True))
def test_rows_and_last_states(count: int, is_backwards: bool) -> None:
    rows, states = run(Tensor(DATA[:count]), is_backwards)
    loops = [n for n in toposort([rows.node]) if isinstance(n, Repeat)]
    assert bool(loops) is (count > MOST_WRITTEN_OUT)
    a, b = np.zeros((2, 4), np.float32), np.ones((2, 4), np.float32)
    want = np.zeros_like(DATA[:count])
    for t in reversed(range(count)) if is_backwards else range(count):
        a = a * np.float32(0.5) + DATA[t]
        b, want[t] = b - a, a * 2
    for got, expected in zip((rows, *states), (want, a, b), strict=True):
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6)


def test_an_axis_with_a_variable_is_written_out() -> None:
    x = Tensor(DATA[:, :1], symbolic={1: Variable("n", 1, 2)})
    rows, _ = run(x, False)
    assert not [n for n in toposort([rows.node]) if isinstance(n, Repeat)]
    assert steps.stacked([Tensor([1.0])]).shape == (1, 1)


@pytest.mark.parametrize(("n", "count", "rows", "is_laid_out"), [
    (64, 9, 3, True), (64, 8, 3, False), (60, 9, 3, False), (64, 9, 17, False),
])  # fmt: skip
def test_weights_of_many_steps_are_laid_out_once(
    n: int, count: int, rows: int, is_laid_out: bool
) -> None:
    weights = np.random.default_rng(1).standard_normal((n, 5)).astype(np.float32)
    made = laid_out(Tensor(weights), count, rows)
    assert any(isinstance(node, Contiguous) for node in toposort([made.node])) == is_laid_out
    np.testing.assert_array_equal(made.numpy(), weights)
