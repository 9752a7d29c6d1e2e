"""Execution plans: other data, refusals, many threads; and the cache of schedules."""

import gc
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import MachineModel, Options, Tensor, Variable
from compiler.core.errors import CompileError, DataError, DTypeError, ShapeError
from compiler.core.node import toposort
from compiler.pipeline import driver, kernels
from compiler.run import plans

RNG = np.random.default_rng(3)


def array(*shape: int) -> np.ndarray:  # type: ignore[type-arg]
    return RNG.standard_normal(shape).astype(np.float32)


def layers(x: np.ndarray, w: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    for _ in range(3):
        x = np.maximum(x @ w, 0)
    return x - x.max(1, keepdims=True)


def program(x: np.ndarray, w: np.ndarray) -> Tensor:  # type: ignore[type-arg]
    value, weight = Tensor(x, name="x"), Tensor(w, name="w")
    for _ in range(3):
        value = (value @ weight).relu()
    return value - value.max(1, keepdim=True)


# --- plans ----------------------------------------------------------------------------------------


def test_a_plan_runs_on_its_own_data_and_on_others() -> None:
    x, w, other = array(8, 16), array(16, 16), array(8, 16)
    plan = compiler.prepare(program(x, w))
    assert [b.name for b in plan.inputs] == ["x", "w"]
    for given, expected in (
        ((), layers(x, w)), ({"x": other}, layers(other, w)), ([other], layers(other, w)),
        ([other, w * 2], layers(other, w * 2)), ({}, layers(x, w)),
    ):  # fmt: skip
        (value,) = plan.run(given)  # type: ignore[arg-type]
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-4)


def test_several_results_and_a_list() -> None:
    x = Tensor(array(4, 4), name="x")
    plan = compiler.prepare([x.exp(), x.sum(1), x])
    new = array(4, 4)
    exp, total, same = plan.run({"x": new})
    np.testing.assert_allclose(exp, np.exp(new), rtol=1e-5)
    np.testing.assert_allclose(total, new.sum(1), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(same, new)
    same[...] = 0
    assert not np.shares_memory(same, new) and new.any(), "a result never is the caller's data"


def test_results_of_two_runs_are_two_arrays() -> None:
    plan = compiler.prepare(program(array(4, 8), array(8, 8)))
    (first,), (second,) = plan.run(), plan.run()
    assert not np.shares_memory(first, second)
    kept = first.copy()
    plan.run({"x": array(4, 8)})
    np.testing.assert_array_equal(first, kept)


def test_data_of_any_layout_are_taken() -> None:
    x = Tensor(np.zeros((3, 4), np.float32), name="x")
    plan = compiler.prepare(x * 2)
    wide = array(6, 8)
    for given in (wide[::2, ::2], wide[:3, :4].T.copy().T, wide[:3, :4].astype(">f4")):
        np.testing.assert_array_equal(plan.run([given])[0], given * 2)


def test_no_inputs_rank_zero_and_size_zero() -> None:
    np.testing.assert_array_equal(compiler.prepare(Tensor.arange(4)).run()[0], np.arange(4))
    assert compiler.prepare(Tensor(2.0, name="s") + 1).run([np.array(5.0)])[0] == 6.0
    empty = compiler.prepare(Tensor(np.zeros((0, 3)), name="e").exp())
    assert empty.run()[0].shape == (0, 3)


def test_a_realised_tensor_stands_for_its_program() -> None:
    x = array(5)
    value = Tensor(x, name="x").exp().realize()
    np.testing.assert_allclose(compiler.prepare(value).run([x * 0])[0], np.ones(5))


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"y": array(2, 3)}, DataError, "no such input.*\n.*'y'.*\n.*x f32.*, an unnamed f32"),
        ({"": array(2, 3)}, DataError, "no such input|several inputs"),
        ([array(2, 3)] * 3, DataError, "too many inputs"),
        ({"x": array(3, 2)}, ShapeError, r"x has another shape\n.*\(3, 2\)\n.*\(2, 3\)"),
        ({"x": array(2, 3).astype("f8")}, DTypeError, r"x has another type\n.*float64"),
        ([None], DataError, "x is no array"),
        ({"x": [[1.0] * 3] * 2}, DataError, "x is no array"),
        ([np.array([["a"] * 3] * 2)], DTypeError, "type"),
    ],
)
def test_data_that_do_not_fit_are_refused(
    given: object, error: type[CompileError], words: str
) -> None:
    plan = compiler.prepare(Tensor(array(2, 3), name="x") + Tensor(array(2, 3)))
    with pytest.raises(error, match=words):
        plan.run(given)  # type: ignore[arg-type]


