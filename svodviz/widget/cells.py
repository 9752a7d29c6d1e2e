"""The cells of a notebook that made a program: what a page can offer for editing.

A page edits a cell by the notebook's own means, and runs it there: its text never comes back here
in a message.
"""

import itertools
from typing import TYPE_CHECKING, Any

from IPython import get_ipython

from compiler.core.origin import cell_number, reading_order, short_name
from compiler.core.user_source import UserSource
from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from compiler.program.compilation import Compilation
    from svodviz.data import pages

IN_A_FILE = "it is a file: edit it there, and run the cell that loads it again"
UNKNOWN = "the notebook does not know its text any more"


def cell_id(shell: Any) -> str:
    """The front end's name for the cell that is running; "" where it has no name for it."""
    return str(_parent(shell).get("metadata", {}).get("cellId", ""))


def run_id(shell: Any) -> str:
    """The name of the present run of a cell; "" where there is none."""
    return str(_parent(shell).get("header", {}).get("msg_id", ""))


def _parent(shell: Any) -> dict[str, Any]:
    # A shell of a terminal has no kernel, and one of another front end no messages.
    asked = getattr(getattr(shell, "kernel", None), "get_parent", None)
    return (asked("shell") if asked else None) or {}


def cell_rows(compilation: "Compilation") -> "list[pages.CellRow]":
    """The editable parts of the files of the stage "source", in their order."""
    return list(_rows(compilation))


def files_of(compilation: "Compilation") -> list[str]:
    """The files of the stage "source" in their order."""
    source = compilation.user_source
    entities = source.entities if isinstance(source, UserSource) else {}
    return sorted({file for file, _ in entities}, key=reading_order)


def _rows(compilation: "Compilation") -> "Iterator[pages.CellRow]":
    files, source = files_of(compilation), compilation.user_source
    total = len(source.lines)
    begins = [at - 1 for at, *_ in source.files] if isinstance(source, UserSource) else []
    for file, (begin, end) in zip(files, itertools.pairwise([*begins, total + 1]), strict=True):
        text = raw_text(file)
        number = cell_number(file)
        yield {
            "name": visible(short_name(file)),
            "first": begin,
            "lines": end - 1 - begin,
            "text": text,
            "why": "" if text else UNKNOWN if number or file.startswith("<") else IN_A_FILE,
        }


def raw_text(file: str) -> str:
    """The text of the cell that is compiled under the name `file`, as the notebook has it."""
    shell, number = get_ipython(), cell_number(file)
    history = shell.history_manager if shell and number else None
    texts: list[str] = history.input_hist_raw if history else []
    return texts[number] if number is not None and number < len(texts) else ""
