"""The explorer in the room that JupyterLab leaves it: over the whole window, and in its own tab."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import Shown

pytestmark = pytest.mark.browser

CELLS = (
    "import svodviz\nfrom tests.svodviz.sample import sample\n"
    "one = svodviz.explore(sample())\none",
    "print(one.state['stage'], one.state['selected'] or '-')",
)
FIRST, TELL = range(len(CELLS))
OWN_TAB = ".svodviz-tab .svodviz[data-ready=true]"


@pytest.fixture(scope="module")
def lab(notebook: Open) -> Iterator[Shown]:
    """A notebook with an explorer."""
    with notebook("room.ipynb", CELLS) as shown:
        shown.show(FIRST)
        yield shown


def fills(page: Any, box: dict[str, float]) -> bool:
    """True if a box is the whole window."""
    size = page.viewport_size
    return (box["x"], box["y"], box["width"], box["height"]) == (
        0, 0, size["width"], size["height"])  # fmt: skip


@pytest.mark.parametrize("leave", ["f", "Escape"])
def test_f_shows_it_over_the_whole_window(lab: Shown, leave: str) -> None:
    root, page = lab.widget(FIRST), lab.page
    before = root.bounding_box()
    root.focus()
    page.keyboard.press("f")
    assert fills(page, root.bounding_box())
    # Nothing of the notebook lies over it, and what it had drawn is there.
    on_top = "(root) => root.contains(document.elementFromPoint(20, 20))"
    assert root.evaluate(on_top)
    assert root.locator(".node").count() > 10
    page.keyboard.press(leave)
    after = root.bounding_box()
    assert (after["width"], after["height"]) == (before["width"], before["height"])


def test_the_button_does_the_same(lab: Shown) -> None:
    root = lab.widget(FIRST)
    button = root.get_by_label("Full page")
    button.click()
    assert fills(lab.page, root.bounding_box())
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert not fills(lab.page, root.bounding_box())


def test_a_tab_of_its_own_has_the_same_kernel_and_state(lab: Shown) -> None:
    root, page = lab.widget(FIRST), lab.page
    root.get_by_label("In a tab of its own").click()
    own = page.locator(OWN_TAB)
    own.wait_for()
    tab = page.locator(".lm-DockPanel-tabBar .lm-mod-current")
    assert tab.inner_text().strip() == "network.py"
    place = page.locator(".svodviz-tab").bounding_box()
    box = own.bounding_box()
    for side in ("width", "height"):  # but for the lines around the tab
        assert box[side] == pytest.approx(place[side], abs=2)
    own.locator('.stage[data-stage="loops"]').click()
    own.locator('[data-view="text"]').click()
    own.locator(".line.linked").first.click()
    chosen = own.locator(".inspector .entity").inner_text()
    lab.command("docmanager:open", path="room.ipynb")
    lab.widget(FIRST).locator(".inspector .entity", has_text=chosen).wait_for()
    assert lab.widget(FIRST).get_attribute("data-stage") == "loops"
    lab.run_until(TELL, f"loops {chosen}")
    # The other way round: what the notebook selects is selected in the tab.
    lab.widget(FIRST).locator('.stage[data-stage="graph"]').click()
    page.wait_for_function(f"document.querySelector('{OWN_TAB}').dataset.stage === 'graph'")
    page.evaluate("""() => [...window.jupyterapp.shell.widgets('main')]
        .find((it) => it.hasClass('svodviz-tab')).close()""")
    page.wait_for_function("!document.querySelector('.svodviz-tab')")
    assert lab.widget(FIRST).locator(".node").count() > 10
