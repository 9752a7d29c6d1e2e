"""Explorers whose kernel ended: restarted, crashed, closed, or of a notebook that was saved."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import IDLE, READY, Server, Shown, opened

pytestmark = pytest.mark.browser

CELLS = (
    "import os\nimport svodviz\nfrom compiler import Options, Tensor, compile\n"
    "x = Tensor.arange(512).cast('float32')\n"
    "explorer = svodviz.explore(compile((x * x + 1.0).relu(), Options(loops='plain')))\nexplorer",
    "explorer.close()",
    "print(explorer.state['selected'])",
    "svodviz.explore(x + 1.0, x + 2.0)",
)
EXPLORE, CLOSE, TELL, COMPARE = range(len(CELLS))
SAVED = ("import svodviz\nfrom tests.svodviz.sample import hostile\nsvodviz.explore(hostile())",)
RESTART = "window.jupyterapp.shell.currentWidget.context.sessionContext.session.kernel.restart()"
# The effect of a crash on the page, without waiting until the server has seen it.
CRASH = """() => {
    const { kernel } = window.jupyterapp.shell.currentWidget.context.sessionContext.session;
    kernel.requestExecute({ code: 'import os; os._exit(1)', silent: true }).done.catch(() => {});
}"""
ENDED = "The kernel that made this explorer has ended: run its cell again."
TRUSTED = "() => window.jupyterapp.shell.currentWidget.content.model.cells.get(0).trusted"
WIDGETS = "application/vnd.jupyter.widget-state+json"


@pytest.fixture(scope="module")
def lab(notebook: Open) -> Iterator[Shown]:
    """A notebook of which nothing was run."""
    with notebook("ends.ipynb", CELLS) as shown:
        yield shown


def assert_readable(root: Any, words: str) -> None:
    """All that was recorded can be looked at; what needs Python says why it cannot."""
    root.locator(".obstacle", has_text=words).wait_for()
    root.locator('.stage[data-stage="kernels"]').click()
    root.locator(".node").first.click()
    assert root.locator(".node.selected").count() == 1
    root.locator('.stage[data-stage="llvm_passes"]').click()
    root.get_by_label("Which of LLVM's passes").select_option("3")
    root.locator(".llvm-words", has_text=words).wait_for()
    root.locator('.stage[data-stage="loops"]').click()
    root.locator('[data-view="playground"]').click()
    root.locator(".playground-view", has_text="Nothing was tried").wait_for()
    root.locator('.stage[data-stage="graph"]').click()


def assert_live(lab: Shown, root: Any) -> None:
    """Python answers, and follows."""
    assert root.locator(".obstacle").is_hidden()
    root.locator('.stage[data-stage="llvm_passes"]').click()
    root.locator(".llvm-pass").first.wait_for()
    root.locator('.stage[data-stage="graph"]').click()
    root.locator(".node").first.click()
    lab.run_until(TELL, root.locator(".inspector .entity").inner_text())


def test_a_closed_explorer_stays_readable(lab: Shown) -> None:
    root = lab.show(EXPLORE)
    lab.run(CLOSE)
    assert_readable(lab.widget(EXPLORE), "This explorer was closed in Python")
    lab.run(CLOSE)  # once more changes nothing
    assert root.count() == 1


def test_an_explorer_outlives_a_kernel_that_restarts(lab: Shown) -> None:
    assert_live(lab, lab.show(EXPLORE))
    compared = lab.show(COMPARE)
    compared.get_by_role("button", name="Measure both").wait_for()
    lab.page.evaluate(RESTART)
    lab.wait(IDLE)
    compared.locator(".changes", has_text=ENDED).wait_for()
    assert_readable(lab.widget(EXPLORE), ENDED)
    assert_live(lab, lab.show(EXPLORE))


def test_an_explorer_outlives_a_kernel_that_crashes(lab: Shown) -> None:
    assert_live(lab, lab.show(EXPLORE))
    lab.page.evaluate(CRASH)
    root = lab.widget(EXPLORE)
    root.locator(".obstacle", has_text=ENDED).wait_for()
    lab.page.locator(".jp-Dialog button").first.click()
    assert_readable(root, ENDED)
    lab.wait(IDLE)
    assert_live(lab, lab.show(EXPLORE))


def test_a_saved_notebook_is_interactive_where_it_is_trusted(
    lab: Shown, jupyter: Server, chromium: Any
) -> None:
    jupyter.write("saved.ipynb", SAVED)
    lab.open("saved.ipynb")
    lab.show(0).locator('.stage[data-stage="kernels"]').click()
    lab.command("docmanager:save")
    saved = jupyter.read("saved.ipynb")
    assert saved["metadata"]["widgets"][WIDGETS]["state"]
    jupyter.end_kernels()
    # A page of its own: the one above may still take the kernel that ended for a running one.
    with opened(chromium, jupyter.url("lab/tree/saved.ipynb") + "&reset") as again:
        assert_interactive(again)
        # The same from somebody else: a notebook that this server has not signed.
        saved["metadata"]["from"] = "somebody else"
        jupyter.save("strange.ipynb", saved)
        again.open("strange.ipynb")
        assert_picture(again)


def assert_interactive(lab: Shown) -> None:
    """A trusted notebook shows its explorer as it was saved, and says what needs Python."""
    root = lab.cell(0).locator(READY)
    root.wait_for()
    assert lab.page.evaluate(TRUSTED)
    assert root.get_attribute("data-stage") == "kernels"
    root.locator(".obstacle", has_text="No Python kernel").wait_for()
    root.locator('.stage[data-stage="passes"]').click()
    root.focus()
    lab.page.keyboard.press("ArrowRight")
    root.locator(".position", has_text="before 1 of").wait_for()
    root.locator('.stage[data-stage="llvm_passes"]').click()
    root.locator(".llvm-words", has_text="No Python kernel").wait_for()
    assert lab.page.evaluate("window.hacked") is None


def assert_picture(lab: Shown) -> None:
    """One that is not trusted shows a picture, and runs nothing."""
    picture = lab.cell(0).locator(".jp-OutputArea-output img")
    picture.wait_for()
    assert not lab.page.evaluate(TRUSTED)
    assert picture.get_attribute("src").startswith("data:image/svg+xml;base64,")
    assert picture.evaluate("(it) => it.decode().then(() => it.naturalWidth)") > 100
    assert lab.cell(0).locator(".svodviz, script, iframe, svg[onload]").count() == 0
    assert lab.page.evaluate("window.hacked") is None
