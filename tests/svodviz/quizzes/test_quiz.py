"""A quiz in words, as a widget, and as a page that grades by itself."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import traitlets

import svodviz
from compiler import Tensor, compile
from svodviz.offline import page_of
from svodviz.quizzes.pose import pose
from svodviz.quizzes.questions import Choice, Grade, Question
from svodviz.quizzes.quiz import Quiz
from tests.svodviz.conftest import Open
from tests.svodviz.sample import HOSTILE, hostile, sample

QUESTION = Question(
    "kernels", "How many?", ("a line",),
    (Choice("1", "too few"), Choice("2", "k0, k1"), Choice("rule: x", "no")), 1, ("because",),
)  # fmt: skip


@pytest.fixture
def made() -> Quiz:
    return svodviz.quiz(sample())


@pytest.mark.parametrize(("given", "place"), [
    ("a", 0), ("B", 1), ("2", 1), (2, 1), (" c ", 2), ("rule: x", 2), ("rule", 2),
])  # fmt: skip
def test_answers_are_letters_or_texts(given: Any, place: int) -> None:
    assert QUESTION.position(given) == place


@pytest.mark.parametrize("given", ["d", "", "3", "many"])
def test_what_is_no_answer(given: str) -> None:
    with pytest.raises(ValueError, match="is none of a, b, c, nor one of"):
        QUESTION.position(given)


def test_grades_in_words() -> None:
    assert str(Grade(QUESTION, 1)) == "✓ right: k0, k1\n    because"
    assert str(Grade(QUESTION, 0)) == "✗ 1: too few\n✓ 2: k0, k1\n    because"
    assert str(QUESTION) == "How many?\n    a line\n  a  1\n  b  2\n  c  rule: x"


def test_one_question_after_the_other(made: Quiz) -> None:
    count = len(made.questions)
    assert repr(made) == f"Quiz of network.py: {count} questions, 0 of 0 right, {count} to go"
    assert made.ask() is made.questions[0]
    assert made.ask() is made.questions[0]
    assert made.answer(made.questions[0].choices[made.questions[0].answer].text).is_right
    assert made.ask() is made.questions[1]
    wrong = (made.questions[1].answer + 1) % len(made.questions[1].choices)
    assert not made.answer("abcd"[wrong]).is_right
    assert made.score() == f"1 of 2 right, {count - 2} to go"
    # Without asking, the answer is one to the next open question.
    for question in made.questions[2:]:
        assert made.answer("abcd"[question.answer]).is_right
    with pytest.raises(ValueError, match="every question has its answer"):
        made.ask()
    with pytest.raises(ValueError, match="every question has its answer"):
        made.answer("a")


def test_page_and_python_share_the_answers(made: Quiz) -> None:
    answers = [-1] * len(made.questions)
    answers[1] = made.questions[1].answer
    made.state = {"at": 1, "answers": answers}
    assert made.score().startswith("1 of 1 right")
    assert made.ask() is made.questions[0]


def test_the_widget_is_the_same_quiz(made: Quiz) -> None:
    data, _ = made._repr_mimebundle_()
    assert data["text/plain"] == repr(made)
    assert made.widget.state == made.state
    made.answer("abcd"[made.questions[0].answer])
    assert made.widget.state["answers"][0] == made.questions[0].answer
    made.widget.state = {"at": 2, "answers": list(made.answers)}
    assert made.state["at"] == 2


@pytest.mark.parametrize("state", [
    {"at": 99}, {"at": -1}, {"answers": []}, {"answers": [7] * 4}, {"more": 1},
])  # fmt: skip
def test_impossible_states(made: Quiz, state: Any) -> None:
    with pytest.raises(traitlets.TraitError):
        made.state = state


def test_what_is_as_critical_is_no_wrong_answer() -> None:
    x = Tensor(np.ones((64, 512), np.float32))
    sides = [(x * n).sum(1).contiguous() for n in (2, 3)]
    program = compile(sides[0] + sides[1] * Tensor(np.ones(64, np.float32)).exp().contiguous())
    times = program.schedule.times
    tight = [it for it in times if it.slack == 0]
    assert len(tight) > len(program.schedule.critical_path)  # there are two paths of one length
    asked = [it for seed in range(5) for it in pose(program, ("critical",), seed)]
    assert len(asked) == 5
    for question in asked:
        slack = [times[int(it.text.split()[0])].slack for it in question.choices]
        assert [it == 0 for it in slack] == [n == question.answer for n in range(len(slack))]


def test_nothing_to_ask() -> None:
    with pytest.raises(ValueError, match="leaves nothing to ask about critical"):
        svodviz.quiz(compile(Tensor([1.0]) + 1.0), "critical")


def test_fewer_questions() -> None:
    assert len(svodviz.quiz(sample(), most=2).questions) == 2


def state(page: Any) -> Any:
    return page.evaluate("window.svodviz.model.get('state')")


@pytest.fixture
def path(made: Quiz, tmp_path: Path) -> Path:
    made.export_html(tmp_path / "quiz.html")
    return tmp_path / "quiz.html"


@pytest.mark.browser
def test_the_page_grades_by_itself(open_page: Open, path: Path, made: Quiz) -> None:
    page = open_page(path)
    check = page.get_by_role("button", name="Check")
    assert check.is_disabled()
    assert page.locator(".quiz-reply").inner_text() == ""
    question = made.questions[0]
    wrong = (question.answer + 1) % len(question.choices)
    page.get_by_role("radio").nth(wrong).check()
    check.click()
    reply = page.locator(".quiz-reply").inner_text()
    assert reply.startswith(f"✗ {question.choices[wrong].text}: ")
    assert question.choices[question.answer].reply in reply
    assert all(it in reply for it in question.why)
    assert page.get_by_role("radio").first.is_disabled()
    assert state(page)["answers"][0] == wrong
    assert page.locator(".quiz-progress").inner_text().startswith("0 of 1 right")


@pytest.mark.browser
def test_by_keyboard_alone(open_page: Open, path: Path, made: Quiz) -> None:
    page = open_page(path)
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    for _ in range(made.questions[0].answer):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.locator(".quiz-reply").inner_text().startswith("✓ Right: ")
    assert page.evaluate("document.activeElement.className") == "quiz-reply"
    page.get_by_role("button", name="Next question").focus()
    page.keyboard.press("Enter")
    assert state(page)["at"] == 1
    assert page.get_by_role("button", name="Question 1, right").count() == 1


@pytest.mark.browser
@pytest.mark.parametrize("width", [700, 1400])
def test_nothing_sticks_out(open_page: Open, tmp_path: Path, width: int) -> None:
    made = svodviz.quiz(hostile())
    made.export_html(tmp_path / "quiz.html")
    page = open_page(tmp_path / "quiz.html", width=width, scheme="dark")
    for at in range(len(made.questions)):
        page.evaluate("(at) => window.svodviz.model.set('state', {at, answers: []})", at)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None
        assert page.locator("img").count() == 0
    assert HOSTILE[0] in page.locator(".tools").inner_text()


def test_saved_notebooks_keep_it(made: Quiz) -> None:
    assert "quiz-sheet" in page_of({"wire": made.wire, "state": made.state})
