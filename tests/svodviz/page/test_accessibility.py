"""Every view by keyboard, with a name for every control, and past axe-core."""

from pathlib import Path
from typing import Any

import pytest

from svodviz.quizzes.quiz import quiz
from svodviz.widget.side_by_side import TABS, side_by_side
from tests.svodviz.axe import fetch, findings, serious
from tests.svodviz.comparing.test_compare import softmax
from tests.svodviz.conftest import Exported, Open
from tests.svodviz.page.test_page import state
from tests.svodviz.walk import VIEW_IDS, select_something, settle, stages_of

pytestmark = pytest.mark.browser

CONTROLS = {
    "button", "checkbox", "combobox", "slider", "spinbutton", "searchbox", "textbox", "radio",
    "switch", "tab", "link", "menuitem", "listbox", "DisclosureTriangle", "dialog",
}  # fmt: skip
# Elements that the keyboard should reach: whatever takes the focus, is enabled, and is seen.
REACHABLE = """() => {
    const wanted = "button, input, select, textarea, summary, a[href], [tabindex='0']";
    // Of several radio buttons Tab comes to one, arrows to the others.
    const first = (it) => document.querySelector(`input[name="${it.name}"]:checked`)
        || document.querySelector(`input[name="${it.name}"]`);
    const all = [...document.querySelectorAll(wanted)].filter((it) =>
        !it.matches(":disabled") && !it.closest("[inert], [hidden]") && it.checkVisibility()
        && it.tabIndex >= 0 && (it.type !== "radio" || it === first(it)));
    window.toReach = new Set(all);
    document.addEventListener("focusin", ({ target }) => window.toReach.delete(target));
    return all.length;
}"""
MISSED = """() => [...window.toReach].map((it) => it.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of axe-core."""
    return fetch(tmp_path_factory.mktemp("axe"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEW_IDS)
def test_axe_finds_nothing_serious(
    open_page: Open, page_of: Any, axe: str, view: str, scheme: str
) -> None:
    page = open_page(page_of(view), scheme=scheme)
    # In the dark another stage than in the light, where a view is offered in several.
    stage = list(stages_of(page, view))[0 if scheme == "light" else -1]
    select_something(page, stage)
    settle(page)
    assert serious(findings(page, axe)) == "", stage


@pytest.fixture(scope="module")
def both_page(exported: Exported) -> Path:
    """Two programs side by side, which differ in graph, kernels and texts."""
    return exported(side_by_side(softmax(), softmax(more=True)))


@pytest.fixture(scope="module")
def quiz_page(exported: Exported) -> Path:
    """A quiz with questions of every kind."""
    return exported(quiz(softmax()))


# Each page that is no explorer in each of its states: [fixture, state].
STATES = (
    *(("both_page", {"tab": tab, "stage": "loops" if tab == "texts" else "graph"})
      for tab in TABS),
    ("both_page", {"tab": "graphs", "stage": "schedule", "selected": "b schedule:0"}),
    ("quiz_page", {"at": 0, "answers": []}), ("quiz_page", {"at": 0, "answers": [[0]]}),
    ("quiz_page", {"at": 1, "answers": [[0, -1]]}),
    ("quiz_page", {"at": 1, "answers": [[1, -1], [1, 0, -1]]}),
)  # fmt: skip


def opened(request: Any, open_page: Open, name: str, state: Any, **look: Any) -> Any:
    page = open_page(request.getfixturevalue(name), **look)
    page.evaluate("(state) => window.svodviz.model.set('state', state)", state)
    settle(page)
    return page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "state"), STATES)
def test_axe_finds_nothing_serious_in_other_pages(
    request: Any, open_page: Open, axe: str, name: str, state: Any, scheme: str
) -> None:
    page = opened(request, open_page, name, state, scheme=scheme)
    assert serious(findings(page, axe)) == ""


