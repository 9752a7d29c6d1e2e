"""Each invariant of a kernel's loops, broken once; and no false alarm on right programs."""

from dataclasses import replace
from typing import Any

import pytest

from compiler.core import dtypes
from compiler.core.errors import InternalError
from compiler.loops.nodes import (
    After,
    Argument,
    Bitcast,
    Body,
    Cast,
    Const,
    Custom,
    DefineVar,
    Level,
    Load,
    Local,
    Range,
    Reduce,
    ScalarNode,
    Store,
    Update,
    alu,
    axis,
    const,
    index,
)
from compiler.loops.verify import verify
from compiler.ops import functions
from compiler.ops.table import REDUCTIONS
from tests.loops.bodies import BODIES
from tests.loops.programs import PROGRAMS, forms, kernels

f32, i64, bool_ = dtypes.float32, dtypes.int64, dtypes.bool_
OUT, IN = Argument((), 0, f32, 6, True), Argument((), 1, f32, 6, False)
LARGE = Argument((), 0, f32, 60, True)
INTS = Argument((), 2, i64, 6, False)
I0, I1 = axis(2, 0, "normal"), axis(3, 1, "normal")
R = axis(6, 2, "reduction")
NEVER = axis(0, 3, "normal")
AT = alu("add", alu("mul", I0, index(3)), I1)
X = Load((IN, AT))
N = DefineVar((), "n", 0, 8)
ONE = const(1.0, f32)


def store(value: ScalarNode, where: ScalarNode = AT, *ranges: Any, to: Argument = OUT) -> Body:
    return Body((Store((to, where, value, *(ranges or (I0, I1)))),))


def part(where: ScalarNode) -> Body:
    return Body((Store((LARGE, where, ONE, I0, I1), True),))


def fold(value: ScalarNode, *ranges: Range) -> Reduce:
    return Reduce((value, *ranges), "sum")


def predicated(where: ScalarNode) -> Load:
    return Load((IN, where, alu("lt", I0, index(1))))


S = axis(4, 4, "serial")
TRUE = const(True, bool_)
LOCAL = Local((), 0, f32, 4)
K = axis(4, 5, "normal")
FILL = Store((LOCAL, K, ONE, K))
KEPT = After((LOCAL, FILL))
LANE = Range((index(4),), 6, "normal", 0, "vector")
OTHER = Range((index(4),), 7, "normal", 0, "vector")
L = axis(8, 10, "normal")
CORE = Range((index(6),), 8, "normal", 0, "core", (), 2)


def ranged(extent: int, part: tuple[int, ...] = (), level: Level = "loop", tasks: int = 0) -> Range:
    return Range((index(extent),), 9, "normal", 0, level, part, tasks)


def nested(where: ScalarNode, value: ScalarNode, *ranges: Any) -> Load:
    """An element of scratch memory that was filled so."""
    return Load((After((LOCAL, Store((LOCAL, where, value, *ranges)))), index(0)))


def joined(memory: ScalarNode, *ranges: Range, where: ScalarNode | None = None) -> Update:
    """Scratch memory, to which ones are added."""
    return Update((memory, where or ranges[-1], ONE, TRUE, *ranges), "add")


def halves(second: int, count: int = 3) -> Body:
    """Two stores: of the first three elements, and of some that begin at `second`."""
    first, other = ranged(3, (0,)), ranged(count, (2,))
    return Body((Store((OUT, first, ONE, first)),
                 Store((OUT, alu("add", other, index(second)), ONE, other))))  # fmt: skip


def masked(limit: int, where: ScalarNode | None = None) -> Body:
    """A store by 4 lanes, under a predicate."""
    outer, lane = ranged(2, (0,)), ranged(4, (1,), "vector")
    i = alu("add", times(outer, 4), lane)
    return Body((Store((OUT, where or i, ONE, outer, lane, alu("lt", i, index(limit)))),))


def times(each: ScalarNode, by: int) -> ScalarNode:
    return alu("mul", each, index(by))


def update(
    where: ScalarNode = S, predicate: ScalarNode = TRUE, *ranges: Any, op: str = "add", x: Any = ONE
) -> Body:
    """A store, and then an update of what it wrote."""
    nest = Update((OUT, where, x, predicate, *(ranges or (S,))), op)
    return Body((*store(X).sources, nest))


