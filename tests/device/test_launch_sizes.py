"""Ruling 24: launch sizes are evaluated exactly, or refused with the expression printed."""

import re

import pytest

from compiler.core.dtypes import DType, bool_, float32, int32, int64, uint8, uint64
from compiler.core.errors import CompileError
from compiler.device.launch_sizes import (
    LaunchDims,
    ProgramError,
    evaluate,
    printed,
    resolve_launch_dims,
    size_of,
)
from compiler.loops.by_hand import Bind, Special
from compiler.loops.nodes import (
    After,
    Bitcast,
    Cast,
    DefineVar,
    Range,
    ScalarNode,
    alu,
    const,
    index,
)

N = DefineVar((), "n", 1, 100)
MIN, MAX = -(2**63), 2**63 - 1
BIG = DefineVar((), "big", MIN, MAX)


def both(op: str, a: int, b: int) -> ScalarNode:
    return alu(op, index(a), index(b))


VALUES = {
    "constant": (index(7), 7),
    "negative constant": (index(-7), -7),
    "bool constant": (const(True, bool_), 1),
    "unsigned constant": (const(2**63 - 1, uint64), MAX),
    "variable": (N, 12),
    "bind evaluates its value": (Bind((N, both("add", 30, 4))), 34),
    "add": (both("add", 7, -3), 4),
    "sub": (both("sub", 7, -3), 10),
    "mul": (both("mul", 7, -3), -21),
    "idiv truncates": (both("idiv", -7, 2), -3),
    "idiv by a negative": (both("idiv", 7, -2), -3),
    "idiv of negatives": (both("idiv", -7, -2), 3),
    "mod has the sign of the dividend": (both("mod", -7, 2), -1),
    "mod by a negative": (both("mod", 7, -2), 1),
    "max": (both("max", -7, 2), 2),
    "neg": (alu("neg", index(5)), -5),
    "abs": (alu("abs", index(-5)), 5),
    "cast changes nothing": (Cast((index(300),), uint8), 300),
    "bitcast changes nothing": (Bitcast((index(-1),), uint64), -1),
    "after changes nothing": (After((index(9), index(1))), 9),
    "largest": (both("add", MAX - 1, 1), MAX),
    "least": (both("sub", MIN + 1, 1), MIN),
    "ceiling": (alu("idiv", alu("add", N, index(3)), index(4)), 3),
}


@pytest.mark.parametrize(("size", "expected"), VALUES.values(), ids=VALUES)
def test_ruling_24_what_launch_sizes_are(size: ScalarNode, expected: int) -> None:
    assert evaluate(size, {"n": 12}) == expected


REFUSED = {
    "variable without value": (DefineVar((), "m", 0, 9), "no value for variable m, in m"),
    "variable below its bounds": (DefineVar((), "n", 13, 20), "variable n is outside its bounds"),
    "variable above its bounds": (DefineVar((), "n", 0, 11), "variable n is outside its bounds"),
    "bind outside bounds": (
        Bind((N, index(101))), "variable n is outside its bounds, in bind(n = 101)"
    ),
    "bind of no variable": (Bind((index(1), index(1))), "only a variable can be bound"),
    "float": (const(2.0, float32), "not a float, in 2.0"),
    "unsigned constant over i64": (const(2**63, uint64), "constant does not fit"),
    "add overflows": (both("add", MAX, 1), f"overflows 64-bit integers, in {MAX} + 1"),
    "sub overflows": (both("sub", MIN, 1), f"overflows 64-bit integers, in {MIN} - 1"),
    "mul overflows": (both("mul", 2**32, 2**31), "overflows 64-bit integers"),
    "mul overflows below": (both("mul", -(2**32), 2**31 + 1), "overflows 64-bit integers"),
    "neg overflows": (alu("neg", index(MIN)), f"overflows 64-bit integers, in neg({MIN})"),
    "abs overflows": (alu("abs", index(MIN)), f"overflows 64-bit integers, in abs({MIN})"),
    "MIN / -1": (both("idiv", MIN, -1), f"overflows 64-bit integers, in {MIN} // -1"),
    "MIN % -1": (both("mod", MIN, -1), f"overflows 64-bit integers, in {MIN} % -1"),
    "idiv by zero": (alu("idiv", N, index(0)), "division by zero in a launch size, in n // 0"),
    "mod by zero": (alu("mod", N, index(0)), "division by zero in a launch size, in n % 0"),
    "overflow on the way": (
        alu("sub", both("add", MAX, 1), index(5)), f"overflows 64-bit integers, in ({MAX} + 1) - 5"
    ),
    "min": (both("min", 1, 2), "operation min is not allowed in a launch size, in min(1, 2)"),
    "shl": (both("shl", 1, 2), "operation shl is not allowed in a launch size, in shl(1, 2)"),
    "fdiv": (alu("fdiv", const(1.0, float32), const(2.0, float32)), "operation fdiv is not"),
    "not": (alu("not", index(1)), "operation not is not allowed"),
    "a loop counter": (Range((index(4),), 0, "normal"), "Range is not allowed in a launch size"),
    "a launch index": (Special((index(4),), "gidx0"), "Special is not allowed in a launch size"),
}  # fmt: skip


