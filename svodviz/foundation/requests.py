"""What the page asks of Python while a kernel is there: to measure, to compile again, to show more.

    page    {"kind": "request", "id": n, "name": name, "arguments": {…}}
    Python  {"kind": "progress", "id": n, "words": text}      any number of times
            {"kind": "answer", "id": n, "result": JSON} or
            {"kind": "failure", "id": n, "words": text}

A request is answered by the function that `@request("name")` made known. A page without a kernel
(an export, a saved notebook) gets no answer to "ping", and says so where it would ask. Answers of
requests that are kept go into the explorer's `recorded`, by `key_of`: such a page shows these.
"""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from svodviz.foundation.escape import visible

Json: TypeAlias = Any
Progress: TypeAlias = Callable[[str], None]
Answerer: TypeAlias = Callable[[Any, dict[str, Any], Progress], Json]
"""From an explorer, the arguments, and what shows progress in words, to the result."""

_ANSWERERS: dict[str, Answerer] = {}
_KEPT: set[str] = set()


def request(name: str, *, is_kept: bool = False) -> Callable[[Answerer], Answerer]:
    """Makes a function the one that answers requests called `name`.

    `is_kept`: the same question always has the same answer, which exports are to have.
    """

    def enter(answerer: Answerer) -> Answerer:
        _ANSWERERS[name] = answerer
        if is_kept:
            _KEPT.add(name)
        return answerer

    return enter


def key_of(name: str, arguments: dict[str, Any]) -> str:
    """A question as one text, the same as the page makes of it."""
    words = json.dumps(arguments, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{name} {words}"


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
        arguments = dict(content.get("arguments") or {})
        result = _ANSWERERS[name](explorer, arguments, progress)
        if name in _KEPT:
            explorer.recorded = {**explorer.recorded, key_of(name, arguments): result}
    except Exception as error:
        words = visible(f"{type(error).__name__}: {error}")
        send({"kind": "failure", "id": number, "words": words})
        return
    send({"kind": "answer", "id": number, "result": result})
