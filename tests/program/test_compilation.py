"""A compilation as a whole: its attributes, its stages in agreement, the same text every time."""

import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.ask import values
from compiler.ask.as_run import NAMES
from compiler.core.errors import DataError, ScheduleError, SizeError
from compiler.core.trace import Line
from compiler.graph.nodes import Buffer
from compiler.pipeline import kernels
from compiler.pipeline.rows import PIPELINE, rows
from compiler.program.compilation import Compilation
from compiler.run import plans
from tests.llvm.programs import PROGRAMS, floats, perceptron
from tests.pages import without_calls

Array = np.ndarray  # type: ignore[type-arg]


@pytest.fixture(scope="module")
def network() -> Compilation:
    return compiler.compile(perceptron(), name="network")


def compiled(*tensors: Tensor, options: Options | None = None) -> Compilation:
    return compiler.compile(list(tensors), options)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_stage_agrees(name: str) -> None:
    compilation = compiler.compile(PROGRAMS[name](), name=name)
    report = compilation.check()
    assert report.ok and report, str(report)
    passes = [f"pass {row.name}" for row in rows("graph") if row.is_pass]
    assert [row.stage for row in report.rows] == [
        "graph", *passes, "kernels", "schedule", "loops", "lowered", "machine code", *NAMES,
    ]  # fmt: skip
    assert all(row.ok for row in report.rows), "every stage could run"
    assert report.first_difference is None
    assert str(report).count("✓") == len(report.rows)


def test_one_tensor_or_a_list() -> None:
    x = floats(3, 4)
    one, several = compiler.compile(x + 1), compiler.compile((x + 1, x.sum()))
    assert len(one.results) == 1 and len(several.results) == 2
    first, second = several.run()
    np.testing.assert_array_equal(first, one.run()[0])
    assert second.shape == ()


@pytest.mark.parametrize(
    ("value", "page"),
    (
        ([], "compile: nothing to compile\n  got:      []\n  expected: a Tensor"),
        (3, "compile: only tensors can be compiled\n  got:      int\n  expected: Tensor"),
        ([np.ones(3)], "compile: only tensors can be compiled\n  got:      ndarray\n"
                       "  expected: Tensor"),
    ),
    ids=("empty", "number", "array"),
)  # fmt: skip
def test_anything_else_is_refused(value: object, page: str) -> None:
    with pytest.raises(DataError) as caught:
        compiler.compile(value)
    found, _, line = str(caught.value).partition("\n  line:")
    assert found == page and "compiler.compile(value)" in line


def test_the_stages_have_their_faces(network: Compilation) -> None:
    whole = (
        network.user_source, network.graph, network.optimized_graph, network.kernels,
        network.schedule,
    )  # fmt: skip
    each = (network.loops, network.lowered, network.source, network.optimized, network.assembly)
    assert len({len(group) for group in each}) == 1
    facts = {"op", "kind", "argument", "dtype", "shape", "name", "origins", "group"}
    kinds = {
        "buffer", "const", "elementwise", "movement", "reduce", "memory", "cast", "control",
        "call", "kernel", "index", "basicblock", "loop", "unrolled", "vector", "cores", "local",
    }  # fmt: skip
    for stage in (*whole, *(stage for group in each for stage in group)):
        assert stage.title and stage.seconds >= 0
        assert all(isinstance(line, Line) for line in stage.lines)
        assert str(stage) == "\n".join(line.text for line in stage.lines) != ""
        assert stage.line_count == len(stage.lines)
        graph = stage.to_networkx()
        assert isinstance(graph, nx.DiGraph) and len(graph)
        entities = {line.entity for line in stage.lines if line.entity}
        rows = sum(1 for line in stage.lines if line.entity)
        # A reduction has two lines in a loop nest: where it begins and where it folds.
        assert len(entities) == rows or stage in network.loops
        for key, attributes in graph.nodes(data=True):
            assert facts <= set(attributes), key
            assert attributes["kind"] in kinds
        for _, _, attributes in graph.edges(data=True):
            assert {"operand", "kind"} <= set(attributes)


def test_parents_are_entities_of_earlier_stages(network: Compilation) -> None:
    known: set[str] = set()
    # Loops come from nodes of the graph, and kernels from those that passes left in it.
    for stage in (*network.stages, *network.optimized, *network.assembly):
        for line in stage.lines:
            assert set(line.parents) <= known, f"{stage.title}: {line}"
        known |= set(stage.to_networkx())
        known |= {line.entity for line in stage.lines if line.entity}


