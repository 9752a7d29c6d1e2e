"""Calls in order, loops unrolled: one test per behaviour, named after it."""

import pytest

from compiler.core.errors import ScheduleError
from compiler.core.node import Node
from compiler.graph.nodes import Sink, Store
from compiler.schedule.prepare import create_pre_schedule
from compiler.schedule.strict.builder import KernelGraphBuilder
from compiler.schedule.strict.instantiate import create_schedule
from compiler.schedule.strict.run import run_schedule
from tests.schedule.graphs import (
    COPY,
    FILL,
    INCREMENT,
    ONE,
    P,
    data,
    dependencies,
    loop,
    made,
    refused,
    runs,
)

# --- finding the calls ------------------------------------------------------------------------


def test_callables_are_found_without_entering_bodies(b: KernelGraphBuilder) -> None:
    hidden = b.call("hidden", FILL, made(b, "h"))
    body = Sink((*FILL.sources, hidden))
    root = b.sink(b.call("outer", body, made(b)))
    assert [item.kernel.name for item in create_pre_schedule(root).items] == ["outer"]


def test_graph_without_calls_is_refused(b: KernelGraphBuilder) -> None:
    refused(b.sink(data(b)), "kernelsink", "no calls")


# --- dependencies -----------------------------------------------------------------------------


def test_dependency_on_a_call(b: KernelGraphBuilder) -> None:
    t, u = made(b), made(b, "u")
    fill = b.call("fill", FILL, t)
    pre = create_pre_schedule(b.sink(b.call("use", COPY, u, b.after(t, fill)), fill))
    assert dependencies(pre) == {"fill": [], "use": ["fill"]}


def test_dependency_on_the_end_of_a_call_is_on_the_call(b: KernelGraphBuilder) -> None:
    x, t = data(b), made(b)
    end = b.end(b.call("step", INCREMENT, x), b.loop(2))
    pre = create_pre_schedule(b.sink(b.call("use", COPY, t, b.after(x, end))))
    assert dependencies(pre) == {"step": [], "use": ["step"]}


def test_dependencies_of_a_nested_after(b: KernelGraphBuilder) -> None:
    t, u, v = made(b), made(b, "u"), made(b, "v")
    first, second = b.call("first", FILL, t), b.call("second", FILL, u)
    value = b.after(t, first, b.after(u, second))
    pre = create_pre_schedule(b.sink(b.call("use", COPY, v, value)))
    assert dependencies(pre)["use"] == ["first", "second"]


def test_dependencies_of_an_after_around_an_after(b: KernelGraphBuilder) -> None:
    x, t = data(b), made(b)
    first, second = b.call("first", FILL, x), b.call("second", INCREMENT, x)
    value = b.after(b.after(x, first), second)
    pre = create_pre_schedule(b.sink(b.call("use", COPY, t, value)))
    assert dependencies(pre)["use"] == ["first", "second"]


def test_store_is_ignored_as_dependency(b: KernelGraphBuilder) -> None:
    x = data(b)
    value = b.after(x, Store((P[0], ONE)))
    assert dependencies(create_pre_schedule(b.sink(b.call("use", COPY, made(b), value)))) == {
        "use": []
    }


def test_non_callable_dependency_is_refused(b: KernelGraphBuilder) -> None:
    x, y = data(b), data(b, "y")
    refused(b.sink(b.call("use", COPY, made(b), b.after(x, y))), "after", "buffer y", "no call")


def test_end_of_no_call_is_refused(b: KernelGraphBuilder) -> None:
    x = data(b)
    bad = b.end(x, b.loop(2))
    refused(b.sink(b.call("use", COPY, made(b), b.after(x, bad))), "after", "end", "no call")


def test_no_false_dependency_from_a_shared_passthrough(b: KernelGraphBuilder) -> None:
    x, t, u = data(b), made(b), made(b, "u")
    one, two = b.call("one", FILL, x), b.call("two", INCREMENT, x)
    use_one = b.call("use_one", COPY, t, b.after(x, one))
    use_two = b.call("use_two", COPY, u, b.after(x, two))
    depends_on = dependencies(create_pre_schedule(b.sink(use_one, use_two)))
    assert (depends_on["use_one"], depends_on["use_two"]) == (["one"], ["two"])


