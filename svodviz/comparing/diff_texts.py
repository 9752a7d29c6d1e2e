"""A diff of two printed programs, line by line, that ignores numbering.

Numbers that follow from counting (of values, of lines) and the places in the user's program change
wherever something was put in before them. They say nothing about the line itself, so lines that
differ in them alone count as equal.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import takewhile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svodviz.data.pages import DiffBlock

CONTEXT = 3
# The search takes the square of the lines. Measured 2026-11-23 on one core of an AMD EPYC, texts of
# instructions of which one in 20 lines is missing: 1,000 lines 0.03 s, 4,000 0.22 s; without lines
# that are frequent 0.01 and 0.04 s, 20,000 lines 0.56 s. Both limits are choices of patience.
CAREFUL = 1_000  # lines up to which the search looks at frequent lines too
MOST_LINES = 20_000  # lines beyond which nothing is searched
_PLACE = re.compile(r"\s{2,}[^\s:][^:]*:\d+(, [^\s:][^:]*:\d+)*$")
_NUMBER = {
    "graph": re.compile(r"%\d+"),
    "kernels": re.compile(r"%\d+"),
    "schedule": re.compile(r"^\s*\d+ "),
    "loops": re.compile(r"%\d+"),
    "lowered": re.compile(r"^\s*\d+ |%\d+"),
    "llvm": re.compile(r"%\w*?\d+(\.\d+)*|![0-9]+|\b(\w+\.)\d+\.(?=body|exit|next|more)"),
    "optimized": re.compile(r"%[\w.]*|![0-9]+|; preds = .*"),
    "asm": re.compile(r"\.L\w+"),
}


def diff_texts(stage: str, a: Sequence[str], b: Sequence[str]) -> "list[DiffBlock]":
    """The blocks that lead from the lines of `a` to those of `b`."""
    mine, theirs = [canonical(stage, it) for it in a], [canonical(stage, it) for it in b]
    head = sum(1 for _ in takewhile(_are_equal, zip(mine, theirs, strict=False)))
    rest = zip(reversed(mine[head:]), reversed(theirs[head:]), strict=False)
    tail = sum(1 for _ in takewhile(_are_equal, rest))
    # Lines that both begin and end with need no search; that takes the square of their number.
    middle = _blocks(mine[head : len(mine) - tail], theirs[head : len(theirs) - tail])
    first: DiffBlock = ("equal", 0, head, 0, head)
    last: DiffBlock = (
        "equal", len(mine) - tail, len(mine), len(theirs) - tail, len(theirs)
    )  # fmt: skip
    blocks = ((tag, i + head, j + head, m + head, n + head) for tag, i, j, m, n in middle)
    blocks_of_both = [first, *blocks, last]
    return _joined([it for it in blocks_of_both if it[1] < it[2] or it[3] < it[4]])


def _blocks(a: list[str], b: list[str]) -> "list[DiffBlock]":
    longest = max(len(a), len(b))
    if longest > MOST_LINES:
        return [("replace", 0, len(a), 0, len(b))]
    matcher = SequenceMatcher(None, a, b, autojunk=longest > CAREFUL)
    return [(tag, i, j, m, n) for tag, i, j, m, n in matcher.get_opcodes()]


def _are_equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _joined(blocks: "list[DiffBlock]") -> "list[DiffBlock]":
    """Joins adjacent equal blocks."""
    joined: list[DiffBlock] = []
    for block in blocks:
        if joined and joined[-1][0] == block[0] == "equal":
            joined[-1] = ("equal", joined[-1][1], block[2], joined[-1][3], block[4])
        else:
            joined.append(block)
    return joined


def canonical(stage: str, line: str) -> str:
    """A line without the numbers that depend on its surroundings."""
    text = _PLACE.sub("", line) if stage == "graph" else line
    pattern = _NUMBER.get(stage)
    return (pattern.sub("%", text) if pattern else text).strip()


def unified(stage: str, a: Sequence[str], b: Sequence[str], names: tuple[str, str]) -> list[str]:
    """The lines of a unified diff, as `diff -u` prints it; none where nothing differs."""
    blocks = diff_texts(stage, a, b)
    hunks = _hunks(blocks)
    lines = [f"--- {names[0]}", f"+++ {names[1]}"] if hunks else []
    for hunk in hunks:
        first, last = hunk[0], hunk[-1]
        mine, theirs = _range(first[1], last[2]), _range(first[3], last[4])
        lines.append(f"@@ -{mine} +{theirs} @@")
        for tag, i, j, m, n in hunk:
            if tag == "equal":
                lines += [f" {it}" for it in b[m:n]]
                continue
            lines += [f"-{it}" for it in a[i:j]]
            lines += [f"+{it}" for it in b[m:n]]
    return lines


def _range(start: int, end: int) -> str:
    """A range of lines as in the head of a hunk: from 1; an empty range names the line before."""
    length = end - start
    return f"{start + 1 if length else start},{length}"


def _hunks(blocks: "list[DiffBlock]") -> "list[list[DiffBlock]]":
    """The differences with a few equal lines around them; near ones together."""
    hunks: list[list[DiffBlock]] = []
    for position, (tag, i, j, m, n) in enumerate(blocks):
        if tag == "equal":
            is_last = position == len(blocks) - 1
            before, after = min(CONTEXT, j - i) if hunks else 0, min(CONTEXT, j - i)
            is_near = bool(hunks) and not is_last and j - i <= 2 * CONTEXT
            if is_near:
                hunks[-1].append((tag, i, j, m, n))
                continue
            if hunks and position:
                hunks[-1].append((tag, i, i + before, m, m + before))
            if not is_last:
                hunks.append([(tag, j - after, j, n - after, n)])
            continue
        if not hunks:
            hunks.append([])
        hunks[-1].append((tag, i, j, m, n))
    return [hunk for hunk in hunks if any(it[0] != "equal" for it in hunk)]
