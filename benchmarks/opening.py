"""opening: from the start of a process to a painted graph, here and in tinygrad's VIZ.

    python -m benchmarks.opening /path/to/python-with-tinygrad [--runs 3]

Both programs are the softmax of the same 64 × 784 numbers, and both processes start with empty
caches. A Chromium is running before the clock starts; each opening is a new page in it.

* Here: `svodviz explore program.py -o page.html` until it ends (every stage down to assembly is
  made, with values), then the page is opened until its first picture has been painted.
* tinygrad: `VIZ=1 python program.py` on a terminal of its own, which runs the program, records
  every rewrite, and then becomes the server of VIZ, until that says that it is ready; then its
  page is opened. It shows a list; its first entry after the profiler is clicked at once, which is
  the schedule of the program, until nodes of a graph have been painted.

"Painted" is the same for both: the nodes are in the page, and two frames have been drawn since.
tinygrad's page is served with all its libraries from the package, so neither page needs a network;
requests to any other machine would be named below the table. Runs take turns; medians are printed.
"""

import argparse
import contextlib
import os
import pty
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.explorer import BROWSERS, FLAGS
from benchmarks.measuring import environment

OURS = """import numpy as np
from compiler import Tensor

x = Tensor(np.random.default_rng(0).random((64, 784), dtype=np.float32), name="x")
y = x.softmax(1)
"""
THEIRS = """import numpy as np
from tinygrad import Tensor

x = Tensor(np.random.default_rng(0).random((64, 784), dtype=np.float32))
y = x.softmax(1)
y.realize()
"""
READY = b"*** ready"
PATIENCE = 60.0
NODES_HERE = ".svodviz[data-ready=true] .node"
FIRST_ENTRY = ".ctx-list > ul:nth-child(2) > p"
NODES_THERE = "#nodes > g"
_TWO_FRAMES = "new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))"


@dataclass(frozen=True, slots=True)
class Opening:
    """Seconds until there is a page to open, and from then until its graph is painted."""

    made: float
    painted: float

    @property
    def whole(self) -> float:
        """From the start of the process to the painted graph."""
        return self.made + self.painted


class Strangers:
    """Opens pages, and notes what they ask of other machines."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.asked: set[str] = set()

    @contextlib.contextmanager
    def page(self) -> Iterator[Any]:
        """A new page."""
        page = self.browser.new_page(viewport={"width": 1400, "height": 850})
        page.on("request", lambda it: self._note(it.url))
        yield page
        page.close()

    def _note(self, url: str) -> None:
        if not url.startswith(("file:", "data:", "blob:", "http://127.0.0.1:")):
            self.asked.add(url)


def open_ours(strangers: Strangers, folder: Path) -> Opening:
    """One opening of our page."""
    program, page_file = folder / "softmax.py", folder / "page.html"
    program.write_text(OURS)
    with strangers.page() as page:
        start = time.perf_counter()
        command = [sys.executable, "-m", "svodviz.cli.main", "explore", str(program)]
        subprocess.run([*command, "-o", str(page_file)], check=True, capture_output=True,
                       env=environment(folder, os.cpu_count() or 1), cwd=folder)  # fmt: skip
        made = time.perf_counter()
        page.goto(page_file.as_uri())
        page.wait_for_selector(NODES_HERE, state="attached", timeout=PATIENCE * 1000)
        page.evaluate(_TWO_FRAMES)
        return Opening(made - start, time.perf_counter() - made)


def open_theirs(strangers: Strangers, folder: Path, python: str) -> Opening:
    """One opening of tinygrad's VIZ."""
    program, port = folder / "softmax.py", free_port()
    program.write_text(THEIRS)
    own = {"VIZ": "1", "PORT": str(port), "TMPDIR": str(folder), "BROWSER": ""}
    with strangers.page() as page:
        start = time.perf_counter()
        with on_terminal([python, str(program)], folder, own) as wait_for:
            wait_for(READY)
            made = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}/")
            page.wait_for_selector(FIRST_ENTRY, timeout=PATIENCE * 1000).click()
            page.wait_for_selector(NODES_THERE, state="attached", timeout=PATIENCE * 1000)
            page.evaluate(_TWO_FRAMES)
            return Opening(made - start, time.perf_counter() - made)


@contextlib.contextmanager
def on_terminal(
    command: list[str], folder: Path, own: dict[str, str]
) -> Iterator[Callable[[bytes], None]]:
    """A process that writes to a terminal; gives what waits until it has written some words."""
    ours, its = pty.openpty()
    settings = environment(folder, os.cpu_count() or 1) | own
    process = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=its, stderr=its, env=settings, cwd=folder
    )
    os.close(its)
    try:
        yield lambda words: _wait_for(words, ours)
    finally:
        process.kill()
        process.wait()
        os.close(ours)


def _wait_for(words: bytes, terminal: int) -> None:
    """Reads a terminal until `words` are there. Raises TimeoutError with what was there instead."""
    seen, until = b"", time.monotonic() + PATIENCE
    while words not in seen:
        ready, _, _ = select.select([terminal], [], [], max(0.0, until - time.monotonic()))
        try:
            more = os.read(terminal, 4096) if ready else b""
        except OSError:  # the process has ended
            more = b""
        if not more:
            raise TimeoutError(f"no {words!r} in:\n{seen.decode(errors='replace')[-2000:]}")
        seen += more


def free_port() -> int:
    """A port of this machine that nobody uses."""
    with socket.socket() as it:
        it.bind(("127.0.0.1", 0))
        return int(it.getsockname()[1])


def table(found: dict[str, list[Opening]]) -> Iterator[str]:
    """The medians side by side, with all whole times."""
    yield f"{'seconds, medians':<18}{'page made':>12}{'to painted':>12}{'whole':>9}   each run"
    for name, rows in found.items():
        middle = [statistics.median(it) for it in zip(*_numbers(rows), strict=True)]
        each = "  ".join(f"{it.whole:.2f}" for it in rows)
        yield f"{name:<18}{middle[0]:>12.2f}{middle[1]:>12.2f}{middle[2]:>9.2f}   {each}"
    ours, theirs = (statistics.median(it.whole for it in rows) for rows in found.values())
    yield f"tinygrad takes {theirs / ours:.2f} times as long"


def _numbers(rows: list[Opening]) -> list[tuple[float, float, float]]:
    return [(it.made, it.painted, it.whole) for it in rows]


def main(arguments: list[str] | None = None) -> None:
    """Measure both alternately, and print the table."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("python", help="the Python of an environment that has tinygrad")
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args(arguments)
    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    found: dict[str, list[Opening]] = {"svodviz": [], "tinygrad VIZ=1": []}
    with sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=path, args=FLAGS)
        strangers = Strangers(browser)
        for _ in range(chosen.runs):
            with tempfile.TemporaryDirectory() as name:
                found["svodviz"].append(open_ours(strangers, Path(name)))
            with tempfile.TemporaryDirectory() as name:
                found["tinygrad VIZ=1"].append(open_theirs(strangers, Path(name), chosen.python))
        browser.close()
    print("\n".join(table(found)))
    print(f"asked of other machines: {', '.join(sorted(strangers.asked)) or 'nothing'}")


if __name__ == "__main__":
    main()
