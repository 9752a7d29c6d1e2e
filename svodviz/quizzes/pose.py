"""Questions about a compilation, made from what it has recorded; nothing is compiled or run again.

A template is a row of `TEMPLATES`; what a compilation does not have it is not asked about.
The same seed gives the same questions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from svodviz.quizzes import graph_questions as graphs
from svodviz.quizzes import loop_questions as loops
from svodviz.quizzes import schedule_questions as schedules
from svodviz.quizzes.drafts import WRONG, Draft, question
from svodviz.quizzes.questions import Question

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

Drafts: TypeAlias = "Callable[[Compilation, Random], Iterator[Draft]]"
MOST_DRAFTS = 24  # of a template, until its questions are found


@dataclass(frozen=True)
class Template:
    """A kind of question: its heading, how its lines are printed, how hard it is (1 to 3).

    `is_number`: choices begin with numbers and stand in their order. `most` questions are asked.
    """

    kind: str
    title: str
    language: str
    level: int
    drafts: Drafts
    is_number: bool = False
    most: int = 2


TEMPLATES = (
    Template("shape", "Which shape?", "graph", 1, graphs.shapes),
    Template("rule", "Which rule fires?", "graph", 3, graphs.rules, most=1),
    Template("written", "What is written to memory?", "graph", 2, graphs.written),
    Template("kernels", "How many kernels?", "graph", 2, graphs.kernels, True),
    Template("kernel", "Which kernel computes it?", "graph", 2, graphs.computed),
    Template("together", "What may run at once?", "words", 1, schedules.together),
    Template("critical", "Which item is critical?", "words", 2, schedules.critical),
    Template("costly", "Which kernel takes longest?", "words", 3, schedules.costly),
    Template("memory", "How much memory?", "words", 3, schedules.memory, True),
    Template("shared", "Which buffers share memory?", "words", 2, schedules.shared),
    Template("count", "How often?", "loops", 1, loops.counts, True),
    Template("tile", "What does a tiled loop become?", "loops", 2, loops.tiles),
    Template("line", "Where does it come from?", "loops", 1, loops.sources),
    Template("instruction", "Which instruction?", "loops", 3, loops.instructions),
)
BY_KIND = {it.kind: it for it in TEMPLATES}
KINDS = tuple(BY_KIND)


def pose(
    compilation: "Compilation", kinds: tuple[str, ...] = KINDS, seed: int = 0
) -> list[Question]:
    """The questions of the given kinds; ValueError for a kind that does not exist."""
    unknown = [it for it in kinds if it not in BY_KIND]
    if unknown:
        raise ValueError(f"quiz: no question is about {unknown}; expected some of {list(KINDS)}")
    questions: list[Question] = []
    for kind in kinds:
        _pose(BY_KIND[kind], compilation, seed, questions)
    return questions


def _place(seed: int, number: int) -> int:
    """The position of the right choice: each position once in four questions, in random order."""
    block, within = divmod(number, WRONG + 1)
    return Random(f"{seed} {block}").sample(range(WRONG + 1), WRONG + 1)[within]


def _pose(
    template: Template, compilation: "Compilation", seed: int, questions: list[Question]
) -> None:
    """Adds questions of a template to those found, up to its share of them."""
    most = len(questions) + template.most
    drafts = template.drafts(compilation, Random(f"{seed} {template.kind}"))
    for draft in islice(drafts, MOST_DRAFTS):
        place = _place(seed, len(questions))
        posed = question(draft, template.kind, template.level, place, template.is_number)
        if posed is not None:
            questions.append(posed)
        if len(questions) == most:
            return
