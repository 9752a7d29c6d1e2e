"""Words that the project does not use, and the places where they occur.

    python -m tests.words compiler/loops notebooks      # file:line: the word (its replacement)

Words for a concept of the glossary are in its row (`svodviz/texts/glossary.py`), others here.
Read are docstrings, comments and string constants of Python files, the text of Markdown files
without code, Markdown cells of notebooks, and comments and texts of JavaScript files.
"""

import ast
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from svodviz.texts.glossary import CONCEPTS

ROOT = Path(__file__).parent.parent
Line = tuple[int, str]
FOLDERS = ("compiler", "svodviz", "tools", "benchmarks", "examples", "notebooks", "docs", "tests")
PAGES = ("README.md", "CONTRIBUTING.md")
LEFT_OUT = ("svodviz/texts/glossary.py", "tests/words.py", "tests/test_words.py")
"""Files that have to name the words themselves."""


@dataclass(frozen=True)
class Word:
    """A pattern, the field's word for it, and the folders where it has another meaning."""

    pattern: str
    instead: str
    but: tuple[str, ...] = ()


OTHER = ("compiler/core/passes.py", "tests/core/test_errors.py", "tests/models.py")
"""Places where a refused word of the glossary has another meaning, or is refused."""
WORDS: tuple[Word, ...] = (
    Word(r"\bgate[ds]?\b", "predicate, predicated, mask", (
        "compiler/nn/", "compiler/imported/", "tests/nn/",
        "tests/findings/corpus.py", "tests/imported/", "compiler/tensors/",
        "tests/tensors/", "benchmarks/", "tests/models.py")),
    Word(r"\btold\b", "reported"),
    Word(r"\bsaid\b", "reported, stated"),
    Word(r"\bbeside\b", "next to, with"),
    Word(r"\bdear(er|est|ly)?\b", "expensive"),
    Word(r"\blit\b", "highlighted"),
    Word(r"\bin turns?\b", "interleaved, alternately"),
    Word(r"\bMISSED\b", "nothing: a target is no reader's concern"),
    Word(r"\bmade again\b", "rebuilt, recomputed"),
    Word(r"\bsuch a one\b", "the noun itself"),
)  # fmt: skip
WORDS += tuple(Word(it, row.word, OTHER) for row in CONCEPTS for it in row.refused)
OPENINGS = Word(r"^(What|Whether|Of what|That which)\b", "a noun, or `True if`")


def python_texts(source: str) -> Iterator[Line]:
    """Comments and string constants of a Python file."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_text = token.type in (tokenize.COMMENT, tokenize.STRING)
        is_text = is_text or tokenize.tok_name[token.type] == "FSTRING_MIDDLE"
        if is_text:
            for offset, line in enumerate(token.string.split("\n")):
                yield token.start[0] + offset, line


def docstrings(source: str) -> Iterator[Line]:
    """The first lines of the docstrings of a Python file, those of constants and fields too."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Expr) or not isinstance(node.value, ast.Constant):
            continue
        if isinstance(node.value.value, str):
            yield node.lineno, node.value.value.strip().split("\n")[0]


def markdown_texts(source: str) -> Iterator[Line]:
    """The lines of a Markdown text outside blocks of code."""
    is_code = False
    for number, line in enumerate(source.split("\n"), 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def notebook_texts(source: str) -> Iterator[Line]:
    """The lines of the Markdown cells of a notebook, each with the number of its cell."""
    for number, cell in enumerate(json.loads(source)["cells"], 1):
        if cell["cell_type"] == "markdown":
            for _, line in markdown_texts("".join(cell["source"])):
                yield number, line


JAVASCRIPT = re.compile(r"//.*|/\*.*|^\s*\*.*|\"[^\"]*\"|`[^`]*`?|'[^']*'")


def javascript_texts(source: str) -> Iterator[Line]:
    """Comments and texts of a JavaScript file, line by line."""
    for number, line in enumerate(source.split("\n"), 1):
        yield number, " ".join(JAVASCRIPT.findall(line))


READERS = {
    ".py": python_texts, ".md": markdown_texts, ".ipynb": notebook_texts, ".js": javascript_texts,
}  # fmt: skip


def problems(path: Path, name: str = "") -> Iterator[str]:
    """`compiler/a.py:3: told (reported)` for each old word of a file, called `name`."""
    name = name or path.relative_to(ROOT).as_posix()
    if path.suffix not in READERS or name in LEFT_OUT:
        return
    source = path.read_text()
    for number, line in READERS[path.suffix](source):
        for word in WORDS:
            if not name.startswith(word.but) and (found := re.search(word.pattern, line)):
                yield f"{name}:{number}: {found[0]} ({word.instead})"
    if path.suffix == ".py":
        for number, line in docstrings(source):
            if found := re.search(OPENINGS.pattern, line):
                yield f"{name}:{number}: a docstring begins with {found[0]} ({OPENINGS.instead})"


def files(places: list[str]) -> list[Path]:
    """The files at and below `places`, in order."""
    made = []
    for place in places:
        path = ROOT / place
        made += sorted(path.rglob("*")) if path.is_dir() else [path]
    return [path for path in made if path.suffix in READERS and "node_modules" not in path.parts]


if __name__ == "__main__":
    found = [line for path in files(sys.argv[1:] or [*FOLDERS, *PAGES]) for line in problems(path)]
    print("\n".join(found))
    print(len(found), "old words")
