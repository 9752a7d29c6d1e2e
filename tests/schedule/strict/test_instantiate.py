"""Schedules on memory, and the values of variables: one test per behaviour."""

import numpy as np
import pytest

from compiler.core.dtypes import float32, float64, int64
from compiler.core.errors import ScheduleError
from compiler.graph.nodes import (
    Cast,
    Expand,
    Iota,
    Reduce,
    Reshape,
    Sink,
    Store,
    TensorNode,
    const,
    elementwise,
)
from compiler.schedule.host import Host
from compiler.schedule.kinds import DefineLocal, DefineVar
from compiler.schedule.prepare import KernelInvocation, PreSchedule, create_pre_schedule
from compiler.schedule.strict.builder import KernelGraphBuilder
from compiler.schedule.strict.instantiate import DeviceBuffer, create_schedule, instantiate_schedule
from compiler.schedule.strict.run import run_item, run_schedule
from tests.schedule.graphs import (
    COPY,
    FILL,
    INCREMENT,
    ONE,
    SUM,
    P,
    data,
    loop,
    made,
    reading,
    refused,
    runs,
)

# --- buffers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("wrapper", ["after", "select", "stack"])
def test_canonical_buffer_id_through_wrappers(b: KernelGraphBuilder, wrapper: str) -> None:
    x = data(b)
    value = {
        "after": lambda: b.after(x, b.call("fill", FILL, x)),
        "select": lambda: b.select(b.stack(x), 0),
        "stack": lambda: b.stack(x),
    }[wrapper]()
    root = b.sink(b.call("use", COPY, made(b), value))
    schedule = create_schedule(root, b.inputs)
    use, names = schedule.items[-1], b.graph(root).numbers
    assert use.buffer_ids[1] == names[x]
    assert names[value] in use.alias_ids and names[x] not in use.alias_ids
    assert use.buffers[1] is b.inputs[x]


def test_all_wrappers_are_recorded_as_aliases(b: KernelGraphBuilder) -> None:
    x, y = data(b), data(b, "y")
    stack = b.stack(x, y)
    select = b.select(stack, 1)
    after = b.after(select, b.call("fill", FILL, y))
    root = b.sink(b.call("use", COPY, made(b), after))
    numbers = b.graph(root).numbers
    use = create_schedule(root, b.inputs).items[-1]
    assert use.alias_ids == tuple(sorted(numbers[n] for n in (after, select, stack)))


def test_argument_order_is_kept(b: KernelGraphBuilder) -> None:
    x, y, t = data(b), data(b, "y"), made(b)
    i = b.bind(b.variable("n", 0, 9), const(3, int64))
    root = b.sink(b.call("use", SUM, t, y, i, x))
    numbers = b.graph(root).numbers
    assert create_schedule(root, b.inputs).items[0].buffer_ids == tuple(
        numbers[n] for n in (t, y, x)
    )


def test_define_local_is_legal_everywhere(b: KernelGraphBuilder) -> None:
    local, t = b.local(4, float32), made(b)
    fill = b.call("fill", FILL, local)
    lane = b.select(b.stack(b.after(local, fill)), 0)
    root = b.sink(b.after(t, b.call("copy", COPY, t, lane)), b.after(local, fill))
    t_value, local_value = run_schedule(create_schedule(root, b.inputs))
    assert t_value.tolist() == local_value.tolist() == [1, 1, 1, 1]


def test_param_is_an_argument(b: KernelGraphBuilder) -> None:
    given, t = b.parameter(7, (4,), float32), made(b)
    root = b.sink(b.after(t, b.call("copy", COPY, t, given)))
    memory = DeviceBuffer("CPU", float32, 4, np.full(4, 5, np.float32))
    assert run_schedule(create_schedule(root, {given: memory}))[0].tolist() == [5, 5, 5, 5]


