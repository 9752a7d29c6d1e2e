"""Untrusted text, through the one place that escapes it."""

import json
import xml.etree.ElementTree as ET

import pytest

from svodviz.exporting.export import export_stage
from svodviz.foundation.escape import markup, script_json, visible, xml_text
from svodviz.wire.payload import wire
from svodviz.wire.schedule import schedule_text
from tests.svodviz.sample import HOSTILE, hostile, rich


@pytest.mark.parametrize("text", [*HOSTILE, "\ud800", "\ufffe", "plain"])
def test_markup_survives_a_parser(text: str) -> None:
    read = ET.fromstring(f'<a b="{markup(text)}">{markup(text)}</a>')
    # A parser may turn a line break inside an attribute into a space: that is all it may change.
    assert read.text == xml_text(text)
    assert read.attrib["b"] == xml_text(text).replace("\n", " ").replace("\t", " ")


@pytest.mark.parametrize("text", HOSTILE)
def test_script_json_ends_no_script(text: str) -> None:
    written = script_json({text: [text]})
    assert "<" not in written
    assert ">" not in written
    assert json.loads(written) == {text: [text]}


def test_script_json_refuses_what_json_lacks() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        script_json(float("nan"))


def test_visible_shows_what_cannot_be_seen() -> None:
    assert visible("a\nb\tc\x00") == "a\\nb\\tc\\x00"
    assert visible("\u202eabc\u2066") == "\\u202eabc\\u2066"
    assert visible("naïve ≤ 日本 🎈") == "naïve ≤ 日本 🎈"


def test_hostile_schedules_keep_the_lines_of_the_text() -> None:
    text = schedule_text(hostile()).partition("\nlanes\n")[2]
    plain = schedule_text(rich()).partition("\nlanes\n")[2]
    # Every item has a name of its own there, so the loop of three iterations is none.
    assert len(text.splitlines()) == len(plain.splitlines()) - 3
    assert not [it for it in text if it < " " and it != "\n"]
    assert "\u202e" not in text


def test_hostile_schedules_arrive_printable() -> None:
    found = json.dumps(wire(hostile())["schedule"], ensure_ascii=False)
    assert HOSTILE[0] in found
    assert not [it for it in ("\u202e", "\u2066", "\x00", "\n", "\t") if it in found]


@pytest.mark.parametrize("stage", ["kernels", "schedule"])
def test_hostile_schedules_are_pictures_without_elements_of_their_own(stage: str) -> None:
    read = ET.fromstring(export_stage(hostile(), stage, "svg"))
    tags = {it.tag.partition("}")[2] for it in read.iter()}
    assert tags == {"svg", "title", "rect", "g", "path", "text"}
    assert len([it for it in read.iter() if it.get("onload") or it.get("onerror")]) == 0
