"""Stand-ins for the explorer: a picture without scripts, files of each stage, texts, data."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import svodviz
from svodviz.foundation.subject import compilation_of
from svodviz.texts.summary import text_of
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import Exported, Open, softmax_layer
from tests.svodviz.page.test_page import set_state

pytestmark = pytest.mark.browser
DRAWN = ("graph", "kernels", "schedule", "loops", "lowered")


@pytest.fixture(scope="module")
def made() -> Any:
    return compilation_of(softmax_layer())


@pytest.fixture(scope="module")
def page_file(made: Any, exported: Exported) -> Path:
    return exported(Explorer(made))


def test_without_scripts_a_page_is_a_picture(chromium: Any, page_file: Path) -> None:
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(page_file.as_uri())
    picture = page.locator("svg").first
    box = picture.bounding_box()
    assert box["width"] > 200 and box["height"] > 200
    assert "relu" in picture.inner_html()
    assert page.locator(".svodviz").count() == 0
    context.close()


@pytest.mark.parametrize("stage", DRAWN)
@pytest.mark.parametrize("form", ["svg", "png"])
def test_pictures_of_every_stage_are_seen(
    made: Any, chromium: Any, tmp_path: Path, stage: str, form: str
) -> None:
    path = tmp_path / f"stage.{form}"
    svodviz.save(made, path, stage=stage)
    page = chromium.new_page()
    page.goto(path.as_uri())
    if form == "svg":
        box = page.evaluate("""() => {
            const { width, height } = document.documentElement.getBoundingClientRect();
            return [width, height, document.querySelectorAll("text").length];
        }""")
        assert box[0] > 50 and box[1] > 20 and box[2] > 2
    else:
        size = page.evaluate("""() => {
            const { naturalWidth, naturalHeight } = document.querySelector("img");
            return [naturalWidth, naturalHeight];
        }""")
        assert min(size) > 20
    page.close()


def test_the_data_in_a_page_are_versioned_json(open_page: Open, page_file: Path) -> None:
    page = open_page(page_file)
    kept = page.evaluate("JSON.stringify(window.svodviz.model.get('wire'))")
    data = json.loads(kept)
    assert (data["format"], type(data["version"])) == ("svodviz", int)
    assert "pickle" not in page_file.read_text("utf-8")


def test_the_page_shows_the_text_of_the_command_line(
    made: Any, open_page: Open, page_file: Path
) -> None:
    page = open_page(page_file)
    for stage in ("graph", "kernels", "lowered"):
        set_state(page, stage=stage, view="text")
        shown = page.locator(".line code").all_inner_texts()
        printed = text_of(made, stage)
        for line in (it for it in shown if it.strip()):
            assert re.sub(r"\s+", " ", line).strip() in re.sub(r"[^\S\n]+", " ", printed)
