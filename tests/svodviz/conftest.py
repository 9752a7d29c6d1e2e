"""A Chromium for the tests that look at pages, and the sample's pages."""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import Tensor
from compiler.playground import playground as core
from svodviz.foundation.subject import compilation_of
from svodviz.widget.explorer import Explorer
from svodviz.widget.playground import playground
from svodviz.wire.checks import check_all
from tests.models import LENGTH, transformer
from tests.svodviz.sample import rich, sample

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-quic",
    "--no-first-run", "--disable-component-update", "--disable-sync",
]  # fmt: skip
# Views that the hand-made compilation has all for; the others are seen on a compiled program.
IN_SAMPLE = ("timeline", "memory", "fusion", "graph", "text", "columns")
READY = ".svodviz[data-ready=true]"
MOST_IDLE = 4  # pages of about 100 MB each
PLANTED = """() => window.hacked !== undefined || !document.querySelector(".svodviz")
    || document.querySelectorAll("body > :not(.svodviz, script, noscript)").length > 0
    || document.querySelectorAll("script").length > 3"""
AGAIN = """async () => {
    window.scrollTo(0, 0);
    localStorage.clear();
    history.replaceState(null, "", location.href.split("#")[0]);
    await window.svodviz.reset();
}"""

Open = Callable[..., Any]
Exported = Callable[..., Path]
Made = Callable[[], Explorer]


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium; where none is found its tests are skipped, with the reason."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"no Chromium on the path: looked for {', '.join(NAMES)}")
    with playwright.sync_playwright() as runner:
        browser = runner.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """Exports the page of an explorer, a comparison or a quiz to a file of its own."""

    def made(shown: Any, **how: Any) -> Path:
        path = tmp_path_factory.mktemp("pages") / "page.html"
        shown.export_html(path, **how)
        return path

    return made


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Made], Path]:
    """A page by its name: the first process of a run that needs it makes it, the others wait."""
    own = tmp_path_factory.getbasetemp()
    folder = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own

    def page(name: str, made: Made) -> Path:
        path = folder / f"{name}.html"
        with (folder / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not path.exists():
                whole = folder / f"{name}.part"
                made().export_html(whole)
                whole.rename(path)
        return path

    return page


@pytest.fixture(scope="session")
def sample_page(exported: Exported) -> Path:
    """The sample compilation as an exported page."""
    return exported(Explorer(sample()))


@pytest.fixture(scope="session")
def rich_page(exported: Exported) -> Path:
    """The compilation whose schedule and kernel graph have everything, as an exported page."""
    return exported(Explorer(rich()))


@pytest.fixture(scope="session")
def complete() -> Explorer:
    """A small program as the compiler compiles it, with all that a page can hold recorded."""
    compilation = compilation_of(softmax_layer())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "SECONDS", 0.0)
        for loops in compilation.loops:
            playground(compilation, kernel=loops.name, choices=["unroll i9"])
    made = Explorer(compilation, check_all(compilation))
    made.record_machine_code()
    made.record_run(seconds=0.1)
    return made


@pytest.fixture(scope="session")
def compiled_page(
    made_once: Callable[[str, Made], Path], request: pytest.FixtureRequest
) -> Path:
    """The page of `complete`, which takes half a minute to make."""
    return made_once("complete", lambda: request.getfixturevalue("complete"))


def transformer_model() -> Explorer:
    """A model that came with modules, measured."""
    pytest.importorskip("onnx")
    model = compiler.from_onnx(transformer())
    ids = np.arange(LENGTH)[np.newaxis]
    made = Explorer(compiler.compile([*model(ids=ids).values()], name="transformer"))
    made.record_run(seconds=0.1)
    return made


@pytest.fixture(scope="session")
def model_page(made_once: Callable[[str, Made], Path]) -> Path:
    """The page of `transformer_model`."""
    return made_once("transformer", transformer_model)