def test_a_name_that_two_inputs_have_is_refused() -> None:
    plan = compiler.prepare(Tensor(array(2), name="x") + Tensor(array(2), name="x"))
    with pytest.raises(DataError, match="several inputs"):
        plan.run({"x": array(2)})
    assert len(plan.run([array(2), array(2)])) == 1


@pytest.mark.parametrize("value", [[], 1, "x", [Tensor(1.0), 2]])
def test_only_tensors_are_prepared(value: object) -> None:
    with pytest.raises(DataError):
        compiler.prepare(value)


def test_a_plan_explains_itself() -> None:
    plan = compiler.prepare(program(array(4, 8), array(8, 8)))
    text = plan.explain()
    assert "level 0: 0\n  0 k0 reads x w writes tmp0" in text
    assert "without sharing" in text
    assert [level.items for level in plan.levels] == [(0,), (1,), (2,), (3,)]
    assert "4 items, 4 levels" in repr(plan)
    unplanned = compiler.prepare(program(array(4, 8), array(8, 8)), Options(plan_memory=False))
    assert unplanned.memory is None and "sharing" not in unplanned.explain()


def test_eight_threads_share_a_plan() -> None:
    w = array(32, 32)
    plan = compiler.prepare(program(array(16, 32), w))
    given = [array(16, 32) for _ in range(8)]
    wrong: list[int] = []

    def run(number: int) -> None:
        expected = layers(given[number], w)
        for _ in range(20):
            (value,) = plan.run({"x": given[number]})
            if not np.allclose(value, expected, rtol=1e-3, atol=1e-3):
                wrong.append(number)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# --- the cache ------------------------------------------------------------------------------------


def test_the_same_structure_is_neither_scheduled_nor_compiled_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiler.cache_clear()
    w = array(16, 16)
    program(array(8, 16), w).numpy()
    made = compiler.cache_info()
    assert made.schedules.misses == 1 and made.programs.misses == made.programs.kept

    def refuse(*_: object) -> None:
        raise AssertionError("a structure that is known was scheduled again")

    monkeypatch.setattr(driver, "run", refuse)
    for _ in range(5):
        x = array(8, 16)
        value = program(x, w).numpy()
        np.testing.assert_allclose(value, layers(x, w), rtol=1e-3, atol=1e-3)
    info = compiler.cache_info()
    assert info.programs == made.programs
    assert (info.schedules.hits, info.schedules.misses, info.schedules.kept) == (5, 1, 1)


def test_structure_is_all_that_counts_and_all_of_it_does() -> None:
    x, y = Tensor(array(4, 4), name="x"), Tensor(array(4, 4), name="y")

    def key(value: Tensor) -> object:
        return plans.without_data([value.node])[0]

    assert key(x + y) is key(y + x) is key(Tensor(array(4, 4)) + Tensor(array(4, 4)))
    different = [x + y, x + x, x - y, x + y[:, :1], x + 1.0, x + 2.0, (x + y).reshape(16)]
    assert len({key(value) for value in different}) == len(different)
    wide = [Tensor(np.zeros(4, t)) + 1 for t in ("f4", "f8", "i4")]
    assert len({key(value) for value in wide}) == 3


def test_options_are_part_of_the_key() -> None:
    x = Tensor(array(6, 6))
    made = [
        plans.structure_of([x.exp().node], options)[0]
        for options in (
            Options(), Options(optimize=0), Options(plan_memory=False),
            Options(trace=True, machine=MachineModel(launch_ns=1.0)),
            Options(loops="plain"), Options(loops="plain", machine=MachineModel(launch_ns=1.0)),
        )
    ]  # fmt: skip
    assert made[4] is made[5], "a model changes nothing but what is chosen"
    assert len({id(m) for m in made}) == 5
    again, _ = plans.structure_of([x.exp().node], Options(trace=True))
    assert again is made[0], "a trace does not change what runs"


def test_the_cache_keeps_no_data_alive() -> None:
    data = array(7, 9)
    gone = weakref.ref(data)
    value = Tensor(data, name="x").exp()
    value.numpy()
    assert any(b.unique < plans.FIRST for b in toposort([value.recipe]) if not b.sources)
    del data, value
    gc.collect()
    assert gone() is None


def test_the_least_recently_used_schedule_goes_first() -> None:
    held = plans.Structures(2)
    roots = [plans.without_data([(Tensor(array(n)) + 1.0).node])[0] for n in (2, 3, 4)]
    for root in (roots[0], roots[1], roots[0], roots[2], roots[0]):
        held.get(root, 1, Options())
    assert (held.hits, held.misses, len(held)) == (2, 3, 2)
    held.get(roots[1], 1, Options())
    assert held.misses == 4
    held.clear()
    assert (held.hits, held.misses, len(held)) == (0, 0, 0)


