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
    findings = compilation.findings
    return {
        "rows": [_row(each) for each in findings],
        "looked_for": [visible(words) for words in findings.looked_for],
    }


def _row(finding: "Finding") -> "records.FindingRow":
    return {
        "rule": visible(finding.rule),
        "words": visible(finding.words),
        "instead": visible(finding.instead),
        "brings": visible(finding.brings),
        "subject": visible(finding.subject),
        "stage": finding.stage,
        "view": finding.view,
        "numbers": [[visible(cell) for cell in number.cells] for number in finding.numbers],
        "place": visible(finding.place),
        "text": visible(finding.text.strip()),
        "line": visible(finding.line),
    }
