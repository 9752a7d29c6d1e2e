"""The architecture, held by tests: what may be imported, and how every file looks.

A rule is a function from one parsed file to the places that break it ("file:line: what"). The rules
run over the whole repository, and at the end over a few wrong files that they have to catch.
"""

import ast
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

import pytest

STAGES = ("graph", "schedule", "loops", "lowered")
FACES = {"verify.py", "printer.py", "interpret.py"}
NOT_FOR_THE_COMPILER = {
    "IPython", "anywidget", "graphviz", "ipywidgets", "jupyterlab", "pygments", "pygraphviz",
}  # fmt: skip
VAGUE_NAMES = {"util", "utils", "helper", "helpers", "common", "base", "manager", "managers"}
MACHINE_PATHS = tuple(f"/{folder}/".encode() for folder in ("work", "root", "home", "Users"))
LONGEST_FILE, WIDEST_LINE = 600, 100

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("compiler", "svodviz", "examples", "benchmarks", "tools", "tests")


@dataclass(frozen=True)
class SourceFile:
    """One file of the repository: its path from the root, and its text."""

    path: PurePosixPath
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text)

    @property
    def module(self) -> str:
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def is_in(self, folder: str) -> bool:
        return self.path.parts[0] == folder

    def at(self, line: int, message: str) -> str:
        return f"{self.path}:{line}: {message}"


def _read(*suffixes: str) -> tuple[SourceFile, ...]:
    paths = (path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*")))
    return tuple(
        SourceFile(PurePosixPath(path.relative_to(ROOT).as_posix()), path.read_text("utf-8"))
        for path in paths
        if path.suffix in suffixes
    )


PYTHON_FILES = _read(".py")
WEB_FILES = _read(".js", ".css")
MODULES = {file.module for file in PYTHON_FILES}


# --- imports ----------------------------------------------------------------------------------


def imported_modules(file: SourceFile) -> Iterator[tuple[int, str]]:
    """Line and name of each module imported anywhere in a file: TYPE_CHECKING counts too."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = (f"{node.module}.{alias.name}" for alias in node.names)
            targets = {name if name in MODULES else node.module for name in names}
            yield from ((node.lineno, target) for target in sorted(targets))


def no_relative_imports(file: SourceFile) -> Iterator[str]:
    """`from . import x` is written `from package import x`."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            yield file.at(node.lineno, f"relative import of {'.' * node.level}{node.module or ''}")


def no_pictures_in_the_compiler(file: SourceFile) -> Iterator[str]:
    """The compiler knows nothing of Jupyter or drawing."""
    for line, module in imported_modules(file):
        if file.is_in("compiler") and module.split(".")[0] in NOT_FOR_THE_COMPILER:
            yield file.at(line, f"the compiler must not import {module}")


READ_ENVIRONMENT = (
    "compiler.core.user_cache", "compiler.machines.processors", "compiler.machines.at_hand",
    "compiler.pipeline.dropped",
)  # fmt: skip


def no_environment_in_the_compiler(file: SourceFile) -> Iterator[str]:
    """Settings reach the compiler only through Options; the environment says where the caches are,
    which processor the host is taken to be, what loops are chosen for, and that
    in tests a dropped choice is an error."""
    names = {"environ", "environb", "getenv", "getenvb", "putenv"}
    is_judged = file.is_in("compiler") and file.module not in READ_ENVIRONMENT
    for node in ast.walk(file.tree) if is_judged else ():
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in names:
                yield file.at(node.lineno, f"os.{name}: pass an Option instead")
            case ast.ImportFrom(module="os", names=aliases) if names & {it.name for it in aliases}:
                yield file.at(node.lineno, "import of the environment: pass an Option instead")


# --- how a file looks -------------------------------------------------------------------------


def imports_that_a_fork_waits_for(file: SourceFile) -> Iterator[str]:
    """The compiler imports its own modules inside functions under `lazy.loading()`."""
    if file.is_in("compiler"):
        yield from _imports_in(file, file.tree, False)


def _imports_in(file: SourceFile, node: ast.AST, is_wrong: bool) -> Iterator[str]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom | ast.Import):
            names = [it.name for it in child.names]
            modules = [child.module or ""] if isinstance(child, ast.ImportFrom) else names
            if is_wrong and any(it.partition(".")[0] == "compiler" for it in modules):
                yield file.at(child.lineno, f"an import of {modules[0]} that no fork waits for")
            continue
        is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
        is_loading = isinstance(child, ast.With) and "loading()" in ast.unparse(child.items[0])
        yield from _imports_in(file, child, (is_wrong or is_function) and not is_loading)


def short_file(file: SourceFile) -> Iterator[str]:
    """A file is of one idea: at most 600 lines."""
    count = len(file.text.splitlines())
    if count > LONGEST_FILE:
        yield file.at(count, f"{count} lines, at most {LONGEST_FILE}: split it by noun or verb")


