"""`from_onnx`: ONNX's own cases of every operator, and models that are broken or hostile."""

import os
import re
import warnings
import zlib
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.backend.test.case.node import collect_testcases

import compiler
from compiler import DataError, Tensor
from compiler.core import dtypes
from compiler.core.errors import CompileError
from compiler.imported.constants import leaves
from compiler.imported.onnx.call import OPERATORS
from tests.evaluate import ENGINES
from tests.imported.reached import reaching

pytestmark = pytest.mark.filterwarnings("ignore")
Array = np.ndarray[Any, Any]
LEAST = 1e-3
"""Relative error that is allowed at least: ONNX's own."""
OTHER_ROUNDING = (
    (re.compile(r"attention_\dd_\w*(bf16|fp16)|celu_bfloat16"), 2**-6, 2**-8),
    (re.compile(r"dft_inverse"), LEAST, 1e-6),
)
"""Cases whose expected values round after each step, in 16 bits, or to 2e-7 where they should be 0;
here sums are kept in a wider type, and results are rounded once. What they are held to instead."""
REFUSED = {
    "strings, sequences, optionals": r"_string|strnorm|regex|_seq|_to_sequence|_opt",
    "training and random numbers": r"adam|adagrad|momentum|training|bernoulli|random",
    "of ai.onnx.ml": r"ai_onnx_ml",
}  # fmt: skip
"""Cases that are refused in words, by reason; every other case passes."""


def _collected() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they compute what overflows on purpose
        return list(collect_testcases(None))


CASES = _collected()
MOST_REFUSED = 85
"""Of the 1,884 cases of ONNX 1.23."""
_refused: list[str] = []
_read: dict[str, bool] = {}
"""True if a case that ran is also read."""
DAY = date.today().toordinal()
"""Every other day another half of the cases is run on machine code; SVODVIZ_ONNX=machine: all."""
ALL = os.environ.get("SVODVIZ_ONNX") == "machine"


def is_on_machine(name: str, day: int) -> bool:
    """True if a case runs on machine code today: every case does so on one of two days."""
    return (zlib.crc32(name.encode()) + day) % 2 == 0


def arrays(values: Any) -> list[Any]:
    """Inputs or results of a case as arrays."""
    return [numpy_helper.to_array(v) if isinstance(v, TensorProto) else v for v in values]


def compare(case: Any, got: Array, wanted: Array) -> None:
    """The type, the shape, and values within ONNX's tolerance."""
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape), case.name
    rtol, atol = max(case.rtol, LEAST), max(case.atol, 1e-7)
    for pattern, *allowed in OTHER_ROUNDING:
        if pattern.search(case.name):
            rtol, atol = allowed
    is_small = bool(dtypes.parse(got.dtype).computed_as)
    wide = (a.astype(np.float64) if is_small else a for a in (got, wanted))
    np.testing.assert_allclose(*wide, rtol, atol, err_msg=case.name)


def _check(case: Any) -> None:
    """Every data set on machine code or, on every other day, on the interpreter; always there where
    a case writes an operator in others, each of which has cases of its own."""
    is_interpreted = case.name.endswith("_expanded") or not (ALL or is_on_machine(case.name, DAY))
    _read[case.name] = False
    with reaching("onnx"):
        program = compiler.from_onnx(case.model)
        _read[case.name] = True
        results = [program(*arrays(inputs)) for inputs, _ in case.data_sets]
    for made, (_, outputs) in zip(results, case.data_sets, strict=True):
        for tensor, expected in zip(made.values(), arrays(outputs), strict=True):
            got = ENGINES["graph"]([tensor.node])[0] if is_interpreted else tensor.numpy()
            compare(case, got, np.asarray(expected))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name.removeprefix("test_"))
def test_cases_of_onnx(case: Any) -> None:
    try:
        _check(case)
    except CompileError as error:
        _refused.append(case.name)
        is_expected = any(re.search(pattern, case.name, re.I) for pattern in REFUSED.values())
        assert is_expected, f"{case.name}: {error}"
        assert "from_onnx" in str(error)


