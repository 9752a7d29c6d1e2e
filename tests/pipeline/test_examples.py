"""The example in each pass's docstring is what the pass does, in the stage's printed form.

The docstring is the golden text: `Before:` and `After:` are read from it. Runs of spaces count
as one, and `…` stands for anything, other lines included.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Callable
from functools import partial

import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.origin import Origin, state
from compiler.core.trace import Numbering, Provenance
from compiler.graph import nodes as graph
from compiler.graph.cse import cse
from compiler.graph.decompose import decompose
from compiler.graph.differentiate import differentiate
from compiler.graph.forward_stores import forward_stores
from compiler.graph.kinds.effects import Assign
from compiler.graph.kinds.gradient import Backward, Gradient
from compiler.graph.kinds.placement import multi
from compiler.graph.nodes import Shape, TensorNode, const, elementwise
from compiler.graph.printer import Graph
from compiler.graph.shard import shard
from compiler.graph.simplify import simplify
from compiler.graph.split_reduction import split_reduction
from compiler.llvm.emit import emit
from compiler.llvm.level import level_of
from compiler.loops.choosing.choose import choose
from compiler.loops.coalesce import coalesce
from compiler.loops.index import index
from compiler.loops.nodes import Body
from compiler.loops.printer import Loops
from compiler.loops.simplify import simplify as simplify_loops
from compiler.loops.split import split
from compiler.loops.transforms.cascade import cascade
from compiler.lowered.linearize import linearize
from compiler.lowered.printer import Lowered
from compiler.machines.model import DEFAULT
from compiler.pipeline.kernels import estimated
from compiler.pipeline.rows import PIPELINE, Step
from compiler.schedule.analysis import costs, footprint
from compiler.schedule.calls import KernelGraph, KernelSink, buffer_of
from compiler.schedule.carry import carry
from compiler.schedule.deduplicate import deduplicate
from compiler.schedule.fission import fission
from compiler.schedule.hazards import separate
from compiler.schedule.order import order
from compiler.schedule.outline import Outlined, outline
from compiler.schedule.partition import partition
from compiler.schedule.printer import Schedule
from compiler.settings.options import Options
from tests.loops import examples as choices_examples
from tests.loops.examples import shown
from tests.loops.programs import matmul

f32 = dtypes.float32
Texts = tuple[str, str]


def source(name: str, *shape: int) -> graph.Buffer:
    """An input of the example."""
    return graph.Buffer((), 1 + len(name) * 256 + ord(name[0]), shape, f32, name)


def written(line: int, op: str, *operands: TensorNode) -> TensorNode:
    """An operation on line `line` of digits.py."""
    state.origin = Origin("digits.py", line, op)
    try:
        return elementwise(op, *operands)
    finally:
        state.origin = None


def graph_text(root: TensorNode, provenance: Provenance[Origin]) -> str:
    """A tensor graph, with the lines that nodes come from."""
    assert isinstance(root, graph.Sink)
    nodes: list[TensorNode] = toposort([root])
    places = {n: ", ".join(o.place for o in sorted(provenance.of(n))) for n in nodes}
    return str(
        Graph(title="", root=root, numbers=provenance.numbers, parents={}, places=places)
    )


def graph_pass(run: Callable[..., TensorNode], root: graph.Sink) -> Texts:
    """The graph before and after a pass; numbers are kept for nodes that only got new operands."""
    provenance: Provenance[Origin] = Provenance()
    provenance.numbers.all(toposort([root]))
    after = run(root, provenance)
    return graph_text(root, provenance), graph_text(after, provenance)


def differentiate_example() -> Texts:
    x = source("x", 4)
    y, g = written(2, "exp", x), graph.Const((), 0x3F800000, f32, (4,))
    sweep = Backward((y, g, x), 1)
    return graph_pass(differentiate, graph.Sink((Gradient((sweep,), 0),)))


def cse_example() -> Texts:
    x = source("x", 4)
    total = written(7, "add", written(3, "exp", x), written(7, "exp", x))
    return graph_pass(cse, graph.Sink((total,)))


def decompose_example() -> Texts:
    return graph_pass(decompose, graph.Sink((elementwise("relu", source("x", 64, 10)),)))


def shard_example() -> Texts:
    lanes = tuple(
        graph.Buffer((), 9 + number, (2, 3), f32, name, device)
        for number, (name, device) in enumerate((("a", "CPU"), ("b", "CPU:1")))
    )
    total = graph.Reduce((elementwise("exp", multi(lanes, 0)),), "sum", (0,))
    return graph_pass(shard, graph.Sink((total,)))


def simplify_example() -> Texts:
    x = source("x", 4)
    product = elementwise("mul", x, const(1.0, f32, (4,)))
    return graph_pass(
        simplify, graph.Sink((graph.Reshape((graph.Reshape((product,), (2, 2)),), (4,)),))
    )


def forward_stores_example() -> Texts:
    mean = source("mean", 4)
    new = elementwise("neg", mean)
    return graph_pass(forward_stores, graph.Sink((Assign((mean, new)), elementwise("exp", new))))


def split_reduction_example() -> Texts:
    total = graph.Reduce((source("x", 1048576),), "sum", (0,))
    return graph_pass(split_reduction, graph.Sink((total,)))


def carry_example() -> Texts:
    counter = graph.Expand((graph.Reshape((graph.Variable((), "i", 0, 3),), (1,)),), (4,))
    is_there = elementwise("eq", graph.Iota((), 4, dtypes.int64), counter)
    is_there = graph.Expand((graph.Reshape((is_there,), (4, 1)),), (4, 2))
    row = elementwise("exp", graph.Param((), 1, (1, 2), f32))
    state = graph.Param((), 0, (4, 2), f32)
    root = graph.Sink((elementwise("where", is_there, graph.Expand((row,), (4, 2)), state),))
    provenance: Provenance[Origin] = Provenance()
    before = graph_text(root, provenance)
    return before, graph_text(carry(root, provenance).root, provenance)


def hazards_example() -> Texts:
    x = source("x", 4)
    root = graph.Sink((Assign((x, graph.Flip((x,), (0,)))),))
    return graph_text(root, Provenance()), graph_text(separate(root, Options()).root, Provenance())


def partition_example() -> Texts:
    x = source("x", 64, 10)
    exponential = elementwise("exp", graph.Reduce((x,), "sum", (1,)))
    root = graph.Sink((elementwise("neg", exponential), elementwise("sqrt", exponential)))
    provenance: Provenance[Origin] = Provenance()
    before = graph_text(root, provenance)
    realized = {f"%{provenance.numbers[n]} " for n in partition(root, Options()).realized}
    rows = [line for line in before.splitlines() if line.startswith(tuple(realized))]
    return before, "\n".join(rows)


def fission_example() -> Texts:
    product = elementwise("exp", matmul(source("x", 64, 96), source("y", 96, 64)))
    root = graph.Sink((graph.Reduce((product,), "sum", (1,)),))
    options = Options()
    parts = partition(root, options)
    provenance: Provenance[Origin] = Provenance()
    before = graph_text(root, provenance)
    found = fission(root, parts, options, partial(estimated, options=options)).realized
    realized = {f"%{provenance.numbers[n]} " for n in found}
    return before, "\n".join(r for r in before.splitlines() if r.startswith(tuple(realized)))


def outlined_example() -> tuple[graph.Sink, Outlined]:
    """Two operations, each a kernel of its own."""
    x = source("x", 64, 10)
    total = graph.Reduce((x,), "sum", (1,))
    last = elementwise("exp", total)
    root = graph.Sink((last,))
    return root, outline(root, [total, last])


def kernels_text(root: KernelSink) -> str:
    numbers = Numbering()
    numbers.all(toposort([root]))
    return str(KernelGraph(title="", root=root, numbers=numbers, parents={}))


def outline_example() -> Texts:
    root, outlined = outlined_example()
    return graph_text(root, Provenance()), kernels_text(outlined.root)


def deduplicate_example() -> Texts:
    x = source("x", 4, 2)
    parts = [graph.Shrink((x,), ((0, 4), (n, n + 1))) for n in (0, 1)]
    values = [elementwise("exp", part) for part in parts]
    root = graph.Sink((values[1], values[0]))
    before = outline(root, values)
    return kernels_text(before.root), kernels_text(deduplicate(before, root, values).root)


def order_example() -> Texts:
    _, outlined = outlined_example()
    items, dependencies = order(outlined.root)
    analysis = costs.analyse(items)
    timings = costs.timings(items, analysis)
    results = tuple(buffer_of(s) for s in outlined.root.sources)
    schedule = Schedule(
        title="", items=items, dependencies=dependencies, analysis=analysis, times=timings,
        critical_path=costs.critical_path(items, timings),
        lifetimes=footprint.lifetimes(items, results),
        peak_bytes=footprint.peak_bytes(items, results), itemwise_bytes=0,
        results=results, parents=((),) * len(items),
    )  # fmt: skip
    edges = [
        f"{d.producer} → {d.consumer} {d.kind} {' '.join(b.name for b in d.buffers)}"
        for d in dependencies
    ]
    return kernels_text(outlined.root), "\n".join([str(schedule), *edges])


def body_of(value: Callable[..., TensorNode], *shapes: Shape) -> graph.Sink:
    """A kernel body that stores `value` of parameters of the given shapes."""
    parameters = [graph.Param((), slot, shape, f32) for slot, shape in enumerate(shapes, start=1)]
    result = value(*parameters)
    return graph.Sink((graph.Store((graph.Param((), 0, result.shape, f32), result)),))


def loops_text(body: Body, numbers: Numbering) -> str:
    return str(Loops(title="", name="k0", body=body, kernel=0, numbers=numbers, parents={}))


def column_sums(x: TensorNode) -> TensorNode:
    """The sum of each column, as that of each row of the transpose."""
    return graph.Reduce((graph.Permute((x,), (1, 0)),), "sum", (1,))


def index_example() -> Texts:
    body = body_of(column_sums, (64, 10))
    provenance: Provenance[TensorNode] = Provenance()
    indexed = index(body, provenance)
    return graph_text(body, Provenance()), loops_text(indexed, provenance.numbers)


def loops_pass(run: Callable[..., Body], body: Body) -> Texts:
    provenance: Provenance[TensorNode] = Provenance()
    provenance.numbers.all(toposort([body]))
    before = loops_text(body, provenance.numbers)
    return before, loops_text(run(body, provenance), provenance.numbers)


def simplify_loops_example() -> Texts:
    body = body_of(lambda x: elementwise("exp", graph.Reshape((x,), (64, 784))), (50176,))
    return loops_pass(simplify_loops, index(body, Provenance()))


def split_example() -> Texts:
    def padded(x: TensorNode) -> TensorNode:
        wide = graph.Pad((x,), ((0, 0), (0, 8)))
        return elementwise("exp", graph.Reshape((wide,), (480,)))

    body = index(body_of(padded, (20, 16)), Provenance())
    return loops_pass(split, simplify_loops(body, Provenance()))


def coalesce_example() -> Texts:
    body = index(body_of(lambda x: elementwise("exp", x), (64, 784)), Provenance())
    return loops_pass(coalesce, simplify_loops(body, Provenance()))


def cascade_example() -> Texts:
    return loops_pass(cascade, row_sums(4096))


def row_sums(columns: int = 10) -> Body:
    """The sum of each row."""
    body = body_of(lambda x: graph.Reduce((x,), "sum", (1,)), (64, columns))
    return coalesce(simplify_loops(index(body, Provenance()), Provenance()), Provenance())


def lowered_text(body: Body) -> str:
    instructions = tuple(linearize(body).instructions)
    parents = ((),) * len(instructions)
    return str(Lowered(title="", kernel=0, instructions=instructions, parents=parents))


def linearize_example() -> Texts:
    body = row_sums()
    return loops_text(body, Numbering()), lowered_text(body)


def emit_example() -> Texts:
    body = body_of(lambda x: elementwise("neg", x), (64,))
    loops = simplify_loops(index(body, Provenance()), Provenance())
    lines = emit("k0", tuple(linearize(loops).instructions))
    return lowered_text(loops), "\n".join(line.text for line in lines)


def choose_example() -> Texts:
    body = index(body_of(lambda x: elementwise("exp", x), (50_000,)), Provenance())
    body = coalesce(simplify_loops(body, Provenance()), Provenance())
    return loops_text(body, Numbering()), str(choose(body, DEFAULT))


def level_example() -> Texts:
    body = row_sums()
    return lowered_text(body), str(level_of(linearize(body).instructions, 3, "fast"))


def chosen_example(name: str) -> Callable[[], Texts]:
    """A program's loops after a choice."""

    def texts() -> Texts:
        example = choices_examples.EXAMPLES[name]
        return "\n".join(shown(example.before)), "\n".join(shown(example.after))

    return texts


