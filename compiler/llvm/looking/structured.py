"""structured: control flow of WebAssembly, whose branches name an enclosing construct by depth.

    loop               ← br 0 inside goes back to here
      …
      br_if 1          out of the second construct around it: behind the end of `block`
      br 0
    end_loop

    block … end_block  ← a br to a block goes on behind its end

A branch counts constructs outwards, from 0. That to a loop goes to its head, that to a block or to
the whole function to its end. Only the ends and heads that something branches to begin a block,
with the label that LLVM writes in front of them.
"""

import re
from collections.abc import Sequence

from compiler.llvm.flow import Flow, flow

BRANCHES = frozenset(("br", "br_if", "br_table"))
OPENING = frozenset(("block", "loop", "if", "try"))
CLOSING = {"end_block": "block", "end_loop": "loop", "end_if": "if", "end_try": "try"}
LAST = frozenset(("br", "br_table", "return", "unreachable", "end_function"))
"""Instructions after which control does not reach the next line."""
_FUNCTION = re.compile(r"^([A-Za-z_$][\w.$]*):")
_LABEL = re.compile(r"^(\.LBB\w+):")


def structured(rows: Sequence[str]) -> Flow:
    """The blocks, jumps and loops of WebAssembly, by position in `rows`."""
    targets = _targets(rows)
    places = {place for ends in targets.values() for place in ends}
    labels = {place: _label(rows, place) for place in sorted(places)}
    keys = [str(at) if row.strip() else "" for at, row in enumerate(rows)]

    def label_of(key: str) -> str | None:
        function = _FUNCTION.match(rows[int(key)])
        return function.group(1) if function else labels.get(int(key))

    def targets_of(key: str) -> tuple[list[str], bool]:
        labels_of_line = [labels[place] for place in targets.get(int(key), ())]
        return labels_of_line, _word(rows[int(key)]) in LAST

    return flow(keys, label_of, targets_of)


def _targets(rows: Sequence[str]) -> dict[int, list[int]]:
    """For each branch the lines that it goes to."""
    ends = _ends(rows)
    around: list[int] = []
    targets: dict[int, list[int]] = {}
    for at, row in enumerate(rows):
        word = _word(row)
        if word in OPENING:
            around.append(at)
        elif word in CLOSING and around:
            around.pop()
        elif word == "end_function":
            around.clear()
        elif word in BRANCHES:
            counts = dict.fromkeys(map(int, re.findall(r"\d+", row)))
            targets[at] = [_place(rows, around, count, at, ends) for count in counts]
    return targets


def _place(
    rows: Sequence[str], around: Sequence[int], count: int, at: int, ends: dict[int, int]
) -> int:
    """The target of a branch out of `count` constructs; out of all, the function's end."""
    if count >= len(around):
        return next((n for n in range(at, len(rows)) if _word(rows[n]) == "end_function"), at)
    construct = around[-1 - count]
    place = construct if _word(rows[construct]) == "loop" else ends.get(construct, at)
    return place - (place > 0 and _LABEL.match(rows[place - 1]) is not None)


def _ends(rows: Sequence[str]) -> dict[int, int]:
    """For each construct the line that ends it."""
    open_at: list[int] = []
    ends: dict[int, int] = {}
    for at, row in enumerate(rows):
        word = _word(row)
        if word in OPENING:
            open_at.append(at)
        elif word in CLOSING and open_at:
            ends[open_at.pop()] = at
    return ends


def _label(rows: Sequence[str], place: int) -> str:
    """The name of a branch target: its label, or `loop, line 12`."""
    label = _LABEL.match(rows[place])
    return label.group(1) if label else f"{_word(rows[place])}, line {place + 1}"


def _word(row: str) -> str:
    words = row.split(None, 1)
    return words[0] if words else ""
