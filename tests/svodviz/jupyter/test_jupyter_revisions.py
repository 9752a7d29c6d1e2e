"""The source edited in the page of a real JupyterLab: all stages follow, and so does the notebook.

One notebook, whose tests go on where the one before ended.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import Shown

pytestmark = pytest.mark.browser

BEFORE = "def layer(x):\n    return (x + 1.0).relu()"
AFTER = "def layer(x):\n    return (x * 3.0 + 1.0).relu()"
CELLS = (
    "import svodviz\nfrom compiler import Tensor\nx = Tensor.arange(64).cast('float32')",
    BEFORE,
    "explorer = svodviz.explore(layer, x)\nexplorer",
    "print(explorer.revision, layer.__code__.co_consts[1:], explorer.state['stage'])",
    "print(id(explorer))",
)
PREPARE, DEFINE, EXPLORE, TELL, IDENTITY = range(len(CELLS))
CELL = """(number) => {
    const { model } = window.jupyterapp.shell.currentWidget.content.widgets[number];
    return [model.sharedModel.getSource(), model.executionCount, model.isDirty,
        model.outputs.length];
}"""
LISTEN = """() => {
    const { kernel } = window.jupyterapp.shell.currentWidget.context.sessionContext.session;
    window.sent = [];
    kernel.anyMessage.connect((_, { msg, direction }) => {
        const { header, content } = msg;
        if (direction === 'send') window.sent.push([header.msg_type, JSON.stringify(content)]);
    });
}"""
WRITE = """([number, text]) => window.jupyterapp.shell.currentWidget.content.widgets[number]
    .model.sharedModel.setSource(text)"""


@pytest.fixture(scope="module")
def lab(notebook: Open) -> Iterator[Shown]:
    """A notebook with an explorer of a function."""
    with notebook("revisions.ipynb", CELLS) as shown:
        shown.run(PREPARE)
        shown.run(DEFINE)
        shown.show(EXPLORE)
        yield shown


@pytest.fixture
def root(lab: Shown) -> Any:
    return lab.widget(EXPLORE)


def shows(root: Any, words: str) -> None:
    """Waits until the bar says which revision it is."""
    root.locator(".revision-line strong", has_text=words).wait_for()


def edit(lab: Shown, root: Any, text: str) -> None:
    """Writes a text into the editor and runs it."""
    root.locator(".editor-field").fill(text)
    lab.page.keyboard.press("Control+Enter")


def test_an_edit_in_the_page_runs_in_the_notebook(lab: Shown, root: Any) -> None:
    assert root.locator(".revision-bar").is_hidden()
    root.locator('.stage[data-stage="source"]').click()
    root.get_by_role("button", name="Edit", exact=True).click()
    field = root.locator(".editor-field")
    assert field.input_value() == BEFORE  # the cell of the function, of those that made nodes
    before = lab.page.evaluate(CELL, DEFINE)[1]
    edit(lab, root, AFTER)
    shows(root, "revision 2 of 2")
    assert field.input_value() == AFTER  # the editor goes on
    assert field.evaluate("(it) => it.getRootNode().activeElement === it")
    source, count, is_dirty, _ = lab.page.evaluate(CELL, DEFINE)
    assert (source, is_dirty) == (AFTER, False) and count > before
    lab.page.keyboard.press("Escape")
    assert field.is_hidden()
    changed = root.locator('.line[data-sign="~"]')
    assert changed.locator("code").all_inner_texts() == [AFTER.splitlines()[1]]
    root.locator('.stage[data-stage="graph"]').click()
    assert root.locator(".node[data-mark=added]").count() >= 1
    root.locator('.stage[data-stage="asm"]').click()
    root.locator('[data-view="text"]').click()
    assert root.locator(".line[data-sign]").count() >= 1
    lab.run_until(TELL, "2 (3.0, 1.0) asm")


def test_the_text_is_in_no_message_to_our_python(lab: Shown, root: Any) -> None:
    """The notebook's kernel executes it, as a cell; the Python of the widget never hears it."""
    lab.page.evaluate(LISTEN)
    root.locator('.stage[data-stage="source"]').click()
    root.get_by_role("button", name="Edit", exact=True).click()
    edit(lab, root, AFTER + "  # unheard of")
    shows(root, "revision 3 of 3")
    lab.page.keyboard.press("Escape")
    lab.page.keyboard.press("Control+z")
    shows(root, "revision 2 of 3")
    sent = lab.page.evaluate("window.sent")
    assert sum(kind == "comm_msg" for kind, _ in sent) >= 2
    assert [kind for kind, content in sent if "unheard" in content] == ["execute_request"]


