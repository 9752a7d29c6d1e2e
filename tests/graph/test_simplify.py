"""Every simplification rule alone, on values that would expose an error, and near misses."""

from collections.abc import Sequence

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph.interpret import interpret
from compiler.graph.kinds.placement import Copy, Device
from compiler.graph.kinds.scan import Scan
from compiler.graph.nodes import (
    Bitcast,
    Buffer,
    Cast,
    Const,
    Contiguous,
    Expand,
    Flip,
    Iota,
    Pad,
    Permute,
    Reduce,
    Reshape,
    Shrink,
    Sink,
    TensorNode,
    const,
    elementwise,
)
from compiler.graph.simplify import RULES, simplify
from compiler.graph.verify import verify
from tests.evaluate import NUMPYS, samples

f16, f32, f64 = dtypes.float16, dtypes.float32, dtypes.float64
i8, i32, u8, bool_ = dtypes.int8, dtypes.int32, dtypes.uint8, dtypes.bool_
op = elementwise
X = Buffer((), 1, (3, 4), f32, "x")
D = Buffer((), 2, (3, 4), f64, "d")
N = Buffer((), 3, (3, 4), i32, "n")
C = Buffer((), 4, (3, 4), bool_, "c")
ROW = Buffer((), 5, (1, 4), f32, "row")
EMPTY = Buffer((), 6, (0, 4), f32, "empty")
WIDE = Buffer((), 7, (2, 3, 4), f32, "wide")
U = Buffer((), 8, (3, 4), u8, "u")
H = Buffer((), 9, (3, 4), f16, "h")
CPU, OTHER, THIRD = (Device((), name) for name in ("CPU", "CPU:1", "CPU:2"))


def full(value: float, like: TensorNode) -> Const:
    return const(value, like.dtype, like.shape)


TABLE: tuple[tuple[str, TensorNode, TensorNode], ...] = (
    ("fold_constants", op("add", full(2, X), full(3, X)), full(5, X)),
    ("fold_constants", op("sqrt", full(-1, X)), op("sqrt", full(-1, X))),
    ("fold_constants", op("idiv", full(7, N), full(0, N)), full(0, N)),
    ("fold_constants", op("add", full(127, U), full(200, U)), full(71, U)),
    ("fold_constants", op("fdiv", full(1, X), full(-0.0, X)), full(float("-inf"), X)),
    ("fold_constants", op("lt", full(1, X), full(2, X)), full(True, C)),
    ("multiply_by_one", op("mul", X, full(1, X)), X),
    ("multiply_by_one", op("mul", full(1, N), N), N),
    ("multiply_by_zero", op("mul", N, full(0, N)), full(0, N)),
    ("multiply_by_zero", op("mul", full(False, C), C), full(False, C)),
    ("add_zero", op("add", N, full(0, N)), N),
    ("add_zero", op("add", full(-0.0, X), X), X),
    ("add_zero", op("add", C, full(False, C)), C),
    ("subtract_zero", op("sub", X, full(0.0, X)), X),
    ("subtract_zero", op("sub", N, full(0, N)), N),
    ("divide_by_one", op("fdiv", D, full(1, D)), D),
    ("cancel_twice", op("neg", op("neg", X)), X),
    ("cancel_twice", op("neg", op("neg", N)), N),
    ("cancel_twice", op("not", op("not", C)), C),
    ("same_operands", op("max", X, X), X),
    ("same_operands", op("min", N, N), N),
    ("same_operands", op("and", U, U), U),
    ("same_operands", op("or", C, C), C),
    ("decided_choice", op("where", full(True, C), X, op("exp", X)), X),
    ("decided_choice", op("where", full(False, C), op("exp", X), X), X),
    ("decided_choice", op("where", C, X, X), X),
    ("power_of_two", op("pow", X, full(2, X)), op("mul", X, X)),
    ("power_of_two", op("pow", N, full(2, N)), op("mul", N, N)),
    ("power_of_two", op("pow", X, full(1, X)), X),
    ("cast_to_itself", Cast((X,), f32), X),
    ("cast_constant", Cast((full(300.7, X),), u8), full(255, U)),
    ("cast_constant", Cast((full(float("nan"), X),), i32), full(0, N)),
    ("cast_constant", Cast((full(1e5, X),), f16), full(float("inf"), H)),
    ("move_constant", Permute((const(1.5, f32, (2, 3)),), (1, 0)), const(1.5, f32, (3, 2))),
    ("move_constant", Expand((const(-0.0, f32, (1, 4)),), (3, 4)), full(-0.0, X)),
    ("move_nothing", Reshape((X,), (3, 4)), X),
    ("move_nothing", Expand((X,), (3, 4)), X),
    ("move_nothing", Shrink((X,), ((0, 3), (0, 4))), X),
    ("move_nothing", Pad((X,), ((0, 0), (0, 0))), X),
    ("pad_narrow", Pad((Cast((H,), f32),), ((1, 0), (0, 2))),
     Cast((Pad((H,), ((1, 0), (0, 2))),), f32)),
    ("reshape_twice", Reshape((Reshape((X,), (12,)),), (4, 3)), Reshape((X,), (4, 3))),
    ("permute_nothing", Permute((X,), (0, 1)), X),
    (
        "permute_twice",
        Permute((Permute((WIDE,), (1, 2, 0)),), (0, 2, 1)),
        Permute((WIDE,), (1, 0, 2)),
    ),
    (
        "expand_twice",
        Expand((Expand((Reshape((X,), (3, 1, 4, 1)),), (3, 2, 4, 1)),), (3, 2, 4, 5)),
        Expand((Reshape((X,), (3, 1, 4, 1)),), (3, 2, 4, 5)),
    ),
    ("copy_to_itself", Copy((X, CPU)), X),
    ("copy_twice", Copy((Copy((X, OTHER)), THIRD)), Copy((X, THIRD))),
    ("contiguous_scan", Contiguous((Scan((X,), "sum", 1),)), Scan((X,), "sum", 1)),
    ("flip_twice", Flip((Flip((X,), (1,)),), (1,)), X),
    ("flip_twice", Flip((ROW,), (0,)), ROW),
    (
        "shrink_twice",
        Shrink((Shrink((X,), ((1, 3), (0, 3))),), ((1, 2), (1, 3))),
        Shrink((X,), ((2, 3), (1, 3))),
    ),
    ("reduce_one_element", Reduce((ROW,), "max", (0,)), ROW),
    ("reduce_nothing", Reduce((EMPTY,), "sum", (0,)), const(0.0, f32, (1, 4))),
    ("reduce_nothing", Reduce((EMPTY,), "prod", (0,)), const(1.0, f32, (1, 4))),
    (
        "reduce_twice",
        Reduce((Reduce((X,), "max", (1,)),), "max", (0,)),
        Reduce((X,), "max", (0, 1)),
    ),
    (
        "reduce_twice",
        Reduce((Reduce((N,), "sum", (0,)),), "sum", (1,)),
        Reduce((N,), "sum", (0, 1)),
    ),
)  # fmt: skip