def test_no_more_cases_are_refused_than_is_known(request: pytest.FixtureRequest) -> None:
    """The patterns above are wide: a case that begins to be refused may match one of them."""
    ran = [it for it in request.session.items if it.name.startswith("test_cases_of_onnx[")]
    if len(ran) < len(CASES) or not _refused:
        pytest.skip("only where all cases ran in this process")
    assert len(_refused) <= MOST_REFUSED


def test_how_many_cases_are_read() -> None:
    """So that the number does not fall unnoticed."""
    assert sum(map(_is_read, CASES)) >= 1_795


def test_every_case_is_on_machine_code_on_one_of_two_days() -> None:
    halves = [sum(is_on_machine(case.name, day) for case in CASES) for day in (DAY, DAY + 1)]
    assert sum(halves) == len(CASES) and min(halves) > 0.45 * len(CASES)


def _is_read(case: Any) -> bool:
    if case.name in _read:
        return _read[case.name]
    try:
        compiler.from_onnx(case.model)
    except CompileError:
        return False
    return True


def _model(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], **given: Any) -> Any:
    described = [
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, shape) for n, shape in each.items()]
        for each in (inputs, outputs)
    ]
    graph = helper.make_graph(nodes, "test", *described, given.get("constants", []))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)],
                             functions=given.get("functions", []))  # fmt: skip


WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3)


def _linear(**given: Any) -> Any:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["h"]), helper.make_node("Relu", ["h"], ["y"])]
    constants = given.pop("constants", [numpy_helper.from_array(WEIGHT, "w")])
    return _model(nodes, {"x": ["n", 4]}, {"y": ["n", 3]}, constants=constants, **given)


def test_a_model_is_called_by_place_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "linear.onnx"
    onnx.save(_linear(), path)
    program = compiler.from_onnx(path)
    assert repr(program) == "OnnxProgram(x: f32[n,4] -> y)"
    for rows in (1, 5):
        x = np.ones((rows, 4), np.float32)
        expected = np.maximum(x @ WEIGHT, 0)
        for made in (program(x), program(x=x), program(Tensor(x))):
            np.testing.assert_allclose(made["y"].numpy(), expected)
    assert compiler.compile(program(x)["y"]).check().ok
    assert [node.name for node in leaves(program(x)["y"])] == ["x", "w"]


def test_constants_in_a_file_beside_the_model_are_mapped(tmp_path: Path) -> None:
    path = tmp_path / "linear.onnx"
    onnx.save(_linear(), path, save_as_external_data=True, location="w.bin", size_threshold=0)
    program = compiler.from_onnx(path)
    array = program._constants["w"].array
    assert isinstance(array, np.memmap)
    np.testing.assert_array_equal(array, WEIGHT)


@pytest.mark.parametrize("place", ["../../etc/passwd", "/etc/passwd", "", "missing.bin", "."])
def test_constants_anywhere_else_are_refused(place: str, tmp_path: Path) -> None:
    constant = numpy_helper.from_array(WEIGHT, "w")
    constant.ClearField("raw_data")
    constant.data_location = TensorProto.EXTERNAL
    entry = constant.external_data.add()
    entry.key, entry.value = "location", place
    path = tmp_path / "model.onnx"
    path.write_bytes(_linear(constants=[constant]).SerializeToString())
    with pytest.raises(DataError, match="initializer w are not in the folder"):
        compiler.from_onnx(path)


@pytest.mark.parametrize("number", [TensorProto.INT4, TensorProto.FLOAT8E4M3FN])
def test_small_constants_beside_the_model(number: int, tmp_path: Path) -> None:
    """Two of 4 bits share a byte in the file; those of 8 are mapped."""
    weight = np.array([[1, -2, 3], [-8, 7, 0], [5, 5, -1], [2, 4, 6], [0, 1, 1]])
    stored = weight.astype(helper.tensor_dtype_to_np_dtype(number))
    nodes = [helper.make_node("DequantizeLinear", ["w", "scale"], ["f"]),
             helper.make_node("MatMul", ["x", "f"], ["y"])]  # fmt: skip
    constants = [numpy_helper.from_array(stored, "w"),
                 numpy_helper.from_array(np.array(0.5, np.float32), "scale")]  # fmt: skip
    model = _model(nodes, {"x": [2, 5]}, {"y": [2, 3]}, constants=constants)
    path = tmp_path / "small.onnx"
    onnx.save(model, path, save_as_external_data=True, location="w.bin", size_threshold=0)
    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    program = compiler.from_onnx(path)
    assert isinstance(program._constants["w"].array, np.memmap) == (number != TensorProto.INT4)
    np.testing.assert_array_equal(program(x)["y"].numpy(), x @ (weight * np.float32(0.5)))


