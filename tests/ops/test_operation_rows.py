"""One row per operation: it is complete, its laws hold, and no other table has its facts."""

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.core.errors import InternalError
from compiler.core.trace import Provenance
from compiler.graph.nodes import Buffer, Elementwise, Sink, TensorNode, const
from compiler.graph.simplify import simplify
from compiler.ops.row import NO_DOMAIN, Op, table
from compiler.ops.table import OPS, REDUCTIONS
from tests.evaluate import NUMPYS, samples
from tests.test_architecture import PYTHON_FILES, SourceFile, hold

Array = np.ndarray[Any, Any]

# --- a row without what it needs is refused ------------------------------------------------------

LACKING: tuple[tuple[str, str, Any, str], ...] = (
    ("add", "meaning", "", "meaning in words"),
    ("add", "reference", None, "NumPy meaning"),
    ("add", "arity", 0, "arity of 1, 2 or 3"),
    ("add", "accepts", frozenset(), "types that it accepts"),
    ("add", "cost", 0, "cost"),
    ("add", "domain", NO_DOMAIN, "domain for tests"),
    ("add", "rounding", None, "rounding bound"),
    ("silu", "rounding", None, "rounding bound"),
    ("silu", "expansion", None, "expansion, and no LLVM text for float"),
    ("add", "llvm", {}, "expansion, and no LLVM text for bool"),
    ("exp", "llvm", {}, "expansion, and no LLVM text for float"),
    ("add", "c", {"bool": "{a}", "float": "{a}"}, "C text for int"),
    ("shl", "c", {"int": "{a}"}, "C text for uint"),
    ("lt", "vectors", None, "word on whether vectors have it"),
    ("add", "whole", None, "meaning on integers of any size"),
)


@pytest.mark.parametrize(("name", "column", "value", "words"), LACKING)
def test_a_row_that_lacks_something_is_refused_by_name(
    name: str, column: str, value: Any, words: str
) -> None:
    with pytest.raises(InternalError) as caught:
        replace(OPS[name], **{column: value})
    assert str(caught.value) == f"operation {name}: its row has no {words}"


def test_a_row_with_only_a_name_is_refused() -> None:
    with pytest.raises(InternalError, match="operation hypotenuse: its row has no types that"):
        Op("hypotenuse", 2, "the long side", np.hypot)


def test_what_a_row_does_not_need_may_be_missing() -> None:
    assert OPS["lt"].rounding is None  # a truth value is not rounded
    assert OPS["shl"].rounding is None  # neither is an integer
    assert not OPS["silu"].llvm and not OPS["silu"].c and OPS["silu"].vectors is None


def test_two_rows_of_one_name_are_refused() -> None:
    with pytest.raises(InternalError, match="operation add: its row has no name of its own"):
        table([OPS["add"], OPS["mul"], replace(OPS["add"], cost=2)])


@pytest.mark.parametrize(("column", "value", "words"), [
    ("meaning", "", "meaning in words"),
    ("combine", "plus", "operation plus to combine with"),
    ("combine", "and", "types that and accepts"),
    ("combine", "lt", "order that is free: lt is not associative and commutative"),
])  # fmt: skip
def test_a_wrong_reduction_is_refused_by_name(column: str, value: Any, words: str) -> None:
    row = replace(REDUCTIONS["sum"], **{column: value})
    with pytest.raises(InternalError, match="^" + f"reduction sum: its row has no {words}"):
        table(list(OPS.values()), [row])


# --- the laws of a row hold ----------------------------------------------------------------------


def _with_law(law: str) -> list[Any]:
    return [
        pytest.param(row, dtype, id=f"{row.name}-{dtype.short}")
        for row in OPS.values()
        for dtype in NUMPYS
        if law in row.laws and dtype.kind in row.accepts
    ]


def _same(got: Any, expected: Array) -> None:
    """To the bit but for NaN; the sign of the greater of two zeros is nobody's promise."""
    np.testing.assert_array_equal(np.asarray(got), expected, strict=True)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("row", "dtype"), _with_law("commutative"))