NO_MATCH: dict[str, TensorNode] = {
    "x + 0.0 turns -0.0 into 0.0": op("add", X, full(0.0, X)),
    "0.0 + x": op("add", full(0.0, X), X),
    "0.0 - x": op("sub", full(0.0, X), X),
    "x - -0.0 turns -0.0 into 0.0": op("sub", X, full(-0.0, X)),
    "0 - n": op("sub", full(0, N), N),
    "x * 0 is NaN for infinities": op("mul", X, full(0.0, X)),
    "x * -0": op("mul", X, full(-0.0, X)),
    "x * -1": op("mul", X, full(-1, X)),
    "x - x is NaN for infinities": op("sub", X, X),
    "x / x is NaN for zeros": op("fdiv", X, X),
    "x == x is false for NaN": op("eq", X, X),
    "1 / x": op("fdiv", full(1, X), X),
    "x / 2": op("fdiv", X, full(2, X)),
    "n // 1 is left to LLVM": op("idiv", N, full(1, N)),
    "c and true, written as a product": op("mul", C, op("not", C)),
    "max(x, n)": op("max", X, op("neg", X)),
    "x or'ed with itself by xor": op("xor", N, N),
    "-(not x)": op("neg", op("not", N)),
    "1 / (1 / x) rounds twice": op("recip", op("recip", X)),
    "sqrt(x) ** 2": op("square", op("sqrt", X)),
    "x ** 0 with another base": op("pow", full(2, X), X),
    "x ** 3": op("pow", X, full(3, X)),
    "x ** 0.5 differs at -0.0 and -inf": op("pow", X, full(0.5, X)),
    "x ** 0": op("pow", X, full(0, X)),
    "where(c, a, b)": op("where", C, X, op("neg", X)),
    "where(c, 0.0, -0.0)": op("where", C, full(0.0, X), full(-0.0, X)),
    "a cast there and back": Cast((Cast((X,), i8),), f32),
    "a widening there and back": Cast((Cast((X,), f64),), f32),
    "bits there and back": Bitcast((Bitcast((X,), i32),), f32),
    "a padded constant": Pad((const(1.0, f32, (2, 2)),), ((1, 0), (0, 0))),
    "a padded zero": Pad((const(0.0, f32, (2, 2)),), ((1, 0), (0, 0))),
    "a constant's bits": Bitcast((full(1.0, X),), i32),
    "a counter cast": Cast((Iota((), 4, dtypes.int64),), f32),
    "reshape of a permute": Reshape((Permute((X,), (1, 0)),), (3, 4)),
    "permute of equal extents": Permute((Buffer((), 20, (4, 4), f32),), (1, 0)),
    "flips of two axes": Flip((Flip((X,), (0,)),), (1,)),
    "flips that overlap": Flip((Flip((X,), (0,)),), (0, 1)),
    "pad of a pad": Pad((Pad((X,), ((1, 0), (0, 0))),), ((0, 1), (0, 0))),
    "shrink of a pad": Shrink((Pad((X,), ((1, 0), (0, 0))),), ((1, 4), (0, 4))),
    "sum of a maximum": Reduce((Reduce((X,), "max", (1,)),), "sum", (0,)),
    "maximum of a minimum": Reduce((Reduce((X,), "min", (1,)),), "max", (0,)),
    "sum of a broadcast": Reduce((Expand((ROW,), (3, 4)),), "sum", (0,)),
    "sum of a constant": Reduce((full(0.1, X),), "sum", (0,)),
    "an empty axis of an empty result": Reduce((EMPTY,), "sum", (1,)),
}


