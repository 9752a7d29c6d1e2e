"""Assembly for machines that are not here: written by LLVM, linked to our IR, nothing of ours."""

import re
from dataclasses import replace

import pytest

from compiler.core.errors import DataError, DeviceError
from compiler.llvm.emit import emit
from compiler.llvm.looking import translate as translating
from compiler.llvm.looking.listing import Listing
from compiler.llvm.looking.translate import Translatable, aligned
from compiler.llvm.writer import SourceLine
from compiler.machines.model import DEFAULT
from compiler.machines.named import MACHINES, Machine
from compiler.program.compilation import Compilation, compile
from compiler.settings.options import Options
from tests.llvm.programs import PROGRAMS

EXPECTED = {
    **dict.fromkeys(("x86-avx2", "intel-alderlake", "amd-zen3"), r"\bymm\d"),
    **dict.fromkeys(("x86-avx512", "intel-skx", "intel-spr", "amd-zen4", "amd-zen5"), r"\bzmm\d"),
    **dict.fromkeys(
        ("arm-neon", "arm-neoverse-n1", "arm-neoverse-v1", "apple-m1"), r"\bv\d+\.4s\b|\.4s\b"
    ),
    "arm-sve": r"\bz\d+\.s\b",
    "riscv-v": r"\bvset[i]?vli\b",
    "wasm": r"\bf32x4\.",
    "nvptx": r"\bld\.param\.b64\b",
}


@pytest.fixture(scope="module")
def program() -> Compilation:
    return compile(PROGRAMS["perceptron"]())


@pytest.fixture(scope="module", params=list(MACHINES))
def translated(
    request: pytest.FixtureRequest, program: Compilation
) -> tuple[str, tuple[Listing, ...]]:
    return request.param, program.assembly_for(request.param)


def test_every_machine_is_expected_somewhere() -> None:
    assert set(EXPECTED) == set(MACHINES)


Translated = tuple[str, tuple[Listing, ...]]


def test_a_machine_is_itself(program: Compilation, translated: Translated) -> None:
    name, listings = translated
    assert [it.name for it in listings] == [it.name for it in program.assembly]
    text = "\n".join(str(it) for it in listings)
    assert re.search(EXPECTED[name], text), text[:2000]
    others = set(EXPECTED.values()) - {EXPECTED[name], EXPECTED["arm-neon"]}
    if not MACHINES[name].triple.startswith("x86"):
        assert not any(re.search(other, text) for other in others)
    elif not MACHINES[name].has_avx512:
        assert not re.search(r"\bzmm\d|\{k\d\}", text)


def test_lines_lead_to_our_own_text(program: Compilation, translated: Translated) -> None:
    for listing, source in zip(translated[1], program.source, strict=True):
        known = {line.entity for line in source.lines}
        code = [line for line in listing.lines if line.text.startswith(" ")]
        linked = [line for line in code if line.parents]
        assert all(set(line.parents) <= known for line in linked)
        assert len(linked) >= 0.8 * len(code), f"{len(linked)} of {len(code)}"


def test_what_only_the_host_has_is_written_again() -> None:
    """The text is that of a host with AVX-512, whatever this one has."""
    made = compile(PROGRAMS["softmax"]())
    instructions = tuple(made.lowered[0].instructions)
    source = made.source[0]
    rows = tuple(emit(source.name, instructions, has_avx512=True))
    assert any("x86.avx512" in row.text for row in rows)
    kernel = Translatable(replace(source, rows=rows), instructions, made.levels[source.name])
    for machine in ("arm-neon", "x86-avx2"):
        (listing,) = translating.translate([kernel], machine)
        assert "ternlog" not in str(listing)


def test_unknown_machine() -> None:
    made = compile(PROGRAMS["moved"]())
    with pytest.raises(DataError, match="no such machine") as error:
        made.assembly_for("z80")
    assert "arm-neon" in str(error.value)


def test_a_machine_that_llvm_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    lacking = Machine("none", "No Such", "nosuch-unknown-none", "", "", "#", "", DEFAULT)
    monkeypatch.setitem(translating.MACHINES, "none", lacking)
    with pytest.raises(DeviceError, match="cannot write assembly for No Such") as error:
        compile(PROGRAMS["moved"]()).assembly_for("none")
    assert error.value.got


def test_vectors_of_unknown_length_where_llvm_makes_them() -> None:
    made = compile(PROGRAMS["perceptron"](), Options(loops="plain"))
    assert any("zmm" not in str(it) and re.search(r"\bz\d", str(it))
               for it in made.assembly_for("arm-sve"))  # fmt: skip


def test_alignment() -> None:
    host = [SourceLine("a", 1), SourceLine("special", 2), SourceLine("b", 3)]
    own = [SourceLine("a", 1), SourceLine("x", 2), SourceLine("y", 2), SourceLine("b", 3)]
    assert aligned(own, host) == [(1,), (2,), (2,), (3,)]
    assert aligned(host, host) == [(1,), (2,), (3,)]
    assert aligned([SourceLine("new", 9)], host) == [()]
