"""Control flow of WebAssembly: branches leave so many constructs, or go back to a loop's head."""

import pytest

from compiler.llvm.looking.structured import structured
from compiler.program.compilation import compile
from compiler.settings.options import Options
from tests.llvm.programs import PROGRAMS

NEST = """k:
  local.get 0
  block
  loop
  local.get 1
  br_if 1
  loop
  local.get 2
  br_if 0
  end_loop
  br 0
  end_loop
  end_block
  local.get 3
  br_if 0
  nop
  end_function""".splitlines()


def test_a_branch_goes_to_a_loops_head_or_behind_a_block() -> None:
    found = structured(NEST)
    heads = {b.label: n for n, b in enumerate(found.blocks)}
    outer, inner = heads["loop, line 4"], heads["loop, line 7"]
    behind, end = heads["end_block, line 13"], heads["end_function, line 17"]
    jumps = {(j.source, j.target, j.way) for j in found.jumps}
    assert (outer, behind, "taken") in jumps, "br_if 1 leaves the block"
    assert (inner, inner, "taken") in jumps, "br_if 0 goes round the inner loop"
    assert (behind, end, "taken") in jumps, "br_if 0 outside of all leaves the function"
    assert {j.target for j in found.jumps if j.is_back} == {outer, inner}
    assert found.blocks[inner].loops == (outer, inner)
    assert found.blocks[behind].loops == ()


def test_the_label_that_stands_before_a_place_is_its_name() -> None:
    rows = ["k:", ".LBB0_1:", "  loop", "  br_if 0", "  end_loop", "  end_function"]
    found = structured(rows)
    (head,) = {j.target for j in found.jumps if j.is_back}
    assert (found.blocks[head].label, found.blocks[head].first) == (".LBB0_1", 1)


def test_lines_are_shared_out_over_the_blocks() -> None:
    found = structured(NEST)
    lines = [n for b in found.blocks for n in range(b.first, b.end)]
    assert lines == list(range(len(NEST)))
    assert found.blocks[0].label == "k"


def test_a_table_of_branches_and_two_functions() -> None:
    rows = ["a:", "  block", "  block", "  br_table {0, 1, 0}", "  end_block", "  nop",
            "  end_block", "  end_function", "b:", "  unreachable", "  end_function"]  # fmt: skip
    found = structured(rows)
    first = next(n for n, b in enumerate(found.blocks) if b.label == "a")
    ends = [n for n, b in enumerate(found.blocks) if b.label.startswith("end_block")]
    assert {j.target for j in found.jumps if j.source == first} == set(ends)
    other = next(n for n, b in enumerate(found.blocks) if b.label == "b")
    assert all(j.target < other for j in found.jumps if j.source < other), "functions are apart"


@pytest.mark.parametrize("name", ["spread", "softmax", "perceptron", "layernorm"])
def test_the_loops_of_a_program_are_found(name: str) -> None:
    made = compile(PROGRAMS[name](), Options(loops="plain", optimize=0))
    for listing, source in zip(made.assembly_for("wasm"), made.source, strict=True):
        loops = sum(row.split()[0] == "loop" for row in listing.rows)
        found = listing.flow
        heads = {j.target for j in found.jumps if j.is_back}
        assert len(heads) == loops, str(listing)
        assert loops == sum(".body:" in row.text or ".head:" in row.text for row in source.rows)
        graph = listing.to_networkx()
        assert len(graph) == len(found.blocks)
