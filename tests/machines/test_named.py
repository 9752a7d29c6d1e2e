"""The table of machines: every row is whole, its figures can be, and LLVM knows its processor."""

import json
import math
import subprocess
import sys
from dataclasses import fields

import pytest

from compiler.machines.model import DEFAULT, MachineModel
from compiler.machines.named import MACHINES, Machine, named

every_machine = pytest.mark.parametrize("machine", MACHINES.values(), ids=MACHINES)
RECOGNISED = """
import json, sys
import llvmlite.binding as llvm
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()
made = []
for triple, cpu, features in json.load(sys.stdin):
    print(triple, cpu, file=sys.stderr)
    machine = llvm.Target.from_triple(triple).create_target_machine(cpu=cpu, features=features)
    module = llvm.parse_assembly("define i32 @f(i32 %x) {\\n  ret i32 %x\\n}")
    module.triple, module.data_layout = triple, str(machine.target_data)
    made.append(len(machine.emit_assembly(module)))
json.dump(made, sys.stdout)
"""


def is_power(number: int) -> bool:
    return number > 0 and not number & (number - 1)


@every_machine
def test_a_row_is_whole(machine: Machine) -> None:
    assert MACHINES[machine.id] is machine and machine.model.name == machine.id
    assert machine.title and machine.note.endswith(".") and machine.comment in ("#", "//", ";")
    assert named(machine.id) is machine.model and machine.model.origins
    assert sum(it.title == machine.title for it in MACHINES.values()) == 1


def test_a_name_that_is_no_row() -> None:
    assert named("apple-m0") is None and named("") is None


@every_machine
def test_vectors_and_registers_can_be(machine: Machine) -> None:
    model = machine.model
    assert is_power(model.vector_bytes) and 16 <= model.vector_bytes <= 64
    assert 256 <= model.vector_bytes * model.registers <= 4096
    assert machine.has_avx512 == (model.vector_bytes == 64 and machine.triple.startswith("x86"))
    assert 0.25 <= model.multiply_adds <= 4 and 0.25 <= model.loads <= 4
    assert 2 <= model.latency <= 16
    # the sums that hide the latency leave registers for what they are made of
    assert model.multiply_adds * model.latency <= model.registers


@every_machine
def test_caches_and_pages_can_be(machine: Machine) -> None:
    model = machine.model
    first, second, third = model.cache_bytes
    assert 16 * 1024 <= first < second <= third
    for size, ways in zip(model.cache_bytes, model.ways, strict=True):
        assert 2 <= ways <= 32 and size % (64 * ways) == 0, "whole sets of lines"
    assert is_power(model.page_bytes) and model.page_bytes >= 4096
    assert model.pages % model.page_ways == 0
    assert 1 <= model.cores <= 64


@every_machine
def test_times_can_be(machine: Machine) -> None:
    model = machine.model
    for field in fields(MachineModel):
        if field.name.endswith("_ns"):
            assert 0 < getattr(model, field.name) < 1e4, field.name
    assert list(model.read) == sorted(model.read, reverse=True)
    assert list(model.write) == sorted(model.write, reverse=True) and model.write[3] > 0
    least = model.cycle_ns / (model.multiply_adds * model.lanes(4))
    assert least < model.fma_ns < 2 * least, "not faster than the processor can, nor much slower"
    assert model.vector_ns < model.scalar_ns or model.vector_bytes == 16
    assert {op for op, _ in model.operations} == {op for op, _ in DEFAULT.operations}
    assert all(0 < ns < math.inf for _, ns in model.operations)


@every_machine
def test_print_says_where_its_figures_come_from(machine: Machine) -> None:
    lines = str(machine.model).splitlines()
    assert lines[0] == f"machine {machine.id}"
    assert all(line.endswith(f"the table's row {machine.id}") for line in lines[1:-1])


def test_llvm_knows_every_processor() -> None:
    """LLVM takes a name that it does not know for the plainest one, and says so."""
    rows = [(it.triple, it.cpu, it.features) for it in MACHINES.values()]
    asked = [*rows, ("aarch64-unknown-linux-gnu", "neoverse-n0", "")]
    done = subprocess.run(
        [sys.executable, "-c", RECOGNISED], input=json.dumps(asked),
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert len(json.loads(done.stdout)) == len(asked)
    said = done.stderr.splitlines()
    unknown = [line for line in said if "not a recognized" in line]
    assert unknown and all("'neoverse-n0'" in line for line in unknown), done.stderr
    assert [line for line in said if line not in unknown] == [f"{it[0]} {it[1]}" for it in asked]
