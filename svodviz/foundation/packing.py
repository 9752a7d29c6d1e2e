"""Data of a page as compressed text: what notebooks save of a widget, and what pages carry.

As plain JSON a saved notebook would hold every graph in full, a line for each number.
"""

import base64
import gzip
import json
import zlib
from typing import Any

import traitlets

LEVEL = 5
"""Measured 2026-11-23 on one core of an AMD EPYC, the page of a transformer, 6.6 MB, at levels 1,
5, 6 and 9: 45, 95, 143 and 452 ms for 1,044, 818, 790 and 746 kB."""
FOR_FILES = 8
"""The level for exports, which are written once and sent around. The page of an FFT, 8.7 MB, at
levels 5, 8 and 9: 115, 474 and 591 ms for 1,514, 1,420 and 1,419 kB."""
MOST_UNPACKED = 128_000_000
"""Bytes that a text may unpack to: a shared notebook may hold anything. A choice: 15 times the data
of the largest program in the tests. `js/data/packed.js` has the same."""


def packed(data: object) -> str:
    """The data as JSON, compressed, in characters that need no escapes."""
    return pack_text(json.dumps(data, separators=(",", ":"), allow_nan=False))


def pack_text(text: str, level: int = LEVEL) -> str:
    """A text compressed; the same text always becomes the same."""
    return base64.b64encode(gzip.compress(text.encode(), level, mtime=0)).decode()


def unpacked(text: str) -> Any:
    """The data of a text by `packed`. ValueError for any other text, and above MOST_UNPACKED."""
    reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # with the head of gzip
    try:
        data = reader.decompress(base64.b64decode(text), MOST_UNPACKED)
        if reader.unconsumed_tail:
            raise ValueError(f"data of a page unpack to more than {MOST_UNPACKED:,} bytes")
        if not reader.eof:
            raise ValueError("data of a page are damaged: they end too early")
        return json.loads(data)
    except (zlib.error, RecursionError) as error:
        raise ValueError(f"data of a page are damaged: {error}") from None


def packed_trait() -> "traitlets.Dict[str, Any]":
    """A trait that is a dict in Python and compressed on its way to the page and into notebooks."""
    return traitlets.Dict().tag(
        sync=True,
        to_json=lambda data, _: packed(data),
        from_json=lambda text, _: unpacked(text) if isinstance(text, str) else text,
    )
