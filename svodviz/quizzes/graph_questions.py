"""Questions on the tensor graph and its passes: shapes, rules, what is written to memory."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from random import Random
from typing import TYPE_CHECKING, Any

from compiler.core.node import toposort
from compiler.core.trace import Replay
from compiler.graph.rewrite import Rule, RuleSet
from compiler.pipeline.rows import PASSES
from svodviz.quizzes.drafts import MOST_LINES, WRONG, Draft
from svodviz.quizzes.questions import Choice
from svodviz.wire.items import word_of
from svodviz.wire.refine import pictured

if TYPE_CHECKING:
    import networkx as nx

    from compiler.core.node import Node
    from compiler.core.trace import PassRecord, Rewrite
    from compiler.program.compilation import Compilation

COMPUTED = frozenset({"elementwise", "reduce"})
"""The kinds of nodes that compute values."""
SIGN = re.compile(r"//|\*\*|[-+*/%<>]=?")
MOST_NODES, MOST_STEPS = 400, 200  # of a pass that is replayed
# The rules of the passes that look for what they can improve.
CATALOGUES: dict[tuple[str, str], RuleSet] = {
    (row.stage, row.name): RuleSet(row.rules) for row in PASSES if row.rules
}


# -- how graphs are shown --------------------------------------------------------------------------


def short(entity: str) -> str:
    """`%12` of `graph:12`."""
    return f"%{entity.rpartition(':')[2]}"


def printed(graph: "nx.DiGraph[str]", node: str, *, with_type: bool = True) -> str:
    """`%12 = reduce sum axes (1) %11   f32[64,1]`"""
    facts = graph.nodes[node]
    operands = sorted(
        (int(place), str(source)) for source, _, place in graph.in_edges(node, data="operand")
    )
    names = [short(it) for _, it in operands]
    words = [facts.get("op"), facts.get("name"), facts.get("argument"), *names]
    text = " ".join(dict.fromkeys(str(it) for it in words if it))
    kind = f"{facts.get('dtype') or ''}{facts.get('shape') or ''}" if with_type else ""
    return f"{short(node)} = {text}{f'   {kind}' if kind else ''}"


def around(graph: "nx.DiGraph[str]", node: str, *, with_type: bool = True) -> list[str]:
    """A node with what it reads, two steps back, and what reads it unless its type is hidden."""
    after = list(graph.successors(node)) if with_type else []
    near = list(graph.predecessors(node))
    order = {it: place for place, it in enumerate(graph)}
    before = {*near, *(it for one in near for it in graph.predecessors(one))} - {node, *after}
    rows = sorted(before, key=lambda it: (it in near, order[it]))
    return [
        *(f"  {printed(graph, it)}" for it in rows),
        f"→ {printed(graph, node, with_type=with_type)}",
        *(f"  {printed(graph, it)}" for it in after),
    ]


def shuffled(rows: Iterable[Any], random: Random) -> list[Any]:
    """The rows in random order."""
    mixed = list(rows)
    random.shuffle(mixed)
    return mixed


# -- which shape a node has ------------------------------------------------------------------------


def shapes(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which shape does a reduction or a permutation give?"""
    graph = pictured(compilation.graph)
    for node in shuffled(graph, random):
        facts = graph.nodes[node]
        operands = list(graph.predecessors(node))
        mistakes, meaning = MISTAKES.get(facts["op"].partition(" ")[0], (None, ""))
        if mistakes is None or not facts["argument"] or len(operands) != 1:
            continue
        shape, read = facts["shape"], graph.nodes[operands[0]]["shape"]
        wrong = [*mistakes(_axes(shape), _axes(read)), *_others(graph, shape)]
        yield Draft(
            f"Which shape does {short(node)} have?",
            around(graph, node, with_type=False),
            Choice(shape, printed(graph, node)),
            [Choice(it, why) for it, why in wrong if it != shape],
            [f"it reads {printed(graph, operands[0])}", meaning],
            node,
        )  # fmt: skip


def _axes(shape: str) -> list[str]:
    return shape.strip("[]").split(",")


def _shape(axes: Iterable[str]) -> str:
    return f"[{','.join(axes)}]"


def _reduced(axes: list[str], read: list[str]) -> Iterator[tuple[str, str]]:
    """Shapes mistaken for that of a reduction: without the reduced axes, or along others."""
    if "1" in axes and len(axes) > 1:
        yield _shape(it for it in axes if it != "1"), "folded axes stay, with one element"
    for place in range(len(read)):
        folded = _shape([*read[:place], "1", *read[place + 1 :]])
        yield folded, f"that is what folding axis {place} gives"
    yield _shape(read), "that is the shape of what it reads"


def _permuted(axes: list[str], read: list[str]) -> Iterator[tuple[str, str]]:
    """Shapes mistaken for that of a permutation: unchanged, or another order."""
    yield _shape(read), "that is the shape of what it reads"
    yield _shape(reversed(read)), "that is what turning round all axes gives"
    for place in range(1, len(read)):
        yield _shape([*read[place:], *read[:place]]), "that is another order of the axes"


