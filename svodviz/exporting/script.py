"""The JavaScript of a page as one script: its modules in the order of their imports.

Each module becomes a function that returns what it exports.

    import { h, s as svg } from "../kit/dom.js";    const $views_graph = (() => {
    export class Graph { … }                  →     const { h, s: svg } = $kit_dom;
                                                    class Graph { … }
                                                    return { Graph };
                                                    })();

A widget's module is loaded from a Blob URL, where relative imports lead nowhere, and a hundred
modules with a Blob URL each take a fifth of a second to load. There is no build step: the files in
js/ are what runs, line by line. Modules are named by their paths in that folder ("views/graph.js").
Imports and exports have the few forms that are written here; anything else is a ValueError.
"""

import json
import re
from collections.abc import Iterable
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path
from posixpath import dirname, join, normpath

from svodviz.drawing.palette import css
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
_IMPORT = re.compile(r'^import ([^;]*?) from "(\.[\w./]+\.js)";$', re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LISTED = re.compile(r"^export (?:default )?\{ ([\w, ]+) \};$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


@cache
def modules() -> tuple[tuple[str, str], ...]:
    """Name (its path in the folder) and text of every module, each after those it imports."""
    paths = sorted(FOLDER.rglob("*.js"))
    texts = {path.relative_to(FOLDER).as_posix(): path.read_text("utf-8") for path in paths}
    order = TopologicalSorter({name: imported(name, text) for name, text in texts.items()})
    return tuple((name, texts[name]) for name in order.static_order())


@cache
def bundled() -> str:
    """All modules as one module with the exports of its entry."""
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
    """A script for a page that contains our pages in `frames`, a CSS selector: it keeps the
    address of the outer page in step with them."""
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


def bundle(modules: Iterable[tuple[str, str]]) -> str:
    """Each module, given by name and text after those it imports, as a constant."""
    return "".join(_declaration(name, text) for name, text in modules)


def constant(name: str) -> str:
    """The constant that has what a module exports: `$kit_dom` for "kit/dom.js"."""
    return f"${name.removesuffix('.js').replace('/', '_')}"


def imported(name: str, text: str) -> list[str]:
    """The names of the modules that a module imports."""
    return [_named(it[2], name) for it in _IMPORT.finditer(text)]


def _named(path: str, importer: str) -> str:
    """The module at a path that is written in another one."""
    return normpath(join(dirname(importer), path))


def _declaration(name: str, text: str) -> str:
    exported = [declared for _, declared in _DECLARED.findall(text)]
    exported += [it.strip() for names in _LISTED.findall(text) for it in names.split(",")]
    text = _IMPORT.sub(
        lambda it: f"const {_pattern(it[1])} = {constant(_named(it[2], name))};", text
    )
    text = _DECLARED.sub(r"\1 \2", _LISTED.sub("", text))
    if left := _LEFT.search(text):
        raise ValueError(f"{name}: a form of import or export that no page knows: {left[0]}")
    if "</script" in text or "<!--" in text:
        raise ValueError(f"{name}: it would end the script of a page that it stands in")
    returned = ", ".join(dict.fromkeys(exported))
    return f"const {constant(name)} = (() => {{\n{text}\nreturn {{ {returned} }};\n}})();\n"


def _pattern(names: str) -> str:
    """The names imported, as the pattern of a declaration."""
    return names.removeprefix("* as ").replace(" as ", ": ")