def test_plain_buffer_is_looked_up_in_inputs_first(b: KernelGraphBuilder) -> None:
    x = data(b)
    fill = b.call("fill", FILL, x)
    schedule = create_schedule(b.sink(b.after(x, fill)), b.inputs)
    assert schedule.items[0].buffers[0] is b.inputs[x]


def test_after_is_looked_up_in_allocated_first(b: KernelGraphBuilder) -> None:
    """A run whose producer made memory goes on with it, whatever the inputs name by then."""
    t, u = made(b), made(b, "u")
    root = b.sink(b.call("use", COPY, u, b.after(t, b.call("fill", FILL, t))))
    late = DeviceBuffer("CPU", float32, 4)

    class Late(dict[object, DeviceBuffer]):
        asked = 0

        def __contains__(self, key: object) -> bool:
            return key is t

        def get(self, key: object, default: object = None) -> None:
            return None

        def __getitem__(self, key: object) -> DeviceBuffer:
            return late

    schedule = create_schedule(root, Late())
    assert schedule.items[0].buffers[0] is schedule.items[1].buffers[1] is not late


def test_after_is_found_in_inputs_where_nothing_was_allocated(b: KernelGraphBuilder) -> None:
    x, t = data(b), made(b)
    store = Store((P[0], ONE))
    schedule = create_schedule(b.sink(b.call("use", COPY, t, b.after(x, store))), b.inputs)
    assert schedule.items[0].buffers[1] is b.inputs[x]


@pytest.mark.parametrize("is_plain", [True, False])
def test_unknown_buffer_is_refused_with_its_id(b: KernelGraphBuilder, is_plain: bool) -> None:
    lost = made(b, "lost")
    root = b.sink(b.call("use", COPY, made(b), lost if is_plain else b.after(lost)))
    number = b.graph(root).numbers[lost]
    with pytest.raises(ScheduleError, match=rf"buffer lost \(%{number}\): unknown buffer"):
        create_schedule(root, b.inputs)


def test_memory_of_another_size_is_refused(b: KernelGraphBuilder) -> None:
    x = data(b)
    root = b.sink(b.call("use", COPY, made(b), x))
    with pytest.raises(ScheduleError, match=r"buffer x .*its memory does not fit"):
        create_schedule(root, {x: DeviceBuffer("CPU", float32, 3)})


def test_argument_that_does_not_fit_its_parameter_is_refused(b: KernelGraphBuilder) -> None:
    short = b.sink(b.call("use", COPY, made(b)))
    with pytest.raises(ScheduleError, match=r"call use .*it has no argument 1"):
        create_schedule(short, b.inputs)
    wrong = b.sink(b.call("use", COPY, made(b), b.input("y", np.zeros(4))))
    with pytest.raises(ScheduleError, match=r"call use .*its argument 1, buffer y .*not fit"):
        create_schedule(wrong, b.inputs)


def test_intermediates_are_on_the_device_of_the_first_non_disk_input(b: KernelGraphBuilder) -> None:
    disk, first, second = data(b, "d", "DISK:weights"), data(b, "x", "CPU:1"), data(b, "y", "CPU:2")
    body = Sink((Store((P[0], elementwise("add", P[1], elementwise("add", P[2], ONE)))),))
    mixed = b.call("mixed", body, made(b), disk, first, b.bind(b.variable("n", 0, 1), ONE))
    assert create_schedule(b.sink(mixed), b.inputs).items[0].buffers[0].device == "CPU:1"
    other = b.call("other", SUM, made(b), second, first)
    assert create_schedule(b.sink(other), b.inputs).items[0].buffers[0].device == "CPU:2"


def test_intermediates_are_on_the_cpu_where_all_inputs_are_on_disk(b: KernelGraphBuilder) -> None:
    root = b.sink(b.call("load", COPY, made(b), data(b, "d", "DISK:weights")))
    assert create_schedule(root, b.inputs).items[0].buffers[0].device == "CPU"


# --- variables --------------------------------------------------------------------------------


