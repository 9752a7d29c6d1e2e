"""Requests of the page while a kernel is there: to measure, to compile again, to show more.

    page    {"kind": "request", "id": n, "name": name, "arguments": {…}}
    Python  {"kind": "progress", "id": n, "words": text}      any number of times
            {"kind": "answer", "id": n, "result": JSON} or
            {"kind": "failure", "id": n, "words": text}

A request is answered by the function that `@request("name")` made known. A page without a kernel
(an export, a saved notebook) gets no answer to "ping", and says so where it would ask. Answers of
requests that are kept go into the explorer's `recorded`, by `key_of`: such a page shows these.
"""

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

Arguments: TypeAlias = Mapping[str, object]
Progress: TypeAlias = Callable[[str], None]
Answerer: TypeAlias = Callable[..., object]
"""A function from the subject, the arguments and a progress callback to the result."""
A = TypeVar("A", bound=Answerer)


class Asked(Protocol):
    """The subject of a page that asks: an explorer, or two compilations side by side."""

    @property
    def compilation(self) -> "Compilation":
        """The compilation that it shows."""

    @property
    def recorded(self) -> dict[str, object]:
        """The answers that exports have."""

    @recorded.setter
    def recorded(self, answers: dict[str, object]) -> None: ...


_ANSWERERS: dict[str, Answerer] = {}
_KEPT: set[str] = set()


def request(name: str, *, is_kept: bool = False) -> Callable[[A], A]:
    """Registers the function that answers requests called `name`.

    `is_kept`: the same question always has the same answer, which exports are to have.
    """

    def enter(answerer: A) -> A:
        _ANSWERERS[name] = answerer
        if is_kept:
            _KEPT.add(name)
        return answerer

    return enter


def key_of(name: str, arguments: Arguments) -> str:
    """The key of a question, the same as in the page."""
    words = json.dumps(dict(arguments), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return f"{name} {words}"


def whole(arguments: Arguments, name: str) -> int:
    """An argument that is a whole number; ValueError where it is none."""
    value = arguments.get(name)
    if not isinstance(value, int | float | str):
        raise ValueError(f"{name} is {value!r}; expected a whole number")
    return int(value)


@request("ping")
def ping(explorer: Asked, arguments: Arguments, progress: Progress) -> str:
    """True if Python answers."""
    return "pong"


def respond(explorer: Asked, content: object, send: Callable[[dict[str, object]], object]) -> None:
    """Answers one message of the page. Errors are sent to the page, none is raised."""
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
