"""Every view at every width that a notebook leaves it, by geometry in a real browser.

From 700 to 1,920 pixels in steps of 20, light and dark, searching and not: nothing is cut off,
nothing lies over something else, nothing scrolls inside of what scrolls the same way. One page is
made narrower and wider; what is wrong comes back as words.
"""

from pathlib import Path
from typing import Any

import pytest

from tests.svodviz.conftest import Open
from tests.svodviz.page.test_page import set_state
from tests.svodviz.walk import VIEW_IDS, select_something, settle, stages_of

pytestmark = pytest.mark.browser

WIDTHS = list(range(700, 1921, 20))
PHONE = [390]
HEIGHT = 680  # of an explorer in a notebook
MEASURE = r"""async ([widths, words]) => {
    const root = document.querySelector(".svodviz");
    const search = root.querySelector(".search");
    const frame = () => new Promise((it) => requestAnimationFrame(it));
    const CONTROLS = "button, select, input, .hits, .status-text, .legend-entry, h3, h4, label, "
        + "[role=separator], .position, summary";
    const visible = (it) => it.checkVisibility({ checkOpacity: true }) && it.getClientRects().length
        && getComputedStyle(it).clipPath === "none";
    const name = (it) => `${it.tagName.toLowerCase()}.${it.className.baseVal ?? it.className}`
        + ` “${(it.ariaLabel || it.textContent || it.value || "").trim().slice(0, 24)}”`;
    const clips = (it, axis) => {
        const style = getComputedStyle(it);
        return style[axis === "x" ? "overflowX" : "overflowY"];
    };
    // The part of an element that is seen, and whether more of it could be scrolled into view.
    const seen = (it) => {
        const box = it.getBoundingClientRect();
        const part = { left: box.left, top: box.top, right: box.right, bottom: box.bottom };
        let [mayX, mayY] = [false, false];
        for (let at = it.parentElement; at && at !== document.body; at = at.parentElement) {
            const [x, y] = [clips(at, "x"), clips(at, "y")];
            if (x === "visible" && y === "visible") continue;
            const edge = at.getBoundingClientRect();
            mayX ||= x === "auto" || x === "scroll";
            mayY ||= y === "auto" || y === "scroll";
            part.left = Math.max(part.left, edge.left);
            part.right = Math.min(part.right, edge.right);
            part.top = Math.max(part.top, edge.top);
            part.bottom = Math.min(part.bottom, edge.bottom);
        }
        return { box, part, mayX, mayY };
    };
    const look = (where) => {
        const found = [];
        const controls = [...root.querySelectorAll(CONTROLS)].filter(visible);
        const parts = controls.map((it) => [it, seen(it)]);
        for (const [it, { box, part, mayX, mayY }] of parts) {
            const isCutX = part.left > box.left + 1.5 || part.right < box.right - 1.5;
            const isCutY = part.top > box.top + 1.5 || part.bottom < box.bottom - 1.5;
            if ((isCutX && !mayX) || (isCutY && !mayY)) found.push(`cut off: ${name(it)}`);
            const isShort = it.matches(":not(input, select)") && !it.title
                && it.scrollWidth > it.clientWidth + 1.5 && clips(it, "x") === "hidden";
            if (isShort) found.push(`shortened without a title: ${name(it)}`);
        }
        for (const it of [...root.querySelectorAll("td, th")].filter(visible)) {
            const isCell = getComputedStyle(it).display === "table-cell";
            if (!isCell) found.push(`no cell of its table: ${name(it)}`);
        }
        const whole = parts.filter(([it, { part }]) =>
            part.right - part.left > 2 && part.bottom - part.top > 2);
        whole.forEach(([one, { part: a }], i) => {
            for (const [other, { part: b }] of whole.slice(i + 1)) {
                if (one.contains(other) || other.contains(one)) continue;
                const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
                const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
                if (wide > 1.5 && high > 1.5 && !one.closest(".more-menu, .column-edge")
                    && !other.closest(".more-menu, .column-edge")) {
                    found.push(`${name(one)} and ${name(other)} overlap`);
                }
            }
        });
        const scrolls = (it, axis) => ["auto", "scroll"].includes(clips(it, axis))
            && (axis === "x" ? it.scrollWidth > it.clientWidth + 1
                : it.scrollHeight > it.clientHeight + 1);
        const all = [...root.querySelectorAll("*")]
            .filter((it) => !it.closest("svg, pre, table, textarea"));
        for (const axis of ["x", "y"]) {
            const scrolling = all.filter((it) => scrolls(it, axis));
            for (const it of scrolling) {
                const outer = scrolling.find((at) => at !== it && at.contains(it));
                if (outer) found.push(`${name(it)} scrolls ${axis} inside of ${name(outer)}`);
            }
        }
        const page = document.documentElement;
        if (root.scrollWidth > root.clientWidth || root.scrollHeight > root.clientHeight
            || page.scrollHeight > page.clientHeight) found.push("the page scrolls");
        return found.map((it) => `${where}: ${it}`);
    };
    const wrong = [];
    for (const width of widths) {
        document.body.style.width = `${width}px`;
        await frame();
        await frame(); // the panels have taken their places, and views have drawn into theirs
        // Each theme with each of both, alternately from width to width.
        const isOdd = (width / 20) % 2;
        for (const [theme, text] of [["light", isOdd ? "" : words], ["dark", isOdd ? words : ""]]) {
            root.dataset.theme = theme;
            search.value = text;
            search.dispatchEvent(new Event("input"));
            wrong.push(...look(`${width} ${theme}${text && " searching"}`));
        }
    }
    document.body.style.width = "";
    return wrong;
}"""