@pytest.mark.parametrize("width", [1400, 700])
@pytest.mark.parametrize(("name", "state"), STATES)
def test_every_control_of_other_pages_has_a_name_and_is_reached(
    request: Any, open_page: Open, name: str, state: Any, width: int
) -> None:
    page = opened(request, open_page, name, state, width=width)
    assert nameless(page, least=4) == []
    assert missed(page, least=4) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_what_opens(
    open_page: Open, compiled_page: Path, axe: str, scheme: str
) -> None:
    """The inspector with all its parts unfolded, a pass with its rule, and search with hits."""
    page = open_page(compiled_page, scheme=scheme)
    for stage in ("graph", "passes", "kernels", "asm"):
        page.evaluate("(stage) => window.svodviz.model.set('state', { stage })", stage)
        select_something(page, stage)
        page.locator("summary").evaluate_all("(all) => all.forEach((it) => { it.click(); })")
        page.locator(".search").fill("e")
        settle(page)
        assert serious(findings(page, axe)) == "", stage


def test_axe_finds_what_is_planted(open_page: Open, sample_page: Path, axe: str) -> None:
    page = open_page(sample_page)
    page.evaluate("""() => {
        const bad = document.createElement("button");
        document.querySelector(".tools").append(bad);
        document.querySelector(".status").style.color = "#cccccc";
    }""")
    found = {it["id"] for it in findings(page, axe)}
    assert {"button-name", "color-contrast"} <= found


def test_axe_finds_nothing_serious_in_the_page_of_keys(page: Any, axe: str) -> None:
    page.locator(".svodviz").focus()
    page.keyboard.press("?")
    assert page.locator(".key-page").is_visible()
    assert serious(findings(page, axe)) == ""
    for _ in range(3):
        page.keyboard.press("Tab")
        assert page.evaluate("Boolean(document.activeElement.closest('.frame'))") is False
    page.keyboard.press("Escape")
    assert not page.locator(".key-page").is_visible()


@pytest.mark.parametrize("width", [1400, 700])
@pytest.mark.parametrize("view", VIEW_IDS)
def test_every_control_has_a_name_and_is_reached(
    open_page: Open, page_of: Any, view: str, width: int
) -> None:
    page = open_page(page_of(view), width=width)
    stage = next(stages_of(page, view))
    select_something(page, stage)
    settle(page)
    assert nameless(page) == []
    assert missed(page) == []


def missed(page: Any, least: int = 7) -> list[str]:
    """The stops that the Tab key does not come to; arrows lead on inside of each region."""
    number = page.evaluate(REACHABLE)
    assert number >= least
    page.evaluate("document.activeElement.blur()")
    for pressed in range(number + 20):
        page.keyboard.press("Tab")
        if pressed % 8 == 7 and not page.evaluate("window.toReach.size"):
            break
    return list(page.evaluate(MISSED))


def nameless(page: Any, least: int = 13) -> list[str]:
    """The controls that a screen reader could not name."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    shown = [it for it in nodes if not it.get("ignored") and it["role"]["value"] in CONTROLS]
    assert len(shown) >= least
    return [it["role"]["value"] for it in shown if not it.get("name", {}).get("value", "").strip()]


@pytest.mark.parametrize("view", VIEW_IDS)
def test_the_keyboard_selects_in_every_view(open_page: Open, page_of: Any, view: str) -> None:
    page = open_page(page_of(view))
    next(stages_of(page, view))
    page.locator(".svodviz").focus()
    page.keyboard.press("/")
    page.keyboard.type("e")
    if page.locator(".hits").inner_text() == "0 found":  # as of what only Python could tell
        assert page.locator(".search").input_value() == "e"
        return
    page.keyboard.press("Enter")
    assert page.locator(".hits").inner_text().startswith("1 of ")
    for _ in range(40):  # lines that nothing else descends from are found too, but not selected
        if state(page)["selected"]:
            break
        page.keyboard.press("Enter")
    # In the playground it is points that were tried that are found, and become the current one.
    is_current = page.locator('.play-history [aria-current="true"]').count() == 1
    assert state(page)["selected"] or (view == "playground" and is_current)
    page.keyboard.press("Escape")
    assert (state(page)["selected"], page.locator(".search").input_value()) == ("", "")
