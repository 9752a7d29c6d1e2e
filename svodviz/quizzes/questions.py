"""A question about a compilation, with its answer and its explanation."""

from dataclasses import dataclass
from functools import cached_property
from hashlib import sha1
from string import ascii_lowercase


@dataclass(frozen=True)
class Choice:
    """One possible answer, and the reply to a reader who chooses it."""

    text: str
    reply: str


@dataclass(frozen=True)
class Question:
    """A prompt, the lines to look at, the choices, and the reasons behind the answer.

    `kind` is its template, `level` how hard it is (1 to 3), `answer` the position of the right
    choice, `entity` the place in the explorer that shows the answer.
    """

    kind: str
    prompt: str
    lines: tuple[str, ...]
    choices: tuple[Choice, ...]
    answer: int
    why: tuple[str, ...]
    entity: str = ""
    level: int = 1

    @cached_property
    def id(self) -> str:
        """The same for the same question, whoever is asked: `tile-3f2a9c`."""
        words = "\n".join((self.prompt, *self.lines, *sorted(it.text for it in self.choices)))
        return f"{self.kind}-{sha1(words.encode()).hexdigest()[:6]}"

    def position(self, choice: str | int) -> int:
        """The position of a choice given as its letter, its text, or the number it says."""
        texts = [it.text for it in self.choices]
        letters = list(ascii_lowercase[: len(texts)])
        wanted = str(choice).strip()
        if wanted in texts:
            return texts.index(wanted)
        if wanted.lower() in letters:
            return letters.index(wanted.lower())
        names = [it.partition(":")[0] for it in texts]
        if names.count(wanted) == 1:
            return names.index(wanted)
        raise ValueError(f"answer: {wanted!r} is none of {', '.join(letters)}, nor one of {texts}")

    def __str__(self) -> str:
        letters = zip(ascii_lowercase, self.choices, strict=False)
        shown = [f"    {it}" for it in self.lines]
        return "\n".join([self.prompt, *shown, *(f"  {it}  {each.text}" for it, each in letters)])

    __repr__ = __str__


@dataclass(frozen=True)
class Grade:
    """The outcome of an answer."""

    question: Question
    chosen: int

    @property
    def is_right(self) -> bool:
        """True if it was the right one."""
        return self.chosen == self.question.answer

    def __str__(self) -> str:
        right = self.question.choices[self.question.answer]
        lines = [f"✓ right: {right.reply}"]
        if not self.is_right:
            chosen = self.question.choices[self.chosen]
            lines = [f"✗ {chosen.text}: {chosen.reply}", f"✓ {right.text}: {right.reply}"]
        return "\n".join([*lines, *(f"    {it}" for it in self.question.why)])

    __repr__ = __str__
