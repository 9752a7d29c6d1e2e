"""The level of LLVM's work on a kernel, and that every mode and level computes the same."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core import dtypes
from compiler.core.errors import DataError
from compiler.llvm.level import FEW_TRIPS, Level, level_of
from compiler.lowered.instructions import (
    Const,
    DefineGlobal,
    EndRange,
    Instruction,
    Load,
    Range,
    Store,
)
from compiler.lowered.machine import DefineVar
from tests.llvm.programs import PROGRAMS

ENDLESS = 10**6


def loops(*extents: int | None, lanes: int = 1, rest: int = 0) -> list[Instruction]:
    """Loops in one another around a load and a store; then one over what is left."""
    rows: list[Instruction] = [DefineGlobal(0, 0, dtypes.float32, ENDLESS, True)]
    rows += nest(len(rows), extents, lanes)
    return rows + (nest(len(rows) + 10, (rest,), 1) if rest else [])


def nest(start: int, extents: tuple[int | None, ...], lanes: int) -> list[Instruction]:
    rows: list[Instruction] = []
    opened = []
    out = start
    for number, extent in enumerate(extents):
        if extent is None:
            rows.append(DefineVar(out, "n", 1, ENDLESS))
        else:
            rows.append(Const(out, extent, dtypes.int64))
        rows.append(Range(out + 1, out, number, "normal"))
        opened.append(out + 1)
        out += 2
    rows.append(Load(out, 0, out - 1, None, dtypes.float32, lanes))
    rows.append(Store(0, out - 1, out, None, lanes))
    return rows + [EndRange(each) for each in reversed(opened)]


few, pipeline = "few", "pipeline"
KERNELS = {
    "no loop": ([], few, "no inner loop"),
    "a short loop": (loops(FEW_TRIPS), few, "no inner loop"),
    "a long loop": (loops(FEW_TRIPS + 1), pipeline, "loop i0 is left"),
    "short loops that are long together": (loops(9, 9), pipeline, "loop i1 is left"),
    "a loop of unknown length": (loops(None), pipeline, "loop i0 is left"),
    "vector code": (loops(None, 1000, lanes=16), few, "every long inner loop is already"),
    "vector code, a short rest": (loops(1000, lanes=8, rest=7), few, "every long inner loop"),
    "vector code, then a long loop": (loops(10, lanes=8, rest=999), pipeline, "loop i0 is left"),
}


@pytest.mark.parametrize(("rows", "passes", "because"), KERNELS.values(), ids=KERNELS)
def test_fast_is_as_much_as_pays(rows: list[Instruction], passes: str, because: str) -> None:
    found = level_of(rows, 3, "fast")
    assert (found.number, found.passes) == (2, passes)
    assert found.because.startswith(because)
    assert level_of(rows, 1, "fast").number == 1
    assert level_of(rows, 0, "fast") == level_of(rows, 0, "explain")
    assert level_of(rows, 0, "fast").passes == "pipeline", "what LLVM does at least"
    for level in (1, 2, 3):
        explained = level_of(rows, level, "explain")
        assert (explained.number, explained.passes) == (level, "pipeline")


def test_a_level_says_what_is_done_and_why() -> None:
    assert str(Level(2, "few", "of that")) == "few passes, level 2: of that"
    assert Level(3, "pipeline", "of that").done == "LLVM's pipeline, level 3"


def test_a_mode_has_to_exist() -> None:
    with pytest.raises(DataError, match="Options: no such mode"):
        Options(mode="slow")  # type: ignore[arg-type]


def test_what_ran_is_recorded() -> None:
    program = PROGRAMS["softmax"]
    fast, explained = (compiler.compile(program(), Options(mode=m)) for m in ("fast", "explain"))
    for made, number, passes in ((fast, 2, "few passes"), (explained, 3, "LLVM's pipeline")):
        for listing in (*made.optimized, *made.assembly):
            assert listing.level.number == number
        assert f"machine code by {passes}, level {number} (1 kernel)" in made.summary()
        assert {p.level.number for p in made.load().values()} == {number}
    assert str(fast.assembly[0]) != "" != str(explained.assembly[0])
    small = compiler.compile(Tensor(np.arange(4.0)) + 1)
    assert small.assembly[0].level.passes == "few"
    assert "few passes, level 2 (1 kernel)" in small.summary()


WAYS = [Options(mode="explain"), *(Options(optimize=n) for n in (0, 1, 2))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_way_computes_the_same(name: str) -> None:
    program = PROGRAMS[name]()
    expected = compiler.compile(program).run()
    for options in WAYS:
        found = compiler.compile(program, options).run()
        for value, other in zip(found, expected, strict=True):
            if other.dtype.kind == "f":
                close = 2e-3 if other.dtype.itemsize < 4 else 1e-5
                np.testing.assert_allclose(value, other, rtol=close, atol=close, equal_nan=True)
            else:
                np.testing.assert_array_equal(value, other)


def test_kernels_of_a_program_are_compiled_on_several_threads() -> None:
    x = Tensor(np.arange(300.0))
    parts = [((x * (n + 0.5)).contiguous() + n).sum() for n in range(12)]
    made = compiler.compile(parts, Options(cache=False))
    assert len(made.kernels.root.sources) >= 12
    expected = [(np.arange(300.0) * (n + 0.5) + n).sum() for n in range(12)]
    np.testing.assert_allclose(made.run(), expected)


def test_a_mistake_in_one_of_several_kernels_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> bytes:
        raise RuntimeError("no code")

    monkeypatch.setattr("compiler.llvm.jit._object_code", broken)
    x = Tensor(np.arange(301.0))
    with pytest.raises(RuntimeError, match="no code"):
        compiler.compile([x.sum() + 3, x.max() + 4], Options(cache=False)).run()
