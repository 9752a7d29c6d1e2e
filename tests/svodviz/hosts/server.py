"""A notebook's server in a process of its own, with a home of its own."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.svodviz.lab import ROOT, wait_for


@contextmanager
def served(folder: Path, *command: str) -> Iterator[str]:
    """The address of what `python -m command` serves, with `folder` as its home."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    ours = {"HOME": str(folder), "PYTHONPATH": str(ROOT), "JUPYTER_CONFIG_DIR": "",
            "XDG_CONFIG_HOME": ""}  # fmt: skip
    surroundings = {name: it for name, it in {**os.environ, **ours}.items() if it}
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", *command, f"--port={port}"],
            cwd=folder, env=surroundings, stdout=log, stderr=log,
        )  # fmt: skip
        try:
            wait_for(address, process)
            yield address
        finally:
            process.terminate()
            process.wait(60)
