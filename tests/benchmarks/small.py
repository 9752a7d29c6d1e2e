"""The programs of the workloads at sizes that take no time."""

from dataclasses import replace

from benchmarks import workloads
from benchmarks.workloads import Workload

SMALL: tuple[Workload, ...] = tuple(
    replace(workload, name=name)
    for name, workload in {
        "ew_chain": workloads.elementwise("", "ew_chain", 67, "abc", 4),
        "gelu": workloads.elementwise("", "gelu", 67, "x", 8),
        "sum_all": workloads.reduction("", "sum_all", (131,), ()),
        "row_sum": workloads.reduction("", "row_sum", (7, 13), (7,)),
        "col_sum": workloads.reduction("", "col_sum", (7, 13), (13,)),
        "softmax": workloads.rows("", "softmax", (5, 17), 5),
        "layernorm": workloads.rows("", "layernorm", (5, 17), 8),
        "matmul": workloads.matmul("", 9, 7, 11),
        "matmul_bias_relu": workloads.matmul("", 9, 7, 11, "matmul_bias_relu"),
        "bmm": workloads.bmm("", 3, 5, 7, 9),
        "conv2d": workloads.conv2d("", 2, 3, 5, 7, 6),
        "attention": workloads.attention("", 11, 6),
        "mlp_forward": workloads.mlp("", 5, (13, 11, 7)),
        "transpose": replace(workloads.rows("", "transpose", (5, 9), 0), result=(9, 5)),
        "small_chain": workloads.chain("", 5, 6),
    }.items()
)
