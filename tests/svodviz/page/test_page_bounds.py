"""A page that anybody made: what it unpacks and lays out at once is bounded, and it says so."""

import base64
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from svodviz.exporting.export import export_html
from svodviz.foundation.packing import MOST_UNPACKED, packed
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Open
from tests.svodviz.sample import sample

pytestmark = pytest.mark.browser

DATA = re.compile(r'(<script type="application/json" class="data" data-packed=)"\w+">[^<]*')
BOXES = 20_010
HOSTILE: dict[str, tuple[Callable[[], str], str]] = {
    "bomb": (lambda: base64.b64encode(gzip.compress(b" " * (MOST_UNPACKED + 1))).decode(),
             "its data unpack to more than 128 MB."),
    "damaged": (lambda: "no data", ""),
    "of another version": (lambda: packed({"format": "svodviz", "version": 0}),
                           "This page reads svodviz data of version"),
    "of another form": (lambda: packed({**Explorer(sample()).wire, "stages": 7}), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_what_cannot_be_shown_says_so_in_its_place(
    name: str, chromium: Any, tmp_path: Path
) -> None:
    data, words = HOSTILE[name][0](), HOSTILE[name][1]
    path = tmp_path / "hostile.html"
    text = export_html(Explorer(sample()).wire)  # type: ignore[arg-type]
    path.write_text(DATA.sub(lambda it: f'{it[1]}"gzip">{data}', text, count=1), "utf-8")
    page = chromium.new_page()
    page.goto(path.as_uri())
    page.wait_for_selector(".svodviz.refused[role=alert]")
    assert page.inner_text(".refused").startswith(f"This explorer cannot be shown: {words}")
    assert page.locator(".svodviz").count() == 1
    page.close()


def test_more_boxes_than_a_page_lays_out_are_left_out(open_page: Open, tmp_path: Path) -> None:
    wire = json.loads(json.dumps(Explorer(sample()).wire))
    (stage,) = (it for it in wire["stages"] if it["id"] == "kernels")
    scene = stage["units"][0]["scene"]
    row = {**scene["nodes"][0], "w": 40, "h": 20, "label": ["x"]}
    scene.update(nodes=[row] * BOXES, edges=[], layouts=[None])
    path = tmp_path / "large.html"
    export_html(wire, path, state={"stage": "kernels", "folding": "none"})
    page = open_page(path, is_kept=False)
    words = page.inner_text(".status-text")
    assert "the first 20,000 of 20,010 boxes: the limit of one layout" in words