def test_ordering_only_dependency_of_a_void_custom_call(b: KernelGraphBuilder) -> None:
    t, u = made(b), made(b, "u")
    fill, hook = b.call("fill", FILL, t), b.custom("hook")
    root = b.sink(b.call("use", COPY, u, b.after(t, hook, b.after(t, fill))))
    pre = create_pre_schedule(root)
    assert dependencies(pre) == {"fill": [], "hook": ["fill"], "use": ["fill", "hook"]}
    schedule = create_schedule(root, b.inputs)
    assert [item.instance_dependencies for item in schedule.items] == [(), (0,), (0, 1)]
    calls: list[str] = []
    run_schedule(schedule, {"hook": lambda: calls.append("hook")})
    assert calls == ["hook"]


def test_unknown_function_is_refused(b: KernelGraphBuilder) -> None:
    with pytest.raises(ScheduleError, match="custom call hook: no function"):
        run_schedule(create_schedule(b.sink(b.custom("hook")), {}))


def test_ordering_only_scan_does_not_enter_bodies(b: KernelGraphBuilder) -> None:
    x = data(b)
    inside = b.after(x, b.call("one", FILL, x), b.after(x, b.call("two", FILL, made(b, "h"))))
    body = Sink((*FILL.sources, inside))
    assert dependencies(create_pre_schedule(b.sink(b.call("outer", body, made(b))))) == {
        "outer": []
    }


def test_mselect_depends_on_both_lanes_and_binds_its_own(b: KernelGraphBuilder) -> None:
    t, u, v = made(b), made(b, "u"), made(b, "v")
    lanes = [b.after(n, b.call(f"fill_{n.name}", FILL, n)) for n in (t, u)]
    root = b.sink(b.call("use", COPY, v, b.select(b.stack(*lanes), 1)))
    assert dependencies(create_pre_schedule(root))["use"] == ["fill_t", "fill_u"]
    use = create_schedule(root, b.inputs).items[-1]
    assert use.buffer_ids[1] == b.graph(root).numbers[u]


@pytest.mark.parametrize("lane", [2, -1])
def test_bad_lane_index_is_refused(b: KernelGraphBuilder, lane: int) -> None:
    select = b.select(b.stack(data(b), data(b, "y")), lane)
    with pytest.raises(ScheduleError, match=r"mselect \(%\d+\): it has a bad lane index"):
        create_schedule(b.sink(b.call("use", COPY, made(b), select)), b.inputs)


def test_stack_without_lanes_is_refused(b: KernelGraphBuilder) -> None:
    with pytest.raises(ScheduleError, match=r"mstack .*no lane"):
        create_schedule(b.sink(b.call("use", COPY, made(b), b.stack())), b.inputs)


def test_wrong_argument_is_refused(b: KernelGraphBuilder) -> None:
    refused(b.sink(b.call("use", COPY, made(b), b.loop(2))), "range", "no argument")


def test_cycle_is_refused_with_its_path(b: KernelGraphBuilder) -> None:
    x, y = data(b), data(b, "y")
    one, two = b.call("one", FILL, x), b.call("two", FILL, y)
    root = b.sink(b.after(x, one, b.after(y, two)), b.after(y, two, b.after(x, one)))
    refused(root, "wait for each other", "call one", " → call two", " → call one")


# --- loops ------------------------------------------------------------------------------------


def test_bound_range_is_unrolled_with_fixed_variables(b: KernelGraphBuilder) -> None:
    root = loop(b, 3)
    assert runs(create_pre_schedule(root)) == [("step", {"i": n}) for n in (0, 1, 2)]
    schedule = create_schedule(root, b.inputs)
    assert [item.fixed_variables for item in schedule.items] == [{"i": n} for n in (0, 1, 2)]
    assert len({item.buffers for item in schedule.items}) == 1


def test_two_iterations_on_the_same_storage_are_ordered(b: KernelGraphBuilder) -> None:
    items = create_schedule(loop(b, 3), b.inputs).items
    assert [item.instance_dependencies for item in items] == [(), (0,), (1,)]


def test_iterations_that_only_write_are_ordered(b: KernelGraphBuilder) -> None:
    t = made(b)
    root = b.sink(b.after(t, b.end(b.call("fill", FILL, t), b.loop(2))))
    items = create_schedule(root, b.inputs).items
    assert [item.instance_dependencies for item in items] == [(), (0,)]


