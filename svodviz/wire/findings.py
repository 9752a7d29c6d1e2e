"""Findings (possible improvements) as data for the page, each with its evidence.

Rules are those of `compiler/findings`; times are nanoseconds, and each text says whether they were
measured.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.findings.finding import Finding
    from compiler.program.compilation import Compilation
    from svodviz.data import records


def finding_rows(compilation: "Compilation") -> "records.Findings":
    """The findings in their order."""
    found = compilation.findings
    return {
        "rows": [_row(each) for each in found],
        "looked_for": [visible(words) for words in found.looked_for],
    }


def _row(found: "Finding") -> "records.FindingRow":
    return {
        "rule": visible(found.rule),
        "words": visible(found.words),
        "instead": visible(found.instead),
        "brings": visible(found.brings),
        "subject": visible(found.subject),
        "stage": found.stage,
        "view": found.view,
        "numbers": [[visible(cell) for cell in number.cells] for number in found.numbers],
        "place": visible(found.place),
        "text": visible(found.text.strip()),
        "line": visible(found.line),
    }
