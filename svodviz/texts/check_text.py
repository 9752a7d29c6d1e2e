"""Marks in words: what `svodviz show program.py --check` prints.

    ✓ right, ✗ wrong, – cannot be run
    passes
      ✓ graph simplify    right, to the bit
      ✗ graph mine        wrong: element [0, 1] is …
        ✗ from rewrite 2 of 5 on, by turned: wrong: …
    stages
      – llvm              not executable by itself: it runs as the machine code made from it
    2 wrong of 17 that ran
"""

from collections.abc import Iterator
from typing import Any

from svodviz.foundation.escape import visible
from svodviz.wire.checks import Checks, check_rows

SIGNS = {True: "✓", False: "✗", None: "–"}


def check_text(checks: Checks, compilation: Any) -> str:
    """Every mark with its words, and how many are wrong."""
    rows = check_rows(checks, compilation)
    passes = list(_passes(rows, compilation))
    stages = [(mark, stage) for stage, mark in rows["stages"].items()]
    width = max((len(name) for _, name, *_ in (*passes, *stages)), default=0)
    lines = ["✓ right, ✗ wrong, – cannot be run"]
    lines += ["passes"] if passes else []
    for mark, name, *below in passes:
        lines += [_line(mark, name, width), *below]
    lines += ["stages", *(_line(mark, name, width) for mark, name in stages)] if stages else []
    lines += [visible(checks.note)] if checks.note else []
    return "\n".join([*lines, _verdict(checks)])


def _passes(rows: Any, compilation: Any) -> Iterator[tuple[Any, ...]]:
    """Mark and name of each pass that was run, and a line for its first wrong rewrite."""
    for record, mark, steps in zip(compilation.passes, rows["passes"], rows["steps"], strict=True):
        if mark is None:
            continue
        name = visible(" ".join(filter(None, (record.stage, record.kernel, record.name))))
        wrong = [at for at, it in enumerate(steps) if it and it[0] is False]
        below = [_first_wrong(record, wrong[0], steps)] if wrong else []
        yield mark, name, *below


def _first_wrong(record: Any, at: int, steps: list[Any]) -> str:
    rule = visible(record.rewrites[at].rule)
    return f"    ✗ from rewrite {at + 1} of {len(steps)} on, by {rule}: {steps[at][1]}"


def _line(mark: list[Any], name: str, width: int) -> str:
    ok, words = mark
    return f"  {SIGNS[ok]} {name:<{width}}  {words}".rstrip()


def _verdict(checks: Checks) -> str:
    ran = [row.ok for row in (*checks.passes.values(), *checks.stages.values())]
    wrong, right = ran.count(False), ran.count(True)
    if not wrong and not right:
        return "nothing ran"
    ran_well = f"all {right} that ran are right"
    return f"{wrong} wrong of {wrong + right} that ran" if wrong else ran_well
