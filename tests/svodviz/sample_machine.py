"""LLVM's work on the sample's kernels, made up: passes, remarks, assembly of other machines."""

from typing import Any

from compiler.llvm.level import Level
from compiler.llvm.looking.inner_loop import InnerLoop
from compiler.llvm.looking.listing import Listing
from compiler.llvm.looking.pass_changes import Change, Kind, PassRun, Printed
from compiler.llvm.looking.remarks import Remark

NO_NEON = "LLVM here cannot write this <b>machine</b>"


def pass_run(kernel: str, source: tuple[Any, ...], level: int | None) -> PassRun:
    """Two passes over the kernel's text and one over instructions; `kernel` is in all of it."""
    number = next((n for n, it in enumerate(source) if kernel.startswith(it.name)), 0)
    rows = tuple(line.text for line in source[number].lines)
    start = Printed(rows, tuple((n,) for n in range(1, len(rows) + 1)))
    first = Printed((f"; {kernel}", *rows[1:]), start.sources)
    second = Printed(rows[:1] + rows[2:], start.sources[:1] + start.sources[2:])
    code = Printed(("bb.0.entry:", f"  %0:gr64 = COPY $rdi ; {kernel}"), ((), (2,)))
    changes = (
        change("InstCombine", "IR", kernel, start, first),
        change("LoopVectorize", "IR", kernel, first, second),
        change("x86-isel", "machine", kernel, Printed(), code),
    )
    remarks = (
        Remark("vectorised by LLVM", f"vectorized loop {kernel}", 3, "i0", True),
        Remark(f"not vectorised: {kernel}", "loop not vectorized", 5, kernel, False),
        Remark("12 instructions in the kernel", "12 instructions", 0, "", None),
    )
    asked = Level(2 if level is None else level, "pipeline", f"of {kernel}")
    return PassRun(kernel, number, asked, start, changes, remarks, 2, 0.01)


def change(name: str, kind: Kind, kernel: str, before: Printed, after: Printed) -> Change:
    """One pass."""
    return Change(name, f"{name} {kernel}", kernel, kind, f"purpose of {kernel}", before, after)


def assembly_for(machine: str, source: tuple[Any, ...]) -> tuple[Listing, ...]:
    """A loop for each kernel, with its summary; there is none for NEON."""
    if machine == "arm-neon":
        raise RuntimeError(NO_NEON)
    rows = ("k:", "  mov x0, #0", ".LBB0_1:", "  add x0, x0, #1", "  b.ne .LBB0_1", "  ret")
    return tuple(
        Listing(title=it.title, name=it.name, rows=rows, sources=((), (1,), (), (2,), (3,), ()),
                kernel=number, prefix=machine, level=Level(2, "few", "made up"),
                choices=f"loops of {it.name}: tile i0 4", inner=InnerLoop(
                    ".LBB0_1", 2, 5, 2, 0, 0, 0, 0, 1.5, f"{it.name} is busy in every cycle"))
        for number, it in enumerate(source)
    )  # fmt: skip
