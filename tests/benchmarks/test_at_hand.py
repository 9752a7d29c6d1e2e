"""The benchmark's programs at small sizes, with loops for the machine that tests run for and with
plain ones, on one thread and on several: vectors, tiles and shared loops, and what they leave over.

`make aarch64` runs these on another processor, where SVODVIZ_MACHINE says so.
"""

from dataclasses import replace

import numpy as np
import pytest

import compiler
from benchmarks import workloads
from benchmarks.peers import on_numpy, on_svodviz
from benchmarks.worker import error
from benchmarks.workloads import Workload
from compiler import Options

SIZED: dict[str, Workload] = {
    "ew_chain": workloads.elementwise("", "ew_chain", 20_011, "abc", 4),
    "gelu": workloads.elementwise("", "gelu", 20_011, "x", 8),
    "sum_all": workloads.reduction("", "sum_all", (40_009,), ()),
    "row_sum": workloads.reduction("", "row_sum", (67, 301), (67,)),
    "col_sum": workloads.reduction("", "col_sum", (67, 301), (301,)),
    "softmax": workloads.rows("", "softmax", (61, 259), 5),
    "layernorm": workloads.rows("", "layernorm", (61, 259), 8),
    "matmul": workloads.matmul("", 64, 48, 128),
    "matmul_awkward": workloads.matmul("", 61, 43, 107),
    "matmul_bias_relu": workloads.matmul("", 61, 43, 107, "matmul_bias_relu"),
    "bmm": workloads.bmm("", 3, 29, 31, 67),
    "conv2d": workloads.conv2d("", 2, 5, 19, 13, 17),
    "attention": workloads.attention("", 67, 24),
    "mlp_forward": workloads.mlp("", 29, (53, 67, 10)),
    "transpose": replace(workloads.rows("", "transpose", (67, 131), 0), result=(131, 67)),
    "small_chain": workloads.chain("", 7, 32),
}
WAYS = {"chosen": Options(), "chosen-1": Options(threads=1), "plain": Options(loops="plain")}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", SIZED)
def test_a_program_agrees_with_numpy(name: str, way: str) -> None:
    workload = SIZED[name]
    inputs = workload.data()
    expected = on_numpy.reference(workload, inputs)
    plan = compiler.prepare(on_svodviz.result(workload, inputs), WAYS[way])
    given = [value for key, value in inputs.items() if key not in workload.fixed]
    first, second = (plan.run(given)[0].copy() for _ in range(2))
    assert error(first, expected) <= workload.tolerance
    np.testing.assert_array_equal(first, second)
