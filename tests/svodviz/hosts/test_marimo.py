"""Explorers and quizzes in marimo, in a browser: drawn, answered by Python, dark where it is."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.hosts.server import served
from tests.svodviz.lab import PATIENCE, READY

pytest.importorskip("marimo", reason="marimo is not installed")
pytestmark = pytest.mark.browser

NOTEBOOK = """
import marimo
app = marimo.App()


@app.cell
def _():
    import marimo as mo
    import numpy as np
    import svodviz
    from compiler import Tensor
    w = Tensor(np.ones((32, 10), np.float32), name="w")
    return Tensor, mo, np, svodviz, w


@app.cell
def _(Tensor, mo, np, svodviz, w):
    x = Tensor(np.ones((64, 32), np.float32), name="x")
    y = (x @ w).softmax(axis=1)
    explorer = mo.ui.anywidget(svodviz.explore(y))
    explorer
    return explorer, x, y


@app.cell
def _(explorer):
    print("Python sees", explorer.value["state"].get("selected"))
    return


@app.cell
def _(svodviz, y):
    svodviz.quiz(y)
    return
"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of marimo, with the notebook open to be edited, which it runs by itself."""
    folder = tmp_path_factory.mktemp("marimo")
    settings = folder / ".config/marimo/marimo.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text("[runtime]\nauto_instantiate = true\n")
    (folder / "notebook.py").write_text(NOTEBOOK)
    command = ("marimo", "edit", str(folder / "notebook.py"), "--headless", "--no-token",
               "--skip-update-check")  # fmt: skip
    with served(folder, *command) as found:
        yield found


@pytest.fixture(scope="module")
def page(chromium: Any, address: str) -> Iterator[Any]:
    """The notebook, run, in a light marimo under a dark system."""
    page = chromium.new_page(viewport={"width": 1440, "height": 1000}, color_scheme="dark")
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(address)
    page.locator(READY).nth(1).wait_for(timeout=PATIENCE)
    yield page
    assert errors == []
    page.close()


@pytest.fixture
def root(page: Any) -> Any:
    return page.locator(READY).first


def test_an_explorer_is_drawn_in_its_cell(page: Any, root: Any) -> None:
    assert root.locator(".node").count() >= 3
    box = root.bounding_box()
    assert box["width"] >= 600 and box["height"] >= 500
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert root.locator(".pane").first.evaluate("(it) => it.scrollWidth - it.clientWidth") == 0


def test_style_sheets_of_marimo_change_no_node(page: Any, root: Any) -> None:
    styles = """(all) => all.map((it) => getComputedStyle(it))
        .map(({ outlineStyle, stroke, fill }) => [outlineStyle, stroke !== fill].join())"""
    assert set(root.locator(".node .outline").evaluate_all(styles)) == {"none,true"}


def test_it_is_as_dark_as_marimo(page: Any, root: Any) -> None:
    assert root.get_attribute("data-theme") == "light"
    before = page.evaluate("document.body.className")
    page.evaluate("document.body.className = 'dark dark-theme'")
    page.wait_for_function("""() => {
        const shadow = [...document.querySelectorAll('marimo-anywidget')].at(0).shadowRoot;
        return shadow.querySelector('.svodviz').dataset.theme === 'dark';
    }""")
    page.evaluate("(it) => { document.body.className = it; }", before)


def test_a_click_reaches_python_and_cells_follow(page: Any, root: Any) -> None:
    root.locator(".node").nth(1).click()
    page.get_by_text("Python sees graph:").wait_for(timeout=PATIENCE)


def test_python_answers_what_the_page_asks(page: Any, root: Any) -> None:
    root.get_by_role("button", name="LLVM passes").click()
    root.get_by_text("passes changed LLVM IR").wait_for(timeout=PATIENCE)
    root.get_by_role("button", name="Source").click()
    words = root.inner_text()
    assert "# cell 1" in words and "# cell 2" in words and "__marimo__" not in words


def test_it_fills_the_window_and_comes_back(page: Any, root: Any) -> None:
    root.focus()
    page.keyboard.press("f")
    assert root.bounding_box() == {"x": 0, "y": 0, "width": 1440, "height": 1000}
    page.keyboard.press("f")
    assert root.bounding_box()["width"] < 1440


def test_keys_stay_with_the_explorer(page: Any, root: Any) -> None:
    root.get_by_role("searchbox").fill("softmax")
    assert root.get_by_role("searchbox").input_value() == "softmax"
    root.get_by_role("searchbox").fill("")


def test_a_quiz_is_graded(page: Any) -> None:
    quiz = page.locator(".svodviz.quiz")
    quiz.get_by_role("radio").first.check()
    quiz.get_by_role("button", name="Check").click()
    assert quiz.locator(".quiz-verdict").count() >= 1
    quiz.get_by_label("Name").fill("Anna")
    assert quiz.get_by_label("Name").input_value() == "Anna"
