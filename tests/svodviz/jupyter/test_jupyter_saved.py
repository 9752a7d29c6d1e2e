"""Run All, then Save, as JupyterLab comes from its makers: no explorer is lost."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svodviz.offline import SAVED
from tests.svodviz.lab import IDLE, PATIENCE, READY, ROOT, SETTINGS, Server, Shown, opened, serve

pytestmark = [pytest.mark.browser, pytest.mark.slow]

CELLS = (
    "import numpy as np, svodviz\nfrom compiler import Tensor\n"
    "x = Tensor(np.ones((8, 8), np.float32), name='x')\nsvodviz.explore(x @ x + 1)",
    "svodviz.explore(x @ x, (x @ x) * 2)",
    "svodviz.quiz((x @ x).softmax())",
)
NOT_SAVED = {name: it for name, it in SETTINGS.items() if "jupyter-widgets" not in name}
SAVED_ALL = """async () => {
    const { commands, shell } = window.jupyterapp;
    await commands.execute('docmanager:save');
    return shell.currentWidget.context.model.dirty;
}"""


@pytest.fixture(scope="module")
def as_it_comes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose reader has never looked at the settings."""
    with serve(tmp_path_factory.mktemp("plain"), NOT_SAVED) as server:
        yield server


def run_all(shown: Shown) -> None:
    shown.command("notebook:run-all-cells")
    for number in range(len(CELLS)):
        shown.wait(
            """(number) => window.jupyterapp.shell.currentWidget.content.widgets[number]
                .model.executionState === 'idle' && window.jupyterapp.shell.currentWidget.content
                .widgets[number].model.outputs.length > 0""", number)  # fmt: skip
        shown.cell(number).locator(READY).wait_for(timeout=PATIENCE)


def explorers(notebook: Any) -> list[str]:
    saved = notebook["metadata"].get("widgets", {}).get(SAVED, {}).get("state", {})
    names = (it["state"].get("_anywidget_id", "") for it in saved.values())
    return sorted(it for it in names if it.startswith("svodviz."))


@pytest.mark.parametrize("path", ["lab/tree", "notebooks"])
def test_run_all_and_save_keep_the_explorers(
    as_it_comes: Server, chromium: Any, path: str, tmp_path: Path
) -> None:
    name = f"{path.replace('/', '-')}.ipynb"
    as_it_comes.write(name, CELLS)
    address = as_it_comes.url(f"{path}/{name}") + ("&reset" if path == "lab/tree" else "")
    with opened(chromium, address) as shown:
        run_all(shown)
        run_all(shown)  # what was shown before is not kept beside what is shown now
        assert shown.page.evaluate(SAVED_ALL) is False
    notebook = as_it_comes.read(name)
    assert explorers(notebook) == [
        "svodviz.quizzes.quiz.QuizWidget", "svodviz.widget.explorer.Explorer",
        "svodviz.widget.side_by_side.SideBySide",
    ]  # fmt: skip
    as_it_comes.end_kernels()
    with opened(chromium, address) as shown:
        shown.wait(IDLE)
        for number in range(len(CELLS)):
            shown.cell(number).locator(READY).wait_for(timeout=PATIENCE)
            assert "Error displaying" not in shown.cell(number).inner_text()
        root = shown.widget(0)
        root.locator('.stage[data-stage="schedule"]').click()
        assert root.locator(".item").count() >= 1


