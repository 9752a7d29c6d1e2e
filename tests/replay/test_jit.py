"""`compiler.jit`: captured once, replayed with other data, state in place."""

import gc
import weakref
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, JitError, Tensor, Variable


def test_one_capture_for_a_signature(capsys: pytest.CaptureFixture[str]) -> None:
    @compiler.jit
    def f(x: Tensor, more: dict[str, Any]) -> tuple[Tensor, dict[str, Any]]:
        print(x.shape)
        return (x * more["by"]).exp(), {"sum": x.sum(), "name": "f", "none": None}

    for size in (3, 4, 3, 3):
        x = np.arange(size, dtype="float32")
        y, rest = f(x, {"by": Tensor(np.full(1, 2.0, "float32"))})
        np.testing.assert_allclose(y.numpy(), np.exp(2 * x), rtol=1e-6)
        assert rest["sum"].item() == x.sum() and rest["name"] == "f" and rest["none"] is None
    assert capsys.readouterr().out.split() == ["(3,)", "(4,)"]
    f(np.arange(3.0), {"by": np.ones(1)})
    info = f.cache_info()
    assert (info.captures, info.replays, info.kept) == (3, 5, 3)
    assert info.reasons == {"the first call": 1, "another signature": 2}
    assert repr(f).startswith("jit(test_one_capture_for_a_signature.<locals>.f): 3 captures")


def test_numbers_that_change_become_data() -> None:
    @compiler.jit
    def f(x: Tensor, rate: float, count: int) -> Tensor:
        return x * (1 - rate) ** 2 + count

    x = np.ones(4, "float32")
    for step in range(10):
        y = f(x, 0.1 * step, 3)
        assert y.dtype == compiler.float32
        np.testing.assert_allclose(y.numpy(), (1 - 0.1 * step) ** 2 + 3, rtol=1e-6)
    assert f.cache_info().captures == 2
    assert f(x, 0.5, 7).numpy()[0] == np.float32(7.25)
    assert f(x, 0.25, 8).numpy()[0] == np.float32(8.5625)
    assert f.cache_info().captures == 3


def test_numbers_that_the_function_decides_by_stay_part_of_it() -> None:
    @compiler.jit
    def f(x: Tensor, layers: int, is_scaled: bool) -> Tensor:
        for _ in range(layers):
            x = x * 2
        return x / 2 if is_scaled else x

    assert [f(np.ones(1), n, n == 3).item() for n in (1, 2, 3, 1, 2)] == [2, 4, 4, 2, 4]
    assert f.cache_info().captures == 3

    @compiler.jit(static="layers")
    def g(x: Tensor, layers: int, by: float) -> Tensor:
        return x * by * len(range(layers))

    assert [g(np.ones(1), n, by=0.5 * n).item() for n in (1, 2, 1, 2)] == [0.5, 2, 0.5, 2]
    with pytest.raises(DataError, match="no such argument"):
        compiler.jit(lambda x: x, static="y")


def test_state_is_written_in_place() -> None:
    total, count = Tensor(np.zeros(2)), Tensor.zeros(1)
    seen = total * 1

    @compiler.jit
    def add(x: Tensor) -> Tensor:
        total.assign(total + x)
        count.assign(count + 1)
        return total / count

    means = [add(np.array([n, 1.0])).numpy()[0] for n in range(4)]
    assert means == [0, 0.5, 1, 1.5]
    assert total.numpy().tolist() == [6, 4] and count.item() == 4
    assert seen.numpy().tolist() == [0, 0]  # another tensor keeps its value
    where = total.numpy().ctypes.data
    add(np.zeros(2))
    assert total.numpy().ctypes.data == where
    total.assign(total * 0)  # pending when it is called next
    assert add(np.ones(2)).numpy().tolist() == [1 / 6, 1 / 6]
    assert add.cache_info().captures == 1


def test_a_training_step() -> None:
    generator = np.random.default_rng(0)
    w = Tensor(np.zeros((3, 1), "float32"), requires_grad=True)
    inputs = generator.standard_normal((16, 3)).astype("float32")
    wanted = inputs @ np.array([[1.0], [2.0], [3.0]], "float32")

    def step(x: Tensor, y: Tensor, rate: float) -> Tensor:
        loss = ((x @ w - y) ** 2).mean()
        w.grad = None
        loss.backward()
        assert w.grad is not None
        w.assign(w - rate * w.grad)
        return loss

    def losses(f: Any) -> list[float]:
        w.assign(np.zeros((3, 1), "float32"))
        return [f(inputs if f is not step else Tensor(inputs),
                  wanted if f is not step else Tensor(wanted), 0.1 / (n + 1)).item()
                for n in range(6)]  # fmt: skip

    replayed = compiler.jit(step)
    np.testing.assert_allclose(losses(replayed), losses(step), rtol=1e-6)
    assert w.grad is not None  # the last call without jit
    before = w.numpy().copy()
    replayed(inputs, wanted, 0.5)
    slope = 2 / 16 * inputs.T @ (inputs @ before - wanted)
    np.testing.assert_allclose(w.grad.numpy(), slope, rtol=1e-5)  # that of the last call


