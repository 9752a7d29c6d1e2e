"""Every instruction, opcode and choice that programs lead to is explained on the page."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.core.text import number
from compiler.loops import choices
from compiler.ops.table import OPS
from compiler.program.compilation import Compilation
from tests.js.test_javascript import found

HERE = Path(__file__).parent
MNEMONIC = re.compile(r"^\s+([a-z][a-z0-9.]*)\b", re.MULTILINE)
OPCODE = re.compile(r"%[\w.]+ = (?:tail )?([a-z]+)\b|^\s+(store|br|ret)\b", re.MULTILINE)
INSTRUCTION = re.compile(r"%\d+ = (\w+)|^\s*\d+\s+([a-z]\w*)", re.MULTILINE)


def programs() -> Iterator[Tensor]:
    """Products, rows, sums, integers, gathers, windows, masks and elementary functions."""
    rng = np.random.default_rng(0)
    x = Tensor(rng.standard_normal((65, 64)).astype("f4"))
    y = Tensor(rng.standard_normal((64, 10)).astype("f4"))
    i = Tensor(rng.integers(0, 60, (33, 7)))
    yield (x @ y).softmax(-1)
    yield x.relu().sum(0)
    yield (x.exp() + x.sin()).sqrt().argmax(-1)
    yield (i % 7 + (i << 2)).sum(1) + x[i[0]].max(1)[:1].cast("int64")
    yield x.pad(((1, 1), (1, 1)))[1:, 2:] * 0.5


@pytest.fixture(scope="module")
def compiled() -> list[Compilation]:
    return [compile(program) for program in programs()]


def unexplained(words: dict[str, list[str]]) -> Any:
    """The words of each language that the page has no sentence for."""
    ran = subprocess.run(
        [found("node"), HERE / "glossary" / "unexplained.mjs"],
        input=json.dumps(words), capture_output=True, text=True, check=True,
    )  # fmt: skip
    return json.loads(ran.stdout)


def matches(pattern: re.Pattern[str], texts: Iterator[Any]) -> list[str]:
    """The words that a pattern finds, each once."""
    pairs = (it for text in texts for it in pattern.findall(str(text)))
    return sorted({"".join(it) if isinstance(it, tuple) else it for it in pairs})


@pytest.mark.parametrize("machine", ["x86-avx2", "x86-avx512", "arm-neon", "arm-sve"])
def test_every_instruction_is_explained(compiled: list[Compilation], machine: str) -> None:
    part = compiled if machine == "x86-avx512" else compiled[::2]  # each takes a second
    listings = (text for made in part for text in made.assembly_for(machine))
    words = matches(MNEMONIC, (_code(str(text)) for text in listings))
    assert len(words) > 40, number(len(words))
    language = machine.split("-")[0]
    assert unexplained({language: words}) == {language: []}


def _code(text: str) -> str:
    """Assembly without the numbers that lines begin with, and without directives."""
    lines = (re.sub(r"^\s*\d+ ?", "  ", line) for line in text.splitlines())
    return "\n".join(line for line in lines if not line.lstrip().startswith("."))


def test_every_opcode_is_explained(compiled: list[Compilation]) -> None:
    texts = (str(text) for made in compiled for text in (*made.source, *made.optimized))
    words = matches(OPCODE, (re.sub(r";.*", "", text) for text in texts))
    assert {"load", "store", "phi", "select", "fmul", "getelementptr"} <= set(words)
    assert unexplained({"llvm": words}) == {"llvm": []}


def test_every_choice_is_explained() -> None:
    words = [choices.word_of(kind) for kind in get_args(choices.Choice)]
    assert {"tile", "pack", "stream"} <= set(words)
    assert unexplained({"choices": words}) == {"choices": []}


def test_every_lowered_instruction_is_explained(compiled: list[Compilation]) -> None:
    words = matches(INSTRUCTION, (text for made in compiled for text in made.lowered))
    assert {"load", "store", "range", "mulacc"} <= set(words)
    others = [word for word in words if word not in OPS]  # the page has the table's words of these
    assert unexplained({"lowered": others}) == {"lowered": []}