EXAMPLES: dict[tuple[str, str], Callable[[], Texts]] = {
    ("graph", "differentiate"): differentiate_example,
    ("graph", "cse"): cse_example,
    ("graph", "decompose"): decompose_example,
    ("graph", "shard"): shard_example,
    ("graph", "simplify"): simplify_example,
    ("graph", "forward_stores"): forward_stores_example,
    ("graph", "split_reduction"): split_reduction_example,
    ("schedule", "carry"): carry_example,
    ("schedule", "hazards"): hazards_example,
    ("schedule", "partition"): partition_example,
    ("schedule", "fission"): fission_example,
    ("schedule", "outline"): outline_example,
    ("schedule", "deduplicate"): deduplicate_example,
    ("schedule", "order"): order_example,
    ("loops", "index"): index_example,
    ("loops", "simplify"): simplify_loops_example,
    ("loops", "split"): split_example,
    ("loops", "coalesce"): coalesce_example,
    ("loops", "choose"): choose_example,
    **{("loops", step.name): chosen_example(step.name) for step in PIPELINE if step.is_chosen},
    ("loops", "cascade"): cascade_example,
    ("lowered", "linearize"): linearize_example,
    ("llvm", "emit"): emit_example,
    ("llvm", "level"): level_example,
}
SHOWN = [row for row in PIPELINE if not row.is_check and row.stage != "machine"]
"""The rows that make something with a printed form; checks make nothing."""


