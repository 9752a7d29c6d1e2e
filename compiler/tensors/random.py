"""Counter-based random numbers: element i is a function of the key and of counter i, on every
device.

`manual_seed` sets the key and resets the counter; each random tensor uses as many counters as it
has elements. The same seed and the same calls give the same numbers on every machine.
"""

import math
from collections.abc import Iterable

import numpy as np

from compiler.core import forking
from compiler.core.dtypes import DType, float32, uint64
from compiler.device.buffers import new_buffer
from compiler.graph.nodes import Iota, Shape, TensorNode, Threefry, const, elementwise
from compiler.tensors import watching
from compiler.tensors.value import broadcast_node, cast_to, reshaped
from compiler.tensors.watching import Draw, Seed

BITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""The bits of a random number in [0, 1) for each float type: the width of its mantissa."""


class _Generator:
    """The key, and the counter of the next random number."""

    def __init__(self) -> None:
        self.lock = forking.lock()
        self.key = 0
        self.next = 0

    def take(self, count: int) -> tuple[int, int]:
        """The key, and the first of `count` counters reserved for the caller."""
        with self.lock:
            first = self.next
            self.next += count
            return self.key, first

    def seed(self, key: int) -> None:
        """Set the key and reset the counter to 0."""
        with self.lock:
            self.key, self.next = key % 2**64, 0


GENERATOR = _Generator()


def seed(key: int) -> None:
    """Set the key and reset the counter to 0. In a captured function this repeats at each
    replay."""
    if watch := watching.current():
        watch.drawn.append(Seed(key))
    else:
        GENERATOR.seed(key)


def draw(drawn: Iterable[Draw | Seed]) -> list[tuple[int, int]]:
    """Repeat the draws of a captured function: the words of the key and counter for each draw."""
    found: list[tuple[int, int]] = []
    for each in drawn:
        if isinstance(each, Draw):
            found.append(GENERATOR.take(each.count))
        else:
            GENERATOR.seed(each.key)
    return found


def bits(shape: Shape) -> TensorNode:
    """64 random bits per element, as uint64.

    The key and the first counter are inputs, not constants: another draw of the same shape runs the
    same program.
    """
    size = math.prod(shape)
    watch = watching.current()
    words = (0, 0) if watch else GENERATOR.take(size)
    state = [new_buffer(np.array(word, np.uint64), is_lifted=True) for word in words]
    if watch:
        watch.drawn.append(Draw(state[0], state[1], size))
    wide = [broadcast_node(reshaped(word, (1,)), (size,)) for word in state]
    counter = elementwise("add", Iota((), size, uint64), wide[1])
    return reshaped(Threefry((counter, wide[0])), shape)


def fraction(word: TensorNode, dtype: DType, shift: int) -> TensorNode:
    """Bits of `word` from bit `shift` on, as a float in [0, 1); every value is equally likely."""
    kept = BITS[dtype.name]
    moved = elementwise("shr", word, const(shift, uint64, word.shape))
    low = elementwise("and", moved, const(2**kept - 1, uint64, word.shape))
    scale = const(2.0**-kept, dtype, word.shape)
    return elementwise("mul", cast_to(low, dtype), scale)


def uniform(shape: Shape, dtype: DType) -> TensorNode:
    """Random floats in [0, 1)."""
    return fraction(bits(shape), dtype, 64 - BITS[dtype.name])


def normal(shape: Shape, dtype: DType) -> TensorNode:
    """Floats of the standard normal distribution (Box and Muller, 1958), computed in float32 or
    wider: sqrt(-2 log(1 - u)) cos(2 pi v)."""
    inner = dtype if dtype.bits > 16 else float32
    word = bits(shape)
    u = fraction(word, inner, 64 - BITS[inner.name])
    v = uniform(shape, inner) if inner.bits == 64 else fraction(word, inner, 0)
    one, minus_two, turn = (const(x, inner, shape) for x in (1.0, -2.0, 2 * math.pi))
    logarithm = elementwise("log", elementwise("sub", one, u))
    radius = elementwise("sqrt", elementwise("mul", minus_two, logarithm))
    angle = elementwise("cos", elementwise("mul", turn, v))
    return cast_to(elementwise("mul", radius, angle), dtype)


def integers(shape: Shape, low: int, count: int, dtype: DType) -> TensorNode:
    """Random integers from `low` on, `count` of them, each with probability within 2^-32 of 1 /
    count.

    32 random bits are multiplied by `count` and the upper half is used, which needs no division.
    """
    half = const(32, uint64, shape)
    high = elementwise("shr", bits(shape), half)
    scaled = elementwise("mul", high, const(count, uint64, shape))
    chosen = cast_to(elementwise("shr", scaled, half), dtype)
    return elementwise("add", chosen, const(low, dtype, shape))
