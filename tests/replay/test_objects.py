"""Objects as arguments: called, changed, called again, as the function without `jit`."""

from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import compiler
from compiler import JitError, Tensor
from compiler.replay.objects import are_alike, signature
from compiler.tensors import trees

pytestmark = pytest.mark.filterwarnings("ignore::compiler.replay.function.NotCapturedWarning")
X = Tensor(np.arange(6.0)).realize()
FACTOR = [2.0]


@dataclass
class Config:
    """Fields of several kinds, and a method."""

    scale: Any = 2.0
    names: list[Any] = field(default_factory=list)
    more: Any = None

    def applied(self, x: Tensor) -> Tensor:
        """Reads a global, too."""
        return x * self.scale * FACTOR[0] + len(self.names)

    @property
    def double(self) -> Any:
        """A property."""
        return self.scale * 2


@dataclass(frozen=True)
class Frozen:
    """Has a hash."""

    n: Any = 1


@dataclass(slots=True)
class Slotted:
    """Has no dictionary."""

    n: Any = 1


class Pair(NamedTuple):
    """Has names."""

    a: Any
    b: Any


DEFAULT = Config()


def _same(got: Any, wanted: Any) -> None:
    one, other = trees.flat(got), trees.flat(wanted)
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        if isinstance(a, Tensor):
            assert a.dtype is b.dtype
            np.testing.assert_array_equal(a.numpy(), b.numpy())
        else:
            assert a == b and type(a) is type(b)


BY_VALUE: dict[str, tuple[Callable[..., Any], list[Callable[[], Any]]]] = {
    "slice": (lambda x, s: x[s] + 1, [lambda: slice(1, 3), lambda: slice(2, 5),
                                      lambda: slice(1, 3, 2), lambda: slice(None)]),
    "slices": (lambda x, s: x.reshape(2, 3)[s], [
        lambda: (slice(0, 1), slice(1, None)), lambda: (slice(0, 1), slice(2, None)),
        lambda: (slice(0, 1), 1)]),
    "slice in a list": (lambda x, s: x[s[0]], [lambda: [slice(3)], lambda: [slice(4)]]),
    "set": (lambda x, s: x + sum(s) + (10 if 3 in s else 0),
            [lambda: {1, 2}, lambda: {1, 2, 3}, lambda: set(), lambda: {1.0, 2}]),
    "frozenset": (lambda x, s: x + len(s), [lambda: frozenset("ab"), lambda: frozenset("abc")]),
    "dataclass": (lambda x, c: c.applied(x) + c.double,
                  [lambda: Config(1.0), lambda: Config(3.0), lambda: Config(3.0, ["a"]),
                   lambda: Config(3)]),
    "dataclass in one": (lambda x, c: x * c.more.scale + (1 if "k" in c.names[0] else 2),
                         [lambda: Config(1, [{"k": 1}], Config(2)),
                          lambda: Config(1, [{"j": 1}], Config(2)),
                          lambda: Config(1, [{"k": 1}], Config(3))]),
    "signs": (lambda x, c: x * (1.0 if str(c.n) == "0.0" else -1.0),
              [lambda: Frozen(0.0), lambda: Frozen(-0.0), lambda: Frozen(0)]),
    "types": (lambda x, c: x + (1 if isinstance(c.n, bool) else 2),
              [lambda: Slotted(True), lambda: Slotted(1)]),
    "arrays in one": (lambda x, c: x + float(c.n.sum()),
                      [lambda: Frozen(np.ones(2)), lambda: Frozen(np.zeros(2)),
                       lambda: Frozen(np.ones(3))]),
    "deque in one": (lambda x, c: x + c.n[0], [lambda: Slotted(deque([1])),
                                               lambda: Slotted(deque([2]))]),
    "named tuple in one": (lambda x, c: x + c.n.a, [lambda: Slotted(Pair(1, 2)),
                                                    lambda: Slotted(Pair(2, 2))]),
    "mask": (lambda x, m: x[m] + 1, [lambda: np.array([1, 0, 1, 0, 1, 1], bool),
                                     lambda: np.array([0, 0, 1, 0, 1, 1], bool),
                                     lambda: np.array([0, 0, 1, 0, 1, 0], bool)]),
    "other half": (lambda x, m: (x[m], x[~m], m), [lambda: np.array([1, 0, 1, 0, 1, 1], bool),
                                                   lambda: np.array([0, 0, 1, 0, 1, 1], bool)]),
    "count": (lambda x, m: x * int(m.sum().item()), [lambda: np.array([True, False]),
                                                     lambda: np.array([True, True])]),
    "flag": (lambda x, m: x if m else -x, [lambda: np.array(True), lambda: np.array(False)]),
    "mask as a tensor": (lambda x, m: x[m], [lambda: Tensor(np.arange(6) > 2),
                                             lambda: Tensor(np.arange(6) > 4)]),
    "mask of an axis": (lambda x, m: x.reshape(2, 3)[:, m], [lambda: np.array([1, 0, 1], bool),
                                                             lambda: np.array([0, 0, 1], bool)]),
}  # fmt: skip


