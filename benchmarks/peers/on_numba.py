"""numba: loops as its users write them, parallel and with fast-math where sums need it.

Products are loops too: `np.dot` inside numba would be a call of the library that NumPy calls.
Products of matrices larger than 1024 would take too long: those entries are missing.
"""

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import numba
import numpy as np
from numba import njit, prange
from numba.core.registry import cpu_target

from benchmarks.workloads import Array, Workload

NAME = "numba"
BLOCK = 64


def version() -> str:
    """The library's version."""
    return metadata.version("numba")


def uses() -> str:
    """The instruction set, by the name of the processor that its code is for."""
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    return "avx512" if "+avx512f" in features.split(",") or name == "znver4" else "avx2"


def array(result: Any) -> Array:
    """A call's result as a NumPy array."""
    return np.asarray(result)


def ew_chain(out: Array, a: Array, b: Array, c: Array) -> Array:
    """relu(a * b + c) / 2."""
    for i in prange(a.size):
        out[i] = max(a[i] * b[i] + c[i], np.float32(0)) * np.float32(0.5)
    return out


def gelu(out: Array, x: Array) -> Array:
    """In its tanh form."""
    for i in prange(x.size):
        v = x[i]
        inner = np.float32(0.7978845608028654) * (v + np.float32(0.044715) * v * v * v)
        out[i] = np.float32(0.5) * v * (np.float32(1) + np.tanh(inner))
    return out


def sum_all(out: Array, x: Array) -> np.float32:
    """Of one axis."""
    total = np.float32(0)
    for i in prange(x.size):
        total += x[i]
    return total


