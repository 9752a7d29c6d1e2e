"""A small compilation made by hand: what svodviz may rely on, without running a compiler.

The program is a two-layer network with softmax and, separately, a row sum. Everything that a real
compilation shows is here: rewritten graphs, step by step, kernels, a schedule with slack, texts of
every kernel whose lines descend from each other, decisions and values.
"""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np

from compiler.core.reason import Decision
from tests.svodviz import sample_schedule
from tests.svodviz.sample_graph import (
    PASSES,
    PROGRAM,
    Compilation,
    Graph,
    Line,
    Node,
    Stage,
    run_pass,
    tensor_graph,
)

# Each kernel: name, lines of the program it comes from, inputs, its loop nest as (depth, text).
KERNELS = (
    ("k0", (11,), ("x", "w1", "b1"), (
        (0, "i: 64 block"), (1, "j: 32 lanes"), (2, "k: 20 serial"),
        (3, "acc = mulacc(x[i*20 + k], w1[k*32 + j], acc)"), (2, "h = max(acc + b1[j], 0.0)"),
        (2, "store hidden[i*32 + j] = h"))),
    ("k1", (12,), ("hidden", "w2"), (
        (0, "i: 64 block"), (1, "j: 10 lanes"), (2, "k: 32 serial"),
        (3, "acc = mulacc(hidden[i*32 + k], w2[k*10 + j], acc)"),
        (2, "store logits[i*10 + j] = acc"))),
    ("k2", (13,), ("logits",), (
        (0, "i: 64 block"), (1, "m = reduce max over j ( logits[i*10 + j] )"),
        (1, "s = reduce add over j ( exp(logits[i*10 + j] - m) )"),
        (2, "store probabilities[i*10 + j] = exp(logits[i*10 + j] - m) * (1 / s)"))),
    ("k3", (14,), ("x",), (
        (0, "i: 64 block"), (1, "k: 20 serial"), (2, "acc = add(x[i*20 + k], acc)"),
        (1, "store total[i] = acc"))),
)  # fmt: skip
KERNEL_OF_LINE = {line: kernel for kernel, lines, _, _ in KERNELS for line in lines}


def sample(name: str = "network.py") -> Compilation:
    """The sample compilation."""
    written = tensor_graph()
    graph, records = written, []
    for position, row in enumerate(PASSES):
        graph, record = run_pass(graph, "", row, 0.0004 * (position + 1))
        records.append(record)
    loops = tuple(_loops(graph, *kernel) for kernel in KERNELS)
    lowered = tuple(_next(stage, "lowered", _lower, 0.0011) for stage in loops)
    source = tuple(_next(stage, "llvm", _emit, 0.0017) for stage in lowered)
    optimized = tuple(_next(stage, "optimized", lambda text: [text], 0.0061) for stage in source)
    return Compilation(
        name=name,
        user_source=_user_source(name),
        graph=written.stage("graph as written", 0.0021),
        optimized_graph=graph.stage("graph after passes", 0.0),
        passes=(*records, *_loop_passes()),
        kernels=_kernels(graph),
        schedule=sample_schedule.plain(),
        loops=loops,
        lowered=lowered,
        source=source,
        optimized=optimized,
        assembly=tuple(_assembly(stage) for stage in optimized),
        decisions=_decisions(),
        arrays=_arrays(written),
    )


def _user_source(name: str) -> Stage:
    lines = tuple(
        Line(text, f"source:{number}" if number in range(6, 15) and text else None)
        for number, text in enumerate(PROGRAM.splitlines(), start=1)
    )
    return Stage(name, lines, nx.DiGraph())


def _members(graph: Graph, kernel: str) -> tuple[str, ...]:
    """The graph nodes that a kernel computes."""
    return tuple(
        f"graph:{key}"
        for key, node in graph.nodes.items()
        if KERNEL_OF_LINE.get(node.line) == kernel
    )


