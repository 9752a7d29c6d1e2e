"""`repeat` against the same loop in NumPy, on every engine; what a step must not do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, DTypeError, InternalError, ShapeError, Tensor, repeat
from compiler.core import dtypes
from compiler.graph.kinds.repeat import Repeat
from compiler.graph.nodes import Param, Sink
from compiler.graph.verify import verify
from compiler.schedule.items import Kernel, MemoryTransfer
from examples import power_iteration
from tests.evaluate import Array, assert_same, evaluate, every_engine

MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])


def numpy_repeat(count: int, step: Callable[..., Any], *state: Array) -> tuple[Array, ...]:
    """The loop itself."""
    for i in range(count):
        new = step(np.int64(i), *state)
        state = new if isinstance(new, tuple) else (new,)
    return state


def power(i: Any, v: Any) -> Any:
    """One step of power iteration, for tensors and arrays alike."""
    w = (Tensor(MATRIX, name="A") if isinstance(v, Tensor) else MATRIX) @ v
    return w / abs(w).max()


STEPS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "power iteration": (power, (np.ones(3),)),
    "a counter": (lambda i, x: x + i, (np.zeros(4, np.int64),)),
    "swapped": (lambda i, x, y: (y, x), (np.arange(3), np.arange(3, 6))),
    "fibonacci": (lambda i, x, y: (y, x + y + i), (np.array([0]), np.array([1]))),
    "rank 0": (lambda i, x: x * 2 + 1, (np.array(1, np.int32),)),
    "empty": (lambda i, x: x + 1, (np.zeros((0, 3), np.float32),)),
    "unchanged": (lambda i, x, y: (x, y + x), (np.arange(3.0), np.zeros(3))),
    "all the same": (lambda i, x: x, (np.arange(3.0),)),
    "independent": (lambda i, x, y: (x + 1, y * 2), (np.zeros(3), np.ones((2, 2)))),
    "one for both": (lambda i, x, y: (x + y, x + y), (np.ones(2), np.ones(2))),
    "reversed": (lambda i, x: x[::-1] * 3, (np.arange(5, dtype=np.int8),)),
    "nan and zeros": (lambda i, x: x * -1, (np.array([np.nan, 0.0, -0.0, np.inf], np.float32),)),
    "truth": (lambda i, x: x ^ True, (np.array([True, False]),)),
}


@every_engine
@pytest.mark.parametrize("name", STEPS)
def test_like_the_loop_in_numpy(name: str, engine: str) -> None:
    step, first = STEPS[name]
    for count in (1, 5):
        results = repeat(count, step, *map(Tensor, first))
        expected = numpy_repeat(count, step, *first)
        for got, want in zip(results if isinstance(results, tuple) else (results,), expected,
                             strict=True):  # fmt: skip
            want = np.asarray(want, got.dtype.numpy)
            rtol = 1e-12 if name == "power iteration" else 0.0
            assert_same(evaluate(got, engine), want, name, rtol)


@every_engine
def test_loops_inside_loops(engine: str) -> None:
    def outer(i: Tensor, s: Tensor) -> Any:
        def inner(j: Tensor, t: Tensor) -> Tensor:
            return t + j * 10 + i + s.sum() * 2

        return repeat(3, inner, s * 1)

    expected = np.zeros(2, np.int64)
    for i in range(2):
        s = expected
        for j in range(3):
            expected = expected + j * 10 + i + s.sum() * 2
    assert_same(evaluate(repeat(2, outer, Tensor(np.zeros(2, np.int64))), engine), expected)


@every_engine
def test_a_loop_after_a_loop_and_before_more(engine: str) -> None:
    x = Tensor(np.arange(4.0))
    first = repeat(3, lambda i, v: v + i, x + 1)
    second = repeat(2, lambda i, v: v * first + i, first.reshape(2, 2).T.reshape(4))
    value = np.arange(4.0) + 1 + 3
    want = value.reshape(2, 2).T.reshape(4)
    for i in range(2):
        want = want * value + i
    assert_same(evaluate(second.sum() + first[0], engine), want.sum() + value[0])


@pytest.fixture(scope="module")
def matrix() -> Tensor:
    """The Gram matrix of the pictures of digits."""
    return power_iteration.gram_matrix()


@every_engine
def test_power_iteration_of_the_example(matrix: Tensor, engine: str) -> None:
    vector, value = power_iteration.strongest(matrix, 10)
    values, vectors = np.linalg.eigh(matrix.numpy())
    found = evaluate(vector, engine)
    np.testing.assert_allclose(np.abs(found), np.abs(vectors[:, -1]), atol=1e-6)
    np.testing.assert_allclose(evaluate(value, engine), values[-1], rtol=1e-10)


def test_no_iteration_gives_the_first_state() -> None:
    x, y = Tensor([1.0]), Tensor([2.0])
    assert repeat(0, lambda i, v: v + 1, x).node is x.node
    assert repeat(0, lambda i, v, w: (w, v), x, y) == (x, y)
    with pytest.raises(ShapeError, match="changes the shape"):
        repeat(0, lambda i, v: v.reshape(1, 1), x)


def test_the_step_is_traced_once_and_its_kernels_compiled_once() -> None:
    calls = []

    def step(i: Tensor, v: Tensor) -> Tensor:
        calls.append((i.shape, i.dtype))
        return v + i

    compilation = compiler.compile(repeat(50, step, Tensor(np.zeros(4, np.int64))))
    assert calls == [((), dtypes.int64)]
    assert len(compilation.loops) == 1
    kernels = [i.operation for i in compilation.schedule.items if isinstance(i.operation, Kernel)]
    assert [kernel.fixed for kernel in kernels] == [(("iteration0", i),) for i in range(50)]
    assert compilation.run()[0].tolist() == [sum(range(50))] * 4


def test_what_no_iteration_changes_is_computed_once_before_the_loop() -> None:
    a = Tensor(MATRIX, name="a")
    made = compiler.compile(repeat(4, lambda i, v: (a @ a).exp() @ v, Tensor(np.ones(3))))
    kernels = [i.operation.name for i in made.schedule.items if isinstance(i.operation, Kernel)]
    assert kernels.count(kernels[-1]) == 4
    assert len(kernels) == 5


def test_a_state_is_carried_behind_all_that_read_it() -> None:
    made = compiler.compile(list(repeat(3, lambda i, x, y: (y, x), *map(Tensor, ([1], [2])))))
    carries = [i for i in made.schedule.items if i.operation.name == "carry"]
    assert len(carries) == 6 and all(isinstance(i.operation, MemoryTransfer) for i in carries)
    kinds = {(d.producer, d.consumer): d.kind for d in made.schedule.dependencies}
    assert {"data", "anti", "output"} <= {d.kind for d in made.schedule.dependencies}
    assert all(a < b for a, b in kinds)
    assert made.check().ok
    assert "repeat %0 %1 3 iterations, state 1" in str(made.graph)


PRINTED = """\
%4 = repeat %1 %2 %3 4 iterations, state 0
  iteration0 = 0 … 3:
    %t0 = repeat state0 3 iterations, state 0
      iteration1 = 0 … 2:
        %t0.0 = mul state0 state0
        state0 = %t0.0
    %t1 = add %t0 %3
    state0 = state1
    state1 = %t1
