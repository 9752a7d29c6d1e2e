"""The schedule as data and as text: lanes, loops, dependencies, memory and fusions."""

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler import Tensor, compile, repeat
from compiler.schedule.analysis.places import Place
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.items import ScheduleItem
from svodviz.exporting.export import export_stage
from svodviz.foundation.entities import Entities
from svodviz.texts.summary import summary
from svodviz.widget.explorer import Explorer
from svodviz.wire.items import lanes_of
from svodviz.wire.payload import wire
from svodviz.wire.schedule import schedule_row, schedule_text
from tests.svodviz import sample_schedule
from tests.svodviz.sample import as_json, rich, sample
from tests.svodviz.sample_schedule import buffer, kernel, with_schedule


@pytest.fixture(scope="module")
def row() -> dict[str, Any]:
    found = schedule_row(rich(), Entities())
    assert found
    return as_json(found)


def test_items_of_all_kinds_stand_in_lanes(row: dict[str, Any]) -> None:
    assert row["lanes"] == ["CPU", "CPU:1", "host"]
    placed = {(row["lanes"][it["lane"]], it["op"]) for it in row["items"]}
    assert placed == {("CPU", "kernel"), ("CPU", "transfer"), ("CPU:1", "kernel"),
                      ("CPU:1", "transfer"), ("host", "sync"), ("host", "callback")}  # fmt: skip


def test_lanes_are_in_the_order_of_their_numbers() -> None:
    devices = ("CPU:10", "DISK", "CPU:2", "CPU")
    items = [ScheduleItem(0, kernel("k", (), (), it), (), ()) for it in devices]
    assert lanes_of(items) == ["CPU", "CPU:2", "CPU:10", "DISK"]


def test_fields_of_operations_are_listed(row: dict[str, Any]) -> None:
    copy, step, join = row["items"][0], row["items"][3], row["items"][6]
    assert ["from device", "CPU"] in copy["facts"]
    assert ["source strides", "64, 1"] in copy["facts"]
    assert ["kind", "barrier"] in join["facts"]
    assert step["fixed"] == [["i", 1]]
    sides = {row["buffers"][number]["name"]: side for number, side in step["args"]}
    assert sides == {"x on CPU:1": "in", "state": "in out"}
    assert (step["start"], step["late"], step["ns"]) == (7500, 7500, 3500)


def test_iterations_of_a_loop_are_found(row: dict[str, Any]) -> None:
    assert row["loops"] == [{"label": "i = 0, 1, 2", "items": [2, 3, 4]}]
    long = with_schedule(sample(), sample_schedule.long(30, 20))
    (loop,) = schedule_row(long, Entities())["loops"]
    assert (loop["label"], len(loop["items"])) == ("i = 0 … 19", 20)


def test_iterations_without_a_counter_are_found_by_their_call() -> None:
    made = sample_schedule.long(5, 4)
    items = tuple(replace(it, operation=replace(it.operation, fixed=())) for it in made.items)
    row = schedule_row(with_schedule(sample(), replace(made, items=items)), Entities())
    assert row["loops"] == [{"label": "iterations 0, 1, 2, 3", "items": [0, 1, 2, 3]}]


def test_dependencies_keep_kind_buffers_and_bytes(row: dict[str, Any]) -> None:
    kinds = {kind for _, _, kind, *_ in row["dependencies"]}
    assert kinds == {"data", "anti", "output", "control"}
    between = [it[2:] for it in row["dependencies"] if it[:2] == [2, 3]]
    state = next(n for n, it in enumerate(row["buffers"]) if it["name"] == "state")
    assert between == [["data", [state], 65536, True], ["output", [state], 0, True]]
    late = next(it for it in row["dependencies"] if it[:2] == [0, 8])
    assert late[2:] == ["anti", [late[3][0]], 0, False]


