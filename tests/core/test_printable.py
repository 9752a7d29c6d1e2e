"""Text of users as it is printed: nothing that a terminal obeys, whatever names a program has."""

import linecache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import compiler
from compiler import PASSES, Tensor, rule
from compiler.core.errors import Renamed
from compiler.core.printable import printable, printout
from compiler.graph.nodes import elementwise

NAME = "a\x1b[31m\u202eb\nc\x07\u2028\x9b2J"
"""Colours, direction, ends of lines, a bell, and the eight-bit form of an escape sequence."""


def acting(text: str) -> set[str]:
    """The characters of printed text that do more than show."""
    ranges = ((0, 0x1F), (0x7F, 0x9F), (0x200E, 0x200F), (0x2028, 0x202E), (0x2066, 0x2069),
              (0xD800, 0xDFFF), (0x61C, 0x61C))  # fmt: skip
    codes = {code for first, last in ranges for code in range(first, last + 1)}
    return {it for it in text if ord(it) in codes and it not in "\n\t"}


@pytest.mark.parametrize(("text", "words"), [
    ("plain", "plain"),
    ("tab\there", "tab\there"),
    ("naïve ≤ 日本 🎈 \u00a0", "naïve ≤ 日本 🎈 \u00a0"),
    ("a\x1bb", r"a\x1bb"),
    ("two\nlines\r", r"two\nlines\r"),
    ("\u202eabc\u2066", r"\u202eabc\u2066"),
    ("\x9b\ud800\u2029", r"\x9b\ud800\u2029"),
])  # fmt: skip
def test_what_acts_is_shown_as_its_escape(text: str, words: str) -> None:
    assert printable(text) == words


@given(st.text())
def test_printable_text_stays(text: str) -> None:
    shown = printable(text)
    assert acting(shown) == set() and "\n" not in shown
    assert printable(shown) == shown
    assert (shown == text) == (not acting(text) and "\n" not in text)


@given(st.lists(st.text()))
def test_lines_stay_lines(lines: list[str]) -> None:
    assert printout(lines).count("\n") == max(0, len(lines) - 1)


def _wrong(node: Any) -> Any:
    left, right = node.sources
    return elementwise("add", right, elementwise("neg", left))


def hostile_rule() -> Any:
    """A rule, wrong in what it does, whose name and words are hostile."""
    _wrong.__name__, _wrong.__doc__ = f"turned{NAME}", f"a - b = b - a {NAME}"
    return rule("sub")(_wrong)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A compilation whose file, lines, tensors, rule and pass have hostile names."""
    file = tmp_path_factory.mktemp("names") / f"{NAME}.py"
    file.write_text(f"y = ((x @ x).exp() - x).sum(1)  # {NAME.partition(chr(10))[0]}\n")
    names: dict[str, Any] = {"x": Tensor(np.eye(4, dtype=np.float32), name=NAME)}
    linecache.checkcache(str(file))
    exec(compile(file.read_text(), str(file), "exec"), names)
    return compiler.compile(names["y"], passes=PASSES.after("simplify", hostile_rule()), name=NAME)


def faces(value: Any) -> list[str]:
    """The printed forms of a value, and of what is in it."""
    inside = value if isinstance(value, list | tuple) else ()
    if isinstance(value, dict):
        inside = (*value, *value.values())
    return [repr(value), str(value), *(text for it in inside for text in (repr(it), str(it)))]


def test_no_face_of_a_compilation_acts(hostile: Any) -> None:
    kind = type(hostile)
    names = [it for it in dir(kind) if not it.startswith("_")
             and not isinstance(getattr(kind, it), Renamed)]  # fmt: skip
    shown = {it: getattr(hostile, it) for it in names if not callable(getattr(hostile, it))}
    assert {"graph", "schedule", "passes", "decisions", "choices", "assembly"} <= set(shown)
    bad = {name: acting("".join(faces(it))) for name, it in shown.items() if name != "name"}
    assert {name: it for name, it in bad.items() if it} == {}
    said = [*faces(hostile), *faces(hostile.schedule.memory_plan), hostile.summary(),
            "\n".join(hostile.schedule.dependency_lines)]  # fmt: skip
    assert acting("".join(said)) == set()
    assert r"a\x1b[31m\u202eb\nc\x07" in str(hostile.graph)


def test_nothing_that_is_asked_acts(hostile: Any) -> None:
    bisection = compiler.bisect(hostile)
    assert not bisection.is_right
    node = hostile.passes[0].entity(hostile.passes[0].before)
    why = [compiler.why_not(hostile, it, node) for it in ("add_zero", f"turned{NAME}")]
    lines = [line.text for it in hostile.graph.lines for line in hostile.lineage(it.entity)]
    said = [*faces(bisection), *faces(why), *faces(hostile.check()), *lines]
    said += faces(PASSES.after("simplify", hostile_rule()))
    assert acting("".join(said)) == set()
    assert r"turned" in str(bisection)


def test_no_error_acts(tmp_path: Path) -> None:
    file = tmp_path / f"{NAME}.py"
    file.write_text("x.reshape(7)\n")
    with pytest.raises(compiler.ShapeError) as caught:
        exec(compile("x.reshape(7)", str(file), "exec"), {"x": Tensor([1.0], name=NAME)})
    assert acting(str(caught.value)) == set()
    with pytest.raises(compiler.PassError) as caught_too:
        PASSES.after(NAME, hostile_rule())
    assert acting(str(caught_too.value)) == set()
