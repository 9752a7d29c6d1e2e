"""State around a captured function: after a change the function is captured again."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import JitError, Tensor, nn, optim
from compiler.replay.function import NotCapturedWarning

ONE = np.ones(2)
factor: Any = 2.0
weight = Tensor(np.array([1.0, 2.0]))


class Scaled:
    """An object of the user's."""

    usual = 3.0

    def __init__(self) -> None:
        self.scale = 2.0

    def __call__(self, x: Tensor) -> Tensor:
        return scaled(x) * self.scale * self.usual


def scaled(x: Tensor) -> Tensor:
    return x * factor


class Net(nn.Module):
    """Layers in a list, and one that only learns."""

    def __init__(self) -> None:
        self.layers = [nn.Linear(2, 2)]
        self.dropout = nn.Dropout(1.0)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return self.dropout(x)


Change = Callable[[], None]
Program = tuple[Callable[..., Any], Change, int]
"""A function, what is changed after its first call, and how often it is captured then."""


def setting(name: str, value: Any) -> Change:
    return lambda: globals().__setitem__(name, value)


def a_global_number() -> Program:
    return lambda x: x * factor, setting("factor", 3.0), 2


def an_equal_number() -> Program:
    return lambda x: x * factor, setting("factor", float("2.0")), 1


def a_number_of_another_sign() -> Program:
    setting("factor", 0.0)()
    return lambda x: x / factor, setting("factor", -0.0), 2


def a_number_in_another_function() -> Program:
    return lambda x: scaled(x) + 1, setting("factor", 3.0), 2


def another_function() -> Program:
    return lambda x: scaled(x) + 1, setting("scaled", lambda x: x * 100), 2


def a_global_tensor() -> Program:
    return lambda x: x * weight, setting("weight", Tensor(np.array([5.0, 6.0]))), 2


def a_closure() -> Program:
    n = 2.0

    def change() -> None:
        nonlocal n
        n = 5.0

    return lambda x: x * n, change, 2


def a_list_of_numbers() -> Program:
    numbers = [1.0, 2.0]
    return lambda x: x * sum(numbers), lambda: numbers.append(3.0), 2


def a_list_of_tensors() -> Program:
    tensors = [Tensor(ONE)]
    return lambda x: x * tensors[0], lambda: tensors.__setitem__(0, Tensor(ONE * 4)), 2


def a_dict() -> Program:
    numbers = {"a": 2.0}
    return lambda x: x * numbers["a"], lambda: numbers.update(a=3.0), 2


def a_default() -> Program:
    numbers = [2.0]

    def f(x: Tensor, by: list[float] = numbers) -> Tensor:
        return x * by[0]

    return f, lambda: numbers.__setitem__(0, 7.0), 2


def an_attribute() -> Program:
    made = Scaled()
    return lambda x: made(x), lambda: setattr(made, "scale", 5.0), 2


def an_attribute_of_a_class() -> Program:
    made = Scaled()
    return made, lambda: setattr(Scaled, "usual", 5.0), 2


def a_network_that_learns_no_more() -> Program:
    net = Net().eval()
    return net, lambda: (net.train(), None)[1], 2


def a_layer_more() -> Program:
    net = Net().eval()
    return lambda x: net(x), lambda: net.layers.append(nn.Linear(2, 2)), 2


def another_parameter() -> Program:
    net = Net().eval()
    other = Tensor(np.full((2, 2), 3.0, "f4"), requires_grad=True)
    return lambda x: net(x), lambda: setattr(net.layers[0], "weight", other), 2


def a_state_that_is_loaded() -> Program:
    net = Net().eval()
    state = {name: np.full(t.shape, 2.0, "f4") for name, t in net.state_dict().items()}
    return lambda x: net(x), lambda: net.load_state_dict(state), 1


def a_tensor_that_is_assigned() -> Program:
    v = Tensor(ONE * 2)
    return lambda x: x * v, lambda: (v.assign(ONE * 3), None)[1], 1


def a_part_that_is_assigned() -> Program:
    v = Tensor(ONE * 2)
    return lambda x: x * v, lambda: v.__setitem__(0, 7.0), 1


def a_lazy_tensor_that_is_assigned() -> Program:
    v = Tensor(ONE) * 1.5
    return lambda x: x * v, lambda: (v.assign(ONE * 3), None)[1], 2


