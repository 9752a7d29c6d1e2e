"""The time of a program by line, in the inspector: what costs most, and why, without a click."""

from pathlib import Path
from typing import Any

import pytest

import compiler
from svodviz.widget.explorer import Explorer
from tests.findings.corpus import data
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import set_state, state

pytestmark = pytest.mark.browser
ROWS = ".line-times > li"


def scaled(x: Any) -> Any:
    return (x * 2.0).contiguous()


def two() -> Any:
    """A product of large matrices behind two calls of one function."""
    x = scaled(data("x", 256, 256))
    y = scaled(data("y", 256, 256))
    return compiler.compile((x @ y).contiguous().exp())


@pytest.fixture(scope="module")
def made() -> Any:
    return two()


@pytest.fixture(scope="module")
def path(exported: Exported, made: Any) -> Path:
    return exported(Explorer(made))


@pytest.fixture
def page(open_page: Open, path: Path) -> Any:
    return open_page(path)


def percent(row: Any) -> float:
    return float(row.locator(".time-share").inner_text().removesuffix("%"))


def test_the_most_costly_line_is_first_and_all_are_the_whole(page: Any, made: Any) -> None:
    rows = page.locator(ROWS).all()
    shares = [percent(it) for it in rows]
    assert shares == sorted(shares, reverse=True) and sum(shares) == pytest.approx(100, abs=1)
    assert "(x @ y)" in rows[0].locator(".time-line").inner_text() and shares[0] > 50
    assert "(x * 2.0)" in rows[1].locator(".time-line").inner_text()  # not the lines that call it
    words = page.locator(".time-section h4").inner_text()
    assert words.startswith("Estimated time by line: ")
    item = max(made.schedule.analysis, key=lambda it: it.cost)
    assert rows[0].locator(".time-why").inner_text().endswith(f"bound by {item.bound}")


def test_a_line_and_its_kernel_are_a_click_away(page: Any, made: Any) -> None:
    row = page.locator(ROWS).first
    number = row.locator(".time-line").inner_text().split()[0]
    row.locator(".time-line").click()
    assert (state(page)["stage"], state(page)["selected"]) == ("source", f"source:{number}")
    set_state(page, selected="")
    page.locator(ROWS).first.locator(".time-kernel").click()
    assert (state(page)["stage"], state(page)["view"]) == ("schedule", "timeline")
    costs = [it.cost for it in made.schedule.analysis]
    assert state(page)["selected"] == f"schedule:{costs.index(max(costs))}"
