"""The widget in a real JupyterLab: shown, followed from Python, and followed in Python."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.lab import IDLE, opened, run_cell, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "import svodviz\nfrom tests.svodviz.sample import sample\n"
    "explorer = svodviz.explore(sample())\nexplorer",
    "explorer.state = {'stage': 'schedule', 'selected': 'schedule:3'}",
    "print('selected', explorer.state['selected'], explorer.state['stage'])",
)
RESTART = """async () => {
    const { sessionContext } = window.jupyterapp.shell.currentWidget.context;
    await sessionContext.session.kernel.restart();
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the notebook."""
    with serve(tmp_path_factory.mktemp("lab"), CELLS) as address:
        yield address


def test_page_and_python_follow_each_other(chromium: Any, lab: str) -> None:
    with opened(chromium, lab) as page:
        run_cell(page, 0)
        page.wait_for_selector(".svodviz[data-ready=true]", timeout=30_000)
        assert page.locator(".svodviz").get_attribute("data-theme") == "light"
        assert page.locator(".theme-toggle").count() == 0
        run_cell(page, 1)
        page.wait_for_selector(".item.selected", timeout=10_000)
        page.locator('.item[title*="k1"]').click()
        page.wait_for_timeout(300)
        run_cell(page, 2)
        printed = page.locator(".jp-OutputArea-output", has_text="selected schedule")
        printed.wait_for(timeout=10_000)
        assert printed.inner_text().strip() == "selected schedule:1 schedule"


def test_an_explorer_outlives_its_kernel(chromium: Any, lab: str) -> None:
    with opened(chromium, lab) as page:
        run_cell(page, 0)
        page.wait_for_selector(".svodviz[data-ready=true]", timeout=30_000)
        page.evaluate(RESTART)
        page.wait_for_function(IDLE, timeout=30_000)
        # What was recorded is all in the page: it goes on without the kernel that sent it.
        page.locator(".stage", has_text="Kernels").click()
        page.locator(".node").first.dispatch_event("click")
        assert page.locator(".node.selected").count() == 1
        page.evaluate("document.querySelector('.svodviz').dataset.old = 'yes'")
        run_cell(page, 0)
        page.wait_for_selector(".svodviz[data-ready=true]:not([data-old])", timeout=30_000)
        fresh = page.locator(".svodviz:not([data-old]) .node", has_text="maximum")
        fresh.first.dispatch_event("click")
        run_cell(page, 2)
        printed = page.locator(".jp-OutputArea-output", has_text="selected graph:15")
        printed.wait_for(timeout=10_000)