def what_a_lazy_tensor_reads_is_assigned() -> Program:
    u = Tensor(np.array([1.0, 2.0]))
    v = u * 2
    return lambda x: x * v, lambda: (u.assign(ONE * 3).realize(), None)[1], 2


def constants_that_are_assigned() -> Program:
    v = Tensor.ones(2, dtype="float64")
    return lambda x: x * v, lambda: (v.assign(ONE * 3), None)[1], 2


def a_tensor_in_the_same_memory_is_assigned() -> Program:
    v = Tensor(np.array([1.0, 2.0]))
    return lambda x: x * v, lambda: (v.reshape(2).assign(ONE * 9).realize(), None)[1], 2


def an_array() -> Program:
    a = np.array([1.0, 2.0])
    return lambda x: x * a, lambda: a.__setitem__(slice(None), 5.0), 2


def the_usual_type() -> Program:
    return (lambda x: x * Tensor.ones(2).sum(), lambda: compiler.set_default_dtype("float32"), 2)


PROGRAMS = [
    a_global_number, an_equal_number, a_number_of_another_sign, a_number_in_another_function,
    another_function, a_global_tensor, a_closure, a_list_of_numbers, a_list_of_tensors, a_dict,
    a_default, an_attribute, an_attribute_of_a_class, a_network_that_learns_no_more, a_layer_more,
    another_parameter, a_state_that_is_loaded, a_tensor_that_is_assigned, a_part_that_is_assigned,
    a_lazy_tensor_that_is_assigned, what_a_lazy_tensor_reads_is_assigned,
    constants_that_are_assigned, a_tensor_in_the_same_memory_is_assigned, an_array, the_usual_type,
]  # fmt: skip


@pytest.fixture
def _as_it_was() -> Iterator[None]:
    held = {name: globals()[name] for name in ("factor", "weight", "scaled")}
    usual = Scaled.usual
    yield
    globals().update(held)
    Scaled.usual = usual
    compiler.set_default_dtype(None)


@pytest.mark.usefixtures("_as_it_was")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_nothing_of_before_is_replayed(program: Callable[[], Program]) -> None:
    f, change, captures = program()
    x = np.array([[1.0, 2.0]], "f4") if "Net" in repr(f) or "net" in _names(f) else ONE
    replayed = compiler.jit(f)
    np.testing.assert_array_equal(replayed(x).numpy(), f(Tensor(x)).numpy())
    change()
    for _ in range(3):
        np.testing.assert_array_equal(replayed(x).numpy(), f(Tensor(x)).numpy())
    info = replayed.cache_info()
    assert info.captures == captures, info.reasons
    assert info.replays == 4


def _names(f: Any) -> tuple[str, ...]:
    return tuple(f.__code__.co_freevars) if hasattr(f, "__code__") else ()


def test_networks_that_learn_and_do_not_are_two_captures() -> None:
    net = Net()
    f = compiler.jit(lambda x: net(x))
    x = np.ones((1, 2), "f4")
    for _ in range(3):
        net.train()
        assert f(x).numpy().tolist() == [[0, 0]]
        net.eval()
        assert f(x).numpy().any()
    info = f.cache_info()
    assert info.captures == 2 and info.kept == 2
    assert list(info.reasons) == ["the first call", "net.training changed"]


def test_objects_among_the_arguments() -> None:
    made = Scaled()

    @compiler.jit
    def f(x: Tensor, by: Scaled) -> Tensor:
        return x * by.scale

    assert f(ONE, made).numpy().tolist() == [2, 2]
    made.scale = 4.0
    assert f(ONE, made).numpy().tolist() == [4, 4]

    class Own:
        """A method that is captured."""

        scale = 2.0

        @compiler.jit
        def by(self, x: Tensor) -> Tensor:
            return x * self.scale

    own = Own()
    assert own.by(ONE).numpy().tolist() == [2, 2]
    own.scale = 3.0
    assert own.by(ONE).numpy().tolist() == [3, 3]


