"""Each line of "this graph in Python" runs, and gives the graph that is shown."""

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from typing import Any

import pytest

import svodviz
from svodviz.foundation.stages import USUAL
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import softmax_layer


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    shown = svodviz.explore(softmax_layer())
    assert isinstance(shown, Explorer)
    return shown


def evaluated(explorer: Explorer, line: str) -> Any:
    return eval(line, {"program": explorer.compilation, "svodviz": svodviz})


def parts(explorer: Explorer) -> Iterator[tuple[Any, Any]]:
    for stage in explorer.wire["stages"]:
        for unit in stage["units"]:
            yield stage, unit


def test_each_graph_is_the_one_that_is_drawn(explorer: Explorer) -> None:
    names = explorer.wire["entities"]
    seen = set()
    for stage, unit in parts(explorer):
        if unit["scene"] is None:
            continue
        seen.add(stage["id"])
        graph = evaluated(explorer, unit["python"][0])
        drawn = [names[it["e"]] for it in unit["scene"]["nodes"]]
        assert sorted(graph.nodes) == sorted(drawn), unit["title"]
    assert seen == {row.id for row in USUAL if row.find(explorer.compilation) and not row.asked}


def test_each_text_is_the_one_that_is_shown(explorer: Explorer) -> None:
    for stage, unit in parts(explorer):
        if stage.get("asked"):
            continue
        with redirect_stdout(StringIO()) as out:
            evaluated(explorer, unit["python"][1])
        printed = [line.expandtabs(4).rstrip() for line in out.getvalue().splitlines()]
        shown = [text.rstrip() for text, *_ in unit["lines"]]
        assert [it for it in printed if it] == [it for it in shown if it], unit["title"]


def test_what_is_asked_for_is_there_too(explorer: Explorer) -> None:
    lines = {stage["id"]: unit["python"] for stage, unit in parts(explorer) if stage.get("asked")}
    assert set(lines) == {"llvm_passes", "run"}
    assert len(evaluated(explorer, lines["run"][0])) == len(explorer.compilation.schedule.items)
    for _, text in lines.values():
        with redirect_stdout(StringIO()) as out:
            evaluated(explorer, text)
        assert out.getvalue()


def test_each_step_of_a_pass_is_the_graph_on_screen(explorer: Explorer) -> None:
    (line,) = (it["python"] for it in explorer.wire["stages"] if it["id"] == "passes")
    for position, record in enumerate(explorer.wire["passes"]):
        replay = explorer.wire["replays"][record["replay"]]
        nodes: set[int] = set()
        for earlier in replay["passes"][: record["replay_pass"]]:
            for delta in (earlier["start"], *earlier["steps"]):
                play(nodes, delta)
        replayed = replay["passes"][record["replay_pass"]]
        for step, delta in enumerate((replayed["start"], *replayed["steps"])):
            play(nodes, delta)
            graph = evaluated(explorer, filled(line, position, step))
            assert len(graph) == len(nodes), (record["name"], step)
        assert len(evaluated(explorer, filled(line, position, -1))) == len(nodes)


def filled(line: str, position: int, step: int) -> str:
    return line.replace("{pass}", str(position)).replace("{step}", str(step))


def play(nodes: set[int], delta: Any) -> None:
    nodes -= set(delta.get("n-", ()))
    nodes |= set(delta.get("n+", ()))
