"""Executed notebooks as pages without network and kernel."""
# ruff: noqa: E402 - what is imported last needs what may be missing

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from svodviz.quizzes.quiz import quiz
from svodviz.widget.explorer import Explorer
from svodviz.widget.side_by_side import side_by_side
from tests.svodviz.sample import HOSTILE, hostile, rich, sample

nbformat = pytest.importorskip("nbformat", reason="nbformat is not installed")
pytest.importorskip("nbconvert", reason="nbconvert is not installed")
from traitlets.config import Config

from svodviz.offline import SAVED, VIEW, LostExplorers, OfflineExplorers, OfflineExporter, page_of

PICTURES = Config({"OfflineExplorers": {"pictures": True}})


def notebook(*widgets: Any) -> Any:
    """An executed notebook that shows the given widgets, saved with their state."""
    made = nbformat.v4.new_notebook()
    states = {}
    for number, widget in enumerate(widgets):
        key = f"model{number}"
        state = widget if isinstance(widget, dict) else {
            "wire": widget.wire, "state": widget.state, "_esm": "throw new Error('saved script')"}
        states[key] = {"model_name": "AnyModel", "model_module": "anywidget", "state": state}
        data = {VIEW: {"model_id": key}, "text/plain": "widget", "image/svg+xml": "<svg/>"}
        output = nbformat.v4.new_output("display_data", data)
        made.cells.append(nbformat.v4.new_code_cell("show()", outputs=[output]))
    made.cells.append(nbformat.v4.new_markdown_cell("Some *words* and $x^2$."))
    made.metadata["widgets"] = {SAVED: {"version_major": 2, "state": states}}
    return made


def outputs(made: Any) -> list[Any]:
    return [it["data"] for cell in made.cells for it in cell.get("outputs", ())]


def test_explorers_become_pages() -> None:
    given = notebook(Explorer(sample()))
    before = json.dumps(given)
    made, _ = OfflineExplorers().preprocess(given, {})
    data = outputs(made)[0]
    assert data["text/html"].startswith('<iframe class="svodviz-page" title="svodviz explorer" ')
    assert VIEW not in data
    assert "image/svg+xml" not in data
    assert "widgets" not in made.metadata
    assert "saved script" not in data["text/html"]
    assert json.dumps(given) == before


def test_widgets_of_others_stay() -> None:
    made, _ = OfflineExplorers().preprocess(notebook(Explorer(sample()), {"value": 3}), {})
    assert VIEW not in outputs(made)[0]
    assert outputs(made)[1][VIEW] == {"model_id": "model1"}
    assert list(made.metadata["widgets"][SAVED]["state"]) == ["model1"]


@pytest.mark.parametrize("state", [
    {}, {"wire": 3}, {"wire": {"format": "svodviz", "version": 1}},
    {"wire": {"format": "another", "version": 4}},
])  # fmt: skip
def test_what_cannot_be_shown_keeps_its_picture(state: dict[str, Any]) -> None:
    assert page_of(state) == ""
    made, _ = OfflineExplorers(pictures=True).preprocess(notebook(state), {})
    assert outputs(made)[0]["image/svg+xml"] == "<svg/>"


def test_notebooks_without_widgets() -> None:
    plain = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("1 + 1")])
    made, _ = OfflineExplorers().preprocess(plain, {})
    assert made == plain


def unsaved(*widgets: Any) -> Any:
    """The same notebook as JupyterLab saves it by itself: no widget's state."""
    made = notebook(*widgets)
    del made.metadata["widgets"]
    for cell, widget in zip(made.cells, widgets, strict=False):
        if not isinstance(widget, dict):
            data, _ = widget._repr_mimebundle_()
            cell.outputs[0]["data"] = data
    return made


def test_nothing_is_written_where_explorers_were_not_saved() -> None:
    given = unsaved(Explorer(sample()), {}, side_by_side(sample(), rich()), quiz(sample()))
    with pytest.raises(LostExplorers) as caught:
        OfflineExporter().from_notebook_node(given)
    assert str(caught.value) == (
        "svodviz: 3 explorers, 0 interactive, 3 lost. cell 1: the notebook was saved without its "
        "data; cell 3: the notebook was saved without its data; cell 4: the notebook was saved "
        "without its data. Run its cell again and save the notebook, or run all of it: jupyter "
        "nbconvert --execute --to notebook --inplace notebook.ipynb. For a page with pictures in "
        "their place: --OfflineExplorers.pictures=True"
    )


