"""An exported page that Python answers, as it does in a notebook."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from svodviz.foundation.packing import packed
from svodviz.foundation.requests import respond
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import READY

# A model that has `send`, as a notebook's has: what is sent is answered by Python.
DEAF = "save_changes: () => {},"
HEARING = """save_changes: () => {},
  send: async (message) => {
    for (const it of await window.toPython(message)) {
      if (it.kind === "trait") model.set(it.name, it.value);
      else (listeners.get("msg:custom") || []).forEach((listener) => listener(it));
    }
  },"""


@contextmanager
def answered_page(explorer: Explorer, chromium: Any, folder: Path, text: str = "") -> Iterator[Any]:
    """The explorer's page, whose requests the explorer answers in this process.

    It is the exported one, unless the `text` of one is given.
    """
    text = text or explorer.export_html()
    assert text.count(DEAF) == 1
    path = folder / "live.html"
    path.write_text(text.replace(DEAF, HEARING))
    page = chromium.new_page(viewport={"width": 1400, "height": 800})
    try:
        page.expose_function("toPython", lambda message: answers(explorer, message))
        page.goto(path.as_uri())
        page.wait_for_selector(READY)
        yield page
    finally:
        page.close()


def answers(explorer: Explorer, message: Any) -> list[Any]:
    """All that the page is sent for one message of its own."""
    sent: list[Any] = []
    before = explorer.later
    respond(explorer, message, sent.append)
    if explorer.later != before:
        sent.insert(0, {"kind": "trait", "name": "later", "value": packed(explorer.later)})
    return sent
