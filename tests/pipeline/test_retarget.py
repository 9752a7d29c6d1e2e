"""Loops of a kernel for another machine: that machine's, of the same kernel, and never an error."""

from dataclasses import replace

import numpy as np
import pytest

from compiler import Compilation, Options, Tensor, compile
from compiler.loops.choices import text
from compiler.machines.named import MACHINES
from compiler.pipeline import retarget as retargeting
from compiler.pipeline.kernels import CompiledKernel, compile_kernel
from compiler.pipeline.retarget import counterparts, for_machine, retarget
from compiler.settings.options import Measured
from tests.llvm.programs import PROGRAMS
from tests.loops.assembled import assembled
from tests.loops.choosing.test_spills import MOST, inner_loops, stack

WIDE = {"arm-neon": 16, "apple-m1": 16, "x86-avx2": 32}
REGISTERS = {"arm-neon": r".4s", "apple-m1": r"fmla.4s", "x86-avx2": "ymm"}


def product() -> Tensor:
    """256³."""
    rng = np.random.default_rng(0)
    x, y = (Tensor(rng.standard_normal((256, 256)).astype("f4")) for _ in range(2))
    return x @ y


@pytest.fixture(scope="module")
def program() -> Compilation:
    return compile(product(), Options(machine="x86-avx512"))


def kernel_of(made: Compilation) -> CompiledKernel:
    (body,) = made._scheduled.outlined.bodies
    return made.kernel(body)


@pytest.mark.parametrize("machine", WIDE)
def test_the_inner_loop_is_that_machines(program: Compilation, machine: str) -> None:
    (listing,) = program.assembly_for(machine)
    loops = inner_loops(listing.name, listing.rows)
    tile = max(loops, key=lambda it: it.products)
    assert not tile.spilled(stack(listing.rows))
    products = [row for row in tile.rows if row.startswith(("fmla", "vfmadd"))]
    assert products and all(REGISTERS[machine] in row for row in products)
    inner = listing.inner
    assert inner is not None and (inner.stack, inner.multiply_adds) == (0, tile.products)
    assert inner.flops == 2 * tile.products * WIDE[machine] // 4
    assert inner.instructions == len(tile.rows)
    if machine != "x86-avx2":
        assert len(tile.rows) <= MOST * tile.products
    assert inner.cycles and inner.share is not None and 0.7 < inner.share <= 1, inner


@pytest.mark.parametrize("machine", WIDE)
def test_as_if_it_were_compiled_for_it(program: Compilation, machine: str) -> None:
    (listing,) = program.assembly_for(machine)
    made = compile(product(), Options(machine=machine))
    (own,) = made.assembly_for(machine)
    assert listing.rows == own.rows and listing.notes == own.notes
    assert listing.choices == f"loops: {text(made.choices['k0'])}"
    assert str(listing).splitlines()[0] == f"{MACHINES[machine].comment} {listing.choices}"


def test_what_a_user_chose_stays() -> None:
    given = "tile i1 16; vectorize i1.1"
    for loops, shown in (("plain", "plain"), ({"k0": given}, "tile i1 16 peel; vectorize i1.1")):
        made = compile(product(), Options(machine="x86-avx512", loops=loops))
        (listing,) = made.assembly_for("apple-m1")
        assert listing.choices == f"loops: {shown}"


def test_what_was_measured_here_says_nothing_of_another(program: Compilation) -> None:
    how = replace(program.options, loops=Measured({"k0": "vectorize i1"}), tune=1.0)
    asked = for_machine(how, "apple-m1")
    assert (asked.loops, asked.tune, asked.machine) == ("auto", 0.0, "apple-m1")


def test_the_same_machine_is_the_same_kernel(program: Compilation) -> None:
    kernel = kernel_of(program)
    assert retarget(kernel, program.options, "x86-avx512").kernel is kernel


def test_what_cannot_be_chosen_has_the_loops_of_this_host(
    program: Compilation, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> CompiledKernel:
        raise RuntimeError("no registers\nat all")

    monkeypatch.setattr(retargeting, "compile_kernel", fail)
    kernel = kernel_of(program)
    found = retarget(kernel, program.options, "apple-m1")
    assert found.kernel is kernel and found.because == "RuntimeError: no registers"
    (listing,) = program.assembly_for("apple-m1")
    assert listing.choices.startswith("loops of this host, tile i0 6 peel;")
    assert listing.choices.endswith(": RuntimeError: no registers")


@pytest.mark.parametrize("name", ["perceptron", "softmax", "layernorm"])
def test_instructions_lead_to_those_of_the_same_nodes(name: str) -> None:
    made = compile(PROGRAMS[name](), Options(machine="x86-avx512"))
    for number, body in enumerate(made._scheduled.outlined.bodies):
        host = made.kernel(body)
        how = for_machine(made.options, "apple-m1")
        own = compile_kernel(host.name, body, how, number)
        places = counterparts(own, host)
        assert sum(map(bool, places)) >= 0.9 * len(places)
        for node, found in zip(own.linear.origins, places, strict=True):
            for place in found:
                other = host.linear.origins[place]
                assert own.provenance.of(node) == host.provenance.of(other)


def test_they_are_taken_in_step(program: Compilation) -> None:
    kernel = kernel_of(program)
    assert counterparts(kernel, kernel) == [(n,) for n in range(len(kernel.linear.instructions))]


FAST = ("arm-neon", "x86-avx2", "wasm")


@pytest.fixture(scope="module")
def programs() -> Compilation:
    return compile([make() for make in PROGRAMS.values()], Options(machine="x86-avx512"))


@pytest.mark.parametrize("machine", MACHINES)
def test_every_program_has_assembly_for_every_machine(programs: Compilation, machine: str) -> None:
    for listing in assembled({"": programs}, machine)[""]:
        assert listing.rows and listing.choices.startswith("loops: ")


@pytest.mark.parametrize("machine", FAST)
def test_what_an_iteration_takes_is_told_with_its_reason(
    programs: Compilation, machine: str
) -> None:
    found = [it.inner for it in programs.assembly_for(machine) if it.inner is not None]
    assert found and all(it.because for it in found)
