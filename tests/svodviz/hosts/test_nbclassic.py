"""Explorers and quizzes in the classic Notebook, in a browser."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.svodviz.hosts.server import served
from tests.svodviz.lab import PATIENCE, READY

pytest.importorskip("nbclassic", reason="nbclassic is not installed")
pytestmark = pytest.mark.browser

CELLS = (
    "import numpy as np, svodviz\n"
    "from compiler import Tensor\n"
    "x = Tensor(np.ones((64, 32), np.float32), name='x')\n"
    "w = Tensor(np.ones((32, 10), np.float32), name='w')\n"
    "explorer = svodviz.explore((x @ w).softmax(axis=1))\n"
    "explorer",
    "print('Python sees', explorer.state.get('selected'))",
    "svodviz.quiz(explorer.compilation)",
)
IDLE = """() => {
    const { notebook, WidgetManager } = window.Jupyter ?? {};
    return WidgetManager && notebook?._fully_loaded && notebook.kernel?.info_reply?.status
        && document.querySelector('.kernel_idle_icon');
}"""


@pytest.fixture(scope="module")
def page(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A notebook, run, under a dark system."""
    folder = tmp_path_factory.mktemp("classic")
    cells = [{"cell_type": "code", "metadata": {}, "source": it, "outputs": [],
              "execution_count": None} for it in CELLS]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (folder / "notebook.ipynb").write_text(json.dumps(
        {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 4}
    ))  # fmt: skip
    command = ("nbclassic", "--no-browser", "--allow-root", "--IdentityProvider.token=svodviz",
               f"--ServerApp.root_dir={folder}")  # fmt: skip
    with served(folder, *command) as address:
        page = chromium.new_page(viewport={"width": 1200, "height": 1000}, color_scheme="dark")
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        # Beside Notebook 7 it stands below an address of its own.
        for path in ("nbclassic/notebooks", "notebooks"):
            page.goto(f"{address}/{path}/notebook.ipynb?token=svodviz")
            if page.locator("body.notebook_app").count():
                break
        page.wait_for_function(IDLE, timeout=PATIENCE)
        _run_all(page, errors)
        yield page
        assert errors == []
        page.close()


def _run_all(page: Any, errors: list[str]) -> None:
    """Run all cells: again, as users do, where the kernel or the page lost the first try."""
    from playwright.sync_api import TimeoutError as TookTooLong

    for _ in range(3):
        page.evaluate("Jupyter.notebook.execute_all_cells()")
        try:
            page.locator(READY).nth(1).wait_for(timeout=PATIENCE / 3)
            return
        except TookTooLong:
            continue
    shown = page.locator(".output_area").all_inner_texts()
    pytest.fail(f"the explorer and the quiz are not drawn; outputs {shown}, errors {errors}")


def test_an_explorer_is_drawn_and_is_light_as_the_notebook(page: Any) -> None:
    root = page.locator(READY).first
    assert root.locator(".node").count() >= 3
    assert root.bounding_box()["width"] >= 600
    assert root.get_attribute("data-theme") == "light"


def test_python_hears_and_answers_and_keys_are_not_commands(page: Any) -> None:
    root = page.locator(READY).first
    root.locator(".node").nth(1).click()
    page.keyboard.press("a")  # of the notebook: a new cell above
    page.keyboard.press("m")
    assert page.evaluate("Jupyter.notebook.get_cells().map((it) => it.cell_type)") == ["code"] * 3
    page.evaluate("Jupyter.notebook.execute_cells([1])")
    page.get_by_text("Python sees graph:").wait_for(timeout=PATIENCE)
    root.get_by_role("button", name="LLVM passes").click()
    root.get_by_text("passes changed LLVM IR").wait_for(timeout=PATIENCE)


def test_a_quiz_is_graded_by_keys(page: Any) -> None:
    quiz = page.locator(".svodviz.quiz")
    quiz.get_by_role("radio").first.focus()
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    assert quiz.locator(".quiz-verdict").count() >= 1