def test_operands_change_places(row: Op, dtype: DType) -> None:
    a, b = (x.reshape(-1) for x in np.meshgrid(samples(dtype), samples(dtype)))
    _same(row.reference(a, b), np.asarray(row.reference(b, a)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("row", "dtype"), _with_law("associative"))
def test_brackets_change_places(row: Op, dtype: DType) -> None:
    """Of floats where nothing is rounded."""
    some = np.array([0, 1, 2, 3, 5, 7]) if dtype.is_float else samples(dtype)
    each = [x.reshape(-1) for x in np.meshgrid(*[some.astype(dtype.numpy)] * 3)]
    a, b, c = each
    _same(row.reference(row.reference(a, b), c),
          np.asarray(row.reference(a, row.reference(b, c))))  # fmt: skip


@pytest.mark.parametrize(("row", "dtype"), _with_law("idempotent"))
def test_an_operand_with_itself_is_itself(row: Op, dtype: DType) -> None:
    x = samples(dtype)
    assert np.asarray(row.reference(x, x)).tobytes() == x.tobytes()
    node = Buffer((), 1, (3,), dtype)
    assert _simplified(Elementwise((node, node), row.name)) is node


@pytest.mark.parametrize(("row", "dtype"), _with_law("involution"))
def test_twice_is_nothing(row: Op, dtype: DType) -> None:
    x = samples(dtype)
    assert np.asarray(row.reference(row.reference(x))).tobytes() == x.tobytes()
    node = Buffer((), 1, (3,), dtype)
    assert _simplified(Elementwise((Elementwise((node,), row.name),), row.name)) is node


@pytest.mark.parametrize("row", [r for r in OPS.values() if r.identity], ids=lambda r: r.name)
def test_identities_change_no_bit_and_are_left_out(row: Op) -> None:
    assert row.identity is not None
    for dtype in (d for d in NUMPYS if d.kind in row.accepts and d != dtypes.bool_):
        x, node = samples(dtype), Buffer((), 1, (), dtype)
        number = row.identity(dtype)
        neutral = np.full(x.shape, number, dtype.numpy)
        assert np.asarray(row.reference(x, neutral)).tobytes() == x.tobytes(), dtype
        other = const(number, dtype)
        assert _simplified(Elementwise((node, other), row.name)) is node, dtype
        if "commutative" in row.laws:
            assert _simplified(Elementwise((other, node), row.name)) is node, dtype


def _simplified(node: TensorNode) -> TensorNode:
    (result,) = simplify(Sink((node,)), Provenance()).sources
    return result


@pytest.mark.parametrize("row", [r for r in OPS.values() if r.whole], ids=lambda r: r.name)
def test_integers_of_any_size_have_the_meaning_of_the_reference(row: Op) -> None:
    assert row.whole is not None
    for a in range(-9, 10):
        for b in (-4, -1, 1, 3, 5):
            operands = (a, b)[: row.arity]
            assert row.whole(*operands) == row.reference(*map(np.int64, operands)), operands


RANGES = tuple(itertools.combinations_with_replacement((-7, -2, 0, 1, 3, 8), 2))


@pytest.mark.parametrize("row", [r for r in OPS.values() if r.bounds], ids=lambda r: r.name)
def test_bounds_hold_for_all_that_is_within_those_of_the_operands(row: Op) -> None:
    """And something of each is known."""
    assert row.bounds is not None
    known = 0
    for first, second in itertools.product(RANGES, RANGES):
        bounds = row.bounds(first, second)
        if bounds is None:
            continue
        known += 1
        a, b = np.meshgrid(*(np.arange(low, high + 1) for low, high in (first, second)))
        found = [a, b] if row.has_condition else [np.asarray(row.reference(a, b))]
        low, high = min(int(x.min()) for x in found), max(int(x.max()) for x in found)
        assert bounds[0] <= low and high <= bounds[1], (first, second)
    assert known >= 3


# --- no other table ------------------------------------------------------------------------------

NAMES = {*OPS, *REDUCTIONS}
FEW = 2
"""So many names of operations, more than anything else, make a table of operations."""
MANY = 6
"""So many cases of a `match` are one too; fewer say which forms a rule looks at."""
OTHER_THINGS = {
    "compiler/llvm/mathematics/coefficients.py": "polynomials of routines, by the routine's name",
    "compiler/tensors/traced_numbers.py": "Python's operators, by their methods' names",
    "svodviz/foundation/values.py": "the least, the greatest and the mean of a value that is shown",
}
"""Files with tables whose words are those of operations and mean something else."""


def tables_of_operations(file: SourceFile) -> Iterator[str]:
    """Facts keyed by names of operations stand in their rows.

    A tuple that a condition looks into (`op in ("idiv", "mod")`) is the pattern of a rule.
    """
    is_judged = file.is_in("compiler") or file.is_in("svodviz")
    is_judged = is_judged and "imported" not in file.path.parts  # where others' words stand
    if not is_judged or str(file.path) in OTHER_THINGS:
        return
    for node in ast.walk(file.tree):
        names = [name for name in _keys(node) if name in NAMES]
        is_table = len(names) >= (MANY if isinstance(node, ast.Match) else FEW)
        mostly = 2 * len(names) > len(_keys(node))
        if isinstance(node, ast.expr | ast.stmt) and is_table and mostly:
            words = " ".join(sorted(set(names)))
            yield file.at(node.lineno, f"a table of operations: {words}")


def _keys(node: ast.AST) -> list[str]:
    """The words that a mapping, a set, a collection with a name, or a `match` is keyed by."""
    match node:
        case ast.Dict(keys=keys):
            return _words(keys)
        case ast.Set(elts=elements):
            return _words(elements)
        case ast.Call(
            func=ast.Name(id="set" | "frozenset" | "dict") | ast.Attribute(attr="fromkeys"),
            args=[ast.Tuple(elts=elements) | ast.List(elts=elements), *_],
        ):
            return _words(elements)
        case ast.Assign(value=ast.Tuple(elts=elements) | ast.List(elts=elements)):
            return _words(elements)
        case ast.AnnAssign(value=ast.Tuple(elts=elements) | ast.List(elts=elements)):
            return _words(elements)
        case ast.Match(cases=cases):
            patterns = (part for case in cases for part in ast.walk(case.pattern))
            return _words([p.value for p in patterns if isinstance(p, ast.MatchValue)])
    return []


def _words(nodes: list[Any]) -> list[str]:
    """The strings among them, and the first of each pair."""
    firsts = [n.elts[0] if isinstance(n, ast.Tuple) and n.elts else n for n in nodes]
    return [n.value for n in firsts if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def test_no_other_table_has_facts_of_operations() -> None:
    hold([it for file in PYTHON_FILES for it in tables_of_operations(file)],
         "Facts of an operation are columns of its row: compiler/ops/table.py.")  # fmt: skip


@pytest.mark.parametrize("text", [
    'COST = {"exp": 12, "log": 12, "sin": 20}',
    'COST: dict[str, int] = {"max": 1, "min": 1, **MORE}',
    'SLOW = frozenset(("idiv", "mod"))',
    'SLOW = {"idiv", "mod"}',
    'UNITS = dict.fromkeys(("add", "sub", "mul"), 0.5)',
    'ROUNDED = ("add", "sub", "mul")',
    'WORDS = dict([("add", "plus"), ("sub", "minus")])',
    'def bounds(op):\n    match op:\n        case "add":\n            return 1\n'
    '        case "sub" | "mul" | "idiv":\n            return 2\n'
    '        case Alu(op="max") | Alu(op="min"):\n            return 3',
])  # fmt: skip
def test_a_table_beside_the_rows_is_caught(text: str) -> None:
    wrong = SourceFile(PYTHON_FILES[0].path.parent / "wrong.py", text)
    assert wrong.is_in("compiler") and len(list(tables_of_operations(wrong))) == 1


@pytest.mark.parametrize("text", [
    'if node.op in ("idiv", "mod"): pass',
    'KINDS = {"add": 1, "scatter": 2, "kernel": 3}',
    'NAMES = {"absolute": "abs", "amax": "max"}',
    'COST = {row.name: row.cost for row in OPS.values()}',
])  # fmt: skip
def test_patterns_and_other_words_are_no_tables(text: str) -> None:
    right = SourceFile(PYTHON_FILES[0].path.parent / "right.py", text)
    assert not list(tables_of_operations(right))
