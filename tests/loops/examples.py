"""The example in each pass's docstring: what it says becomes of a body is what becomes of it."""

import re
from dataclasses import dataclass

from compiler.loops.choices import Choices, parse
from compiler.loops.nodes import Body
from tests.loops.transformed import body_of, printed, transform


@dataclass(frozen=True)
class Example:
    """A program at some size, and choices, the last of which is the one shown."""

    program: str
    sizes: tuple[int, int, int]
    choices: str

    @property
    def before(self) -> Body:
        """The loops before the last choice."""
        rows = parse(self.choices).rows
        return transform(body_of(self.program, *self.sizes), Choices(rows[:-1]))

    @property
    def after(self) -> Body:
        """The loops after it."""
        return transform(body_of(self.program, *self.sizes), self.choices)

    @property
    def text(self) -> str:
        """The example as docstrings have it."""
        last = self.choices.split(";")[-1].strip()
        rows = [f"    Choice:  {last}"]
        for word, body in (("Before:", self.before), ("After:", self.after)):
            first, *rest = shown(body)
            rows += [f"    {word:<9}{first}", *(f"{'':13}{line}" for line in rest)]
        return "\n".join(rows)


def shown(body: Body) -> list[str]:
    """The lines of a body without its header and types, its values numbered from 0."""
    lines = printed(body).splitlines()[1:]
    numbers: dict[str, str] = {}

    def renumbered(found: re.Match[str]) -> str:
        return numbers.setdefault(found.group(), f"%{len(numbers)}")

    bare = (re.sub(r"\s+(f32|i32|i8|bool|i64)$", "", line) for line in lines)
    return [re.sub(r"%\d+", renumbered, line).rstrip() for line in bare]


EXAMPLES = {
    "tile": Example("vector", (1, 50, 1), "tile i0 16 peel"),
    "reorder": Example("transpose", (8, 4, 1), "reorder i1 i0"),
    "pack": Example("matmul", (64, 32, 100), "tile i1 16; reorder i1.0 i0 i1.1; pack 2 i1.0"),
    "cache_row": Example("softmax", (4, 64, 1), "cache_row r3 i1"),
    "accumulate": Example("column sums", (99, 64, 1), "accumulate r1 4"),
    "dot": Example("matmul of bytes", (8, 16, 32), "tile r2 4; pack 2; dot r2.1"),
    "unroll": Example("vector", (1, 64, 1), "tile i0 4; unroll i0.1"),
    "vectorize": Example("vector", (1, 64, 1), "tile i0 16; vectorize i0.1"),
    "parallelize": Example("vector", (1, 512, 1), "parallelize i0 2"),
    "stream": Example("vector", (1, 64, 1), "tile i0 16; vectorize i0.1; stream 0"),
    "prefetch": Example(
        "row sums", (3, 63, 1), "tile r1 16; vectorize r1.1; prefetch 1 r1 i0"
    ),
}
