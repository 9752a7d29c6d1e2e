"""Which axes of the inputs of a program are one, and which have to be whole."""

from collections.abc import Callable

import pytest

from compiler import Tensor
from compiler.core.node import toposort
from compiler.core.trace import Provenance
from compiler.distributed.axes import axes
from compiler.graph.decompose import decompose
from compiler.graph.nodes import Buffer, Sink

Function = Callable[[Tensor, Tensor], Tensor]


def described(function: Function, *shapes: tuple[int, ...]) -> str:
    """The classes of inputs and result as letters, in capitals where they have to be whole; a dot
    for an axis of the result that is of no input."""
    given = [Tensor.placeholder(s, dtype="float32", name=f"in{n}") for n, s in enumerate(shapes)]
    made = decompose(Sink((function(*given).node,)), Provenance()).sources[0]
    buffers = {n.name: n for n in toposort([made]) if isinstance(n, Buffer)}
    found = axes([made], [buffers[f"in{n}"] for n in range(len(shapes))])
    letters: dict[int, str] = {}
    for label in (each for labels in found.inputs for each in labels if each is not None):
        letters.setdefault(label, "abcdefgh"[len(letters)])

    def word(label: int | None) -> str:
        letter = "." if label is None else letters.get(label, ".")
        return letter.upper() if label in found.whole else letter

    words = ["".join(map(word, labels)) for labels in (*found.inputs, *found.results)]
    return " ".join(words)


@pytest.mark.parametrize(("function", "shapes", "expected"), [
    (lambda x, y: x + y, [(3, 4), (3, 4)], "ab ab ab"),
    (lambda x, y: x * y, [(3, 4), (4,)], "ab b ab"),
    (lambda x, y: x - y, [(3, 4), (3, 1)], "ab ac ab"),
    (lambda x, y: x.T + y, [(3, 4), (4, 3)], "ab ba ba"),
    (lambda x, y: (x * y).sum(1), [(3, 4), (3, 4)], "aB aB a"),
    (lambda x, y: x @ y, [(3, 4), (4, 5)], "aB Bc ac"),
    (lambda x, y: x.cumsum(0) + y, [(3, 4), (3, 4)], "Ab Cb Cb"),
    (lambda x, y: x.flip(0) + y, [(3, 4), (3, 4)], "Ab Cb Cb"),
    (lambda x, y: x[1:] + y, [(3, 4), (2, 4)], "Ab Cb Cb"),
    (lambda x, y: x.reshape(3, 2, 2).sum(2) + y, [(3, 4), (3, 2)], "aB aC aC"),
    (lambda x, y: x.reshape(3, 1, 4) + y, [(3, 4), (5, 4)], "ab cb acb"),
    (lambda x, y: x.unsqueeze(0).sum(0) + y, [(3, 4), (3, 4)], "ab ab ab"),
    (lambda x, y: x + Tensor.arange(4) + y, [(3, 4), (3, 4)], "aB aB aB"),
    (lambda x, y: x + x.T + y, [(3, 3), (3, 3)], "AA AA AA"),
    (lambda x, y: x.softmax(-1) * y, [(3, 4), (3, 1)], "aB ac aB"),
])  # fmt: skip
def test_axes_whose_elements_meet_are_one(
    function: Function, shapes: list[tuple[int, ...]], expected: str
) -> None:
    assert described(function, *shapes) == expected


def test_weights_of_the_program_are_whole() -> None:
    weights = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert described(lambda x, y: x @ weights + y, (7, 3), (7, 2)) == "aB aC aC"
    assert described(lambda x, y: x + weights.sum(1) + y, (7, 3), (7, 3)) == "aB aB aB"
