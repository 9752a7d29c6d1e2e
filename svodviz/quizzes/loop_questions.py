"""Questions on loops: how often a line runs, what cutting gives, lines and instructions."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import TYPE_CHECKING

from compiler.loops.axis_names import AxisName
from compiler.loops.choices import Tile
from compiler.loops.nodes import Body, Const, Range
from compiler.loops.printer import Loops
from svodviz.quizzes.drafts import MOST_LINES, Draft
from svodviz.quizzes.graph_questions import shuffled
from svodviz.quizzes.questions import Choice

if TYPE_CHECKING:
    from compiler.core.stage import Stage
    from compiler.core.trace import Line, PassRecord
    from compiler.graph.printer import Graph
    from compiler.program.compilation import Compilation

INDEXING = frozenset({"simplify", "coalesce"})
"""The passes over loops before those that carry out choices."""
RESULT = re.compile(r"^\s*(?:%\S+ = |(?=store |call ))")
OPERANDS = re.compile(r"\s*(?:[%,(]|\s(?:-?\d|0x|zero|true|false|<\w+ -?\d)).*")
LANES = 8
STEPS = frozenset({"add", "sub", "getelementptr", "phi", "br", "icmp", "define", "ret"})
"""Instructions for counters and addresses, not for values."""
PLAIN = "load", "store"
"""Instructions that brackets give away: never the right choice, but plausible wrong ones."""


# -- how often a line runs -------------------------------------------------------------------------


def counts(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """How many times is a line of the plain loops executed?"""
    for loops in shuffled(_plain(compilation), random):
        rows = _nested(loops)
        lines = [line.text for line in loops.lines]
        if not rows or len(lines) > MOST_LINES:
            continue
        different = {tuple(around): (line, around) for line, around in shuffled(rows, random)}
        for line, around in different.values():
            trips = [it.extent for it in around]
            wrong = _miscounted(trips, [it for _, it in rows])
            yield Draft(
                f"These are the loops of {loops.name} before anything is chosen about them. "
                "How many times is the marked line executed?",
                [_pointed(it, line) for it in loops.lines],
                Choice(_times(math.prod(trips)), " × ".join(_counter(it) for it in around)),
                [Choice(_times(number), why) for number, why in wrong.items()],
                ["a line is executed once for each iteration of all the loops around it"],
                line.entity or "",
            )


def _plain(compilation: "Compilation") -> Iterator[Loops]:
    """The loops of each kernel as indexing leaves them, before choices are carried out."""
    last: dict[str, PassRecord] = {}
    for record in compilation.passes:
        if record.stage == "loops" and record.name in INDEXING and record.kernel:
            last[record.kernel] = record
    for number, (kernel, record) in enumerate(last.items()):
        if isinstance(body := getattr(record, "after", None), Body):
            yield Loops(title=kernel, name=kernel, body=body, kernel=number,
                        numbers=record.numbers, parents={})  # fmt: skip


def _nested(loops: Loops) -> "list[tuple[Line, list[Range]]]":
    """The lines that are executed, with the loops around each, outermost first."""
    ranges = {loops.entity(it): it for it in loops.nodes if isinstance(it, Range)}
    lines: list[tuple[Line, list[Range]]] = []
    stack: list[Range] = []
    for line in loops.lines[1:]:
        depth = (len(line.text) - len(line.text.lstrip())) // 2
        del stack[depth:]
        opened = ranges.get(line.entity or "")
        if opened is not None:
            stack.append(opened)
        elif stack and all(isinstance(it.sources[0], Const) for it in stack):
            lines.append((line, list(stack)))
    return lines


def _miscounted(trips: list[int], others: list[list[Range]]) -> dict[int, str]:
    """Numbers that come out if a loop is forgotten, or one too many is counted."""
    right = math.prod(trips)
    wrong = {right // it: f"that forgets a loop of {it:,}" for it in (trips[-1], *trips)}
    wrong |= {math.prod(it.extent for it in path): "so often another line of this kernel runs"
              for path in others}  # fmt: skip
    wrong |= {right // it * (it - 1): f"the first of {it:,} iterations counts, too" for it in trips}
    wrong |= {right * LANES: "that counts lanes, but no line is vectorized yet",
              right // LANES: "that counts vectors, but no line is vectorized yet",
              sum(trips): "loops inside each other multiply"}  # fmt: skip
    wrong |= {right * it: f"that counts a loop of {it:,} twice" for it in sorted(trips)}
    wrong.pop(right, None)
    return {number: why for number, why in wrong.items() if number > 0}


def _times(number: int) -> str:
    return f"{number:,} times"


def _counter(each: Range) -> str:
    return f"{each.extent:,} of {each.name}"


def _pointed(line: "Line", target: "Line") -> str:
    return f"{'→' if line is target else ' '} {line.text}"


# -- what cutting a loop gives ---------------------------------------------------------------------


def tiles(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which loops does a tiled axis become?"""
    asked: set[tuple[int, int]] = set()
    for loops in shuffled(_plain(compilation), random):
        axes = {it.name: it for it in loops.nodes if isinstance(it, Range)}
        chosen = compilation.choices[loops.name].of(Tile)
        for tile in shuffled(chosen, random):
            axis = axes.get(tile.axis)
            if axis is None or not isinstance(axis.sources[0], Const):
                continue
            extent, size = axis.extent, tile.size
            if size >= extent or (extent, size) in asked:
                continue
            asked.add((extent, size))
            yield _tile(loops, tile, extent)


