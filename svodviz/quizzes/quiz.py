"""Predict, then reveal: questions about a compilation, in words and as a widget.

    test = svodviz.quiz(program)          a widget; its last line in a cell shows it
    test.ask()                            the next question, printed
    test.answer("b")                      the grade, with the reasons
    test.explore()                        the place of the answer, in an explorer
    test.results().to_csv("anna.csv")     what was answered

The questions come from what the compilation has recorded. So the page of a quiz needs no kernel:
it grades by itself.
"""

import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import traitlets

from compiler.core.text import counted
from svodviz.data.states import QuizState, names_of
from svodviz.exporting.export import export_html
from svodviz.exporting.page_widget import PageWidget
from svodviz.foundation.escape import markup, visible
from svodviz.foundation.subject import compilation_of, name_of
from svodviz.quizzes.pose import BY_KIND, KINDS, pose
from svodviz.quizzes.questions import Grade, Question
from svodviz.quizzes.results import Results

if TYPE_CHECKING:
    from traitlets.utils.bunch import Bunch

    from compiler.program.compilation import Compilation
    from svodviz.data import pages
    from svodviz.data.pages import ResultRow
    from svodviz.exporting.page_widget import MimeBundle
    from svodviz.widget.explorer import Shown

FORMAT: Final = "svodviz-quiz"
VERSION: Final = 2
STATE_NAMES = names_of(QuizState)
NOT_YET = GIVEN_UP = -1
LONGEST_NAME = 200


def quiz(subject: object, *kinds: str, seed: int = 0, most: int = 0) -> "Quiz":
    """A quiz about a tensor or compilation.

    `kinds` are some of `svodviz.quizzes.pose.KINDS`, such as "rule" (which rule fires), "memory"
    (how many bytes) or "tile" (what a loop becomes); all of them by default. Another `seed` asks
    something else, `most` limits how many questions there are. Raises ValueError where there is
    nothing to ask.
    """
    compilation = compilation_of(subject, by="quiz")
    questions = pose(compilation, kinds or KINDS, seed)
    if not questions:
        raise ValueError(
            f"quiz: {visible(name_of(compilation))} leaves nothing to ask about "
            f"{', '.join(kinds or KINDS)}: no step of that kind is recorded"
        )
    return Quiz(visible(name_of(compilation)), questions[: most or None], compilation)


class QuizWidget(PageWidget):
    """A quiz on screen."""


