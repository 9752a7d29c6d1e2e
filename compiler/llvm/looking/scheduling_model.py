"""LLVM's scheduling model: the units that instructions of a processor keep busy, and for how long.

    FMLAv4i32_indexed    1 micro-operation, N1UnitV for 0.5 cycles, ready after 4

LLVM prints it while it schedules (`-debug-only=machine-scheduler`): before registers are assigned
and, with `-misched-postra`, also afterwards, when there are paired loads and spills. A unit's row
is its cycles and a factor, `+1x3u`. The cycles times the factor, divided by one number for the
whole model, are the cycles that all units of the kind need together. This number is a multiple of
all factors, and is found from the cycles that LLVM prints next to its counts.

Relies on: an LLVM that was built to print this. Ensures: None if it prints nothing.
"""

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

OPTIONS = ("-debug-only=machine-scheduler", "-misched-postra", "-enable-post-misched")
"""The options that make LLVM print it."""
MOST = 12
"""The number of multiples of the factors to try: no model has more than a few units besides those
that were seen. A choice."""
_UNIT = re.compile(r"^SU\(\d+\):\s+(?P<text>.*)$")
_LATENCY = re.compile(r"^  Latency\s+: (?P<cycles>\d+)$")
_PLACED = re.compile(r"^Scheduling SU\(\d+\) (?P<text>.*)$")
_RESOURCE = re.compile(r"^  (?P<name>\w+) \+(?P<cycles>\d+)x(?P<factor>\d+)u$")
_ZONE = re.compile(r"^(?P<zone>Top|Bot)Q\.A @\d+c$")
_RETIRED = re.compile(r"^  Retired: (?P<count>\d+)$")
_CRITICAL = re.compile(r"^  Critical: (?P<cycles>\d+)c, (?P<count>\d+) (?P<name>\w+)$")
_WIDTH = re.compile(r"^  \*\*\* Max MOps (?P<count>\d+) at cycle")
_OPCODE = re.compile(r"(?:^|\s)(?P<name>[A-Z][A-Z0-9]\w*)")
_ENCODED = re.compile(r"^(?P<stem>V[A-Z0-9]+?)(?P<wide>Y?)(?P<operands>[rm][a-z0-9]*)$")
_DOMAINS = (("VANDNPS", "VPANDN"), ("VANDPS", "VPAND"), ("VORPS", "VPOR"), ("VXORPS", "VPXOR"),
            ("VMOVAPS", "VMOVDQA"), ("VMOVUPS", "VMOVDQU"))  # fmt: skip
_ONE = ("SS", "SD", "SH")
_REGION = "********** MI Scheduling"
_MICRO = "MOps"


@dataclass(slots=True)
class Cost:
    """An instruction: its micro-operations, its latency, and for each kind of unit the cycles that
    all units of that kind together are busy with it.
    """

    latency: int = 1
    micro_operations: int = 1
    units: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SchedulingModel:
    """The instructions of a processor that LLVM scheduled, by its own names for them; `width` is
    the issue width, micro-operations in a cycle, 0 if unknown.
    """

    costs: dict[str, Cost]
    width: int

    def of(self, name: str) -> Cost | None:
        """The cost of an instruction, whose name may have changed since LLVM scheduled it."""
        return next((self.costs[it] for it in _spellings(name) if it in self.costs), None)


def _spellings(name: str) -> Iterator[str]:
    """The name, and others that the instruction may have had before LLVM shortened its encoding:
    x86 has several encodings, and several names for bitwise operations and moves.
    """
    others = [name.removesuffix("_REV"), name.replace("i8", "i32"), name.replace("i8", "i")]
    others += [name.replace(a, b) for pair in _DOMAINS for a, b in (pair, pair[::-1])]
    for each in dict.fromkeys((name, *others)):
        yield each
        match = _ENCODED.match(each)
        if match is None:
            continue
        for kind in ("", "D", "Q", "32", "64"):
            # scalar instructions have no width, and Z of vectors is 512 bits
            is_one = match["stem"].endswith(_ONE)
            width = "Z256" if match["wide"] else "Z" if is_one else "Z128"
            yield f"{match['stem']}{kind}{width}{match['operands']}"


def model(printed: str) -> SchedulingModel | None:
    """The model from LLVM's output; None if it has no model, or does not print it."""
    reader = _Reader()
    for line in printed.splitlines():
        reader.read(line)
    if not reader.factors:
        return None
    cycles = _cycles(reader.factors, reader.width, reader.seen)
    for name, rows in reader.rows.items():
        cost = reader.costs.setdefault(name, Cost())
        cost.units = {unit: count * reader.factors[unit] / cycles for unit, count in rows.items()}
    return SchedulingModel(reader.costs, reader.width)


class _Reader:
    """The state of reading the lines one after the other."""

    def __init__(self) -> None:
        self.costs: dict[str, Cost] = {}
        self.rows: dict[str, dict[str, int]] = {}
        """For each instruction the cycles of each of its units."""
        self.factors: dict[str, int] = {}
        self.seen: set[tuple[str, int, int]] = set()
        """Units, their counted cycles, and the cycles that LLVM states for them."""
        self.width = 0
        self._listed = ""
        self._placed = ""
        self._zone = ""
        self._retired: dict[str, int] = {}

    def read(self, line: str) -> None:
        """Read one line; most are not about the model."""
        if line.startswith(_REGION):
            self._retired, self._placed = {}, ""
        elif match := _UNIT.match(line):
            self._listed = _opcode(match["text"])
        elif match := _LATENCY.match(line):
            self._ready(int(match["cycles"]))
        elif match := _PLACED.match(line):
            self._placed = _opcode(match["text"])
            self.rows.pop(self._placed, None)
        elif match := _ZONE.match(line):
            self._zone = match["zone"]
        elif match := _WIDTH.match(line):
            count = int(match["count"])
            self.width = min(self.width or count, count)
        else:
            self._counted(line)

    def _ready(self, cycles: int) -> None:
        if self._listed:
            cost = self.costs.setdefault(self._listed, Cost(latency=0))
            cost.latency = max(cost.latency, cycles)
            self._listed = ""

    def _counted(self, line: str) -> None:
        """A line of what was counted when an instruction was placed."""
        if match := _RESOURCE.match(line):
            unit, cycles = match["name"], int(match["cycles"])
            self.factors[unit] = int(match["factor"])
            if self._placed:
                row = self.rows.setdefault(self._placed, {})
                row[unit] = row.get(unit, 0) + cycles
        elif match := _RETIRED.match(line):
            self._retire(int(match["count"]))
        elif (match := _CRITICAL.match(line)) and match["name"] != _MICRO:
            self.seen.add((match["name"], int(match["count"]), int(match["cycles"])))

    def _retire(self, count: int) -> None:
        """Record the retired micro-operations, some of which belong to the last instruction."""
        count_of_zone = count - self._retired.get(self._zone, 0)
        self._retired[self._zone] = count
        if self._placed and count_of_zone >= 0:
            self.costs.setdefault(self._placed, Cost()).micro_operations = count_of_zone
        self._placed = ""


def _opcode(text: str) -> str:
    match = _OPCODE.search(text)
    return match["name"] if match else ""


def _cycles(factors: dict[str, int], width: int, seen: Iterable[tuple[str, int, int]]) -> int:
    """The divisor of cycles times factors."""
    least = math.lcm(*factors.values(), width or 1)
    uses = [(count * factors[unit], cycles) for unit, count, cycles in seen if unit in factors]
    for times in range(1, MOST + 1):
        if all(total // (least * times) == cycles for total, cycles in uses):
            return least * times
    return least