MISTAKES = {
    "reduce": (_reduced, "a reduction keeps the axes that it folds, with one element each"),
    "permute": (_permuted, "a permutation says of each axis of its result which one it was"),
}


def _others(graph: "nx.DiGraph[str]", shape: str) -> Iterator[tuple[str, str]]:
    """Shapes of other nodes with as many axes."""
    for node, other in graph.nodes(data="shape"):
        if other and other.count(",") == shape.count(","):
            yield other, f"that is the shape of {printed(graph, node, with_type=False)}"


# -- which rule fires ------------------------------------------------------------------------------


def rules(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which rule rewrites a node? The wrong ones look at such nodes too, and do not match here."""
    records = [it for it in compilation.passes
               if (it.stage, it.name) in CATALOGUES and it.matches]  # fmt: skip
    fired = Counter(it.rule for record in records for it in record.applied)
    if len(fired) < 2:
        return
    steps: dict[str, list[tuple[PassRecord, int, Rewrite]]] = {}
    for record in records:
        for step, it in enumerate(record.applied[:MOST_STEPS]):
            steps.setdefault(it.rule, []).append((record, step, it))
    for rule in sorted(shuffled(steps, random), key=fired.__getitem__):
        yield from _rule(*random.choice(steps[rule]), fired)


def _rule(
    record: "PassRecord", step: int, rewrite: "Rewrite", fired: Counter[str]
) -> Iterator[Draft]:
    node = record.matches[step].before
    candidates = CATALOGUES[record.stage, record.name].candidates(node)
    if rewrite.rule not in [it.name for it in candidates]:
        return  # equal nodes merged: no rule looked at this one
    catalogue = CATALOGUES[record.stage, record.name].rules
    wrong = [
        *_not_here(candidates, node, rewrite, fired),
        *_elsewhere(catalogue, candidates, fired),
    ]
    if len(wrong) < WRONG or len(toposort([record.before])) > MOST_NODES:
        return
    replay = Replay(record)
    for match in record.matches[:step]:
        replay.step(match)
    before = replay.graph()
    if rewrite.before not in before:
        return
    replay.step(record.matches[step])
    after = replay.graph()
    over = f"the loops of {record.kernel}" if record.kernel else "the graph"
    is_there = rewrite.after in after
    result = printed(after, rewrite.after) if is_there else short(rewrite.after)
    yield Draft(
        f"Pass {record.name} goes over {over}. Which of its rules rewrites "
        f"{short(rewrite.before)}?",
        around(before, rewrite.before),
        Choice(rewrite.algebra, f"{rewrite.rule}: it becomes {result}"), wrong,
        [f"{record.name} stands where it does in the pipeline: {record.because}"],
        rewrite.before,
    )  # fmt: skip


def _not_here(
    candidates: tuple[Rule, ...], node: "Node", rewrite: "Rewrite", fired: Counter[str]
) -> Iterator[Choice]:
    """The rules that look at nodes of this operation and leave this one alone.

    First those about the same signs, and of these such as fire elsewhere.
    """
    signs = set(SIGN.findall(rewrite.algebra))

    def rank(rule: Rule) -> tuple[int, int]:
        return -len(signs & set(SIGN.findall(rule.algebra))), -fired[rule.name]

    for rule in sorted(candidates, key=rank):
        if rule.algebra != rewrite.algebra and rule.function(node) is None:
            times = fired[rule.name]
            where = f"{times} × in this compilation, not here" if times else "nowhere here"
            yield Choice(rule.algebra, f"{rule.name} looks at such nodes too; it matches {where}")


def _elsewhere(
    catalogue: tuple[Rule, ...], candidates: tuple[Rule, ...], fired: Counter[str]
) -> Iterator[Choice]:
    """The rules that fire in this compilation, on other operations."""
    for rule in sorted(catalogue, key=lambda it: -fired[it.name]):
        if fired[rule.name] and rule not in candidates:
            yield Choice(rule.algebra, f"{rule.name} is about other operations: it fires "
                         f"{fired[rule.name]} × in this compilation")  # fmt: skip


# -- what is written to memory ---------------------------------------------------------------------


def written(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which value is not fused with what reads it?"""
    graph = compilation.optimized_graph
    picture = pictured(graph)
    texts = {line.entity: line.text.partition("   ")[0].strip() for line in graph.lines}
    rows = [it for it in compilation.decisions if it.kind == "fuse" and it.subject in texts]
    calls = [set(nodes) for nodes in compilation.kernels.links.values() if nodes]
    fused = {it.subject: it for it in rows if it.taken
             and any(it.subject in nodes and _is_read(picture, it.subject, nodes)
                     for nodes in calls)}  # fmt: skip
    refused = {it.subject: it for it in rows if not it.taken and it.subject not in fused}
    for subject, decision in shuffled(refused.items(), random):
        near = sorted(fused.values(), key=lambda it: _distance(it.subject, subject))
        yield Draft(
            "This is the graph after its passes. Which of these values is written to memory, "
            "because it cannot be computed inside the kernel that reads it?",
            [line.text for line in graph.lines if line.entity in texts][:MOST_LINES],
            Choice(texts[subject], decision.reason),
            [Choice(texts[it.subject], f"fused: {it.reason}") for it in near],
            ["a value is computed where it is read, unless it would be computed more than once, "
             "or its kernel ends with it"],
            subject,
        )  # fmt: skip


def _is_read(picture: "nx.DiGraph[str]", entity: str, together: set[str]) -> bool:
    """True if a kernel, of the nodes `together`, computes with a value, moved or not: a value that
    is only moved may be stored in its new layout."""
    stack, seen = [entity], {entity}
    while stack:
        for reader in set(picture.successors(stack.pop())) & together - seen:
            if picture.nodes[reader]["kind"] in COMPUTED:
                return True
            seen.add(reader)
            stack.append(reader)
    return False


def _distance(entity: str, other: str) -> int:
    return abs(int(entity.rpartition(":")[2]) - int(other.rpartition(":")[2]))


# -- how many kernels ------------------------------------------------------------------------------


def kernels(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """How many kernels are run, where it is more than one?"""
    calls = [it.operation for it in compilation.schedule.items if word_of(it.operation) == "kernel"]
    graph = compilation.optimized_graph
    if len(calls) < 2 or len(graph.lines) > MOST_LINES:
        return
    ops = [str(op) for _, op in pictured(graph).nodes(data="op")]
    guesses = {
        sum(it.startswith("reduce") for it in ops): "as many as there are reductions",
        len({it.name for it in calls}): "as many as there are different kernels",
        len(calls) + 1: "one more than there are",
        len(calls) - 1: "one less than there are",
        len(calls) + 2: "two more than there are",
        sum(it not in ("buffer", "const", "sink") for it in ops): "one for each operation",
        len(calls) + 3: "three more than there are",
        len(calls) - 2: "two less than there are",
    }
    yield Draft(
        "This is the graph after its passes. How many times does the schedule run a kernel?",
        [line.text for line in graph.lines],
        Choice(str(len(calls)), ", ".join(it.name for it in calls[:12])),
        [Choice(str(it), why) for it, why in guesses.items() if it > 1],
        _fusions(compilation),
    )


def _fusions(compilation: "Compilation") -> list[str]:
    """The values that went through memory, and why; then those fused."""
    texts = {it.entity: it.text.partition("   ")[0] for it in compilation.optimized_graph.lines}
    rows = [it for it in compilation.decisions if it.kind == "fuse"]
    rows.sort(key=lambda it: it.taken)
    return [
        f"{'fused' if it.taken else 'in memory'}: {texts.get(it.subject, it.subject)}: {it.reason}"
        for it in rows[:6]
    ]


# -- which item computes a node --------------------------------------------------------------------


def computed(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which item of the schedule computes an operation?"""
    graph, schedule = compilation.optimized_graph, compilation.schedule
    links = compilation.kernels.links
    texts = {line.entity: line.text for line in graph.lines}
    if len(texts) > MOST_LINES:
        return
    homes: dict[str, list[int]] = {}
    for place, item in enumerate(schedule.items):
        if word_of(item.operation) == "kernel":
            for node in (it for call in schedule.parents[place] for it in links.get(call, ())):
                homes.setdefault(node, []).append(place)
    kinds = pictured(graph).nodes(data="kind")
    items = [Choice(_traffic(it.operation), "") for it in schedule.items]
    for node in shuffled((it for it, at in homes.items() if len(at) == 1), random):
        if kinds[node] not in COMPUTED:
            continue
        (home,) = homes[node]
        near = sorted(range(len(items)), key=lambda it: abs(it - home))
        yield Draft(
            f"This is the graph after its passes. Which kernel computes {short(node)}?",
            [_marked(text, it == node) for it, text in texts.items()],
            Choice(items[home].text, f"item {home}, with {_operations(homes, texts, home)}"),
            [Choice(items[it].text, f"item {it} computes {_operations(homes, texts, it)}")
             for it in near if it != home and _operations(homes, texts, it)],
            ["a kernel computes what it stores, and all that is needed for it and nowhere written"],
            node,
        )  # fmt: skip


def _marked(text: str, is_target: bool) -> str:
    return f"{'→' if is_target else ' '} {text}"


def _operations(homes: dict[str, list[int]], texts: dict[str | None, str], place: int) -> str:
    """The last operations of an item, in words."""
    mine = [texts[it].partition("   ")[0] for it, at in homes.items() if at == [place]]
    return ", ".join(mine[-3:])


def _traffic(operation: Any) -> str:
    """`reads x[64,20] w1[20,32], writes tmp0[64,32]`"""
    reads, writes = (" ".join(map(buffer_text, it)) for it in (operation.reads, operation.writes))
    return f"reads {reads}, writes {writes}"


def buffer_text(buffer: Any) -> str:
    """`tmp0[64,32]`"""
    return f"{buffer.name}[{','.join(map(str, buffer.shape))}]"