def values(node: Buffer) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    """Values that tell: NaN, infinities, zeros of both signs, limits."""
    return np.resize(samples(node.dtype), node.shape)


def bits(arrays: Sequence[np.ndarray[tuple[int, ...], np.dtype[np.generic]]]) -> list[bytes]:
    return [array.tobytes() for array in arrays]


def simplified(node: TensorNode) -> tuple[TensorNode, list[str]]:
    """The result, verified and computed on telling values, and the rules that matched."""
    root = Sink((node,))
    verify(root)
    matches: list[Match] = []
    result = simplify(root, Provenance(), matches)
    verify(result)
    inputs = {n: values(n) for n in toposort([root]) if isinstance(n, Buffer)}
    before, after = interpret(root.sources, inputs), interpret(result.sources, inputs)
    assert before[0].dtype == after[0].dtype and before[0].shape == after[0].shape
    assert bits(before) == bits(after), f"{before[0]} became {after[0]}"
    return result.sources[0], [match.rule for match in matches]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    TABLE,
    ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(TABLE)],
)
def test_a_rule_matches_alone(name: str, before: TensorNode, after: TensorNode) -> None:
    result, matched = simplified(before)
    assert matched == [name]
    if result is not after:  # NaN: only its kind is known here, its sign is the machine's
        assert isinstance(result, Const) and result.value != result.value


@pytest.mark.parametrize("node", NO_MATCH.values(), ids=NO_MATCH)
def test_what_only_looks_like_a_rule_stays(node: TensorNode) -> None:
    result, matched = simplified(node)
    assert matched == []
    assert result is node


def test_every_rule_is_in_the_table() -> None:
    apart = {"simplify_body"}  # tests/schedule/test_user_kernels.py
    assert {name for name, _, _ in TABLE} | apart == {rule.name for rule in RULES.rules}


def test_rules_say_their_algebra() -> None:
    assert all(rule.algebra and "=" in rule.algebra for rule in RULES.rules if "moved" not in
               rule.algebra)  # fmt: skip
    assert len({rule.name for rule in RULES.rules}) == len(RULES.rules)


def test_rules_work_together() -> None:
    """((x * 1) reshaped and back, flipped twice) ** 1, cast to its own type."""
    node: TensorNode = op("mul", X, full(1, X))
    node = Reshape((Reshape((node,), (12,)),), (3, 4))
    node = Flip((Flip((node,), (0, 1)),), (0, 1))
    node = Cast((op("pow", node, op("add", full(0, X), full(1, X))),), f32)
    result, matched = simplified(node)
    assert result is X
    assert set(matched) == {
        "multiply_by_one", "reshape_twice", "move_nothing", "flip_twice", "fold_constants",
        "power_of_two", "cast_to_itself",
    }  # fmt: skip


@pytest.mark.parametrize("dtype", NUMPYS, ids=lambda d: d.short)
def test_folded_constants_have_the_bits_of_the_reference(dtype: dtypes.DType) -> None:
    """Every operation that a type accepts, on pairs of telling constants."""
    from compiler.ops.table import OPS

    telling = [const(value.item(), dtype) for value in samples(dtype)]
    for row in OPS.values():
        if dtype.kind not in row.accepts or row.arity == 3:
            continue
        for first, second in zip(telling, [*telling[5:], *telling[:5]], strict=True):
            node = op(row.name, *(first, second)[: row.arity])
            simplified(node)