def test_an_axis_out_of_range_names_the_node() -> None:
    nodes = [helper.make_node("Gather", ["x", "at"], ["y"], "pick", axis=3)]
    constants = [numpy_helper.from_array(np.array([0]), "at")]
    program = compiler.from_onnx(_model(nodes, {"x": [2, 3]}, {"y": [1]}, constants=constants))
    with pytest.raises(CompileError, match="from_onnx: Gather pick: axis 3 is out of range"):
        program(np.ones((2, 3), np.float32))


def test_a_function_of_the_model_is_written_out() -> None:
    body = [helper.make_node("Mul", ["a", "a"], ["b"])]
    square = helper.make_function("own", "Square", ["a"], ["b"], body,
                                  [helper.make_opsetid("", 21)])  # fmt: skip
    model = _model([helper.make_node("Square", ["x"], ["y"], domain="own")], {"x": [3]}, {"y": [3]},
                   functions=[square])  # fmt: skip
    model.opset_import.append(helper.make_opsetid("own", 1))
    x = np.array([1, 2, 3], np.float32)
    np.testing.assert_array_equal(compiler.from_onnx(model)(x)["y"].numpy(), x * x)


def test_all_that_is_not_supported_is_told_at_once() -> None:
    nodes = [helper.make_node("StringConcat", ["x", "x"], ["a"]),
             helper.make_node("StringConcat", ["a", "x"], ["b"]),
             helper.make_node("Foo", ["b"], ["y"], domain="own")]  # fmt: skip
    with pytest.raises(DataError, match="operators are not supported") as caught:
        compiler.from_onnx(_model(nodes, {"x": [1]}, {"y": [1]}))
    page = str(caught.value)
    assert "2 × StringConcat (version 21), 1 × own.Foo (version 1)" in page
    assert f"some of {len(OPERATORS) + 3} operators" in page


def _huge() -> Any:
    constant = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[2**60, 4])
    return _linear(constants=[constant])


def _short() -> Any:
    constant = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[4, 3], raw_data=b"\0" * 8)
    return _linear(constants=[constant])


def _cycle() -> Any:
    nodes = [helper.make_node("Add", ["x", "b"], ["a"]), helper.make_node("Relu", ["a"], ["b"])]
    return _model(nodes, {"x": [3]}, {"b": [3]})


BROKEN: dict[str, tuple[Any, str]] = {
    "no bytes of a model": (b"nothing of the kind \xff\xff", "this is not an ONNX model"),
    "nothing": (b"", "this is not an ONNX model"),
    "a number": (3, "this is not an ONNX model"),
    "cut": (_linear().SerializeToString()[:-40], "from_onnx"),
    "a size of 2^60": (_huge(), "initializer w has an impossible shape"),
    "too few bytes": (_short(), "the data of initializer w do not fit its shape"),
    "a cycle": (_cycle(), "reads a value not defined before it"),
    "an output of nothing": (_model([], {"x": [3]}, {"z": [3]}), "an output is not defined"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_models_are_a_page(name: str) -> None:
    model, text = BROKEN[name]
    with pytest.raises(DataError, match=text):
        compiler.from_onnx(model)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        compiler.from_onnx(tmp_path / "nothing.onnx")


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda p: p(), "an input is missing"),
        (lambda p: p(y=1), "there is no such input"),
        (lambda p: p(1, 2), "there is no such input"),
        (lambda p: p(np.ones((2, 5), np.float32)), "input x does not fit"),
        (lambda p: p(np.ones((2, 4))), "input x does not fit"),
    ],
)
def test_wrong_calls(call: Any, text: str) -> None:
    with pytest.raises(DataError, match=text):
        call(compiler.from_onnx(_linear()))
