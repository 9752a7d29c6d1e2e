"""Untrusted text, through the one place that escapes it."""

import json
import xml.etree.ElementTree as ET

import pytest

from svodviz.escape import markup, script_json, visible, xml_text
from tests.svodviz.sample import HOSTILE


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
