"""Drafts of questions, and the test of whether a draft is a fair question.

    Draft                     Question
    right  256                four choices, a b c d:
    wrong  64, 16, 4096, …      three of the wrong ones, in the order in which they tempt

A draft is dropped where it has fewer than three wrong choices, where its own words give the answer
away (of the words that only one choice has, more of the right one's stand in the question than of
any wrong one's), and where the length of the right choice gives it away.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from svodviz.foundation.escape import visible
from svodviz.quizzes.questions import Choice, Question

WRONG = 3  # wrong choices of a question
MOST_LINES = 56  # of what there is to look at
MOST_LONGER = 1.6  # how much longer or shorter the right choice may be than every wrong one
FEW = 6  # letters by which lengths may differ all the same
WORD = re.compile(r"[a-zA-Z]{2,}|\d[\d,]*(?:\.\d+)?")
SHORTEST = 3  # letters of a word that tells something inside another one: `max` in `maximum`


@dataclass(frozen=True)
class Draft:
    """A question before its choices are ordered; `wrong` begins with the most plausible one."""

    prompt: str
    lines: Sequence[str]
    right: Choice
    wrong: Sequence[Choice]
    why: Sequence[str]
    entity: str = ""


def question(draft: Draft, kind: str, level: int, place: int, is_number: bool) -> Question | None:
    """The question whose right choice is the one at `place`, or None where it would not be fair.

    Numbers stand in their order: of them those are taken with which the right one comes to `place`.
    """
    right = draft.right
    texts = dict.fromkeys([right.text])
    wrong = [it for it in draft.wrong if not (it.text in texts or texts.setdefault(it.text))]
    wrong = _around(right, wrong, place) if is_number else wrong[:WRONG]
    if len(wrong) < WRONG or is_given_away(draft, wrong) or is_given_away_by_length(right, wrong):
        return None
    choices = [*wrong[:place], right, *wrong[place:]]
    if is_number:
        choices.sort(key=amount)
    shown = [visible(it) for it in draft.lines[:MOST_LINES]]
    left = len(draft.lines) - len(shown)
    return Question(
        kind=kind,
        prompt=visible(draft.prompt),
        lines=(*shown, *([f"… {left} more lines"] if left else [])),
        choices=tuple(Choice(visible(it.text), visible(it.reply)) for it in choices),
        answer=choices.index(right),
        why=tuple(visible(it) for it in draft.why),
        entity=draft.entity,
        level=level,
    )


def amount(choice: Choice) -> float:
    """The number that a choice begins with: `65,536 bytes` is 65536."""
    return float(choice.text.split()[0].replace(",", ""))


def _around(right: Choice, wrong: list[Choice], place: int) -> list[Choice]:
    """As many smaller numbers as there are places before the right one, if there are that many."""
    below = [it for it in wrong if amount(it) < amount(right)]
    above = [it for it in wrong if amount(it) > amount(right)]
    smaller = min(len(below), max(place, WRONG - len(above)))
    return [*below[:smaller], *above[: WRONG - smaller]]


def words_in(text: str) -> set[str]:
    """The names and numbers of a text."""
    return {it.rstrip(",") for it in WORD.findall(text)}


def is_given_away(draft: Draft, wrong: Sequence[Choice]) -> bool:
    """True if the question has more of the right choice's distinctive words than of any other's."""
    shown = words_in("\n".join((draft.prompt, *draft.lines[:MOST_LINES])))
    inside = [it for it in shown if len(it) >= SHORTEST and it.isalpha()]
    choices = [words_in(it.text) for it in (draft.right, *wrong)]
    often = Counter(word for words in choices for word in words)

    def share(words: set[str]) -> float:
        telling = [it for it in words if often[it] == 1]
        shared = [it for it in telling if it in shown or any(part in it for part in inside)]
        return len(shared) / max(len(telling), 1)

    return share(choices[0]) > max(map(share, choices[1:]))


def is_given_away_by_length(right: Choice, wrong: Iterable[Choice]) -> bool:
    """True if the right choice is much longer, or much shorter, than every wrong one."""
    lengths = [len(it.text) for it in wrong]
    longer, shorter = max(lengths) * MOST_LONGER + FEW, min(lengths) / MOST_LONGER - FEW
    return not shorter <= len(right.text) <= longer