def test_names_times_and_texts(network: Compilation) -> None:
    assert network.name == "network" and network.options == Options(trace=True)
    assert repr(network) == f"Compilation(network, {len(network.schedule.items)} items)"
    text = str(network)
    for stage in network.stages:
        assert f"== {stage.title} ==\n{stage}" in text
    summary = network.summary()
    assert summary.startswith("network: ") and "3 schedule items" in summary
    plain = [name for name, choices in network.choices.items() if choices.is_plain]
    assert all(f"{name} (" in summary for name in plain)
    assert ("plain loops in" in summary) == bool(plain)


def test_plain_loops_are_counted_with_their_share() -> None:
    x = Tensor(np.ones((3, 10, 7), np.float32))
    made = compiler.compile(x.flip(2).exp().sum(1) @ np.ones((7, 300), np.float32))
    words = "plain loops in 1 of 2 kernels, with shares of the estimated time: k0 ("
    assert words in made.summary()


def test_passes_are_in_the_order_of_the_pipeline(network: Compilation) -> None:
    names = [(r.stage, r.kernel, r.name) for r in network.passes]
    passes = [("graph", "", row.name) for row in PIPELINE if row.stage == "graph" and row.is_pass]
    assert names[: len(passes)] == passes
    order = [step.name for step in PIPELINE if step.stage == "loops" and step.is_pass]
    for stage in network.loops:
        found = [name for _, kernel, name in names if kernel == stage.name]
        always = [row.name for row in rows("loops") if row.is_pass and not row.is_chosen]
        assert [name for name in found if name in always] == always
        assert sorted(found, key=order.index) == found
    assert all(r.because and r.seconds >= 0 for r in network.passes)
    assert any(r.rewrites for r in network.passes)


def test_decisions_carry_reasons(network: Compilation) -> None:
    graph = set(network.optimized_graph.to_networkx())
    assert len(network.decisions) >= 3
    loops = {stage.entity(stage.body) for stage in network.loops}
    buffers = {network.kernels.entity(node) for node in network.kernels.nodes}
    of_graph = dict.fromkeys(("fuse", "split_reduction", "inline", "memory"), graph)
    subjects = of_graph | {"share": buffers}
    for decision in network.decisions:
        assert decision.subject in subjects.get(decision.kind, loops)
        assert isinstance(decision.taken, bool)
        assert len(decision.reason) > 10
    assert {d.taken for d in network.decisions} == {True, False}
    assert any("10 times" in d.reason or "4 times" in d.reason for d in network.decisions)


def test_the_lineage_of_a_node_reaches_source_and_assembly(network: Compilation) -> None:
    below = ("loops", "lowered", "llvm", "optimized", "asm")
    stages = ("source", "graph", "kernels", "schedule", *below)
    exponential = next(line for line in network.optimized_graph.lines if " exp " in line.text)
    story = network.lineage(exponential.entity or "")
    found = {(line.entity or "").partition(":")[0] for line in story}
    assert found >= {"source", "graph", *below} and found <= set(stages)
    assert len({line.entity for line in story}) == len(story)
    assert any("softmax" in line.text for line in story)
    down = network.lineage(story[0].entity or "")
    assert exponential.entity in {line.entity for line in down}


def test_values_of_entities() -> None:
    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]]), name="x")
    compilation = compiler.compile((x * 2).sum(1))
    found = {line.text.split(" ", 3)[2]: line.entity for line in compilation.graph.lines[:-1]}
    np.testing.assert_array_equal(compilation.values(found["buffer"] or ""), x.numpy())
    np.testing.assert_array_equal(compilation.values(found["mul"] or ""), 2 * x.numpy())
    np.testing.assert_array_equal(compilation.values(found["reduce"] or ""), [[6], [16]])
    call = next(line for line in compilation.kernels.lines if " call " in line.text)
    value = compilation.values(call.entity or "")
    assert value is not None and value.reshape(-1).tolist() == [6, 16]
    assert compilation.values("graph:999") is None
    assert compilation.values("lowered:0:1") is None