@pytest.mark.parametrize(("size", "message"), REFUSED.values(), ids=REFUSED)
def test_ruling_24_what_launch_sizes_are_not(size: ScalarNode, message: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(message)) as caught:
        evaluate(size, {"n": 12})
    assert isinstance(caught.value, CompileError)
    assert printed(size) in str(caught.value)


@pytest.mark.parametrize("value", [0, -1, MIN])
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_ruling_24_a_value_of_0_or_less_is_refused(value: int, axis: int) -> None:
    sizes = [index(1)] * 3
    sizes[axis] = BIG
    size = (sizes[0], sizes[1], sizes[2])
    with pytest.raises(ProgramError, match=rf"global size {axis} is not above 0, in big"):
        resolve_launch_dims(size, None, {"big": value})
    with pytest.raises(ProgramError, match=rf"local size {axis} is not above 0, in big"):
        resolve_launch_dims(size_of(), size, {"big": value})


def test_sizes_follow_the_values_of_a_run() -> None:
    size = (alu("mul", N, index(4)), index(2), N)
    got = [resolve_launch_dims(size, size_of(8), {"n": n}).global_size for n in (1, 5)]
    assert got == [(4, 2, 1), (20, 2, 5)]
    assert resolve_launch_dims(size_of(3), None) == LaunchDims((3, 1, 1), None)
    assert resolve_launch_dims(size_of(), size_of(8)).local_size == (8, 1, 1)


def test_bind_does_not_need_a_value_for_its_variable() -> None:
    assert evaluate(Bind((N, index(3))), {}) == 3
    assert evaluate(Bind((N, index(3))), {"n": 99}) == 3


def test_a_value_has_to_be_a_whole_number() -> None:
    wrong: dict[str, object] = {"n": 2.0}
    with pytest.raises(ProgramError, match="variable n is no whole number"):
        evaluate(N, wrong)  # type: ignore[arg-type]


def test_deep_and_wide_expressions() -> None:
    """100,000 levels need no recursion; a DAG that unfolds to 2^60 terms stays a DAG."""
    deep: ScalarNode = index(0)
    for _ in range(100_000):
        deep = alu("add", deep, index(1))
    assert evaluate(deep, {}) == 100_000
    wide: ScalarNode = index(1)
    for _ in range(60):
        wide = alu("add", wide, wide)
    assert evaluate(wide, {}) == 2**60
    assert len(printed(wide)) <= 400


@pytest.mark.parametrize("dtype", [int32, int64, bool_], ids=str)
def test_new_nodes_know_their_types_and_bounds(dtype: DType) -> None:
    value = const(1, dtype)
    assert (N.dtype, N.bounds) == (int64, (1, 100))
    assert After((value, index(0))).dtype == dtype
    assert Bind((N, value)).bounds == (1, 1)
    assert Special((N,), "gidx0").bounds == (0, 99)
