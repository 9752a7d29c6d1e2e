"""Concatenation of many tensors in groups; groups of equal shapes share a kernel."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, Variable
from compiler.graph.kinds.joins import AT_ONCE
from tests.evaluate import evaluate, every_engine

ARRAYS = [np.array([[k, -0.0, np.nan]], np.float32) for k in range(AT_ONCE**2 + AT_ONCE + 3)]


def joined(count: int, dim: int = 0) -> Tensor:
    first, *rest = map(Tensor, ARRAYS[:count])
    return first.cat(*rest, dim=dim)


def assert_joined(got: np.ndarray, count: int, dim: int = 0) -> None:
    expected = np.concatenate(ARRAYS[:count], dim)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))


@every_engine
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("count", [1, AT_ONCE, AT_ONCE + 1, 2 * AT_ONCE + 3])
def test_any_number_of_operands(count: int, dim: int, engine: str) -> None:
    assert_joined(evaluate(joined(count, dim), engine), count, dim)


def test_kernels_of_many_operands_are_few_and_small() -> None:
    """Ten times the operands: ten times the calls, no more kernels of no more code."""
    few, many = (
        compiler.compile(joined(count), Options(trace=False)) for count in (28, len(ARRAYS))
    )
    assert_joined(many.run()[0], len(ARRAYS))
    assert len(few.schedule.items) == 3
    assert len(many.schedule.items) == -(-len(ARRAYS) // AT_ONCE) + 2 + 1
    assert len(many.source) <= 5
    lines = [max(len(source.rows) for source in made.source) for made in (few, many)]
    assert lines[1] < 1.5 * lines[0] < 15 * AT_ONCE * 1.5


def test_parts_of_other_shapes_with_empty_ones_between() -> None:
    rng = np.random.default_rng(3)
    arrays = [rng.integers(-9, 9, size=(3, k % 4, 2)).astype(np.int16) for k in range(70)]
    first, *rest = map(Tensor, arrays)
    np.testing.assert_array_equal(first.cat(*rest, dim=1).numpy(), np.concatenate(arrays, 1))


def test_what_is_joined_is_computed_in_the_kernels_that_join() -> None:
    first, *rest = (Tensor(array) * 2 for array in ARRAYS[: 2 * AT_ONCE])
    made = compiler.compile(first.cat(*rest) + 1)
    assert len(made.schedule.items) == 3
    np.testing.assert_array_equal(made.run()[0], np.concatenate(ARRAYS[: 2 * AT_ONCE]) * 2 + 1)


def test_in_shards_in_loops_and_of_variable_extent() -> None:
    arrays = [np.full((4, 6), k, np.float32) for k in range(AT_ONCE + 4)]
    first, *rest = (Tensor(array).shard(("CPU:0", "CPU:1"), axis=1) for array in arrays)
    np.testing.assert_array_equal(first.cat(*rest).numpy(), np.concatenate(arrays))
    n = Variable("n", 1, 9)
    first, *rest = (Tensor(array, symbolic={0: n}) for array in arrays)
    np.testing.assert_array_equal(first.cat(*rest, dim=1).numpy(), np.concatenate(arrays, 1))

    def step(_: Tensor, state: Tensor) -> Tensor:
        return state.cat(*(state + float(k) for k in range(AT_ONCE + 3)), dim=0)[1:5]

    state = arrays[0]
    for _ in range(3):
        state = np.concatenate([state, *(state + k for k in range(AT_ONCE + 3))])[1:5]
    np.testing.assert_array_equal(compiler.repeat(3, step, Tensor(arrays[0])).numpy(), state)