def test_gradients_that_are_only_collected_are_there() -> None:
    w = Tensor(np.array([2.0]), requires_grad=True)

    @compiler.jit
    def collect(x: Tensor) -> None:
        w.grad = None
        (w * w * x).sum().backward()

    for n in (1.0, 3.0):
        assert collect(np.array([n])) is None
        assert w.grad is not None and w.grad.item() == 4 * n


def test_random_numbers_are_new_in_each_call() -> None:
    @compiler.jit
    def draw() -> Tensor:
        return Tensor.rand(4)

    Tensor.manual_seed(3)
    first = [draw().numpy() for _ in range(3)]
    Tensor.manual_seed(3)
    plain = [Tensor.rand(4).numpy() for _ in range(3)]
    second = [plain[0], plain[1], plain[2]]
    assert not np.array_equal(first[1], first[2])
    Tensor.manual_seed(3)
    again = [draw().numpy() for _ in range(3)]
    np.testing.assert_array_equal(again, second)


def test_shards_and_variables() -> None:
    @compiler.jit
    def f(x: Tensor) -> Tensor:
        return (x * 2).sum(1)

    x = np.arange(8.0).reshape(4, 2)
    for _ in range(2):
        cut = Tensor(x).shard(["CPU", "CPU:1"], 0)
        np.testing.assert_array_equal(f(cut).numpy(), 2 * x.sum(1))
    n = Variable("n", 1, 8)
    for rows in (2, 4, 3):
        part = Tensor(x[:rows], symbolic={0: n})
        np.testing.assert_array_equal(f(part).numpy(), 2 * x[:rows].sum(1))
    assert f.cache_info().captures == 2


def test_one_tensor_twice_is_a_signature_of_its_own() -> None:
    @compiler.jit
    def f(x: Tensor, y: Tensor) -> Tensor:
        return x * 10 + y

    a, b = Tensor(np.array([1.0])), Tensor(np.array([2.0]))
    assert [f(a, a).item(), f(a, b).item(), f(b, b).item(), f(b, a).item()] == [11, 12, 22, 21]


def test_memory_that_is_written_is_no_argument_too() -> None:
    state = Tensor(np.array([1.0, 2.0]))

    @compiler.jit
    def f(x: Tensor) -> Tensor:
        state.assign(state + x)
        return state * 1

    f(np.ones(2))
    with pytest.raises(JitError, match="shares memory"):
        f(state)
    assert f(state.clone()).numpy().tolist() == [4, 6]


def test_positions_are_data() -> None:
    table = Tensor(np.arange(6.0).reshape(3, 2))

    @compiler.jit
    def f(rows: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return table[rows], table.cross_entropy(labels)

    for rows in ([0, 2], [1, 1]):
        labels = np.array([*rows, 0]) % 2
        taken, loss = f(np.array(rows), labels)
        np.testing.assert_array_equal(taken.numpy(), table.numpy()[rows])
        np.testing.assert_allclose(loss.item(), table.cross_entropy(labels).item())
    assert f.cache_info().captures == 1


def test_an_argument_may_be_written() -> None:
    @compiler.jit
    def double(x: Tensor) -> None:
        x.assign(x * 2)

    x = Tensor(np.array([1.0, 2.0]))
    double(x)
    double(x)
    assert x.numpy().tolist() == [4, 8]


def test_values_are_refused_with_the_line() -> None:
    @compiler.jit
    def branch(x: Tensor) -> Tensor:
        return x if x.sum() > 0 else -x

    @compiler.jit
    def look(x: Tensor) -> Tensor:
        return x * x.max().item()

    for f in (branch, look):
        with pytest.raises(JitError, match=r"(?s)not their values.*test_jit.py"):
            f(np.ones(2))
    with pytest.raises(DataError, match="not a function"):
        compiler.jit(3)


def test_an_error_inside_leaves_tensors_as_they_were() -> None:
    state = Tensor(np.array([1.0]))

    @compiler.jit
    def broken(x: Tensor) -> Tensor:
        state.assign(state + x)
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        broken(np.ones(1))
    assert state.item() == 1
    state.assign(state + 1)
    assert state.item() == 2


def test_the_program_can_be_explored() -> None:
    @compiler.jit
    def f(x: Tensor) -> Tensor:
        return x.softmax(0)

    made = f.compilation(np.ones(4))
    assert made.check()
    assert "softmax" in str(made)


def test_inside_another_and_under_a_derivative() -> None:
    @compiler.jit
    def inner(x: Tensor) -> Tensor:
        return (x**3).sum()

    @compiler.jit
    def outer(x: Tensor) -> Tensor:
        return inner(x) * 2

    for n in (1.0, 2.0):
        assert outer(np.array([n])).item() == 2 * n**3
    np.testing.assert_allclose(compiler.grad(inner)(np.array([2.0])).numpy(), [12])
    slope = compiler.jit(compiler.grad(inner))
    assert [slope(np.array([n])).item() for n in (1.0, 2.0)] == [3, 12]


def test_nothing_of_a_call_is_kept() -> None:
    @compiler.jit
    def f(x: Tensor) -> Tensor:
        return x + 1

    f(np.ones(2))
    x = Tensor(np.ones(2))
    seen = weakref.ref(x)
    f(x)
    del x
    gc.collect()
    assert seen() is None
