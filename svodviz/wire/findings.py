"""What the program could do better, as data for the page: each with what shows it.

Rules are those of `compiler/findings`; times are estimated nanoseconds.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.entities import Entities
from svodviz.foundation.escape import visible
from svodviz.wire.scene import rounded

if TYPE_CHECKING:
    from compiler.findings.finding import Finding
    from compiler.program.compilation import Compilation
    from svodviz.data import records


def finding_rows(compilation: "Compilation", entities: Entities) -> "records.Findings":
    """The findings in their order."""
    found = compilation.findings
    return {
        "rows": [_row(each, entities) for each in found],
        "looked_for": [visible(words) for words in found.looked_for],
    }


def _row(found: "Finding", entities: Entities) -> "records.FindingRow":
    return {
        "rule": visible(found.rule),
        "words": visible(found.words),
        "instead": visible(found.instead),
        "gain": rounded(found.gain),
        "e": entities.number(found.subject) if found.subject else -1,
        "stage": found.stage,
        "view": found.view,
        "numbers": [[visible(cell) for cell in number.cells] for number in found.numbers],
        "place": visible(found.place),
        "text": visible(found.text.strip()),
        "line": entities.number(found.line) if found.line else -1,
    }