class Quiz(traitlets.HasTraits):
    """Questions with their answers so far.

    `state` is a dict as `QuizState` says; page and Python share it.
    """

    state = traitlets.Dict()

    def __init__(
        self, name: str, questions: list[Question], compilation: "Compilation | None" = None
    ) -> None:
        self.name = name
        self.questions = tuple(questions)
        self.compilation = compilation
        self.wire = quiz_wire(name, questions)
        self._since = time.monotonic()
        count = len(questions)
        empty: QuizState = {
            "at": 0, "answers": [[] for _ in range(count)], "seconds": [0.0] * count, "student": "",
        }  # fmt: skip
        super().__init__(state=empty)

    @cached_property
    def widget(self) -> QuizWidget:
        """The quiz on screen; made when it is first shown, so that words alone need none."""
        quiz_widget = QuizWidget(wire=self.wire, state=self.state)
        traitlets.link((self, "state"), (quiz_widget, "state"))
        return quiz_widget

    @traitlets.validate("state")
    def _sound_state(self, proposal: "Bunch") -> QuizState:
        """The state as it becomes; TraitError for what cannot be."""
        wanted = {**self.state, **proposal["value"]}
        if set(wanted) != set(STATE_NAMES):
            raise traitlets.TraitError(f"state: its names are {list(STATE_NAMES)}")
        if wanted["at"] not in range(len(self.questions)):
            raise traitlets.TraitError(f"state: at is {wanted['at']!r}: there is no such question")
        answers = [list(it) for it in wanted["answers"]]
        if len(answers) != len(self.questions) or not all(map(_is_sound, answers, self.questions)):
            raise traitlets.TraitError("state: answers has for each question positions of choices")
        seconds = [float(it) for it in wanted["seconds"]]
        if len(seconds) != len(answers) or not all(0 <= it < float("inf") for it in seconds):
            raise traitlets.TraitError("state: seconds has the time of each question")
        student = visible(str(wanted["student"]))[:LONGEST_NAME]
        return {"at": wanted["at"], "answers": answers, "seconds": seconds, "student": student}

    @property
    def answers(self) -> tuple[int, ...]:
        """For each question the position of the first choice, -1 for none yet."""
        return tuple(next(iter(it), NOT_YET) for it in self.state["answers"])

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The positions of questions without an answer."""
        return tuple(place for place, it in enumerate(self.state["answers"]) if not it)

    def ask(self) -> Question:
        """The first question without an answer; ValueError where there is none."""
        if not self.unanswered:
            raise ValueError(f"ask: every question has its answer: {self.score()}")
        self.state = {"at": self.unanswered[0]}
        self._since = time.monotonic()
        return self.questions[self.unanswered[0]]

    def answer(self, choice: str | int) -> Grade:
        """Answers the question that `ask` gave, by letter or text; the first answer counts."""
        place = self.state["at"]
        if self.state["answers"][place]:
            self.ask()
            place = self.state["at"]
        question = self.questions[place]
        grade = Grade(question, question.position(choice))
        answers, seconds = list(self.state["answers"]), list(self.state["seconds"])
        # The grade says the right answer: there is nothing left to try.
        answers[place] = [grade.chosen] if grade.is_right else [grade.chosen, GIVEN_UP]
        seconds[place] += round(time.monotonic() - self._since, 1)
        self._since = time.monotonic()
        self.state = {"answers": answers, "seconds": seconds}
        return grade

    def score(self) -> str:
        """The number of right first answers, in words."""
        answered = [(q, a) for q, a in zip(self.questions, self.state["answers"], strict=True) if a]
        right = sum(question.answer == tried[0] for question, tried in answered)
        return f"{right} of {len(answered)} right, {len(self.unanswered)} to go"

    def results(self) -> Results:
        """A row for each question: what was answered, whether right at once, attempts, seconds."""
        return Results(tuple(map(self._result, range(len(self.questions)))))

    def _result(self, place: int) -> "ResultRow":
        question, state = self.questions[place], self.state
        tried = [it for it in state["answers"][place] if it != GIVEN_UP]
        texts = [it.text for it in question.choices]
        return {
            "student": state["student"],
            "quiz": self.name,
            "id": question.id,
            "kind": question.kind,
            "level": question.level,
            "question": question.prompt,
            "given": texts[tried[0]] if tried else "",
            "answer": texts[question.answer],
            "right": tried[:1] == [question.answer],
            "attempts": len(tried),
            "seconds": state["seconds"][place],
        }

    def explore(self) -> "Shown":
        """An explorer at the place where the answer to the question on screen is to be seen."""
        from svodviz.widget.explorer import explore

        if self.compilation is None:
            raise ValueError("explore: these questions are of no compilation")
        entity = self.questions[self.state["at"]].entity
        state = {"stage": entity.partition(":")[0], "selected": entity} if entity else {}
        return explore(self.compilation, **state)

    def export_html(self, path: str | Path | None = None, *, explorer: str = "") -> str:
        """The quiz as one HTML page without requests, which grades by itself.

        `explorer` is the address of an exported page with an explorer of the same program: answers
        lead to their places there.
        """
        wire: pages.QuizWire = {**self.wire, "explorer": explorer}
        return export_html(wire, path, state=self.state, picture=f"<p>{markup(self)}</p>")

    def __repr__(self) -> str:
        count = counted(len(self.questions), "question")
        return f"Quiz of {self.name}: {count}, {self.score()}"

    def _repr_mimebundle_(self, **arguments: object) -> "MimeBundle":
        """The widget with its words, for where no widget can run."""
        data, metadata = self.widget._bundle(**arguments)
        data |= {"text/plain": repr(self), "text/html": f"<p>{markup(repr(self))}</p>"}
        return data, metadata


def _is_sound(tried: list[int], question: Question) -> bool:
    """True if a record of attempts is possible: each once, none after the right one or giving up.
    """
    allowed = [*range(len(question.choices)), GIVEN_UP]
    is_over = any(it in (question.answer, GIVEN_UP) for it in tried[:-1])
    return len(set(tried)) == len(tried) and set(tried) <= set(allowed) and not is_over


def quiz_wire(name: str, questions: list[Question]) -> "pages.QuizWire":
    """The quiz as JSON."""
    rows: list[pages.QuestionRow] = [
        {
            "id": it.id,
            "kind": it.kind,
            "title": BY_KIND[it.kind].title,
            "language": BY_KIND[it.kind].language,
            "level": it.level,
            "prompt": it.prompt,
            "lines": list(it.lines),
            "choices": [(choice.text, choice.reply) for choice in it.choices],
            "answer": it.answer,
            "why": list(it.why),
            "entity": visible(it.entity),
        }
        for it in questions
    ]
    return {"format": FORMAT, "version": VERSION, "name": name, "questions": rows, "explorer": ""}
