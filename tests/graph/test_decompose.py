"""decompose: every operation with an expansion is expanded, and computes the same."""

import inspect

import numpy as np
import pytest

from compiler.core import dtypes
from compiler.core.node import toposort
from compiler.core.trace import Match, Provenance
from compiler.graph.decompose import EXPANDED as EXPANDED_KINDS
from compiler.graph.decompose import RULES, decompose
from compiler.graph.interpret import interpret
from compiler.graph.kinds.kernel import Kernel
from compiler.graph.nodes import (
    Bind,
    Buffer,
    Elementwise,
    Sink,
    TensorNode,
    Threefry,
    const,
    elementwise,
)
from compiler.graph.verify import verify
from compiler.graph.widen import RULES as WIDENING
from compiler.ops.table import OPS
from tests.evaluate import NUMPYS, samples

EXPANDED = [row.name for row in OPS.values() if row.expansion]
DTYPES = [
    (name, dtype) for name in EXPANDED for dtype in NUMPYS if dtype.kind in OPS[name].accepts
]


def test_there_is_a_rule_per_expansion() -> None:
    rules = {rule.targets: rule for rule in RULES.rules}
    threefry, kernel, unbind = rules[(Threefry,)], rules[(Kernel,)], rules[(Bind,)]
    kinds = [rules[(kind,)] for kind in EXPANDED_KINDS]
    others = (threefry, kernel, unbind, *kinds, *WIDENING)
    rows = [rule for rule in RULES.rules if rule not in others]
    assert [rule.targets for rule in rows] == [((Elementwise, n),) for n in EXPANDED]
    assert [rule.name for rule in rows] == EXPANDED
    assert all(r.algebra.startswith(f"{r.name}(") and " = " in r.algebra for r in rows)
    assert all(r.source.startswith("compiler/ops/table.py:") for r in rows)
    for kind, rule in zip(EXPANDED_KINDS, kinds, strict=True):
        assert rule.name == (kind.name_in_print or kind.__name__.lower())
        assert rule.algebra.startswith(rule.name) and " = " in rule.algebra
        assert inspect.getsourcefile(kind).endswith(rule.source.partition(":")[0])
    # what the others mean is tested in test_kernel.py, test_random.py, test_variables.py


@pytest.mark.parametrize(("name", "dtype"), DTYPES, ids=lambda p: getattr(p, "short", p))
def test_the_expansion_computes_the_same(name: str, dtype: dtypes.DType) -> None:
    """Exactly for integers; floats within a few roundings, special values as they are."""
    inputs = [Buffer((), 1 + place, (24,), dtype) for place in range(OPS[name].arity)]
    matches: list[Match] = []
    root = decompose(Sink((elementwise(name, *inputs),)), Provenance(), matches)
    verify(root, is_decomposed=True)
    assert [m.rule for m in matches] == [name]
    low, high = OPS[name].domain
    ordinary = np.linspace(max(low, 0) if dtype.kind == "uint" else low, high, 12)
    values = np.concatenate([samples(dtype), ordinary.astype(dtype.numpy)])
    operands = [np.roll(values, 5 * place) for place in range(len(inputs))]
    (got,) = interpret(root.sources, dict(zip(inputs, operands, strict=True)))
    with np.errstate(all="ignore"):
        expected = OPS[name].reference(*operands)
    if dtype.is_float:
        tiny, eps = (float(v) for v in (np.finfo(values.dtype).tiny, np.finfo(values.dtype).eps))
        # a rounding of an exponent near 100 is as many roundings of its power
        np.testing.assert_allclose(got, expected, rtol=128 * eps, atol=tiny, strict=True)
    else:
        np.testing.assert_array_equal(got, expected, strict=True)


def test_constants_take_shape_and_type_of_the_operand() -> None:
    x = Buffer((), 1, (2, 3), dtypes.float16)
    (result,) = decompose(Sink((elementwise("relu", x),)), Provenance()).sources
    assert result is elementwise("max", x, const(0, dtypes.float16, (2, 3)))


def test_expansions_inside_expansions_are_expanded() -> None:
    x: TensorNode = Buffer((), 1, (4,), dtypes.float32)
    for name in EXPANDED:
        x = elementwise(name, *(x,) * OPS[name].arity)
    result = decompose(Sink((x,)), Provenance())
    verify(result, is_decomposed=True)
    nodes: list[TensorNode] = toposort([result])
    assert not {n.op for n in nodes if isinstance(n, Elementwise)} & set(EXPANDED)


def test_machine_operations_are_left_alone() -> None:
    x = Buffer((), 1, (4,), dtypes.float32)
    root = Sink((elementwise("exp", elementwise("add", x, x)),))
    matches: list[Match] = []
    assert decompose(root, Provenance(), matches) is root
    assert matches == []