def test_write_after_read_is_ordered(b: KernelGraphBuilder) -> None:
    x, t, loop = data(b), made(b), b.loop(2)
    read = b.call("read", COPY, t, x)
    write = b.call("write", INCREMENT, b.after(x, read))
    root = b.sink(b.after(x, b.end(write, loop)), b.end(read, loop))
    items = create_schedule(root, b.inputs).items
    assert [item.kernel.name for item in items] == ["read", "write"] * 2
    assert [item.instance_dependencies for item in items] == [(), (0,), (0, 1), (1, 2)]


def test_void_custom_call_in_a_loop_runs_in_order(b: KernelGraphBuilder) -> None:
    hook = b.custom("hook", b.bind(b.variable("i", 0, 2), loop := b.loop(3)))
    schedule = create_schedule(b.sink(b.end(hook, loop)), {})
    assert [item.instance_dependencies for item in schedule.items] == [(), (0,), (1,)]
    seen: list[int] = []
    run_schedule(schedule, {"hook": lambda i: seen.append(i)})
    assert seen == [0, 1, 2]


def test_call_after_a_loop_waits_for_all_its_iterations(b: KernelGraphBuilder) -> None:
    t = made(b)
    end = b.end(b.custom("hook"), b.loop(3))
    root = b.sink(b.call("last", FILL, t), b.after(t, b.call("last", FILL, t), b.after(t, end)))
    items = create_schedule(root, {}).items
    assert [i.kernel.name for i in items] == ["hook"] * 3 + ["last"]
    assert items[3].instance_dependencies == (0, 1, 2)


@pytest.mark.parametrize("number", [0, 2])
def test_end_closes_exactly_one_range(b: KernelGraphBuilder, number: int) -> None:
    x = data(b)
    end = b.end(b.call("step", INCREMENT, x), *(b.loop(2) for _ in range(number)))
    refused(b.sink(b.after(x, end)), "end", "exactly one range", f"{number} ranges")


def test_nested_ranges_nest_properly(b: KernelGraphBuilder) -> None:
    x, outer, inner = data(b), b.loop(2), b.loop(3)
    i, j = b.variable("i", 0, 1), b.variable("j", 0, 2)
    row = b.call("row", INCREMENT, x, b.bind(i, outer))
    cell = b.call("cell", INCREMENT, b.after(x, row), b.bind(i, outer), b.bind(j, inner))
    root = b.sink(b.after(x, b.end(b.end(cell, inner), outer)))
    expected: list[tuple[str, dict[str, int]]] = []
    for iteration in range(2):
        expected.append(("row", {"i": iteration}))
        expected += [("cell", {"i": iteration, "j": n}) for n in range(3)]
    assert runs(create_pre_schedule(root)) == expected


def test_crossing_ranges_are_refused(b: KernelGraphBuilder) -> None:
    x, one, two = data(b), b.loop(2), b.loop(2)
    calls: list[Node] = [b.call("c0", INCREMENT, x)]
    for n in (1, 2):
        calls.append(b.call(f"c{n}", INCREMENT, b.after(x, calls[-1])))
    ends = [b.end(calls[n], r) for n, r in ((0, one), (1, one), (1, two), (2, two))]
    refused(b.sink(*ends), "range", "crosses range")


def test_ranges_that_nest_both_ways_are_refused(b: KernelGraphBuilder) -> None:
    x, one, two = data(b), b.loop(2), b.loop(2)
    a = b.call("a", INCREMENT, x)
    c = b.call("c", INCREMENT, b.after(x, a))
    refused(b.sink(b.end(b.end(a, one), two), b.end(b.end(c, two), one)), "end", "nests range")


def test_two_calls_closed_together_run_in_turns(b: KernelGraphBuilder) -> None:
    x, loop = data(b), b.loop(2)
    a = b.call("a", INCREMENT, x)
    c = b.call("c", INCREMENT, b.after(x, a))
    for root in (b.sink(b.end(a, loop), b.end(c, loop)), b.sink(b.end(c, loop), b.end(a, loop))):
        assert [name for name, _ in runs(create_pre_schedule(root))] == ["a", "c"] * 2


