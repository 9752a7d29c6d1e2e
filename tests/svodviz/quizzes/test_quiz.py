"""A quiz in words, as a widget, and as a page that grades by itself."""

from pathlib import Path
from typing import Any

import pytest
import traitlets

import svodviz
from compiler import Tensor, compile
from svodviz.offline import page_of
from svodviz.quizzes.pose import KINDS
from svodviz.quizzes.questions import Choice, Grade, Question
from svodviz.quizzes.quiz import Quiz
from svodviz.quizzes.results import Results
from tests.svodviz.conftest import Open
from tests.svodviz.quizzes.test_pose import compiled
from tests.svodviz.sample import HOSTILE, hostile

QUESTION = Question(
    "memory", "How many?", ("a line",),
    (Choice("1", "too few"), Choice("2", "k0, k1"), Choice("rule: x", "no")), 1, ("because",),
)  # fmt: skip


@pytest.fixture
def made() -> Quiz:
    return svodviz.quiz(compiled("branches"), most=4)


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
    assert repr(made) == f"Quiz of {made.name}: {count} questions, 0 of 0 right, {count} to go"
    assert made.ask() is made.questions[0]
    assert made.ask() is made.questions[0]
    assert made.answer(made.questions[0].choices[made.questions[0].answer].text).is_right
    assert made.ask() is made.questions[1]
    wrong = (made.questions[1].answer + 1) % len(made.questions[1].choices)
    assert not made.answer("abcd"[wrong]).is_right
    assert made.score() == f"1 of 2 right, {count - 2} to go"
    assert made.answers[1] == wrong and made.state["answers"][1] == [wrong, -1]
    # Without asking, the answer is one to the next open question.
    for question in made.questions[2:]:
        assert made.answer("abcd"[question.answer]).is_right
    with pytest.raises(ValueError, match="every question has its answer"):
        made.ask()
    with pytest.raises(ValueError, match="every question has its answer"):
        made.answer("a")


def test_page_and_python_share_the_answers(made: Quiz) -> None:
    answers: list[list[int]] = [[] for _ in made.questions]
    answers[1] = [made.questions[1].answer]
    made.state = {"at": 1, "answers": answers}
    assert made.score().startswith("1 of 1 right")
    assert made.ask() is made.questions[0]


def test_the_widget_is_the_same_quiz(made: Quiz) -> None:
    data, _ = made._repr_mimebundle_()
    assert data["text/plain"] == repr(made)
    assert made.widget.state == made.state
    made.answer("abcd"[made.questions[0].answer])
    assert made.widget.state["answers"][0] == [made.questions[0].answer]
    made.widget.state = {**made.state, "at": 2}
    assert made.state["at"] == 2


@pytest.mark.parametrize("state", [
    {"at": 99}, {"at": -1}, {"answers": []}, {"answers": [[7]] * 4}, {"more": 1},
    {"answers": [[0, 0]] * 4}, {"answers": [[-1, 0]] * 4}, {"seconds": [1.0]},
    {"seconds": [float("nan")] * 4}, {"seconds": [-1.0] * 4},
])  # fmt: skip
def test_impossible_states(made: Quiz, state: Any) -> None:
    with pytest.raises(traitlets.TraitError):
        made.state = state


def test_nothing_to_ask() -> None:
    with pytest.raises(ValueError, match="leaves nothing to ask about critical"):
        svodviz.quiz(compile(Tensor([1.0]) + 1.0), "critical")


def test_fewer_questions() -> None:
    assert len(svodviz.quiz(compiled("branches"), most=2).questions) == 2


def test_results_say_what_was_answered(made: Quiz) -> None:
    made.state = {"student": "Ben"}
    made.answer("abcd"[made.questions[0].answer])
    wrong = (made.questions[1].answer + 1) % 4
    made.answer("abcd"[wrong])
    first, second, *rest = made.results()
    assert first["right"] and first["given"] == first["answer"]
    assert not second["right"] and second["given"] == made.questions[1].choices[wrong].text
    assert [it["attempts"] for it in rest] == [0, 0] and rest[0]["given"] == ""
    assert {it["student"] for it in made.results()} == {"Ben"}
    assert [it["id"] for it in made.results()] == [it.id for it in made.questions]


def test_the_results_of_a_class_are_one_table(made: Quiz, tmp_path: Path) -> None:
    for name, tried in (("Anna", [made.questions[0].answer]), ("Ben", [-1])):
        made.state = {"student": name, "answers": [tried, [], [], []]}
        made.results().to_json(tmp_path / f"{name}.json")
    table = svodviz.quiz_results(*sorted(tmp_path.iterdir()))
    assert len(table) == 2 * len(made.questions)
    words = [it.split() for it in str(table).splitlines()]
    assert ["Anna", "1", "4", "1", "0.0"] in words and ["Ben", "0", "4", "0", "0.0"] in words
    assert words[-1][:3] == [made.questions[0].id, "1", "2"]  # the easiest comes last
    assert str(Results(())) == "no results"


@pytest.mark.parametrize("text", [
    "{", "[]", '{"format": "svodviz-quiz-results", "version": 2, "rows": []}',
    '{"format": "svodviz-quiz-results", "version": 1, "rows": [{"student": 1}]}',
])  # fmt: skip
def test_files_without_results_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "anna.json").write_text(text)
    with pytest.raises(ValueError, match=r"quiz_results: anna\.json "):
        svodviz.quiz_results(tmp_path / "anna.json")


