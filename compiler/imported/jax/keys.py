"""Random keys, and the bits generated from them.

A key of two 32-bit words is one 64-bit word, so that primitives that move keys move elements.
Operations on keys are JAX's own programs: they are traced and walked like the user's.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from compiler.core import dtypes
from compiler.imported.call import Results
from compiler.imported.jax.call import Call, primitive
from compiler.imported.jax.element_types import generator_of, jax_itself
from compiler.ops.random_bits import PARITY, ROTATIONS, ROUNDS
from compiler.tensor import Tensor


def packed(words: Tensor) -> Tensor:
    """[…, 2] words of 32 bits as keys, the first word the upper half."""
    wide = words.cast(dtypes.uint64)
    keys: Tensor = wide[..., 0].lshift(32).bitwise_or(wide[..., 1])
    return keys


def unpacked(keys: Tensor) -> Tensor:
    """Keys as […, 2] words of 32 bits."""
    return keys.rshift(32).cast(dtypes.uint32).stack(keys.cast(dtypes.uint32), dim=-1)


@primitive("random_wrap")
def wrap(_call: Call, words: Tensor) -> Tensor:
    """Words as keys."""
    return packed(words)


@primitive("random_unwrap")
def unwrap(_call: Call, keys: Tensor) -> Tensor:
    """Keys as words."""
    return unpacked(keys)


@primitive("random_seed")
def seed(call: Call, numbers: Tensor) -> Tensor:
    """A key for each seed."""
    words = _traced(call, call["impl"].seed, numbers.ndim, numbers)
    return packed(words)


@primitive("random_split")
def split(call: Call, keys: Tensor) -> Tensor:
    """Several keys from each key."""
    shape = tuple(call["shape"])
    generator = generator_of(call.operands[0].dtype)
    return packed(_traced(call, lambda key: generator.split(key, shape), keys.ndim,
                          unpacked(keys)))  # fmt: skip


@primitive("random_fold_in")
def fold_in(call: Call, keys: Tensor, numbers: Tensor) -> Tensor:
    """A key from each key and a number."""
    generator = generator_of(call.operands[0].dtype)
    shape = np.broadcast_shapes(keys.shape, numbers.shape)
    words, numbers = unpacked(keys.expand(*shape)), numbers.expand(*shape)
    return packed(_traced(call, generator.fold_in, len(shape), words, numbers))


@primitive("random_bits")
def bits(call: Call, keys: Tensor) -> Tensor:
    """Random bits from each key."""
    width, shape = int(call["bit_width"]), tuple(call["shape"])
    generator = generator_of(call.operands[0].dtype)
    return _traced(call, lambda key: generator.random_bits(key, width, shape), keys.ndim,
                   unpacked(keys))  # fmt: skip


def _traced(call: Call, function: Callable[..., Any], axes: int, *operands: Tensor) -> Tensor:
    """A JAX function, applied along the first axes of its operands."""
    jax = jax_itself()
    lead = operands[0].shape[:axes]
    if axes:
        function = jax.vmap(function)
    flat = [t.reshape(*([math.prod(lead)] if axes else []), *t.shape[axes:]) for t in operands]
    described = [jax.ShapeDtypeStruct(t.shape, t.dtype.numpy) for t in flat]
    (result,) = call.inline(jax.make_jaxpr(function)(*described), flat)
    return result.reshape(*lead, *result.shape[1:]) if axes else result


@primitive("threefry2x32")
def threefry(_call: Call, key0: Tensor, key1: Tensor, x: Tensor, y: Tensor) -> Results:
    """Two words encrypted with a key of two words: Threefry-2x32 with 20 rounds."""
    keys = key0, key1, key0.bitwise_xor(key1).bitwise_xor(PARITY)
    x, y = x.add(keys[0]), y.add(keys[1])
    for number in range(ROUNDS):
        by = ROTATIONS[number % len(ROTATIONS)]
        x = x.add(y)
        y = y.lshift(by).bitwise_or(y.rshift(32 - by)).bitwise_xor(x)
        if number % 4 == 3:
            step = number // 4 + 1
            x = x.add(keys[step % 3])
            y = y.add(keys[(step + 1) % 3]).add(step)
    return x, y