def test_the_memory_curve_counts_what_the_program_makes(row: dict[str, Any]) -> None:
    memory = row["memory"]
    size = 65536
    assert memory["inputs"] == size
    assert memory["alive"] == [size, 2 * size, 3 * size, 3 * size, 3 * size, 2 * size + 256,
                               2 * size + 256, 3 * size - size + size + 256,
                               2 * size + 256 + 1024, 1024]  # fmt: skip
    assert memory["peak"] == 7


def test_places_name_what_they_take_over(row: dict[str, Any]) -> None:
    plan = row["memory"]["plan"]
    names = [row["buffers"][it["buffer"]]["name"] for it in plan["places"]]
    back = plan["places"][names.index("back")]
    assert [names[it] for it in back["after"]] == ["x on CPU:1"]
    assert back["reason"].endswith("its live range ends at level 3")
    assert row["items"][back["writer"]]["name"] == "copy back"
    assert (plan["peak"], plan["live"], plan["unshared"]) == (197888, 197888, 263424)


def test_only_the_last_owner_of_memory_is_named() -> None:
    made = [buffer(-1 - it, f"b{it}", 16) for it in range(3)]
    places = tuple(Place(it, 0, 64, n, n, "place by place") for n, it in enumerate(made))
    plan = MemoryPlan(places, 3, 192, 64, 0, 64)
    schedule = replace(sample_schedule.long(3), memory_plan=plan)
    row = schedule_row(with_schedule(sample(), schedule), Entities())
    assert [it["after"] for it in row["memory"]["plan"]["places"]] == [[], [0], [1]]


def test_fusions_descend_from_both_items() -> None:
    data = wire(rich())
    fusion = data["schedule"]["fusions"][0]
    ends = [data["schedule"]["items"][fusion[end]]["e"] for end in ("from", "to")]
    assert data["parents"][fusion["e"]] == ends
    assert (fusion["type"], fusion["saved"], fusion["taken"]) == ("reduction", 65536, False)


def test_buffers_descend_from_the_kernel_graph() -> None:
    graph = sample_schedule.kernel_graph()
    x = next(it for it in graph.nodes if getattr(it, "name", "") == "x")
    made = sample_schedule.long(1)
    items = (replace(made.items[0], operation=kernel("k", (x,), ())),)
    compilation = replace(sample(), kernels=graph, schedule=replace(made, items=items))
    data = wire(compilation)
    (found,) = (it for it in data["schedule"]["buffers"] if it["name"] == "x")
    assert [data["entities"][it] for it in data["parents"][found["e"]]] == [graph.entity(x)]


def test_what_a_schedule_lacks_is_absent_not_wrong() -> None:
    row = schedule_row(sample(), Entities())
    assert row["fusions"] == []
    assert row["memory"]["plan"] is None
    assert "no memory plan" in schedule_text(sample())
    empty = with_schedule(sample(), replace(sample().schedule, items=()))
    assert schedule_row(empty, Entities()) is None
    assert schedule_text(empty) == str(empty.schedule)


def test_the_text_says_what_the_pictures_show() -> None:
    text = schedule_text(rich())
    for words in (
        "  CPU:1  4 items", "  step  i = 0, 1, 2  3 items",
        "  2 step       →  3 step       output   state\n",
        "made by the program: peak 196,864 bytes at item 7 copy back",
        "plan: peak 197,888 bytes; without sharing 263,424, lower bound 197,888 over 8 levels",
        "its live range ends at level 3", "  result      alone  ",
        "  ✓  5 mean       +  8 combine  mixed        −21.50 µs (−50.0 % of the time)",
    ):  # fmt: skip
        assert words in text, words


def test_long_tables_of_the_text_say_what_they_leave_out() -> None:
    long = with_schedule(sample(), sample_schedule.long(100))
    assert "  … 59 more" in schedule_text(long)


