"""Choices of the compiler's own that do not apply: left out and reported; an error in tests."""

import os
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import compiler
from compiler import CompileError, Options, Tensor
from compiler.core.errors import InternalError, ScheduleError
from compiler.loops.choices import Choices, parse, text
from compiler.loops.nodes import Body
from compiler.loops.transforms.axes import axes
from compiler.lowered.linearize import linearize
from compiler.pipeline.dropped import ROUNDS, SWITCH
from compiler.settings.options import Measured
from tests.rows import replace_row

X = np.arange(36, dtype=np.float32)
Lines = list[tuple[str, bool, str]]


def program() -> Tensor:
    return Tensor(X) * 2 + 1


def bad(monkeypatch: pytest.MonkeyPatch, choices: str, is_error: bool = False) -> None:
    """Make the compiler choose `choices` for every kernel; dropping them may be an error."""
    replace_row(monkeypatch, "loops.choose", lambda *given: parse(choices))
    if not is_error:
        monkeypatch.delenv(SWITCH)
    compiler.cache_clear()


def told(made: compiler.Compilation) -> Lines:
    """The decisions about loops."""
    subject = made.loops[0].entity(made.loops[0].body)
    return [(d.kind, d.taken, str(d.reason)) for d in made.decisions if d.subject == subject]


