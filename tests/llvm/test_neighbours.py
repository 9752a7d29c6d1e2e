"""Elements next to each other in memory that are one load."""

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.dtypes import float32, int64
from compiler.llvm import emit as emitting
from compiler.llvm.emit import emit
from compiler.llvm.neighbours import Lane, neighbours
from compiler.lowered.instructions import Alu, Const, DefineGlobal, Instruction, Load, Store
from compiler.lowered.machine import Gep


def program(*offsets: int, lanes: int = 4) -> list[Instruction]:
    """Loads of elements so far from the second argument's begin, each in all lanes."""
    found: list[Instruction] = [
        DefineGlobal(0, 0, float32, 64, True), DefineGlobal(1, 1, float32, 64, False),
        Const(2, 0, int64), Const(3, 8, int64),
        *(Const(10 + n, offset, int64) for n, offset in enumerate(offsets)),
    ]  # fmt: skip
    for n, _ in enumerate(offsets):
        found += [
            Alu(20 + n, "add", (3, 10 + n), int64), Load(30 + n, 1, 20 + n, None, float32),
            Gep(40 + n, 30 + n, (0,) * lanes, float32),
        ]  # fmt: skip
    return found


def test_pairs_and_fours_in_a_row() -> None:
    assert neighbours(program(0, 1)) == {30: Lane(30, 0, 2, 0), 31: Lane(30, 1, 2, 0)}
    assert {lane.count for lane in neighbours(program(0, 1, 2, 3)).values()} == {4}
    assert neighbours(program(0, 1, 2)) == {30: Lane(30, 0, 2, 0), 31: Lane(30, 1, 2, 0)}
    found = neighbours(program(0, 1, 2, 3, 4, 5))
    assert [(it.first, it.count) for it in found.values()] == [(30, 4)] * 4 + [(34, 2)] * 2


def test_in_any_order() -> None:
    assert neighbours(program(1, 0)) == {30: Lane(30, 1, 2, 1), 31: Lane(30, 0, 2, 1)}
    found = neighbours(program(0, 64, 1, 65))
    assert [(it.first, it.number) for _, it in sorted(found.items())] == [
        (30, 0), (31, 0), (30, 1), (31, 1),
    ]  # fmt: skip
    text = "\n".join(row.text for row in emit("k0", (*program(1, 0), Store(0, 2, 40, None, 4)),
                                              False, True))  # fmt: skip
    assert "i64 -1" in text


def test_others_stay_apart() -> None:
    assert not neighbours(program(0, 2)) and not neighbours(program(0, 0))
    assert not neighbours(program(0, 1, lanes=1))
    read = [*program(0, 1), Store(0, 2, 31, None)]
    assert not neighbours(read)
    first, second = program(0, 1)[:-3], program(0, 1)[-3:]
    between = [*first, Store(0, 2, 40, None, 4), *second]
    assert not neighbours(between)


def test_the_text_has_one_load_for_them() -> None:
    instructions = (*program(0, 1), Store(0, 2, 41, None, 4))
    text = "\n".join(row.text for row in emit("k0", instructions, False, True))
    assert text.count("load <2 x float>") == 1 and text.count(" = load ") == 1
    assert text.count("extractelement <2 x float>") == 2
    apart = "\n".join(row.text for row in emit("k0", instructions, False, False))
    assert apart.count(" = load float") == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_products_of_lanes_run_here_too(monkeypatch: pytest.MonkeyPatch, dtype: type) -> None:
    monkeypatch.setattr(emitting, "is_arm", lambda: True)
    options = Options(machine="arm-neon", cache=False)
    for m, n, k in ((33, 17, 24), (20, 64, 21), (12, 10, 35)):
        a = (np.arange(m * k).reshape(m, k) % 7).astype(dtype)
        b = (np.arange(k * n).reshape(k, n) % 5).astype(dtype)
        for x, y in ((Tensor(a), Tensor(b)),
                     (Tensor(np.ascontiguousarray(a.T)).permute(1, 0), Tensor(b))):  # fmt: skip
            compiled = compiler.compile(x @ y, options)
            assert any("extractelement" in row.text for row in compiled.source[0].rows)
            np.testing.assert_array_equal(compiled.run()[0], a @ b)


def test_a_product_on_a_machine_that_takes_lanes() -> None:
    a = np.arange(64 * 64, dtype=np.float32).reshape(64, 64) % 5
    compiled = compiler.compile(Tensor(a) @ Tensor(a + 1), Options(machine="arm-neon"))
    (listing,) = compiled.assembly_for("arm-neon")
    assert any(".s[3]" in row for row in listing.rows)
    np.testing.assert_array_equal(compiled.run()[0], a @ (a + 1))