def test_the_explorer_opens_at_the_answer() -> None:
    made = svodviz.quiz(compiled("branches"), "together")
    shown = made.explore()
    assert isinstance(shown, svodviz.Explorer)
    assert shown.state["stage"] == "schedule"
    assert shown.state["selected"] == made.questions[0].entity


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
    first, second = (it for it in range(4) if it != question.answer and it != 3)
    page.get_by_role("radio").nth(first).check()
    check.click()
    reply = page.locator(".quiz-reply").inner_text()
    assert reply.startswith(f"✗ {question.choices[first].text}: ")
    assert question.choices[question.answer].reply not in reply  # there is more to try
    assert page.get_by_role("radio").nth(first).is_disabled()
    assert page.locator(".quiz-choice").nth(first).inner_text().endswith("✗ not this")
    page.get_by_role("radio").nth(second).check()
    page.get_by_role("button", name="Check").click()
    page.get_by_role("button", name="Show the answer").click()
    reply = page.locator(".quiz-reply").inner_text()
    assert question.choices[question.answer].reply in reply
    assert all(it in reply for it in question.why)
    assert page.get_by_role("radio", disabled=True).count() == 4
    assert state(page)["answers"][0] == [first, second, -1]
    assert page.locator(".quiz-progress").inner_text().startswith("0 of 1 right")


@pytest.mark.browser
def test_by_keyboard_alone(open_page: Open, path: Path, made: Quiz) -> None:
    page = open_page(path)
    page.keyboard.press("Tab")
    page.keyboard.press(str(made.questions[0].answer + 1))
    assert page.get_by_role("radio").nth(made.questions[0].answer).is_checked()
    page.keyboard.press("Enter")
    assert page.locator(".quiz-reply").inner_text().startswith("✓ Right: ")
    assert page.evaluate("document.activeElement.className") == "quiz-reply"
    page.get_by_role("button", name="Next question").focus()
    page.keyboard.press("Enter")
    assert state(page)["at"] == 1
    assert page.get_by_role("button", name="Question 1, right").count() == 1
    page.get_by_role("radio").first.focus()
    page.keyboard.press("Space")
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("radio").nth(1).is_checked()


@pytest.mark.browser
def test_every_kind_of_question_is_asked_with_four_choices(
    open_page: Open, tmp_path: Path
) -> None:
    asked = [svodviz.quiz(compiled(it)) for it in ("training", "mlp", "statistics", "integers")]
    assert {each.kind for quiz in asked for each in quiz.questions} == set(KINDS)
    for quiz in asked:
        quiz.export_html(tmp_path / "quiz.html")
        page = open_page(tmp_path / "quiz.html")
        for at, question in enumerate(quiz.questions):
            page.evaluate("(at) => window.svodviz.model.set('state', {at})", at)
            texts = page.locator(".quiz-choice > span:nth-child(3)").all_inner_texts()
            assert [" ".join(it.split()) for it in texts] == [
                " ".join(it.text.split()) for it in question.choices]  # fmt: skip
            assert page.get_by_role("radio").count() == 4


@pytest.mark.browser
def test_results_are_saved_as_python_says_them(
    open_page: Open, path: Path, made: Quiz, tmp_path: Path
) -> None:
    made.name = made.wire["name"] = "first.py"
    made.export_html(path)
    page = open_page(path)
    page.get_by_label("Name").fill("=Anna, \"A\"")
    page.get_by_role("radio").nth((made.questions[0].answer + 1) % 4).check()
    page.get_by_role("button", name="Check").click()
    page.get_by_role("radio").nth(made.questions[0].answer).check()
    page.get_by_role("button", name="Check").click()
    saved = {}
    for ending in ("csv", "json"):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save the results as {ending.upper()}").click()
        assert download.value.suggested_filename == f"quiz-first-py-Anna-A.{ending}"
        download.value.save_as(tmp_path / f"saved.{ending}")
        saved[ending] = (tmp_path / f"saved.{ending}").read_bytes().decode()
    made.state = state(page)
    again = svodviz.quiz_results(tmp_path / "saved.json")
    assert again.rows == made.results().rows
    assert saved["csv"] == made.results().to_csv()
    assert '"\'=Anna' in saved["csv"]
    assert again.rows[0]["attempts"] == 2 and not again.rows[0]["right"]
    assert again.rows[0]["seconds"] > 0 and again.rows[1]["given"] == ""


@pytest.mark.browser
def test_an_answer_leads_into_the_explorer(open_page: Open, tmp_path: Path) -> None:
    made = svodviz.quiz(compiled("branches"), "together")
    for address, found in (("graph.html", 1), ("javascript:alert(1)//", 0), ("", 0)):
        made.export_html(tmp_path / "quiz.html", explorer=address)
        page = open_page(tmp_path / "quiz.html")
        assert "schedule" not in page.locator(".quiz-reply").inner_text()
        page.evaluate("window.svodviz.model.set('state', {at: 0, answers: [[0, -1]]})")
        link = page.get_by_role("link", name="Show it in the explorer")
        assert link.count() == found
        if found:
            entity = made.questions[0].entity.replace(":", "%3A")
            wanted = f"/graph.html#stage=schedule&selected={entity}"
            assert link.get_attribute("href").endswith(wanted)
        else:
            words = page.locator(".quiz-place").inner_text()
            assert f'selected="{made.questions[0].entity}"' in words


@pytest.mark.browser
@pytest.mark.parametrize("width", [700, 1400])
def test_nothing_sticks_out(open_page: Open, tmp_path: Path, width: int) -> None:
    made = svodviz.quiz(hostile())
    assert made.questions
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