def test_the_schedule_leaves_in_every_format() -> None:
    read = json.loads(export_stage(rich(), "schedule", "json"))
    assert read["schedule"]["lanes"] == ["CPU", "CPU:1", "host"]
    first = read["schedule"]["items"][0]
    assert read["entities"][first["e"]] == "schedule:0"
    assert ">data output<" in export_stage(rich(), "schedule", "graphml")
    assert "fusion opportunities" in export_stage(rich(), "schedule", "txt")
    dot = export_stage(rich(), "schedule", "dot")
    assert all(f"tooltip={kind}" in dot for kind in ("data", "anti", "output", "control", "fusion"))
    svg = export_stage(rich(), "schedule", "svg")
    assert all(f'stroke-dasharray="{it}"' in svg for it in ("7 4", "9 3 2 3", "2 3", "1 5"))


def test_the_iterations_of_a_loop_are_one_row_of_the_fusions() -> None:
    x = Tensor(np.ones((8, 8)), name="x")

    def step(i: Tensor, v: Tensor) -> Tensor:
        w = x @ v
        return w / (w * w).sum().sqrt()

    found = compile(repeat(5, step, Tensor(np.ones(8))))
    rows = wire(found)["schedule"]["fusions"]
    assert sum(row["times"] for row in rows) == len(found.schedule.opportunities)
    left, taken = sorted(rows, key=lambda row: bool(row["taken"]))
    assert left["times"] == taken["times"] == 5
    assert not left["taken"] and "different indices" in left["reason"]
    assert taken["taken"] and "only reader" in taken["reason"]


def test_fusions_that_were_taken_name_the_value() -> None:
    found = compile(Tensor(np.ones((8, 8)), name="x").softmax(1))
    rows = wire(found)["schedule"]["fusions"]
    assert {row["taken"] for row in rows} == {True}
    assert "reduce max f64[8,1]" in {row["value"] for row in rows}
    assert all(row["from"] == row["to"] and row["saved"] > 0 for row in rows)


def test_ties_are_critical_as_well() -> None:
    x = Tensor(np.ones((8, 16), np.float32))
    sides = [(x * n).sum(1).contiguous() for n in (2, 3)]
    found = schedule_row(compile(sides[0].exp() + sides[1].flip(0).exp()), Entities())
    assert found
    items = found["items"]
    tight = [it["start"] == it["late"] for it in items]
    wanted = [tight[a] and tight[b] and items[a]["start"] + items[a]["cost"] == items[b]["start"]
              for a, b, *_ in found["dependencies"]]  # fmt: skip
    assert [it[-1] for it in found["dependencies"]] == wanted
    assert [it["critical"] for it in items] == tight
    path = found["path"]
    assert path == sorted(path) and set(path) < {n for n, it in enumerate(items) if it["critical"]}
    assert sum(items[it]["cost"] for it in path) == max(it["start"] + it["cost"] for it in items)
    assert sum(wanted) == 2 and len(path) == 2  # there are two paths of one length


def test_a_tie_is_critical_in_print_and_counted_once() -> None:
    x = Tensor(np.ones((8, 16), np.float32))
    sides = [(x * n).sum(1).contiguous() for n in (2, 3)]
    made = compile(sides[0].exp() + sides[1].flip(0).exp())
    rows = [it for it in str(made.schedule).splitlines() if "  kernel " in it]
    assert len(rows) == 3 and all(it.endswith("critical") for it in rows)
    assert "slack 0" not in str(made.schedule)
    words = "3 items, 2 on the critical path"
    assert words in summary(made) and words in repr(Explorer(made))
    assert [it for _, it in made.schedule.to_networkx().nodes(data="critical")] == [True] * 3


def test_little_slack_is_not_printed_as_none() -> None:
    x = Tensor(np.ones((16, 34), np.float32))
    sides = [x[:, :n].sum(1).contiguous() for n in (30, 34)]
    made = compile(sides[0].exp() + sides[1].flip(0).exp()).schedule
    (slack,) = (it.slack for it in made.times if it.slack)
    assert 0 < slack < 50  # nanoseconds: to a tenth of a microsecond it is none
    (row,) = (it for it in str(made).splitlines() if "slack" in it)
    assert row.endswith(f"slack {slack / 1000:.3f} µs")
