"""Questions of the page to Python, without a page."""

from typing import Any

import pytest

from svodviz.foundation.requests import request, respond


def ask(name: object, **arguments: Any) -> list[dict[str, Any]]:
    """All messages that one request is answered by."""
    sent: list[dict[str, Any]] = []
    content = {"kind": "request", "id": 7, "name": name, "arguments": arguments}
    respond("the explorer", content, sent.append)
    return sent


def test_python_says_that_it_is_there() -> None:
    assert ask("ping") == [{"kind": "answer", "id": 7, "result": "pong"}]


def test_an_answerer_has_the_explorer_its_arguments_and_tells_its_progress() -> None:
    @request("test: double")
    def double(explorer: Any, arguments: dict[str, Any], progress: Any) -> Any:
        progress(f"doubling for {explorer}")
        return 2 * arguments["number"]

    assert ask("test: double", number=4) == [
        {"kind": "progress", "id": 7, "words": "doubling for the explorer"},
        {"kind": "answer", "id": 7, "result": 8},
    ]


def test_what_goes_wrong_is_told_in_words() -> None:
    @request("test: fail")
    def fail(explorer: Any, arguments: dict[str, Any], progress: Any) -> Any:
        raise ValueError("no such axis \u202e i9")

    (answer,) = ask("test: fail")
    assert (answer["kind"], answer["words"]) == ("failure", "ValueError: no such axis \\u202e i9")


def test_an_unknown_request_names_the_known_ones() -> None:
    (answer,) = ask("nonsense")
    assert answer["kind"] == "failure" and "'ping'" in answer["words"]


@pytest.mark.parametrize("content", ["text", None, {"kind": "answer", "id": 1}, {}])
def test_what_is_no_request_has_no_answer(content: Any) -> None:
    sent: list[dict[str, Any]] = []
    respond("the explorer", content, sent.append)
    assert sent == []
