"""Variable axes in models: ONNX's cases with axis 0 a variable below its maximum; one compilation
for all values."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import compiler
from compiler import DataError, Tensor, Variable
from compiler.core.errors import CompileError, InternalError
from tests.evaluate import ENGINES
from tests.imported.onnx.test_program import CASES, arrays, compare

pytestmark = pytest.mark.filterwarnings("ignore")
Array = np.ndarray[Any, Any]
CHUNKS = 8
LEAST_SHARE = 0.88
"""Of the cases that are read. Of all 1,884 of ONNX 1.23 1,472 pass so, with those that are written
in other operators (`_expanded`), which are left out here."""


def _is_row(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0 and value.shape[0] > 0


def _chosen(values: list[Any], is_shared: bool) -> list[int]:
    """The first input with rows; of more inputs all that have as many, where they share them."""
    rows = [place for place, value in enumerate(values) if _is_row(value)]
    count = len(values[rows[0]]) if rows else 0
    return [place for place in rows[: None if is_shared else 1] if len(values[place]) == count]


def _passes(case: Any, is_shared: bool) -> bool:
    """True if all data sets give the expected results; raises `AssertionError` otherwise."""
    chosen = _chosen(arrays(case.data_sets[0][0]), is_shared)
    model = type(case.model)()
    model.CopyFrom(case.model)
    for place in chosen:
        model.graph.input[place].type.tensor_type.shape.dim[0].dim_param = "n"
    program = compiler.from_onnx(model)
    for inputs, outputs in case.data_sets:
        values = arrays(inputs)
        rows = len(values[chosen[0]])
        n = Variable("n", rows, rows + 2)
        for place in chosen:
            values[place] = Tensor(values[place], symbolic={0: n})
        for tensor, wanted in zip(program(*values).values(), arrays(outputs), strict=True):
            (got,) = ENGINES["graph"]([tensor.node])
            compare(case, got, np.asarray(wanted))
    return True


def _outcome(case: Any) -> str:
    try:
        compiler.from_onnx(case.model)
    except CompileError:
        return "unread"
    if not _chosen(arrays(case.data_sets[0][0]), False):
        return "no axis"
    for is_shared in (False, True):
        try:
            return "passes" if _passes(case, is_shared) else ""
        except InternalError:
            raise
        except CompileError:
            continue
    return "refused"


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_cases_with_a_variable_axis(chunk: int) -> None:
    """No case gives anything else than what is expected, and few are refused."""
    cases = [case for case in CASES[chunk::CHUNKS] if not case.name.endswith("_expanded")]
    found = Counter(map(_outcome, cases))
    assert found["passes"] >= LEAST_SHARE * (len(cases) - found["no axis"] - found["unread"]), found


def _model(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], **given: Any) -> Any:
    described = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in each.items()]
        for each in (inputs, outputs)
    ]
    constants = [numpy_helper.from_array(array, name) for name, array in given.items()]
    graph = helper.make_graph(nodes, "test", *described, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)])


def _attention() -> Any:
    """Heads split and joined by the shapes that the model computes, as exporters write it."""
    make = helper.make_node
    nodes = [
        make("Shape", ["x"], ["shape"]), make("Gather", ["shape", "zero"], ["batch"]),
        make("Gather", ["shape", "one"], ["length"]),
        make("Unsqueeze", ["batch", "axes"], ["b"]), make("Unsqueeze", ["length", "axes"], ["l"]),
        make("Concat", ["b", "l", "heads"], ["split"], axis=0),
        make("Mul", ["b", "l"], ["rows"]), make("Concat", ["rows", "width"], ["flat"], axis=0),
        make("Reshape", ["x", "flat"], ["x2"]), make("MatMul", ["x2", "w"], ["h2"]),
        make("Concat", ["b", "l", "width"], ["joined"], axis=0),
        make("Reshape", ["h2", "joined"], ["h"]),
        make("Reshape", ["h", "split"], ["h4"]),
        make("Transpose", ["h4"], ["q"], perm=[0, 2, 1, 3]),
        make("Transpose", ["h4"], ["k"], perm=[0, 2, 3, 1]), make("MatMul", ["q", "k"], ["s"]),
        make("Softmax", ["s"], ["p"], axis=-1), make("MatMul", ["p", "q"], ["o"]),
        make("Transpose", ["o"], ["o4"], perm=[0, 2, 1, 3]),
        make("Reshape", ["o4", "joined"], ["y"]),
    ]  # fmt: skip
    numbers = {"zero": 0, "one": 1, "axes": [0], "heads": [2, 4], "width": [8]}
    constants = {name: np.array(value, np.int64) for name, value in numbers.items()}
    weight = np.random.default_rng(3).standard_normal((8, 8)).astype("f4") / 4
    shape = ["batch", "length", 8]
    return _model(nodes, {"x": shape}, {"y": shape}, w=weight, **constants)


def _expected(x: Array, weight: Array) -> Array:
    h = (x @ weight).reshape(*x.shape[:2], 2, 4).transpose(0, 2, 1, 3)
    powers = np.exp(h @ h.transpose(0, 1, 3, 2))
    made = powers / powers.sum(-1, keepdims=True) @ h
    return np.asarray(made.transpose(0, 2, 1, 3).reshape(x.shape))


def test_one_compilation_serves_all_lengths_and_batches() -> None:
    model = _attention()
    program = compiler.from_onnx(model, {"batch": (1, 4), "length": (1, 9)})
    weight = numpy_helper.to_array(model.graph.initializer[0])
    rng = np.random.default_rng(5)
    misses = []
    for batch, length in ((1, 1), (2, 7), (4, 9), (3, 2), (1, 8)):
        x = rng.standard_normal((batch, length, 8)).astype("f4")
        tensor = program(x)["y"]
        np.testing.assert_allclose(tensor.numpy(), _expected(x, weight), 1e-4, 1e-5)
        compiled = compiler.compile(program(x)["y"])
        assert compiled.check().ok
        misses.append(compiler.cache_info().schedules.misses)
    assert len(set(misses)) == 1


def test_what_a_name_without_bounds_means() -> None:
    program = compiler.from_onnx(_attention(), {"batch": (1, 4)})
    assert program(np.ones((2, 3, 8), np.float32))["y"].shape == (4, 3, 8)
    with pytest.raises(DataError, match="variable batch is outside its bounds"):
        program(np.ones((5, 3, 8), np.float32))


def test_what_counts_elements_is_refused_in_words() -> None:
    nodes = [helper.make_node("Resize", ["x", "", "scales"], ["y"], mode="linear")]
    model = _model(nodes, {"x": [1, 1, "n"]}, {"y": [1, 1, "m"]},
                   scales=np.array([1, 1, 2], np.float32))  # fmt: skip
    program = compiler.from_onnx(model, {"n": (2, 8)})
    with pytest.raises(DataError, match="Resize: it needs axes of fixed extent"):
        program(np.ones((1, 1, 4), np.float32))