def test_what_collects_gradients() -> None:
    p, q = (Tensor(np.array([1.0, 2.0]), requires_grad=True) for _ in range(2))

    @compiler.jit
    def collect(x: Tensor) -> None:
        p.grad = q.grad = None
        (x * p * q).sum().backward()

    collect(ONE)
    assert q.grad is not None
    q.requires_grad_(False)
    q.grad = None
    collect(ONE)
    assert q.grad is None and p.grad is not None
    assert "other tensors require gradients" in collect.cache_info().reasons


def test_the_rate_of_an_optimiser_is_data_and_its_options_are_not() -> None:
    w = Tensor(np.array([8.0]), requires_grad=True)
    made = optim.SGD([w], 0.5)

    @compiler.jit
    def step(x: Tensor) -> None:
        made.zero_grad()
        (x * w).sum().backward()
        made.step()

    step(np.ones(1))
    made.lr = 0.25
    step(np.ones(1))
    assert w.item() == 7.25 and step.cache_info().captures == 1
    made.groups[0].options["weight_decay"] = 1.0
    step(np.ones(1))
    assert w.item() == 7.25 - 0.25 * 8.25
    assert step.cache_info().captures == 2


def test_memory_that_overlaps() -> None:
    @compiler.jit
    def f(x: Tensor, y: Tensor) -> Tensor:
        x.assign(x + 1)
        return y * 1

    f(np.zeros(2), np.zeros(2))
    memory = np.arange(4.0)
    for begin, end in ((1, 3), (0, 2)):
        with pytest.raises(JitError, match=r"(?s)shares memory.*test_surroundings.py"):
            f(Tensor(memory[:2]), Tensor(memory[begin:end]))
    assert f(Tensor(memory[:2]), Tensor(memory[2:])).numpy().tolist() == [2, 3]
    assert memory.tolist() == [1, 2, 2, 3]


def test_a_tensor_that_stays_outside() -> None:
    held: dict[str, Tensor] = {}

    @compiler.jit
    def f(x: Tensor) -> Tensor:
        held["last"] = x * 2
        return x

    with pytest.raises(JitError, match=r"(?s)is stored outside.*test_surroundings.py"):
        f(ONE)

    @compiler.jit
    def g(x: Tensor) -> Tensor:
        if "table" not in held:
            held["table"] = Tensor.ones(2) * 3
        return x * held["table"]

    held.clear()
    for _ in range(2):
        assert g(ONE).numpy().tolist() == [3, 3]


def test_long_lists_are_compared() -> None:
    numbers = [1.0] * 5000
    f = compiler.jit(lambda x: x * numbers[7])
    f(ONE)
    numbers[7] = 3.0
    assert f(ONE).numpy().tolist() == [3, 3]
    assert f.cache_info().captures == 2


def test_a_function_that_writes_state_is_called_each_time() -> None:
    shapes: list[Any] = []

    @compiler.jit
    def f(x: Tensor) -> Tensor:
        shapes.append(x.shape)
        return x * len(shapes)

    with pytest.warns(NotCapturedWarning, match="writes state in Python: shapes"):
        assert [f(ONE).numpy().tolist() for _ in range(4)] == [[n, n] for n in (1, 2, 3, 4)]
    assert len(shapes) == 4


def test_a_function_that_reads_what_cannot_be_compared_is_called_each_time() -> None:
    generator = np.random.default_rng(0)
    f = compiler.jit(lambda x: x * generator.random())
    with pytest.warns(NotCapturedWarning, match=r"generator, a numpy\.random"):
        first = f(ONE).numpy()[0]
    assert first != f(ONE).numpy()[0]
    assert f.cache_info().captures == 0
    with pytest.raises(JitError, match="not captured"):
        f.compilation(ONE)


def test_state_that_changes_in_each_call_is_not_captured_for_ever() -> None:
    numbers = [0.0]
    f = compiler.jit(lambda x: x * numbers[0])
    with pytest.warns(NotCapturedWarning, match="in most calls"):
        for number in range(30):
            numbers[0] = float(number)
            assert f(ONE).numpy()[0] == number
    assert f.cache_info().captures < 30


def test_numbers_are_told_apart() -> None:
    f = compiler.jit(lambda x, n: x / n, static="n")
    assert f(ONE, 0.0).numpy().tolist() == [math.inf] * 2
    assert f(ONE, -0.0).numpy().tolist() == [-math.inf] * 2
