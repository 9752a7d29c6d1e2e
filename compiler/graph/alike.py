"""Repetition in a program: equal public calls, function runs, and iterations of Python loops.

    u = u + k * (left + right - 2 * u)      100 times: one run of 100 with a period of six calls

Two calls are alike if they are on one line, ran inside the same functions, and their nodes are
equal except for data and constants. Two iterations are alike if, in addition, their nodes read
each other in the same way. Loop-invariant nodes are created by the first iteration only, so
`fixed` nodes are ignored. All functions take time linear in the size of the program.
"""

from collections.abc import Container, Hashable, Iterable, Iterator, Sequence

from compiler.graph.nodes import LEAVES, MOVEMENT, Buffer, Cast, Const, TensorNode
from compiler.graph.words import describe_argument, operation

FEWEST = 3
"""The fewest iterations that count as a repetition: two calls of a function are shown as two.
By eye."""
_PERIODS = 4
"""Candidate periods at each call: the distances to the next equal ones. No figure on record."""


class Signatures:
    """Numbers structures, so that equal structures have equal numbers."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, key: object, parts: Sequence[object]) -> int:
        """The number of the structure with this key and these parts."""
        return self._numbers.setdefault((key, *parts), len(self._numbers))

    def of_call(self, key: object, nodes: Sequence[TensorNode]) -> int:
        """The number of a call: `key` is its line, `nodes` are those it made."""
        return self.of(key, [structure(nodes)])

    def equal(self, pieces: Sequence[Sequence[TensorNode]]) -> list[list[int]]:
        """Maximal runs of neighbouring `pieces` with equal structure, as lists of positions."""
        stretches: list[list[int]] = []
        last = -1
        for position, nodes in enumerate(pieces):
            number = self.of("nodes", [structure(nodes)])
            if number != last:
                stretches.append([])
            stretches[-1].append(position)
            last = number
        return stretches


def structure(nodes: Sequence[TensorNode]) -> tuple[object, ...]:
    """The structure of `nodes`: their operations, and which of them read which.

    Values read from outside are numbered in the order of their first use.
    """
    place = {node: number for number, node in enumerate(nodes)}
    outside: dict[TensorNode, int] = {}
    rows: list[object] = []
    for node in nodes:
        argument = "" if isinstance(node, Const | Buffer) else describe_argument(node)
        read = [place[s] if s in place else _outer(s, outside) for s in node.sources]
        rows.append((operation(node), argument, node.dtype, node.shape, *read))
    return tuple(rows)


def _outer(node: TensorNode, outside: dict[TensorNode, int]) -> tuple[object, ...]:
    return outside.setdefault(node, len(outside)), node.dtype, node.shape


def fixed(order: Iterable[TensorNode], inputs: Container[TensorNode]) -> set[TensorNode]:
    """The loop-invariant nodes: constants, data that are no `inputs`, views of either, and values
    computed from constants alone."""
    invariant: set[TensorNode] = set()
    data: set[TensorNode] = set()
    for node in order:
        if node in inputs or not invariant.issuperset(node.sources):
            continue
        is_view = isinstance(node, (*LEAVES, *MOVEMENT, Cast))
        is_data = isinstance(node, Buffer) or not data.isdisjoint(node.sources)
        if is_view or not is_data:
            invariant.add(node)
            if is_data:
                data.add(node)
    return invariant


def runs(keys: Sequence[object]) -> Iterator[tuple[int, int, int]]:
    """Start, period and count of each repetition in `keys`: from the left, short periods first."""
    nearest: dict[object, list[int]] = {}
    ahead: list[list[int]] = [[] for _ in keys]
    for position in range(len(keys) - 1, -1, -1):
        positions = nearest.get(keys[position], [])
        ahead[position] = [it - position for it in positions]
        nearest[keys[position]] = [position, *positions[: _PERIODS - 1]]
    at = 0
    while at < len(keys):
        run = next(((p, n) for p in ahead[at] if (n := count_of(keys, at, p)) >= FEWEST), None)
        if run is None:
            at += 1
        else:
            yield at, *run
            at += run[0] * run[1]


def count_of(keys: Sequence[object], start: int, period: int) -> int:
    """The number of consecutive repetitions of the `period` keys at `start`."""
    end = start + period
    piece = keys[start:end]
    count = 1
    while keys[end : end + period] == piece:
        count += 1
        end += period
    return count
