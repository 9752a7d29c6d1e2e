"""A JupyterLab of its own for a test: its server, one notebook, and a page that shows it."""

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOKEN = "svodviz"
NOTEBOOK = "notebook.ipynb"
IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    return session?.session?.kernel?.status === 'idle';
}"""


@contextmanager
def serve(folder: Path, cells: Sequence[str]) -> Iterator[str]:
    """The address of a notebook with these cells in a JupyterLab whose home is `folder`."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    _write(folder / NOTEBOOK, cells)
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
            _wait_for(f"http://127.0.0.1:{port}/api?token={TOKEN}", server)
            yield f"http://127.0.0.1:{port}/lab/tree/{NOTEBOOK}?token={TOKEN}&reset"
        finally:
            server.terminate()
            server.wait(20)


def _write(path: Path, texts: Sequence[str]) -> None:
    cells = [
        {"cell_type": "code", "id": f"cell{number}", "metadata": {}, "source": text,
         "outputs": [], "execution_count": None}
        for number, text in enumerate(texts)
    ]  # fmt: skip
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook = {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                "nbformat_minor": 5}  # fmt: skip
    path.write_text(json.dumps(notebook))


def _wait_for(address: str, server: "subprocess.Popen[bytes]") -> None:
    for _ in range(300):
        assert server.poll() is None, "JupyterLab ended by itself"
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("JupyterLab did not answer within 30 s")


@contextmanager
def opened(chromium: Any, address: str, width: int = 1300) -> Iterator[Any]:
    """The notebook in a page, its kernel idle; no error of the page may be left at the end."""
    page = chromium.new_page(viewport={"width": width, "height": 1000})
    try:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(address)
        page.wait_for_function(IDLE, timeout=60_000)
        yield page
        assert errors == []
    finally:
        page.close()


def run_cell(page: Any, number: int) -> None:
    """Runs a cell of the notebook, without waiting for it."""
    page.evaluate(
        "(it) => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = it; }", number
    )
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-cell')")