def test_bind_of_a_runtime_value(b: KernelGraphBuilder) -> None:
    x, n = data(b), b.variable("n", 0, 9)
    root = b.sink(b.after(x, b.call("add", reading(b, n), x, b.bind(n, const(3, int64)))))
    pre = create_pre_schedule(root)
    assert runs(pre) == [("add", {})] and set(pre.items[0].runtime_variables) == {"n"}
    assert create_schedule(root, b.inputs).items[0].fixed_variables == {"n": 3}
    assert create_schedule(root, b.inputs, {"n": 5}).items[0].fixed_variables == {"n": 5}


def test_bind_of_a_range_no_end_closes_is_a_runtime_value(b: KernelGraphBuilder) -> None:
    x, n = data(b), b.variable("n", 0, 9)
    root = b.sink(b.after(x, b.call("add", reading(b, n), x, b.bind(n, b.loop(3)))))
    assert runs(create_pre_schedule(root)) == [("add", {})]
    assert create_schedule(root, b.inputs).items[0].fixed_variables == {}
    value = run_schedule(create_schedule(root, b.inputs, {"n": 2}))[0]
    assert value.tolist() == [2, 3, 4, 5]


def test_variable_without_a_value_is_refused_at_run(b: KernelGraphBuilder) -> None:
    x, n = data(b), b.variable("n", 0, 9)
    root = b.sink(b.call("add", reading(b, n), x))
    with pytest.raises(ScheduleError, match="variable n has no value"):
        run_schedule(create_schedule(root, b.inputs))


def test_value_out_of_bounds_is_refused(b: KernelGraphBuilder) -> None:
    x, n = data(b), b.variable("n", 0, 9)
    root = b.sink(b.call("add", reading(b, n), x))
    with pytest.raises(ScheduleError, match=r"call add .*variable n is out of bounds"):
        create_schedule(root, b.inputs, {"n": 10})


def test_bind_of_no_define_var_is_refused(b: KernelGraphBuilder) -> None:
    bad = b.bind(data(b, "y"), const(1, int64))
    refused(
        b.sink(b.call("use", INCREMENT, data(b), bad)), "bind", "binds no DefineVar", "buffer y"
    )


def test_user_values_are_only_given_to_calls_that_read_them(b: KernelGraphBuilder) -> None:
    x, y, n = data(b), data(b, "y"), b.variable("n", 0, 9)
    root = b.sink(b.call("reads", reading(b, n), x), b.call("other", INCREMENT, y))
    items = create_schedule(root, b.inputs, {"n": 4}).items
    assert [item.fixed_variables for item in items] == [{"n": 4}, {}]


def test_user_who_passes_a_loop_variable_gets_an_error_that_names_the_loop(
    b: KernelGraphBuilder,
) -> None:
    with pytest.raises(ScheduleError, match=r"variable i is the counter of range \(%\d+\)"):
        create_schedule(loop(b, 3), b.inputs, {"i": 7})


def test_loop_values_override_user_values_and_stay_locked(b: KernelGraphBuilder) -> None:
    x, y, loop, i = data(b), data(b, "y"), b.loop(2), b.variable("i", 0, 9)
    step = b.call("step", reading(b, i), x, b.bind(i, loop))
    free = b.call("free", reading(b, i), y)
    schedule = create_schedule(b.sink(b.end(step, loop), free), b.inputs, {"i": 7})
    by_name = [(item.kernel.name, item.fixed_variables["i"]) for item in schedule.items]
    assert sorted(by_name) == [("free", 7), ("step", 0), ("step", 1)]
    locked = next(item for item in schedule.items if item.kernel.name == "step")
    with pytest.raises(ScheduleError, match="variable i is the counter "):
        locked.with_variables({"i": 3})
    unlocked = next(item for item in schedule.items if item.kernel.name == "free")
    assert unlocked.with_variables({"i": 3}).fixed_variables == {"i": 3}


# --- the whole --------------------------------------------------------------------------------