@pytest.mark.parametrize("name", BY_VALUE)
def test_what_is_alike_is_captured_once(name: str) -> None:
    function, makers = BY_VALUE[name]
    captured = compiler.jit(function)
    for make in (*makers, *makers[::-1]):
        given = make()
        plain = Tensor(given) if isinstance(given, np.ndarray) else given
        _same(captured(X, given), function(X, plain))
    assert captured.cache_info().captures == len(makers)


KINDS: dict[str, tuple[Callable[..., Any], Callable[[], Any], Callable[[Any], Any]]] = {
    "attribute": (lambda x, c: x * c.scale, Config, lambda c: setattr(c, "scale", 5.0)),
    "list in it": (lambda x, c: x + len(c.names), Config, lambda c: c.names.append(1)),
    "dictionary in it": (lambda x, c: x + c.more["k"], lambda: Config(more={"k": 1}),
                         lambda c: c.more.update(k=2)),
    "array in it": (lambda x, c: x + float(c.more[0]), lambda: Config(more=np.ones(2)),
                    lambda c: c.more.fill(3)),
    "tensor in it": (lambda x, c: x * c.more, lambda: Config(more=Tensor(np.ones(6)).realize()),
                     lambda c: c.more.assign(c.more * 2).realize()),
    "another tensor": (lambda x, c: x * c.more, lambda: Config(more=Tensor(np.ones(6)).realize()),
                       lambda c: setattr(c, "more", Tensor(np.full(6, 3.0)))),
    "set": (lambda x, s: x + sum(s), lambda: {1}, lambda s: s.add(4)),
    "new attribute": (lambda x, c: x + getattr(c, "extra", 0), Config,
                      lambda c: setattr(c, "extra", 2)),
    "slot": (lambda x, c: x + c.n, Slotted, lambda c: setattr(c, "n", 7)),
    "namespace": (lambda x, c: x + c.n, lambda: SimpleNamespace(n=1),
                  lambda c: setattr(c, "n", 7)),
    "bytes": (lambda x, c: x + c[0], lambda: bytearray(b"a"), lambda c: c.insert(0, len(c))),
    "array": (lambda x, c: x + c[0], lambda: array("d", [1.0]),
              lambda c: c.__setitem__(0, 2.0)),
    "mask": (lambda x, m: x[m], lambda: np.array([1, 0, 0, 0, 0, 1], bool),
             lambda m: m.__setitem__(1, True)),
    "mask as a tensor": (lambda x, m: x[m], lambda: Tensor(np.arange(6) > 2).realize(),
                         lambda m: m.assign(m.logical_not()).realize()),
    "global of a method": (lambda x, c: c.applied(x), Config, lambda c: FACTOR.append(FACTOR.pop())
                           or FACTOR.__setitem__(0, FACTOR[0] + 1)),
    "property": (lambda x, c: x * c.double, Config, lambda c: setattr(c, "scale", 0.5)),
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_a_change_in_place_is_seen(name: str) -> None:
    function, make, change = KINDS[name]
    captured, given = compiler.jit(function), make()
    for turn in range(3):
        if turn:
            change(given)
        for _ in range(2):
            plain = Tensor(given) if isinstance(given, np.ndarray) else given
            _same(captured(X, given), function(X, plain))
        other = make()
        plain = Tensor(other) if isinstance(other, np.ndarray) else other
        _same(captured(X, other), function(X, plain))


def test_an_object_that_stands_around_is_like_itself_alone() -> None:
    def function(x: Tensor, c: Config) -> Tensor:
        return x * 2 if c is DEFAULT else x * 3

    captured = compiler.jit(function)
    for given in (Config(), DEFAULT, Config(), DEFAULT):
        _same(captured(X, given), function(X, given))


def test_which_arguments_are_one_object() -> None:
    def function(x: Tensor, a: Any, b: Any) -> Tensor:
        return x * 2 if a is b or a.names is b.names else x * 3

    captured, one, two, names = compiler.jit(function), Config(), Config(), ["a"]
    pairs = [
        (one, one), (one, two), (two, two), (two, one), (Config(1, names), Config(1, names)),
        (Config(1, ["a"]), Config(1, ["a"])), (Config(1, names), Config(1, names)),
    ]  # fmt: skip
    for a, b in pairs:
        _same(captured(X, a, b), function(X, a, b))


def test_what_is_returned_is_of_this_call() -> None:
    captured = compiler.jit(lambda x, c: (x + 1, c, c.more))
    for _ in range(3):
        given = Config(more=Frozen(2))
        _, same, inner = captured(X, given)
        assert same is given and inner is given.more
    assert captured.cache_info().captures == 3


def test_a_tensor_of_an_object_is_assigned() -> None:
    captured = compiler.jit(lambda x, c: c.more.assign(c.more + x))
    for n in (1.0, 1.0, 2.0):
        given = Config(more=Tensor(np.full(6, n)).realize())
        captured(X, given)
        captured(X, given)
        np.testing.assert_array_equal(given.more.numpy(), n + 2 * np.arange(6))


@pytest.mark.parametrize("make", [lambda: {1}, Config, Slotted, lambda: SimpleNamespace(n=1)])
def test_an_object_that_the_function_changes(make: Callable[[], Any]) -> None:
    def function(x: Tensor, c: Any) -> Tensor:
        if isinstance(c, set):
            c.add(len(c) + 1)
            return x + len(c)
        name = "scale" if isinstance(c, Config) else "n"
        setattr(c, name, getattr(c, name) + 1)
        return x + getattr(c, name)

    captured, one, two = compiler.jit(function), make(), make()
    for _ in range(4):
        _same(captured(X, one), function(X, two))
        assert one == two


def test_mappings_are_what_they_are() -> None:
    def function(x: Tensor, m: Mapping[str, Tensor]) -> Tensor:
        kind = [dict, OrderedDict, defaultdict, Counter, MappingProxyType].index(type(m))
        total = x * (10 if "a" in m else 20) + kind
        return total + m["b"] if isinstance(m, defaultdict) else total

    captured = compiler.jit(function)
    given: list[Any] = [
        MappingProxyType({"a": X}), MappingProxyType({"b": X}), {"a": X}, OrderedDict(a=X),
        OrderedDict(b=X), defaultdict(int, c=X), defaultdict(float, a=X), Counter(a=2),
    ]  # fmt: skip
    for _ in range(2):
        for each in given:
            wanted = function(X, type(each)(*_arguments(each)))
            _same(captured(X, type(each)(*_arguments(each))), wanted)


def _arguments(mapping: Any) -> list[Any]:
    return [*([mapping.default_factory] if isinstance(mapping, defaultdict) else []), dict(mapping)]


def test_truth_values_in_memory_that_is_written_are_refused() -> None:
    state = Tensor(np.array([True, False, True, False, False, True])).realize()

    @compiler.jit
    def f(x: Tensor, m: Tensor) -> Tensor:
        state.assign(state.logical_not())
        return x[m]

    with pytest.raises(JitError, match="shares memory"):
        f(X, state)

    @compiler.jit
    def g(x: Tensor, m: Tensor) -> Tensor:
        found = x[m]
        m.assign(m.logical_not())
        return found

    mask = Tensor(np.arange(6) > 2).realize()
    for wanted in ([3, 4, 5], [0, 1, 2], [3, 4, 5]):
        assert g(X, mask).numpy().tolist() == wanted


def test_values_of_other_inputs_are_still_refused() -> None:
    mask = np.arange(6) > 2
    for function in (lambda x, m: x[m & (x > 3)], lambda x, m: x * x[m].sum().item()):
        with pytest.raises(JitError, match="not their values"):
            compiler.jit(function)(X, mask)


def test_gradients_of_what_a_mask_chooses() -> None:
    def loss(x: Tensor, m: Any) -> Tensor:
        return (x[m] * x[m]).sum()

    captured = compiler.jit(loss)
    for mask in (np.arange(6) > 2, np.arange(6) > 3, np.arange(6) > 2):
        found = []
        for function in (captured, loss):
            x = Tensor(np.arange(6.0), requires_grad=True)
            function(x, Tensor(mask) if function is loss else mask).backward()
            assert x.grad is not None
            found.append(x.grad.numpy().tolist())
        assert found[0] == found[1]


def test_alike() -> None:
    loop: list[Any] = [1]
    loop.append(loop)
    again: list[Any] = [1]
    again.append(again)
    one, two = Config(more=loop), Config(more=again)
    assert are_alike([one], [two]) and signature(one) == signature(one)
    assert not are_alike([{8, 0}], [_reordered()]) or list({8, 0}) == list(_reordered())
    assert not are_alike([Frozen(X)], [Frozen(X + 0)])
    assert not are_alike([Slotted(1)], [Frozen(1)]) and are_alike([Slotted(1)], [Slotted(1)])


def _reordered() -> set[int]:
    found = {0, 8}
    found.discard(0)
    found.add(0)
    return found


LISTS: list[Any] = [[1.0], [1.0]]
ITEMS = {"a": 1.0}


def test_which_containers_are_one() -> None:
    def function(x: Tensor, a: Any, b: Any) -> Any:
        which = [a is b, a is LISTS[0], a is LISTS, b is ITEMS]
        return x * sum(2**n for n, each in enumerate(which) if each), (a, b, a)

    captured, one, two = compiler.jit(function), [X, 1], (X, 2)
    pairs: list[Any] = [
        (one, one), (one, [X, 1]), (two, two), (two, (X, 2)), ({"k": X}, {"k": X}),
        (LISTS[0], one), ([1.0], one), (LISTS, one), ([[1.0], [1.0]], one), (one, ITEMS),
        (one, {"a": 1.0}), ((), ()), ([one, one], one), ([one, [X, 1]], one),
    ]  # fmt: skip
    for _ in range(2):
        for a, b in pairs:
            got, (first, second, third) = captured(X, a, b)
            wanted, _ = function(X, a, b)
            _same(got, wanted)
            assert (first is second) is (a is b) and first is third


def test_a_list_that_is_given_and_changed_as_a_global() -> None:
    values = [1.0]

    def function(x: Tensor, given: list[float]) -> Tensor:
        values.append(2.0)
        return x * sum(given)

    captured = compiler.jit(function)
    for n in (3.0, 5.0, 7.0):
        assert captured(X, values).numpy().tolist() == (X * n).numpy().tolist()
