"""Python's answers to pages in a real JupyterLab: LLVM's passes, other loops, comparisons."""

from collections.abc import Iterator

import pytest

from tests.svodviz.jupyter.conftest import Open
from tests.svodviz.lab import Shown

pytestmark = pytest.mark.browser

CELLS = (
    "import svodviz\nfrom compiler import Options, Tensor, compile\n"
    "from svodviz.wire.grounds import grounds_of\nfrom tests.playground.programs import product\n"
    "%load_ext svodviz\n"
    "def chain(name):\n    x = Tensor.arange(512).cast('float32')\n"
    "    y = x * x + 1.0 if name == 'first' else x * x\n"
    "    return compile(y.relu(), Options(loops='plain'), name=name)",
    "explorer = svodviz.explore(chain('first'), stage='llvm_passes')\nexplorer",
    "print(list(explorer.recorded))",
    "tiles = svodviz.playground(product(32, 'auto', 32, 32),\n"
    "    choices=['tile i0 4; tile i1 16; reorder i0.0 i1.0 i0.1 i1.1; vectorize i1.1'])\ntiles",
    "print([it.text for it in grounds_of(tiles.compilation).of('k0').points][-1])",
    "svodviz.explore(chain('first'), chain('second'))",
    "quiz = svodviz.quiz(chain('first'))\nquiz",
    "print([it >= 0 for it in quiz.answers].count(True), quiz.score().split(',')[0])",
    "%%explore --diff\nchain(name)",
    "name = 'first'",
    "name = 'second'",
    "print(explorer.selected and len(explorer.selected.sources))",
    "explorer.selected = explorer.selected.sources[0]",
)
(PREPARE, LLVM, RECORDED, TILES, TRIED, COMPARE, QUIZ, SCORE, DIFF, NAME_FIRST,
 NAME_SECOND, OBJECT, SOURCE) = range(len(CELLS))  # fmt: skip


@pytest.fixture(scope="module")
def lab(notebook: Open) -> Iterator[Shown]:
    """A notebook of which the first cell was run."""
    with notebook("answers.ipynb", CELLS) as shown:
        shown.run(PREPARE)
        yield shown


def test_llvms_passes_are_asked_for(lab: Shown) -> None:
    root = lab.show(LLVM)
    root.locator(".llvm-pass").first.wait_for()
    assert "changed LLVM IR" in root.locator(".llvm-words").inner_text()
    assert root.locator(".llvm-change .line").count() > 3
    assert root.locator(".obstacle").is_hidden()
    lab.run_until(RECORDED, """['llvm_passes {"kernel":"k0","level":-1}']""")


def test_a_selection_is_the_compilers_own_object(lab: Shown) -> None:
    root = lab.show(LLVM)
    root.locator('.stage[data-stage="graph"]').click()
    root.locator(".node", has_text="mul").click()
    lab.run_until(OBJECT, "2")
    lab.run(SOURCE)
    root.locator(".node.selected", has_text="cast").wait_for()
    lab.run_until(OBJECT, "1")


def test_a_run_is_measured(lab: Shown) -> None:
    root = lab.show(LLVM)
    root.locator('.stage[data-stage="run"]').click()
    root.locator(".run-row").first.wait_for()
    assert "k0" in root.locator(".run-row").first.inner_text()
    root.get_by_role("button", name="Measure again").wait_for()


def test_a_slider_leads_to_other_assembly(lab: Shown) -> None:
    root = lab.show(TILES)
    root.locator(".play-controls button:enabled").first.wait_for()
    root.locator(".play-section button", has_text="Assembly").click()
    before = root.locator(".play-code").inner_text()
    root.get_by_label("size of tile i0, slider").focus()
    lab.page.keyboard.press("ArrowRight")
    root.locator('.play-history [data-point="3"]').wait_for()
    after = root.locator(".play-code").inner_text()
    assert after != before and len(after.splitlines()) > 5
    assert lab.run(TRIED).startswith("tile i0 6 peel; tile i1 16 peel")


def test_two_programs_side_by_side(lab: Shown) -> None:
    root = lab.show(COMPARE)
    assert root.locator(".side-name").all_inner_texts() == ["a", "b"]
    root.get_by_role("button", name="Measure both").click()
    root.locator("tr", has_text="measured").wait_for()
    root.get_by_role("button", name="Texts").click()
    root.focus()
    lab.page.keyboard.press("n")
    assert root.get_attribute("data-tab") == "texts"
    root.get_by_role("button", name="Graphs").click()
    assert root.locator(".node").count() > 4
    assert root.locator(".compare-frame").evaluate("(it) => it.scrollWidth - it.clientWidth") == 0


def test_a_quiz_is_graded_and_python_knows(lab: Shown) -> None:
    root = lab.show(QUIZ)
    assert lab.run(SCORE) == "0 0 of 0 right"
    root.locator(".quiz-choice input").first.check()
    root.get_by_role("button", name="Check").click()
    right = root.locator(".quiz-verdict").first.inner_text().startswith("✓")
    lab.run_until(SCORE, f"1 {int(right)} of 1 right")


def test_a_cell_is_shown_beside_its_run_before(lab: Shown) -> None:
    lab.run(NAME_FIRST)
    assert "the first run of this cell" in lab.run(DIFF)
    lab.run(NAME_SECOND)
    root = lab.show(DIFF)
    assert "the run before" in root.locator(".compare-head .side-a").inner_text()
    assert "this run" in root.locator(".compare-head .side-b").inner_text()
    assert root.locator('tr[data-mark="~"]').count() > 1
