"""The one place where untrusted text becomes part of markup.

Names, source lines, values and error messages come from users' programs. In Python they reach SVG,
HTML and XML only through `markup`, scripts only through `script_json`; in the browser the modules
set `textContent` and never parse text as markup.
"""

import html
import json
import re
from typing import Any

# Characters that XML 1.0 cannot carry at all, not even escaped, and lone surrogates.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# Direction marks would reorder the text around them, so they are shown as what they are.
_DIRECTIONS = (*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x200E, 0x200F, 0x061C)
_VISIBLE = {
    **{code: f"\\u{code:04x}" for code in _DIRECTIONS},
    **{code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0))},
    ord("\n"): "\\n",
    ord("\r"): "\\r",
    ord("\t"): "\\t",
}
_IN_SCRIPTS = {
    "<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029",
}  # fmt: skip


def visible(text: object) -> str:
    """One printable line: control characters and direction marks as their escapes."""
    words = str(text)
    if words.isascii() and words.isprintable():
        return words
    return _NOT_XML.sub("\ufffd", words.translate(_VISIBLE))


def markup(text: object) -> str:
    """Text that may stand between tags or inside a quoted attribute of HTML, SVG or XML."""
    return html.escape(_NOT_XML.sub("\ufffd", str(text)), quote=True)


def xml_text(text: object) -> str:
    """Text for a library that escapes by itself but writes what XML cannot carry."""
    return _NOT_XML.sub("\ufffd", str(text))


def script_json(value: Any) -> str:
    """JSON that may stand inside a <script> element: no tag or comment can end it early."""
    compact = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for character, escaped in _IN_SCRIPTS.items():  # ten times faster than `translate`
        compact = compact.replace(character, escaped)
    return compact.encode("utf-8", "replace").decode("utf-8")
