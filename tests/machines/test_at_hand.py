"""The machine at hand: by name, by its processor, by what the system tells."""

from collections.abc import Iterator

import pytest

from compiler import Options, Tensor, compile
from compiler import machine as public
from compiler.core.errors import DataError
from compiler.machines import at_hand, system
from compiler.machines.at_hand import ASKED, machine, stated
from compiler.machines.model import DEFAULT
from compiler.machines.named import MACHINES
from compiler.machines.processors import Processor, host
from compiler.machines.system import Cache

K, M = 1024, 1024 * 1024
AVX512 = "+avx,+avx2,+fma,+avx512f,+avx512vl"
X86, ARM = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
DARWIN = "arm64-apple-darwin23.5.0"


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    """No machine of another test's."""
    at_hand.forget()
    yield
    at_hand.forget()


def taken_for(monkeypatch: pytest.MonkeyPatch, triple: str) -> None:
    """LLVM is one for that triple, and the system tells nothing of caches."""
    monkeypatch.setattr("llvmlite.binding.get_process_triple", lambda: triple)
    monkeypatch.setattr(system, "caches", lambda: (None, None, None))
    monkeypatch.setattr(system, "core_count", lambda: 6)


# --- by name ----------------------------------------------------------------------------------


def test_the_environment_names_a_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ASKED, "apple-m1")
    assert machine() is MACHINES["apple-m1"].model and public().name == "apple-m1"
    assert Options().model.vector_bytes == 16 and Options(threads=3).model.cores == 3
    assert machine("x86-avx2").name == "x86-avx2", "what is asked for comes first"
    assert machine("host") != machine(), "the machine at hand in any case"
    monkeypatch.setenv(ASKED, "")
    assert machine() == machine("host")


def test_a_name_that_is_not_known_is_answered_with_one_that_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(DataError) as caught:
        Options(machine="aple-m1")
    text = str(caught.value)
    assert text.startswith("machine: no such machine") and "got:      'aple-m1'" in text
    assert "did you mean apple-m1?" in text and "host, x86-avx2" in text
    monkeypatch.setenv(ASKED, "x86-avx1")
    with pytest.raises(DataError) as caught:
        compile(Tensor([1.0]) + 1)
    assert str(caught.value).startswith("SVODVIZ_MACHINE: no such machine")
    assert "did you mean x86-avx" in str(caught.value)


# --- by its processor -------------------------------------------------------------------------


@pytest.mark.parametrize(("triple", "name", "features", "row", "vectors"), [
    (X86, "haswell", "+avx,+avx2,+fma", "x86-avx2", (32, 16)),
    (X86, "znver3", "+avx,+avx2,+fma", "amd-zen3", (32, 16)),
    (X86, "znver5", AVX512, "amd-zen5", (64, 32)),
    (X86, "znver5", "+avx,+avx2,+fma,-avx512f", "amd-zen5", (32, 16)),
    (X86, "sapphirerapids", AVX512, "intel-spr", (64, 32)),
    (X86, "graniterapids", AVX512, "x86-avx512", (64, 32)),
    (X86, "nehalem", "+sse4.2", "x86-avx2", (16, 16)),
    (ARM, "neoverse-n1", "+neon", "arm-neoverse-n1", (16, 32)),
    (ARM, "neoverse-v2", "+neon,+sve", "arm-neon", (16, 32)),
    (ARM, "generic", "", "arm-neon", (16, 32)),
    (DARWIN, "apple-m1", "+neon", "apple-m1", (16, 32)),
    (DARWIN, "apple-m4", "+neon", "apple-m1", (16, 32)),
    (DARWIN, "generic", "", "arm-neon", (16, 32)),
])  # fmt: skip
def test_the_processor_chooses_the_row_and_its_features_the_vectors(
    triple: str, name: str, features: str, row: str, vectors: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    taken_for(monkeypatch, triple)
    found, table = stated(Processor(name, features)), MACHINES[row].model
    assert found.name == f"{name} ({row})"
    assert (found.vector_bytes, found.registers) == vectors
    assert (found.multiply_adds, found.latency) == (table.multiply_adds, table.latency)
    assert found.cache_bytes == table.cache_bytes and found.ways == table.ways
    assert found.cores == 6
    assert found.fma_ns == pytest.approx(table.fma_ns * table.vector_bytes / vectors[0])
    assert at_hand.is_in_table(Processor(name, features)) == (
        name == MACHINES[row].cpu != "generic"
    )


def test_the_generic_processor_is_no_row_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    taken_for(monkeypatch, ARM)
    assert not at_hand.is_in_table(Processor("generic", ""))


# --- by what the system tells -----------------------------------------------------------------


def test_caches_that_the_system_tells_stand_for_the_tables(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken_for(monkeypatch, DARWIN)
    told = Cache(192 * K, 0), Cache(16 * M, 0), None
    monkeypatch.setattr(system, "caches", lambda: told)
    found, table = stated(Processor("apple-m2", "+neon")), MACHINES["apple-m1"].model
    assert found.cache_bytes == (192 * K, 16 * M, table.cache_bytes[2])
    assert found.ways == table.ways, "sysctl tells none"
    assert "else apple-m1" in dict(found.origins)["cache_bytes"]


def test_print_says_where_each_figure_comes_from() -> None:
    lines = str(stated(host())).splitlines()
    assert lines[0].startswith("machine ")
    known = ("LLVM's features", "the table's row", "Linux, /sys", "macOS, sysctl", "the system",
             "that this")  # fmt: skip
    for line in lines[1:-1]:
        assert sum(word in line for word in known) >= 1, line
    assert [line.split()[0] for line in lines[1:-1]] == [
        "vectors", "multiply-adds", "loads", "L1", "L2", "L3", "memory", "pages", "cores",
        "operation",
    ]  # fmt: skip


def test_a_model_of_ones_own_says_nothing_of_a_table() -> None:
    assert "table" not in str(type(DEFAULT)(name="mine"))
