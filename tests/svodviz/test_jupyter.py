"""The widget in a real JupyterLab: shown, followed from Python, and followed in Python."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent.parent
TOKEN = "explorer"
CELLS = (
    "import svodviz\nfrom tests.svodviz.sample import sample\n"
    "explorer = svodviz.explore(sample())\nexplorer",
    "explorer.state = {'stage': 'schedule', 'selected': 'schedule:3'}",
    "print('selected', explorer.selected, explorer.state['stage'])",
)
IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    return session?.session?.kernel?.status === 'idle';
}"""

RESTART = """async () => {
    const { sessionContext } = window.jupyterapp.shell.currentWidget.context;
    await sessionContext.session.kernel.restart();
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook in a running JupyterLab with a home of its own."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    folder = tmp_path_factory.mktemp("lab")
    write_notebook(folder / "explore.ipynb")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--port-retries=0", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}",
        "--LabApp.expose_app_in_browser=True", "--LabApp.news_url=",
    ]  # fmt: skip
    surroundings = {**os.environ, "HOME": str(folder), "PYTHONPATH": str(ROOT)}
    with (folder / "log").open("w") as log:
        server = subprocess.Popen(command, env=surroundings, stdout=log, stderr=log)
        try:
            wait_for(f"http://127.0.0.1:{port}/api?token={TOKEN}", server)
            yield f"http://127.0.0.1:{port}/lab/tree/explore.ipynb?token={TOKEN}&reset"
        finally:
            server.terminate()
            server.wait(20)


def write_notebook(path: Path) -> None:
    cells = [
        {"cell_type": "code", "id": f"cell{number}", "metadata": {}, "source": text,
         "outputs": [], "execution_count": None}
        for number, text in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                "nbformat_minor": 5}  # fmt: skip
    path.write_text(json.dumps(notebook))


def wait_for(address: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended by itself"
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("JupyterLab did not answer within 30 s")


def run_cell(page: Any, number: int) -> None:
    page.evaluate(
        "(it) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = it; }", number
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")


def test_page_and_python_follow_each_other(chromium: Any, lab: str) -> None:
    page = chromium.new_page(viewport={"width": 1300, "height": 1000})
    try:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(lab)
        page.wait_for_function(IDLE, timeout=60_000)
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
        assert errors == []
    finally:
        page.close()


def test_an_explorer_outlives_its_kernel(chromium: Any, lab: str) -> None:
    page = chromium.new_page(viewport={"width": 1300, "height": 1000})
    try:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(lab)
        page.wait_for_function(IDLE, timeout=60_000)
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
        assert errors == []
    finally:
        page.close()
