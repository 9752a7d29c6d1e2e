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

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible
from svodviz.wire.checks import Checks, check_rows

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation
    from svodviz.data import records

SIGNS = {True: "✓", False: "✗", None: "–"}


@dataclass(frozen=True)
class _Told:
    """The mark of a pass or stage; `below` is the line of the first rewrite that is wrong."""

    mark: "records.Mark"
    name: str
    below: str = ""

    def lines(self, width: int) -> list[str]:
        """Its lines, the names as wide as the widest."""
        ok, words = self.mark
        line = f"  {SIGNS[ok]} {self.name:<{width}}  {words}".rstrip()
        return [line, self.below] if self.below else [line]


def check_text(checks: Checks, compilation: "Compilation") -> str:
    """Every mark with its words, and how many are wrong."""
    rows = check_rows(checks, compilation)
    passes = list(_passes(rows, compilation))
    stages = [_Told(mark, stage) for stage, mark in rows["stages"].items()]
    width = max((len(it.name) for it in (*passes, *stages)), default=0)
    lines = ["✓ right, ✗ wrong, – cannot be run"]
    for title, outcomes in (("passes", passes), ("stages", stages)):
        lines += [title] if outcomes else []
        lines += [line for it in outcomes for line in it.lines(width)]
    lines += [visible(checks.note)] if checks.note else []
    return "\n".join([*lines, _verdict(checks)])


def _passes(rows: "records.Checks", compilation: "Compilation") -> Iterator[_Told]:
    """Mark and name of each pass that was run, and a line for its first wrong rewrite."""
    for record, mark, steps in zip(compilation.passes, rows["passes"], rows["steps"], strict=True):
        if mark is None:
            continue
        name = visible(" ".join(filter(None, (record.stage, record.kernel, record.name))))
        wrong = [at for at, it in enumerate(steps) if it and it[0] is False]
        yield _Told(mark, name, _first_wrong(record, wrong[0], steps) if wrong else "")


def _first_wrong(record: "PassRecord", at: int, steps: "Sequence[records.Mark | None]") -> str:
    rule, mark = visible(record.applied[at].rule), steps[at]
    words = mark[1] if mark else ""
    return f"    ✗ from rewrite {at + 1} of {len(steps)} on, by {rule}: {words}"


def _verdict(checks: Checks) -> str:
    ran = [row.ok for row in (*checks.passes.values(), *checks.stages.values())]
    wrong, right = ran.count(False), ran.count(True)
    if not wrong and not right:
        return "nothing ran"
    ran_well = f"all {right} that ran are right"
    return f"{wrong} wrong of {wrong + right} that ran" if wrong else ran_well