def _tile(loops: Loops, tile: Tile, extent: int) -> Draft:
    """Peeled, what is left over is a loop of its own; masked, one more iteration."""
    size, axis = tile.size, tile.axis
    whole, left = divmod(extent, size)
    is_masked = tile.tail == "mask"
    right = _parts(axis, whole + bool(left and is_masked), size, 0 if is_masked else left)
    rounded = _parts(axis, whole + bool(left), size, 0)
    wrong = {
        _parts(axis, size, whole, left): "inner and outer loop are confused",
        rounded: f"that makes {(whole + bool(left)) * size:,} of {extent:,} iterations",
        _parts(axis, whole, size, left): f"masked, the rest of {left} is one more round",
        _parts(axis, extent, size, 0): f"that makes {extent * size:,} iterations",
        _parts(axis, whole, size, 0): f"{left} of {extent:,} iterations are missing",
        _parts(axis, size, size, left): f"that makes {size * size + left:,} iterations",
        _parts(axis, max(whole - 1, 1), size, left + size): "a whole tile is left over",
    }
    return Draft(
        f"These are the loops of {loops.name} before anything is chosen about them. "
        f"What does axis {axis} become by “tile {axis} {size} {tile.tail}”?",
        [_marked_axis(line.text, axis) for line in loops.lines],
        Choice(right, f"{extent:,} iterations = {_sum(whole, size, left)}"),
        [Choice(text, why) for text, why in wrong.items()],
        [f"{axis} is cut: {tile.because}" if tile.because else "part 0 counts the tiles, part 1 "
         "stands inside, part 2 is what is left over"],
        loops.lines[0].entity or "",
    )  # fmt: skip


def _parts(axis: str, outer: int, inner: int, left: int) -> str:
    """`i0.0 in 7, i0.1 in 16, i0.2 in 9`"""
    name = AxisName(axis)
    rest = f", {name.rest} in {left}" if left else ""
    return f"{name.outer} in {outer}, {name.inner} in {inner}{rest}"


def _sum(whole: int, size: int, left: int) -> str:
    return f"{whole:,} × {size:,}{f' + {left:,}' if left else ''}"


def _marked_axis(text: str, axis: str) -> str:
    is_loop = re.match(rf"\s*for {re.escape(axis)} in ", text)
    return f"{'→' if is_loop else ' '} {text}"


# -- which line of the program ---------------------------------------------------------------------