%5 = add %0 %4
%6 = repeat %1 %2 %3 4 iterations, state 1"""


def test_under_a_loop_stands_what_each_iteration_does() -> None:
    a = Tensor(np.array([2.0, 3.0]), name="a")

    def step(i: Any, v: Any, w: Any) -> Any:
        return w, repeat(3, lambda j, u: u * u, v) + a

    first = (Tensor(np.ones(2), name="p"), Tensor(np.ones(2), name="q"))
    graph = compiler.compile(sum(repeat(4, step, *first))).graph
    shown = [line.text.split(" f64")[0].rstrip() for line in graph.lines]
    start = next(n for n, text in enumerate(shown) if "4 iterations, state 0" in text)
    assert "\n".join(shown[start : start + 11]) == PRINTED
    inside = next(line for line in graph.lines if "%t1 =" in line.text)
    assert inside.entity is None
    made, called = (f"source:{_line_of(it)}" for it in ("return w, repeat", "sum(repeat(4, step"))
    assert inside.parents == (made, called), "its line, and the one that called the step"
    (loop,) = [line for line in graph.lines if "4 iterations, state 0" in line.text]
    assert set(inside.parents) <= set(loop.parents)
    (facts,) = [it for _, it in graph.to_networkx().nodes(data=True)
                if it["argument"] == "4 iterations, state 0"]  # fmt: skip
    assert facts["text"].splitlines()[-3:] == ["  %t1 = add %t0 operand2", "  state0 = state1",
                                               "  state1 = %t1"]  # fmt: skip


def _line_of(words: str) -> int:
    """The line of this file in which the words stand first, counted from 1."""
    lines = Path(__file__).read_text("utf-8").splitlines()
    return next(n for n, text in enumerate(lines, 1) if words in text)


def test_on_another_device() -> None:
    results = repeat(3, lambda i, v: v * 2, Tensor([1.0, 2.0]).to("CPU:1"))
    assert results.numpy().tolist() == [8.0, 16.0] and results.device == "CPU:1"


X = Tensor(np.ones(3))
HALF: Any = 0.5
LIST: Any = [1.0]
WRONG: tuple[tuple[type[Exception], Callable[[], object], str], ...] = (
    (DataError, lambda: repeat(-1, lambda i, v: v, X), "invalid number of iterations"),
    (DataError, lambda: repeat(HALF, lambda i, v: v, X), "invalid number of iterations"),
    (DataError, lambda: repeat(True, lambda i, v: v, X), "invalid number of iterations"),
    (DataError, lambda: repeat(2_000_000, lambda i, v: v, X), "invalid number of iterations"),
    (DataError, lambda: repeat(1, lambda i: i), "there is no state"),
    (DataError, lambda: repeat(1, lambda i, v: v, LIST), "state 0 is not a tensor"),
    (DataError, lambda: repeat(1, lambda i, v: (v, v), X), "another number of tensors"),
    (DataError, lambda: repeat(1, lambda i, v: None, X), "returns no tensor as state 0"),
    (ShapeError, lambda: repeat(1, lambda i, v: v.sum(), X), "changes the shape of state 0"),
    (DTypeError, lambda: repeat(1, lambda i, v: v.float(), X), "changes the type of state 0"),
)


@pytest.mark.parametrize(("kind", "call", "problem"), WRONG)
def test_wrong_steps_are_refused(
    kind: type[Exception], call: Callable[[], object], problem: str
) -> None:
    with pytest.raises(kind, match=problem):
        call()


def test_a_state_has_no_value_outside_its_step() -> None:
    kept: list[Tensor] = []

    def step(i: Tensor, v: Tensor) -> Tensor:
        kept.append(v)
        return v + 1

    repeat(2, step, X)
    with pytest.raises(DataError, match="a state of a loop has no value outside of the step"):
        (kept[0] + 1).numpy()
    with pytest.raises(DataError, match="a state of a loop has no value outside of the step"):
        repeat(2, lambda i, v: v * 2 if v.sum() > 1 else v, X)


def test_broken_loops_are_found() -> None:
    node = repeat(2, lambda i, v: v + 1, X).node
    assert isinstance(node, Repeat)
    param = Param((), 7, (3,), dtypes.float64)
    short = Param((), 0, (2,), dtypes.float64)
    for wrong in (
        Repeat(node.sources, node.body, node.counter, 0, 0),
        Repeat(node.sources, node.body, node.counter, 2, 0).with_sources((Tensor([1.0]).node,)),
        Repeat(node.sources, Sink((param,)), node.counter, 2, 0),
        Repeat(node.sources, Sink((short,)), node.counter, 2, 0),
    ):
        with pytest.raises(InternalError, match="invariant 16: a loop does not fit its body"):
            verify(Sink((wrong,)))


@every_engine
@pytest.mark.parametrize("place", ["CPU", "CPU:1"])
def test_the_first_state_may_be_moved(place: str, engine: str) -> None:
    """A state that is a view of memory, and one that is two states at once."""
    array = np.arange(6.0)
    moved = Tensor(array).to(place).reshape(2, 3).flip(1)
    expected = array.reshape(2, 3)[:, ::-1]
    assert_same(evaluate(repeat(2, lambda i, x: x + 1, moved), engine), expected + 2)
    first, second = repeat(3, lambda i, x, y: (y, x + y), moved, moved)
    assert_same(evaluate(first + second, engine), expected * 8)


@every_engine
def test_a_loop_on_another_device(engine: str) -> None:
    """Constants that the step keeps in memory, and constants as the first state."""
    array = np.array([3.0, 1.0, 2.0])
    x = Tensor(array).to("CPU:1")
    results = repeat(2, lambda i, s: s.sort() + Tensor.arange(3.0).contiguous(), x)
    assert_same(evaluate(results, engine), [1.0, 4.0, 7.0])
    results = repeat(3, lambda i, s: s + x, Tensor.zeros(3))
    assert_same(evaluate(results, engine), array * 3)
    assert results.realize().device == "CPU:1"


@pytest.mark.parametrize(("counted", "expected"), [(lambda i: -i, -10), (lambda i: 4 - i, 10)])
def test_a_counter_goes_down(counted: Any, expected: int) -> None:
    """A number that is not a sum of products has a type of its own, and no bounds."""
    results = repeat(5, lambda i, x: x + counted(i).cast("float32") + 0 * i, Tensor([0.0]).float())
    assert_same(results.numpy(), np.array([expected], np.float32))