def test_clearing_keeps_plans_that_exist() -> None:
    x = array(3, 3)
    plan = compiler.prepare(Tensor(x).exp())
    compiler.cache_clear()
    info = compiler.cache_info()
    assert (info.programs.kept, info.schedules.kept) == (0, 0)
    np.testing.assert_allclose(plan.run()[0], np.exp(x), rtol=1e-5)
    assert kernels.PROGRAMS.misses == 0


def test_a_program_that_does_not_fit_is_refused_each_time() -> None:
    small = Options(memory_limit=100)
    for _ in range(2):
        with pytest.raises(CompileError, match="does not fit"):
            compiler.prepare(Tensor(array(64)).exp(), small)


def test_the_limit_counts_what_is_shared_once() -> None:
    x = Tensor(np.eye(8, dtype=np.float32))
    value = x
    for _ in range(6):
        value = value @ x
    limit = Options(memory_limit=3 * 8 * 8 * 4)
    np.testing.assert_array_equal(compiler.prepare(value, limit).run()[0], np.eye(8))
    with pytest.raises(CompileError, match="do not fit in memory together"):
        compiler.prepare(value, replace(limit, plan_memory=False))


def test_a_repeated_program_takes_microseconds() -> None:
    x, w = Tensor(array(4, 4)), Tensor(array(4, 4))
    (x @ w).relu().numpy()
    least = 1.0
    for _ in range(50):
        start = time.perf_counter()
        (x @ w).relu().numpy()
        least = min(least, time.perf_counter() - start)
    assert least < 0.005, "some 0.1 ms on a machine that does nothing else"


# --- variables ------------------------------------------------------------------------------------


def test_a_plan_runs_for_every_value_of_its_variable() -> None:
    n = Variable("n", 1, 20)
    rows = array(20, 6)
    plan = compiler.prepare(Tensor(rows[:7], name="x", symbolic={0: n}).exp().sum(1))
    compiled = compiler.cache_info()
    for size in (7, 1, 20, 13):
        (value,) = plan.run([rows[:size]])
        assert value.shape == (size,)
        np.testing.assert_allclose(value, np.exp(rows[:size]).sum(1), rtol=1e-4)
    (part,) = plan.run([rows], {"n": 5})
    np.testing.assert_allclose(part, np.exp(rows[:5]).sum(1), rtol=1e-4)
    assert plan.run()[0].shape == (7,), "what it was bound to"
    assert compiler.cache_info() == compiled


@pytest.mark.parametrize(
    ("given", "values", "words"),
    [
        ((), {"m": 3}, "no variable m"),
        ((), {"n": 0}, "outside its bounds"),
        ((), {"n": 8}, "x holds fewer rows than a variable says"),
        ([array(21, 6)], None, "outside its bounds|another shape"),
        ([array(3, 5)], None, "another shape"),
    ],
)
def test_values_that_do_not_fit_are_refused(
    given: object, values: dict[str, int] | None, words: str
) -> None:
    x = Tensor(array(7, 6), name="x", symbolic={0: Variable("n", 1, 20)})
    with pytest.raises(CompileError, match=words):
        compiler.prepare(x.exp()).run(given, values)  # type: ignore[arg-type]


def test_other_bound_values_are_the_same_structure() -> None:
    n = Variable("n", 1, 20)
    roots = [
        plans.without_data([Tensor(array(size, 6), symbolic={0: n}).exp().node])[0]
        for size in (3, 9)
    ]
    assert roots[0] is roots[1]


KEPT: dict[str, Callable[[Tensor], Any]] = {
    "a loop": lambda x: compiler.repeat(2, lambda i, s: s.sort() + i, x),
    "a loop in a loop": lambda x: compiler.repeat(
        2, lambda i, s: compiler.repeat(3, lambda j, t: t + i * j, s), x
    ),
    "clones": lambda x: x.clone() + x.clone(),
    "a clone in a loop": lambda x: compiler.repeat(2, lambda i, s: s.clone() + 1, x),
    "a kernel": lambda x: Tensor.kernel("plus", lambda s: s + 1, x),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_has_a_body_is_kept(name: str) -> None:
    """The same program from another line, on other data, is not compiled again."""
    again = {
        "a loop": lambda x: compiler.repeat(2, lambda i, s: s.sort() + i, x),
        "a loop in a loop": lambda x: compiler.repeat(
            2, lambda i, s: compiler.repeat(3, lambda j, t: t + i * j, s), x
        ),
        "clones": lambda x: x.clone() + x.clone(),
        "a clone in a loop": lambda x: compiler.repeat(2, lambda i, s: s.clone() + 1, x),
        "a kernel": lambda x: Tensor.kernel("plus", lambda s: s + 1, x),
    }
    compiler.cache_clear()
    KEPT[name](Tensor([3.0, 1.0])).numpy()
    again[name](Tensor([1.0, 3.0])).numpy()
    assert compiler.cache_info().schedules.misses == 1