def _kernels(graph: Graph) -> Stage:
    result, lines = nx.DiGraph(), []

    def add(key: str, op: str, kind: str, sources: tuple[str, ...] = (), **more: object) -> str:
        entity = f"kernels:{key}"
        result.add_node(entity, op=op, kind=kind, **{"parents": (), **more})
        for position, source in enumerate(sources):
            result.add_edge(source, entity, operand=position, kind="data")
        words = [op, more.get("name"), more.get("argument"), *(f"%{it[8:]}" for it in sources)]
        text = f"%{key} = {' '.join(str(word) for word in words if word)}"
        lines.append(Line(text, entity, more.get("parents", ())))
        return entity

    for key, node in graph.nodes.items():
        if node.op == "buffer":
            add(node.name, "buffer", "buffer", parents=(f"graph:{key}",), name=node.name,
                dtype="f32", shape=node.shape)  # fmt: skip
    outputs = {"k0": "hidden", "k1": "logits", "k2": "probabilities", "k3": "total"}
    for kernel, _, inputs, _ in KERNELS:
        name = outputs[kernel]
        out = add(f"{name}_storage", "buffer", "buffer", name=name, dtype="f32", shape="[640]")
        call = add(f"call_{kernel}", "call", "call", (out, *(f"kernels:{it}" for it in inputs)),
                   parents=_members(graph, kernel), argument=kernel)  # fmt: skip
        add(name, "after", "order", (out, call), name=name)
    return Stage("kernel graph", tuple(lines), result, 0.0008)


def _loops(graph: Graph, kernel: str, _: object, inputs: tuple, rows: tuple) -> Stage:
    members = _members(graph, kernel)
    position = next(i for i, row in enumerate(KERNELS) if row[0] == kernel)
    head = Line(f"{kernel}({', '.join(inputs)})", None, (f"schedule:{position}",))
    lines = [head]
    for number, (depth, text) in enumerate(rows):
        half = len(members) // 2
        parents = members[:half] if number < len(rows) / 2 else members[half:]
        lines.append(Line("  " * (depth + 1) + text, f"loops:{kernel}:{number}",
                          (f"schedule:{position}", *parents)))  # fmt: skip
    return Stage(f"{kernel} as loops", tuple(lines), _chain(lines, "loop"), 0.0009, kernel)


def _lower(text: str) -> list[str]:
    words = text.strip()
    if "store" in words:
        target = words.split()[1].partition("[")[0]
        return ["%{n} = index " + words.split("[")[1].split("]")[0], f"store {target}, %{{n}}"]
    if "reduce" in words:
        return ["acc %{n} = identity", "range %{n} = 10", "%{n} = load logits", "endrange %{n}"]
    if "acc =" in words:
        return ["%{n} = load left", "%{n} = load right", "%{n} = mulacc", "endrange"]
    return [f"range {words.partition(' ')[0][:-1]} = {words.partition(' ')[2]}"]


def _emit(text: str) -> list[str]:
    if "load" in text:
        pointer = "%p{n} = getelementptr inbounds float, ptr %a, i64 {n}"
        return [pointer, "%v{n} = load <8 x float>, ptr %p{n}, align 32"]
    if text.startswith("range"):
        return ["loop{n}:", "  %i{n} = phi i64 [ 0, %entry ], [ %next{n}, %loop{n} ]  ; range"]
    if "mulacc" in text:
        call = "call <8 x float> @llvm.fma.v8f32(<8 x float> %v{n}, <8 x float> %w, <8 x float> %a)"
        return ["%r{n} = " + call]
    if text.startswith("store"):
        return ["store <8 x float> %r, ptr %out, align 32"]
    return ["%x{n} = add nuw nsw i64 %i, {n}"]


def _next(stage: Stage, prefix: str, rule: Callable[[str], list[str]], seconds: float) -> Stage:
    """The stage after `stage`: each line becomes the lines that `rule` makes of its text."""
    lines: list[Line] = []
    for line in stage.lines:
        for text in rule(line.text) if line.entity else [f"; {line.text.lstrip('; ')}"]:
            number = len(lines)
            entity = f"{prefix}:{stage.name}:{number}" if line.entity else None
            parents = (line.entity,) if line.entity else ()
            lines.append(Line(text.replace("{n}", str(number)), entity, parents))
    return Stage(f"{stage.name} {prefix}", tuple(lines), _chain(lines, prefix), seconds, stage.name)


