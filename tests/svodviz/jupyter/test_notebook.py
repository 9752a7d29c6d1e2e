"""An explorer in a real Notebook 7: opened, run, clicked, stepped through, followed in Python."""

from typing import Any

import pytest

from tests.svodviz.jupyter.test_jupyter import SEEN
from tests.svodviz.lab import Server, opened

pytestmark = pytest.mark.browser

CELLS = (
    "import svodviz\nfrom tests.svodviz.sample import sample\n"
    "explorer = svodviz.explore(sample())\nexplorer",
    "print(explorer.state['selected'], explorer.state['stage'])",
    "explorer.selected = 'graph:13'",
)
EXPLORE, TELL, SELECT = range(len(CELLS))


def test_an_explorer_in_notebook(jupyter: Server, chromium: Any) -> None:
    pytest.importorskip("notebook", reason="notebook is not installed")
    jupyter.write("classic.ipynb", CELLS)
    with opened(chromium, jupyter.url("notebooks/classic.ipynb")) as shown:
        root = shown.show(EXPLORE)
        root.focus()
        shown.page.keyboard.press(" ")
        root.locator(".node", has_text="maximum").first.click()
        shown.run_until(TELL, "graph:15 graph")
        shown.run(SELECT)
        root.locator(".inspector .entity", has_text="graph:13").wait_for()
        root.focus()
        shown.page.keyboard.press("t")
        shown.wait(f"(root) => ({SEEN})(root).join() === 'true,true,true'", root.element_handle())
        for key in ("n", "ArrowRight", "ArrowRight", "b", "a"):
            shown.page.keyboard.press(key)
        root.locator(".position", has_text="after 1 of").wait_for()
        assert root.locator(".node[data-mark=added]").count() >= 1
        assert shown.page.locator(".jp-Notebook-cell").count() == len(CELLS)
        assert root.evaluate("(it) => it.scrollWidth - it.clientWidth") == 0