def test_range_a_end_b_end_is_refused(b: KernelGraphBuilder) -> None:
    x, loop = data(b), b.loop(3)
    closed = b.end(b.call("a", INCREMENT, x), loop)
    c = b.call("c", INCREMENT, b.after(x, closed))
    refused(b.sink(b.end(c, loop)), "range", "call c", "is inside it, but waits for its end")


def test_range_around_unrelated_calls_is_refused(b: KernelGraphBuilder) -> None:
    loop = b.loop(3)
    a, c = b.call("a", INCREMENT, data(b)), b.call("c", INCREMENT, data(b, "y"))
    refused(b.sink(b.end(a, loop), b.end(c, loop)), "range", "call a", "closed separately")


def test_counter_is_inactive_after_its_loop(b: KernelGraphBuilder) -> None:
    x, loop, i = data(b), b.loop(3), b.variable("i", 0, 2)
    closed = b.end(b.call("a", INCREMENT, x), loop)
    late = b.call("late", INCREMENT, b.after(x, closed), b.bind(i, loop))
    refused(b.sink(late), "range", "call late", "waits for its end")


def test_unbound_range_still_runs_its_trip_count(b: KernelGraphBuilder) -> None:
    x = data(b)
    root = b.sink(b.after(x, b.end(b.call("step", INCREMENT, x), b.loop(5))))
    assert runs(create_pre_schedule(root)) == [("step", {})] * 5
    assert run_schedule(create_schedule(root, b.inputs))[0].tolist() == [5, 6, 7, 8]


@pytest.mark.parametrize("low", [3, 5])
def test_empty_range_runs_zero_times(b: KernelGraphBuilder, low: int) -> None:
    root = loop(b, 3, low)
    pre = create_pre_schedule(root)
    assert (len(pre.items), pre.invocations) == (1, ())
    assert run_schedule(create_schedule(root, b.inputs))[0].tolist() == [0, 1, 2, 3]


def test_non_concrete_bounds_are_refused(b: KernelGraphBuilder) -> None:
    refused(loop(b, b.variable("n", 1, 4)), "range", "not concrete", "DefineVar n")


def test_too_many_invocations_are_refused(b: KernelGraphBuilder) -> None:
    x = data(b)
    root = b.sink(b.end(b.call("step", INCREMENT, x), b.loop(10**15)))
    refused(root, "range", "too many invocations", "1,000,000,000,000,000")


def test_variable_that_cannot_take_every_value_is_refused(b: KernelGraphBuilder) -> None:
    refused(loop(b, 11), "definevar i", "cannot take every value of range", "0 … 10")


@pytest.mark.parametrize("is_row_closed", [True, False])
def test_inner_range_is_the_one_closed_first(b: KernelGraphBuilder, is_row_closed: bool) -> None:
    x, outer, inner = data(b), b.loop(2), b.loop(2)
    i, j = b.variable("i", 0, 1), b.variable("j", 0, 1)
    row = b.call("row", INCREMENT, x)
    value = b.after(x, row) if is_row_closed else x
    cell = b.call("cell", INCREMENT, value, b.bind(i, outer), b.bind(j, inner))
    ends = [b.end(row, outer)] if is_row_closed else []
    found = runs(create_pre_schedule(b.sink(*ends, b.end(b.end(cell, inner), outer))))
    cells = [values for name, values in found if name == "cell"]
    assert cells == [{"i": n, "j": m} for n in range(2) for m in range(2)]
    assert len(found) == (6 if is_row_closed else 4)


def test_call_between_two_of_a_range_is_inside_it(b: KernelGraphBuilder) -> None:
    x, loop = data(b), b.loop(2)
    a = b.call("a", INCREMENT, x)
    between = b.call("between", INCREMENT, b.after(x, a))
    c = b.call("c", INCREMENT, b.after(x, between))
    found = runs(create_pre_schedule(b.sink(b.end(a, loop), b.end(c, loop))))
    assert [name for name, _ in found] == ["a", "between", "c"] * 2


def test_call_does_not_wait_for_itself(b: KernelGraphBuilder) -> None:
    x, y = data(b), data(b, "y")
    a = b.call("a", FILL, x)
    pre = create_pre_schedule(b.sink(b.after(x, a, b.after(y, a))))
    assert dependencies(pre) == {"a": []}
