"""The hottest inner loop of a listing: the contents and the cost of one iteration.

    .LBB0_9:                                    80 multiply-adds of 4 lanes, 640 flops
      ldr   q28, [x5]                           101 instructions, 1.26 for each multiply-add
      fmla  v1.4s, v10.4s, v28.s[0]  …          the stack is not touched
      b.lt  .LBB0_9                             40 cycles, 100 % of the peak

It is the innermost loop with the most multiply-adds. The cycles are those of LLVM's scheduling
model (`scheduling_model.py`): the greatest of the cycles of the busiest execution unit, of the
cycles to issue all micro-operations, and of the longest loop-carried dependency through a register.
Loads are assumed to hit the first cache, and branches to be predicted.

Relies on: the first operand of an instruction is the register it writes (Intel and Arm syntax).
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from compiler.core.text import counted, number, percent
from compiler.llvm.flow import BasicBlock, Flow
from compiler.llvm.looking.inherited import registers
from compiler.llvm.looking.scheduling_model import Cost, SchedulingModel
from compiler.machines.model import MachineModel

ENOUGH = 0.9
"""The share of a loop's instructions that the model has to cover. A choice, no measurement."""
_PRODUCTS = re.compile(
    r"^(?:(?P<x86>vfn?m(?:add|sub)\d+[ps][sd])"
    r"|fn?m(?:l[as]|ad|sb|add|sub)(?:\.(?P<short>\d+[hsd]))?"
    r"|(?P<riscv>vfn?m(?:acc|sac|add|sub)\.v[vf])"
    r"|(?:fn?m(?:add|sub)\.|fma\.r\w+\.f)(?P<alone>[sd]|32|64))$"
)
"""Multiply-adds of x86, of Arm as Linux and macOS write them, of RISC-V and of PTX."""
_ITEMS = {"h": 2, "s": 4, "d": 8, "32": 4, "64": 8}
_WIDTHS = {"x": 16, "y": 32, "z": 64}
_ARRANGED = re.compile(r"^(?:v\d+\.(?P<many>\d+[hsd])|z\d+\.(?P<long>[hsd])|(?P<one>[hsd])\d)")
_LENGTH = re.compile(
    r"vseti?vli\s+\w+, (?P<count>\w+), e(?P<bits>\d+), m(?P<part>f?)(?P<group>\d)"
)
_LABEL = re.compile(r"^\S*:$")
_JUMP = re.compile(r"^(?:J|B$|Bcc$|[CT]BN?Z)")
"""LLVM's names of block terminators, which are not scheduled."""
_FRAMES = {"rbp": r"mov\s+rbp, rsp", "x29": r"(?:mov|add)\s+x29, sp", "s0": r"addi\s+s0, sp"}
"""Frame registers that also address the stack, each with the line that sets it up."""
_WRITES_NOTHING = re.compile(
    r"^(?:st|cmp|fcmp|test|v?u?comis|vtest|j|b$|b\.|cb|tb|prf|prefetch|ret|vse|vsse|sd$|sw$|fs[wd])"
)
_READS_ITS_RESULT = re.compile(r"^(?:vfn?m(?:add|sub|acc|sac)|f?n?ml[as]|fn?mad$|bsl|bit|bif|ins)")
_VECTORS = ("vector", "simd")


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """One iteration of the loop in the rows `first` up to `end`, which its `label` begins.

    `flops` and `nbytes` are what its multiply-adds compute: two for each element, and the bytes of
    these; `stack` is how often it accesses the stack (spills and reloads). `cycles` is None if
    LLVM has no model or does not print it; `because` names the bottleneck, or the reason why the
    cycles are unknown. `share` is the share of peak, None without cycles or multiply-adds.
    """

    label: str
    first: int
    end: int
    instructions: int
    multiply_adds: int
    flops: int
    nbytes: int
    stack: int
    cycles: float | None = None
    because: str = ""
    share: float | None = None

    @property
    def per_multiply_add(self) -> float | None:
        """Instructions for each multiply-add."""
        return self.instructions / self.multiply_adds if self.multiply_adds else None

    @property
    def words(self) -> tuple[str, str]:
        """The contents and the cost of an iteration, a sentence each."""
        return self._has(), self._takes()

    def _has(self) -> str:
        each = self.per_multiply_add
        products = "no multiply-add" if each is None else (
            f"{counted(self.multiply_adds, 'multiply-add')} ({number(self.flops)} flops), "
            f"{each:.2f} instructions for each"
        )  # fmt: skip
        stack = f"touched by {counted(self.stack, 'instruction')}" if self.stack else "not touched"
        instructions = counted(self.instructions, "instruction")
        return f"loop {self.label}: {instructions}, {products}; the stack is {stack}"

    def _takes(self) -> str:
        if self.cycles is None:
            return f"cycles are not known: {self.because}"
        share = "" if self.share is None else f", {percent(self.share)} of the peak"
        cycles = f"{self.cycles:.1f}".removesuffix(".0")
        return f"{cycles} cycles an iteration by LLVM's scheduling model{share}: {self.because}"


def inner_loop(rows: Sequence[str], flow: Flow, vector_bytes: int) -> InnerLoop | None:
    """The innermost loop with the most multiply-adds; None where there is no loop."""
    stack = _stack(rows)
    loops = [_counted(rows, blocks, stack, vector_bytes) for blocks in _innermost(flow)]
    return max(loops, key=lambda it: (it.flops, it.instructions), default=None)