@pytest.fixture(scope="session")
def page_of(rich_page: Path, request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """The page to look at a view in: that of the rich sample, if it has what the view needs."""
    others = {"modules": "model_page"}

    def page(view: str) -> Path:
        if view in IN_SAMPLE:
            return rich_page
        return Path(request.getfixturevalue(others.get(view, "compiled_page")))

    return page


@dataclass(frozen=True)
class Idle:
    """A page that no test looks at now, and the file of which it shows the state at some time."""

    page: Any
    file: tuple[str, int]


@pytest.fixture(scope="session")
def idle_pages() -> list[Idle]:
    """The pages left by tests, the last one at the end: shown again in a fifth of the time that
    a new one takes (0.09 s of 0.4 s for the sample's, on an AMD EPYC, 2026-11-23)."""
    return []


@pytest.fixture
def open_page(chromium: Any, idle_pages: list[Idle]) -> Iterator[Open]:
    """Opens a page and waits until it is painted; an error or a request in it fails the test.

    A page that shows this file already is drawn anew in its document. What a test leaves there
    beyond that and beyond elements (a listener, a function for the page to call) would stay for
    the tests after it: such a test asks for a page that is not kept.
    """
    troubles: list[str] = []
    ends: list[Callable[[], None]] = []

    def opened(
        path: Path, *, width: int = 1400, scheme: str = "light", is_kept: bool = True
    ) -> Any:
        file = _file(path)
        idle = _idle(idle_pages, file) if is_kept else None
        page = idle.page if idle else chromium.new_page()
        listeners = _watch(page, troubles, path)
        leave = partial(_leave, Idle(page, file), listeners, idle_pages)
        ends.append(leave if is_kept else page.close)
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        if idle and (idle.file, page.url.split("#")[0]) == (file, file[0]):
            page.evaluate(AGAIN)
        else:
            page.goto(file[0])
        page.wait_for_selector(READY, timeout=15_000)
        return page

    yield opened
    for end in ends:
        end()
    assert not troubles


def _file(path: Path) -> tuple[str, int]:
    """Names a file as it is now."""
    return path.as_uri(), path.stat().st_mtime_ns


def _idle(pages: list[Idle], file: tuple[str, int]) -> Idle | None:
    """Takes a page from those that are idle: one of this file, or the oldest if they are many."""
    found = next((it for it in pages if it.file == file), None)
    if found is None and len(pages) >= MOST_IDLE:
        found = pages[0]
    if found:
        pages.remove(found)
    return found


def softmax_layer() -> Tensor:
    """A layer with a matrix product, an activation and a softmax over its rows."""
    draw = np.random.default_rng(7)
    x, w = (Tensor(draw.normal(size=it).astype("float32")) for it in ((64, 32), (32, 16)))
    return (x @ w).relu().softmax()


def _watch(page: Any, troubles: list[str], path: Path) -> dict[str, Callable[[Any], None]]:
    """Notes errors, warnings and requests from now on; the listeners that do so."""
    listeners: dict[str, Callable[[Any], None]] = {
        "pageerror": lambda error: troubles.append(f"error: {error}"),
        "console": lambda message: _note(troubles, message),
        "request": lambda request: _refuse(troubles, request.url, path),
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    return listeners


def _leave(idle: Idle, listeners: dict[str, Callable[[Any], None]], idle_pages: list[Idle]) -> None:
    """Keeps a page for the next test, unless this one planted something outside of its root."""
    for event, listener in listeners.items():
        idle.page.remove_listener(event, listener)
    if idle.page.is_closed() or idle.page.evaluate(PLANTED):
        idle.page.close()
        return
    idle.page.evaluate("localStorage.clear()")  # another file shown in it would read it
    idle.page.mouse.move(-1, -1)
    idle_pages.append(idle)


def _note(troubles: list[str], message: Any) -> None:
    if message.type in ("error", "warning"):
        troubles.append(f"console: {message.text}")


def _refuse(troubles: list[str], url: str, path: Path) -> None:
    if url != path.as_uri() and not url.startswith(("blob:", "data:")):
        troubles.append(f"request: {url}")


@pytest.fixture
def page(open_page: Open, sample_page: Path) -> Any:
    """The sample's page, opened wide and light."""
    return open_page(sample_page)
