"""Kernels run as chosen, and held against their plain loops: both as machine code, on memory with
guard pages before and behind it.

An access outside its buffer ends the process. Inputs are small whole numbers, so that most results
have to agree to the last bit (`exactness.py`); what is rounded agrees up to a few units.
"""

import random
from typing import Any, Literal

import numpy as np

from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.device.device import CPU
from compiler.device.program import Program
from compiler.graph.nodes import Sink, Variable
from compiler.llvm.emit import emit
from compiler.llvm.level import level_of
from compiler.loops.nodes import Argument, Body
from compiler.lowered import verify as verify_lowered
from compiler.lowered.linearize import linearize
from compiler.pipeline.kernels import CompiledKernel, program_spec
from tests.search.exactness import LARGEST, Settled

Array = np.ndarray[Any, Any]
Level = Literal[0, 2]
FILL = 0x5B
"""The content of every byte of the output before a run."""


def machine_code(body: Sink, loops: Body, level: Level) -> Program:
    """The program of loops, generated and loaded; `level` is LLVM's."""
    linear = linearize(loops)
    verify_lowered.verify(linear.instructions)
    source = tuple(emit("k0", tuple(linear.instructions)))
    found = level_of(linear.instructions, level, "fast")
    kernel = CompiledKernel("k0", body, loops, loops, linear, source, (), Provenance(), found)
    return CPU.load(CPU.compile(program_spec(kernel, CPU), level))


def arguments(loops: Body, seed: int) -> list[Array]:
    """Flat data for each argument, small whole numbers; what is written is full of one byte."""
    generator = np.random.default_rng(seed)
    found = sorted((n for n in toposort([loops]) if isinstance(n, Argument)), key=lambda a: a.slot)
    return [_data(generator, argument) for argument in found]


def _data(generator: np.random.Generator, argument: Argument) -> Array:
    dtype = argument.element
    if argument.is_written:
        held = np.full(argument.size * dtype.itemsize, FILL, np.uint8)
        return held % 2 if dtype.kind == "bool" else held.view(dtype.numpy)
    low = 0 if dtype.kind in ("bool", "uint") else -LARGEST
    high = 1 if dtype.kind == "bool" else LARGEST
    return generator.integers(low, high, argument.size, endpoint=True).astype(dtype.numpy)


def variables(body: Sink, source: random.Random) -> dict[str, int]:
    """A value for each variable of a kernel: the least, the greatest, or one between."""
    found = sorted((n for n in toposort([body]) if isinstance(n, Variable)), key=lambda v: v.name)
    return {v.name: source.choice((v.low, v.high, source.randint(v.low, v.high))) for v in found}


def difference(found: Array, expected: Array, how: Settled, allowed: float = 0.0) -> str:
    """The fault of a result, in words; empty where it is right.

    What is rounded may differ by the share `allowed` of the greatest value.
    """
    if found.dtype.kind != "f" or how == "exact":
        wrong = ~((found == expected) | ((found != found) & (expected != expected)))
    else:
        wrong = _is_far(found.astype(np.float64), expected.astype(np.float64), allowed)
    if not wrong.any():
        return ""
    at = int(wrong.argmax())
    return (
        f"{int(wrong.sum())} of {wrong.size} elements differ ({how}), the first at {at}: "
        f"{found[at]}, plain loops {expected[at]}"
    )


def _is_far(found: Array, expected: Array, allowed: float) -> Array:
    """Where two values differ by more than a share of the greatest."""
    finite = np.abs(expected[np.isfinite(expected)])
    scale = float(finite.max(initial=1.0))
    with np.errstate(invalid="ignore"):
        near = np.abs(found - expected) <= allowed * scale
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    return ~(near | same)
