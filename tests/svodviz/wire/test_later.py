"""Stages that arrive after the page of a large program has opened in a notebook."""

import re
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.events import EventManager, available_events

from compiler import Compilation, Options, Tensor, compile
from svodviz.foundation.packing import packed
from svodviz.foundation.requests import respond
from svodviz.foundation.stages import USUAL
from svodviz.offline import page_of
from svodviz.widget import explorer as widget
from svodviz.widget.explorer import Explorer
from svodviz.wire import later
from svodviz.wire.later import UNMADE, joined
from svodviz.wire.payload import opening, wire
from tests.svodviz.sample import hostile, rich, sample
from tests.svodviz.wire.test_payload import FailingLate, without_times

LATE = [row.id for row in USUAL if row.late]


def program() -> Compilation:
    x = Tensor.arange(512).cast("float32")
    return compile((x * x + 1.0).relu(), Options(loops="plain"), name="chain")


def stages(data: Any) -> dict[str, Any]:
    return {it["id"]: it for it in data["stages"]}


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A notebook's shell; a program of any size is large in it."""
    made = SimpleNamespace(kernel=object())
    made.events = EventManager(made, available_events)
    monkeypatch.setattr(widget, "get_ipython", lambda: made)
    monkeypatch.setattr(later, "LARGE", 0)
    return made


@pytest.fixture
def end_cell(shell: Any) -> Callable[[], None]:
    """Ends the cell that runs."""
    return lambda: shell.events.trigger("post_run_cell", None)


@pytest.fixture
def explorer(shell: Any) -> Iterator[Explorer]:
    """One whose page has opened, and whose rest has not arrived."""
    made = Explorer(program())
    assert [id for id, it in stages(made.wire).items() if it.get("later")] == LATE
    assert made.later == {}
    yield made
    made.close()


@pytest.mark.parametrize("make", [sample, rich, hostile, program, FailingLate])
def test_both_parts_are_the_page_in_one_piece(make: Callable[[], Any]) -> None:
    parted, complete = [make() for _ in range(2)]  # both from one line
    data, rest = opening(parted)
    assert all(not unit["lines"] for id in LATE for unit in stages(data)[id]["units"])
    whole = joined(data, rest.made())
    assert without_times(whole["stages"]) == without_times(wire(complete)["stages"])
    assert whole["entities"] == rest.entities.names
    assert whole["parents"] == rest.entities.parents
    assert [it["id"] for it in whole["stages"]] == [it.id for it in USUAL]
    assert not any(it.get("later") for it in whole["stages"])
    assert set(data) == set(whole)


def test_a_page_opens_with_the_names_of_what_arrives() -> None:
    data, rest = opening(rich())
    for id, stage in stages(rest.made()).items():
        names = [unit["name"] for unit in stage["units"]]
        assert [unit["name"] for unit in stages(data)[id]["units"]] == names


def test_the_rest_arrives_when_the_cell_has_shown_its_result(
    explorer: Explorer, end_cell: Callable[[], None]
) -> None:
    end_cell()
    assert list(stages(explorer.later)) == LATE
    text = [line[0] for line in stages(explorer.later)["asm"]["units"][0]["lines"]]
    assert text == list(explorer.compilation.assembly[0].rows)
    first = explorer.later
    end_cell()
    assert explorer.later is first


def test_small_programs_and_those_outside_of_notebooks_come_in_one_piece(
    shell: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(later, "LARGE", 2_000)
        assert not stages(Explorer(program()).wire)["asm"].get("later")
    shell.kernel = None
    made = Explorer(program())
    assert stages(made.wire)["asm"]["units"][0]["lines"]
    assert made.later == {}


def test_a_page_that_opened_in_some_other_way_asks(explorer: Explorer) -> None:
    sent: list[Any] = []
    for number in (1, 2):
        asked = {"kind": "request", "id": number, "name": "arrive", "arguments": {}}
        respond(explorer, asked, sent.append)
    assert [it["kind"] for it in sent] == ["answer", "answer"]
    assert list(stages(explorer.later)) == LATE


def test_exports_have_everything(explorer: Explorer) -> None:
    page = explorer.export_html()
    assert list(stages(explorer.later)) == LATE
    assert UNMADE not in page
    assert '"later": true' not in page and '"later":true' not in page
    assert explorer.compilation.assembly[0].rows[-1].strip() in page


def test_a_selection_in_what_is_to_arrive_has_it_made(explorer: Explorer) -> None:
    line = explorer.compilation.assembly[0].lines[1]
    assert line.entity is not None
    explorer.state = {"stage": "asm", "selected": line.entity}
    assert list(stages(explorer.later)) == LATE
    assert explorer.selected == line
    assert explorer.state["selected"] == line.entity


def test_the_object_itself_can_be_selected_at_once(explorer: Explorer) -> None:
    line = explorer.compilation.optimized[0].lines[2]
    explorer.selected = line
    assert explorer.state["selected"] == line.entity
    assert explorer.later


def test_an_explorer_can_open_at_what_is_to_arrive(shell: Any) -> None:
    compilation = program()
    line = compilation.assembly[0].lines[1]
    made = Explorer(compilation, stage="asm", selected=line.entity)
    assert made.state["selected"] == line.entity
    assert made.selected == line
    assert list(stages(made.later)) == LATE


def test_a_wrong_selection_is_still_told(explorer: Explorer) -> None:
    with pytest.raises(Exception, match="asm:7:1"):
        explorer.state = {"selected": "asm:7:1"}
    assert explorer.state.get("selected", "") == ""


def test_other_states_wait_for_nothing(explorer: Explorer) -> None:
    explorer.state = {"stage": "asm", "unit": 0, "view": "machine"}
    explorer.state = {"selected": "graph:1", "columns": ["source", "loops", "asm"]}
    assert explorer.later == {}


def test_a_closed_explorer_makes_no_more_of_itself(
    explorer: Explorer, end_cell: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.close()
    monkeypatch.setattr(Explorer, "arrive", lambda _: pytest.fail("nobody looks any more"))
    end_cell()


def test_an_interrupted_cell_leaves_it_to_the_page(
    explorer: Explorer, end_cell: Callable[[], None], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    def interrupted(_: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(later.Rest, "made", interrupted)
        end_cell()
    assert explorer.later == {}
    assert capsys.readouterr().out == ""
    explorer.arrive()
    assert list(stages(explorer.later)) == LATE


def test_a_stage_that_llvm_cannot_make_says_why(shell: Any, end_cell: Callable[[], None]) -> None:
    made: Any = FailingLate()
    shown = Explorer(made)
    end_cell()
    found = stages(shown.later)
    assert found["optimized"]["missing"] == "RuntimeError: no target <x>"
    assert found["asm"]["units"]
    assert any("no target" in note for note in shown.later["notes"])
    shown.close()


def test_what_a_notebook_saved_has_what_arrived(
    explorer: Explorer, end_cell: Callable[[], None]
) -> None:
    early = explorer.get_state()
    end_cell()
    saved = explorer.get_state()
    assert saved["later"] == packed(explorer.later)
    code = re.escape(explorer.compilation.assembly[0].rows[-1].strip())
    assert re.search(code, page_of(saved))
    page = page_of(early)
    assert page.count(UNMADE) == len(LATE)
    assert page_of({"wire": explorer.wire}).count(UNMADE) == len(LATE)
