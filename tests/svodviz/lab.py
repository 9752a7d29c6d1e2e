"""JupyterLab and Notebook 7 for tests: one server for all, and pages that show a notebook of it."""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TOKEN = "svodviz"
PATIENCE = 180_000  # milliseconds: a machine under load is slow, not wrong
# Errors of the applications' own scripts are not ours to mend; our modules are blobs. The second is
# what JupyterLab says where a kernel ends while it asks whether that has subshells.
OWN = re.compile("/static/(lab|notebook)/|create_subshell_request")
READY = ".svodviz[data-ready=true]"
# Settings of the applications, in files: Notebook hears nothing of JupyterLab's command line.
APPLICATIONS = {
    "jupyter_lab_config": {"LabApp": {"expose_app_in_browser": True, "news_url": None}},
    "jupyter_notebook_config": {"JupyterNotebookApp": {"expose_app_in_browser": True}},
}
# Widgets are saved with notebooks only where the reader has asked for it.
SETTINGS = {
    "@jupyter-widgets/jupyterlab-manager/plugin": {"saveState": True},
    "@jupyterlab/apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
}
IDLE = """() => {
    const session = window.jupyterapp?.shell.currentWidget?.context?.sessionContext;
    return session?.isReady && session.session?.kernel?.status === 'idle';
}"""
RUN = """async (number) => {
    const { content } = window.jupyterapp.shell.currentWidget;
    content.activeCellIndex = number;
    content.deselectAll();
    await window.jupyterapp.commands.execute('notebook:run-cell');
    return content.widgets[number].model.outputs.toJSON();
}"""

CLOSE = """(name) => {
    const { shell } = window.jupyterapp;
    [...shell.widgets('main')].find(({ context }) => context?.path === name)?.dispose();
}"""


@dataclass(frozen=True)
class Server:
    """A running server whose home and root is `folder`."""

    folder: Path
    port: int

    def url(self, path: str) -> str:
        """The address of a page or of what the server answers to programs."""
        return f"http://127.0.0.1:{self.port}/{path}?token={TOKEN}"

    def write(self, name: str, texts: Sequence[str]) -> None:
        """A notebook that nobody has run, with these cells."""
        cells = [
            {"cell_type": "code", "id": f"cell{number}", "metadata": {}, "source": text,
             "outputs": [], "execution_count": None}
            for number, text in enumerate(texts)
        ]  # fmt: skip
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        self.save(name, {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4,
                         "nbformat_minor": 5})  # fmt: skip

    def read(self, name: str) -> Any:
        """A notebook as its file has it."""
        return json.loads((self.folder / name).read_text())

    def save(self, name: str, notebook: Any) -> None:
        """Writes a notebook's file."""
        (self.folder / name).write_text(json.dumps(notebook))

    def end_kernels(self) -> None:
        """Ends every kernel that a notebook had."""
        with urllib.request.urlopen(self.url("api/sessions")) as answer:
            sessions = json.load(answer)
        for session in sessions:
            address = self.url(f"api/sessions/{session['id']}")
            urllib.request.urlopen(urllib.request.Request(address, method="DELETE")).close()


@contextmanager
def serve(
    folder: Path, settings: Mapping[str, Any] = SETTINGS, **variables: str
) -> Iterator[Server]:
    """A server of both applications, with the settings that its reader chose."""
    pytest.importorskip("jupyterlab", reason="jupyterlab is not installed")
    _configure(folder / ".jupyter", settings)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
        "--port-retries=0", f"--IdentityProvider.token={TOKEN}", f"--ServerApp.root_dir={folder}",
    ]  # fmt: skip
    ours = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": "",
            "JUPYTER_DATA_DIR": "", "JUPYTER_RUNTIME_DIR": "", "JUPYTER_CONFIG_PATH": "",
            **variables}  # fmt: skip
    surroundings = {name: it for name, it in {**os.environ, **ours}.items() if it}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, env=surroundings, stdout=log, stderr=log)
        server = Server(folder, port)
        try:
            wait_for(server.url("api"), process)
            yield server
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()  # a kernel that does not end holds its server up
                process.wait(60)


