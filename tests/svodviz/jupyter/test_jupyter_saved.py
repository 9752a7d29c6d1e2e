"""Run All, then Save, as JupyterLab comes from its makers: no explorer is lost."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from svodviz.offline import SAVED, VIEW
from tests.svodviz.lab import IDLE, PATIENCE, READY, ROOT, SETTINGS, Server, Shown, opened, serve

pytestmark = pytest.mark.browser

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
        run_all(shown)  # outputs shown before are not kept with those shown now
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
TRUST = "from nbformat.sign import TrustNotebookApp as App; App.launch_instance()"
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


MISSED = """async (view) => {
    const { rendermime } = window.jupyterapp.shell.currentWidget.content;
    const manager = await rendermime.createRenderer(view, {})._manager.promise;
    const kind = Object.getPrototypeOf(manager);
    const { register_model } = kind;
    const { now } = Date;
    const begun = now();
    let isOver = false;
    Date.now = () => {
        if (!/get_model/.test(new Error().stack)) return now();
        return isOver ? Infinity : begun;
    };
    kind.register_model = function (...given) {
        isOver = true;
        return register_model.apply(this, given);
    };
}"""
"""Ends the time in which outputs wait for widgets when the first is restored: no look is left."""


def test_an_explorer_that_is_restored_after_the_last_look_is_drawn(
    as_it_comes: Server, chromium: Any
) -> None:
    """Outputs look for their widget every tenth of a second; a busy page restores it after the last
    look, and before the output asks whether all widgets are restored."""
    name = "missed.ipynb"
    as_it_comes.write(name, (*CELLS, "# nothing"))
    with opened(chromium, as_it_comes.url(f"lab/tree/{name}") + "&reset") as shown:
        run_all(shown)
        edit_and_save(shown)
        shown.page.evaluate(MISSED, VIEW)
        shown.close(name)
        as_it_comes.end_kernels()
        said: list[str] = []
        shown.page.on("console", lambda message: said.append(message.text))
        shown.open(name)
        all_there(shown)
        assert any("widget model not found" in it for it in said), "no look was missed"
        assert shown.page.evaluate(
            "window.jupyterapp.shell.currentWidget.context.model.dirty") is False  # fmt: skip
    as_it_comes.end_kernels()


def explorers_of(server: Server, name: str) -> list[str]:
    return [it.rsplit(".", 1)[1] for it in explorers(server.read(name))]


def test_what_no_output_shows_goes_and_all_else_stays(
    as_it_comes: Server, chromium: Any
) -> None:
    """In a notebook that was opened again: an output is cleared and comes back, a cell is run
    again, a cell is copied, all outputs are cleared. Another notebook is open, too."""
    texts = (*CELLS, "import ipywidgets\nipywidgets.IntSlider(7)")
    name, other = "changed.ipynb", "other.ipynb"
    for each in (other, name):
        as_it_comes.write(each, texts)
    with opened(chromium, as_it_comes.url(f"lab/tree/{name}") + "&reset") as shown:
        for each in (name, other):
            shown.open(each)
            run_all(shown)
            shown.cell(len(CELLS)).locator(".widget-slider").wait_for(timeout=PATIENCE)
            assert shown.page.evaluate(SAVED_ALL) is False
    as_it_comes.end_kernels()
    every = explorers_of(as_it_comes, name)
    assert len(every) == len(CELLS) and every == explorers_of(as_it_comes, other)
    with opened(chromium, as_it_comes.url(f"lab/tree/{name}") + "&reset") as shown:
        shown.open(other)
        all_there(shown)
        shown.open(name)
        all_there(shown)

        def after(command: str, number: int) -> list[str]:
            shown.page.evaluate("""([number, command]) => {
                const { content } = window.jupyterapp.shell.currentWidget;
                content.activeCellIndex = number;
                content.deselectAll();
                return window.jupyterapp.commands.execute(command).then(() => null);
            }""", [number, command])  # fmt: skip
            assert shown.page.evaluate(SAVED_ALL) is False
            return explorers_of(as_it_comes, name)

        assert after("notebook:clear-cell-output", 1) == ["QuizWidget", "Explorer"]
        shown.run(0)
        shown.cell(0).locator(READY).wait_for(timeout=PATIENCE)
        assert after("notebook:copy-cell", 2) == ["QuizWidget", "Explorer"]
        shown.command("notebook:paste-cell-below")
        assert after("notebook:delete-cell", 2) == ["QuizWidget", "Explorer"], "its copy shows it"
        rows = as_it_comes.read(name)["metadata"]["widgets"][SAVED]["state"].values()
        sliders = [it for it in rows if it["state"].get("value") == 7]
        assert len(sliders) == 1, "another's widget that no kernel knows any more"
        shown.open(other)
        edit_and_save(shown)
        assert explorers_of(as_it_comes, other) == every
        shown.open(name)
        assert after("notebook:clear-all-cell-outputs", 0) == []
    as_it_comes.end_kernels()


def test_a_stored_notebook_of_the_course_keeps_its_explorer(
    as_it_comes: Server, asked: Server, chromium: Any
) -> None:
    """As `make notebooks` stored it; opened, trusted, edited, saved, twice."""
    stored = ROOT / "notebooks" / "13_gradients.ipynb"
    cells = json.loads(stored.read_text("utf-8"))["cells"]
    (number,) = [n for n, cell in enumerate(cells)
                 if any(VIEW in it.get("data", {}) for it in cell.get("outputs", ()))]  # fmt: skip
    for server in (as_it_comes, asked):
        path = shutil.copy(stored, server.folder)
        surroundings = {**os.environ, "HOME": str(server.folder), "JUPYTER_DATA_DIR": ""}
        subprocess.run([sys.executable, "-c", TRUST, path], env=surroundings, check=True)
        for _ in range(2):
            with opened(chromium, server.url(f"lab/tree/{stored.name}") + "&reset") as shown:
                # Texts above it grow while they are drawn, and it leaves the part that is there.
                while not shown.cell(number).locator(READY).count():
                    shown.page.wait_for_timeout(200)
                edit_and_save(shown)
            server.end_kernels()
            assert explorers_of(server, stored.name) == ["Explorer"]
        size = (server.folder / stored.name).stat().st_size
        assert size == pytest.approx(stored.stat().st_size, rel=0.02)


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
