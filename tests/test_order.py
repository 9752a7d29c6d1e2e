"""Layering: the imports that each folder and file may have.

The `__init__` of each folder of `compiler` and `svodviz` lists its entries in order, one line each.
If A imports B, then in the innermost folder that contains both, the entry with B stands before the
entry with A. So neither folders nor files form a cycle. Imports under `TYPE_CHECKING` and inside
functions count too.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from tests.test_architecture import PYTHON_FILES, SourceFile, hold, imported_modules

PACKAGES = ("compiler", "svodviz")
"""In order: the compiler does not import the explorer, and neither imports `SURROUNDINGS`."""
SURROUNDINGS = ("examples", "benchmarks", "tools", "tests")
ENTRY = re.compile(r"^    (\w+)(\.py|/)  +\S")


def listed(file: SourceFile) -> tuple[str, ...]:
    """The names that the docstring of an `__init__` lists, in order."""
    lines = (ast.get_docstring(file.tree, clean=False) or "").splitlines()
    return tuple(match[1] for line in lines if (match := ENTRY.match(line)))


def orders(files: tuple[SourceFile, ...]) -> dict[str, tuple[str, ...]]:
    """For each folder of our packages what it lists."""
    folders = (it for it in files if it.path.name == "__init__.py" and it.path.parts[0] in PACKAGES)
    return {it.module: listed(it) for it in folders}


def wrong_imports(file: SourceFile, known: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """An import points to what stands earlier in the listing of the folder that holds both."""
    if file.path.parts[0] not in PACKAGES:
        return
    for line, module in imported_modules(file):
        wrong = _against(file, module, known)
        if wrong:
            yield file.at(line, f"imports {module}, {wrong}")


def _against(file: SourceFile, module: str, known: Mapping[str, tuple[str, ...]]) -> str:
    """The objection of the order to an import of `module`; empty: none."""
    own, other = file.module.split("."), module.split(".")
    if other[0] in SURROUNDINGS:
        return "which only surrounds it"
    if other[0] not in PACKAGES:
        return ""
    if other[0] != own[0]:
        return "" if own[0] == PACKAGES[-1] else "which stands above it"
    place = next((n for n, (a, b) in enumerate(zip(own, other, strict=False)) if a != b), None)
    if place is None:
        return _within(own, other)
    folder = ".".join(own[:place])
    order = known.get(folder, ())
    missing = [it for it in (own[place], other[place]) if it not in order]
    if missing:
        return f"and {folder} does not list {missing[0]}"
    if order.index(other[place]) < order.index(own[place]):
        return ""
    return f"but {folder} lists {other[place]} behind {own[place]}"


def _within(own: list[str], other: list[str]) -> str:
    """The same for a folder and what is in it: its `__init__` stands behind all of that."""
    if own == other:
        return "which is the file itself"
    return "the folder that it is in" if len(own) > len(other) else ""


def wrong_listings(files: tuple[SourceFile, ...]) -> Iterator[str]:
    """Each folder lists every file and folder in it, each once, and nothing else."""
    known = orders(files)
    there: dict[str, set[str]] = {}
    for file in files:
        *folders, own = file.module.split(".")
        if file.path.parts[0] in PACKAGES and folders:
            there.setdefault(".".join(folders), set()).add(own)
    for folder, names in there.items():
        order = known.get(folder)
        if order is None:
            yield f"{folder}: has no __init__.py that lists what is in it"
            continue
        yield from (f"{folder}: does not list {it}" for it in sorted(names - set(order)))
        yield from (f"{folder}: lists {it}, which is not there" for it in order if it not in names)
        yield from (f"{folder}: lists {it} twice" for it in sorted(names) if order.count(it) > 1)


KNOWN = orders(PYTHON_FILES)


def test_imports_follow_the_order() -> None:
    places = (it for file in PYTHON_FILES for it in wrong_imports(file, KNOWN))
    hold(places, "An import points to what stands earlier in the folder that holds both.")


def test_every_folder_lists_what_is_in_it() -> None:
    hold(wrong_listings(PYTHON_FILES), "The `__init__` of a folder lists what is in it.")


# --- each rule can fail ------------------------------------------------------------------------


def lists(*names: str, code: str = "") -> str:
    """An `__init__` that lists these, with code below."""
    entries = "".join(f"    {name}  x\n" for name in names)
    return f'"""A folder.\n\n{entries}"""\n{code}'


PROJECT = {
    "compiler/__init__.py": lists("core/", "loops/", "top.py", code="import compiler.top"),
    "compiler/core/__init__.py": lists("node.py", "trace.py"),
    "compiler/core/node.py": "",
    "compiler/core/trace.py": "from compiler.core.node import Node",
    "compiler/loops/__init__.py": lists("nodes.py", "passes/"),
    "compiler/loops/nodes.py": "import compiler.core.trace",
    "compiler/loops/passes/__init__.py": lists("tile.py"),
    "compiler/loops/passes/tile.py": "from compiler.loops import nodes",
    "compiler/top.py": "from compiler.loops.passes.tile import tile",
    "svodviz/__init__.py": lists("page.py", code="import svodviz.page"),
    "svodviz/page.py": "import compiler",
}
NODE, CORE = "compiler/core/node.py", "compiler/core/__init__.py"
WRONG = (
    (NODE, "import compiler.core.trace", "lists trace behind node"),
    (NODE, "if TYPE_CHECKING:\n    import compiler.core.trace", "lists trace behind node"),
    (NODE, "def f():\n    import compiler.core.trace", "lists trace behind node"),
    (NODE, "from compiler.core import node", "which is the file itself"),
    (NODE, "import compiler.loops.nodes", "compiler lists loops behind core"),
    (NODE, "from compiler import Tensor", "the folder that it is in"),
    (NODE, "import svodviz.page", "which stands above it"),
    ("compiler/loops/nodes.py", "import compiler.loops.passes.tile", "lists passes behind nodes"),
    ("svodviz/page.py", "import tests.pages", "which only surrounds it"),
    ("compiler/core/new.py", "import compiler.core.node", "does not list new"),
    (CORE, lists("node.py"), "does not list trace"),
    (CORE, lists("node.py", "old.py", "trace.py"), "lists old, which is not there"),
    (CORE, lists("node.py", "node.py", "trace.py"), "lists node twice"),
    ("compiler/other/file.py", "", "compiler.other: has no __init__.py"),
)


def everything_wrong(changes: Mapping[str, str]) -> list[str]:
    """The faults of the project after `changes`, which give files by path."""
    texts = PROJECT | dict(changes)
    files = tuple(SourceFile(PurePosixPath(path), text) for path, text in texts.items())
    imports = (it for file in files for it in wrong_imports(file, orders(files)))
    return [*imports, *wrong_listings(files)]


def test_a_right_project_has_no_fault() -> None:
    assert everything_wrong({}) == []


@pytest.mark.parametrize(("path", "text", "words"), WRONG)
def test_each_fault_is_named(path: str, text: str, words: str) -> None:
    assert any(words in it for it in everything_wrong({path: text}))