def _configure(folder: Path, settings: Mapping[str, Any]) -> None:
    files = {f"{name}.json": it for name, it in APPLICATIONS.items()}
    files |= {f"lab/user-settings/{name}.jupyterlab-settings": it for name, it in settings.items()}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))


def wait_for(address: str, process: "subprocess.Popen[bytes]") -> None:
    """Until a server answers; fails where it ends or takes too long."""
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        assert process.poll() is None, "the server ended by itself"
        try:
            urllib.request.urlopen(address).close()
            return
        except OSError:
            time.sleep(0.1)
    pytest.fail("the server did not answer")


@dataclass(frozen=True)
class Shown:
    """A page of JupyterLab or Notebook in which a notebook is open."""

    page: Any

    def run(self, number: int) -> str:
        """Runs a cell to its end; what it printed."""
        outputs = self.page.evaluate(RUN, number)
        failures = [it["evalue"] for it in outputs if it["output_type"] == "error"]
        assert failures == [], f"cell {number}"
        return "".join("".join(it.get("text", ())) for it in outputs).strip()

    def run_until(self, number: int, words: str) -> None:
        """Runs a cell until it prints these words: what the page tells Python takes its time."""
        printed, end = None, time.monotonic() + PATIENCE / 1000
        while printed != words and time.monotonic() < end:
            printed = self.run(number)
        assert printed == words, f"{printed!r}, not {words!r}"

    def show(self, number: int) -> Any:
        """Runs a cell that ends in a widget; its root once it is painted.

        What the cell showed before is not ready any more, however long it still stands there.
        """
        self.widget(number).evaluate_all("(all) => all.forEach((it) => delete it.dataset.ready)")
        self.run(number)
        self.cell(number).locator(READY).wait_for(timeout=PATIENCE)
        return self.widget(number)

    def cell(self, number: int) -> Any:
        """A cell of the notebook, brought into view."""
        self.page.evaluate("""async (number) => {
            const { content } = window.jupyterapp.shell.currentWidget;
            await content.scrollToItem(number, 'start');
        }""", number)  # fmt: skip
        return self.page.locator(f'.jp-Notebook-cell[data-windowed-list-index="{number}"]:visible')

    def widget(self, number: int) -> Any:
        """The output of the cell."""
        return self.cell(number).locator(".svodviz")

    def command(self, name: str, **arguments: Any) -> None:
        """One of the application's commands."""
        self.page.evaluate(
            "([name, given]) => window.jupyterapp.commands.execute(name, given).then(() => null)",
            [name, arguments],
        )

    def open(self, name: str) -> None:
        """Another notebook, in front."""
        self.command("docmanager:open", path=name)
        self.wait(f"""() => window.jupyterapp.shell.currentWidget?.context?.path === '{name}'
            && ({IDLE})()""")

    def close(self, name: str) -> None:
        """Closes a notebook without a question, whatever of it is not saved; its kernel stays."""
        self.page.evaluate(CLOSE, name)

    def wait(self, condition: str, argument: Any = None) -> None:
        """Until a condition of the page holds."""
        self.page.wait_for_function(condition, arg=argument, timeout=PATIENCE)


@contextmanager
def opened(chromium: Any, address: str, width: int = 1400) -> Iterator[Shown]:
    """A notebook in a page, its kernel idle; no error of the page may be left at the end."""
    page = chromium.new_page(viewport={"width": width, "height": 1000})
    page.set_default_timeout(PATIENCE)
    try:
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(f"{error} {error.stack}"))
        page.goto(address)
        page.wait_for_function(IDLE, timeout=PATIENCE)
        yield Shown(page)
        found = [it for it in errors if "blob:" in it or not OWN.search(it)]
        assert not found, found
    finally:
        page.close()
