"""What the page asks of Python while a kernel is there: to measure, to compile again, to show more.

    page    {"kind": "request", "id": n, "name": name, "arguments": {…}}
    Python  {"kind": "progress", "id": n, "words": text}      any number of times
            {"kind": "answer", "id": n, "result": JSON} or
            {"kind": "failure", "id": n, "words": text}

A request is answered by the function that `@request("name")` made known. A page without a kernel
(an export, a saved notebook) gets no answer to "ping", and says so where it would ask.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

from svodviz.escape import visible

Json: TypeAlias = Any
Progress: TypeAlias = Callable[[str], None]
Answerer: TypeAlias = Callable[[Any, dict[str, Any], Progress], Json]
"""From an explorer, the arguments, and what shows progress in words, to the result."""

_ANSWERERS: dict[str, Answerer] = {}


def request(name: str) -> Callable[[Answerer], Answerer]:
    """Makes a function the one that answers requests called `name`."""

    def enter(answerer: Answerer) -> Answerer:
        _ANSWERERS[name] = answerer
        return answerer

    return enter


@request("ping")
def ping(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """Whether Python is there."""
    return "pong"


def respond(explorer: Any, content: Any, send: Callable[[dict[str, Any]], None]) -> None:
    """Answers one message of the page. Whatever goes wrong is told to the page, nothing raised."""
    if not isinstance(content, dict) or content.get("kind") != "request":
        return
    number = content.get("id")

    def progress(words: str) -> None:
        send({"kind": "progress", "id": number, "words": visible(words)})

    try:
        name = content.get("name")
        if name not in _ANSWERERS:
            raise LookupError(f"no request is called {name!r}; there are {sorted(_ANSWERERS)}")
        result = _ANSWERERS[name](explorer, dict(content.get("arguments") or {}), progress)
    except Exception as error:
        words = visible(f"{type(error).__name__}: {error}")
        send({"kind": "failure", "id": number, "words": words})
        return
    send({"kind": "answer", "id": number, "result": result})
