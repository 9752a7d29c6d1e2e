"""Data as compressed text."""

import base64
import gzip
import re
from pathlib import Path

import pytest
import traitlets
from hypothesis import given
from hypothesis import strategies as st

import svodviz
from svodviz.foundation import packing
from svodviz.foundation.packing import MOST_UNPACKED, packed, unpacked
from svodviz.widget.explorer import Explorer
from tests.svodviz.sample import as_json, sample

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_data_comes_back(data: object) -> None:
    assert unpacked(packed(data)) == data
    assert packed(data) == packed(data)


def test_a_widget_saves_its_data_packed_and_has_it_plain() -> None:
    explorer = Explorer(sample())
    saved = explorer.get_state()
    assert isinstance(explorer.wire, dict) and isinstance(saved["wire"], str)
    assert unpacked(saved["wire"]) == as_json(explorer.wire)
    assert isinstance(Explorer.class_traits()["wire"], traitlets.Dict)
    assert len(saved["wire"]) * 3 < len(str(explorer.wire))


def test_data_that_unpack_to_too_much_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "MOST_UNPACKED", 1000)
    assert unpacked(packed("x" * 900)) == "x" * 900
    with pytest.raises(ValueError, match="unpack to more than 1,000 bytes"):
        unpacked(packed("x" * 10_000_000))


@pytest.mark.parametrize("text", [
    "", "no data at all!", base64.b64encode(b"plain").decode(), packed("x" * 99)[:28],
    base64.b64encode(gzip.compress(b"[" * 200_000, mtime=0)).decode(),
    base64.b64encode(gzip.compress(b"\xff\xfe", mtime=0)).decode(),
])  # fmt: skip
def test_damaged_data_are_refused_in_one_way(text: str) -> None:
    with pytest.raises(ValueError):
        unpacked(text)


def test_the_page_unpacks_no_more_than_python_does() -> None:
    text = (Path(svodviz.__file__).parent / "js/data/packed.js").read_text("utf-8")
    (found,) = re.findall(r"MOST_UNPACKED = (\w+);", text)
    assert float(found) == MOST_UNPACKED
