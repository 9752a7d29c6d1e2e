"""Hostile text in every place that a program can put text: words everywhere, markup nowhere."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from compiler import Tensor, compile
from svodviz.explorer import Explorer
from svodviz.export import FORMATS, export_stage
from svodviz.stages import BY_ID
from svodviz.summary import full_summary, text_of
from svodviz.wire import wire
from tests.svodviz.conftest import IN_SAMPLE, Open
from tests.svodviz.poison import POISONS, poisoned, strings, unprintable
from tests.svodviz.walk import VIEW_IDS, select_something, stages_of

STAGES = [it for it in BY_ID if it not in ("passes", "llvm_passes")]
# Elements and attributes that run, load or leave: a page of ours has none, whatever it shows.
ACTIVE = """() => [...document.querySelectorAll("*")].filter((it) =>
    it.matches("img, iframe, object, embed, a, form, base, meta[http-equiv], foreignObject, use")
    || [...it.attributes].some(({ name }) => name.startsWith("on") || name === "srcdoc")
).map((it) => it.outerHTML.slice(0, 200))"""
RAW = """() => {
    const texts = document.createNodeIterator(document.querySelector(".svodviz"), 4);
    const found = [];
    for (let it = texts.nextNode(); it; it = texts.nextNode()) {
        if (/[\\u202a-\\u202e\\u2066-\\u2069\\u0000-\\u0008\\u001b]/.test(it.data)) {
            found.push(it.data);
        }
    }
    return found;
}"""


@pytest.fixture(scope="session")
def poisoned_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "poisoned.html"
    explorer = Explorer(poisoned())
    explorer.record_run()
    explorer.export_html(path)
    return path


def test_what_travels_to_the_page_is_printable() -> None:
    found = wire(poisoned())
    assert {it for it in strings(found) if unprintable(it)} == set()
    text = json.dumps(found, ensure_ascii=False)
    assert all(it in text for it in (POISONS[0][:30], "W" * 300, "__proto__", "\\\\x1b]0;title"))


@pytest.mark.parametrize("stage", STAGES)
def test_no_format_carries_what_cannot_be_printed(stage: str) -> None:
    for form in FORMATS:
        text = export_stage(poisoned(), stage, form)
        if isinstance(text, str):
            assert unprintable(text, "\n\t") == "", form
    read = ET.fromstring(export_stage(poisoned(), stage, "svg"))
    tags = {it.tag.partition("}")[2] for it in read.iter()}
    assert tags <= {"svg", "title", "rect", "g", "path", "text"}
    assert not [it for it in read.iter() for name in it.attrib if name.startswith("on")]


def test_no_text_carries_what_cannot_be_printed() -> None:
    texts = [text_of(poisoned(), it) for it in BY_ID]
    texts += [full_summary(poisoned()), repr(Explorer(poisoned()))]
    assert [it for it in texts if unprintable(it, "\n\t")] == []


@pytest.mark.parametrize("name", POISONS)
def test_programs_with_hostile_names_compile_and_are_shown(name: str) -> None:
    y = (Tensor([[1.0, 2.0], [3.0, 4.0]], name=name) @ Tensor([[1.0], [1.0]], name=name)).exp()
    compilation = compile(y)
    assert y.numpy().shape == (2, 1)
    assert {it for it in strings(wire(compilation)) if unprintable(it)} == set()
    assert [it for it in BY_ID if unprintable(text_of(compilation, it), "\n\t")] == []


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 700])
@pytest.mark.parametrize("view", [it for it in VIEW_IDS if it in (*IN_SAMPLE, "run")])
def test_every_view_shows_hostile_text_as_words(
    open_page: Open, poisoned_page: Path, view: str, width: int
) -> None:
    page = open_page(poisoned_page, width=width)
    for stage in stages_of(page, view, most=9 if view == "graph" else 2):
        select_something(page, stage)
        assert_harmless(page, width, stage)
    page.locator(".svodviz").focus()
    page.keyboard.press("/")
    page.keyboard.insert_text(POISONS[0])
    page.keyboard.press("Enter")
    assert_harmless(page, width, "search")


def assert_harmless(page: Any, width: int, where: str) -> None:
    assert page.evaluate("window.hacked") is None, where
    assert page.evaluate(ACTIVE) == [], where
    assert page.evaluate(RAW) == [], where
    assert page.evaluate("document.documentElement.scrollWidth") <= width, where
    assert page.evaluate("document.documentElement.scrollHeight") <= 800, where
    assert page.locator(".centre").bounding_box()["width"] >= 400, where
    assert page.locator(".pane").bounding_box()["height"] >= 100, where
