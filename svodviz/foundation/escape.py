"""The one place where untrusted text becomes part of markup.

Names, source lines, values and error messages come from users' programs. In Python they reach SVG,
HTML and XML only through `markup`, scripts only through `script_json`; in the browser the modules
set `textContent` and never parse text as markup.
"""

import html
import json
import re

from compiler.core.printable import printable, printout

# Characters that XML 1.0 cannot carry at all, not even escaped, and lone surrogates.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_IN_SCRIPTS = {
    "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029",
}  # fmt: skip


def visible(text: object) -> str:
    """One printable line: control characters, tabs too, and direction marks as their escapes."""
    words = str(text)
    if words.isprintable():
        return words
    return _NOT_XML.sub("\ufffd", printable(words).replace("\t", "\\t"))


def terminal_text(text: object) -> str:
    """Text of several lines for a terminal: lines and tabs stay, control characters are shown."""
    return printout(str(text).split("\n"))


def markup(text: object) -> str:
    """Text that may stand between tags or inside a quoted attribute of HTML, SVG or XML."""
    return html.escape(_NOT_XML.sub("\ufffd", str(text)), quote=True)


def xml_text(text: object) -> str:
    """Text for a library that escapes by itself but writes what XML cannot carry."""
    return _NOT_XML.sub("\ufffd", str(text))


def script_json(value: object) -> str:
    """JSON that may stand inside a <script> element: no tag or comment can end it early."""
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in _IN_SCRIPTS.items():  # ten times faster than `translate`
        compact = compact.replace(character, escaped)
    return compact.encode("utf-8", "replace").decode("utf-8")