def test_the_revision_before_comes_back(lab: Shown, root: Any) -> None:
    root.locator('.stage[data-stage="asm"]').click()
    root.focus()
    lab.page.keyboard.press("Control+z")
    shows(root, "revision 1 of 3")
    assert root.locator(".line[data-sign]").count() == 0
    assert root.get_attribute("data-stage") == "asm"
    lab.run_until(TELL, "1 (3.0, 1.0) asm")
    root.get_by_label("Next revision").click()
    shows(root, "revision 2 of 3")
    root.get_by_role("button", name="Marks").click()
    root.locator(".line").first.wait_for()
    assert root.locator(".line[data-sign]").count() == 0
    root.get_by_role("button", name="Marks").click()
    assert root.locator(".line[data-sign]").count() >= 1


def test_what_was_before_is_put_back(lab: Shown, root: Any) -> None:
    assert "the notebook is at 3" in root.locator(".revision-words").inner_text()
    assert lab.page.evaluate(CELL, DEFINE)[0] == AFTER + "  # unheard of"
    root.get_by_role("button", name="Restore").click()
    root.get_by_role("button", name="Restore").wait_for(state="hidden")
    assert lab.page.evaluate(CELL, DEFINE)[0] == AFTER
    shows(root, "revision 2 of 3")
    assert "the notebook" not in root.locator(".revision-words").inner_text()


def test_errors_are_shown_in_the_page(lab: Shown, root: Any) -> None:
    root.locator('.stage[data-stage="source"]').click()
    root.get_by_role("button", name="Edit", exact=True).click()
    edit(lab, root, "def layer(x):\n    return (x +")
    root.locator(".editor-failure", has_text="SyntaxError").wait_for()
    assert root.locator(".editor-numbers .wrong").inner_text() == "✗ 2"
    assert lab.page.evaluate(CELL, DEFINE)[3] == 1  # the notebook shows it as well
    edit(lab, root, "def layer(x):\n    return x @ x.reshape(8, 8)")
    root.locator(".revision-problem", has_text="return x @ x.reshape(8, 8)").wait_for()
    shows(root, "revision 2 of 3")
    assert root.locator(".editor-failure").is_hidden()
    edit(lab, root, AFTER.replace("3.0", "4.0"))
    shows(root, "revision 4 of 4")
    assert root.locator(".revision-problem").is_hidden()
    lab.page.keyboard.press("Escape")


def test_a_cell_run_in_the_notebook_is_followed(lab: Shown, root: Any) -> None:
    root.locator('.stage[data-stage="loops"]').click()
    lab.page.evaluate(WRITE, [DEFINE, BEFORE])
    lab.run(DEFINE)
    shows(root, "revision 5 of 5")
    assert root.get_attribute("data-stage") == "loops"
    # What is typed in the notebook and did not run is not overwritten: the text can be copied.
    lab.page.evaluate(WRITE, [DEFINE, BEFORE + "  # mine"])
    root.locator('.stage[data-stage="source"]').click()
    root.get_by_role("button", name="Edit", exact=True).click()
    root.locator(".editor-words", has_text="has another text by now").wait_for()
    assert root.get_by_role("button", name="Run", exact=True).is_disabled()
    lab.page.keyboard.press("Escape")


def test_the_cell_run_again_gives_the_same_explorer(lab: Shown, root: Any) -> None:
    before = lab.run(IDENTITY)
    root.locator('.stage[data-stage="schedule"]').click()
    again = lab.show(EXPLORE)
    shows(again, "revision 5 of 5")
    assert again.get_attribute("data-stage") == "schedule"
    assert lab.run(IDENTITY) == before
