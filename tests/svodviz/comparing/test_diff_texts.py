"""Printed programs line by line."""

import difflib
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svodviz.comparing.diff_texts import canonical, diff_texts, unified

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=30)


@pytest.mark.parametrize(("stage", "a", "b"), [
    ("graph", "%3 = mul %1 %2   f32[2]   cell:5", "%7 = mul %5 %6   f32[2]   cell:12"),
    ("graph", "%3 = exp %1   f32[2]   a.py:5, b.py:7", "%3 = exp %1   f32[2]   a.py:9"),
    ("lowered", "  3  %4 = add %1 %2 i64", " 13  %9 = add %7 %8 i64"),
    ("llvm", "%v20 = mul i64 %i3.46, 16", "%v7 = mul i64 %i3.9, 16"),
    ("llvm", "br label %i3.46.body", "br label %i3.9.body"),
    ("asm", "jl      .LBB0_4", "jl      .LBB0_17"),
])  # fmt: skip
def test_numbers_that_follow_from_counting(stage: str, a: str, b: str) -> None:
    assert canonical(stage, a) == canonical(stage, b)


@pytest.mark.parametrize(("stage", "a", "b"), [
    ("graph", "%3 = mul %1 %2   f32[2]", "%3 = mul %1 %2   f32[3]"),
    ("lowered", "  3  %4 = const 16 i64", "  3  %4 = const 17 i64"),
    ("llvm", "%v20 = mul i64 %v1, 16", "%v20 = mul i64 %v1, 32"),
    ("asm", "vaddps zmm0, zmm1, zmm2", "vaddps zmm0, zmm1, zmm3"),
])  # fmt: skip
def test_numbers_that_mean_something(stage: str, a: str, b: str) -> None:
    assert canonical(stage, a) != canonical(stage, b)


@given(LINES, LINES)
def test_blocks_lead_from_one_to_the_other(a: list[str], b: list[str]) -> None:
    at_a = at_b = 0
    for tag, i, j, m, n in diff_texts("source", a, b):
        assert (i, m) == (at_a, at_b)
        assert (tag == "equal") == (a[i:j] == b[m:n])
        at_a, at_b = j, n
    assert (at_a, at_b) == (len(a), len(b))


@given(LINES, LINES)
def test_the_unified_diff_says_the_same(a: list[str], b: list[str]) -> None:
    lines = unified("source", a, b, ("a", "b"))
    assert bool(lines) == (a != b)
    body = [it for it in lines[2:] if not it.startswith("@@")]
    changed_a = [it[1:] for it in body if it.startswith("-")]
    changed_b = [it[1:] for it in body if it.startswith("+")]
    assert len(a) - len(changed_a) == len(b) - len(changed_b)


@pytest.mark.parametrize("seed", range(6))
def test_patch_understands_it(seed: int, tmp_path: Path) -> None:
    a = [f"line {it * 7 % 11}" for it in range(40)]
    b = [it for n, it in enumerate(a) if (n + seed) % 9] + ["last"] * (seed % 2)
    b[seed:seed] = ["new"] * seed
    (tmp_path / "x").write_text("".join(f"{it}\n" for it in a))
    change = "".join(f"{it}\n" for it in unified("source", a, b, ("x", "x")))
    done = subprocess.run(["git", "apply", "-"], input=change, text=True, cwd=tmp_path,
                          capture_output=True)  # fmt: skip
    assert done.stderr == ""
    assert (tmp_path / "x").read_text().splitlines() == b


def test_long_texts_are_not_searched_for_ever() -> None:
    a = [f"line {it}" for it in range(30_000)]
    b = ["first", *a[5:], "last"]
    assert diff_texts("source", a, b) == [("replace", 0, 30_000, 0, 29_997)]
    assert diff_texts("source", a, [*a, "last"])[-1] == ("insert", 30_000, 30_000, 30_000, 30_001)


def test_hunks_have_three_lines_around_them() -> None:
    a = [str(it) for it in range(40)]
    b = [*a[:5], "x", *a[6:30], "y", *a[31:]]
    assert unified("source", a, b, ("a", "b")) == list(
        difflib.unified_diff(a, b, "a", "b", lineterm="")
    )
