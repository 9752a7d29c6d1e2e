"""Object files of macOS, made here and read: the native driver, the programs of the benchmark, and
every operation and conversion on every element type, in one lane and in four.

    python -m tests.machines.mach_o     a line of JSON: by name, what is in each object file

In a process of its own, because what is registered with LLVM stays. Kernels are made as `jit.py`
makes them, with loops for an Apple M1; nothing of it runs here.
"""

import itertools
import json
import struct
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import llvmlite.binding as llvm

from benchmarks.peers import on_svodviz
from compiler import Options, compile
from compiler.device.program import program_spec
from compiler.llvm import jit, unlocked
from compiler.llvm.emit import emit
from compiler.llvm.level import Level
from compiler.llvm.source import Source
from compiler.machines.named import MACHINES
from compiler.threads import driver
from compiler.threads.workers import LEVEL
from tests.benchmarks.test_at_hand import SIZED
from tests.evaluate import NUMPYS
from tests.lowered.operation_programs import conversions, elementwise

MAGIC, ARM64, X86 = 0xFEEDFACF, 0x0100000C, 0x01000007
SEGMENT, SYMBOLS = 0x19, 0x2
EXTERNAL, KIND, UNDEFINED = 0x01, 0x0E, 0x0
APPLE = MACHINES["apple-m1"]
OPERATIONS = Level(1, "few", "there are many")


@dataclass(frozen=True)
class ObjectFile:
    """The contents of an object file for a loader: its machine, its sections by name with their
    bytes, the functions that it defines and those that it needs."""

    processor: int
    sections: Mapping[str, int]
    defined: tuple[str, ...]
    needed: tuple[str, ...]


def read(code: bytes) -> ObjectFile:
    """The object file. Raises `ValueError` where it is none of 64 bits of macOS."""
    magic, processor, _, _, commands = struct.unpack_from("<5I", code)
    if magic != MAGIC:
        raise ValueError(f"{magic:#x} is no Mach-O of 64 bits")
    sections: dict[str, int] = {}
    defined: list[str] = []
    needed: list[str] = []
    place = 32
    for _ in range(commands):
        command, length = struct.unpack_from("<2I", code, place)
        if command == SEGMENT:
            sections |= _sections(code, place)
        elif command == SYMBOLS:
            for name, kind in _symbols(code, place):
                if kind & EXTERNAL:
                    (needed if kind & KIND == UNDEFINED else defined).append(name)
        place += length
    return ObjectFile(processor, sections, tuple(defined), tuple(needed))


def _sections(code: bytes, place: int) -> dict[str, int]:
    (count,) = struct.unpack_from("<I", code, place + 64)
    rows = (struct.unpack_from("<16s16s2Q", code, place + 72 + 80 * n) for n in range(count))
    return {name.rstrip(b"\0").decode(): size for name, _, _, size in rows}


def _symbols(code: bytes, place: int) -> Iterator[tuple[str, int]]:
    first, count, names, _ = struct.unpack_from("<4I", code, place + 8)
    for number in range(count):
        at, kind = struct.unpack_from("<IB", code, first + 16 * number)
        end = code.index(b"\0", names + at)
        yield code[names + at : end].decode(), kind


def texts() -> Iterator[tuple[str, str, Level]]:
    """Every kernel of the benchmark's programs with loops for an Apple M1, and the driver, called
    as `jit.object_code` calls them."""
    yield "driver", jit._nameless(driver.source(driver.ARM), "sv.run"), LEVEL
    for name, workload in SIZED.items():
        result = on_svodviz.result(workload, workload.data())
        made = compile(result, Options(machine=APPLE.id))
        for number, each in enumerate(made._generated):
            own, instructions = each.source.name, tuple(each.kernel.linear.instructions)
            rows = tuple(emit(own, instructions, has_avx512=False))
            source = Source(title=own, name=own, rows=rows, kernel=number)
            text = program_spec(own, source, "CPU", instructions).text
            yield f"{name} {number}", jit._nameless(text, own), each.kernel.level
    for dtype, lanes in itertools.product(NUMPYS, (1, 4)):
        for number, kernel in enumerate((*elementwise(dtype, lanes), *conversions(dtype, lanes))):
            rows = emit("kernel", kernel.instructions, has_avx512=False)
            yield f"{dtype} {lanes} {number}", "\n".join(row.text for row in rows), OPERATIONS


def object_code(text: str, level: Level, machine: Any) -> bytes:
    """The object file of a text, for a machine, as `jit.py` has it made for this one: LLVM takes
    names and layout from the machine, the module says nothing of them."""
    with jit.parse(text) as module:
        jit.optimise(module, machine, level)
        return unlocked.emit_object(machine, module)


def main() -> None:
    """Makes and reads all of them."""
    jit.host_features()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    target = llvm.Target.from_triple(APPLE.triple)
    machines = {
        number: target.create_target_machine(
            cpu=APPLE.cpu, features="", opt=number, reloc="pic", codemodel="small", jit=True
        )
        for number in range(4)
    }
    found = {}
    for name, text, level in texts():
        found[name] = asdict(read(object_code(text, level, machines[level.number])))
    intel = llvm.Target.from_triple("x86_64-apple-darwin").create_target_machine(
        cpu="haswell", features="", opt=LEVEL.number, reloc="pic", codemodel="large", jit=True
    )
    text = jit._nameless(driver.source(driver.X86), "sv.run")
    found["driver, x86-64"] = asdict(read(object_code(text, LEVEL, intel)))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
