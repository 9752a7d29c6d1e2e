"""count_flops: float operations of one run of a kernel, all predicates and branches true.

The same as the interpreter of instructions counts (a multiply-add is two, a vector as many as it
has lanes), without running it.
"""

from collections.abc import Sequence

from compiler.core.dtypes import DType
from compiler.lowered.by_hand import Wmma
from compiler.lowered.instructions import Alu, EndRange, Instruction, Range
from compiler.lowered.machine import Dot
from compiler.lowered.plan import Plan
from compiler.ops.table import OPS


def count_flops(instructions: Sequence[Instruction]) -> int:
    """The operations of one run, or of one of the tasks that share its work."""
    plan = Plan(instructions, True, 1)
    total, trips = 0, [1]
    for number, instruction in enumerate(instructions):
        if isinstance(instruction, Range):
            trips.append(trips[-1] * plan.extents[number])
        elif isinstance(instruction, EndRange):
            trips.pop()
        else:
            total += trips[-1] * _flops(instruction, plan.dtypes)
    return total


def _flops(instruction: Instruction, types: dict[int, DType]) -> int:
    match instruction:
        case Alu(op=op, arguments=arguments, lanes=lanes):
            return OPS[op].counts_as * lanes * types[arguments[-1]].is_float
        case Dot(parts=parts, lanes=lanes, dtype=dtype):
            return 2 * parts * lanes * dtype.is_float
        case Wmma(m=m, n=n, k=k, dtype=dtype):
            return 2 * m * n * k * dtype.is_float
        case _:
            return 0
