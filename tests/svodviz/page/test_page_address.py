"""The address of an exported page follows its reader, and leads others to the same place."""

from pathlib import Path
from typing import Any

import pytest

from svodviz.offline import OfflineExporter
from svodviz.widget.explorer import Explorer
from tests.svodviz.conftest import READY, Open
from tests.svodviz.sample import sample
from tests.svodviz.test_offline import notebook

pytestmark = pytest.mark.browser

HOSTILE = (
    "stage=<img src=x onerror=hacked=1>", "stage=graph&selected=__proto__&unit=constructor",
    "stage=passes&pass=99999&step=1e9", "stage=passes&pass=-1&step=-5", "%E0%A4%A", "%", "=&=",
    "stage=loops&view=javascript:alert(1)&search=%3Cscript%3E", "stage=schedule&critical=%00",
    "stage=graph&folding=__proto__&open=toString&only=%F0&overlay=hasOwnProperty",
    "stage=graph&columns=" + "&columns=".join(["graph"] * 300), "x" * 100_000,
    "stage=text&level=NaN&llvm_pass=Infinity", "stage=asm&machine=..%2F..%2Fetc",
)  # fmt: skip


def address(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def state(page: Any, *names: str) -> list[Any]:
    found: list[Any] = page.evaluate(
        "(names) => names.map((name) => window.svodviz.model.get('state')[name])", list(names)
    )
    return found


def arrives(page: Any, expected: str) -> None:
    page.wait_for_function("(expected) => location.hash === expected", arg=expected)


def go(page: Any, expected: str) -> None:
    page.evaluate("(it) => { location.hash = it; }", expected)
    page.wait_for_timeout(30)


def test_the_address_follows_its_reader(page: Any, open_page: Open, sample_page: Path) -> None:
    assert address(page) == ""
    page.click(".stage[data-stage=loops]")
    arrives(page, "#stage=loops")
    page.click(".text-pane .line.linked >> nth=3")
    page.fill(".search", "load i0")
    page.wait_for_function("location.hash.includes('search=')")
    place = address(page)
    assert place.startswith("#stage=loops&unit=k0&selected=loops:k0:")
    assert place.endswith("&search=load+i0")
    wanted = state(page, "stage", "unit", "selected", "view")
    other = open_page(sample_page, is_kept=False)
    other.goto(f"{sample_page.as_uri()}{place}")
    other.reload()
    other.wait_for_selector(READY)
    assert state(other, "stage", "unit", "selected", "view") == wanted
    assert other.input_value(".search") == "load i0"
    assert other.inner_text(".hits").endswith("found")


def test_back_leads_to_the_stage_before(page: Any) -> None:
    page.click(".stage[data-stage=schedule]")
    arrives(page, "#stage=schedule")
    page.click(".stage[data-stage=loops]")
    arrives(page, "#stage=loops")
    page.click(".text-pane .line.linked >> nth=3")
    page.wait_for_function("location.hash.includes('selected=')")
    deepest = address(page)
    page.go_back()
    arrives(page, "#stage=schedule")
    assert state(page, "stage", "selected") == ["schedule", ""]
    page.go_back()
    arrives(page, "")
    assert state(page, "stage") == ["graph"]
    page.go_forward()
    page.go_forward()
    arrives(page, deepest)
    assert state(page, "stage", "selected") == ["loops", deepest.rpartition("=")[2]]


def test_hostile_addresses_do_no_harm(page: Any) -> None:
    for text in HOSTILE:
        go(page, text)
        stage, view, only, selected = state(page, "stage", "view", "only", "selected")
        assert stage in ("graph", "passes", "loops", "schedule", "asm"), text
        assert view in ("graph", "text", "timeline", "machine") and (only, selected) == ([], "")
        assert len(page.query_selector_all(".column")) <= 12
    assert page.evaluate("window.hacked") is None
    go(page, "")
    assert state(page, "stage", "view") == ["graph", "graph"]
    assert page.input_value(".search") == ""


@pytest.fixture(scope="module")
def notebook_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A notebook with two explorers as a page."""
    path = tmp_path_factory.mktemp("notebook") / "notebook.html"
    text, _ = OfflineExporter().from_notebook_node(
        notebook(Explorer(sample()), Explorer(sample(), stage="schedule"))
    )
    path.write_text(text, "utf-8")
    return path


def test_a_notebook_names_the_explorer_that_was_used_last(
    chromium: Any, notebook_page: Path
) -> None:
    page = chromium.new_page()
    page.set_default_timeout(8_000)

    def frame(number: int) -> Any:
        element = page.query_selector_all("iframe.svodviz-page")[number - 1]
        element.scroll_into_view_if_needed()  # elsewhere nothing is painted
        found = element.content_frame()
        found.wait_for_selector(READY)
        return found

    page.goto(notebook_page.as_uri())
    frame(1).click(".stage[data-stage=loops]")
    arrives(page, "#explorer=1&stage=loops")
    frame(2).click(".stage[data-stage=asm]")
    arrives(page, "#explorer=2&stage=asm")
    page.go_back()
    arrives(page, "#explorer=1&stage=loops")
    assert state(frame(2), "stage") == ["schedule"]
    page.evaluate("location.hash = '#Some-words'")  # a heading: no explorer moves
    page.wait_for_timeout(50)
    assert state(frame(1), "stage") == ["loops"]
    page.goto(f"{notebook_page.as_uri()}#explorer=2&stage=source&selected=graph:3")
    page.reload()
    frame(2).wait_for_selector(".svodviz[data-stage=source]")
    assert state(frame(2), "stage", "selected") == ["source", "graph:3"]
    assert state(frame(1), "stage") == ["graph"]
    for number in (1, 2):  # what is no address of ours is not written
        frame(number).evaluate("parent.postMessage({svodviz: {address: '\"><b>'}}, '*')")
    page.wait_for_timeout(50)
    assert "%22" not in address(page)
    page.close()