def _chain(lines: list[Line], kind: str) -> nx.DiGraph:
    """A line uses what the line before it made, and the first line where it names a register."""
    graph, before = nx.DiGraph(), None
    for line in lines:
        if line.entity is None:
            continue
        words = re.sub(r"^(%\w+ = |\w+ = )", "", line.text.strip())
        op = words.split("(")[0].split()[0].rstrip(":")
        is_memory = op in ("load", "store", "getelementptr")
        kinds = {"range": "control", "loop": "control", "store": "memory"}
        graph.add_node(
            line.entity, op=op, parents=line.parents, argument="", dtype="f32", shape="",
            kind="memory" if is_memory else kinds.get(op, "elementwise"), group=kind,
        )  # fmt: skip
        if before:
            graph.add_edge(before, line.entity, operand=0, kind="data")
        before = line.entity
    return graph


def _assembly(stage: Stage) -> Stage:
    """Two instructions per LLVM line, in three basic blocks."""
    lines = [Line(f"{stage.name}:")]
    for number, line in enumerate(line for line in stage.lines if line.entity):
        register = f"ymm{number % 16}"
        texts = [f"    vmovups {register}, ymmword ptr [rsi + {32 * number}]"]
        if "fma" in line.text:
            texts.append(f"    vfmadd231ps {register}, ymm14, dword ptr [rdi]{{1to8}}")
        for text in texts:
            entity = f"asm:{stage.name}:{len(lines)}"
            lines.append(Line(text, entity, (line.entity,)))
    lines.append(Line("    ret"))
    graph, third = nx.DiGraph(), max(1, len(lines) // 3)
    names = ["entry", ".loop", ".exit"]
    for index, name in enumerate(names):
        part = lines[1 + index * third : 1 + (index + 1) * third]
        parents = tuple(it.entity for it in part if it.entity)
        graph.add_node(f"asm:{stage.name}:block {name}", op=name, kind="basicblock",
                       text="\n".join(it.text.strip() for it in part), parents=parents)  # fmt: skip
    blocks = [f"asm:{stage.name}:block {name}" for name in names]
    for source, target in ((0, 1), (1, 1), (1, 2)):
        graph.add_edge(blocks[source], blocks[target], operand=-1, kind="control")
    return Stage(f"{stage.name} assembly", tuple(lines), graph, 0.0005, stage.name)


def _loop_passes() -> list:
    """Two passes over the loops of the first kernel: its second range is split and vectorised."""
    nodes = {
        0: Node("range", "control", "", argument="i 64"),
        1: Node("range", "control", "", argument="j 32"),
        2: Node("load", "memory", "", (0, 1), argument="x"),
        3: Node("store", "memory", "", (2, 1), argument="hidden"),
    }

    def split(graph: Graph) -> list:
        outer = Node("range", "control", "", argument="j.outer 4")
        inner = Node("range", "control", "", argument="j.inner 8")
        joined = Node("mulacc", "index", "", (4, 5), argument="j.outer * 8 + j.inner")
        return [("split", "j = j.outer * 8 + j.inner", 1, 6, {4: outer, 5: inner, 6: joined})]

    def vectorize(graph: Graph) -> list:
        lanes = Node("lanes", "index", "", argument="8")
        return [("vectorize", "range of 8 = 8 lanes", 5, 7, {7: lanes})]

    because = "before vectorize: lanes need a range of their width"
    graph = Graph("loops:k0:n", nodes, (3,))
    graph, first = run_pass(graph, "k0", ("split", split, because), 0.0002)
    _, second = run_pass(graph, "k0", ("vectorize", vectorize, "after split"), 0.0001)
    return [first, second]


def _decisions() -> tuple[Decision, ...]:
    return (
        Decision("graph:13", "fuse", True, "fused into k0: one user, same extent 2,048"),
        Decision("graph:15", "realize", True, "realized: read 10 times per element by k1"),
        Decision("schedule:3", "order", True, "may run any time in the first 16.1 µs"),
        Decision("graph:28", "fuse", False, "not fused into k3: they share no extent"),
    )


def _arrays(graph: Graph) -> dict[str, np.ndarray]:
    """A value for every node whose shape is small, drawn from a fixed seed."""
    generator = np.random.default_rng(3)
    shapes = {
        key: [int(extent) for extent in re.findall(r"\d+", node.shape)]
        for key, node in graph.nodes.items()
    }
    arrays = {
        f"graph:{key}": generator.normal(size=shape).astype(np.float32)
        for key, shape in shapes.items()
        if np.prod(shape) < 10_000
    }
    arrays["graph:0"][0, :2] = np.nan, np.inf
    return arrays


HOSTILE = (
    "</script><img src=x onerror=window.hacked=1>",
    "\"quoted\" 'single' `back` ${hacked}",
    "two\nlines\ttab\x00null",
    "\u202eright to left\u202c \u2066isolated",
    "]]><!-- & &amp; %s {0} <svg/onload=hacked()>",
)


UNSEEN = "no values inside kernels: data, or values of variables, are missing"
"""The words of a page of a sample: there is nothing to run."""


def as_json(data: object) -> Any:
    """Data of a page as a page reads it: rows of tables are arrays."""
    match data:
        case dict():
            return {key: as_json(it) for key, it in data.items()}
        case list() | tuple():
            return [as_json(it) for it in data]
    return data


def failing(plain: Compilation, name: str, error: Exception) -> Compilation:
    """The compilation, of which one attribute cannot be made."""

    def fail(self: Compilation) -> None:
        raise error

    made = replace(plain)
    made.__class__ = type("Failing", (type(plain),), {name: property(fail)})
    return made


def rich() -> Compilation:
    """The sample with the schedule and the kernel graph that have everything."""
    kernels = sample_schedule.kernel_graph()
    return replace(sample("rich.py"), schedule=sample_schedule.rich(), kernels=kernels)


def hostile_schedule() -> sample_schedule.Schedule:
    """The rich schedule with hostile names, functions, reasons and kinds."""
    made = sample_schedule.rich(HOSTILE[0])
    operations = [replace(it, operation=replace(it.operation, name=HOSTILE[n % len(HOSTILE)]))
                  for n, it in enumerate(made.items)]  # fmt: skip
    plan = replace(made.memory_plan, places=tuple(
        replace(it, reason=HOSTILE[n % len(HOSTILE)]) for n, it in enumerate(
            made.memory_plan.places)))  # fmt: skip
    found = tuple(replace(it, fusion_type=HOSTILE[1], reason=HOSTILE[n]) for n, it in enumerate(
        made.opportunities))  # fmt: skip
    edges = (*made.dependencies[:-1], replace(made.dependencies[-1], kind=HOSTILE[4]))
    return replace(made, items=tuple(operations), memory_plan=plan, opportunities=found,
                   dependencies=edges)  # fmt: skip


def hostile() -> Compilation:
    """The sample with names, lines and reasons that try to break out of every format."""
    plain = sample(HOSTILE[0])
    graph = plain.graph.graph.copy()
    for position, key in enumerate(graph):
        text = HOSTILE[position % len(HOSTILE)]
        graph.nodes[key].update(name=text, argument=text, op=text, group=HOSTILE[position % 2])
    lines = tuple(
        replace(line, text=HOSTILE[position % len(HOSTILE)] + line.text)
        for position, line in enumerate(plain.user_source.lines)
    )
    return replace(
        plain,
        schedule=hostile_schedule(),
        graph=replace(plain.graph, title=HOSTILE[0], graph=graph),
        user_source=replace(plain.user_source, title=HOSTILE[0], lines=lines),
        decisions=tuple(Decision(it, text, True, text)
                        for it, text in zip(graph, HOSTILE, strict=False)),
        passes=tuple(replace(it, name=HOSTILE[0], because=HOSTILE[3]) for it in plain.passes),
        loops=tuple(replace(it, name=f"{it.name}{HOSTILE[0]}") for it in plain.loops),
    )  # fmt: skip


def large(count: int) -> Compilation:
    """The sample with a tensor graph of `count` nodes."""
    graph = nx.DiGraph()
    for number in range(count):
        graph.add_node(f"graph:{number}", op="add", kind="elementwise", dtype="f32",
                       shape="[64,10]", argument="", name="", group="", parents=())  # fmt: skip
        for position, back in enumerate((1, 1 + number % 17)):
            if number >= back:
                graph.add_edge(f"graph:{number - back}", f"graph:{number}",
                               operand=position, kind="data")  # fmt: skip
    lines = tuple(Line(f"%{it} = add", f"graph:{it}") for it in range(count))
    return replace(sample("large.py"), passes=(), decisions=(),
                   graph=Stage("large graph", lines, graph, 0.1))  # fmt: skip
