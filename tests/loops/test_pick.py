"""A sum in which one iteration at most counts reads that iteration."""

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.core.dtypes import float32, int64
from compiler.core.node import toposort
from compiler.loops.nodes import Argument, Const, Load, Reduce, ScalarNode, alu, axis, const, index
from compiler.loops.pick import pick

ROW = axis(10, 1, "reduction")
SCORES = Argument((), 1, float32, 10, False)
CLASS = Load((Argument((), 2, int64, 1, False), index(0)))
ZERO = const(0.0, float32)


def total(condition: ScalarNode, value: ScalarNode, other: ScalarNode = ZERO) -> Reduce:
    """The sum over the row of the values for which a condition holds."""
    return Reduce((alu("where", condition, value, other), ROW), "sum")


def test_the_one_iteration_is_read_and_the_loop_is_gone() -> None:
    is_class = alu("eq", CLASS, ROW)
    found = pick.function(total(is_class, Load((SCORES, ROW))))
    assert found is not None and not any(isinstance(n, Reduce) for n in toposort([found]))
    (read,) = (n for n in toposort([found]) if isinstance(n, Load) and n.sources[0] is SCORES)
    assert read.sources[1].bounds == (0, 9)


@pytest.mark.parametrize("made", [
    total(alu("lt", CLASS, ROW), Load((SCORES, ROW))),
    total(alu("eq", CLASS, ROW), Load((SCORES, ROW)), const(1.0, float32)),
    total(alu("eq", alu("mul", ROW, ROW), ROW), Load((SCORES, ROW))),
    total(alu("or", alu("eq", CLASS, ROW), alu("lt", CLASS, index(3))), Load((SCORES, ROW))),
    Reduce((alu("where", alu("eq", CLASS, ROW), Load((SCORES, ROW)), ZERO), ROW), "max"),
    total(alu("eq", CLASS, ROW), Reduce((alu("mul", Load((SCORES, axis(10, 2, "reduction"))),
          Load((SCORES, ROW))), axis(10, 3, "reduction")), "sum")),
])  # fmt: skip
def test_sums_that_stay(made: Reduce) -> None:
    assert isinstance(made.sources[1].sources[0], Const)
    if made.op == "sum":
        assert pick.function(made) is None
    else:
        assert "max" not in {target[1] for target in pick.targets}


@pytest.mark.parametrize("loops", ["plain", "auto"])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (33, 10), (40, 17), (20, 131)])
def test_cross_entropy(shape: tuple[int, int], loops: str) -> None:
    random = np.random.default_rng(0)
    scores = random.standard_normal(shape).astype(np.float32)
    classes = random.integers(0, shape[1], shape[0]).astype(np.int32)
    classes[::4] = -100
    loss = Tensor(scores).cross_entropy(Tensor(classes), reduction="none")
    compiled = compile(loss, Options(loops=loops))  # type: ignore[arg-type]
    (found,) = compiled.run()
    logs = scores - np.log(np.exp(scores.astype(np.float64)).sum(1, keepdims=True))
    expected = np.where(classes < 0, 0, -logs[np.arange(shape[0]), classes.clip(0)])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert not np.signbit(found[classes < 0]).any()
    folds = [n for n in toposort([compiled._kernels[0].loops]) if isinstance(n, Reduce)]
    assert loops == "auto" or len(folds) == (2 if shape[1] > 1 else 0)


@pytest.mark.parametrize("classes", [[-1, 3, 10, 2**40], [0, 9, -(2**40), 5]])
def test_an_index_outside_counts_as_no_iteration(classes: list[int]) -> None:
    scores = np.arange(40, dtype=np.float32).reshape(4, 10) + 1
    hot = Tensor(np.array(classes)).unsqueeze(1) == Tensor.arange(10).cast("int64")
    result = hot.where(Tensor(scores), 0.0).sum(1).numpy()
    expected = [row[c] if 0 <= c < 10 else 0 for row, c in zip(scores, classes, strict=True)]
    np.testing.assert_array_equal(result, expected)
