"""Makes the pictures of docs/features.md: `python -m tools.pictures` or `make pictures`.

    python -m tools.pictures timeline memory    only these

Every picture is a shot of a page that the explorer exports, in a real Chromium, of programs that
are compiled for it. PNG with a palette of 128 colours, each below 200 kB. `tools/shots.py` says
what is on them.
"""

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from PIL import Image

from svodviz import save
from tools.shots import SHOTS, SUBJECTS, Shot, results

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "pictures"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = ["--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
MOST_BYTES, COLOURS = 200_000, 128
_PAINTED = "new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))"


@contextmanager
def browser() -> Iterator[Any]:
    """A Chromium that runs."""
    from playwright.sync_api import sync_playwright

    path = next(executable for name in NAMES if (executable := shutil.which(name)))
    with sync_playwright() as runner:
        running = runner.chromium.launch(executable_path=path, args=FLAGS)
        yield running
        running.close()


@cache
def page_file(subject: str) -> Path:
    """The exported page of a subject, made when the first shot asks for it."""
    path = Path(tempfile.mkdtemp()) / f"{subject}.html"
    SUBJECTS[subject](path)
    return path


def take(running: Any, shot: Shot) -> bytes:
    """One shot as a PNG."""
    width, height = shot.size
    page = running.new_page(viewport={"width": width, "height": height}, color_scheme=shot.scheme)
    try:
        page.goto(page_file(shot.subject).as_uri())
        page.wait_for_selector(shot.ready, timeout=30_000)
        if shot.state:
            page.evaluate("(it) => window.svodviz.model.set('state', it)", dict(shot.state))
        page.evaluate(_PAINTED)
        shot.act(page)
        page.wait_for_timeout(300)  # for what appears slowly
        target = page.locator(shot.part).first if shot.part else page
        return packed(target.screenshot())
    finally:
        page.close()


def packed(png: bytes) -> bytes:
    """The same picture with a palette."""
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    few = picture.quantize(COLOURS, dither=Image.Dither.NONE)
    stream = io.BytesIO()
    few.save(stream, "PNG", optimize=True)
    return stream.getvalue()


def main() -> int:
    """Take the shots that are asked for; all without names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help=f"some of {', '.join(SHOTS)}")
    chosen = parser.parse_args().names or list(SHOTS)
    FOLDER.mkdir(parents=True, exist_ok=True)
    save(results("network.py"), FOLDER / "still.svg")
    too_large = []
    with browser() as running:
        for name in chosen:
            data = take(running, SHOTS[name])
            (FOLDER / f"{name}.png").write_bytes(data)
            print(f"docs/pictures/{name}.png: {len(data) / 1000:.0f} kB", flush=True)
            too_large += [name] * (len(data) >= MOST_BYTES)
    if too_large:
        print(f"larger than {MOST_BYTES // 1000} kB: {', '.join(too_large)}", file=sys.stderr)
    return bool(too_large)


if __name__ == "__main__":
    sys.exit(main())
