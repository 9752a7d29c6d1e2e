"""The browser's modules as one script: each becomes a function that returns what it exports.

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

import re
from collections.abc import Iterable
from posixpath import dirname, join, normpath

_IMPORT = re.compile(r'^import ([^;]*?) from "(\.[\w./]+\.js)";$', re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LISTED = re.compile(r"^export (?:default )?\{ ([\w, ]+) \};$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


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
