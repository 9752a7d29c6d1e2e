"""Programs are measured item by item; no data change, and omissions are reported."""

import itertools
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, custom
from compiler.ask import measure as module
from compiler.ask.measure import empty_call
from compiler.ask.measurement import CALL, Measurement
from compiler.core.errors import DataError
from compiler.run.execution import bind
from compiler.threads.launch import Launch

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few rounds suffice here."""
    monkeypatch.setattr(module, "MOST_RUNS", 4)


def array(*shape: int) -> Any:
    return rng.standard_normal(shape).astype(np.float32)


def layer() -> Tensor:
    """Several kernels."""
    x, w, v = (Tensor(array(*it)) for it in ((32, 48), (48, 64), (64, 8)))
    return (((x @ w).relu() @ v).softmax() + 1.0).sum(0)


def measured(value: Any, options: Options | None = None, **given: Any) -> Measurement:
    return compiler.compile(value, options or Options(cache=False)).measure(**given)


def assert_sound(found: Measurement) -> None:
    """Every item has its times, in order, and the path is a path."""
    assert [it.item_id for it in found.times] == [i.item_id for i in found.schedule.items]
    assert all(0 < it.low <= it.ns <= it.high for it in found.times)
    assert {it.rounds for it in found.times} == {found.rounds}
    assert found.left_out == () and 0 < found.call < 1e6
    assert found.total == pytest.approx(sum(it.ns for it in found.times))
    waits = {(i.item_id, d) for i in found.schedule.items for d in i.depends_on}
    path = found.critical_path
    assert path and all((b, a) in waits for a, b in itertools.pairwise(path))


def test_every_item_has_a_time_and_the_results_are_those_of_run() -> None:
    made = compiler.compile(layer(), Options(cache=False))
    found = made.measure()
    assert_sound(found)
    assert found.rounds == 4 and found.whole is not None and not found.notes
    for have, want in zip(found.results, made.run(), strict=True):
        np.testing.assert_array_equal(have, want)


def test_iterations_of_a_loop_and_copies_between_devices_are_items_of_their_own() -> None:
    matrix, vector = Tensor(array(6, 6)), Tensor(array(6))
    last = compiler.repeat(4, lambda i, v: matrix @ v * 0.1, vector)
    made = compiler.compile(last.to("CPU:1") + 1.0, Options(cache=False))
    found = made.measure()
    assert_sound(found)
    words = [type(i.operation).__name__ for i in found.schedule.items]
    assert words.count("Kernel") >= 5 and "MemoryTransfer" in words
    np.testing.assert_array_equal(found.results[0], made.run()[0])


def test_what_is_written_in_place_stays_as_it_was() -> None:
    data = np.arange(64, dtype=np.float32)
    state = Tensor(data, name="state")
    kept = data.copy()
    made = compiler.compile(state.assign(state * 2.0 + 1.0), Options(cache=False))
    found = made.measure()
    assert found.rounds == 4  # and yet it is as after one run
    np.testing.assert_array_equal(found.results[0], kept * 2 + 1)
    (live,) = made.inputs().values()
    np.testing.assert_array_equal(live, kept)
    made.run()  # this is what changes them
    np.testing.assert_array_equal(live, kept * 2 + 1)


def test_a_result_that_is_an_input_is_not_handed_out() -> None:
    data = array(8)
    found = measured([Tensor(data), Tensor(data) + 1.0])
    found.results[0][:] = 0
    assert data.any()


def test_kernels_of_several_tasks_run_on_their_threads() -> None:
    x = Tensor(array(256, 256))
    made = compiler.compile(x @ x, Options(cache=False, threads=2))
    program = next(iter(made.load().values()))
    found = made.measure()
    assert program.tasks > 1
    assert_sound(found)
    np.testing.assert_array_equal(found.results[0], made.run()[0])


def test_functions_of_the_user_are_called_in_every_round_which_is_said() -> None:
    seen: list[int] = []

    @custom.host(name="seen_and_doubled")
    def doubled(value: Any) -> Any:
        seen.append(1)
        return value * 2

    made = compiler.compile(doubled(Tensor(array(16)) + 1.0) + 1.0, Options(cache=False))
    seen.clear()
    found = made.measure()
    assert_sound(found)
    assert len(seen) >= 5
    assert f"your functions were called {len(seen)} times each" in found.notes


def test_the_interpreter_is_measured_and_named() -> None:
    found = measured(Tensor(array(8)) + 1.0, Options(cache=False, device="INTERPRET"))
    assert_sound(found)
    assert "an interpreter runs kernels: their times are its own, no machine code's" in found.notes


def test_a_program_without_its_data_says_so() -> None:
    n = compiler.Variable("n", 1, 64)
    x = Tensor(array(5, 3), symbolic={0: n})
    made = compiler.compile((x + 1.0).exp(), Options(cache=False))
    assert made.measure().results[0].shape == (5, 3)
    assert made.measure(variables={"n": 2}).results[0].shape == (2, 3)
    with pytest.raises(DataError):
        made.measure(variables={"n": 65})
    with pytest.raises(DataError, match="no time to measure"):
        made.measure(seconds=0)


def test_what_the_time_does_not_suffice_for_is_left_out() -> None:
    made = compiler.compile(layer(), Options(cache=False))
    count = len(made.schedule.items)
    found = made.measure(seconds=1e-9)
    assert found.left_out == tuple(range(1, count)) and found.results == ()
    assert found.whole is None
    assert f"left out: {count - 1} of {count} items were not reached in 1e-09 s" in found.notes
    assert len(found.timings) == count and found.critical_path
    assert "left out" in str(found)


def test_a_long_program_counts_its_first_round(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiler.compile(layer(), Options(cache=False))
    made.run()
    monkeypatch.setattr(module, "FOR_ROUNDS", 0.0)
    found = made.measure(seconds=5.0)
    assert {it.rounds for it in found.times} == {1}
    assert any("first round only" in note for note in found.notes)


def test_the_table_stands_in_order_of_time() -> None:
    found = measured(layer())
    head, *rows = found.lines
    assert head.text.split()[:3] == ["item", "name", "time"]
    items = [row for row in rows if row.entity]
    assert [row.entity for row in items] == [f"run:{it.item_id}" for it in found.slowest]
    assert [row.parents for row in items] == [(f"schedule:{it.item_id}",) for it in found.slowest]
    assert "µs" in items[0].text and "×" in items[0].text
    assert str(found).count("result 0") == 1
    times = [it.ns for it in found.slowest]
    assert times == sorted(times, reverse=True)


def test_the_picture_has_the_times() -> None:
    found = measured(layer())
    graph = found.to_networkx()
    for time in found.times:
        facts = graph.nodes[f"schedule:{time.item_id}"]
        assert facts["cost_measured_ns"] == round(time.ns)
        assert facts["finish_ns"] - facts["start_ns"] == max(1, round(time.ns))


def test_what_takes_no_longer_than_a_call_is_bound_by_it() -> None:
    found = measured(Tensor(array(2)) + 1.0)
    (time,) = found.times
    is_short = time.ns < 2 * found.call
    assert found.bound(time) == (CALL if is_short else "launch")
    assert found.schedule.analysis[0].bound == "launch"


def test_an_empty_launch_takes_some_time_and_does_nothing() -> None:
    assert 0 < empty_call() < 1e6
    Launch(0, (), 0)()


def test_bound_items_do_what_steps_do() -> None:
    """In particular where a buffer that is streamed to does not begin with a line."""
    from compiler.run.allocation import allocate
    from compiler.schedule.host import Host

    x = Tensor(array(1 << 20))
    made = compiler.compile(x * 2.0 + 1.0, Options(cache=False))
    items, (result,) = made.schedule.items, made.schedule.results
    inputs, programs = made.inputs(), made.load()
    room = np.empty(result.size + 16, np.float32)
    first = next(n for n in range(16) if room[n:].ctypes.data % 64)
    held = inputs | allocate(items, None) | {result: room[first : first + result.size]}
    for item in items:
        bind(item, held, programs, {}, Host())()
    np.testing.assert_array_equal(held[result], made.run()[0])
