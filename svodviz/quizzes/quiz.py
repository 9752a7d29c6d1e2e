"""Predict, then reveal: questions about a compilation, in words and as a widget.

    test = svodviz.quiz(program)          a widget; its last line in a cell shows it
    test.ask()                            the next question, printed
    test.answer("b")                      the grade, with the reasons

The questions come from what the compilation has recorded. So the page of a quiz needs no kernel:
it grades by itself.
"""

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
from svodviz.quizzes.pose import pose
from svodviz.quizzes.questions import KINDS, Grade, Question

if TYPE_CHECKING:
    from traitlets.utils.bunch import Bunch

    from svodviz.data import pages
    from svodviz.exporting.page_widget import MimeBundle

FORMAT: Final = "svodviz-quiz"
VERSION: Final = 1
STATE_NAMES = names_of(QuizState)
NOT_YET = -1


def quiz(subject: object, *kinds: str, seed: int = 0, most: int = 0) -> "Quiz":
    """A quiz about a tensor or compilation.

    `kinds` are some of "rule" (which rule fires), "kernels" (how many there are), "critical" (which
    item cannot be late) and "vectorizes" (which loop becomes lanes); all of them by default.
    Another `seed` gives other choices, `most` limits how many questions there are. Raises
    ValueError where there is nothing to ask.
    """
    compilation = compilation_of(subject, by="quiz")
    found = pose(compilation, kinds or KINDS, seed)
    if not found:
        raise ValueError(
            f"quiz: {visible(name_of(compilation))} leaves nothing to ask about "
            f"{', '.join(kinds or KINDS)}: no step of that kind is recorded"
        )
    return Quiz(visible(name_of(compilation)), found[: most or None])


class QuizWidget(PageWidget):
    """A quiz on screen."""


class Quiz(traitlets.HasTraits):
    """Questions with their answers so far.

    `state` is a dict of at (position of the question on screen) and answers (for each question the
    position of the choice, -1 for none yet); page and Python share it.
    """

    state = traitlets.Dict()

    def __init__(self, name: str, questions: list[Question]) -> None:
        self.name = name
        self.questions = tuple(questions)
        self.wire = quiz_wire(name, questions)
        super().__init__(state={"at": 0, "answers": [NOT_YET] * len(questions)})

    @cached_property
    def widget(self) -> QuizWidget:
        """The quiz on screen; made when it is first shown, so that words alone need none."""
        made = QuizWidget(wire=self.wire, state=self.state)
        traitlets.link((self, "state"), (made, "state"))
        return made

    @traitlets.validate("state")
    def _sound_state(self, proposal: "Bunch") -> QuizState:
        """The state as it becomes; TraitError for what cannot be."""
        wanted = {**self.state, **proposal["value"]}
        if set(wanted) != set(STATE_NAMES):
            raise traitlets.TraitError(f"state: its names are {list(STATE_NAMES)}")
        if wanted["at"] not in range(len(self.questions)):
            raise traitlets.TraitError(f"state: at is {wanted['at']!r}: there is no such question")
        limits = [len(it.choices) for it in self.questions]
        answers = list(wanted["answers"])
        if len(answers) != len(limits) or not all(
            it in range(NOT_YET, limit) for it, limit in zip(answers, limits, strict=True)
        ):
            raise traitlets.TraitError("state: answers has a position of a choice per question")
        return {"at": wanted["at"], "answers": answers}

    @property
    def answers(self) -> tuple[int, ...]:
        """For each question the position of the choice, -1 for none yet."""
        return tuple(self.state["answers"])

    @property
    def unanswered(self) -> tuple[int, ...]:
        """The positions of questions without an answer."""
        return tuple(place for place, it in enumerate(self.answers) if it == NOT_YET)

    def ask(self) -> Question:
        """The first question without an answer; ValueError where there is none."""
        if not self.unanswered:
            raise ValueError(f"ask: every question has its answer: {self.score()}")
        self.state = {"at": self.unanswered[0]}
        return self.questions[self.unanswered[0]]

    def answer(self, choice: str | int) -> Grade:
        """Answers the question that `ask` gave, by letter or text; the first answer counts."""
        place = self.state["at"]
        if self.answers[place] != NOT_YET:
            self.ask()
            place = self.state["at"]
        question = self.questions[place]
        chosen = question.position(choice)
        answers = list(self.answers)
        answers[place] = chosen
        self.state = {"answers": answers}
        return Grade(question, chosen)

    def score(self) -> str:
        """How many answers are right, in words."""
        given = [(q, a) for q, a in zip(self.questions, self.answers, strict=True) if a != NOT_YET]
        right = sum(question.answer == chosen for question, chosen in given)
        return f"{right} of {len(given)} right, {len(self.unanswered)} to go"

    def export_html(self, path: str | Path | None = None) -> str:
        """The quiz as one HTML page without requests, which grades by itself."""
        return export_html(self.wire, path, state=self.state, picture=f"<p>{markup(self)}</p>")

    def __repr__(self) -> str:
        count = counted(len(self.questions), "question")
        return f"Quiz of {self.name}: {count}, {self.score()}"

    def _repr_mimebundle_(self, **arguments: object) -> "MimeBundle":
        """The widget with its words, for where no widget can run."""
        data, metadata = self.widget._bundle(**arguments)
        data |= {"text/plain": repr(self), "text/html": f"<p>{markup(repr(self))}</p>"}
        return data, metadata


def quiz_wire(name: str, questions: list[Question]) -> "pages.QuizWire":
    """The quiz as JSON."""
    rows: list[pages.QuestionRow] = [
        {
            "kind": it.kind,
            "prompt": it.prompt,
            "lines": list(it.lines),
            "choices": [(choice.text, choice.reply) for choice in it.choices],
            "answer": it.answer,
            "why": list(it.why),
        }
        for it in questions
    ]
    return {"format": FORMAT, "version": VERSION, "name": name, "questions": rows}