# What is in panes of text scrolls there: its lines, hundreds of them, need no layout here.
NO_LINES = ".svodviz .line { display: none; }"


def found(page: Any, widths: list[int]) -> list[str]:
    """The problems at some of the widths."""
    style = page.add_style_tag(content=NO_LINES)
    wrong = list(page.evaluate(MEASURE, [widths, "e"]))
    style.evaluate("(it) => it.remove()")
    return wrong


def widths_of(view: str) -> list[int]:
    """The widths that a view is tried at: of the graph all, of the others every fourth and both
    ends, each view from another one on. What surrounds them, which is most, is tried at all."""
    if view == "graph":
        return WIDTHS
    first = VIEW_IDS.index(view) % 4
    return sorted({WIDTHS[0], *WIDTHS[first::4], WIDTHS[-1]})


@pytest.mark.parametrize("is_phone", [False, True], ids=["notebooks", "a phone"])
@pytest.mark.parametrize("view", VIEW_IDS)
def test_a_view_fits(
    open_page: Open, request: pytest.FixtureRequest, view: str, is_phone: bool
) -> None:
    widths = PHONE if is_phone else widths_of(view)
    wanted = "model_page" if view == "modules" else "compiled_page"
    page = open_page(request.getfixturevalue(wanted), width=1920)
    page.set_viewport_size({"width": 1920, "height": HEIGHT})
    select_something(page, next(stages_of(page, view)))
    settle(page)
    assert found(page, widths) == []


@pytest.mark.parametrize("widths", [WIDTHS, PHONE], ids=["notebooks", "a phone"])
def test_a_step_of_a_pass_fits(open_page: Open, compiled_page: Path, widths: list[int]) -> None:
    page = open_page(compiled_page, width=1920)
    page.set_viewport_size({"width": 1920, "height": HEIGHT})
    chosen = page.evaluate(
        "window.svodviz.model.get('wire').passes.findIndex((it) => it.rewrites.length)")
    set_state(page, stage="passes", step=1, **{"pass": chosen})
    assert found(page, widths[::2]) == []


def test_what_is_wrong_is_found(open_page: Open, sample_page: Path) -> None:
    page = open_page(sample_page, width=1920, is_kept=False)
    page.set_viewport_size({"width": 1920, "height": HEIGHT})
    page.add_style_tag(content="""
        .svodviz .inspector { overflow: hidden; } .svodviz .inspector h3 { margin-left: -50px; }
        .svodviz .zoom { position: absolute; margin: 0; left: 20px; }
        .svodviz .inspector-sheet { max-height: 90px; overflow: auto; }
        .svodviz .inspector-body::after { content: ""; display: block; height: 2000px; }
        .svodviz .frame { height: 120%; }""")
    words = "\n".join(found(page, [1000]))
    for wrong in ("cut off: h3", "overlap", "scrolls y inside of", "the page scrolls"):
        assert wrong in words