def narrow_lines(file: SourceFile) -> Iterator[str]:
    """A line has at most 100 columns."""
    for number, line in enumerate(file.text.splitlines(), start=1):
        if len(line) > WIDEST_LINE:
            yield file.at(number, f"{len(line)} columns, at most {WIDEST_LINE}")


def telling_name(file: SourceFile) -> Iterator[str]:
    """A file or folder is named for what it holds."""
    for part in file.path.with_suffix("").parts:
        vague = VAGUE_NAMES & set(part.lower().split("_"))
        if vague:
            yield file.at(1, f"name '{part}' says nothing: name the noun or the verb")


def module_docstring(file: SourceFile) -> Iterator[str]:
    """Every module says what it is."""
    if not ast.get_docstring(file.tree):
        yield file.at(1, "no module docstring")


# --- docstrings of public names ---------------------------------------------------------------

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
COMPILER_CLASSES = {
    node.name: node
    for file in PYTHON_FILES
    for node in (ast.walk(file.tree) if file.is_in("compiler") else ())
    if isinstance(node, ast.ClassDef)
}


def public_docstrings(file: SourceFile) -> Iterator[str]:
    """Every public function, class and method of the compiler has a docstring.

    Public: no leading underscore, at the top of the module or in the body of a public class.
    Excused: methods that a base class of ours has too, and the second halves of what is already
    documented (@overload, @name.setter, @override).
    """
    if file.is_in("compiler"):
        yield from _undocumented(file, file.tree)


def _undocumented(file: SourceFile, owner: ast.Module | ast.ClassDef) -> Iterator[str]:
    for node in owner.body:
        if not isinstance(node, DEFINITIONS) or node.name.startswith("_"):
            continue
        if not ast.get_docstring(node) and not _is_excused(node, owner):
            yield file.at(node.lineno, f"public {node.name} has no docstring")
        if isinstance(node, ast.ClassDef):
            yield from _undocumented(file, node)


def _is_excused(node: Definition, owner: ast.Module | ast.ClassDef) -> bool:
    decorators = {_last_name(it) for it in node.decorator_list}
    is_second_half = decorators & {"overload", "setter", "deleter", "override"}
    return bool(is_second_half) or (isinstance(owner, ast.ClassDef) and _inherits(owner, node.name))


def _inherits(owner: ast.ClassDef, method: str) -> bool:
    bases = (COMPILER_CLASSES.get(_last_name(base)) for base in owner.bases)
    return any(
        _inherits(base, method) or method in {getattr(it, "name", "") for it in base.body}
        for base in bases
        if base
    )


def _last_name(expression: ast.expr) -> str:
    """`Node` for each of the forms Node, nodes.Node and Node[T]."""
    return ast.unparse(expression).split("[")[0].split(".")[-1]


# --- the rules, over the repository -----------------------------------------------------------

Rule = Callable[[SourceFile], Iterator[str]]
WEB_RULES: tuple[Rule, ...] = (short_file, narrow_lines, telling_name)
PYTHON_RULES: tuple[Rule, ...] = (
    *WEB_RULES,
    no_relative_imports,
    no_pictures_in_the_compiler,
    no_environment_in_the_compiler,
    imports_that_a_fork_waits_for,
    module_docstring,
    public_docstrings,
)


def hold(violations: Iterable[str], rule: str) -> None:
    """Fails with the rule and every place that breaks it, one per line."""
    places = list(violations)
    if places:
        pytest.fail("\n  ".join([rule, *places]), pytrace=False)


@pytest.mark.parametrize("rule", PYTHON_RULES)
def test_every_file(rule: Rule) -> None:
    files = (*PYTHON_FILES, *(WEB_FILES if rule in WEB_RULES else ()))
    sentence = (rule.__doc__ or "").splitlines()[0]
    hold((place for file in files for place in rule(file)), sentence)


@pytest.mark.parametrize("stage", STAGES)
def test_every_stage_has_its_faces(stage: str) -> None:
    files = [file for file in PYTHON_FILES if file.path.is_relative_to(f"compiler/{stage}")]
    absent = sorted(FACES - {file.path.name for file in files})
    missing = [f"compiler/{stage}/{face} is missing" for face in absent]
    if not any("def network(" in file.text for file in files):
        missing.append(f"nothing in compiler/{stage}/ defines network")
    hold(missing, "Each stage can be verified, printed, run and drawn.")


# --- the compiler's page ----------------------------------------------------------------------


def named_files(page: str) -> dict[str, int]:
    """Each Python file a page names, and where (`digits.py:12` is printed output, not a name)."""
    names: dict[str, int] = {}
    for number, line in enumerate(page.splitlines(), start=1):
        for match in re.finditer(r"[\w./-]*\w\.py\b(?!:\d)", line):
            names.setdefault(match[0].removeprefix("compiler/"), number)
    return names


