"""Work grows with the program: counted in calls of functions, never in seconds."""

import gc
import subprocess
import sys
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from types import FrameType
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.graph import collectives
from compiler.graph import verify as verify_graph
from compiler.graph.nodes import Sink, TensorNode
from compiler.loops import coalesce
from compiler.program.compilation import Compilation
from compiler.run import allocation, plans
from compiler.schedule.analysis import opportunities, share
from tests.rows import after_graph_passes, replace_row


def calls(work: Callable[[], object]) -> int:
    """How many functions, of Python and of C, are called by `work`."""
    count = 0

    def note(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event.endswith("call")

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def kernels_in_turn(count: int) -> list[Tensor]:
    x = Tensor(np.ones(4, np.float32))
    for _ in range(count):
        x = (x * 2.0 + 1.0).contiguous()
    return [x]


def kernels_beside(count: int) -> list[Tensor]:
    x = Tensor(np.ones(4, np.float32))
    parts = [Tensor(np.full(4, i, np.float32)) + x for i in range(count)]
    return [part.contiguous() * 3.0 for part in parts]


def operations(count: int) -> list[Tensor]:
    x = Tensor(np.ones(4, np.float32))
    for _ in range(10 * count):
        x = x * 2.0 + 1.0
    return [x]


def writes_to_parts(count: int) -> list[Tensor]:
    x = Tensor(np.zeros(512, np.float32))
    for number in range(count):
        x[number : number + 1] = x[number + 1 : number + 2] * 2.0
    return [x]


def layers(count: int) -> list[Tensor]:
    x = Tensor(np.ones((4, 8), np.float32))
    w = Tensor(np.ones((8, 8), np.float32))
    for _ in range(count // 4):
        scores = (x @ w @ x.transpose()).softmax(1)
        x = (x + scores @ x).layernorm()
    return [x]


def iterations(count: int) -> list[Tensor]:
    x = Tensor(np.ones(4, np.float32))
    return [compiler.repeat(count, lambda i, s: s * 0.5 + 1.0, x)]


PROGRAMS = (kernels_in_turn, kernels_beside, operations, writes_to_parts, layers, iterations)


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiling_grows_with_the_program(
    program: Callable[[int], list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share, "MANY", 8)

    def counted(count: int, options: Options) -> int:
        root, found = plans.without_data([t.node for t in program(count)])
        with ExitStack() as meanwhile:
            plans._made(root, len(found), options, meanwhile)  # the programs are there from now on
            return calls(lambda: plans._made(root, len(found), options, meanwhile))

    compiled = Options(verify=False, cache=False)  # what is on disk would not be compiled
    for options in (compiled, Options(device="INTERPRET")):
        small, middle, large = (counted(n, options) for n in (16, 32, 64))
        assert large - middle <= 2.3 * (middle - small), (small, middle, large)


def test_every_shard_adds_the_same_work() -> None:
    def counted(count: int) -> int:
        devices = tuple(f"CPU:{n}" for n in range(count))
        x = Tensor(np.ones((48, 4), np.float32)).shard(devices, axis=0)
        y = (x * 2.0 + 1.0).relu()
        return calls(lambda: Compilation([y.node], Options(verify=False), "p"))

    counted(2)  # finds the rules of each kind of node, once
    two, four, eight = (counted(n) for n in (2, 4, 8))
    assert eight - four <= 2.3 * (four - two), (two, four, eight)


def test_an_item_takes_as_long_to_plan_for_more_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collectives, "SMALL", 0)
    monkeypatch.setattr(collectives, "RING", 8)
    options = Options(verify=False, cache=False)

    def counted(count: int) -> float:
        devices = tuple(f"DASK:{n}" for n in range(count))
        x = Tensor(np.ones((count, count), np.float32)).shard(devices, axis=0)
        root, found = plans.without_data([(x - x.sum(0)).node])
        with ExitStack() as meanwhile:
            items = plans._made(root, len(found), options, meanwhile).items
            return calls(lambda: plans._made(root, len(found), options, meanwhile)) / len(items)

    ring, halved = ([counted(n) for n in each] for each in ((4, 8), (16, 32)))
    assert ring[1] <= 1.1 * ring[0] and halved[1] <= 1.1 * halved[0], (ring, halved)


def test_opportunities_grow_with_the_items() -> None:
    def counted(count: int) -> int:
        made = compiler.compile(kernels_in_turn(count), Options(verify=False)).schedule
        results = made.results
        return calls(lambda: opportunities.opportunities(made.items, made.analysis, results))

    small, middle, large = (counted(n) for n in (20, 40, 80))
    assert large - middle <= 2.3 * (middle - small), (small, middle, large)


def test_a_run_looks_for_no_opportunity_and_verifies_nothing_unless_asked_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refused(*arguments: object, **named: object) -> None:
        raise AssertionError("this is not needed to run")

    monkeypatch.setattr("compiler.pipeline.costing.opportunities", refused)
    compiler.cache_clear()
    x = Tensor(np.arange(4.0))
    np.testing.assert_array_equal((x * 7.0 - 5.0).numpy(), np.arange(4.0) * 7.0 - 5.0)
    for stage in ("graph", "schedule", "loops", "lowered"):
        replace_row(monkeypatch, f"{stage}.verify", refused)
    np.testing.assert_array_equal((x * 7.0 - 5.0).numpy(), np.arange(4.0) * 7.0 - 5.0)
    options = Options(verify=False)
    np.testing.assert_array_equal(Compilation([(x - 9.0).node], options, "p").run()[0],
                                  np.arange(4.0) - 9.0)  # fmt: skip


def test_what_a_pass_leaves_as_it_was_is_not_verified_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    checked = []
    replace_row(monkeypatch, "graph.verify", lambda *given: checked.append(given[:3]))
    made = after_graph_passes(Sink((Tensor(np.ones(4)).node,)), Options(verify=True))
    after = made.graph
    # cse brings the root without lines, decompose and shard more invariants, simplify nothing
    assert checked == [(after, False, False), (after, True, False), (after, True, True)]
    assert len(made.records) > len(checked)


def test_every_node_is_verified_once_in_all_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    visits: Counter[object] = Counter()
    verify_node = verify_graph.verify_node

    def count(node: TensorNode) -> None:
        visits[node] += 1
        verify_node(node)

    monkeypatch.setattr(verify_graph, "verify_node", count)
    root = Sink(tuple(t.node for t in layers(8)))
    after_graph_passes(root, Options(verify=True))
    assert visits and set(visits.values()) == {1}


def test_a_write_waits_for_the_last_one_only() -> None:
    made = compiler.compile(writes_to_parts(20)).schedule
    assert max(len(item.depends_on) for item in made.items) <= 2


def test_loops_that_an_index_tells_apart_are_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []
    join = coalesce._join
    monkeypatch.setattr(coalesce, "_join", lambda *given: tried.append(given[1]) or join(*given))
    x = Tensor(np.ones((2, 4, 8, 8), np.float32))
    image = x.conv2d(Tensor(np.ones((4, 4, 3, 3), np.float32)), padding=1)
    compiler.compile(image)
    assert len(tried) == 1, "the images and channels of the kernel that writes the border"
    compiler.compile(x + 1.0)
    assert len(tried) == 4


def test_few_modules_are_imported() -> None:
    code = """if True:
        import sys, numpy, llvmlite.binding, llvmlite.ir
        before = set(sys.modules)
        import compiler
        found = set(sys.modules) - before
        ours = {name for name in found if name.partition(".")[0] == "compiler"}
        passes = {row.function.__module__ for row in compiler.PASSES}  # each is a file
        print(len(ours - passes), len(found - ours))
    """
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    ours, others = map(int, ran.stdout.split())
    assert ours <= 273 and others <= 40, (ours, others)


def test_other_data_compile_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def program(value: float) -> Tensor:
        x = Tensor(np.full((3, 3), value, np.float32))
        return (x @ x).relu()

    program(1.0).numpy()
    monkeypatch.setattr(plans, "_made", None)
    assert program(2.0).numpy()[0, 0] == 12.0


def test_memory_is_planned_once_for_all_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiler.compile(kernels_in_turn(5))
    plans_made = []
    plan = allocation.share
    monkeypatch.setattr(
        allocation, "share", lambda *given: plans_made.append(given) or plan(*given)
    )
    for _ in range(3):
        np.testing.assert_array_equal(made.run()[0], np.full(4, 63.0, np.float32))
    assert len(plans_made) == 1


def test_the_caches_keep_no_data_alive() -> None:
    array = np.arange(12.0).reshape(3, 4)
    gone = weakref.ref(array)
    x = Tensor(array, name="x")
    y = (x * 3.0).sum(1)
    result = weakref.ref(y.numpy())
    compiler.prepare(y + 1.0).run()
    del x, y, array
    gc.collect()
    assert gone() is None and result() is None
    assert compiler.cache_info().schedules.kept


def test_networkx_is_loaded_by_the_first_graph_only() -> None:
    code = """if True:
        import sys, compiler
        made = compiler.compile(compiler.Tensor([1.0]) + 1.0)
        made.run(), made.check(), str(made.schedule), str(made.lowered[0])
        assert "networkx" not in sys.modules
        made.graph.to_networkx()
        assert "networkx" in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
