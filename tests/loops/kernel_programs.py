"""Programs as users write them, whose kernels are run under random choices.

`PROGRAMS` has a function of three extents per program; `bodies` gives the kernels of one.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

import compiler
from compiler import Tensor, Variable
from compiler.graph.nodes import Sink
from compiler.program.compilation import Compilation
from compiler.schedule.items import Kernel
from compiler.settings.options import Options

Array = np.ndarray[Any, Any]
Made = Tensor | list[Tensor]
Build = Callable[[int, int, int], Made]


def data(*shape: int, dtype: str = "float32", most: int = 9) -> Tensor:
    """An input. What it holds is not what its kernels are run on."""
    values = np.arange(int(np.prod(shape))) % most
    return Tensor(values.reshape(shape).astype(dtype))


def rows(n: int, *shape: int, dtype: str = "float32") -> Tensor:
    """An input whose first extent is a variable of 1 … n."""
    return Tensor(np.ones((n, *shape), dtype), symbolic={0: Variable("n", 1, n)})


def attention(m: int, n: int, k: int) -> Tensor:
    """Scores, their softmax, and the values they weigh."""
    queries, keys, values = data(m, k), data(n, k), data(n, 5)
    return ((queries @ keys.T) * 0.3).softmax(1) @ values


def written(m: int, n: int, _: int) -> list[Tensor]:
    """A matrix written in place: in whole, and a part of it."""
    x, y = data(m, n).realize(), data(m, n).realize()
    x.assign(x * 2.0 - data(m, n))
    y[:, 1:] = y[:, 1:] + 1.0
    return [x, y]


def repeated(m: int, n: int, _: int) -> list[Tensor]:
    """Three iterations of a loop."""
    results = compiler.repeat(3, lambda _, a, b: (a + b.relu(), b * 0.5), data(m, n), data(m, n))
    return list(results)


def scattered(m: int, n: int, k: int) -> list[Tensor]:
    """Elements that are hit never, once or often."""
    where = data(k, dtype="int64", most=m)
    counts = data(m, n, dtype="int32").index_add(0, where, data(k, n, dtype="int32"))
    return [counts, data(m, n).scatter(0, data(k, n, dtype="int64", most=m), data(k, n))]


PROGRAMS: dict[str, Build] = {
    "chain": lambda m, n, k: (data(m, n) * data(n) + data(m, 1)).relu() * 0.5,
    "gelu": lambda m, n, k: data(m, n).gelu(),
    "sum": lambda m, n, k: data(m, n).sum(),
    "row sums": lambda m, n, k: data(m, n).sum(1),
    "column sums": lambda m, n, k: data(m, n).sum(0),
    "outer and inner maxima": lambda m, n, k: data(m, k, n).max((0, 2)),
    "outer and inner variances": lambda m, n, k: data(m, k, n, dtype="float64").var((0, 2)),
    "column maxima, then rows": lambda m, n, k: (data(m, n) - data(m, n).max(0)).exp().sum(1),
    "softmax": lambda m, n, k: data(m, n).softmax(1),
    "softmax of float64": lambda m, n, k: data(m, n, dtype="float64").softmax(1),
    "layernorm": lambda m, n, k: data(m, n).layernorm(),
    "variance": lambda m, n, k: data(m, n).var(1),
    "arg max": lambda m, n, k: data(m, n).argmax(1),
    "matmul": lambda m, n, k: data(m, k) @ data(k, n),
    "matmul of float16": lambda m, n, k: data(m, k, dtype="float16") @ data(k, n, dtype="float16"),
    "matmul of float64": lambda m, n, k: data(m, k, dtype="float64") @ data(k, n, dtype="float64"),
    "matmul of integers": lambda m, n, k: data(m, k, dtype="int32") @ data(k, n, dtype="int32"),
    "matmul of bytes": lambda m, n, k: data(m, k, dtype="int8") @ data(k, n, dtype="int8"),
    "x @ w.T + b": lambda m, n, k: (data(m, k) @ data(n, k).T + data(n)).relu(),
    "x.T @ w": lambda m, n, k: data(k, m).T @ data(k, n),
    "batched": lambda m, n, k: data(3, m, k) @ data(3, k, n),
    "attention": attention,
    "transpose": lambda m, n, k: data(m, n).T + 0.0,
    "transpose of bytes": lambda m, n, k: data(m, n, dtype="uint8").T ^ 1,
    "permuted": lambda m, n, k: data(m, 3, n).permute(2, 0, 1) * 2.0,
    "flipped": lambda m, n, k: data(m, n).flip(1) - data(m, n),
    "padded": lambda m, n, k: data(m, n).pad(((1, 2), (2, 1))).exp(),
    "every second": lambda m, n, k: data(m, 2 * n)[:, 1::2] * data(m, 2 * n + 1)[:, 1::2],
    "every second, padded": lambda m, n, k: data(m, n).pad(((1, 0), (2, 3)))[:, ::2] + 1.0,
    "rows of a table": lambda m, n, k: data(m, n)[data(k, dtype="int64", most=m)] + data(k, n),
    "reshaped": lambda m, n, k: data(m, n).T.reshape(n * m) + 1.0,
    "convolution": lambda m, n, k: data(1, 2, m, n).conv2d(data(3, 2, 3, 3), padding=1),
    "pooling": lambda m, n, k: data(2, m + 1, n + 1).max_pool2d(2),
    "cumulative sums": lambda m, n, k: data(m, n).cumsum(1),
    "comparisons": lambda m, n, k: (data(m, n) < data(n)) & (data(m, n) != data(m, 1)),
    "all of comparisons": lambda m, n, k: (data(m, n) < data(n)).all(1),
    "integers": lambda m, n, k: data(m, n, dtype="int64") * 3 + data(n, dtype="int64") % 7,
    "sums of bytes": lambda m, n, k: data(m, n, dtype="uint8").sum(0),
    "casts": lambda m, n, k: (data(m, n) * 2.5).cast("int16").cast("float64") + 0.5,
    "half": lambda m, n, k: data(m, n, dtype="float16").exp() * data(n, dtype="float16"),
    "choice": lambda m, n, k: (data(m, n) > 0).where(data(m, n).log(), data(m, n).sin()),
    "gathered": lambda m, n, k: data(m, n)[data(k, dtype="int64", most=m)] * 2.0,
    "taken along": lambda m, n, k: data(m, n).gather(1, data(m, k, dtype="int64", most=n)),
    "cross entropy": lambda m, n, k: data(m, n).cross_entropy(data(m, dtype="int64", most=n)),
    "sorted": lambda m, n, k: data(m, n).sort(1)[0],
    "written": written,
    "repeated": repeated,
    "scattered": scattered,
    "variable rows": lambda m, n, k: (rows(m, n) * 2.0).softmax(1),
    "sum of variable rows": lambda m, n, k: rows(m, n).sum(0),
    "matmul of variable rows": lambda m, n, k: (rows(m, k) @ data(k, n)).relu(),
    "variable products": lambda m, n, k: rows(m, k).T @ rows(m, n),
}


def bodies(name: str, m: int, n: int, k: int) -> list[Sink]:
    """The kernels of a program, each once, in order."""
    made = PROGRAMS[name](m, n, k)
    nodes = [t.node for t in (made if isinstance(made, list) else [made])]
    schedule = Compilation(nodes, Options(loops="plain"), name).schedule
    kernels = (item.operation for item in schedule.items)
    return list(dict.fromkeys(k.body for k in kernels if isinstance(k, Kernel)))
