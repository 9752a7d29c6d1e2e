"""The widget in Python: its state, its stand-ins, and what it takes."""

import base64
import re
import xml.etree.ElementTree as ET
from typing import Any

import pytest
import traitlets

import svodviz
from svodviz.widget.explorer import Explorer, listen
from tests.svodviz.sample import hostile, sample
from tests.svodviz.texts.test_summary import SUMMARY


@pytest.fixture
def explorer() -> Explorer:
    return svodviz.explore(sample())


def test_the_text_is_stable(explorer: Explorer) -> None:
    assert repr(explorer) == f"Explorer of {SUMMARY}"
    assert repr(explorer) == repr(svodviz.explore(sample()))


def test_four_stand_ins(explorer: Explorer) -> None:
    data, _ = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == repr(explorer)
    ET.fromstring(data["image/svg+xml"])
    picture = re.fullmatch(
        r'<img alt="graph of network.py" src="data:image/svg\+xml;base64,([\w+/=]+)">',
        data["text/html"],
    )
    assert picture
    assert base64.b64decode(picture[1]).decode() == data["image/svg+xml"]


def test_stand_ins_of_hostile_names() -> None:
    data, _ = svodviz.explore(hostile())._repr_mimebundle_()
    assert data["text/html"].count("<") == 1
    ET.fromstring(data["image/svg+xml"])


def test_state_is_changed_by_parts(explorer: Explorer) -> None:
    explorer.state = {"stage": "passes", "pass": 2, "step": 1, "view": "graph"}
    explorer.state = {"selected": "graph:3"}
    assert explorer.state == {
        "stage": "passes", "pass": 2, "step": 1, "view": "graph", "selected": "graph:3"
    }  # fmt: skip


def test_another_stage_opens_in_its_own_view(explorer: Explorer) -> None:
    explorer.state = {"stage": "graph", "view": "text", "unit": 1}
    explorer.state = {"stage": "schedule"}
    assert explorer.state == {"stage": "schedule"}


def test_state_round_trips(explorer: Explorer) -> None:
    explorer.state = {"stage": "loops", "unit": 2, "view": "graph", "selected": "loops:k2:1",
                      "pass": 1, "step": -1, "columns": ["graph", "loops"],
                      "shares": [1.0, 2.5], "panels": {"passes": False},
                      "sizes": {"drawer": 300.0}}  # fmt: skip
    other = svodviz.explore(sample(), **explorer.state)
    assert other.state == explorer.state
    assert other.selected.entity == "loops:k2:1"


def test_selected_and_state_are_one(explorer: Explorer) -> None:
    seen: list[str] = []
    explorer.observe(lambda change: seen.append(change["new"].entity), "selected")
    explorer.state = {"selected": "graph:5"}
    explorer.selected = "kernels:call_k0"
    assert seen == ["graph:5", "kernels:call_k0"]
    assert explorer.state["selected"] == "kernels:call_k0"


@pytest.mark.parametrize(("wrong", "words"), [
    ({"stage": "nowhere"}, "stage is 'nowhere'; expected one of ['source', 'graph'"),
    ({"view": "sound"}, "view is 'sound'; expected one of ['modules', 'run'"),
    ({"pass": 6}, "pass is 6; expected one of [0, 1, 2, 3, 4, 5]"),
    ({"selected": "graph:999"}, "selected is 'graph:999'; expected one of"),
    ({"columns": ["source", "nowhere"]}, "columns is 'nowhere'"),
    ({"shares": [1.0, 0.0]}, "shares are the widths of columns, each above 0"),
    ({"panels": {"left": True}}, "panels is 'left'"),
    ({"panels": {"passes": "open"}}, "panels is 'open'"),
    ({"sizes": {"left": 300}}, "sizes is 'left'"),
    ({"sizes": {"drawer": -1}}, "drawer has the size -1"),
    ({"zoom": 2}, "unknown ['zoom']; names are ['stage'"),
])  # fmt: skip
def test_impossible_states(explorer: Explorer, wrong: dict[str, Any], words: str) -> None:
    before = explorer.state
    with pytest.raises(traitlets.TraitError, match=re.escape(words)):
        explorer.state = wrong
    assert explorer.state == before


def test_an_unknown_selection_changes_nothing(explorer: Explorer) -> None:
    explorer.selected = "graph:5"
    with pytest.raises(traitlets.TraitError):
        explorer.selected = "graph:999"
    assert explorer.selected.entity == explorer.state["selected"] == "graph:5"
    explorer.selected = None
    assert (explorer.selected, explorer.state["selected"]) == (None, "")


def test_the_export_opens_where_the_explorer_is(explorer: Explorer) -> None:
    explorer.state = {"stage": "schedule", "selected": "schedule:2"}
    assert '"stage":"schedule","selected":"schedule:2"' in explorer.export_html()


@pytest.mark.parametrize("subject", [None, 3, "text", [], [1, 2], Explorer])
def test_what_cannot_be_explored(subject: Any) -> None:
    with pytest.raises(TypeError):
        svodviz.explore(subject)


def test_functions_are_called_with_their_inputs() -> None:
    made = svodviz.explore(lambda name: sample(name), "given.py")
    assert made.compilation.name == "given.py"
    with pytest.raises(TypeError, match="example inputs are for functions"):
        svodviz.explore(sample(), 1)


def test_listeners_hear_of_every_explorer() -> None:
    heard: list[Explorer] = []
    stop = listen(heard.append)
    first = svodviz.explore(sample())
    stop()
    svodviz.explore(sample())
    assert heard == [first]


def test_a_closed_explorer_tells_the_page_and_keeps_its_view(explorer: Explorer) -> None:
    sent: list[str] = []
    explorer.comm.publish_msg = lambda kind, *_, **__: sent.append(kind)
    explorer.close()
    explorer.close()
    assert explorer.ended
    assert sent == ["comm_msg"]  # no "comm_close", at which notebooks take views away
    explorer.selected = "graph:5"
    assert explorer.state["selected"] == "graph:5"
