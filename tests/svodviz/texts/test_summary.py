"""The words of a compilation."""

from collections.abc import Callable
from typing import Any

import pytest

from compiler import compile as compile_tensor
from svodviz.foundation.stages import BY_ID
from svodviz.texts.summary import full_summary, summary, summary_of_page, text_of
from svodviz.wire.payload import wire
from tests.svodviz.conftest import softmax_layer
from tests.svodviz.sample import HOSTILE, hostile, large, rich, sample

SUMMARY = """\
compilation network.py
  graph      33 nodes: expand 7, reshape 5, buffer 4, reduce add 4, mul 3, const 2 and 7 more
  passes     5 changed the program, 9 rewrites
  kernels    4: k0, k1, k2, k3
  schedule   4 items, 3 on the critical path
  loops      23 lines (7, 6, 5, 5)
  lowered    42 instructions (11, 10, 12, 9)
  LLVM IR    62 lines (17, 15, 17, 13)"""


def test_summary() -> None:
    assert summary(sample()) == SUMMARY


@pytest.mark.parametrize("made", [sample, rich, lambda: large(13_000)])
def test_the_data_of_a_page_give_the_same_words(made: Callable[[], Any]) -> None:
    compilation = made()
    assert summary_of_page(wire(compilation), compilation) == summary(compilation)


def test_a_compiled_program_has_the_same_words_too() -> None:
    compilation = compile_tensor(softmax_layer())
    words = summary_of_page(wire(compilation), compilation)
    assert words == summary(compilation) and "critical path" in words


def test_the_full_summary_adds_what_llvm_made() -> None:
    added = full_summary(sample()).removeprefix(SUMMARY).splitlines()
    assert [line.split()[0] for line in added if line] == ["optimised", "assembly"]


def test_the_compilers_own_default_name_gives_way_to_the_programs() -> None:
    plain = sample()
    plain.name = "program"
    assert summary(plain).startswith("compilation network.py\n")


def test_every_stage_has_a_text() -> None:
    plain = sample()
    for name in BY_ID:
        assert text_of(plain, name)
    assert text_of(plain, "schedule").startswith(f"{plain.schedule}\n")
    assert text_of(plain, "loops").startswith("── k0 ──\nk0(x, w1, b1)\n")


def test_passes_say_what_they_did() -> None:
    lines = text_of(sample(), "passes").splitlines()
    assert lines[0].startswith("● graph      simplify             1 rewrite ")
    assert lines[1] == "      1 × mul_one: x * 1 = x"
    assert lines[2].startswith("○ graph      fold_constants       0 rewrites")


def test_a_summary_keeps_its_lines() -> None:
    text = summary(hostile())
    assert len(text.splitlines()) == 8
    assert HOSTILE[0] in text