def sources(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """From which line of the program does a line of a kernel's loops come?"""
    texts = {it.entity: it.text.strip() for it in compilation.user_source.lines if it.entity}
    homes, callers = _homes(compilation.optimized_graph)
    sources_of = {it: {source for node in parents for source in homes.get(node, ())}
             for stage in compilation.loops for it, parents in stage.links.items()}  # fmt: skip
    used = Counter(it for lines_of in sources_of.values() for it in lines_of)
    for stage in shuffled(compilation.loops, random):
        if len(stage.lines) > MOST_LINES:
            continue
        for line in shuffled((it for it in stage.lines[1:] if _is_work(it)), random)[:3]:
            mine = sources_of.get(line.entity or "", set())
            if len(mine) != 1 or not mine <= texts.keys():
                continue
            (right,) = mine
            # A line that only called the one where it was written is as right.
            others = [it for it in sorted(used, key=lambda it: -used[it])
                      if it in texts and it not in callers.get(right, ())]  # fmt: skip
            yield Draft(
                f"These are the loops of {stage.name}. From which line of the program does the "
                "marked one come?",
                [_pointed(it, line) for it in stage.lines],
                Choice(texts[right], f"line {_number(right)}"),
                [Choice(texts[it], f"line {_number(it)} became other lines") for it in others
                 if texts[it] != texts[right]],
                ["every node knows the lines that it comes from, through all passes"],
                line.entity or "",
            )  # fmt: skip


def _homes(graph: "Graph") -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """For each node the lines where it is written; for each line those that called it."""
    called = {graph.entity(node): it for node, it in getattr(graph, "callers", {}).items()}
    homes = {it: set(lines) - set(called.get(it, ())) for it, lines in graph.links.items()}
    callers: dict[str, set[str]] = {}
    for node, lines in homes.items():
        for line in lines:
            callers.setdefault(line, set()).update(called.get(node, ()))
    return homes, callers


def _is_work(line: "Line") -> bool:
    """True if a line computes or stores a value."""
    return bool(line.entity) and "=" in line.text and "for " not in line.text


def _number(entity: str) -> str:
    return entity.rpartition(":")[2]


# -- which instruction -----------------------------------------------------------------------------


def instructions(compilation: "Compilation", random: Random) -> Iterator[Draft]:
    """Which LLVM instruction is made for a line of a kernel's loops?"""
    stages = zip(compilation.loops, compilation.lowered, compilation.source, strict=False)
    for loops, lowered, source in shuffled(stages, random):
        if len(loops.lines) > MOST_LINES:
            continue
        by_source = _made(lowered, source)
        every = Counter(it for lines_of in by_source.values() for it in lines_of)
        for line in shuffled((it for it in loops.lines[1:] if _is_work(it)), random)[:4]:
            mine = by_source.get(line.entity or "", set())
            right = min(mine, default="")
            if len(mine) == 1 and not any(word in right for word in PLAIN):
                others = sorted(every, key=lambda it: set(it.split()[1:]) != set(right.split()[1:]))
                yield _instruction(loops, line, right, [it for it in others if it != right])


def _made(lowered: "Stage", source: "Stage") -> dict[str, set[str]]:
    """For each line of loops the operations of LLVM that are made for it, without addresses."""
    homes = lowered.links
    by_source: dict[str, set[str]] = {}
    for line in source.lines:
        operation = OPERANDS.sub("", RESULT.sub("", line.text))
        if RESULT.match(line.text) and operation.split()[0] not in STEPS:
            for entity in {it for parent in line.parents for it in homes.get(parent, ())}:
                by_source.setdefault(entity, set()).add(operation)
    return by_source


def _instruction(loops: "Stage", line: "Line", right: str, others: list[str]) -> Draft:
    return Draft(
        f"These are the loops of {loops.name}. Which LLVM instruction computes the marked line?",
        [_pointed(it, line) for it in loops.lines],
        Choice(right, "with its operands in registers"),
        [Choice(it, "it is made for another line of this kernel") for it in others],
        ["lanes are elements of one vector: `<8 x float>` holds eight"],
        line.entity or "",
    )
