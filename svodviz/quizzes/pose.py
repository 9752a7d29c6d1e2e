"""Questions about a compilation, made from what it has recorded; nothing is compiled or run again.

Each kind of question has a function here; what a compilation does not have it is not asked about.
The same seed gives the same questions.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from random import Random
from typing import TYPE_CHECKING

from compiler.core.text import duration
from compiler.loops.choices import Vectorize
from compiler.loops.printer import bound, level_words
from compiler.pipeline.rows import PASSES
from svodviz.foundation.escape import visible
from svodviz.quizzes.questions import KINDS, Choice, Question
from svodviz.wire.items import word_of
from svodviz.wire.refine import pictured

if TYPE_CHECKING:
    import networkx as nx

    from compiler.core.trace import PassRecord, Rewrite
    from compiler.graph.rewrite import Rule
    from compiler.loops.nodes import Range
    from compiler.loops.printer import Loops
    from compiler.program.compilation import Compilation
    from compiler.schedule.items import ItemTiming
    from svodviz.data.pages import QuestionKind

MOST_CHOICES = 4
MOST_LINES = 48  # of what there is to look at
MOST_NODES, MOST_STEPS = 400, 200  # of a pass whose frames are replayed
NONE_OF_THEM = "none of them"
# The rules of the passes that look for what they can improve.
CATALOGUES: "dict[tuple[str, str], tuple[Rule, ...]]" = {
    (row.stage, row.name): row.rules for row in PASSES if row.rules
}


def pose(
    compilation: "Compilation", kinds: tuple[str, ...] = KINDS, seed: int = 0
) -> list[Question]:
    """Every question of the given kinds; ValueError for a kind that does not exist."""
    unknown = [it for it in kinds if it not in KINDS]
    if unknown:
        raise ValueError(f"quiz: no question is about {unknown}; expected some of {list(KINDS)}")
    return [it for kind in kinds for it in _MAKERS[kind](compilation, Random(seed))]


def _question(
    random: Random, kind: "QuestionKind", prompt: str, lines: list[str], right: Choice,
    wrong: list[Choice], why: list[str], *, entity: str = "", is_sorted: bool = False,
) -> Question:  # fmt: skip
    choices = [right, *wrong[: MOST_CHOICES - 1]]
    if is_sorted:
        choices.sort(key=lambda it: int(it.text))
    else:
        random.shuffle(choices)
    shown = [visible(it) for it in lines[:MOST_LINES]]
    left = len(lines) - len(shown)
    return Question(
        kind=kind,
        prompt=visible(prompt),
        lines=(*shown, *([f"… {left} more lines"] if left else [])),
        choices=tuple(Choice(visible(it.text), visible(it.reply)) for it in choices),
        answer=choices.index(right),
        why=tuple(visible(it) for it in why),
        entity=entity,
    )


# -- which rule fires ------------------------------------------------------------------------------


def _rules(compilation: "Compilation", random: Random) -> Iterator[Question]:
    """The first application of each rule: which one rewrites the node?"""
    records = [it for it in compilation.passes if not _is_of_choices(it)]
    fired = Counter((it.rule, it.algebra) for record in records for it in record.applied)
    asked: set[str] = set()
    for record in records:
        for step, it in enumerate(record.applied[:MOST_STEPS]):
            if it.algebra not in asked:
                asked.add(it.algebra)
                yield from _rule(record, step, it, fired, random)


def _is_of_choices(record: "PassRecord") -> bool:
    """Whether a pass carries out choices: its name says already what it does."""
    return any(it.rule == record.name for it in record.applied)


def _rule(
    record: "PassRecord", step: int, rewrite: "Rewrite", fired: Counter[tuple[str, str]],
    random: Random,
) -> Iterator[Question]:  # fmt: skip
    frames = list(islice(record.frames(), step, step + 2))
    others = _others(record, rewrite, fired, random)
    is_shown = len(frames) == 2 and rewrite.before in frames[0] and len(frames[0]) <= MOST_NODES
    if not is_shown or not others:
        return
    before, after = frames
    over = f"the loops of {record.kernel}" if record.kernel else "the graph"
    result = _printed(after, rewrite.after) if rewrite.after in after else _short(rewrite.after)
    yield _question(
        random, "rule",
        f"Pass {record.name} goes over {over}, rewrite {step + 1} of {len(record.applied)}. "
        f"Which rule rewrites {_short(rewrite.before)}?",
        _around(before, rewrite.before),
        Choice(f"{rewrite.rule}: {rewrite.algebra}", f"it becomes {result}"), others,
        [f"{record.name} stands where it does in the pipeline: {record.because}"],
        entity=rewrite.before,
    )  # fmt: skip


def _others(
    record: "PassRecord", rewrite: "Rewrite", fired: Counter[tuple[str, str]], random: Random
) -> list[Choice]:
    """Other rules: those that fired in this compilation, then those that the pass has besides."""
    known = list(fired)
    catalogue = CATALOGUES.get((record.stage, record.name), ())
    more = [(it.name, it.algebra) for it in catalogue]
    random.shuffle(known)
    random.shuffle(more)
    found: dict[str, Choice] = {}
    for rule, algebra in (*known[:2], *more, *known[2:]):
        times = fired[rule, algebra]
        reply = f"fires {times} × in this compilation, not here" if times else "does not fire here"
        if algebra and algebra != rewrite.algebra and rule != rewrite.rule:
            found.setdefault(algebra, Choice(f"{rule}: {algebra}", reply))
    return list(found.values())


def _short(entity: str) -> str:
    return f"%{entity.rpartition(':')[2]}"


def _printed(graph: "nx.DiGraph[str]", node: str) -> str:
    facts = graph.nodes[node]
    operands = sorted(
        (int(place), str(source)) for source, _, place in graph.in_edges(node, data="operand")
    )
    names = [_short(it) for _, it in operands]
    words = [facts.get("op"), facts.get("name"), facts.get("argument"), *names]
    told = " ".join(dict.fromkeys(str(it) for it in words if it))
    kind = f"{facts.get('dtype') or ''}{facts.get('shape') or ''}"
    return f"{_short(node)} = {told}{f'   {kind}' if kind else ''}"


def _around(graph: "nx.DiGraph[str]", node: str) -> list[str]:
    """A node with what it reads, two steps back, and what reads it."""
    near = [node, *graph.predecessors(node)]
    wanted = dict.fromkeys([*(it for one in near for it in graph.predecessors(one)), *near,
                            *graph.successors(node)])  # fmt: skip
    order = {it: place for place, it in enumerate(graph)}
    rows = sorted((it for it in wanted if it != node), key=lambda it: _rank(graph, node, it, order))
    before = [it for it in rows if it not in set(graph.successors(node))]
    after = [it for it in rows if it not in before]
    lines = [f"  {_printed(graph, it)}" for it in before]
    lines += [f"→ {_printed(graph, node)}"]
    return lines + [f"  {_printed(graph, it)}" for it in after]


def _rank(
    graph: "nx.DiGraph[str]", node: str, other: str, order: dict[str, int]
) -> tuple[int, int]:
    """The order of nodes around another: one read directly stands next to it."""
    return (int(graph.has_edge(other, node)), order[other])


# -- how many kernels ------------------------------------------------------------------------------


def _kernels(compilation: "Compilation", random: Random) -> Iterator[Question]:
    """How many kernels are run for the graph after its passes?"""
    items = compilation.schedule.items
    calls = [item for item in items if word_of(item.operation) == "kernel"]
    if not calls:
        return
    graph = pictured(compilation.optimized_graph)
    ops = [str(op) for _, op in graph.nodes(data="op")]
    guesses = {
        "as many as there are reductions": sum(it.startswith("reduce") for it in ops),
        "one for everything": 1,
        "one for each operation": sum(it not in ("buffer", "const", "sink") for it in ops),
        "one more than there are": len(calls) + 1,
        "one less than there are": len(calls) - 1,
        "two more than there are": len(calls) + 2,
    }
    wrong: dict[int, Choice] = {}
    for words, number in guesses.items():
        if number > 0 and number != len(calls):
            wrong.setdefault(number, Choice(str(number), words))
    yield _question(
        random, "kernels",
        "This is the graph after its passes. How many times does the schedule run a kernel?",
        [line.text for line in compilation.optimized_graph.lines],
        Choice(str(len(calls)), ", ".join(it.operation.name for it in calls[:12])),
        list(wrong.values()), _fusions(compilation), is_sorted=True,
    )  # fmt: skip


def _fusions(compilation: "Compilation") -> list[str]:
    """The values that went through memory, and why; then those fused."""
    graph = compilation.optimized_graph
    texts = {graph.entity(node): graph.definition(node) for node in graph.nodes}
    rows = [it for it in compilation.decisions if it.kind == "fuse"]
    rows.sort(key=lambda it: it.taken)
    return [
        f"{'fused' if it.taken else 'in memory'}: {texts.get(it.subject, it.subject)}: {it.reason}"
        for it in rows[:6]
    ]


# -- which item is critical ------------------------------------------------------------------------


def _critical(compilation: "Compilation", random: Random) -> Iterator[Question]:
    """Which item may not be late? Asked where one may and another may not."""
    schedule = compilation.schedule
    items = schedule.items[: MOST_LINES // 2]
    names = [f"{position} {visible(it.operation.name)}" for position, it in enumerate(items)]
    on_path = set(schedule.critical_path) if items else set()
    critical = [place for place, it in enumerate(items) if it.item_id in on_path]
    times = schedule.times
    # An item without slack beside the path, on one as long, would be right as well.
    others = [place for place in range(len(items)) if not times[place].is_critical]
    if not critical or not others:
        return
    # The last item is always critical: one that others run beside asks for more.
    beside = [it for it in critical if any(_overlap(times[it], times[other]) for other in others)]
    right = random.choice(beside or critical)
    random.shuffle(others)
    place = {it.item_id: position for position, it in enumerate(items)}
    edges = [it for it in schedule.dependencies if it.producer in place and it.consumer in place]
    yield _question(
        random, "critical",
        "These are the items of the schedule with their times, and what each waits for. "
        "Which one cannot be late without delaying the end?",
        _waiting(names, [duration(it.cost) for it in times],
                 [(place[it.producer], place[it.consumer]) for it in edges]),
        Choice(names[right], "it is on the longest chain and has no time to spare"),
        [Choice(names[it], f"it may start {duration(_slack(times[it]))} late") for it in others],
        ["critical path: " + " → ".join(names[it] for it in critical)],
        entity=schedule.entity(items[right].item_id),
    )  # fmt: skip


def _waiting(names: list[str], times: list[str], edges: list[tuple[int, int]]) -> list[str]:
    """`2 k1   takes 18.5 µs   waits for 0 k0, 1 k2`: a line for each item, in columns."""
    wide, long = (max(map(len, column)) for column in (names, times[: len(names)]))
    lines = []
    for item, name in enumerate(names):
        before = dict.fromkeys(names[first] for first, then in edges if then == item)
        waits = f"   waits for {', '.join(before)}" if before else ""
        lines.append(f"{name:<{wide}}   takes {times[item]:>{long}}{waits}")
    return lines


def _overlap(a: "ItemTiming", b: "ItemTiming") -> bool:
    """Whether an item may run while another one does."""
    is_before = a.earliest_start < b.latest_start + b.cost
    return is_before and b.earliest_start < a.earliest_start + a.cost


def _slack(times: "ItemTiming") -> float:
    return float(times.latest_start - times.earliest_start)


# -- which loop becomes lanes ----------------------------------------------------------------------


def _vectorizes(compilation: "Compilation", random: Random) -> Iterator[Question]:
    """Which axis of a kernel becomes the lanes of a vector?"""
    for loops in compilation.loops:
        chosen = compilation.choices[loops.name].of(Vectorize)
        lanes = {it.axis: it.because for it in chosen}
        ranges = _ranges(loops)
        axes = {ranges[it.entity].name: ranges[it.entity]
                for it in loops.lines if it.entity in ranges}  # fmt: skip
        known = [it for it in lanes if it in axes]
        plain = [it for it in axes if it not in lanes and axes[it].level != "vector"]
        if (lanes and not known) or len(plain) < (1 if known else 2):
            continue
        yield _lanes(loops, axes, known, plain, lanes, random)


def _ranges(loops: "Loops") -> "dict[str | None, Range]":
    """The ranges of a kernel by their entities."""
    from compiler.loops.nodes import Range

    return {loops.entity(it): it for it in loops.nodes if isinstance(it, Range)}


def _lanes(
    loops: "Loops", axes: "dict[str, Range]", known: list[str], plain: list[str],
    lanes: dict[str, str], random: Random,
) -> Question:  # fmt: skip
    """The loops without what tells the answer: how each one is run."""
    ranges = _ranges(loops)
    shown = [f"{it.name} in {bound(it)}{'   reduction' if it.role == 'reduction' else ''}"
             for it in (axes[name] for name in sorted(axes))]  # fmt: skip
    shown += [line.text.strip() for line in loops.lines[1:] if line.entity not in ranges]
    wrong = [Choice(it, _said(axes[it])) for it in random.sample(plain, len(plain))]
    if known:
        right = Choice(known[0], lanes[known[0]] or "as asked")
        wrong = [*wrong[: MOST_CHOICES - 2], Choice(NONE_OF_THEM, f"{', '.join(known)} would be")]
    else:
        right = Choice(NONE_OF_THEM, "the choices of this kernel vectorize nothing")
    return _question(
        random, "vectorizes",
        f"Kernel {loops.name}, with its axes in the order of their names. Which axis do "
        "its passes make the lanes of vectors?",
        shown, right, wrong,
        ["an axis is good for lanes where its iterations do not wait for each other and lie side "
         "by side in memory"],
        entity=loops.lines[0].entity or "",
    )  # fmt: skip


def _said(axis: "Range") -> str:
    """How an axis that is no lanes is run."""
    words = f"{'serial' if axis.role == 'serial' else ''}{level_words(axis)}".strip()
    return f"it is {words}" if words else "it is a loop, one iteration after the other"


_MAKERS: "dict[str, Callable[[Compilation, Random], Iterator[Question]]]" = {
    "rule": _rules,
    "kernels": _kernels,
    "critical": _critical,
    "vectorizes": _vectorizes,
}
