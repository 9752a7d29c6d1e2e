"""The programs of the workloads, and the networks, at sizes that take no time."""

from dataclasses import replace

from benchmarks import workloads
from benchmarks.networks.lstm import lstm
from benchmarks.networks.mobilenet import mobilenet_v2
from benchmarks.networks.numeric import covariance, kmeans, stencil
from benchmarks.networks.resnet import resnet18
from benchmarks.networks.transformers import gpt2, vit_s16
from benchmarks.networks.unet import unet
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

NETS = (
    resnet18(size=32, widths=(4, 6), classes=5),
    mobilenet_v2(size=16, stages=((1, 8, 1, 1), (2, 8, 2, 2)), last=12, classes=5),
    vit_s16(size=16, patch=8, layers=1, heads=2, width=8, classes=5),
    unet(size=16, width=3, levels=2),
    gpt2(tokens=6, layers=1, heads=2, width=8, vocabulary=11),
    gpt2(tokens=1, past=5, layers=1, heads=2, width=8, vocabulary=11),
    lstm(steps=3, hidden=8, batch=2),
    kmeans(points=200, width=5, clusters=3, steps=2),
    covariance(rows=300, columns=7),
    stencil(size=12, steps=3),
)
