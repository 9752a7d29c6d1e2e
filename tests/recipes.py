"""Recipes: the places that an addition has to have, and those that an addition lacks.

    Recipe("finding", names of the table's rows, places that each name must have)

Places are read from the files themselves, so that a row without its test or its line in the docs is
named by `tests/test_recipes.py`. `CONTRIBUTING.md` has the same recipes in words.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import compiler.nn
import compiler.optim
from compiler import Tensor
from compiler.findings.rules import RULES
from compiler.ops.table import OPS
from compiler.optim.optimizer import Optimizer
from compiler.pipeline.rows import PASSES
from svodviz.foundation.views import VIEWS
from svodviz.quizzes.pose import KINDS
from tests.imported import reached

ROOT = Path(__file__).parents[1]


@cache
def text_of(place: str) -> str:
    """The text of a file, or of all Python files of a folder."""
    path = ROOT / place
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return "\n".join(each.read_text("utf-8") for each in files)


@dataclass(frozen=True)
class Place:
    """A place that an addition must have: in words, `{}` being the name, and a function that tells
    if a name has it."""

    words: str
    holds: Callable[[str], bool]


def _in(place: str, pattern: str, words: str) -> Place:
    """A file or folder where `pattern` must match, `{}` being the name."""

    def holds(name: str) -> bool:
        return re.search(pattern.replace("{}", re.escape(name)), text_of(place)) is not None

    return Place(f"{words} in {place}", holds)


@dataclass(frozen=True)
class Recipe:
    """A kind of addition: the names of its table's rows, and the places that each must have."""

    kind: str
    names: Callable[[], Iterable[str]]
    places: tuple[Place, ...]

    def missing(self, name: str) -> list[str]:
        """The places that `name` lacks, in words that have the name."""
        return [it.words.replace("{}", name) for it in self.places if not it.holds(name)]


def _classes(module: object, parent: type) -> Iterator[str]:
    """The public classes of a module that inherit from `parent`."""
    for name, each in inspect.getmembers(module, inspect.isclass):
        if issubclass(each, parent) and each is not parent:
            yield name


METHODS: Mapping[str, str] = {
    "not": "bitwise_not", "recip": "reciprocal", "and": "bitwise_and", "or": "bitwise_or",
    "xor": "bitwise_xor", "shl": "lshift", "shr": "rshift", "max": "maximum", "min": "minimum",
    "idiv": "floordiv", "fdiv": "div", "mod": "remainder",
}  # fmt: skip
"""Methods of operations whose row has another name, by row."""


def _view_file(name: str) -> str:
    """The file of a view's class, as `views.js` imports it; "" for an unknown view."""
    text = text_of("svodviz/js/views/views.js")
    row = re.search(rf"\n  {name}: (\w+),", text)
    found = row and re.search(rf'import {{[^}}]*\b{row[1]}\b[^}}]*}} from "\./(.*)"', text)
    return f"svodviz/js/views/{found[1]}" if found else ""


@cache
def _opened_views() -> frozenset[str]:
    """The views in tests of the page: `view="graph"` in a call, `{"view": "graph"}`, or an
    assertion that `state["view"] == "graph"`."""
    nodes = [node for path in (ROOT / "tests/svodviz").rglob("test_*.py")
             for node in ast.walk(ast.parse(path.read_text("utf-8")))]  # fmt: skip
    return frozenset(
        value.value for node in nodes for value in _values_of_view(node)
        if isinstance(value, ast.Constant) and isinstance(value.value, str)
    )  # fmt: skip


def _values_of_view(node: ast.AST) -> Iterator[ast.expr | None]:
    match node:
        case ast.keyword(arg="view"):
            yield node.value
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == "view":
                    yield value
        case ast.Compare():
            sides = [node.left, *node.comparators]
            if any(isinstance(it, ast.Subscript) and isinstance(it.slice, ast.Constant)
                   and it.slice.value == "view" for it in sides):  # fmt: skip
                yield from sides


def _has_example(name: str) -> bool:
    """True if a pass, `stage/name`, has a row in a table of examples."""
    stage, _, own = name.partition("/")
    return f'("{stage}", "{own}"):' in text_of("tests/pipeline/test_examples.py") or (
        stage == "loops" and f'"{own}": Example(' in text_of("tests/loops/examples.py")
    )


def _has_value_test(importer: str) -> Callable[[str], bool]:
    """A function that tells if `reached.json` names a test of an operator, and the test exists."""

    def holds(name: str) -> bool:
        file, _, test = reached.stored(importer).get(name, "").partition("::")
        function = test.partition("[")[0]
        return bool(test) and f"\ndef {function}(" in text_of(f"tests/imported/{file}")

    return holds


def _operators_of(importer: str) -> Recipe:
    """The recipe of an importer's operators."""
    return Recipe(f"operator of from_{importer}",
                  lambda: map(reached.name_of, reached.table_of(importer)), (
        Place("a test that compares values of {}, and its line in "
              f"tests/imported/{importer}/reached.json (python -m tools.reached {importer})",
              _has_value_test(importer)),
    ))  # fmt: skip


RECIPES = (
    Recipe("operation", lambda: OPS, (
        Place("a method {} of Tensor, or its other name in METHODS of tests/recipes.py",
              lambda name: hasattr(Tensor, METHODS.get(name, name))),
    )),
    Recipe("pass", lambda: (f"{row.stage}/{row.name}" for row in PASSES.rows), (
        Place("a file test_<name>.py in the stage's folder of tests", lambda name: any(
            (ROOT / "tests" / name.partition("/")[0]).rglob(f"test_{name.partition('/')[2]}.py"))),
        Place("its docstring's example, a row of EXAMPLES in tests/pipeline/test_examples.py, or "
              "for a loop choice in tests/loops/examples.py", _has_example),
    )),
    Recipe("finding", lambda: (rule.name for rule in RULES), (
        _in("tests/findings/test_rules.py", r'"{}"', 'a case "{}"'),
        _in("docs/explorer.md", r"\n\| `{}` \|", "a row `{}` of the table"),
    )),
    Recipe("view", lambda: (row.id for row in VIEWS), (
        _in("svodviz/js/views/views.js", r"\n  {}: \w+View,", "its class, {}: …View,"),
        _in("docs/explorer.md", r"\n\| `{}` \|", "a row `{}` of the table"),
        Place('a browser test in tests/svodviz that opens view="{}"',
              lambda name: name in _opened_views()),
        Place("a row of docs/features.md that names the file of its class", lambda name:
              f"`{_view_file(name)}`" in text_of("docs/features.md")),
    )),
    Recipe("layer", lambda: _classes(compiler.nn, compiler.nn.Module), (
        _in("tests/nn", r"\b{}\(", "a test of {}(…)"),
        _in("docs/training.md", r"`{}`", "its name `{}`"),
    )),
    Recipe("optimizer", lambda: _classes(compiler.optim, Optimizer), (
        _in("tests/optim", r"\b{}\(", "a test of {}(…)"),
        _in("docs/training.md", r"`{}`", "its name `{}`"),
    )),
    Recipe("question of a quiz", lambda: KINDS, (
        _in("tests/svodviz/quizzes", r'"{}"', 'a test of "{}"'),
    )),
    *map(_operators_of, reached.TABLES),
)  # fmt: skip
"""All recipes."""


def missing() -> list[str]:
    """Every place that an existing addition lacks, one line each."""
    return [
        f"{recipe.kind} {name}: add {words}"
        for recipe in RECIPES
        for name in recipe.names()
        for words in recipe.missing(name)
    ]
