"""A function that has to be called again to be captured changes state in Python once a call."""

from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import JitError, Tensor

pytestmark = pytest.mark.filterwarnings("ignore::compiler.replay.function.NotCapturedWarning")
Step = Callable[[], Any]


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("n",)

    def __init__(self) -> None:
        self.n = 0


class Counting:
    """A class that counts in itself."""

    n = 0


TOTAL = 0


def _attribute() -> tuple[Step, Step]:
    held = SimpleNamespace(n=0)

    def step() -> int:
        held.n += 1
        return held.n

    return step, lambda: held.n


def _new_attribute() -> tuple[Step, Step]:
    held = SimpleNamespace()

    def step() -> int:
        held.n = getattr(held, "n", 0) + 1
        return held.n

    return step, lambda: vars(held)


def _slot() -> tuple[Step, Step]:
    held = Slotted()

    def step() -> int:
        held.n += 1
        return held.n

    return step, lambda: held.n


def _variable() -> tuple[Step, Step]:
    n = 0

    def step() -> int:
        nonlocal n
        n += 1
        return n

    return step, lambda: n


def _global() -> tuple[Step, Step]:
    global TOTAL
    TOTAL = 0

    def step() -> int:
        global TOTAL
        TOTAL += 1
        return TOTAL

    return step, lambda: TOTAL


def _of(held: Any, change: Callable[[Any], Any]) -> tuple[Step, Step]:
    def step() -> int:
        change(held)
        return len(held)

    def now() -> Any:
        return sorted(held) if isinstance(held, set) else list(held)

    return step, (lambda: dict(held)) if isinstance(held, dict) else now


def _add_one(held: Any) -> None:
    held[0] += 1


def _count(held: Any) -> None:
    held["n"] += 1


STATES: dict[str, Callable[[], tuple[Step, Step]]] = {
    "an attribute": _attribute,
    "a new attribute": _new_attribute,
    "a slot": _slot,
    "a variable": _variable,
    "a global": _global,
    "an element": lambda: _of([0], _add_one),
    "a list that grows": lambda: _of([], lambda held: held.append(7)),
    "a list that is cleared": lambda: _of([1, 2], lambda held: held.clear()),
    "a list in order": lambda: _of([1, 3, 2], lambda held: held.reverse()),
    "an entry": lambda: _of({"n": 0}, _count),
    "new entries": lambda: _of({}, lambda held: held.update({len(held): 1})),
    "entries in order": lambda: _of(
        OrderedDict(a=1, b=2), lambda held: held.move_to_end(next(iter(held)))),
    "a default": lambda: _of(defaultdict(int), _count),
    "a counter": lambda: _of(Counter(), _count),
    "a set": lambda: _of(set(), lambda held: held.add(len(held))),
    "a deque": lambda: _of(deque([1, 2, 3], 3), lambda held: held.rotate()),
    "bytes": lambda: _of(bytearray(2), _add_one),
    "an array": lambda: _of(array("d", [0, 1]), _add_one),
    "an array of NumPy": lambda: _of(np.zeros(3), _add_one),
    "a part of one": lambda: _of(np.zeros(6)[::2], _add_one),
    "a large one": lambda: _of(np.zeros(10_000), _add_one),
}  # fmt: skip


def _results(way: str, wrap: Any, step: Step, now: Step) -> Any:
    """The results of a function of one way in four calls, and the state after each."""
    found = []
    made: list[int] = []
    state = Tensor(np.ones(2)) * 2  # not in memory: it has to be, to be assigned
    if way == "an object is returned":
        call = wrap(lambda x: SimpleNamespace(y=x * step()))
        each = lambda: call(Tensor([1.0, 2.0])).y  # noqa: E731
    elif way == "a tensor was not in memory":

        def assigned(x: Tensor) -> Tensor:
            state.assign(state + x * step())
            return state.sum()

        call = wrap(assigned)
        each = lambda: call(Tensor([1.0, 2.0]))  # noqa: E731
    else:

        def changed(x: Tensor, given: list[int]) -> Tensor:
            given.append(1)
            return x * step() * len(given)

        call = wrap(changed)
        each = lambda: call(Tensor([1.0, 2.0]), made)  # noqa: E731
    for _ in range(4):
        found.append((each().tolist(), repr(now()), len(made)))
    return found


WAYS = ("an object is returned", "a tensor was not in memory", "a list that is given changes")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("state", STATES)
def test_state_is_that_without_jit(state: str, way: str) -> None:
    with_jit, without = (
        _results(way, wrap, *STATES[state]())
        for wrap in (compiler.jit, lambda function: function)
    )
    assert with_jit == without


def test_state_that_cannot_be_put_back_is_refused() -> None:
    """An attribute of a class: the call is refused, and not done twice without a word."""
    Counting.n = 0

    @compiler.jit
    def counted(x: Tensor) -> Any:
        Counting.n += 1
        return SimpleNamespace(y=x * Counting.n)

    with pytest.raises(JitError, match="has to be called again to be captured") as raised:
        counted(Tensor([1.0]))
    assert "n changed" in str(raised.value)


def test_an_exception_of_the_function_keeps_what_it_changed() -> None:
    log: list[int] = []

    @compiler.jit
    def fails(x: Tensor) -> Tensor:
        log.append(1)
        raise ValueError("mine")

    for count in (1, 2):
        with pytest.raises(ValueError, match="mine"):
            fails(Tensor([1.0]))
        assert len(log) == count


def test_what_only_putting_back_needs_is_released() -> None:
    held = {"a": [1, 2], "b": 3}
    box = SimpleNamespace(n=2)
    step = compiler.jit(lambda x: x * held["b"] + box.n + sum(held["a"]))
    x = Tensor(np.ones(2)).realize()
    assert step(x).numpy().tolist() == [8, 8]
    ((captured,),) = step._kept.values()
    surroundings = captured._around
    assert not surroundings.tensors and not surroundings.seen
    assert not any(guard.keys for guard in surroundings.guards.apart)
    assert not any(each.owner or each.entries for each in surroundings.guards.elements)
    for change, right in ((lambda: held.update(b=4), 9), (lambda: held["a"].append(1), 10),
                          (lambda: vars(box).update(n=3), 11), (lambda: held.update(c=1), 11)):
        change()  # type: ignore[no-untyped-call]
        assert step(x).numpy().tolist() == [right, right]
