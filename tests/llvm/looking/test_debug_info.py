"""The user's lines in the debug information of LLVM IR."""

import re
from pathlib import Path

import numpy as np
import pytest

from compiler import Tensor, compile
from compiler.core.errors import DataError
from compiler.core.origin import Origin
from compiler.llvm import jit
from compiler.llvm.looking.debug_info import with_call_stacks

NAME = "test_calls_that_led_to_a_line_are_inlined_at"
NODE = re.compile(r"^(!\d+) = (.*)$", re.MULTILINE)


def halved(x: Tensor) -> Tensor:
    return (x + 1.0) / 2.0


def chain(text: str, at: str) -> list[tuple[int, str]]:
    """Line and function of a location and of the calls that it is inlined at."""
    nodes = dict(NODE.findall(text))
    found = []
    while at:
        line, scope, _, outer = re.findall(
            r"line: (\d+), column: 1, scope: (!\d+)(, inlinedAt: (!\d+))?", nodes[at]
        )[0]
        name = re.findall(r'name: "(.*?)"', nodes[scope])[0]
        found.append((int(line), name))
        at = outer
    return found


def test_calls_that_led_to_a_line_are_inlined_at() -> None:
    x = Tensor(np.ones(64, np.float32), name="x")
    first = halved(x)
    compiled = compile(first)
    text = compiled.debug_ir("k0")
    with jit.parse(text):  # LLVM verifies it
        pass
    adds = re.findall(r"= fadd .*!dbg (!\d+)", text)
    assert adds
    made = first.node.origin
    assert made is not None and made.outer is not None
    for at in adds:
        *users, kernel = chain(text, at)
        assert users == [(made.line, "halved"), (made.outer.line, NAME)]
        assert kernel[1].startswith("k0")
    assert f'filename: "{Path(__file__).name}"' in text


def test_every_file_and_function_is_there_once() -> None:
    x = Tensor(np.ones(64, np.float32), name="x")
    text = compile(halved(halved(x))).debug_ir()
    names = re.findall(r'DISubprogram\(name: "(.*?)"', text)
    assert len(names) == len(set(names))
    assert text.count("!DIFile(") == 2, "the kernel's, and this one"


def test_names_of_files_cannot_break_out() -> None:
    x = Tensor(np.ones(8, np.float32), name="x")
    source = compile(x.exp()).source[0]
    hostile = Origin('/tmp/a"b\\c\n, !dbg é.py', 3, "exp")
    text = with_call_stacks(source, dict.fromkeys(range(len(source.rows)), hostile))
    with jit.parse(text):
        pass
    assert 'a\\22b\\5Cc\\0A' in text


def test_a_kernel_that_is_not_there_is_an_error() -> None:
    x = Tensor(np.ones(8, np.float32), name="x")
    with pytest.raises(DataError, match="debug_ir: no such kernel"):
        compile(x.exp()).debug_ir("k9")
