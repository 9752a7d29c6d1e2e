"""The operation tables agree with everything derived from them."""

import math
from typing import Any

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.dtypes import DType, Scalar
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.graph.decompose import decompose
from compiler.graph.nodes import Buffer, Elementwise, Sink, TensorNode
from compiler.graph.verify import verify
from compiler.llvm import operations
from compiler.llvm.writer import Writer
from compiler.ops.row import Op
from compiler.ops.table import OPS, REDUCTIONS, expand
from tests.evaluate import NUMPYS

every_operation = pytest.mark.parametrize("op", OPS.values(), ids=OPS)
EXPANDED = [op for op in OPS.values() if op.expansion]
MACHINE = [op for op in OPS.values() if not op.expansion]


def accepted(op: Op) -> list[DType]:
    return [dtype for dtype in NUMPYS if dtype.kind in op.accepts]


def applied(op: Op, dtype: DType) -> Elementwise:
    """The operation on inputs of the type; a choice has a truth value in front."""
    types = [dtype] * op.arity
    if op.has_condition:
        types[0] = dtypes.bool_
    return Elementwise(tuple(Buffer((), i, (3,), t) for i, t in enumerate(types)), op.name)


@every_operation
def test_a_row_is_found_by_its_name(op: Op) -> None:
    assert OPS[op.name] is op


@every_operation
def test_the_result_type_is_that_of_the_reference(op: Op) -> None:
    for dtype in accepted(op):
        node = applied(op, dtype)
        verify(Sink((node,)))
        operands = [np.ones(3, s.dtype.numpy) for s in node.sources]
        with np.errstate(all="ignore"):
            value = np.asarray(op.reference(*operands))
        assert value.dtype == node.dtype.numpy, dtype
        assert node.dtype is (dtypes.bool_ if op.result == "bool" else dtype)


@pytest.mark.parametrize("op", EXPANDED, ids=lambda op: op.name)
def test_expansions_reach_machine_operations(op: Op) -> None:
    for dtype in accepted(op):
        result = decompose(Sink((applied(op, dtype),)), Provenance())
        verify(result, is_decomposed=True)
        nodes: list[TensorNode] = toposort([result])
        names = {n.op for n in nodes if isinstance(n, Elementwise)}
        assert names and not any(OPS[name].expansion for name in names)


@pytest.mark.parametrize("op", EXPANDED, ids=lambda op: op.name)
def test_an_expansion_costs_what_its_row_says(op: Op) -> None:
    """Within a factor of two: the schedule weighs rows before and after they are expanded."""
    dtype = accepted(op)[-1]
    nodes: list[TensorNode] = toposort([decompose(Sink((applied(op, dtype),)), Provenance())])
    cost = sum(OPS[n.op].cost for n in nodes if isinstance(n, Elementwise))
    assert cost / 2 <= op.cost <= cost * 2, f"{op.name}: the expansion costs {cost}"


class Numbers:
    """Expansions built on NumPy numbers instead of nodes."""

    def op(self, name: str, *sources: Any) -> Any:
        return OPS[name].reference(*sources)

    def const(self, value: Scalar, like: Any) -> Any:
        return like.dtype.type(value)


@pytest.mark.parametrize("op", EXPANDED, ids=lambda op: op.name)
def test_expansions_compute_their_reference(op: Op) -> None:
    low, high = op.domain
    operands = np.random.default_rng(0).uniform(low, high, (op.arity, 1001))
    with np.errstate(all="ignore"):
        got, expected = expand(Numbers(), op.name, *operands), op.reference(*operands)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-300)


def test_a_machine_operation_has_no_expansion() -> None:
    with pytest.raises(KeyError, match="add"):
        expand(Numbers(), "add", 1, 2)


@pytest.mark.parametrize("op", MACHINE, ids=lambda op: op.name)
def test_machine_operations_can_be_emitted(op: Op) -> None:
    for dtype in accepted(op):
        writer = Writer()
        value = operations.emit(writer, op.name, dtype, ["%a", "%b", "%c"][: op.arity], "%v0")
        assert value and writer.lines


@pytest.mark.parametrize("name", REDUCTIONS)
def test_the_identity_of_a_reduction_changes_nothing(name: str) -> None:
    row = REDUCTIONS[name]
    assert row.name == name
    combine = OPS[row.combine]
    assert row.accepts <= combine.accepts
    for dtype in (d for d in NUMPYS if d.kind in row.accepts):
        values = [dtype.minimum, dtype.maximum, 0, 1]
        x = np.array([*values, math.nan] if dtype.is_float else values, dtype.numpy)
        identity = np.full(x.shape, row.identity(dtype), dtype.numpy)
        with np.errstate(all="ignore"):
            np.testing.assert_array_equal(combine.reference(x, identity), x, strict=True)