def test_items_and_invocations_are_in_one_order(b: KernelGraphBuilder) -> None:
    """The graph lists `late` first, but it waits for `fill`, and `fill` for the loop of `step`."""
    t, u, x = made(b), made(b, "u"), data(b)
    late = b.call("late", FILL, u)
    fill, loop = b.call("fill", FILL, t), b.loop(2)
    step = b.call("step", INCREMENT, x)
    root = b.sink(
        b.after(u, late, b.after(t, fill)), b.after(t, fill, b.after(x, b.end(step, loop)))
    )
    pre = create_pre_schedule(root)
    assert [item.kernel.name for item in pre.items] == ["step", "fill", "late"]
    assert [name for name, _ in runs(pre)] == ["step", "step", "fill", "late"]
    places = [run.item for run in pre.invocations]
    assert places == sorted(places)


def test_outputs_are_in_the_order_of_the_sink(b: KernelGraphBuilder) -> None:
    t, x = made(b), data(b)
    after = b.after(t, b.call("fill", FILL, t))
    root = b.sink(x, after, x)
    numbers = b.graph(root).numbers
    assert create_schedule(root, b.inputs).output_ids == (numbers[x], numbers[t], numbers[x])


def test_invocation_of_an_unknown_item_is_refused(b: KernelGraphBuilder) -> None:
    pre = create_pre_schedule(loop(b, 1))
    wrong = PreSchedule(pre.items, (KernelInvocation(4, {}, {}),), pre.outputs, pre.names)
    with pytest.raises(ScheduleError, match="item 4, which does not exist"):
        instantiate_schedule(wrong, b.inputs, {})


def test_pre_schedule_is_instantiated_twice_with_different_memory(b: KernelGraphBuilder) -> None:
    t, x = made(b), data(b)
    pre = create_pre_schedule(b.sink(b.after(t, b.call("copy", COPY, t, x))))
    values = []
    for n in (1, 2):
        memory = DeviceBuffer("CPU", float32, 4, np.full(4, n, np.float32))
        values.append(run_schedule(instantiate_schedule(pre, {x: memory}, {}))[0].tolist())
    assert values == [[1] * 4, [2] * 4]


def test_same_graph_gives_the_same_ids(b: KernelGraphBuilder) -> None:
    ids = []
    for builder in (b, KernelGraphBuilder()):
        items = create_schedule(loop(builder, 2), builder.inputs).items
        ids.append([(i.kernel_id, i.buffer_ids, i.alias_ids) for i in items])
    assert ids[0] == ids[1]


def test_kernel_graph_with_loops_is_printed_and_drawn(b: KernelGraphBuilder) -> None:
    local = b.local(4, float32)
    lane = b.select(b.stack(local), 0)
    root = b.sink(*loop(b, 3).sources, b.custom("hook", b.bind(b.variable("n", 0, 9), lane)))
    graph = b.graph(root)
    text = str(graph)
    for words in ("range 0 … 3", "definevar i 0 … 9", "call step(", "end %", "mselect %",
                  "lane 0", "mstack %", "definelocal", "custom hook(", "bind %"):  # fmt: skip
        assert words in text
    drawn = graph.to_networkx()
    assert len(drawn) == len(graph.nodes)
    assert {data["op"] for _, data in drawn.nodes(data=True)} >= {"end", "range", "bind", "sink"}


