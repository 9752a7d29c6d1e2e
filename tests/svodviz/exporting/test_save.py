"""Files whose ending says what is in them."""

import io
import json
import re
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from compiler import Tensor, compile
from svodviz.exporting.save import ENDINGS, encode, form_of, rasterize, save
from tests.svodviz.sample import hostile, sample

STARTS = {
    "svg": b"<svg ", "png": b"\x89PNG", "dot": b"digraph", "graphml": b"<graphml",
    "json": b"{", "txt": b"%", "html": b"<!doctype html>",
}  # fmt: skip


@pytest.mark.parametrize("form", ENDINGS)
def test_the_ending_says_the_format(form: str, tmp_path: Path) -> None:
    path = save(sample(), tmp_path / f"x.{form}", stage="kernels")
    assert path.read_bytes().startswith(STARTS[form])


def test_a_tensor_is_compiled_first(tmp_path: Path) -> None:
    path = save(Tensor([1.0, 2.0]) + 1.0, tmp_path / "x.json")
    assert "add" in {it["op"] for it in json.loads(path.read_text("utf-8"))["nodes"]}


def test_a_format_may_be_named(tmp_path: Path) -> None:
    path = save(sample(), tmp_path / "x.data", form="graphml")
    assert len(nx.read_graphml(io.BytesIO(path.read_bytes()))) == 33


@pytest.mark.parametrize("path", ["x", "x.gif", "png", "x.tar.gz"])
def test_an_ending_that_says_nothing(path: str) -> None:
    words = re.escape(f"{path}: its ending says no format; expected one of .svg .dot")
    with pytest.raises(ValueError, match=words):
        form_of(path)


@pytest.mark.parametrize("stage", ["graph", "schedule"])
@pytest.mark.parametrize("make", [sample, hostile])
def test_pictures_have_pixels(make: Any, stage: str) -> None:
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    picture = image.open(io.BytesIO(encode(make(), stage, "png"))).convert("RGB")
    assert min(picture.size) > 100
    # The page is white, the nodes are filled with colours of the palette.
    assert len(picture.getcolors(1 << 24)) > 10
    assert picture.getpixel((1, 1)) == (255, 255, 255)


def test_what_graphviz_cannot_draw_is_told() -> None:
    with pytest.raises(ValueError, match="png: Graphviz cannot draw the graph: "):
        rasterize("digraph { a -> ")
    with pytest.raises(ValueError, match=r"too large to be laid out in 0\.01 s"):
        rasterize("digraph { a -> b }", 0.01)


@pytest.mark.parametrize("name", ("", "program", "a <b>"))
def test_a_page_of_a_program_of_any_name(name: str, tmp_path: Path) -> None:
    page = save(compile(Tensor([1.0]) + 1, name=name), tmp_path / "page.html")
    title = re.search("<title>(.+) · svodviz</title>", page.read_text("utf-8"))
    assert title and title[1].strip() and "<b>" not in title[1]