EDIT = """(text) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    const { sharedModel } = content.widgets[content.widgets.length - 1].model;
    sharedModel.setSource(sharedModel.getSource() + text);
}"""
SHUT = """async () => {
    const { commands, shell } = window.jupyterapp;
    const { sessionContext } = shell.currentWidget.context;
    if (sessionContext.session) await sessionContext.shutdown();
}"""
RESTART = """async () => {
    const { sessionContext } = window.jupyterapp.shell.currentWidget.context;
    await sessionContext.session.kernel.restart();
}"""


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose reader asked for widgets to be saved."""
    with serve(tmp_path_factory.mktemp("setting"), SETTINGS) as server:
        yield server


def edit_and_save(shown: Shown) -> None:
    """Types one character and saves."""
    shown.page.evaluate(EDIT, " ")
    assert shown.page.evaluate(SAVED_ALL) is False


def all_there(shown: Shown, count: int = len(CELLS)) -> None:
    """Every explorer is shown and works."""
    for number in range(count):
        shown.cell(number).locator(READY).wait_for(timeout=PATIENCE)
        assert "Error displaying" not in shown.cell(number).inner_text()
    root = shown.widget(0)
    root.locator('.stage[data-stage="graph"]').click()
    root.locator('.stage[data-stage="schedule"]').click()
    assert root.locator(".item").count() >= 1


WAYS = [
    ("as_it_comes", "lab/tree", "restart"), ("as_it_comes", "lab/tree", "shut"),
    ("as_it_comes", "notebooks", "fresh"), ("asked", "lab/tree", "fresh"),
    ("asked", "notebooks", "restart"), ("asked", "lab/tree", "kernel"),
]  # fmt: skip


@pytest.mark.parametrize(("server", "path", "end"), WAYS)
def test_edits_lose_no_explorer(
    server: str, path: str, end: str, chromium: Any, request: pytest.FixtureRequest
) -> None:
    """Open, edit, save, close, twice: with the kernel that made them, after it was shut down or
    restarted, with another one."""
    either: Server = request.getfixturevalue(server)
    name = f"edited-{path.replace('/', '-')}-{end}.ipynb"
    either.write(name, (*CELLS, "# nothing"))
    address = either.url(f"{path}/{name}") + ("&reset" if path == "lab/tree" else "")
    with opened(chromium, address) as shown:
        run_all(shown)
        if end == "restart":  # the first save comes after it
            shown.page.evaluate(RESTART)
        edit_and_save(shown)
    first = either.read(name)
    assert len(explorers(first)) == len(CELLS)
    sizes = [len(str(first))]
    for _ in range(2):
        if end == "fresh":
            either.end_kernels()
        with opened(chromium, address) as shown:
            all_there(shown)
            if end == "shut":
                shown.page.evaluate(SHUT)
            edit_and_save(shown)
            edit_and_save(shown)
        again = either.read(name)
        assert explorers(again) == explorers(first)
        sizes.append(len(str(again)))
    assert max(sizes) < 1.01 * min(sizes), sizes
    either.end_kernels()


def converted(path: Path) -> str:
    """The page that the offline exporter makes of a notebook."""
    command = [sys.executable, "-m", "nbconvert", "--to", "svodviz.offline.OfflineExporter"]
    subprocess.run([*command, str(path)], check=True, capture_output=True, cwd=ROOT)
    return path.with_suffix(".html").read_text("utf-8")


def test_the_saved_notebook_becomes_pages(as_it_comes: Server) -> None:
    text = converted(as_it_comes.folder / "lab-tree.ipynb")
    assert len(re.findall(r'<iframe [^>]*class="svodviz-page"', text)) == len(CELLS)
    assert "svodviz-lost" not in text


def of_make() -> str:
    """The path of settings that `make lab` gives to JupyterLab."""
    made = subprocess.run(
        ["make", "--print-data-base", "--question", "lab"],
        capture_output=True, text=True, cwd=ROOT,
        env={key: it for key, it in os.environ.items() if key != "JUPYTER_CONFIG_PATH"},
    ).stdout  # fmt: skip
    found = re.search("^lab: JUPYTER_CONFIG_PATH := (.*)$", made, re.M)
    return found[1] if found else ""


def of_binder(folder: Path) -> str:
    """The same of Binder, which starts its server by binder/start."""
    asked = [ROOT / "binder" / "start", "printenv", "JUPYTER_CONFIG_PATH"]
    return subprocess.run(
        asked, capture_output=True, text=True, check=True, cwd=folder
    ).stdout.strip()


def test_make_lab_and_binder_have_all_widgets_saved(
    chromium: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = of_make()
    assert of_binder(ROOT).split(":")[0] == path
    folder = tmp_path_factory.mktemp("make")
    with serve(folder, NOT_SAVED, JUPYTER_CONFIG_PATH=path) as server:
        # No explorer is there to see to it: what keeps the widget is the setting.
        server.write("slider.ipynb", ["import ipywidgets\nipywidgets.IntSlider(7)"])
        address = server.url("lab/tree/slider.ipynb") + "&reset"
        with opened(chromium, address) as shown:
            shown.command("notebook:run-all-cells")
            shown.cell(0).locator(".widget-slider").wait_for(timeout=PATIENCE)
            assert shown.page.evaluate(SAVED_ALL) is False
        states = server.read("slider.ipynb")["metadata"]["widgets"][SAVED]["state"].values()
        assert 7 in [it["state"].get("value") for it in states]
