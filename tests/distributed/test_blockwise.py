"""`blockwise`: functions over the chunks of Dask arrays, compared with NumPy."""

from collections.abc import Callable
from typing import Any

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import compiler
from compiler import DataError, ShapeError, Tensor
from compiler.distributed.blockwise import Blockwise, blockwise

RNG = np.random.default_rng(11)
Array = np.ndarray[Any, Any]


def numbers(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


def check(made: Any, expected: Array) -> None:
    assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
    found = made.compute(scheduler="sync")
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def step(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return (a * b + c).relu().sum(1)


A, B, C = numbers(100, 12), numbers(100, 12), numbers(12)
CUT = da.from_array(A, chunks=(30, 12))


def test_arrays_that_are_cut_differently_are_cut_alike() -> None:
    made = compiler.blockwise(step)
    result = made(CUT, da.from_array(B, chunks=(64, 12)), C)
    assert result.chunks == ((30, 30, 4, 26, 10),) and repr(made) == "blockwise(step)"
    check(result, np.maximum(A * B + C, 0).sum(1))


def test_weights_numbers_and_new_axes() -> None:
    weights = Tensor(numbers(12, 5))
    product = blockwise(lambda x, scale: (x @ weights * scale).tanh())(CUT, 0.5)
    assert product.chunks == ((30, 30, 30, 10), (5,))
    check(product, np.tanh(A @ weights.numpy() * np.float32(0.5)))
    check(blockwise(lambda x: x.unsqueeze(0).expand(3, *x.shape))(CUT), np.stack([A] * 3))
    square = da.from_array(A, chunks=(30, 5))
    turned = da.from_array(B.T.copy(), chunks=(4, 100))
    check(blockwise(lambda x, y: x.T - y)(square, turned), A.T - B.T)


def test_results_feed_dask_and_functions_feed_each_other() -> None:
    first = blockwise(lambda x: x.exp())(CUT)
    second = blockwise(lambda x, y: (x + y).sum(1))(first, da.sqrt(first))
    check(second, (np.exp(A) + np.sqrt(np.exp(A))).sum(1))
    check(second.mean(keepdims=True), (np.exp(A) + np.sqrt(np.exp(A))).sum(1).mean(keepdims=True))


@pytest.mark.parametrize(("function", "why", "hint"), [
    (lambda x: x - x.sum(0), "axis 0 of argument 0 is cut, and sum needs all of it", "{0: -1}"),
    (lambda x: x.flip(0), "axis 0 of argument 0 is cut, and flip needs", "{0: -1}"),
    (lambda x: x - x[0], "axis 0 of argument 0 is cut, and shrink needs", "{0: -1}"),
    (lambda x: x.reshape(-1), "axis 0 of argument 0 is cut, and reshape needs", "{0: -1}"),
    (lambda x: x / x.shape[0], "reads the size of an axis that is cut", "as numbers"),
])  # fmt: skip
def test_what_blocks_do_not_know_is_refused(
    function: Callable[[Tensor], Tensor], why: str, hint: str
) -> None:
    with pytest.raises(DataError) as caught:
        blockwise(function)(CUT)
    assert why in str(caught.value) and hint in str(caught.value)
    assert "test_blockwise.py" in str(caught.value)
    whole = da.from_array(A, chunks=(100, 6 if "flip" in why else 12))
    assert blockwise(function)(whole).compute(scheduler="sync").size  # all of it is there


@pytest.mark.parametrize(("given", "error", "why"), [
    ((CUT, "x", C), DataError, "this is no array"),
    ((1.0, 2.0, 3.0), DataError, "there is no array"),
    ((CUT, B[:50], C), ShapeError, "shapes"),
    ((CUT, CUT, CUT[:, 0]), ShapeError, "shapes"),
])  # fmt: skip
def test_bad_arguments_are_refused(given: tuple[Any, ...], error: type, why: str) -> None:
    with pytest.raises(error, match=why):
        blockwise(step)(*given)


def test_bad_functions_are_refused() -> None:
    with pytest.raises(DataError, match="this is not a function"):
        blockwise(3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match="returns no tensor"):
        blockwise(lambda x: 3)(CUT)  # type: ignore[arg-type, return-value]
    with pytest.raises(DataError, match="does not depend on argument 1"):
        blockwise(lambda x, y: x)(CUT, CUT)


OPERATIONS: list[Callable[[Tensor, Tensor], Tensor]] = [
    lambda x, y: x + y, lambda x, y: (x * y).sum(0, keepdim=True) + x, lambda x, y: x @ y.T @ y,
    lambda x, y: x.softmax(1) * y, lambda x, y: x.cumsum(1) - y, lambda x, y: x.flip(1).maximum(y),
    lambda x, y: x.pad(((0, 0), (1, 1)))[:, 2:] + y, lambda x, y: x.roll(1, 0) * y,
    lambda x, y: x.reshape(4, 3, -1).mean(1).repeat_interleave(3, 0) - y,
    lambda x, y: x.gt(y).where(x, -y),
    lambda x, y: x - x.mean(1, keepdim=True) * y.max(1, keepdim=True),
    lambda x, y: x.argsort(1).cast("float32") + y,
    lambda x, y: (x.T.unsqueeze(1) * y.T.unsqueeze(0)).sum(0).T + x,
]  # fmt: skip


def test_random_programs_are_right_or_refused() -> None:
    """Programs of two or three operations, in random blocks: what is not refused is the same as
    the function on all of the arrays at once."""
    random, outcomes = np.random.default_rng(5), {True: 0, False: 0}
    for _ in range(60):
        chosen = [OPERATIONS[n] for n in random.integers(0, len(OPERATIONS), 2)]

        def program(x: Tensor, y: Tensor, chosen: list[Any] = chosen) -> Tensor:
            for each in chosen:
                x = each(x, y)
            return x

        x, y = numbers(12, 12), numbers(12, 12)
        cuts = [tuple(int(random.choice(n)) for n in ([4, 5, 12], [6, 12, 12, 12, 12, 12]))
                for _ in range(2)]  # fmt: skip
        try:
            expected = program(Tensor(x), Tensor(y)).numpy()
        except compiler.CompileError:
            continue
        try:
            made = blockwise(program)(*map(da.from_array, (x, y), cuts))
        except DataError as error:
            assert "is cut" in str(error)
            outcomes[False] += 1
            continue
        np.testing.assert_allclose(made.compute(scheduler="sync"), expected, rtol=1e-4, atol=1e-4)
        outcomes[True] += 1
    assert min(outcomes.values()) >= 8, outcomes


def test_processes_of_a_cluster_get_the_program_and_not_the_data() -> None:
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, \
            Client(cluster) as client:  # fmt: skip
        a = da.random.default_rng(1).random((4000, 64), chunks=(500, -1), dtype="float32").persist()
        made = blockwise(lambda x: (x * 2 + 1).sum(1))(a)
        found, all_of_a = client.compute([made, a], sync=True)
        np.testing.assert_allclose(found, (all_of_a * 2 + 1).sum(1), rtol=1e-5)
        counts = client.run(lambda: compiler.cache_info().schedules.misses)
        assert max(counts.values()) <= 1  # one program for blocks of one size


def test_it_is_a_function_with_a_name() -> None:
    made = blockwise(step)
    assert isinstance(made, Blockwise) and made.__name__ == "step"  # type: ignore[attr-defined]
    assert made(CUT, B, C).name.startswith("step-")


def test_equal_calls_have_one_name_and_others_another() -> None:
    def named(weight: float, x: Any = CUT) -> str:
        weights = Tensor(np.full(12, weight, np.float32))
        return str(blockwise(lambda x: x * weights)(x).name)

    assert named(1.0) == named(1.0)
    assert len({named(1.0), named(2.0), named(1.0, CUT + 1)}) == 3
