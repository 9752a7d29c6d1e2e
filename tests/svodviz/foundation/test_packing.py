"""Data as compressed text."""

import traitlets
from hypothesis import given
from hypothesis import strategies as st

from svodviz.foundation.packing import packed, unpacked
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
