"""Leads a page through every view that `views.py` lists, whoever added it."""

from collections.abc import Iterator
from typing import Any

from svodviz.foundation.views import VIEWS

VIEW_IDS = [row.id for row in VIEWS]
_SHOW = """([stage, view]) => {
    const { model } = window.svodviz;
    model.set("state", { stage, view });
    const state = model.get("state");
    return state.stage === stage && state.view === view;
}"""


def stages_of(page: Any, view: str, most: int = 2) -> Iterator[str]:
    """Shows the view in the first stages that offer it, and gives each stage once it is shown."""
    found = 0
    for stage in page.evaluate("window.svodviz.model.get('wire').stages.map((it) => it.id)"):
        if found < most and page.evaluate(_SHOW, [stage, view]):
            found += 1
            yield stage
    assert found, f"no stage of this page offers the view {view!r}"


def select_something(page: Any, stage: str) -> str:
    """Selects an entity that the stage shows: the one in the middle; "" where it shows none."""
    return str(
        page.evaluate(
            """(stage) => {
                const { model } = window.svodviz;
                const ours = model.get("wire").entities.filter((it) => it.startsWith(`${stage}:`));
                const all = ours.length ? ours : model.get("wire").entities;
                model.set("state", { selected: all[all.length >> 1] ?? "" });
                return model.get("state").selected;
            }""",
            stage,
        )
    )


def settle(page: Any) -> None:
    """Waits until what was shown last is painted: a view may draw again once it has its size."""
    page.wait_for_timeout(50)
    page.evaluate("new Promise((it) => requestAnimationFrame(() => requestAnimationFrame(it)))")
