"""Sharded tensors as users write them: on every engine, and what they move when they run."""

from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler.core import dtypes
from compiler.core.errors import AxisError, DeviceError, ShapeError
from compiler.program.compilation import Compilation
from compiler.run.sharding import Traffic
from compiler.settings.options import Options
from compiler.tensor import Tensor
from examples import shared_network
from tests.evaluate import assert_same, evaluate, every_engine, samples

TWO = ("CPU:0", "CPU:1")
THREE = ("CPU:0", "CPU:1", "CPU:2")
random = np.random.default_rng(5)
X = random.normal(size=(5, 6)).astype("f4")
W = random.normal(size=(6, 4)).astype("f4")
N = random.integers(-9, 9, (4, 3))

Case = tuple[Callable[[], Tensor], Callable[[], np.ndarray]]
PROGRAMS: dict[str, Case] = {
    "elementwise": (lambda: Tensor(X).shard(THREE, 0).exp() + 1, lambda: np.exp(X) + 1),
    "two axes": (lambda: Tensor(X).shard(TWO, 0) - Tensor(X).shard(TWO, 1) * 2, lambda: -X),
    "rows by copies": (lambda: (Tensor(X).shard(TWO, 0) @ Tensor(W).shard(TWO)).relu(),
                       lambda: np.maximum(X @ W, 0)),
    "copies by columns": (lambda: Tensor(X).shard(THREE) @ Tensor(W).shard(THREE, 1),
                          lambda: X @ W),
    "columns by rows": (lambda: Tensor(X).shard(THREE, 1) @ Tensor(W).shard(THREE, 0),
                        lambda: X @ W),
    "softmax along the cut": (lambda: Tensor(N).double().shard(TWO, 1).softmax(1),
                              lambda: np.exp(N) / np.exp(N).sum(1, keepdims=True)),
    "whole numbers": (lambda: Tensor(N).shard(TWO, 0).sum(0) // 4, lambda: N.sum(0) // 4),
    "truth": (lambda: (Tensor(N).shard(TWO, 0) > 3).any(0), lambda: (N > 3).any(0)),
    "moved": (lambda: Tensor(X).shard(TWO, 0).T.flip(1)[1:4, ::2].pad(((1, 0), (0, 2))),
              lambda: np.pad(X.T[:, ::-1][1:4, ::2], ((1, 0), (0, 2)))),
    "selected": (lambda: Tensor(X).shard(TWO, 1)[[4, 0, 4]], lambda: X[[4, 0, 4]]),
    "joined": (lambda: Tensor(X).shard(TWO, 0).cat(Tensor(X).shard(TWO, 1)),
               lambda: np.concatenate((X, X))),
    "sorted": (lambda: Tensor(N).shard(TWO, 1).argmax(0), lambda: N.argmax(0)),
    "running": (lambda: Tensor(N).shard(TWO, 0).cumsum(0), lambda: N.cumsum(0)),
    "more devices than rows": (lambda: Tensor(X[:2]).shard(THREE, 0).max(0), lambda: X[:2].max(0)),
    "no rows": (lambda: Tensor(X[:0]).shard(TWO, 0).sum(0), lambda: X[:0].sum(0)),
    "one number": (lambda: Tensor(2.5).shard(TWO) * 2, lambda: np.float64(5)),
    "to one device and on": (lambda: Tensor(X).shard(TWO, 0).to("CPU:2").sum(1) + 1,
                             lambda: X.sum(1) + 1),
    "clones": (lambda: Tensor(X).shard(TWO, 0).clone() - Tensor(X).shard(TWO, 0), lambda: X - X),
    "constants": (lambda: Tensor.arange(6).shard(TWO, 0).square(), lambda: np.arange(6) ** 2),
}  # fmt: skip


@every_engine
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_in_one_piece(name: str, engine: str) -> None:
    make, expected = PROGRAMS[name]
    assert_same(evaluate(make(), engine), expected(), name, rtol=2e-6, has_signed_zeros=False)


@every_engine
@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_every_bit_is_kept(dtype: dtypes.DType, engine: str) -> None:
    values = samples(dtype).reshape(4, 3)
    x = Tensor(values).shard(THREE, 0)
    assert_same(evaluate(x.flip(0), engine), values[::-1])
    with np.errstate(all="ignore"):
        assert_same(evaluate(x.max(0), engine), values.max(0), has_signed_zeros=False)


def test_check_runs_every_stage_on_shards() -> None:
    x, w = Tensor(X, name="x").shard(TWO, 0), Tensor(W, name="w").shard(TWO)
    made = compiler.compile([(x @ w).relu().sum(0), x + 1], name="shards")
    report = made.check()
    assert report.ok and all(row.ok for row in report.rows), str(report)
    np.testing.assert_array_equal(made.run()[1], X + 1)


# --- where tensors are --------------------------------------------------------------------------


def test_a_sharded_tensor_says_where_it_is() -> None:
    x = Tensor(X).shard(TWO, 0)
    assert x.device == ("CPU", "CPU:1") and x.axis == 0
    first, second = x.shards
    assert (first.device, second.device) == ("CPU", "CPU:1")
    np.testing.assert_array_equal(second.numpy(), X[3:])
    whole = Tensor(W).shard(TWO)
    assert whole.axis is None and [s.shape for s in whole.shards] == [(6, 4)] * 2
    alone = Tensor(X)
    assert alone.device == "CPU" and alone.axis is None and alone.shards == [alone]


def test_realised_shards_stay_on_their_devices() -> None:
    x = (Tensor(X).shard(TWO, 0) * 2).realize()
    assert repr(x) == "Tensor(f32[5,6], in shards on CPU, CPU:1)"
    assert [s.node.device for s in x.shards] == ["CPU", "CPU:1"]
    np.testing.assert_array_equal(x.numpy(), X * 2)
    made = compiler.compile(x + 1)
    assert made.transfers == (Traffic("CPU:1", "CPU", 1, 2 * 6 * 4),)  # gathered, nothing else
    kept = (x + 1).realize()
    np.testing.assert_array_equal(kept.shards[1].numpy(), X[3:] * 2 + 1)
    np.testing.assert_array_equal(np.asarray(kept.shards[0]), X[:3] * 2 + 1)


def test_shards_of_a_tensor_that_is_gone() -> None:
    shards = (Tensor(X.copy()).shard(TWO, 0) + 1).shards
    np.testing.assert_array_equal(shards[1].numpy(), X[3:] + 1)


def test_lanes_run_on_their_own_devices() -> None:
    x = Tensor(X).shard(TWO, 0).realize()
    made = compiler.compile((x.exp() * 2).contiguous().sum())
    kernels = [i.operation for i in made.schedule.items if i.operation.name != "copy"]
    assert {k.devices[0] for k in kernels} == {"CPU", "CPU:1"}


def test_wrong_shards_are_refused() -> None:
    x = Tensor(X)
    with pytest.raises(DeviceError, match="a device of its own"):
        x.shard(("CPU", "CPU:0"), 0)
    with pytest.raises(DeviceError, match="no such device"):
        x.shard(("CPU", "GPU"), 0)
    with pytest.raises(AxisError):
        x.shard(TWO, 2)
    with pytest.raises(ShapeError, match="no axis to shard"):
        Tensor(1.0).shard(TWO, 0)
    with pytest.raises(DeviceError, match="CPU, CPU:1 and CPU"):
        x.shard(TWO, 0) + x
    with pytest.raises(DeviceError, match="the numbers of devices and shards differ"):
        x.shard(TWO, 0).to(THREE)


# --- two ways to share a network, and what they move --------------------------------------------

BATCH, INPUTS, HIDDEN, CLASSES = 32, 20, 16, 10
IMAGES = random.normal(size=(BATCH, INPUTS)).astype("f4")
FIRST = random.normal(size=(INPUTS, HIDDEN)).astype("f4")
SECOND = random.normal(size=(HIDDEN, CLASSES)).astype("f4")
EXPECTED = np.maximum(IMAGES @ FIRST, 0) @ SECOND


def moved(made: Compilation) -> tuple[int, int]:
    """Transfers and bytes of one run."""
    return sum(t.transfers for t in made.transfers), sum(t.nbytes for t in made.transfers)


@pytest.mark.parametrize("devices", (TWO, THREE), ids=len)
def test_a_perceptron_with_its_data_in_shards(devices: tuple[str, ...]) -> None:
    x = Tensor(IMAGES).shard(devices, 0).realize()
    first, second = (Tensor(w).shard(devices).realize() for w in (FIRST, SECOND))
    y = (x @ first).relu() @ second
    made = compiler.compile(y)
    np.testing.assert_allclose(made.run()[0], EXPECTED, rtol=1e-4, atol=1e-5)
    assert y.axis == 0 and made.check().ok
    shares = [s.size * 4 for s in y.shards[1:]]
    assert moved(made) == (len(devices) - 1, sum(shares))  # the least: the result, once
    assert moved(compiler.compile(y.shards)) == (0, 0)  # the network itself moves nothing


@pytest.mark.parametrize("devices", (TWO, THREE), ids=len)
def test_a_perceptron_with_its_weights_in_shards(devices: tuple[str, ...]) -> None:
    x = Tensor(IMAGES).shard(devices).realize()
    first, second = (Tensor(w).shard(devices, a).realize() for w, a in ((FIRST, 1), (SECOND, 0)))
    y = (x @ first).relu() @ second
    made = compiler.compile(y)
    np.testing.assert_allclose(made.run()[0], EXPECTED, rtol=1e-4, atol=1e-5)
    others, nbytes = len(devices) - 1, EXPECTED.nbytes
    assert moved(made) == (others, others * nbytes)  # read on one device: reduced, not sent back
    everywhere = compiler.compile(y.shards)  # the least of an all-reduce is 2 (n - 1) bytes each
    assert moved(everywhere) == (2 * others, 2 * others * nbytes)
    reasons = [d.reason for d in made.decisions if d.kind == "copy"]
    assert reasons and all("all-reduce: sum over axis" in reason for reason in reasons)


def test_the_summary_says_what_moves() -> None:
    made = compiler.compile(Tensor(X).shard(TWO, 0).sum(0))
    moved = "moved CPU → CPU:1 48 bytes in 1 transfer, CPU:1 → CPU 24 bytes in 1 transfer"
    assert moved in made.summary()
    assert "moved" not in compiler.compile(Tensor(X).sum(0)).summary()
    assert {t.nbytes for t in made.transfers} == {48, 24}


def test_two_devices_compile_one_kernel() -> None:
    x = Tensor(random.normal(size=(4, 6))).shard(TWO, 0).realize()
    made = compiler.compile((x * 3).shards)
    assert len(made.schedule.items) == 2 and len(made.source) == 1


def test_shards_on_the_interpreter() -> None:
    y = (Tensor(X).shard(TWO, 0) @ Tensor(W).shard(TWO)).sum(0)
    (found,) = Compilation([y.node], Options(device="INTERPRET"), "safe").run()
    np.testing.assert_allclose(found, (X @ W).sum(0), rtol=1e-5, atol=1e-6)


def test_the_example_moves_the_least() -> None:
    expected = shared_network.network(*map(Tensor, shared_network.arrays())).numpy()
    for y, least in ((shared_network.by_rows(), 0),
                     (shared_network.by_weights(), 2 * expected.nbytes)):  # fmt: skip
        assert shared_network.report("", y, least) == least
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-5)


# --- with what else there is --------------------------------------------------------------------


@every_engine
def test_a_repeated_step_may_copy_and_shard(engine: str) -> None:
    def step(i: Tensor, state: Tensor) -> Tensor:
        halves = state.shard(TWO, 0) * 0.5
        return (halves.to("CPU:1") + 1).to("CPU:2").to("CPU:1")

    y = compiler.repeat(3, step, Tensor(X).to("CPU:1"))
    assert isinstance(y, Tensor) and y.device == "CPU:1"
    np.testing.assert_allclose(evaluate(y, engine), X / 8 + 1.75, rtol=1e-6)


def test_variables_in_shards_are_refused() -> None:
    n = compiler.Variable("n", 1, 16)
    symbolic = Tensor(X, symbolic={0: n})
    np.testing.assert_allclose(symbolic.to("CPU:1").sum(0).numpy(), X.sum(0), rtol=1e-5)
    with pytest.raises(ShapeError, match="multi is not defined for such an axis"):
        symbolic.shard(TWO, 1)