WRONG: tuple[tuple[int, Body, str, str, str], ...] = (
    (1, Body((ONE,)), "stands in the wrong place, at body", "const", "Store"),
    (1, store(Load((ONE, AT))), "stands in the wrong place, at load", "const", "Argument"),
    (1, store(IN), "stands in the wrong place, at store out", "in1", "Const or Range"),
    (1, store(ONE, AT, I0, AT), "stands in the wrong place, at store out", "add", "Range"),
    (1, store(fold(ONE, AT)), "stands in the wrong place, at reduce sum", "add", "Range"),
    (1, store(Load((IN, AT, const(True, bool_), AT))), "number of operands", "4", "2"),
    (2, store(alu("add", X)), "the number of operands is wrong", "1", "2"),
    (2, store(alu("relu", X)), "it is not a machine operation", "relu", "without an expansion"),
    (2, store(alu("add", X, AT)), "operands differ in type", "float32 int64", "one type"),
    (2, store(alu("xor", X, X)), "does not accept the type", "float32", "bool int uint"),
    (2, store(alu("where", X, X, X)), "the condition is not bool", "float32", "bool"),
    (2, store(Bitcast((AT,), f32)), "a bitcast changes the width", "float32", "64 bits"),
    (3, store(Load((IN, const(1, dtypes.int32)))), "the index is not int64", "int32", "int64"),
    (3, store(Load((IN, AT, AT))), "the predicate is not bool", "int64", "bool"),
    (4, store(AT), "a store writes another type", "int64", "float32"),
    (4, store(Load((Argument((), 0, f32, 6, False), AT))), "two arguments have one slot", "0", "a"),
    (4, store(ONE, to=Argument((), 1, f32, 6, True)), "slot 0 alone is written", "slot 1", "0"),
    (4, store(Load((OUT, I0))), "the wrong access", "load out", "the element that its one store"),
    (4, Body((*store(Load((OUT, AT))).sources, Update((OUT, S, ONE, TRUE, S), "add"))),
     "the wrong access", "load out", "the element that its one store"),
    (5, store(fold(ONE, Range((index(-1),), 9, "reduction"))), "extent is wrong", "(-1", "0 or"),
    (5, store(fold(ONE, Range((DefineVar((), "n", -1, 4),), 9, "reduction"))),
     "extent is", "-1", "0"),
    (5, store(fold(Cast((DefineVar((), "n", 0, 4),), f32), Range((N,), 9, "reduction"))),
     "variable n is not one", "(0, 8)", "one pair"),
    (5, store(fold(ONE, axis(4, 0, "reduction"))), "two ranges have one number", "0", "each"),
    (6, store(fold(ONE, axis(4, 9, "normal"))), "i9 has the wrong role", "normal", "reduction"),
    (6, store(ONE, AT, I0, I1, R), "r2 has the wrong role", "reduction", "normal"),
    (6, store(fold(alu("mul", fold(X, R), X), R)), "r2 belongs to two", "reduce sum", "one"),
    (6, store(ONE, AT, I0, I1, I1), "i1 belongs to two nests", "store out", "one"),
    (6, store(fold(X)), "a reduction over no range", "0", "1 or more"),
    (7, store(Load((IN, R))), "r2 is used outside its loop", "r2", "only i0, i1"),
    (7, store(alu("add", fold(Load((IN, R)), R), Load((IN, R)))), "outside its loop", "r2", "only"),
    (7, store(ONE, I1, I0), "i1 is used outside its loop", "i1", "only i0"),
    (8, store(Load((IN, alu("add", AT, index(1))))), "may be out", "bounds 1 … 6", "0 … 5"),
    (8, store(Load((IN, alu("sub", AT, index(1))))), "may be out", "bounds -1 … 4", "a predicate"),
    (8, store(Load((IN, Load((INTS, AT))))), "may be out", "without bounds", "inside"),
    (1, update(S, TRUE, S, AT), "stands in the wrong place, at update out", "add", "Range"),
    (3, update(const(1, dtypes.int32)), "the index is not int64", "int32", "int64"),
    (3, update(S, S), "the predicate is not bool", "int64", "bool"),
    (4, update(x=S), "a store writes another type", "int64", "float32"),
    (4, update(op="sum"), "no such update", "sum", "replace, add"),
    (4, Body(update().sources[1:]), "an update of what was not written", "no store", "a store"),
    (4, Body((*store(ONE).sources, Update((IN, S, ONE, TRUE, S), "add"))), "wrong access", "up",
     "read"),
    (6, update(I0, TRUE, axis(2, 7, "normal")), "i7 has the wrong role", "normal", "serial"),
    (7, update(R, TRUE, S), "r2 is used outside its loop", "r2", "only s4"),
    (8, update(alu("add", S, index(3))), "may be outside", "bounds 3 … 6", "0 … 5"),
    (8, update(Load((INTS, S)), alu("lt", S, index(1))), "may be outside", "without", "inside"),
    (9, store(ONE, I0, I0), "not run once per element", "2", "6"),
    (9, store(ONE, alu("add", alu("mul", I0, index(2)), I1)), "i0 has the wrong", "2", "3"),
    (9, store(ONE, alu("mul", I1, index(2))), "i0 has the wrong multiple", "0", "1"),
    (9, store(ONE, Load((INTS, AT))), "i0 has the wrong multiple", "0", "1"),
    (9, store(ONE, alu("add", AT, index(2))), "is not its ranges alone", "Alu", "a sum of ranges"),
    (1, store(After((IN, FILL))), "wrong place, at after", "in1", "Local"),
    (1, store(KEPT), "wrong place, at store out", "after", "Const"),
    (1, store(Load((After((LOCAL, ONE)), AT))), "wrong place, at after", "const", "Store"),
    (1, store(Load((After((Local((), 1, f32, 4), FILL)), I0))), "other memory",
     "local0", "scratch"),
    (1, store(ONE, AT, I0, I1, TRUE, TRUE), "a store has several predicates", "2", "one at most"),
    (3, store(nested(const(1, dtypes.int32), ONE)), "the index is not int64", "int32", "int64"),
    (4, store(nested(index(0), AT)), "a store writes another type", "int64", "float32"),
    (5, store(ONE, ranged(6), ranged(6), ranged(1, (0,))), "both tiled and", "i9",
     "parts"),
    (5, store(fold(X, Range((index(2),), 0, "reduction", 0, "loop", (1,)))), "is both tiled",
     "i0", "parts"),
    (1, store(fold(ONE, Range((Load((INTS, AT)),), 9, "reduction"))), "wrong place", "load",
     "Alu"),
    (5, store(fold(ONE, Range((alu("min", I0, index(2)),), 9, "reduction"))), "extent is",
     "i0", "constants and variables"),
    (6, store(nested(K, nested(K, ONE, K), K)), "i5 belongs to two", "store local0", "one of"),
    (7, store(nested(R, ONE)), "r2 is used outside its loop", "r2", "only i0, i1"),
    (8, store(Load((KEPT, AT))), "may be outside", "bounds 0 … 5", "0 … 3"),
    (8, store(nested(alu("add", K, index(1)), ONE, K)), "may be", "bounds 1 … 4", "0 … 3"),
    (8, store(nested(L, ONE, L, alu("lt", L, index(5)))), "may be", "bounds 0 … 4", "0 … 3"),
    (9, masked(5), "do not write each element", "5", "6, each once"),
    (9, masked(6, times(ranged(4, (1,), "vector"), 1)), "the predicate bounds no axes", "Alu",
     "a < N"),
    (9, Body((Store((OUT, alu("add", times(I0, 2), I1), ONE, I0, I1,
                     alu("lt", alu("add", times(I0, 2), I1), index(6)))),)),
     "the predicate bounds axes that overlap", "Alu", "multiples"),
    (9, halves(2), "two stores write one argument", "the same", "others"),
    (9, halves(3, 2), "do not write each element", "5", "6, each once"),
    (11, store(fold(ONE, Range((N,), 9, "reduction", 0, "unroll"))), "the trip count of an unroll",
     "(0, 8)", "from 1 to 64"),
    (11, store(ONE, LANE, LANE, OTHER), "lanes of two ranges", "i6, i7", "one"),
    (11, Body((*store(ONE).sources, joined(
        OUT, Range((index(2),), 9, "serial", 0, "unroll"), S))), "a loop inside", "s9, s4", "outs"),
    (11, Body((*store(ONE).sources, joined(
        OUT, Range((index(2),), 9, "serial", 0, "vector"), where=index(1)))),
     "lanes of s9 may hit one element", "s9", "a multiple"),
    (12, store(ONE, ranged(6, (), "core"), ranged(6, (), "core")), "of tasks", "0", "2 or"),
    (12, store(ONE, ranged(6, (), "loop", 2), ranged(6, (), "loop", 2)), "of tasks", "2",
     "0"),
    (12, store(ONE, alu("add", times(I0, 6), CORE), I0, CORE, to=Argument((), 0, f32, 12, True)),
     "i8 is inside", "store out", "outermost"),
    (12, store(nested(alu("min", CORE, index(3)), ONE, CORE)), "i8 is inside", "local0",
     "outermost"),
    (12, Body((*store(ONE).sources, joined(
        OUT, Range((index(2),), 9, "serial", 0, "core", (), 2), where=index(1)))),
     "iterations of s9 may hit one element", "s9", "apart"),
    (13, store(Load((LOCAL, index(0)))), "read before all effects", "none", "after all"),
    (13, store(alu("add", Load((KEPT, index(0))), Load((After((KEPT, joined(
        KEPT, axis(4, 9, "serial")))), index(0))))), "read before all",
     "update local0", "after all"),
    (13, store(Load((After((LOCAL, joined(LOCAL, axis(4, 9, "serial")))), index(0)))),
     "an update of what was not written", "no store", "a store"),
    (13, store(alu("add", Load((KEPT, index(0))), nested(index(0), ONE))), "before all", "store",
     "after"),
    (14, store(nested(index(0), Cast((LANE,), f32)), LANE, LANE), "depends on unrolled",
     "i6", "loops"),
)  # fmt: skip


