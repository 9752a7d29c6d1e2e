"""Threefry-2x32 with 20 rounds: random bits as a function of a counter and a key.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (2011). Element i of
a random tensor depends only on counter i and the key, not on the order of computation, the number
of threads or the machine. The rounds are written once, over a `Build`, for both NumPy (the
reference) and the tensor graph (the expansion of a Threefry node by `decompose`).
"""

from typing import TypeVar

import numpy as np

from compiler.core.dtypes import Array, Scalar
from compiler.ops.row import Build
from compiler.ops.table import OPS

T = TypeVar("T")

ROUNDS = 20
ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
PARITY = 0x1BD11BDA
"""XORed into the third key word (Skein's parity constant, 32-bit form)."""
MASK = 0xFFFFFFFF


def rounds(build: Build[T], counter: T, key: T) -> T:
    """The encrypted counter; words are kept in the low half of 64 bits, so sums are masked."""
    low = build.const(MASK, counter)
    half = build.const(32, counter)
    words = [build.op("and", key, low), build.op("shr", key, half)]
    parity = build.op("xor", build.op("xor", *words), build.const(PARITY, counter))
    words.append(parity)
    x = _sum(build, build.op("and", counter, low), words[0])
    y = _sum(build, build.op("shr", counter, half), words[1])
    for number in range(ROUNDS):
        x = _sum(build, x, y)
        y = build.op("xor", _rotated(build, y, ROTATIONS[number % 8]), x)
        if number % 4 == 3:
            injection = number // 4 + 1
            x = _sum(build, x, words[injection % 3])
            added = _sum(build, words[(injection + 1) % 3], build.const(injection, counter))
            y = _sum(build, y, added)
    return build.op("or", build.op("shl", y, half), x)


def _sum(build: Build[T], a: T, b: T) -> T:
    """a + b modulo 2^32."""
    return build.op("and", build.op("add", a, b), build.const(MASK, a))


def _rotated(build: Build[T], word: T, by: int) -> T:
    """A 32-bit word rotated left."""
    left = build.op("shl", word, build.const(by, word))
    right = build.op("shr", word, build.const(32 - by, word))
    return build.op("and", build.op("or", left, right), build.const(MASK, word))


class _NumPyBuild:
    """A `Build` that computes with NumPy."""

    def op(self, name: str, *sources: Array) -> Array:
        """The reference of the operation on arrays."""
        return np.asarray(OPS[name].reference(*sources))

    def const(self, value: Scalar, like: Array) -> Array:
        """A constant of the array's type and shape."""
        return np.full(like.shape, value, like.dtype)


def threefry(counter: Array, key: Array) -> Array:
    """64 random bits for each counter (both uint64, of one shape)."""
    return rounds(_NumPyBuild(), counter, key)
