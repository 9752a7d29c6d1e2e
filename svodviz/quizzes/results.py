"""The results of quizzes: a row for each question, as CSV, as JSON, and of a whole class.

    test.results().to_csv("anna.csv")          one student; the page saves the same
    svodviz.quiz_results("anna.json", "ben.json")   a table of all
"""

import csv
import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeGuard, cast, get_type_hints

from compiler.core.printable import ShownAsText
from compiler.core.replacing import write_text
from compiler.core.text import aligned
from svodviz.data.pages import ResultRow
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from svodviz.data.pages import QuizResults

FORMAT: Final = "svodviz-quiz-results"
VERSION: Final = 1
COLUMNS = tuple(ResultRow.__annotations__)
FORMULAS = tuple("=+-@\t\r")
"""Characters that begin a formula in a spreadsheet."""


@dataclass(frozen=True)
class Results(ShownAsText):
    """The results of a class. Printed: the students, then the questions, hardest first."""

    rows: "tuple[ResultRow, ...]"

    def __iter__(self) -> "Iterator[ResultRow]":
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def to_csv(self, path: str | Path | None = None) -> str:
        """A line for each question under the names of the columns; written to `path` if given."""
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(COLUMNS)
        writer.writerows([_cell(it) for it in row.values()] for row in self.rows)
        return _write(text.getvalue(), path)

    def to_json(self, path: str | Path | None = None) -> str:
        """The text that `quiz_results` reads; written to `path` if given."""
        data: QuizResults = {"format": FORMAT, "version": VERSION, "rows": list(self.rows)}
        return _write(json.dumps(data, indent=1, ensure_ascii=False) + "\n", path)

    def __str__(self) -> str:
        if not self.rows:
            return "no results"
        students = [("student", "right", "of", "attempts", "minutes")]
        for name, rows in _grouped(self.rows, "student").items():
            times = sum(it["seconds"] for it in rows) / 60
            right, tries = sum(it["right"] for it in rows), sum(it["attempts"] for it in rows)
            students.append((visible(name) or "no name", str(right), str(len(rows)), str(tries),
                             f"{times:.1f}"))  # fmt: skip
        questions = sorted(_grouped(self.rows, "id").items(), key=lambda it: _share(it[1]))
        table = [("question", "right", "of", "")]
        for name, rows in questions:
            right = sum(it["right"] for it in rows)
            table.append((visible(name), str(right), str(len(rows)), visible(rows[0]["question"])))
        return "\n".join([*aligned(students, (1, 2, 3, 4)), "", *aligned(table, (1, 2))])


def _grouped(rows: "tuple[ResultRow, ...]", name: str) -> "dict[str, list[ResultRow]]":
    groups: dict[str, list[ResultRow]] = {}
    for row in rows:
        groups.setdefault(str(cast("Mapping[str, object]", row)[name]), []).append(row)
    return groups


def _share(rows: "list[ResultRow]") -> float:
    return sum(it["right"] for it in rows) / len(rows)


def _cell(value: object) -> object:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    is_formula = isinstance(value, str) and value.startswith(FORMULAS)
    return f"'{value}" if is_formula else value


def _write(text: str, path: str | Path | None) -> str:
    if path is not None:
        write_text(path, text)
    return text


def quiz_results(*paths: str | Path) -> Results:
    """The results in files that pages or `Results.to_json` saved, of a whole class as one.

    Raises ValueError for a file that is none.
    """
    return Results(tuple(row for path in paths for row in _read(Path(path))))


def _read(path: Path) -> "list[ResultRow]":
    try:
        data = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise ValueError(f"quiz_results: {path.name} is no JSON: {error}") from None
    fields = data if isinstance(data, dict) else {}
    is_ours = (fields.get("format"), fields.get("version")) == (FORMAT, VERSION)
    rows = fields.get("rows") if is_ours else None
    if not isinstance(rows, list) or not all(map(_is_row, rows)):
        raise ValueError(f"quiz_results: {path.name} has no results of a quiz as JSON")
    return rows


def _is_row(row: object) -> TypeGuard[ResultRow]:
    """True if it has all columns, each of its type."""
    kinds = {"str": str, "bool": bool, "int": int}
    wanted = {name: kinds.get(getattr(it, "__name__", ""), (int, float))
              for name, it in get_type_hints(ResultRow).items()}  # fmt: skip
    return isinstance(row, dict) and row.keys() == wanted.keys() and all(
        isinstance(row[name], it) for name, it in wanted.items()
    )