@pytest.mark.parametrize(("number", "body", "problem", "got", "expected"), WRONG)
def test_broken_invariant(number: int, body: Body, problem: str, got: str, expected: str) -> None:
    with pytest.raises(InternalError) as caught:
        verify(body)
    assert caught.value.operation == "loops"
    assert caught.value.problem.startswith(f"invariant {number}: ")
    assert problem in caught.value.problem
    assert got in caught.value.got
    assert expected in caught.value.expected


def test_two_stores_to_one_argument() -> None:
    k = axis(6, 5, "normal")
    body = Body((*store(ONE).sources, Store((OUT, k, ONE, k))))
    with pytest.raises(InternalError, match="invariant 9: two stores write one argument"):
        verify(body)


def test_a_row_that_does_not_accept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reduction accepts every type today, so the row is narrowed for this test."""
    narrow = replace(REDUCTIONS["sum"], accepts=frozenset(("int",)))
    monkeypatch.setitem(REDUCTIONS, "sum", narrow)
    with pytest.raises(InternalError, match="invariant 6: the row does not accept the type"):
        verify(store(fold(X, R)))


def test_what_is_predicated_or_never_happens_is_right() -> None:
    verify(store(X))
    verify(store(predicated(alu("add", AT, index(1)))))
    empty, nothing = Argument((), 0, f32, 0, True), Argument((), 1, f32, 0, False)
    verify(store(Load((nothing, NEVER)), NEVER, NEVER, to=empty))


def test_a_load_outside_an_empty_loop_happens() -> None:
    """Placed in the outermost loop that it needs, such a load runs: it must be inside."""
    empty, nothing = Argument((), 0, f32, 0, True), Argument((), 1, f32, 0, False)
    with pytest.raises(InternalError, match=r"invariant 8: .* at load in1"):
        verify(store(Load((nothing, index(0))), NEVER, NEVER, to=empty))


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_programs_pass(name: str) -> None:
    for body in kernels(PROGRAMS[name]()):
        for form in forms(body):
            verify(form)


def test_functions_from_outside() -> None:
    """Invariant 10."""
    function = functions.Function("halved", "inline", lambda x: x / 2)
    scalar = functions.use(function, (), (functions.Type((), f32),), functions.Type((), f32)).symbol
    function = functions.Function("moved", "kernel", lambda x: x)
    flat = functions.Type((6,), f32)
    whole = functions.use(function, (), (flat,), flat).symbol
    verify(store(Custom((X,), scalar, f32)))
    verify(Body((Custom((OUT, IN), whole, None),)))
    wrong = (
        (store(Custom((X,), "nobody", f32)), "no such function"),
        (store(Custom((X,), whole, f32)), "a function in the wrong place"),
        (Body((Custom((OUT, IN), scalar, None),)), "a function in the wrong place"),
        (store(Custom((AT,), scalar, f32)), "the operands differ"),
        (Body((Custom((OUT,), whole, None),)), "the operands differ"),
        (Body((Custom((IN, OUT), whole, None),)), "not just the first argument is written"),
        (Body((*store(X).sources, Custom((OUT, IN), whole, None))), "or a statement does not"),
    )
    for body, problem in wrong:
        with pytest.raises(InternalError, match=f"invariant 10: .*{problem}"):
            verify(body)


def test_an_update_may_hit_an_element_often_or_never() -> None:
    verify(update())
    verify(update(index(2)))
    verify(update(S, alu("lt", S, index(2)), op="replace"))


def test_a_range_may_end_at_a_variable() -> None:
    verify(store(fold(Cast((N,), f32), Range((N,), 9, "reduction"))))


def test_kinds_of_values_are_values() -> None:
    verify(store(Cast((AT,), f32)))
    verify(store(Const((), 0, f32)))
    verify(store(fold(Cast((R,), f32), R)))


@pytest.mark.parametrize("name", BODIES)
def test_what_transformations_make_is_right(name: str) -> None:
    verify(BODIES[name]().body)


def test_a_range_may_belong_to_several_nests() -> None:
    verify(store(alu("add", fold(ONE, R), fold(X, R))))
    verify(halves(3))
    verify(store(nested(L, ONE, L, alu("lt", L, index(4)))))


@pytest.mark.parametrize("size", (19, 20, 22, 37, 39, 40))
def test_a_predicate_bounds_an_axis_whose_tiles_are_cut_again(size: int) -> None:
    """Tiles of 20 under a predicate, each in 3 times 6 elements and a rest of 2."""
    tile, third, one, rest = (ranged(n, part) for n, part in (
        (2, (0,)), (3, (1, 0)), (6, (1, 1)), (2, (1, 2))))  # fmt: skip
    row, to = axis(3, 1, "normal"), Argument((), 0, f32, 3 * size, True)

    def nest(*parts: tuple[ScalarNode, int], start: int = 0) -> Store:
        at: ScalarNode = index(start)
        for each, stride in parts:
            at = alu("add", at, times(each, stride))
        where = alu("add", times(row, size), at)
        loops = (row, *(each for each, _ in parts))
        return Store((to, where, ONE, *loops, alu("lt", at, index(size))))

    main = nest((tile, 20), (third, 6), (one, 1))
    verify(Body((main, nest((tile, 20), (rest, 1), start=18))))
    with pytest.raises(InternalError, match="invariant 9: the stores do not write each element"):
        verify(Body((main,)))
    with pytest.raises(InternalError, match="invariant 9: two stores "):
        verify(Body((main, nest((tile, 20), (rest, 1), start=17))))


def test_a_part_is_written_once() -> None:
    verify(store(Load((OUT, AT))))
    for right in (AT, alu("add", AT, index(7)), alu("add", times(I0, 7), times(I1, 3))):
        verify(part(right))
    wrong = {
        "invariant 9: i0 may write": alu("add", times(I0, 2), I1),
        "invariant 9: i1 may write": alu("add", times(I0, 2), times(I1, 2)),
        "invariant 9: the index is not": alu("add", AT, N),
        "invariant 8: ": alu("add", AT, index(55)),
    }
    for problem, where in wrong.items():
        with pytest.raises(InternalError, match=problem):
            verify(part(where))
