"""The playground in a real JupyterLab: a slider moves, Python compiles, other assembly appears."""

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
TOKEN = "playground"
CELLS = (
    "import svodviz\nfrom tests.playground.programs import product\n"
    "explorer = svodviz.playground(product(32, 'auto', 32, 32),\n"
    "    choices=['tile i0 4; tile i1 16; reorder i0.0 i1.0 i0.1 i1.1; vectorize i1.1'])\nexplorer",
    "from svodviz.grounds import grounds_of\n"
    "print('tried', [p.text for p in grounds_of(explorer.compilation).of('k0').points][-1])",
)
IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    return session?.session?.kernel?.status === 'idle';
}"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a notebook in a running JupyterLab with a home of its own."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    folder = tmp_path_factory.mktemp("lab")
    _write(folder / "play.ipynb")
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
            _wait(f"http://127.0.0.1:{port}/api?token={TOKEN}", server)
            yield f"http://127.0.0.1:{port}/lab/tree/play.ipynb?token={TOKEN}&reset"
        finally:
            server.terminate()
            server.wait(20)


def _write(path: Path) -> None:
    cells = [
        {"cell_type": "code", "id": f"cell{number}", "metadata": {}, "source": text,
         "outputs": [], "execution_count": None}
        for number, text in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.write_text(json.dumps({
        "cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5,
    }))  # fmt: skip


def _wait(address: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended by itself"
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("JupyterLab did not answer within 30 s")


def _run(page: Any, number: int) -> None:
    page.evaluate(
        "(it) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = it; }", number
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")


def test_a_slider_leads_to_other_assembly(chromium: Any, lab: str) -> None:
    page = chromium.new_page(viewport={"width": 1400, "height": 1000})
    try:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(lab)
        page.wait_for_function(IDLE, timeout=60_000)
        _run(page, 0)
        page.wait_for_selector(".svodviz[data-ready=true]", timeout=60_000)
        page.wait_for_selector(".play-controls button:enabled", timeout=30_000)
        page.locator(".play-section button", has_text="Assembly").click()
        before = page.locator(".play-code").inner_text()
        page.get_by_label("size of tile i0, slider").focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_selector('.play-history [data-point="3"]', timeout=30_000)
        after = page.locator(".play-code").inner_text()
        assert after != before and len(after.splitlines()) > 5
        _run(page, 1)
        printed = page.locator(".jp-OutputArea-output", has_text="tried tile")
        printed.wait_for(timeout=10_000)
        assert printed.inner_text().startswith("tried tile i0 6 peel; tile i1 16 peel")
        assert errors == []
    finally:
        page.close()
