"""Layouts that the page asks for: done, stopped, too slow, or refused in words."""

import time
from typing import Any

import pytest

from svodviz.drawing import layout_jobs
from svodviz.foundation.requests import respond


def ask(name: str, **arguments: Any) -> dict[str, Any]:
    """The one message that a request is answered by."""
    sent: list[dict[str, Any]] = []
    content = {"kind": "request", "id": 1, "name": f"layout: {name}", "arguments": arguments}
    respond(None, content, sent.append)
    (message,) = sent
    return message


def graph(count: int) -> dict[str, Any]:
    edges = [[it, it + step] for it in range(count) for step in (1, 7) if it + step < count]
    return {"boxes": [[80, 40, ""]] * count, "edges": edges}


def start(count: int) -> int:
    return int(ask("start", **graph(count))["result"]["job"])


def finished(job: int) -> dict[str, Any]:
    """The last answer, once the job no longer runs."""
    for _ in range(400):
        result = ask("look", job=job)["result"]
        if result["state"] != "running":
            return dict(result)
        time.sleep(0.05)
    raise AssertionError("the layout never ends")


def test_a_layout_is_made_elsewhere() -> None:
    result = finished(start(20))
    assert result["state"] == "done"
    assert len({tuple(it) for it in result["places"]}) == 20
    assert len(result["routes"]) == len(graph(20)["edges"])


def test_nobody_waits_while_it_runs_and_it_can_be_stopped() -> None:
    job = start(3000)
    process = layout_jobs._JOBS[job].process
    assert ask("look", job=job)["result"]["state"] == "running"
    assert ask("stop", job=job)["kind"] == "answer"
    assert process.poll() is not None
    assert "over" in ask("look", job=job)["words"]
    assert ask("stop", job=job)["kind"] == "answer"


def test_what_takes_too_long_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    job = start(3000)
    process = layout_jobs._JOBS[job].process
    monkeypatch.setattr(layout_jobs, "SECONDS_ALLOWED", 0.0)
    assert ask("look", job=job)["result"] == {"state": "failed", "words": "no layout within 0 s"}
    assert process.poll() is not None


def test_a_worker_that_nobody_looks_at_ends_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_jobs, "SECONDS_ALLOWED", 0.5)
    job = start(6000)
    process = layout_jobs._JOBS[job].process
    assert process.wait(timeout=20) != 0
    ask("stop", job=job)


@pytest.mark.parametrize(("arguments", "words"), [
    ({}, "boxes and edges"), ({"boxes": [], "edges": "all"}, "boxes and edges"),
    ({"boxes": [[1, 1, ""]], "edges": [[0, 1]]}, "not there"),
    ({"boxes": [[1, 1, ""]] * (layout_jobs.MOST_BOXES + 1), "edges": []}, "up to 20,000"),
])  # fmt: skip
def test_what_is_no_graph_is_refused(arguments: dict[str, Any], words: str) -> None:
    answer = ask("start", **arguments)
    assert answer["kind"] == "failure" and words in answer["words"]