def docstring(step: Step) -> str:
    """The docstring of the pass's module."""
    return inspect.getdoc(sys.modules[step.function.__module__]) or ""


def example(text: str) -> Texts:
    """The blocks after `Before:` and `After:`; each ends at an empty line or the next label."""
    found = re.search(r"^ *Before:(.*?)^ *After:(.*?)^\s*$", text, re.MULTILINE | re.DOTALL)
    assert found, "the docstring has no example"
    return found.group(1), found.group(2)


def is_like(text: str, wanted: str) -> bool:
    """True if `text` is `wanted`: `…` stands for anything, remarks in brackets are left out."""
    wanted = re.sub(r"  \([^)]* [^)]*\)$", "", wanted, flags=re.MULTILINE)
    pieces = [re.escape(" ".join(piece.split())) for piece in wanted.split("…")]
    pattern = " ?.* ?".join(pieces)
    return re.fullmatch(pattern, " ".join(text.split())) is not None


def test_every_row_of_the_pipeline_has_an_example() -> None:
    assert list(EXAMPLES) == [(step.stage, step.name) for step in SHOWN]


@pytest.mark.parametrize("step", SHOWN, ids=lambda s: f"{s.stage}-{s.name}")
def test_the_example_is_what_the_pass_does(step: Step) -> None:
    before, after = example(docstring(step))
    found_before, found_after = EXAMPLES[step.stage, step.name]()
    assert is_like(found_before, before), f"Before:\n{found_before}"
    assert is_like(found_after, after), f"After:\n{found_after}"


@pytest.mark.parametrize("step", SHOWN, ids=lambda s: f"{s.stage}-{s.name}")
def test_the_docstring_of_a_pass_has_its_parts(step: Step) -> None:
    text = docstring(step)
    assert text.startswith(f"{step.name}: ")
    assert "\nRelies on: " in text and "\nEnsures: " in text
    assert inspect.getmodule(step.function) is importlib.import_module(step.function.__module__)


def test_an_ellipsis_stands_for_anything_and_nothing_else_does() -> None:
    assert is_like("%0 = exp  %1\nsink %0", "%0 = exp %1 sink %0")
    assert is_like("a\nb\nc", "a … c") and is_like("a b", "a … b") and is_like("a (b) c", "… (b) …")
    assert not is_like("a\nb\nc", "a c")
    assert not is_like("abc", "a.c")