def test_the_command_stops_and_says_why(tmp_path: Path) -> None:
    path = tmp_path / "lost.ipynb"
    nbformat.write(unsaved(Explorer(sample())), path)
    command = [sys.executable, "-m", "nbconvert", "--to", "svodviz.offline.OfflineExporter"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True)
    assert done.returncode != 0 and not path.with_suffix(".html").exists()
    last = done.stderr.strip().splitlines()[-1]
    assert "1 explorer, 0 interactive, 1 lost. cell 1: " in last and "Run its cell again" in last
    done = subprocess.run([*command, "--OfflineExplorers.pictures=True", str(path)],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0
    assert "This explorer is a picture only" in path.with_suffix(".html").read_text("utf-8")


def test_pictures_stand_in_where_they_are_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    given = unsaved(Explorer(sample()), side_by_side(sample(), rich()), quiz(sample()), {})
    exporter = OfflineExporter(config=PICTURES)
    text, _ = exporter.from_notebook_node(given)
    assert text.count('class="svodviz-lost"') == 3
    assert text.count("This explorer is a picture only: the notebook was saved without its") == 3
    assert '<img alt="graph of ' in text and " side by side: " in text and "Quiz of" in text
    (words,) = (it.getMessage() for it in caplog.records if "svodviz" in it.getMessage())
    assert words.startswith("svodviz: 3 explorers, 0 interactive, 3 only a picture. cell 1: ")
    assert words.endswith("jupyter nbconvert --execute --to notebook --inplace notebook.ipynb")


def test_explorers_of_another_version_are_said_to_be_lost(caplog: pytest.LogCaptureFixture) -> None:
    given = notebook({"wire": {"format": "svodviz", "version": 1}}, Explorer(sample()))
    with pytest.raises(LostExplorers, match="cell 1: its data was saved by another version"):
        OfflineExplorers().preprocess(given, {})
    made, _ = OfflineExplorers(pictures=True).preprocess(given, {})
    assert "another version" in outputs(made)[0]["text/html"]
    assert VIEW not in outputs(made)[0] and "svodviz-lost" not in outputs(made)[1]["text/html"]
    assert "2 explorers, 1 interactive, 1 only a picture" in caplog.text


def test_what_became_pages_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    OfflineExplorers().preprocess(notebook(Explorer(sample())), {})
    assert "svodviz: 1 explorer, 1 interactive" in caplog.text
    caplog.clear()
    OfflineExplorers().preprocess(notebook({"value": 3}), {})
    assert "svodviz: 0 explorers" in caplog.text


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    shown = notebook(Explorer(sample(), stage="schedule"), side_by_side(sample(), rich()),
                     Explorer(hostile()))  # fmt: skip
    text, _ = OfflineExporter().from_notebook_node(shown)
    path = tmp_path_factory.mktemp("pages") / "notebook.html"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.browser
def test_the_page_is_interactive_and_asks_for_nothing(chromium: Any, page_path: Path) -> None:
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    requests: list[str] = []
    troubles: list[str] = []
    page.on("request", lambda it: requests.append(it.url))
    page.on("pageerror", lambda it: troubles.append(str(it)))
    page.goto(page_path.as_uri())
    frames = [page.frame_locator(".svodviz-page").nth(it) for it in range(3)]
    for position, frame in enumerate(frames):
        # Only what is in view is painted.
        page.locator(".svodviz-page").nth(position).scroll_into_view_if_needed()
        frame.locator(".svodviz[data-ready=true]").wait_for(timeout=15_000)
    frames[0].locator(".stage", has_text="Kernels").click()
    assert frames[0].locator('.stage[aria-current="page"] .stage-label').inner_text() == "Kernels"
    frames[1].get_by_role("button", name="Graphs").click()
    assert frames[1].locator(".compare-side").count() == 2
    assert HOSTILE[0] in frames[2].locator("body").inner_text()
    assert page.evaluate("window.hacked") is None
    outside = [it for it in requests if it.startswith(("http:", "https:"))]
    page.close()
    assert outside == []
    assert troubles == []