def timed(
    loop: InnerLoop, rows: Sequence[str], opcodes: Sequence[str], scheduling: SchedulingModel,
    machine: MachineModel,
) -> InnerLoop:  # fmt: skip
    """The loop with its cycles, and its share of what the machine can do in them.

    `opcodes` are LLVM's instruction names of all rows, "" for a label.
    """
    places = [n for n in range(loop.first, loop.end) if opcodes[n]]
    costs = [scheduling.of(opcodes[n]) for n in places]
    missing = [opcodes[n] for n, cost in zip(places, costs, strict=True)
               if cost is None and not _JUMP.match(opcodes[n])]  # fmt: skip
    if len(missing) > (1 - ENOUGH) * len(places):
        names = ", ".join(sorted(set(missing)))
        return replace(loop, because=f"LLVM's model has no cost for {names}")
    sound = [cost or Cost() for cost in costs]
    bounds = (*_units(sound), *_begun(sound, scheduling.width),
              *_waiting([rows[n] for n in places], sound))  # fmt: skip
    cycles, because = max(bounds, key=lambda it: it[0])
    most = machine.multiply_adds * machine.vector_bytes * cycles
    share = loop.nbytes / most if loop.nbytes and most else None
    return replace(loop, cycles=cycles, because=because, share=share)


def _innermost(flow: Flow) -> Iterator[list[BasicBlock]]:
    """The blocks of each innermost loop, in the order of the text."""
    inside = {block.loops[-1] for block in flow.blocks if block.loops}
    around = {head for block in flow.blocks for head in block.loops[:-1]}
    for head in sorted(inside - around):
        yield [block for block in flow.blocks if block.loops and block.loops[-1] == head]


def _counted(
    rows: Sequence[str], blocks: Sequence[BasicBlock], stack: re.Pattern[str], vector_bytes: int
) -> InnerLoop:
    places = [n for block in blocks for n in range(block.first, block.end)]
    code = [rows[n] for n in places if not _LABEL.match(rows[n])]
    length = _length(rows[: places[-1] + 1])
    products = [it for row in code if (it := _product(row, vector_bytes, length))]
    return InnerLoop(
        blocks[0].label, places[0], places[-1] + 1, len(code), len(products),
        2 * sum(lanes for lanes, _ in products), sum(lanes * size for lanes, size in products),
        sum(bool(stack.search(row)) for row in code),
    )  # fmt: skip


def _product(row: str, vector_bytes: int, length: tuple[int, int]) -> tuple[int, int] | None:
    """The lanes of a multiply-add, and the bytes of one; None for other instructions.

    `length` is what vectors of RISC-V have.
    """
    word, _, operands = row.strip().partition(" ")
    operands = operands.strip()
    match = _PRODUCTS.match(word)
    if not match:
        return None
    if match["x86"]:
        size = _ITEMS[word[-1]]
        return (1 if word[-2] == "s" else _WIDTHS[operands[0]] // size), size
    if match["riscv"]:
        return length
    if match["alone"]:
        return 1, _ITEMS[match["alone"]]
    arranged = _ARRANGED.match(operands)
    many = match["short"] or (arranged and arranged["many"])
    if many:
        return int(many[:-1]), _ITEMS[many[-1]]
    if arranged is None:
        return None
    size = _ITEMS[arranged["long"] or arranged["one"]]
    return (vector_bytes // size if arranged["long"] else 1), size


def _length(rows: Sequence[str]) -> tuple[int, int]:
    """The lanes, and their bytes, that the last RISC-V `vsetvli` or `vsetivli` sets."""
    length = next((it for row in reversed(rows) if (it := _LENGTH.search(row))), None)
    if length is None:
        return 1, 4
    size = int(length["bits"]) // 8
    group = int(length["group"])
    whole = (16 // group if length["part"] else 16 * group) // size
    return (min(int(length["count"]), whole) if length["count"].isdigit() else whole), size


def _stack(rows: Sequence[str]) -> re.Pattern[str]:
    """The pattern of a spill or reload: an address by the stack or the frame pointer."""
    text = "\n".join(rows)
    frames = [name for name, setup in _FRAMES.items() if re.search(setup, text)]
    return re.compile(rf"[\[(](?:rsp|sp|%SPL?|{'|'.join(frames) or 'sp'})\b")


def _units(costs: Sequence[Cost]) -> Iterator[tuple[float, str]]:
    """The cycles that each kind of execution unit is busy in one iteration."""
    busy: Counter[str] = Counter()
    for cost in costs:
        busy.update(cost.units)
    for name, cycles in busy.items():
        yield cycles, f"{name} is busy in every cycle"


def _begun(costs: Sequence[Cost], width: int) -> Iterator[tuple[float, str]]:
    """The cycles that it takes to issue the micro-operations."""
    count = sum(cost.micro_operations for cost in costs)
    if width:
        yield count / width, f"{count} micro-operations, of which {width} issue in a cycle"
    else:
        yield 0.0, ""


def _waiting(rows: Sequence[str], costs: Sequence[Cost]) -> Iterator[tuple[float, str]]:
    """The latency of each loop-carried dependency through a vector register."""
    chains: Counter[str] = Counter()
    broken: set[str] = set()
    for row, cost in zip(rows, costs, strict=True):
        word, operands = row.split(None, 1) if len(row.split(None, 1)) == 2 else (row, "")
        named = registers(row)
        if _WRITES_NOTHING.match(word) or not named or operands.lstrip().startswith("["):
            continue
        chains[named[0]] += cost.latency
        if named[0] not in named[1:] and not _READS_ITS_RESULT.match(word):
            broken.add(named[0])
        broken.update(named[1:2] if word.startswith("ldp") else ())
    for name, cycles in chains.items():
        if name.startswith(_VECTORS) and name not in broken:
            yield cycles, "an accumulator waits for its previous value"
