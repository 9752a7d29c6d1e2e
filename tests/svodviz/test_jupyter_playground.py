"""The playground in a real JupyterLab: a slider moves, Python compiles, other assembly appears."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.lab import opened, run_cell, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "import svodviz\nfrom tests.playground.programs import product\n"
    "explorer = svodviz.playground(product(32, 'auto', 32, 32),\n"
    "    choices=['tile i0 4; tile i1 16; reorder i0.0 i1.0 i0.1 i1.1; vectorize i1.1'])\nexplorer",
    "from svodviz.grounds import grounds_of\n"
    "print('tried', [p.text for p in grounds_of(explorer.compilation).of('k0').points][-1])",
)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the notebook."""
    with serve(tmp_path_factory.mktemp("lab"), CELLS) as address:
        yield address


def test_a_slider_leads_to_other_assembly(chromium: Any, lab: str) -> None:
    with opened(chromium, lab, 1400) as page:
        run_cell(page, 0)
        page.wait_for_selector(".svodviz[data-ready=true]", timeout=60_000)
        page.wait_for_selector(".play-controls button:enabled", timeout=30_000)
        page.locator(".play-section button", has_text="Assembly").click()
        before = page.locator(".play-code").inner_text()
        page.get_by_label("size of tile i0, slider").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_selector('.play-history [data-point="3"]', timeout=30_000)
        after = page.locator(".play-code").inner_text()
        assert after != before and len(after.splitlines()) > 5
        run_cell(page, 1)
        printed = page.locator(".jp-OutputArea-output", has_text="tried tile")
        printed.wait_for(timeout=10_000)
        assert printed.inner_text().startswith("tried tile i0 6 peel; tile i1 16 peel")
