"""Hostile text in every place that a program can put text: words everywhere, markup nowhere."""

import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from compiler import Tensor, compile
from svodviz.cli.main import main
from svodviz.exporting.export import FORMATS, export_html, export_stage
from svodviz.exporting.script import bundled
from svodviz.foundation.packing import packed
from svodviz.foundation.stages import BY_ID
from svodviz.quizzes.quiz import quiz
from svodviz.texts.summary import full_summary, text_of
from svodviz.widget.explorer import Explorer
from svodviz.widget.side_by_side import TABS, side_by_side
from svodviz.wire.grounds import recorded
from svodviz.wire.payload import wire
from tests.svodviz.conftest import IN_SAMPLE, Exported, Open, transformer_model
from tests.svodviz.poison import POISONS, poisoned, poisoned_wire, strings, unprintable
from tests.svodviz.sample import hostile
from tests.svodviz.walk import VIEW_IDS, select_something, settle, stages_of

STAGES = [it for it in BY_ID if it not in ("passes", "llvm_passes")]
WITHOUT_TEXT: frozenset[str] = frozenset()
"""Views that show no text of the program."""
# Some of what is in every hostile text, for labels show only the beginnings of long ones.
SHOWN = re.compile("<img|onerror|hacked|javascript:|WWWW|svg/onload|display: none|\\\\x1b")
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
def poisoned_page(exported: Exported) -> Path:
    explorer = Explorer(poisoned())
    explorer.record_run()
    return exported(explorer)


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


# -- on the page -------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def poisoned_compiled_page(complete: Explorer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled program with all that can be recorded, every text on the page hostile."""
    path = tmp_path_factory.mktemp("pages") / "poisoned.html"
    data = complete.wire | {"recorded": complete.recorded,
                            "playground": recorded(complete.compilation)}  # fmt: skip
    export_html(poisoned_wire(json.loads(json.dumps(data))), path)
    return path


