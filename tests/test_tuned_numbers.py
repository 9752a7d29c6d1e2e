"""Tuned numbers: the docstring of each says where its value comes from.

Every module-level number of `PACKAGES` counts as tuned, unless `FACTS` lists it: a format, a limit
of machines or of mathematics, an identifier. `UNKNOWN` lists those that do not say it yet.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

from tests.test_architecture import PYTHON_FILES, SourceFile, hold

PACKAGES = ("graph", "llvm", "loops", "machines", "run", "threads", "tune")
ORIGIN = re.compile(
    r"\d{4}-\d\d-\d\d|[Nn]ot (?:measured|tuned|varied)|[Nn]o (?:measurement|figure on record)"
    r"|[Cc]hosen\b|[Cc]hoices?\b|\b[Ee]stimate\b|[Bb]y eye|[Rr]ound (?:figure|number)"
    r"|the same\)|\bthe same (?:machine|run)|[Aa]s in `|bound on memory"
)
"""A date, the words for a number without one, or a reference to another number."""
FACTS = {
    "graph/bits.py": "EXACT",
    "graph/extents.py": "LARGEST MOST_AXES",
    "graph/kinds/by_hand.py": "LANES UNSIGNED",
    "graph/kinds/markers.py": "PLACEHOLDER",
    "graph/modules.py": "OUTSIDE",
    "graph/split_reduction.py": "FEWEST",
    "graph/storage.py": "MANTISSA BIAS INFINITE QUIET",
    "llvm/cache.py": "DIGEST",
    "llvm/control.py": "FIRST_METADATA",
    "llvm/dots.py": "WIDTHS",
    "llvm/jit.py": "FORMAT",
    "llvm/looking/inner_loop.py": "_ITEMS _WIDTHS",
    "llvm/looking/marked.py": "RED_ZONE",
    "llvm/mathematics/coefficients.py": "POLYNOMIALS",
    "llvm/mathematics/constants.py": "BITS ROW_STEP ROWS",
    "llvm/mathematics/exponential.py": "EXPONENT_RANGE EXP_RANGE TANH_END ERF_END",
    "llvm/mathematics/power.py": "LARGEST_EXPONENT",
    "llvm/mathematics/trigonometry.py": "NEAR_END",
    "llvm/neighbours.py": "WIDEST",
    "llvm/routines.py": "LARGEST_QUOTIENT",
    "llvm/scratch.py": "ALIGNMENT",
    "llvm/types.py": "_FLOATS",
    "llvm/unlocked.py": "ASSEMBLY OBJECT",
    "llvm/writer.py": "ONE",
    "loops/choosing/lanes.py": "LINE PARTS IN_VECTORS MASKED",
    "loops/choosing/register_tiles.py": "LINE",
    "loops/choosing/window_tiles.py": "VECTORS HEIGHTS",
    "loops/count.py": "MOST_INSIDE",
    "loops/invariants.py": "MOST_SIDE_BY_SIDE",
    "loops/transforms/dot.py": "SHIFT",
    "loops/transforms/pack.py": "ELEMENT",
    "loops/transforms/vectorize.py": "MOST_LANES",
    "machines/measured.py": "VERSION COUNTS",
    "machines/named.py": "_K _M _YMMS _ZMMS _NEONS",
    "machines/system.py": "PERF_EVENT_OPEN USER_INITIATED MOST_BYTES",
    "run/native.py": "ZERO WORDS ARENA INPUTS",
    "run/plans.py": "FIRST",
    "run/remembered.py": "FORMAT",
    "threads/driver.py": "POOL_BYTES SPINS MUTEX CONDITION STEP_BYTES MOST_TASKS MOST_WORKERS",
    "tune/duel.py": "ERRORS OF_THE_MEDIAN",
    "tune/remembered.py": "FORMAT",
    "tune/search.py": "SEED",
    "tune/workbench.py": "PERIOD",
}
UNKNOWN = {
    "loops/choosing/choose_words.py": "FEWEST",
    "loops/choosing/row_folds.py": "BLOCK",
    "loops/choosing/window_tiles.py": "HOLDING",
}


def numbers(file: SourceFile) -> Iterator[tuple[int, str, str]]:
    """Line, name and docstring of each module-level number, or collection of numbers."""
    for statement, after in zip(file.tree.body, [*file.tree.body[1:], None], strict=True):
        match statement:
            case ast.Assign(targets=[target], value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                pass
            case _:
                continue
        names = [each.id for each in ast.walk(target) if isinstance(each, ast.Name)]
        if _is_of_numbers(value) and all(name.isupper() for name in names):
            text = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                text = " ".join(str(after.value.value).split())
            yield from ((statement.lineno, name, text) for name in names)


def _is_of_numbers(value: ast.expr) -> bool:
    """True if an expression contains a number, and computes nothing from other objects."""
    parts = list(ast.walk(value))
    if any(isinstance(it, ast.Call | ast.Subscript | ast.comprehension) for it in parts):
        return False
    return any(isinstance(it, ast.Constant) and type(it.value) in (int, float) for it in parts)


def without_origin(file: SourceFile, listed: Mapping[str, str]) -> Iterator[str]:
    """The tuned numbers whose docstring does not say where they come from, but for `listed`."""
    if file.path.parts[0] != "compiler" or file.path.parts[1] not in PACKAGES:
        return
    exempt = listed.get("/".join(file.path.parts[1:]), "").split()
    for line, name, text in numbers(file):
        if name not in exempt and not ORIGIN.search(text):
            yield file.at(line, f"{name} has neither figures with a date nor a reason without")


LISTED = {path: f"{FACTS.get(path, '')} {UNKNOWN.get(path, '')}" for path in {*FACTS, *UNKNOWN}}


def test_every_tuned_number_says_where_it_comes_from() -> None:
    wrong = (it for file in PYTHON_FILES for it in without_origin(file, LISTED))
    hold(wrong, "The docstring of a tuned number has its figures, machine and date, or a reason.")


def test_listed_numbers_exist_and_are_listed_once() -> None:
    here = {"/".join(file.path.parts[1:]): file for file in PYTHON_FILES if file.is_in("compiler")}
    for path, names in LISTED.items():
        texts = {name: text for _, name, text in numbers(here[path])}
        assert sorted(names.split()) == sorted(set(names.split()) & set(texts)), path
    for path, names in UNKNOWN.items():
        texts = {name: text for _, name, text in numbers(here[path])}
        assert not [name for name in names.split() if ORIGIN.search(texts[name])], path


# --- the rule can fail ---------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "is_wrong"), [
    ("LIMIT = 3\n", True),
    ('LIMIT = 3\n"""Bytes of a block."""\n', True),
    ('LIMIT = 3\n"""Bytes: 4 µs with 3, 5 with 4 (EPYC, 2026-11-23)."""\n', False),
    ('LIMIT = 3\n"""Bytes of a block. Chosen, not measured."""\n', False),
    ("A, B = 3, 4.5\n", True),
    ("NAMES = ('a', 'b')\nTYPE = TypeVar('T')\nname = 3\n", False),
    ("def f() -> int:\n    return 3\n", False),
])  # fmt: skip
def test_a_number_without_origin_is_found(text: str, is_wrong: bool) -> None:
    file = SourceFile(PurePosixPath("compiler/loops/new.py"), text)
    assert bool(list(without_origin(file, {}))) == is_wrong
    assert not list(without_origin(file, {"loops/new.py": "LIMIT A B"}))
    assert not list(without_origin(SourceFile(PurePosixPath("svodviz/new.py"), text), {}))
