"""Recipes: the places that an addition has to have, and those that an addition lacks.

    Recipe("finding", names of the table's rows, places that each name must have)

Places are read from the files themselves, so that a row without its test or its line in the docs is
named by `tests/test_recipes.py`. `CONTRIBUTING.md` has the same recipes in words.
"""

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

ROOT = Path(__file__).parents[1]


@cache
def text_of(place: str) -> str:
    """The text of a file, or of all Python files of a folder."""
    path = ROOT / place
    files = [path] if path.is_file() else sorted(path.rglob("*.py"))
    return "\n".join(each.read_text("utf-8") for each in files)


@dataclass(frozen=True)
class Place:
    """A place that an addition must have: in words, and a function that tells if a name has it."""

    words: str
    holds: Callable[[str], bool]


def _in(place: str, pattern: str) -> Place:
    """A place where `pattern` must match, `{}` being the name."""

    def holds(name: str) -> bool:
        return re.search(pattern.replace("{}", re.escape(name)), text_of(place)) is not None

    return Place(f"{pattern.replace(chr(92), '')} in {place}", holds)


def _has_file(pattern: str) -> Place:
    """A file that must exist, `{}` being the name."""
    return Place(pattern, lambda name: any(ROOT.glob(pattern.replace("{}", name))))


@dataclass(frozen=True)
class Recipe:
    """A kind of addition: the names of its table's rows, and the places that each must have."""

    kind: str
    names: Callable[[], Iterable[str]]
    places: tuple[Place, ...]

    def missing(self, name: str) -> list[str]:
        """The places that `name` lacks, in words."""
        return [it.words for it in self.places if not it.holds(name)]


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

RECIPES = (
    Recipe("operation", lambda: OPS, (
        Place("a method of Tensor", lambda name: hasattr(Tensor, METHODS.get(name, name))),
    )),
    Recipe("pass", lambda: (f"{row.stage}/{row.name}" for row in PASSES.rows), (
        Place("a test: tests/STAGE/**/test_NAME.py", lambda name: any(
            (ROOT / "tests" / name.partition("/")[0]).rglob(f"test_{name.partition('/')[2]}.py"))),
        Place("its docstring's example in tests/pipeline/test_examples.py, or in "
              "tests/loops/examples.py", lambda name: any(
            name.partition("/")[2] in text_of(f"tests/{place}.py")
            for place in ("pipeline/test_examples", "loops/examples"))),
    )),
    Recipe("finding", lambda: (rule.name for rule in RULES), (
        _in("tests/findings/test_rules.py", r'"{}"'),
        _in("docs/explorer.md", r"\n\| `{}` \|"),
    )),
    Recipe("view", lambda: (row.id for row in VIEWS), (
        _in("svodviz/js/views/views.js", r"\n  {}: \w+View,"),
        _in("docs/explorer.md", r"\n\| `{}` \|"),
        _in("tests/svodviz", r"(view|stage)\W+{}\b"),
    )),
    Recipe("layer", lambda: _classes(compiler.nn, compiler.nn.Module), (
        _in("tests/nn", r"\b{}\("),
        _in("docs/training.md", r"`{}`"),
    )),
    Recipe("optimizer", lambda: _classes(compiler.optim, Optimizer), (
        _in("tests/optim", r"\b{}\("),
        _in("docs/training.md", r"`{}`"),
    )),
    Recipe("question of a quiz", lambda: KINDS, (_in("tests/svodviz/quizzes", r'"{}"'),)),
)  # fmt: skip
"""All recipes; importers' operators have their own test in `tests/imported`."""


def missing() -> list[str]:
    """Every place that an existing addition lacks, one line each."""
    return [
        f"{recipe.kind} {name}: add {words}"
        for recipe in RECIPES
        for name in recipe.names()
        for words in recipe.missing(name)
    ]
