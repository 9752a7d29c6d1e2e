"""The browser's modules as one script: each becomes a function that returns what it exports.

    import { h, s as svg } from "./dom.js";         const $graph = (() => {
    export class Graph { … }                  →     const { h, s: svg } = $dom;
                                                    class Graph { … }
                                                    return { Graph };
                                                    })();

A widget's module is loaded from a Blob URL, where relative imports lead nowhere, and a hundred
modules with a Blob URL each take a fifth of a second to load. There is no build step: the files in
js/ are what runs, line by line. Imports and exports have the few forms that are written here;
anything else is a ValueError.
"""

import re
from collections.abc import Iterable

_IMPORT = re.compile(r'^import ([^;]*?) from "\./(\w+)\.js";$', re.MULTILINE)
_DECLARED = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_LISTED = re.compile(r"^export (?:default )?\{ ([\w, ]+) \};$", re.MULTILINE)
_LEFT = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def bundle(modules: Iterable[tuple[str, str]]) -> str:
    """The modules, given by name and text, each after those it imports, as constants `$name`."""
    return "".join(_constant(name.removesuffix(".js"), text) for name, text in modules)


def _constant(name: str, text: str) -> str:
    exported = [declared for _, declared in _DECLARED.findall(text)]
    exported += [it.strip() for names in _LISTED.findall(text) for it in names.split(",")]
    text = _IMPORT.sub(lambda found: f"const {_pattern(found[1])} = ${found[2]};", text)
    text = _DECLARED.sub(r"\1 \2", _LISTED.sub("", text))
    if left := _LEFT.search(text):
        raise ValueError(f"{name}.js: a form of import or export that no page knows: {left[0]}")
    if "</script" in text or "<!--" in text:
        raise ValueError(f"{name}.js: it would end the script of a page that it stands in")
    returned = ", ".join(dict.fromkeys(exported))
    return f"const ${name} = (() => {{\n{text}\nreturn {{ {returned} }};\n}})();\n"


def _pattern(names: str) -> str:
    """What is imported as the pattern of a declaration."""
    return names.removeprefix("* as ").replace(" as ", ": ")