def row_sum(out: Array, x: Array) -> Array:
    """Along the last axis."""
    for i in prange(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total
    return out


def col_sum(out: Array, x: Array) -> Array:
    """Along the first axis: each thread sums blocks of rows."""
    blocks = numba.get_num_threads()
    rows, columns = x.shape
    partial = np.zeros((blocks, columns), np.float32)
    for block in prange(blocks):
        mine = partial[block]
        for i in range(rows * block // blocks, rows * (block + 1) // blocks):
            for j in range(columns):
                mine[j] += x[i, j]
    out[:] = partial[0]
    for block in range(1, blocks):
        out += partial[block]
    return out


def softmax(out: Array, x: Array) -> Array:
    """Along the last axis."""
    for i in prange(x.shape[0]):
        top = x[i, 0]
        for j in range(x.shape[1]):
            top = max(top, x[i, j])
        total = np.float32(0)
        for j in range(x.shape[1]):
            power = np.exp(x[i, j] - top)
            out[i, j] = power
            total += power
        scale = np.float32(1) / total
        for j in range(x.shape[1]):
            out[i, j] *= scale
    return out


def layernorm(out: Array, x: Array) -> Array:
    """Along the last axis."""
    count = np.float32(x.shape[1])
    for i in prange(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        mean = total / count
        squares = np.float32(0)
        for j in range(x.shape[1]):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        scale = np.float32(1) / np.sqrt(squares / count + np.float32(1e-5))
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) * scale
    return out


def matmul(out: Array, a: Array, b: Array) -> Array:
    """Rows in parallel, the inner loop along the columns."""
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = 0
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
    return out


def matmul_bias_relu(out: Array, a: Array, b: Array, c: Array) -> Array:
    """The same loops, which begin with the bias."""
    for i in prange(a.shape[0]):
        for j in range(b.shape[1]):
            out[i, j] = c[j]
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
        for j in range(b.shape[1]):
            out[i, j] = max(out[i, j], np.float32(0))
    return out


def bmm(out: Array, a: Array, b: Array) -> Array:
    """The rows of all products in parallel."""
    rows = a.shape[1]
    for row in prange(a.shape[0] * rows):
        n, i = row // rows, row % rows
        for j in range(b.shape[2]):
            out[n, i, j] = 0
        for k in range(a.shape[2]):
            for j in range(b.shape[2]):
                out[n, i, j] += a[n, i, k] * b[n, k, j]
    return out


def conv2d(out: Array, x: Array, w: Array) -> Array:
    """3×3, stride 1, padding 1: each output channel of each image by itself."""
    channels, height, width = x.shape[1:]
    made = w.shape[0]
    for each in prange(x.shape[0] * made):
        n, o = each // made, each % made
        out[n, o] = 0
        for c in range(channels):
            for p in range(3):
                for i in range(max(0, 1 - p), min(height, height + 1 - p)):
                    for q in range(3):
                        for j in range(max(0, 1 - q), min(width, width + 1 - q)):
                            out[n, o, i, j] += x[n, c, i + p - 1, j + q - 1] * w[o, c, p, q]
    return out


def attention(out: Array, q: Array, k: Array, v: Array) -> Array:
    """One head: rows in parallel, the scores of one row at a time."""
    rows, width = q.shape
    scale = np.float32(1) / np.sqrt(np.float32(width))
    for i in prange(rows):
        scores, top = np.empty(rows, np.float32), np.float32(-np.inf)
        for j in range(rows):
            total = np.float32(0)
            for c in range(width):
                total += q[i, c] * k[j, c]
            scores[j] = total * scale
            top = max(top, scores[j])
        total = np.float32(0)
        out[i] = 0
        for j in range(rows):
            power = np.exp(scores[j] - top)
            total += power
            for c in range(width):
                out[i, c] += power * v[j, c]
        for c in range(width):
            out[i, c] /= total
    return out


def mlp_forward(out: Array, x: Array, w: Array, b: Array, v: Array, c: Array) -> Array:
    """Two layers and a softmax, row by row."""
    hidden = w.shape[1]
    for i in prange(x.shape[0]):
        h = b.copy()
        for k in range(x.shape[1]):
            for j in range(hidden):
                h[j] += x[i, k] * w[k, j]
        out[i] = c
        for k in range(hidden):
            power = max(h[k], np.float32(0))
            for j in range(v.shape[1]):
                out[i, j] += power * v[k, j]
        top, total = out[i].max(), np.float32(0)
        for j in range(v.shape[1]):
            out[i, j] = np.exp(out[i, j] - top)
            total += out[i, j]
        for j in range(v.shape[1]):
            out[i, j] /= total
    return out


def transpose(out: Array, x: Array) -> Array:
    """By blocks."""
    rows, columns = x.shape
    for block in prange((rows + BLOCK - 1) // BLOCK):
        low, high = block * BLOCK, min(rows, (block + 1) * BLOCK)
        for left in range(0, columns, BLOCK):
            for j in range(left, min(columns, left + BLOCK)):
                for i in range(low, high):
                    out[j, i] = x[i, j]
    return out


def small_chain(out: Array, x: Array, w: Array) -> Array:
    """A hundred small layers, serial: one of them is too small for threads."""
    now, after = x[0].copy(), np.empty(x.shape[1], np.float32)
    for layer in range(w.shape[0]):
        after[:] = 0
        for k in range(x.shape[1]):
            for j in range(x.shape[1]):
                after[j] += now[k] * w[layer, k, j]
        for j in range(x.shape[1]):
            now[j] = max(after[j], np.float32(0))
    out[0] = now
    return out


PROGRAMS: dict[str, Callable[..., Any]] = {
    f.__name__: f
    for f in (
        ew_chain, gelu, sum_all, row_sum, col_sum, softmax, layernorm, matmul, matmul_bias_relu,
        bmm, conv2d, attention, mlp_forward, transpose, small_chain,
    )
}  # fmt: skip


def programs(workload: Workload, inputs: Mapping[str, Array]) -> dict[str, Callable[[], Any]]:
    """Into a new array, and into one made before."""
    is_stack = workload.program == "matmul" and len(workload.result) > 2
    program = PROGRAMS.get("bmm" if is_stack else workload.program)
    if program is None or workload.operations > 2**32:
        return {}
    is_parallel = workload.program != "small_chain"
    compiled = njit(parallel=is_parallel, fastmath=True)(program)
    given, shape = tuple(inputs.values()), workload.result
    kept = np.zeros(shape, np.float32)
    return {
        NAME: lambda: compiled(np.empty(shape, np.float32), *given),
        f"{NAME} out=": lambda: compiled(kept, *given),
    }