COMPILER_PAGE = ROOT / "compiler" / "README.md"


def test_compiler_page_names_every_folder() -> None:
    page = COMPILER_PAGE.read_text("utf-8")
    folders = {file.path.parent.name for file in PYTHON_FILES if file.is_in("compiler")}
    unnamed = [it for it in folders - {"compiler"} if f"{it}/" not in page]
    hold((f"compiler/README.md:1: does not name {it}/" for it in unnamed), "The map is whole.")


def test_compiler_page_names_only_what_exists() -> None:
    names = named_files(COMPILER_PAGE.read_text("utf-8"))
    gone = (
        f"compiler/README.md:{line}: there is no {name}"
        for name, line in names.items()
        if not any((home / name).is_file() for home in (COMPILER_PAGE.parent, ROOT))
    )
    hold(gone, "compiler/README.md names files by their path from compiler/ or from the root.")


# --- what is committed ------------------------------------------------------------------------


def committed_files() -> Iterator[Path]:
    """The files that git holds or would take; outside a repository, the project's own folders."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    names = listing.stdout.decode().split("\0") if listing.returncode == 0 else []
    folders = (*FOLDERS, "notebooks", "docs", "binder")
    unlisted = (path for folder in folders for path in (ROOT / folder).rglob("*.*[!c]"))
    paths = [ROOT / name for name in names if name] or unlisted
    return (path for path in paths if path.is_file())


def machine_paths(content: bytes) -> Iterator[tuple[int, str]]:
    """Line and path of each mention of somebody's own machine."""
    for number, line in enumerate(content.splitlines(), start=1):
        yield from ((number, needle.decode()) for needle in MACHINE_PATHS if needle in line)


def test_no_machine_paths() -> None:
    found = (
        f"{path.relative_to(ROOT)}:{line}: contains {needle}…"
        for path in committed_files()
        for line, needle in machine_paths(path.read_bytes())
    )
    hold(found, "Nothing committed names a path of the machine it was made on.")


# --- each rule can fail ------------------------------------------------------------------------

WRONG_FILES = (
    (no_relative_imports, "compiler/graph/nodes.py", "from .views import View"),
    (no_pictures_in_the_compiler, "compiler/tensor.py", "from IPython.display import SVG"),
    (no_environment_in_the_compiler, "compiler/settings/options.py", "x = os.environ['X']"),
    (no_environment_in_the_compiler, "compiler/settings/options.py", "from os import getenv"),
    (imports_that_a_fork_waits_for, "compiler/tensor.py", "def f():\n    import compiler.graph"),
    (short_file, "svodviz/js/pane.js", "x\n" * (LONGEST_FILE + 1)),
    (narrow_lines, "svodviz/js/pane.js", "x" * (WIDEST_LINE + 1)),
    (telling_name, "compiler/graph/graph_utils.py", ""),
    (telling_name, "svodviz/helpers/pane.py", ""),
    (module_docstring, "examples/digits.py", "# a comment is none"),
    (public_docstrings, "compiler/ops/table.py", "def add(): pass"),
    (public_docstrings, "compiler/tensor.py", "class Row:\n    'A row.'\n    def f(self): pass"),
)
RIGHT_FILES = (
    (no_environment_in_the_compiler, "svodviz/cli/main.py", "x = os.environ['X']"),
    (no_environment_in_the_compiler, "compiler/machines/at_hand.py", "x = os.environ['X']"),
    (imports_that_a_fork_waits_for, "compiler/tensor.py",
     "def f():\n    with loading():\n        import compiler.graph"),
    (telling_name, "compiler/graph/database.py", ""),
    (public_docstrings, "compiler/ops/table.py", "class _Row:\n    def apply(self): pass"),
    (public_docstrings, "compiler/ops/table.py", "@overload\ndef add(): ..."),
)


@pytest.mark.parametrize(("rule", "path", "text"), (*WRONG_FILES, *RIGHT_FILES))
def test_each_rule_can_fail(rule: Rule, path: str, text: str) -> None:
    places = list(rule(SourceFile(PurePosixPath(path), text)))
    assert len(places) == ((rule, path, text) in WRONG_FILES)
    assert all(re.match(rf"{re.escape(path)}:\d+: \w", place) for place in places)


def test_named_files() -> None:
    page = "see [nodes](graph/nodes.py) and compiler/tensor.py:\n`llvm/emit.py`, not digits.py:12"
    assert named_files(page) == {"graph/nodes.py": 1, "tensor.py": 1, "llvm/emit.py": 2}


def test_machine_paths() -> None:
    for needle in MACHINE_PATHS:
        line = b'{"text": "in ' + needle + b'x.py"}'
        assert list(machine_paths(b"\n" + line)) == [(2, needle.decode())]
