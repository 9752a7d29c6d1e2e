"""How large a program the explorer takes: `python -m benchmarks explorer`.

    the transformer   12 layers in the shape of GPT-2: time from `explore()` to a painted page
                      (beyond compiling) and until the stages that LLVM makes have arrived there
                      (see `svodviz.wire.later`), from a click to the highlight, from step to step,
                      memory of the page, size of what is recorded, and what recording costs
    synthetic graphs  10,000 nodes and 100,000 nodes: time until their page is painted

The page is a file in a real Chromium: a notebook hands the same data to the same modules.
Times are the least of several interleaved runs, so that other load on the machine counts little.
"""

import argparse
import gc
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any
from unittest import mock

from IPython.core.events import EventManager, available_events

from svodviz.widget import explorer as widget
from svodviz.wire.later import joined

FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking",
         "--enable-precise-memory-info", "--js-flags=--expose-gc"]  # fmt: skip
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
READY = ".svodviz[data-ready=true]"
STEPS = 30

# The time until the browser has laid out what a change of state brings about.
_CHANGE = """(change) => {
  const start = performance.now();
  window.svodviz.model.set("state", change);
  document.querySelector(".svodviz").getBoundingClientRect();
  return performance.now() - start;
}"""
_COMPLETE = """() => {
  const { textContent } = document.querySelector(".svodviz .ribbon");
  return !/not made|being made/.test(textContent);
}"""
_HEAP = "() => { window.gc?.(); window.gc?.(); return performance.memory.usedJSHeapSize; }"


@dataclass(frozen=True)
class Figure:
    """One measured number, and the most it may be."""

    name: str
    value: float
    bar: float
    unit: str

    def __str__(self) -> str:
        verdict = "ok" if self.value <= self.bar else "!"
        value, bar = (f"{it:,.3g} {self.unit}" for it in (self.value, self.bar))
        return f"{self.name:<52}{value:>12}{bar:>12} {verdict}"


def seconds(action: Callable[[], object]) -> float:
    """The time that a call takes, searched for no garbage of others."""
    gc.collect()
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def tracing(tensor: Any, runs: int) -> list[Figure]:
    """The time recording adds to compiling; off, against a compiler that keeps no origins."""
    import compiler
    from compiler.core.trace import Provenance

    nothing = {name: lambda *_: None for name in ("add", "rebuilt", "replaced")}
    times: dict[str, list[float]] = {"on": [], "off": [], "none": []}
    for _ in range(runs):
        for way, found in times.items():
            options = compiler.Options(trace=way == "on", cache=False)
            compiler.cache_clear()
            with mock.patch.multiple(Provenance, **nothing) if way == "none" else _as_it_is():
                found.append(seconds(lambda options=options: compiler.compile(tensor, options)))
    on, off, none = (min(times[way]) for way in ("on", "off", "none"))
    return [
        Figure("compiling, tracing on: more than off", 100 * (on / off - 1), 30, "%"),
        Figure("compiling, tracing off: more than without", 100 * (off / none - 1), 5, "%"),
    ]


@contextmanager
def _as_it_is() -> Iterator[None]:
    yield


@dataclass(frozen=True)
class Opening:
    """Seconds from a compilation to a painted page, and until everything has arrived there."""

    painted: float
    arrived: float
    page: Any
    explorer: Any


@contextmanager
def cell() -> Iterator[Callable[[], None]]:
    """A notebook's cell as explorers know it; what is given ends it."""
    shell: Any = SimpleNamespace(kernel=True)
    shell.events = EventManager(shell, available_events)
    with mock.patch.object(widget, "get_ipython", lambda: shell):
        yield lambda: shell.events.trigger("post_run_cell", None)


def opened(browser: Any, compilation: Any) -> Opening:
    """One opening. The cell ends while the page is being painted, as it does in a notebook."""
    from svodviz.exporting.export import export_html
    from svodviz.foundation.packing import packed
    from svodviz.widget.explorer import Explorer

    with cell() as end, tempfile.TemporaryDirectory() as folder:
        gc.collect()
        start = time.perf_counter()
        explorer = Explorer(compilation)
        explorer._repr_mimebundle_()
        made = time.perf_counter() - start
        path = Path(folder) / "page.html"
        export_html(explorer.wire, path)
        page = browser.new_page(viewport={"width": 1400, "height": 850})
        kernel = Thread(target=end)
        start = time.perf_counter()
        kernel.start()
        page.goto(path.as_uri())
        page.wait_for_selector(READY, timeout=60_000)
        painted = made + time.perf_counter() - start
        kernel.join()
        if explorer.later:
            page.evaluate("(it) => window.svodviz.model.set('later', it)", packed(explorer.later))
        page.wait_for_function(_COMPLETE)
        return Opening(painted, made + time.perf_counter() - start, page, explorer)


