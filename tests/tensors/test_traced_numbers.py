"""Numbers that change between calls of a captured function: as without `jit`."""

import itertools
import json
import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor
from compiler.tensors.traced_numbers import NumberRecord, is_same, plain
from tests.replay.number_ways import WAYS, differences, pairs

X = np.arange(1.0, 4.0)


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("number", range(12))
def test_ways_to_use_a_number(number: int) -> None:
    """Every way with one of the sequences, and each sequence with every ninth way."""
    of_way = {way: rows for way, (*rows,) in itertools.groupby(pairs(), lambda pair: pair[0])}
    chosen = [rows[place % len(rows)] for place, rows in enumerate(of_way.values())]
    assert len(chosen) == len(WAYS) >= 150
    assert [line for pair in chosen[number::12] for line in differences(*pair)] == []


@pytest.mark.parametrize(
    ("name", "captures"),
    [
        ("arithmetic: k ** 2", 2), ("arithmetic: divmod", 2), ("arithmetic: augmented", 2),
        ("arithmetic: stored", 2), ("arithmetic: -k", 2),
        ("question: isinstance int", 2), ("question: k > 1", 3),
        ("question: match", 3), ("question: min", 3), ("conversion: a result", 2),
        ("conversion: results", 2), ("operation: clip", 2), ("operation: full", 2),
        ("operation: layernorm", 2), ("operation: int8", 2), ("operation: dropout", 2),
    ],
)  # fmt: skip
def test_few_captures_serve_all_numbers(name: str, captures: int) -> None:
    f = compiler.jit(WAYS[name])
    x = Tensor(np.arange(6.0).reshape(2, 3))
    for number in range(2, 12):
        f(x, number / 16 if name in ("operation: dropout", "operation: layernorm") else number)
    assert f.cache_info().captures <= captures


def test_a_number_that_is_asked_for_is_part_of_the_signature() -> None:
    f = compiler.jit(lambda x, axis, by: x.sum(axis) * by)
    x = np.arange(6.0).reshape(2, 3)
    for axis, by in ((0, 0.5), (1, 1.5), (0, 2.5), (1, 3.5), (0, 4.5), (1, 5.5)):
        np.testing.assert_array_equal(f(x, axis, by).numpy(), x.sum(axis) * by)
    assert f.cache_info().captures <= 4


def test_steps_that_raise_are_raised_by_the_function() -> None:
    f = compiler.jit(lambda x, k: x * (6 // k))
    assert [f(X, k).numpy()[0] for k in (1, 2, 3)] == [6, 3, 2]
    with pytest.raises(ZeroDivisionError):
        f(X, 0)
    assert f(X, 6).numpy()[0] == 1
    g = compiler.jit(lambda x, k: x + k)
    small = np.ones(2, "int8")
    assert [g(small, k).numpy()[0] for k in (1, 2, 3)] == [2, 3, 4]
    with pytest.raises(DataError, match="does not fit into int8"):
        g(small, 300)


def test_a_number_is_rounded_as_a_constant_is() -> None:
    f = compiler.jit(lambda x, k: (x.cast("float32") * k, x.cast("float16") + k))
    for k in (0.1, 1 / 3, 1e300, -0.0, math.nan, 16777217, 0.7):
        for made, wanted in zip(f(X, k), f.function(Tensor(X), k), strict=True):
            assert made.numpy().tobytes() == wanted.numpy().tobytes()


def test_integers_of_any_size_stay_exact() -> None:
    f = compiler.jit(lambda x, k: x * (k % 1000003) + (k > 2**80))
    for k in (1, 2**70, 2**90 + 7, 3**60):
        np.testing.assert_array_equal(f(X, k).numpy(), X * (k % 1000003) + (k > 2**80))


def test_a_function_that_writes_state_sees_each_call_once() -> None:
    seen: list[Any] = []

    @compiler.jit
    def f(x: Tensor, k: int) -> Tensor:
        seen.append(k)
        return x.sum(k)

    for k in (0, 1, 0, 1):
        f(np.ones((2, 2)), k)
    assert seen == [0, 1, 0, 1] and all(type(k) is int for k in seen)


def test_text_of_a_number_that_only_python_takes() -> None:
    f = compiler.jit(lambda x, k: x * len(json.dumps({"k": k})))
    for k in (1, 22, 333, 22):
        assert f(X, k).numpy()[0] == len(json.dumps({"k": k}))


def test_gradients_go_through_a_number() -> None:
    w = Tensor(np.array([2.0]), requires_grad=True)
    f = compiler.jit(lambda k: (w * w * (k + 1)).sum())
    for k in (1.0, 2.0, 3.0, 4.0):
        w.grad = None
        f(k).backward()
        assert w.grad is not None and w.grad.item() == 4 * (k + 1)


@dataclass(frozen=True)
class Setting:
    """Equal to another one whatever the note is."""

    k: float
    note: tuple[Any, ...] = field(default=(), compare=False)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Setting(1.0), Setting(1)), (Setting(0.0), Setting(-0.0)),
        (Setting(1.0, (1,)), Setting(1.0, (2.0,))), (frozenset({1}), frozenset({True})),
        (math.nan, float("nan")), (0.0, -0.0), (1, True), (np.float32(1), 1.0), (1j, complex(1, 0)),
    ],
)  # fmt: skip
def test_arguments_that_are_equal_are_told_apart(first: Any, second: Any) -> None:
    f = compiler.jit(lambda x, each: x * len(repr(each)) + (isinstance(each, int) or 7))
    for each in (first, second, first, second):
        np.testing.assert_array_equal(f(X, each).numpy(), f.function(Tensor(X), each).numpy())


def test_results_inside_an_object_are_new_in_each_call() -> None:
    @dataclass
    class Result:
        loss: Tensor
        k: float

    f = compiler.jit(lambda x, k: Result(x * k, k))
    found = [f(X, k) for k in (1.0, 2.0, 3.0, 4.0)]
    assert [(each.loss.numpy()[0], each.k) for each in found] == [(n, n) for n in range(1, 5)]
    assert len({id(each) for each in found}) == 4


def test_not_a_number_is_captured_once() -> None:
    f = compiler.jit(lambda x, k: x * k)
    for _ in range(5):
        f(X, float("nan"))
    assert f.cache_info().captures == 1


def test_a_record_repeats_what_was_computed() -> None:
    record = NumberRecord([3, 0.5])
    count, rate = record.number(0), record.number(1)
    made = (count + 1) * rate
    assert plain(made) == 2.0 and made > 1
    record.end()
    assert record.replayed([5, 0.5]) == [5, 0.5, 6, 3.0, True]
    assert record.replayed([1, 0.25]) is None  # the comparison is false
    assert record.replayed([3.0, 0.5]) is None  # 4.0, another type
    assert count + 1 == 4 and type(count + 1) is int  # a plain number from then on


def test_same_answers() -> None:
    assert is_same((1, 2.0), (1, 2.0)) and is_same(math.nan, float("nan"))
    assert not is_same(0.0, -0.0) and not is_same(1, True) and not is_same((1,), (1.0,))