def test_results_of_every_sort() -> None:
    x = Tensor(np.array([[1.0, -2.0], [3.0, 4.0]], "float32"))
    made = x + 1
    constant = Tensor.full((2,), 2.5, dtype="float32")
    compilation = compiled(x, made, made, constant, x.sum(), Tensor.arange(3), x)
    assert compilation.check().ok
    a, b, c, d, e, f, g = compilation.run()
    np.testing.assert_array_equal(a, x.numpy(), strict=True)
    np.testing.assert_array_equal(g, x.numpy(), strict=True)
    np.testing.assert_array_equal(b, x.numpy() + 1, strict=True)
    np.testing.assert_array_equal(b, c, strict=True)
    np.testing.assert_array_equal(d, np.full(2, 2.5, "float32"), strict=True)
    np.testing.assert_array_equal(e, np.float32(6), strict=True)
    np.testing.assert_array_equal(f, np.arange(3), strict=True)


def test_an_input_as_the_only_result_needs_no_kernel() -> None:
    x = floats(3)
    compilation = compiler.compile(x)
    assert compilation.schedule.items == () and compilation.loops == ()
    np.testing.assert_array_equal(compilation.run()[0], x.numpy())
    assert compilation.check().ok and str(compilation) and compilation.summary()


def test_running_twice_gives_new_arrays_of_equal_values() -> None:
    compilation = compiler.compile(floats(4, 5).softmax(1))
    first, second = compilation.run(), compilation.run()
    np.testing.assert_array_equal(first[0], second[0])
    assert not np.shares_memory(first[0], second[0])


PRINT_ALL = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np, compiler
from compiler import Tensor
x = Tensor(np.linspace(-1, 1, 160, dtype="float32").reshape(8, 20), name="x")
w = Tensor(np.linspace(0, 1, 320, dtype="float32").reshape(20, 16), name="w")
y = ((x @ w).relu().layernorm() + w.sum(0)).softmax()
z = y.flip(0).pad(((1, 1), (0, 0))).T.cat(Tensor.arange(160).reshape(16, 10))
c = compiler.compile([y, z, x.argmax(1)])
print(c)
print("\\n".join(str(s) for s in (*c.optimized, *c.assembly)))
for record in c.passes:
    print(record.name, *record.rewrites, sep="\\n")
for decision in c.decisions:
    print(decision)
for stage in (*c.stages, *c.assembly):
    print([*stage.lines], sorted(stage.to_networkx().edges))