@pytest.fixture(scope="session")
def poisoned_model_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with modules, every text on the page hostile."""
    path = tmp_path_factory.mktemp("pages") / "poisoned_model.html"
    export_html(poisoned_wire(json.loads(json.dumps(transformer_model().wire))), path)
    return path


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 700])
@pytest.mark.parametrize("view", VIEW_IDS)
def test_every_view_shows_hostile_text_as_words(
    open_page: Open, request: pytest.FixtureRequest, view: str, width: int
) -> None:
    others = {"modules": "poisoned_model_page"}
    wanted = "poisoned_page" if view in IN_SAMPLE else others.get(view, "poisoned_compiled_page")
    page = open_page(request.getfixturevalue(wanted), width=width)
    shown = ""
    for stage in stages_of(page, view, most=9 if view == "graph" else 2):
        select_something(page, stage)
        settle(page)
        shown += page.locator(".pane").text_content()
        assert_harmless(page, width, stage)
    assert view in WITHOUT_TEXT or SHOWN.search(shown), (
        f"the view {view!r} shows no text of the program: was it looked at? If so, WITHOUT_TEXT"
    )
    page.locator(".svodviz").focus()
    page.keyboard.press("/")
    page.keyboard.insert_text(POISONS[0])
    page.keyboard.press("Enter")
    assert_harmless(page, width, "search")


@pytest.mark.browser
@pytest.mark.parametrize("width", [1400, 700])
def test_the_inspector_shows_hostile_text_as_words(
    open_page: Open, poisoned_compiled_page: Path, width: int
) -> None:
    page = open_page(poisoned_compiled_page, width=width)
    for stage in page.evaluate("window.svodviz.model.get('wire').stages.map((it) => it.id)"):
        page.evaluate("(stage) => window.svodviz.model.set('state', { stage })", stage)
        select_something(page, stage)
        page.locator(".inspector summary").evaluate_all("(all) => all.forEach((it) => it.click())")
        assert_harmless(page, width, stage)


@pytest.mark.browser
@pytest.mark.parametrize("tab", TABS)
def test_comparisons_show_hostile_text_as_words(open_page: Open, tmp_path: Path, tab: str) -> None:
    made = side_by_side(poisoned(), hostile())
    export_html(made.wire, tmp_path / "both.html", state={"tab": tab})
    page = open_page(tmp_path / "both.html")
    shown = ""
    for stage in ("graph", "kernels", "schedule", "loops", "asm"):
        page.evaluate("(stage) => window.svodviz.model.set('state', { stage })", stage)
        settle(page)
        shown += page.locator(".compare-pane").text_content()
        assert_inert(page, 1400, stage)
    assert SHOWN.search(shown)


@pytest.mark.browser
def test_quizzes_show_hostile_text_as_words(open_page: Open, tmp_path: Path) -> None:
    made = quiz(poisoned())
    data = poisoned_wire(json.loads(json.dumps(made.wire)))
    export_html(data, tmp_path / "quiz.html")
    page = open_page(tmp_path / "quiz.html", width=700)
    for at in range(len(made.questions)):
        answers = [[0, -1]] * at + [[]] * (len(made.questions) - at)
        page.evaluate("(state) => window.svodviz.model.set('state', state)",
                      {"at": at, "answers": answers})  # fmt: skip
        assert_inert(page, 700, f"question {at}")
        page.get_by_role("radio").first.check()
        page.get_by_role("button", name="Check").click()
        assert_inert(page, 700, f"answer {at}")
        assert SHOWN.search(page.locator(".quiz-sheet").text_content())


def assert_harmless(page: Any, width: int, where: str) -> None:
    """Nothing of the text acts, and the explorer keeps its shape."""
    assert_inert(page, width, where)
    assert page.locator(".centre").bounding_box()["width"] >= 400, where
    assert page.locator(".pane").bounding_box()["height"] >= 100, where


def assert_inert(page: Any, width: int, where: str) -> None:
    """Nothing of the text acts, and the page is not wider or higher than what it is seen in."""
    assert page.evaluate("window.hacked") is None, f"{where}: a script ran"
    assert page.evaluate(ACTIVE) == [], where
    assert page.evaluate(RAW) == [], where
    assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{where}: too wide"
    assert page.evaluate("document.documentElement.scrollHeight") <= 800, f"{where}: too high"


# Attacks that must be caught: [what is wrong, JavaScript that does it, the words of the failure].
PLANTS = (
    ("a script", "window.hacked = 1", "a script ran"),
    ("an image", "document.querySelector('.pane').append(new Image())", "<img"),
    ("a listener", "document.querySelector('.pane').setAttribute('onclick', '')", "onclick"),
    ("a mark of direction", "document.querySelector('.status').append('\\u202e')", "202e"),
    ("an escape", "document.querySelector('.status').append('\\x1b')", "x1b"),
    ("a wide element", "document.body.append(Object.assign(document.createElement('div'),"
     " { style: 'width: 3000px; height: 1px' }))", "too wide"),
    ("a high element", "document.body.append(Object.assign(document.createElement('div'),"
     " { style: 'width: 1px; height: 3000px' }))", "too high"),
    ("no room", "document.querySelector('.pane').style.flex = '0 0 5px'", ">= 100"),
)  # fmt: skip


@pytest.mark.browser
@pytest.mark.parametrize(("what", "script", "words"), PLANTS, ids=[it[0] for it in PLANTS])
def test_what_is_planted_is_caught(
    open_page: Open, sample_page: Path, what: str, script: str, words: str
) -> None:
    page = open_page(sample_page, is_kept=False)
    assert_harmless(page, 1400, "before")
    page.evaluate(script)
    with pytest.raises(AssertionError) as caught:
        assert_harmless(page, 1400, what)
    assert words in str(caught.value)


# How every element gets its text, and a way that is wrong: text becomes markup.
SAFE = "node.append(/** @type {Node | string} */ (child));"
UNSAFE = ("typeof child === 'string' ? node.insertAdjacentHTML('beforeend', child)"
          " : node.append(child);")  # fmt: skip


@pytest.mark.browser
def test_a_renderer_that_writes_markup_is_caught(
    chromium: Any, poisoned_page: Path, tmp_path: Path
) -> None:
    text, script = poisoned_page.read_text("utf-8"), bundled()
    assert (script.count(SAFE), text.count(packed(script))) == (1, 1)
    unsafe = text.replace(packed(script), packed(script.replace(SAFE, UNSAFE)))
    (tmp_path / "unsafe.html").write_text(unsafe, "utf-8")
    page = chromium.new_page(viewport={"width": 1400, "height": 800})
    try:
        page.goto((tmp_path / "unsafe.html").as_uri())
        page.wait_for_function("window.hacked === 1")
        with pytest.raises(AssertionError, match="a script ran"):
            assert_harmless(page, 1400, "planted")
        page.evaluate("delete window.hacked")
        with pytest.raises(AssertionError, match=r"<img src=.*onerror"):
            assert_harmless(page, 1400, "planted")
    finally:
        page.close()


# -- on the command line -----------------------------------------------------------------------

FILES = (
    "<img src=x onerror=window.hacked=1>.py",
    "two\nlines\r.py",
    "\x1b]0;title\x07\x1b[31m red.py",
    "\u202eright to left\u2066.py",
    "half \udcff of it.py",
    "--stage=\x9b2J.py",
    "'; window.hacked=1; \"\".py",
)
TEXT = "from compiler import Tensor\ny = (Tensor([1.0, 2.0], name=__file__) * 2.0).exp()\n"


@pytest.fixture(params=FILES, ids=ascii)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / str(request.param)
    path.write_text(TEXT)
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    """The exit code of a command and all that it printed, which no terminal obeys."""
    code = main([str(it) for it in arguments])
    out, error = capsys.readouterr()
    assert unprintable(out + error, "\n\t") == "", arguments
    return code, out + error


def test_commands_print_what_a_terminal_only_shows(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for stage in (*BY_ID, "summary"):
        if not BY_ID.get(stage) or not BY_ID[stage].asked:
            assert told(capsys, "show", "--stage", stage, file)[0] == 0
    assert told(capsys, "show", "--check", file)[0] == 0
    for form in FORMATS:
        assert told(capsys, "export", "--format", form, file)[0] == 0
    other = tmp_path / "other.py"
    other.write_text(TEXT.replace("exp", "sin"))
    assert told(capsys, "diff", file, other)[0] == 1
    assert told(capsys, "diff", "--stage", "graph", file, other)[0] == 1
    code, words = told(capsys, "explore", "--check", "-o", file.with_suffix(".html"), file)
    assert code == 0 and "✓" in words
    page = file.with_suffix(".html").read_text("utf-8")
    assert len(re.findall("<script", page)) == 3 and "<img src=x" not in page


def test_commands_complain_without_harm(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, "show", "--", file.with_name(f"no {file.name}"))[0] == 1
    assert told(capsys, "export", file, "-o", file.with_suffix(".gif"))[0] == 1
    assert told(capsys, "show", "--stage", "loops", f"--kernel={file.name[:-3]}", file)[0] == 1
    file.write_text("raise ValueError(__file__)  # \x1b[31m\n")
    code, words = told(capsys, "show", file)
    assert code == 1 and words.startswith("Traceback")
    with pytest.raises(SystemExit):
        main(["show", "--stage", file.name, str(file)])
    with pytest.raises(SystemExit):
        main(["show", str(file), f"--no{file.name.replace(' ', '')}"])
    out, error = capsys.readouterr()
    assert unprintable(out + error, "\n\t") == ""


@pytest.mark.browser
def test_pages_of_hostile_files_are_harmless(open_page: Open, tmp_path: Path) -> None:
    for number, name in enumerate(FILES):
        (tmp_path / name).write_text(TEXT)
        path = tmp_path / f"{number}.html"
        assert main(["explore", "-o", str(path), "--", str(tmp_path / name)]) == 0
        page = open_page(path)
        assert_harmless(page, 1400, ascii(name))
