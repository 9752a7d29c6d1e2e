"""Object files for an Apple processor: of the right machine, and in need only of what macOS has."""

import json
import re
import struct
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from compiler.llvm.looking.listing import linked_assembly
from compiler.machines import system
from compiler.threads import driver
from tests.machines import mach_o
from tests.machines.mach_o import ARM64, X86, ObjectFile, read

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = {
    "_fmod", "_fmodf", "_memcpy", "_memmove", "_memset", "_bzero", "_pthread_cond_broadcast",
    "_pthread_cond_wait", "_pthread_mutex_lock", "_pthread_mutex_unlock", "_sched_yield",
}  # fmt: skip
"""Functions of macOS's libSystem, which every process has; C's names with a _ before them."""


@cache
def made() -> dict[str, ObjectFile]:
    """Every object file by the name of its program, made in another process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.machines.mach_o"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {name: ObjectFile(**row) for name, row in json.loads(done.stdout).items()}


def test_all_are_of_an_apple_processor_and_have_code() -> None:
    assert len(made()) > 300
    for name, found in made().items():
        assert found.processor == (X86 if "x86" in name else ARM64), name
        assert found.sections["__text"] > 0, name
        assert set(found.sections) <= {"__text", "__const", "__literal8", "__literal16"}, name


def test_kernels_have_the_name_by_which_they_are_called() -> None:
    """Underscore and all: LLVM adds it, and takes it off where it looks a function up."""
    programs = [found for name, found in made().items() if "driver" not in name]
    assert all("_kernel" in found.defined for found in programs)
    assert sum("_kernel.task" in found.defined for found in programs) > 15


def test_only_functions_that_macos_has_are_needed() -> None:
    for name, found in made().items():
        assert set(found.needed) <= LIBRARY, name
    of_programs = [it for it in made() if it.split()[0] in mach_o.SIZED]
    assert of_programs and not any(made()[it].needed for it in of_programs)
    assert "_fmodf" in made()["float32 4 0"].needed, "what is needed is seen"


def test_the_driver_needs_threads_alone() -> None:
    for found in (made()["driver"], made()["driver, x86-64"]):
        own = {"_kernel", "_sv.each", "_sv.worker", "_sv.stop", "_sv.pause", "_sv.copy", "_sv.mark"}
        assert own == set(found.defined)
        threads = {it for it in LIBRARY if "pthread" in it or "sched" in it}
        assert set(found.needed) == {*threads, "_memmove"}


def test_the_driver_waits_as_each_family_does() -> None:
    texts = {family: driver.source(family) for family in (driver.X86, driver.ARM, "another")}
    assert "@llvm.aarch64.isb(i32 15)" in texts[driver.ARM]
    assert "@llvm.x86.sse2.pause()" in texts[driver.X86]
    plain = texts["another"].replace("llvm.memmove.", "")
    assert "llvm." not in plain and "fence seq_cst" in plain
    assert all("PAUSE" not in text for text in texts.values())


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(ValueError, match="0x464c457f is no Mach-O"):
        read(b"\x7fELF" + bytes(28))
    head = struct.pack("<8I", mach_o.MAGIC, ARM64, 0, 1, 0, 0, 0, 0)
    assert read(head) == ObjectFile(ARM64, {}, (), ())


def test_assembly_has_only_instructions_and_what_jumps_name() -> None:
    """macOS's own labels, of functions and of constants, are for its linker and debuggers."""
    x = Tensor(np.ones((33, 65), np.float32))
    made = compile((x + 1).exp().sum(1), Options(machine="apple-m1"))
    (listing,) = made.assembly_for("apple-m1")
    labels = [row[:-1] for row in listing.rows if row.endswith(":")]
    assert labels[0] == "_k0" and len(labels) > 1
    assert all(re.fullmatch(r"LBB\d+_\d+", each) for each in labels[1:])
    assert not any(row.strip().startswith(".") or ";" in row for row in listing.rows)
    rows, _ = linked_assembly("_k:\nlCPI0_0:\n\t.long 1\n\tret ; done\nLfunc_end0:\n", ";")
    assert rows == ["_k:", "  ret"]
    assert [system.comment_of(is_x86=it) for it in (True, False)] == ["#", "//"] or system.IS_MAC
