"""The table of workloads: every row is whole, ours and NumPy's programs agree."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks.peers import ADAPTERS, PEERS, PREALLOCATED, adapter, on_numpy
from benchmarks.worker import error
from benchmarks.workloads import AWKWARD, WORKLOADS, Workload
from tests.benchmarks.small import SMALL

ISSUE = {
    "ew_chain", "gelu", "sum_all", "row_sum", "col_sum", "softmax", "layernorm", "matmul_256",
    "matmul_512", "matmul_1024", "matmul_2048", "matmul_bias_relu", "bmm", "conv2d", "attention",
    "mlp_forward", "transpose", "small_chain",
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[2]


def test_every_workload_has_its_usual_and_its_awkward_size() -> None:
    assert {n for n in WORKLOADS if not n.endswith(AWKWARD)} == ISSUE
    for name in ISSUE:
        usual, awkward = WORKLOADS[name], WORKLOADS[name + AWKWARD]
        assert usual.program == awkward.program and usual.inputs.keys() == awkward.inputs.keys()
        assert usual.limit == awkward.limit and not usual.is_awkward and awkward.is_awkward
        assert any(s % 8 for shape in awkward.inputs.values() for s in shape)


@pytest.mark.parametrize("workload", WORKLOADS.values(), ids=lambda w: w.name)
def test_rows_are_whole(workload: Workload) -> None:
    assert workload.nbytes > 0 and workload.operations >= 0 and 0 < workload.tolerance < 1e-3
    assert set(workload.fixed) | set(workload.layers) <= set(workload.inputs)
    assert workload.program in on_numpy.PROGRAMS


def test_numbers_of_bytes_and_operations() -> None:
    assert WORKLOADS["ew_chain"].nbytes == 4 * 4 * 2**24
    assert WORKLOADS["sum_all"].nbytes == 4 * (2**26 + 1)
    assert WORKLOADS["matmul_1024"].operations == 2 * 1024**3
    assert WORKLOADS["conv2d"].operations == 2 * 9 * 64 * 8 * 64 * 32 * 32


@pytest.mark.parametrize("workload", SMALL, ids=lambda w: w.name)
@pytest.mark.parametrize("peer", ["svodviz", "numpy"])
def test_programs_agree_with_numpy_in_float64(workload: Workload, peer: str) -> None:
    module, inputs = adapter(peer), workload.data()
    expected = on_numpy.reference(workload, inputs)
    assert expected.dtype == np.float64 and expected.shape == workload.result
    assert 1e-3 < np.abs(expected).max() < 1e6, "what vanishes or overflows compares nothing"
    calls = module.programs(workload, inputs)
    assert all(name in (peer, peer + PREALLOCATED) for name in calls) and peer in calls
    for call in calls.values():
        for _ in range(2):
            assert error(module.array(call()), expected) <= workload.tolerance


@pytest.mark.parametrize("workload", SMALL, ids=lambda w: w.name)
def test_data_are_the_same_every_time(workload: Workload) -> None:
    first, second = workload.data(), workload.data()
    for name, value in first.items():
        assert value.dtype == np.float32 and value.shape == workload.inputs[name]
        np.testing.assert_array_equal(value, second[name])


def test_a_wrong_result_is_seen() -> None:
    expected = np.array([1.0, -4.0])
    assert error(np.array([1.0, -4.4], np.float32), expected) == pytest.approx(0.1, rel=1e-5)
    assert error(np.array([1.0, np.nan], np.float32), expected) == np.inf
    with pytest.raises(ValueError, match="shape"):
        error(np.zeros(3, np.float32), expected)


@pytest.mark.parametrize("peer", PEERS)
def test_every_peer_has_all_programs_or_says_which_not(peer: str) -> None:
    """Read, not imported: the libraries need not be installed."""
    text = (ROOT / (ADAPTERS[peer].replace(".", "/") + ".py")).read_text()
    names = {node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    assert {"version", "programs"} <= names
    found = set(re.findall(r"^    \"(\w+)\": ", text, re.MULTILINE)) | names
    programs = {w.program for w in WORKLOADS.values()}
    if peer != "torch.compile":
        assert programs <= found
