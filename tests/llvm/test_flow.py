"""Blocks, jumps and loops of texts of instructions, of all machines."""

import pytest

from compiler.llvm.flow import Flow, flow
from compiler.llvm.source import label_of, targets_of
from compiler.program.compilation import compile
from compiler.settings.options import Options
from tests.llvm.programs import PROGRAMS


def simple_label(text: str) -> str | None:
    return text[:-1] if text.endswith(":") else None


def simple_targets(text: str) -> tuple[list[str], bool]:
    word, *rest = text.split()
    return rest if word in ("if", "go") else [], word in ("go", "end")


def made(*lines: str) -> Flow:
    return flow(lines, simple_label, simple_targets)


def jumps(found: Flow) -> set[tuple[int, int, str]]:
    return {(j.source, j.target, j.way) for j in found.jumps}


def test_a_jump_ends_its_block_even_where_no_label_follows() -> None:
    found = made("a", "if out", "b", "out:", "c", "end")
    assert [(b.label, b.first, b.end) for b in found.blocks] == [
        ("entry", 0, 2), ("block 1", 2, 3), ("out", 3, 6)
    ]  # fmt: skip
    assert jumps(found) == {(0, 2, "taken"), (0, 1, "next"), (1, 2, "next")}
    assert not any(j.is_back for j in found.jumps)


def test_nested_loops() -> None:
    found = made("a", "outer:", "b", "inner:", "c", "if inner", "d", "if outer", "e", "end")
    loops = {b.label: b.loops for b in found.blocks}
    assert loops["entry"] == ()
    assert loops["outer"] == (1,)
    assert loops["inner"] == (1, 2)
    assert loops["block 3"] == (1,), "behind the inner loop, still in the outer one"
    assert loops["block 4"] == ()
    assert {(j.source, j.target) for j in found.jumps if j.is_back} == {(2, 2), (3, 1)}


def test_a_jump_backwards_that_closes_no_loop() -> None:
    # `low` is only reached from `high`, and jumps nowhere back: going up in the text is no loop
    found = made("go high", "low:", "end", "high:", "go low")
    assert not any(j.is_back for j in found.jumps)
    assert all(b.depth == 0 for b in found.blocks)


def test_two_ways_of_llvm_ir() -> None:
    text = ["  br i1 %c, label %a, label %b", "a:", "  ret void", "", "b:", "  br label %a"]
    found = flow(text, label_of, targets_of)
    assert jumps(found) == {(0, 1, "true"), (0, 2, "false"), (2, 1, "taken")}


@pytest.mark.parametrize("machine", ["", "arm-neon", "riscv-v", "nvptx"])
def test_every_machine_has_the_loops_of_the_program(machine: str) -> None:
    made = compile(PROGRAMS["spread"](), Options(loops="plain", optimize=0))
    listings = made.assembly_for(machine) if machine else made.assembly
    for listing, source in zip(listings, made.source, strict=True):
        expected = sum(".body:" in row.text or ".head:" in row.text for row in source.rows)
        found = listing.flow
        heads = {j.target for j in found.jumps if j.is_back}
        assert len(heads) == expected, str(listing)
        ends = [b for p, b in enumerate(found.blocks) if all(j.source != p for j in found.jumps)]
        assert len(ends) == 1
        assert found.blocks[-1].end <= len(listing.rows)
