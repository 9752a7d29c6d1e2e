"""Writes the glossary of the page and docs/glossary.md from svodviz/texts/glossary.py.

    python -m tools.glossary            writes both files
    python -m tools.glossary --check    names those that would change; exit code 1 if any
"""

import json
import sys
from pathlib import Path

from svodviz.foundation.views import BY_ID
from svodviz.texts.glossary import CONCEPTS, Concept
from tools.generated import ROOT, write

HEAD = "// Words of the field. Written by python -m tools.glossary. Pure."
TITLE = """# Glossary

The words of code, page and documents. `python -m tools.glossary` writes this table from
[`svodviz/texts/glossary.py`](../svodviz/texts/glossary.py). The page shows it as *Glossary*.

| Word | Meaning | Example | Code | Page |
|---|---|---|---|---|
"""


def script() -> str:
    """The module of the page: word, sentence and example of each concept."""
    rows = [
        f"  [{_quoted(it.word)},\n    {_quoted(it.sentence)},\n    {_quoted(it.example)}],"
        for it in CONCEPTS
    ]
    kind = '/** @typedef {import("./entries.js").Row} Row */'
    return "\n".join([HEAD, "", kind, "", "/** @type {Row[]} */", "export const FIELD = [",
                      *rows, "];", ""])  # fmt: skip


def _quoted(text: str) -> str:
    """A string of JavaScript, in several parts where a line would be too long."""
    parts, line = [], ""
    for word in text.split(" "):
        if len(line) + len(word) > 85:
            parts.append(line)
            line = ""
        line += word + " "
    return "\n    + ".join(json.dumps(it, ensure_ascii=False) for it in [*parts, line[:-1]])


def document() -> str:
    """docs/glossary.md."""
    return TITLE + "".join(_row(it) for it in CONCEPTS)


def _row(it: Concept) -> str:
    code = f"[`{it.code}`](../{it.code})" if it.code else ""
    page = BY_ID[it.page].label if it.page in BY_ID else it.page.capitalize()
    example = it.example.replace("|", "\\|")
    return f"| {it.word} | {it.sentence} | `{example}` | {code} | {page} |\n"


def files() -> dict[Path, str]:
    """The text of each file that is written."""
    return {
        ROOT / "svodviz" / "js" / "glossary" / "field.js": script(),
        ROOT / "docs" / "glossary.md": document(),
    }


def main(arguments: list[str]) -> int:
    """Write the files, or name those that differ; the exit code."""
    return write(files(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
