"""The browser's part as one script: plain ES modules, inlined in the order of their imports.

A widget's module is loaded from a Blob URL, where relative imports lead nowhere. So the script
carries every module as text, makes a Blob URL of each, and puts these URLs into the imports of the
modules that come after it. There is no build step: the files in js/ are what runs.
"""

import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

from svodviz.escape import script_json
from svodviz.packing import packed
from svodviz.palette import css

FOLDER = Path(__file__).parent / "js"
# The ends of the cascade: what all share comes first, what narrow cells change last.
FIRST_SHEET, LAST_SHEET = "explorer", "narrow"
_IMPORT = re.compile(r'^import [^;]*? from "\./(\w+\.js)";$', re.MULTILINE)

_LOADER = """\
const modules = MODULES;
const urls = {};
for (const [name, text] of modules) {
  const linked = text.replace(
    /^(import [^;]*? from )"\\.\\/(\\w+\\.js)";$/gm,
    (_, words, file) => `${words}"${urls[file]}";`,
  );
  urls[name] = URL.createObjectURL(new Blob([linked], { type: "text/javascript" }));
}
const loaded = import(urls["main.js"]).finally(() => {
  Object.values(urls).forEach((url) => URL.revokeObjectURL(url));
});
const render = async (context) => (await loaded).render(context);
"""


@cache
def modules() -> tuple[tuple[str, str], ...]:
    """Name and text of every module, each after those that it imports."""
    texts = {path.name: path.read_text("utf-8") for path in sorted(FOLDER.glob("*.js"))}
    order = TopologicalSorter({name: _IMPORT.findall(text) for name, text in texts.items()})
    return tuple((name, texts[name]) for name in order.static_order())


@cache
def loader() -> str:
    """A script that defines `render({model, el})`, which resolves once all modules are loaded."""
    return _LOADER.replace("MODULES", script_json(modules()), 1)


@cache
def unpacking() -> str:
    """A script that defines `unpacked(text)`: what the modules have, for before they are there."""
    return dict(modules())["packed.js"].replace("export ", "")


@cache
def widget_module() -> str:
    """The ES module that anywidget loads; every saved widget carries it, so it is compressed."""
    data = f'await unpacked("{packed(modules())}")'
    return f"{unpacking()}{_LOADER.replace('MODULES', data, 1)}export default {{ render }};\n"


@cache
def style_sheet() -> str:
    """The style sheet with the palette's colours."""
    order = {FIRST_SHEET: -1, LAST_SHEET: 1}
    paths = sorted(FOLDER.glob("*.css"), key=lambda path: (order.get(path.stem, 0), path.name))
    return "\n".join([css(), *(path.read_text("utf-8") for path in paths)])
