"""Optimised IR and assembly lead back to the lines of the user's program."""

import re

import networkx as nx
import pytest

from compiler.llvm import jit
from compiler.llvm.looking import inherited
from compiler.llvm.looking.listing import with_locations
from compiler.program.compilation import Compilation, compile
from compiler.settings.options import Options
from tests.llvm.programs import PROGRAMS, floats

INDEX = re.compile(r"= (add|sub|mul|and|or|icmp|select)\b.* (i64|i1)\b")
"""Instructions on indices and on the truth of guards."""


@pytest.fixture(scope="module", params=("softmax", "perceptron", "moved", "whole", "nothing"))
def compilation(request: pytest.FixtureRequest) -> Compilation:
    return compile(PROGRAMS[request.param](), name=request.param)


def parents_of(compilation: Compilation) -> dict[str, tuple[str, ...]]:
    """The parents of every entity of every stage."""
    stages = (*compilation.stages, *compilation.optimized, *compilation.assembly)
    return {line.entity: line.parents for s in stages for line in s.lines if line.entity}


def origins(entity: str, parents: dict[str, tuple[str, ...]]) -> set[str]:
    """The user's lines that an entity leads back to."""
    found, stack = {entity}, [entity]
    while stack:
        for parent in parents.get(stack.pop(), ()):
            if parent not in found:
                found.add(parent)
                stack.append(parent)
    return {e for e in found if e.startswith("source:")}


@pytest.mark.parametrize("name", ["softmax", "perceptron", "layernorm"])
def test_assembly_leads_back_to_the_program(name: str) -> None:
    compilation = compile(PROGRAMS[name](), name=name)
    parents = parents_of(compilation)
    for listing in compilation.assembly:
        code = [line for line in listing.lines if line.text.startswith(" ")]
        linked = [line for line in code if origins(line.entity or "", parents)]
        assert len(code) > 10
        # the others set up the table of addresses and constants, or leave the function
        assert len(linked) / len(code) >= 0.9, f"{len(linked)} of {len(code)} in {listing.name}"


def test_optimised_instructions_lead_back(compilation: Compilation) -> None:
    parents = parents_of(compilation)
    for listing in compilation.optimized:
        code = [line for line in listing.lines if line.text.startswith("  ")]
        linked = [line for line in code if origins(line.entity or "", parents)]
        # Arithmetic of indices and guards belongs to a movement of data, which no line computes.
        left = [x for x in code if x not in linked and not INDEX.search(x.text)]
        # The two are `ret`, which no instruction asked for, and a call that LLVM made up.
        assert len(left) <= 2 + 0.1 * len(code), str(listing)


def test_parents_are_lines_of_the_generated_text(compilation: Compilation) -> None:
    for stages in (compilation.optimized, compilation.assembly):
        for listing, source in zip(stages, compilation.source, strict=True):
            known = {line.entity for line in source.lines}
            for line in listing.lines:
                assert set(line.parents) <= known


def test_listings_have_text_and_no_debug_information(compilation: Compilation) -> None:
    for listing in (*compilation.optimized, *compilation.assembly):
        text = str(listing)
        assert text == "\n".join(line.text for line in listing.lines)
        assert "!dbg" not in text and ".loc" not in text and ".debug" not in text
        assert [line.entity for line in listing.lines] == [
            f"{listing.prefix}:{listing.kernel}:{n}" for n in range(1, len(listing.rows) + 1)
        ]


def test_control_flow_is_connected_with_one_entry(compilation: Compilation) -> None:
    for listing in (*compilation.optimized, *compilation.assembly):
        graph = listing.to_networkx()
        entries = [n for n in graph if not graph.in_degree(n)]
        assert len(entries) == 1, [graph.nodes[n]["op"] for n in entries]
        assert set(nx.descendants(graph, entries[0])) | {entries[0]} == set(graph)
        assert all(facts["kind"] == "basicblock" for _, facts in graph.nodes(data=True))


def test_a_loop_is_a_cycle() -> None:
    x = floats(50, 300)
    compilation = compile((x - x.max(1, keepdim=True)).exp())
    for stage in (*compilation.source, *compilation.assembly):
        assert not nx.is_directed_acyclic_graph(stage.to_networkx()), stage.title


def test_locations_number_the_lines_of_the_source() -> None:
    (source,) = compile(PROGRAMS["softmax"]()).source
    text = with_locations(source)
    jit.parse(text)
    rows = text.splitlines()[: len(source.rows)]
    for number, (row, located) in enumerate(zip(source.rows, rows, strict=True), start=1):
        found = re.search(r",? !dbg !(\d+)", located)
        plain = located.replace(found[0], "") if found else located
        assert plain.split() == row.text.split()
        if row.text.startswith("  ") and not row.text.lstrip().startswith(";"):
            assert found and f"!{found[1]} = !DILocation(line: {number}, column: 1," in text


def test_without_optimisation_the_listing_keeps_the_loops() -> None:
    compilation = compile(PROGRAMS["softmax"](), Options(optimize=0, loops="plain"))
    (optimized,) = compilation.optimized
    assert "i0." in str(optimized)
    assert compilation.check().ok


IR = (
    "define void @k(ptr %out, ptr %in) {",
    "  %a = getelementptr i8, ptr %in, i64 8",
    "  br label %next",
    "next:",
    "  %p = phi float [ %b, %entry ], [ %c, %next ]",
    "  %b = load float, ptr %a",
    "  %c = fadd float %p, %b",
    "  store float %c, ptr %out",
    "  ret void",
    "}",
)


def test_ir_inherits_from_its_first_reader_or_from_what_it_reads() -> None:
    given = [(), (), (), (), (), (), (7,), (), (), ()]
    assert inherited.of_optimized(IR, given) == [
        (), (7,), (), (7,), (7,), (7,), (7,), (7,), (), (),
    ]  # fmt: skip
    assert inherited.of_optimized(IR, [()] * len(IR)) == [()] * len(IR)


def test_the_end_of_a_function_has_the_lines_of_its_head() -> None:
    found = inherited.of_optimized(("define void @k() {", "  ret void", "}"), [(1,), (9,), ()])
    assert found == [(1,), (9,), (1,)]


def test_assembly_inherits_through_registers_of_any_width() -> None:
    rows = (
        "k0:",
        "  vbroadcastss zmm3, dword ptr [rip + .LC]",
        "  mov     eax, 9",
        "  vaddps  ymm1, ymm2, ymm3",
        "  add     rax, rcx",
        "  vmovups [rdi], xmm1",
        "  vzeroupper",
        "  ret",
    )
    given = [(), (), (), (4,), (5,), (), (), ()]
    assert inherited.of_assembly(rows, given) == [(4,), (4,), (5,), (4,), (5,), (4,), (), ()]
