"""Loops whose time is a known number of cycles: what is in them, and what follows from it."""

import re
from dataclasses import replace

import pytest

from compiler.device import calibration, cycles
from compiler.device.cycles import Cycles, Loops, nearest, source
from compiler.llvm import jit
from compiler.machines import at_hand
from compiler.machines.model import DEFAULT
from compiler.machines.named import MACHINES
from compiler.machines.processors import has_multiply_add, host


def here(text: str) -> str:
    """The assembly of a module for this host, as `Loops` has it made."""
    with jit.parse(text) as module, jit.borrowed_machine(cycles.LEVEL.number) as machine:
        jit.optimise(module, machine, cycles.LEVEL)
        return str(machine.emit_assembly(module))


def body(assembly: str, name: str) -> list[str]:
    """The instructions of the loop of a function."""
    rows = assembly.partition(f"{name}:\n")[2].splitlines()
    begin = next(n for n, row in enumerate(rows) if "LBB" in row and row.rstrip().endswith(":"))
    end = next(n for n, row in enumerate(rows) if n > begin and "LBB" in row)
    found = (row.strip() for row in rows[begin + 1 : end])
    return [row for row in found if not row.startswith(".")]


@pytest.mark.skipif(not jit.is_x86(), reason="the words are those of x86")
def test_what_is_counted_is_in_the_loops_and_nothing_else_of_its_kind() -> None:
    """LLVM takes nothing out of a loop, and puts nothing into one."""
    stated = at_hand.stated(host())
    lanes = stated.lanes(4)
    text = here(source(lanes, stated.registers, has_multiply_add()))
    chain = body(text, "chain")
    assert sum(bool(re.fullmatch(r"(add|xor)\s+r\w+, r\w+", it)) for it in chain) == cycles.LINKS
    assert len(chain) <= cycles.LINKS + 4
    loads = body(text, "loads")
    assert sum("ptr [" in it for it in loads) == cycles.loads_of(lanes)
    if has_multiply_add():
        side = stated.registers * 3 // 4 * cycles.ROUNDS
        assert sum(it.startswith("vfm") for it in body(text, "lanes")) == side
        assert sum(it.startswith("vfm") for it in body(text, "adds")) == cycles.LINKS // 4
        assert len(body(text, "lanes")) <= side + 4, "nothing is spilled"


def test_a_cycle_of_this_host_is_found() -> None:
    loops = Loops(at_hand.stated(host()), has_multiply_add())
    loops.run(0.02)
    first = loops.found()
    loops.run(0.02)
    assert 0.05 < loops.found().ns <= first.ns < 10, "the least of all times"


@pytest.mark.parametrize(("found", "figure"), [
    (1.97, 2.0), (2.2, 2.0), (1.2, None), (1.5, None), (0.52, 0.5), (3.9, 4.0), (9.0, None),
])  # fmt: skip
def test_only_a_figure_that_stands_out_is_taken(found: float, figure: float | None) -> None:
    assert nearest(found, cycles.SHARES) == figure


def test_the_figures_follow_from_the_times() -> None:
    """A processor of 4 GHz with three loads, two multiply-adds of five cycles."""
    loops = Loops(replace(DEFAULT, registers=32), has_fma=has_multiply_add())
    turns = cycles.ITERATIONS
    loops.has_fma = True
    loops._least = {
        "chain": turns * cycles.LINKS * 0.25, "adds": turns * cycles.LINKS / 4 * 5 * 0.25,
        "lanes": turns * 24 * cycles.ROUNDS * 0.25 / 2,
        "loads": turns * cycles.loads_of(DEFAULT.lanes(4)) * 0.25 / 3,
    }  # fmt: skip
    assert loops.found() == Cycles(0.25, 0.125, 5.0, 2.0, 3.0)
    loops.has_fma = False
    assert loops.found() == Cycles(0.25, None, None, None, 3.0)


# --- what calibration makes of them -----------------------------------------------------------

TABLE = MACHINES["x86-avx2"].model


def test_a_processor_that_no_row_is_about_gets_what_was_found() -> None:
    made = calibration.in_cycles(TABLE, Cycles(0.25, 0.25, 5.0, 1.0, 3.0), is_in_table=False)
    assert (made.multiply_adds, made.latency, made.loads) == (1.0, 5.0, 3.0)
    assert made.cycle_ns == 0.25
    assert made.fma_ns == pytest.approx(0.25 / 8 / calibration.BUSY)
    assert dict(made.origins)["loads"] == calibration.WORDS


def test_a_processor_of_the_table_keeps_what_its_maker_says() -> None:
    """Somebody on the same core halved all that is side by side."""
    made = calibration.in_cycles(TABLE, Cycles(0.25, 0.25, 4.0, 1.0, 1.0), is_in_table=True)
    assert (made.multiply_adds, made.loads) == (TABLE.multiply_adds, TABLE.loads)
    assert made.cycle_ns == 0.25, "twice as long would be the neighbour's"
    assert dict(made.origins)["loads"] == "the table's row x86-avx2"


def test_a_cycle_is_longer_where_wide_vectors_slow_it_down() -> None:
    slowed = Cycles(0.25, 0.16, None, None, None)
    assert calibration.in_cycles(TABLE, slowed, True).cycle_ns == pytest.approx(0.32)
    for is_in_table in (True, False):
        made = calibration.in_cycles(TABLE, Cycles(0.3, None, None, None, None), is_in_table)
        assert made.cycle_ns == 0.3 and made.latency == TABLE.latency