def test_power_iteration_runs_item_by_item_like_numpy(b: KernelGraphBuilder) -> None:
    """Three iterations of v ← A v / max |A v|, and a history of the norms by iteration."""
    matrix = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.25], [0.5, 0.25, 2.0]])
    a, v = b.input("A", matrix), b.input("v", np.ones(3))
    w, history = b.buffer("w", (3,), float64), b.input("history", np.zeros(3))
    loop, i = b.loop(3), b.variable("i", 0, 2)
    multiply = b.call("multiply", _multiply(b), w, a, v)
    scale = b.call("scale", _scale(b), v, b.after(w, multiply))
    note = b.call("note", _note(b, i), history, b.after(w, multiply), b.bind(i, loop))
    ends = [b.end(call, loop) for call in (multiply, scale, note)]
    root = b.sink(b.after(v, *ends), b.after(history, *ends))
    schedule = create_schedule(root, b.inputs)
    assert (
        sorted(item.kernel.name for item in schedule.items)
        == ["multiply"] * 3 + ["note"] * 3 + ["scale"] * 3
    )
    expected, norms = np.ones(3), []
    for item in schedule.items:
        run_item(item, Host())
        if item.kernel.name == "scale":
            product = matrix @ expected
            norms.append(np.abs(product).max())
            expected = product / norms[-1]
            np.testing.assert_allclose(b.inputs[v].array, expected, rtol=1e-14)
    np.testing.assert_allclose(b.inputs[history].array, norms, rtol=1e-14)


def _multiply(b: KernelGraphBuilder) -> Sink:
    out, a, v = (b.parameter(n, s, float64) for n, s in enumerate(((3,), (3, 3), (3,))))
    rows = Expand((Reshape((v,), (1, 3)),), (3, 3))
    return b.body((out, Reshape((Reduce((elementwise("mul", a, rows),), "sum", (1,)),), (3,))))


def _scale(b: KernelGraphBuilder) -> Sink:
    v, w = (b.parameter(n, (3,), float64) for n in range(2))
    return b.body((v, elementwise("fdiv", w, Expand((_largest(w),), (3,)))))


def _largest(w: TensorNode) -> TensorNode:
    return Reduce((elementwise("abs", w),), "max", (0,))


def _note(b: KernelGraphBuilder, i: DefineVar) -> Sink:
    history, w = (b.parameter(n, (3,), float64) for n in range(2))
    counter = Expand((Reshape((b.read(i),), (1,)),), (3,))
    here = elementwise("eq", Iota((), 3, int64), counter)
    return b.body((history, elementwise("where", here, Expand((_largest(w),), (3,)), history)))


def test_example_of_the_builder(b: KernelGraphBuilder) -> None:
    x, loop, i = b.input("x", np.zeros(4)), b.loop(3), b.variable("i", 0, 2)
    old = b.parameter(0, (4,), float64)
    number = Expand((Reshape((Cast((b.read(i),), float64),), (1,)),), (4,))
    body = b.body((old, elementwise("add", old, number)))
    root = b.sink(b.after(x, b.end(b.call("step", body, x, b.bind(i, loop)), loop)))
    assert run_schedule(create_schedule(root, b.inputs))[0].tolist() == [3, 3, 3, 3]


def test_body_with_two_stores_reads_before_it_writes(b: KernelGraphBuilder) -> None:
    x, y = data(b), b.input("y", np.full(4, 9, np.float32))
    swap = b.call("swap", b.body((P[0], P[1]), (P[1], P[0])), x, y)
    root = b.sink(b.after(x, swap), b.after(y, swap))
    values = run_schedule(create_schedule(root, b.inputs))
    assert [value.tolist() for value in values] == [[9] * 4, [0, 1, 2, 3]]


def test_local_has_shape_and_size() -> None:
    assert DefineLocal((), 1, 6, float32).shape == (6,)


def test_write_waits_for_reads_before_it(b: KernelGraphBuilder) -> None:
    x = data(b)
    root = b.sink(b.call("read", COPY, made(b), x), b.call("write", INCREMENT, x))
    items = create_schedule(root, b.inputs).items
    assert [item.kernel.name for item in items] == ["read", "write"]
    assert items[1].instance_dependencies == (0,)


def test_device_is_found_through_intermediates(b: KernelGraphBuilder) -> None:
    x, t = data(b, "x", "CPU:1"), made(b)
    first = b.call("first", COPY, t, x)
    root = b.sink(b.call("second", COPY, made(b, "u"), b.after(t, first)))
    second = create_schedule(root, b.inputs).items[1]
    assert [buffer.device for buffer in second.buffers] == ["CPU:1", "CPU:1"]