"""


def test_the_same_program_gives_the_same_text_in_every_process() -> None:
    texts = []
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", PRINT_ALL, str(Path(compiler.__file__).parents[1])]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        texts.append(done.stdout.splitlines())
    assert len(texts[0]) > 500
    different = [pair for pair in zip(*texts, strict=True) if pair[0] != pair[1]]
    assert not different, different[:3]


def test_kernels_are_compiled_once() -> None:
    def program(value: float) -> Array:
        x = Tensor(np.full((3, 11), value, "float32"))
        return (x.exp() * 3 + x.sum(1, keepdim=True)).sin().realize().numpy()

    first = program(1.0)
    misses, hits = kernels.PROGRAMS.misses, plans.STRUCTURES.hits
    assert (program(2.0) != first).any()
    np.testing.assert_array_equal(program(1.0), first)
    assert kernels.PROGRAMS.misses == misses
    assert plans.STRUCTURES.hits == hits + 2


def test_a_chain_of_30_000_operations() -> None:
    x = Tensor(np.array([0.25, -3.0], "float32"))
    y = x
    for number in range(15_000):
        y = (y + 1.0) if number % 2 else (y - 1.0)
        y = -y
    expected = x.numpy().copy()
    for number in range(15_000):
        expected = -(expected + np.float32(1)) if number % 2 else -(expected - np.float32(1))
    compilation = Compilation([y.node], Options(), "chain")
    np.testing.assert_array_equal(compilation.run()[0], expected)


LIMITS = {
    "one tensor": (
        lambda: [floats(1000).exp()],
        "  got:      f32[1000], 4,000 bytes",
        "a tensor of the program does not fit in memory",
    ),
    "tensors together": (
        lambda: [floats(600).exp(), floats(600).sin()],
        "  got:      2 tensors, 4,800 bytes; the largest is f32[600], 2,400 bytes",
        "the tensors of the program do not fit in memory together",
    ),
}


@pytest.mark.parametrize(("make", "got", "problem"), LIMITS.values(), ids=LIMITS)
def test_a_program_over_the_limit_is_refused(make: object, got: str, problem: str) -> None:
    assert callable(make)
    compilation = compiled(*make(), options=Options(memory_limit=3000))
    with pytest.raises(SizeError) as caught:
        compilation.run()
    expected = f"allocate: {problem}\n{got}\n  expected: at most 3,000 bytes\n  line:     "
    assert without_calls(str(caught.value)).startswith(expected)
    assert "floats(" in str(caught.value).splitlines()[-1]


def test_a_limit_of_nothing_is_a_limit_and_inputs_do_not_count() -> None:
    x = floats(1000)
    with pytest.raises(SizeError):
        compiled(x + 1, options=Options(memory_limit=0)).run()
    assert compiled(x, options=Options(memory_limit=0)).run()[0].size == 1000
    assert compiled(x.sum(), options=Options(memory_limit=4)).run()[0].shape == ()


def test_nothing_is_allocated_before_the_refusal() -> None:
    terabytes = Tensor.full((1 << 20, 1 << 20), 1.0) + Tensor.arange(1 << 20)
    compilation = compiler.compile(terabytes)
    tracemalloc.start()
    with pytest.raises(SizeError, match=r"8,796,093,022,208 bytes"):
        compilation.run()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1 << 20


def test_realized_tensors_are_inputs_of_what_follows() -> None:
    x = floats(4)
    y = (x + 1).realize()
    assert isinstance(y.node, Buffer)
    compilation = compiler.compile(y * 2)
    assert [b.unique for b in compilation.inputs()] == [y.node.unique]
    assert len(compilation.schedule.items) == 1
    np.testing.assert_array_equal(compilation.run()[0], y.numpy() * 2)


def test_a_realized_tensor_compiles_as_it_was_written() -> None:
    x = floats(4)
    y = (x + 1).realize()
    compilation = compiler.compile(y)
    assert any(" add " in line.text for line in compilation.graph.lines)
    np.testing.assert_array_equal(compilation.run()[0], y.numpy())


@pytest.mark.parametrize("level", (0, 1, 2, 3))
def test_every_level_gives_the_same_results(level: int) -> None:
    x = Tensor(np.linspace(-3, 3, 60).reshape(5, 12))
    options = Options(optimize=level)
    (got,) = compiled(x.softmax(1).sum(0), options=options).run()
    expected = np.exp(x.numpy()) / np.exp(x.numpy()).sum(1, keepdims=True)
    np.testing.assert_allclose(got, expected.sum(0), rtol=1e-12)


def test_choices_are_shown_edited_and_passed_back() -> None:
    a, b = (Tensor(np.ones((24, 48), np.float32) * n) for n in (1, 2))
    product = a @ b.T.contiguous()
    made = compiler.compile(product, Options(threads=2))
    choices = made.choices
    assert list(choices) == [stage.name for stage in made.loops] == list(made.levels)
    chosen = next(name for name, each in choices.items() if each.has("vectorize"))
    for loops in (choices, {name: str(each) for name, each in choices.items()}):
        again = compiler.compile(product, Options(loops=loops))
        assert [str(s) for s in again.loops] == [str(s) for s in made.loops]
        assert again.choices == choices
    without = {**choices, chosen: choices[chosen].without("vectorize")}
    scalar = compiler.compile(product, Options(loops=without))
    text = {stage.name: str(stage) for stage in scalar.loops}[chosen]
    assert "lanes" not in text
    np.testing.assert_array_equal(scalar.run()[0], made.run()[0])
    reasons = [d.reason for d in made.decisions if d.kind == "vectorize"]
    assert reasons and all(": " in reason for reason in reasons)


def test_values_too_large_to_look_at_are_left_out() -> None:
    x = Tensor(np.ones((200, 200), np.float32), name="x")
    made = compiler.compile(x @ x)
    rows = made.graph.to_networkx().nodes(data="op")
    found = {op: made.values(entity) for entity, op in rows}
    assert values.MOST_ELEMENTS < 200**3
    assert found["buffer"] is not None and found["mul"] is None


def test_choices_that_are_legal_alone_but_not_together_are_the_users_error() -> None:
    a, b = (Tensor(np.ones(shape, np.float32)) for shape in ((3, 17, 16), (3, 16, 16)))
    loops = {"k0": "pack 2 i2; accumulate r3 5 i0; vectorize i2"}
    with pytest.raises(ScheduleError, match="do not go together"):
        compiler.compile(a @ b, Options(loops=loops))