REFUSED: dict[str, tuple[str, str, Lines]] = {
    "one row": ("tile i0 12; vectorize i0.1", "tile i0 12 peel", [
        ("vectorize", False, "dropped: vectorize i0.1: i0.1 has 12 iterations"),
    ]),
    "what rests on it": (
        "tile i9 8; tile i9.1 4; tile i0 4; reorder i9.0 i0.0; vectorize i0.1",
        "tile i0 4 peel; vectorize i0.1", [
        ("tile", False, "dropped: tile i9 8 peel: there is no axis i9"),
        ("tile", False, "dropped: tile i9.1 4 peel: it rests on tile i9 8 peel"),
        ("reorder", False, "dropped: reorder i9.0 i0.0: it rests on tile i9 8 peel"),
    ]),
    "one after the other": ("pack 1; tile i0 12; unroll i7; vectorize i0.1", "tile i0 12 peel", [
        ("pack", False, "dropped: pack 1: no reduction in the whole kernel reads argument 1"),
        ("unroll", False, "dropped: unroll i7: there is no axis i7"),
        ("vectorize", False, "dropped: vectorize i0.1: i0.1 has 12 iterations"),
    ]),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_pass_refuses_is_left_out_and_told(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given, left, lines = REFUSED[name]
    bad(monkeypatch, given)
    made = compiler.compile(program())
    assert text(made.choices["k0"]) == left
    assert [line for line in told(made) if not line[1]] == lines
    assert compiler.cache_info().dropped == len(lines)
    np.testing.assert_array_equal(made.run()[0], X * 2 + 1)
    np.testing.assert_array_equal(program().numpy(), X * 2 + 1)


def test_after_a_few_rounds_the_loops_stay_plain(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [f"unroll i{n}" for n in range(1, ROUNDS + 2)]
    bad(monkeypatch, "; ".join([*rows, "tile i0 4"]))
    made = compiler.compile(program())
    assert not made.choices["k0"]
    last = [why for kind, _, why in told(made) if kind == "tile"]
    assert last == [
        f"dropped: tile i0 4 peel: the loops stay plain: unroll: there is no axis i{ROUNDS}"
    ]
    assert compiler.cache_info().dropped == ROUNDS + 2
    np.testing.assert_array_equal(made.run()[0], X * 2 + 1)


def failing(error: Exception, real: Callable[..., object]) -> Callable[..., object]:
    """`real`, which raises the error where loops have been cut."""

    def function(loops: Body) -> object:
        if any(axis.part for axis in axes(loops).values()):
            raise error
        return real(loops)

    return function


@pytest.mark.parametrize("error", [
    InternalError("lowered", "invariant 3", got="%1"), KeyError("i0.1"), RecursionError("deep"),
])  # fmt: skip
def test_what_cannot_be_lowered_is_left_out_too(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad(monkeypatch, "tile i0 4; vectorize i0.1")
    replace_row(monkeypatch, "lowered.linearize", failing(error, linearize))
    made = compiler.compile(program())
    assert not made.choices["k0"]
    assert all("the loops stay plain" in why for _, _, why in told(made))
    assert compiler.cache_info().dropped == 2
    np.testing.assert_array_equal(made.run()[0], X * 2 + 1)
    monkeypatch.setenv(SWITCH, "error")
    with pytest.raises(type(error)):
        compiler.compile(program())


def test_what_plain_loops_raise_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    bad(monkeypatch, "tile i0 4")

    def never(loops: object) -> object:
        raise KeyError("never")

    replace_row(monkeypatch, "lowered.linearize", never)
    with pytest.raises(KeyError, match="never"):
        compiler.compile(program())
    replace_row(monkeypatch, "lowered.linearize", failing(MemoryError(), never))
    with pytest.raises(MemoryError):
        compiler.compile(program())


def test_a_heuristic_that_fails_chooses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    bad(monkeypatch, "")

    def wrong(*given: object) -> Choices:
        raise ZeroDivisionError("division by zero")

    replace_row(monkeypatch, "loops.choose", wrong)
    made = compiler.compile(program())
    why = "dropped: nothing was chosen: ZeroDivisionError: division by zero"
    assert told(made) == [("vectorize", False, why)]
    assert compiler.cache_info().dropped == 1
    np.testing.assert_array_equal(made.run()[0], X * 2 + 1)
    monkeypatch.setenv(SWITCH, "error")
    compiler.cache_clear()
    with pytest.raises(ZeroDivisionError):
        compiler.compile(program())


def test_a_drop_is_an_error_in_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    bad(monkeypatch, "tile i0 12; vectorize i0.1", is_error=True)
    with pytest.raises(ScheduleError, match=r"^vectorize: i0\.1 has 12 iterations"):
        compiler.compile(program())
    assert compiler.cache_info().dropped == 0


CHILD = """
import compiler
from dataclasses import replace
from compiler import Tensor
from compiler.pipeline import rows
from compiler.loops.choices import parse
rows.PIPELINE = tuple(
    replace(row, function=lambda *given: parse("vectorize i9")) if row.name == "choose" else row
    for row in rows.PIPELINE
)
compiler.compile(Tensor([1.0, 2.0]) * 2)
print(compiler.cache_info().dropped)
"""


@pytest.mark.parametrize("is_error", [True, False])
def test_and_in_processes_that_tests_start(is_error: bool) -> None:
    env = {k: v for k, v in os.environ.items() if is_error or k != SWITCH}
    made = subprocess.run(
        [sys.executable, "-c", CHILD], capture_output=True, text=True, env=env, check=False
    )
    if is_error:
        assert made.returncode and "ScheduleError: vectorize: " in made.stderr
    else:
        assert made.stdout == "1\n"


def test_what_a_user_wrote_by_name_is_the_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH)
    compiler.cache_clear()
    with pytest.raises(CompileError, match=r"^vectorize: there is no axis i9"):
        compiler.compile(program(), Options(loops={"k0": "vectorize i9"}))
    assert compiler.cache_info().dropped == 0


def test_what_a_search_found_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SWITCH)
    compiler.cache_clear()
    found = Options(loops=Measured({"k0": parse("tile i0 4; vectorize i9")}))
    made = compiler.compile(program(), found)
    assert text(made.choices["k0"]) == "tile i0 4 peel"
    assert told(made)[-1] == ("vectorize", False, "dropped: vectorize i9: there is no axis i9")
    assert compiler.cache_info().dropped == 1
    monkeypatch.setenv(SWITCH, "error")
    with pytest.raises(ScheduleError, match="there is no axis i9"):
        compiler.compile(program(), found)