def opening(browser: Any, make: Callable[[], Any], runs: int) -> Opening:
    """The least times of some openings; with the last page and explorer."""
    found: list[Opening] = []
    for _ in range(runs):
        if found:
            found[-1].page.close()
        found.append(opened(browser, make()))
    painted, arrived = (min(getattr(it, name) for it in found) for name in ("painted", "arrived"))
    return replace(found[-1], painted=painted, arrived=arrived)


def reacting(page: Any, explorer: Any) -> list[Figure]:
    """Times in which the transformer's page answers clicks and keys, at worst of many."""
    names = explorer.wire["entities"]
    rows = explorer.wire["stages"][1]["units"][0]["scene"]["nodes"]
    chosen = [names[row["e"]] for row in rows[:: max(1, len(rows) // STEPS)]]
    page.evaluate(_CHANGE, {"stage": "graph"})
    selecting = [page.evaluate(_CHANGE, {"selected": it}) for it in chosen]
    longest = max(range(len(explorer.wire["passes"])),
                  key=lambda it: len(explorer.wire["passes"][it]["rewrites"]))  # fmt: skip
    page.evaluate(_CHANGE, {"stage": "passes", "pass": longest, "step": 0, "selected": ""})
    count = min(STEPS, len(explorer.wire["passes"][longest]["rewrites"]))
    stepping = [page.evaluate(_CHANGE, {"step": it}) for it in range(1, count)]
    return [
        Figure("click to highlight, median", sorted(selecting)[len(selecting) // 2], 50, "ms"),
        Figure("click to highlight, at worst", max(selecting), 50, "ms"),
        Figure("one rewrite to the next, median", sorted(stepping)[len(stepping) // 2], 100, "ms"),
        Figure("one rewrite to the next, at worst", max(stepping), 100, "ms"),
        Figure("memory of the page", page.evaluate(_HEAP) / 1e6, 300, "MB"),
    ]


def transformer_figures(browser: Any, runs: int) -> Iterator[Figure]:
    """All figures of the transformer."""
    import compiler
    from benchmarks.transformer import transformer

    tensor = transformer()
    (compiler.Tensor([1.0]) + 1.0).numpy()
    yield from tracing(tensor, 2 * runs + 1)

    def compiled() -> Any:
        compiler.cache_clear()
        made = compiler.compile(tensor)
        made.load()
        return made

    def shown() -> Any:
        made = compiled()
        # what the compiler itself makes when it is first asked: listings of LLVM, decisions
        assert made.stages and made.optimized and made.assembly and made.decisions
        return made

    first = opening(browser, compiled, runs)
    first.page.close()
    least = opening(browser, shown, runs)
    page, explorer = least.page, least.explorer
    nodes = explorer.wire["stages"][1]["units"][0]["nodes"]
    name = f"transformer, {nodes:,} nodes: all stages made, to painted"
    yield Figure(name, least.painted, 2, "s")
    yield Figure("right after compiling, to painted", first.painted, 2, "s")
    yield Figure("… until what LLVM makes has arrived as well", first.arrived, inf, "s")
    yield from reacting(page, explorer)
    page.close()
    data = json.dumps(joined(explorer.wire, explorer.later), separators=(",", ":"))
    yield Figure("what is recorded, as JSON", len(data.encode()) / 1e6, 50, "MB")


def synthetic(browser: Any, count: int, bar: float, runs: int) -> Figure:
    """The time until a graph of `count` nodes is painted."""
    from tests.svodviz.sample import large

    least = opening(browser, lambda: large(count), runs)
    least.page.close()
    return Figure(f"synthetic graph of {count:,} nodes to painted", least.painted, bar, "s")


def main(arguments: list[str] | None = None) -> None:
    """Print every figure with its bar."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args(arguments).runs
    path = next(found for name in BROWSERS if (found := shutil.which(name)))
    with sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=path, args=FLAGS)
        print(f"{'':<52}{'measured':>12}{'at most':>12}")
        for figure in transformer_figures(browser, runs):
            print(figure, flush=True)
        print(synthetic(browser, 10_000, 2, runs), flush=True)
        print(synthetic(browser, 100_000, inf, 1))
        browser.close()


if __name__ == "__main__":
    main()
