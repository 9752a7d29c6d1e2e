"""A real JupyterLab in which an explorer opens while LLVM is still at work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svodviz.foundation.packing import unpacked
from svodviz.foundation.stages import STAGES
from svodviz.offline import page_of
from svodviz.wire.later import UNMADE
from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import READY, Server, Shown

pytestmark = pytest.mark.browser

# A machine on which LLVM takes until a file is there, and where every program is a large one.
SLOW = """\
import os, time, svodviz
from compiler import Options, Tensor, compile
from compiler.llvm.looking import listing
from svodviz.wire import later
later.LARGE = 0
made = listing.listings
def slow(*given):
    while not os.path.exists('llvm_is_done'): time.sleep(0.02)
    return made(*given)
listing.listings = slow
x = Tensor.arange(512).cast('float32')"""
CELLS = (
    SLOW,
    "explorer = svodviz.explore(compile((x * x + 1.0).relu(), Options(loops='plain')))\nexplorer",
    "print(explorer.state['stage'], len(explorer.later['stages']), explorer.selected.text.strip())",
    "explorer.selected = explorer.compilation.assembly[0].lines[0]",
    "print(bool(explorer.later) and explorer.state['stage'] in ('graph', 'asm'))",
)
PREPARE, EXPLORE, TELL, SELECT, TELL_STAGE = range(len(CELLS))
BEGIN = """(number) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = number;
    content.deselectAll();
    window.jupyterapp.commands.execute('notebook:run-cell').catch(() => {});
}"""
RESTART = "window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()"
WIDGETS = "application/vnd.jupyter.widget-state+json"
COMING = "Still compiling. It appears here by itself."
LATE = [row.id for row in STAGES if row.late]


@pytest.fixture
def done(jupyter: Server) -> Iterator[Path]:
    """The file that lets LLVM end."""
    path = jupyter.folder / "llvm_is_done"
    path.unlink(missing_ok=True)
    yield path
    path.touch()


@pytest.fixture
def lab(notebook: Open, done: Path, request: pytest.FixtureRequest) -> Iterator[Shown]:
    """A notebook whose first cell was run."""
    with notebook(f"{request.node.name}.ipynb", CELLS) as shown:
        shown.run(PREPARE)
        yield shown


def begun(lab: Shown) -> Any:
    """The explorer's root, painted while its cell still runs."""
    lab.page.evaluate(BEGIN, EXPLORE)
    root = lab.cell(EXPLORE).locator(READY)
    root.wait_for()
    assert size(root).inner_text() == "compiling …"
    return root


def size(root: Any) -> Any:
    return root.locator('.stage[data-stage="asm"] .stage-size')


def test_a_page_is_used_before_llvm_is_done(
    lab: Shown, jupyter: Server, done: Path, request: pytest.FixtureRequest
) -> None:
    root = begun(lab)
    root.locator(".node").first.click()
    assert root.locator(".node.selected").count() == 1
    root.locator('.stage[data-stage="asm"]').click()
    assert root.locator(".waiting").inner_text() == COMING
    done.touch()
    lab.run_until(TELL_STAGE, "True")
    root.locator('.stage[data-stage="asm"]').click()  # if its state has not arrived yet
    root.locator(".text-view .line").first.wait_for()
    lab.run(SELECT)
    lab.run_until(TELL, "asm 4 k0_mul_add_relu:")
    assert root.locator(".inspector .entity").inner_text() == "asm:0:1"
    lab.command("docmanager:save")
    saved = jupyter.read(f"{request.node.name}.ipynb")["metadata"]["widgets"][WIDGETS]["state"]
    (state,) = (it["state"] for it in saved.values() if "wire" in it["state"])
    assert [it["id"] for it in unpacked(state["later"])["stages"]] == LATE
    assert UNMADE not in page_of(state)


def test_a_kernel_that_ends_meanwhile_leaves_words(lab: Shown) -> None:
    root = begun(lab)
    root.locator('.stage[data-stage="optimized"]').click()
    lab.page.evaluate(RESTART)
    words = "This was not compiled yet. The kernel that made this explorer has ended"
    root.locator(".waiting", has_text=words).wait_for()
    assert size(root).inner_text() == "not compiled"
    root.locator('.stage[data-stage="loops"]').click()
    root.locator(".line.linked").first.click()
