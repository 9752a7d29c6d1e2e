"""The JavaScript of a page as one script: plain ES modules, in the order of their imports."""

import json
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from svodviz.drawing.palette import css
from svodviz.exporting.bundle import bundle, constant, imported
from svodviz.foundation.packing import packed

FOLDER = Path(__file__).parents[1] / "js"
# The ends of the cascade: what all share comes first, what narrow cells change last.
FIRST_SHEET, LAST_SHEET = "explorer", "narrow"
# The modules that a page begins with: its entry, and what unpacks the data that it carries.
MAIN, PACKED = "frame/main.js", "data/packed.js"
AROUND = "frame/around.js"
"""The module that the page of a notebook has for the pages in it."""

_LOADER = """\
const text = await unpacked("PACKED");
const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
const loaded = import(url).finally(() => URL.revokeObjectURL(url));
const initialize = async (context) => (await loaded).initialize(context);
const render = async (context) => (await loaded).render(context);
"""


@cache
def modules() -> tuple[tuple[str, str], ...]:
    """Name (its path in the folder) and text of every module, each after those it imports."""
    paths = sorted(FOLDER.rglob("*.js"))
    texts = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in paths}
    order = TopologicalSorter({name: imported(name, text) for name, text in texts.items()})
    return tuple((name, texts[name]) for name in order.static_order())


@cache
def bundled() -> str:
    """All modules as one, which exports what its entry does."""
    return f"{bundle(modules())}export const {{ initialize, render }} = {constant(MAIN)};\n"


@cache
def page_script() -> str:
    """A script that defines `initialize(context)`, `render(context)` and `unpacked(text)`.

    Every page and every saved widget carries it, so it is compressed: 440 kB are 150.
    """
    unpacking = dict(modules())[PACKED].replace("export ", "")
    return unpacking + _LOADER.replace("PACKED", packed(bundled()), 1)


@cache
def around_script(frames: str) -> str:
    """A script for a page whose `frames`, a selector, hold pages of ours: it keeps one address for
    all of them."""
    follow = dict(modules())[AROUND].replace("export ", "")
    return f"{follow}followFrames({json.dumps(frames)});\n"


@cache
def widget_module() -> str:
    """The ES module that anywidget loads."""
    return f"{page_script()}export default {{ initialize, render }};\n"


@cache
def style_sheet() -> str:
    """The style sheet with the palette's colours."""
    order = {FIRST_SHEET: -1, LAST_SHEET: 1}
    paths = sorted(FOLDER.rglob("*.css"), key=lambda path: (order.get(path.stem, 0), path.name))
    return "\n".join([css(), *(path.read_text("utf-8") for path in paths)])
