"""The public calls of a program and the user's functions around them: a tree of scopes.

    block × 12                 repeat      equal iterations, see `alike.py`
      block 1                  function    the nodes of one call of a function
        layernorm
          mean                 call        the nodes of one public call
      iterations 2 … 12        rest        the other iterations, nested in the same way
    encoder                    module      a part of a model, under its author's name
      layer.0
        linear                 call        the nodes of one operator of the model
    AdamW                      optimizer   an optimiser step, which is part of no model

A scope holds the nodes created in one span of time, so no path leaves it and returns. Nodes that
are read but not computed (weights, constants) belong to the scope of their readers. The first
operand of a call that reads nothing computed is an input, which belongs to no scope.
"""

import itertools
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from compiler.core.frames import Frame, Module
from compiler.core.node import toposort
from compiler.core.origin import Origin
from compiler.core.text import lines as in_lines
from compiler.core.trace import Provenance
from compiler.graph.alike import FEWEST, Signatures, count_of, fixed, runs
from compiler.graph.kinds.gradient import Backward, Gradient
from compiler.graph.nodes import LEAVES, MOVEMENT, Buffer, Param, Sink, TensorNode

ScopeKind: TypeAlias = Literal[
    "call", "function", "module", "optimizer", "repeat", "iteration", "rest", "lines"
]  # fmt: skip
Place: TypeAlias = tuple[str, int]
MOST_CHILDREN = 16
"""The most children of a scope: beyond it, neighbours are grouped. Chosen."""
_CHUNKS = 12
"""The most groups that iterations, or lines, are divided into. By eye."""
_MOSTLY = 0.7
"""The least share of an iteration's calls that the first iteration must have. Chosen."""


@dataclass(frozen=True, slots=True)
class Scope:
    """A call, a function's run, or a group of them.

    `parent` is the position of the enclosing scope, -1 for none. `places` has the file and line of
    a call, of the call of a function, or of the first call in a module; for groups, the first and
    the last line.
    """

    kind: ScopeKind
    name: str
    parent: int
    places: tuple[Place, ...]
    count: int = 1
    """The number of iterations of a repeat."""
    result: TensorNode | None = field(default=None, compare=False)
    """The result of its last call."""
    module: Module | None = field(default=None, compare=False)
    """The module that it is a run of: `module.path` is its full name, `module.kind` its class."""


@dataclass(frozen=True, slots=True)
class Scopes:
    """The scopes of a graph, outer ones first, and the innermost scope of each node."""

    rows: tuple[Scope, ...]
    of: dict[TensorNode, int]
    sweeps: frozenset[int] = frozenset()
    """The numbers of the calls that requested gradients."""


@dataclass(slots=True, eq=False)
class Part:
    """A scope while the tree is built: `nodes` are those of a call, `key` distinguishes the calls
    of a function."""

    kind: ScopeKind
    name: str
    places: tuple[Place, ...]
    parts: "list[Part]" = field(default_factory=list)
    nodes: tuple[TensorNode, ...] = ()
    key: object = None
    count: int = 1
    module: Module | None = None

    def calls(self) -> "Iterator[Part]":
        """All calls in this part, in order."""
        stack = [self]
        while stack:
            part = stack.pop()
            if part.nodes:
                yield part
            stack += reversed(part.parts)


def scopes_of(root: Sink) -> Scopes:
    """The scopes of all nodes below `root` that have a source line, for a graph as written."""
    order: list[TensorNode] = [n for n in toposort([root]) if not isinstance(n, Sink)]
    by_call = _by_call(order)
    unit = {node: call for call, nodes in by_call.items() for node in nodes}
    leaves = _leaves(by_call, unit)
    others = [by_call[call] for call in sorted(by_call) if call not in leaves]
    inputs = _inputs(others, unit, leaves)
    same = fixed(order, inputs)
    computing = [
        nodes for call, nodes in sorted(by_call.items())
        if call not in leaves or (inputs.isdisjoint(nodes) and not same.issuperset(nodes))
    ]  # fmt: skip
    whole = _tree(computing)
    while len(whole.parts) == 1 and _holds_all(whole.parts[0]):
        whole = whole.parts[0]  # a scope around everything distinguishes nothing
    _Folding(same).fold(whole)
    rows, of = _numbered(whole)
    _give_back(computing, order, of)
    _hold(order, rows, of, inputs)
    asking = (n.origin for n in order if isinstance(n, Backward | Gradient))
    return Scopes(tuple(rows), of, frozenset(it.call for it in asking if it))


def _holds_all(part: Part) -> bool:
    """True if a part is a whole function or model, not a module of one."""
    is_model = isinstance(part.key, Module) and part.key.outer is None
    return part.kind == "function" or is_model


def _by_call(order: Iterable[TensorNode]) -> dict[int, list[TensorNode]]:
    """The nodes of each public call, by its number."""
    by_call: dict[int, list[TensorNode]] = {}
    for node in order:
        if node.origin is not None and node.origin.call:
            by_call.setdefault(node.origin.call, []).append(node)
    return by_call


def _leaves(by_call: dict[int, list[TensorNode]], unit: dict[TensorNode, int]) -> set[int]:
    """The calls that compute nothing: data, constants, and views of them."""
    leaves: set[int] = set()
    for call in sorted(by_call):
        nodes = by_call[call]
        is_moved = all(isinstance(node, (*LEAVES, *MOVEMENT)) for node in nodes)
        read = (s for node in nodes for s in node.sources)
        if is_moved and all(_is_leaf(s, unit, leaves | {call}) for s in read):
            leaves.add(call)
    return leaves


def _is_leaf(node: TensorNode, unit: dict[TensorNode, int], leaves: set[int]) -> bool:
    return unit[node] in leaves if node in unit else not node.sources


def _tree(computing: Sequence[Sequence[TensorNode]]) -> Part:
    """The tree of calls in execution order, inside the functions that ran them."""
    whole = Part("function", "", ())
    open_parts = [whole]
    for nodes in computing:
        origin = nodes[0].origin
        assert origin is not None
        around = _around(origin)
        same = 0
        for part, (key, _) in zip(open_parts[1:], around, strict=False):
            if part.key is not key:
                break
            same += 1
        del open_parts[same + 1 :]
        for key, name in around[same:]:
            opened = _opened(key, name, origin)
            open_parts[-1].parts.append(opened)
            open_parts.append(opened)
        place = origin.file, origin.line
        call = Part("call", origin.method, (place,), nodes=tuple(nodes), key=(place, origin.method))
        open_parts[-1].parts.append(call)
    return whole


def _opened(key: Frame | Module, name: str, origin: Origin) -> Part:
    """A new part for a function's call or a module, whose first call is at `origin`."""
    if isinstance(key, Module):
        kind: ScopeKind = "module" if key.chain()[0].name else "optimizer"
        return Part(kind, name, ((origin.file, origin.line),), key=key)
    return Part("function", name, ((key.file, key.line),), key=key)


def _around(origin: Origin) -> list[tuple[Frame | Module, str]]:
    """The named functions on the call stack, outermost first, each with its calling frame.

    In a model these are the functions that called it, then its modules.
    """
    modules = origin.module.chain() if origin.module else ()
    frames, innermost = origin.frames, origin.function
    if modules:
        caller = modules[0].caller
        frames = caller.outer.stack() if caller and caller.outer else ()
        innermost = caller.function if caller else ""
    names = [*(frame.function for frame in frames[1:]), innermost]
    functions = [(frame, name) for frame, name in zip(frames, names, strict=False) if name]
    return [*functions, *((module, module.name) for module in modules if module.name)]


class _Folding:
    """Groups equal iterations, innermost first, then splits what is still too long to read."""

    def __init__(self, fixed: set[TensorNode]) -> None:
        self.fixed = fixed
        self.signatures = Signatures()

    def fold(self, whole: Part) -> None:
        """Fold a tree of calls and functions, in place."""
        order = [whole]
        for part in order:
            order += part.parts
        for part in reversed(order):
            if part.kind == "call":
                part.key = self.signatures.of_call(part.key, self._changing([part]))
                continue
            part.parts = self._repeated(part.parts)
            part.module = part.key if isinstance(part.key, Module) else None
            part.key = self.signatures.of(part.key, [it.key for it in part.parts])
            is_whole = part.kind == "function" and part is not whole and len(part.parts) == 1
            if is_whole and part.parts[0].kind == "repeat":
                inner = part.parts[0]
                part.kind, part.count, part.parts = "repeat", inner.count, inner.parts
            part.parts = _chunked(part.parts)

    def _changing(self, parts: Iterable[Part]) -> list[TensorNode]:
        """The nodes in `parts` that are not loop-invariant."""
        calls = (call for part in parts for call in part.calls())
        return [node for call in calls for node in call.nodes if node not in self.fixed]

    def _repeated(self, parts: list[Part]) -> list[Part]:
        """`parts` with each run of equal iterations replaced by a repeat; repeats may nest."""
        while True:
            folded: list[Part] = []
            at = 0
            keys = [part.key for part in parts]
            for start, period, count in runs(keys):
                if start < at:
                    continue  # the previous run began and ended later than predicted
                start = start + _top(parts[start : start + period])
                count = count_of(keys, start, period)
                pieces = [parts[start + n * period :][:period] for n in range(count)]
                folded += parts[at:start]
                at = start + period * count
                for group in self.signatures.equal([self._changing(it) for it in pieces]):
                    folded += self._repeat([pieces[n] for n in group], folded)
            folded += parts[at:]
            if len(folded) == len(parts):
                return folded
            parts = folded

    def _repeat(self, pieces: list[list[Part]], before: list[Part]) -> list[Part]:
        """Iterations as one part, if there are enough; the first one may be in `before`."""
        if len(pieces) < FEWEST:
            return [part for piece in pieces for part in piece]
        if first := _first(before, pieces[0]):
            del before[-len(first) :]
            pieces = [first, *pieces]
        places = _span(pieces[1])
        inner = pieces[1][0]
        is_single = len(pieces[0]) == len(pieces[1]) == 1
        is_named = is_single and inner.kind != "call"
        name = inner.name if is_named else _lines(places)
        key = self.signatures.of("repeat", [len(pieces), *(it.key for it in pieces[1])])
        bodies = [
            piece[0] if is_single else Part("iteration", f"iteration {n}", places, piece)
            for n, piece in enumerate(pieces, 1)
        ]
        for number, body in enumerate(bodies, 1):
            body.name = f"{name} {number}" if is_named else body.name
        rest = Part("rest", f"iterations 2 … {len(pieces)}", places, _chunks(bodies[1:], 2))
        return [Part("repeat", name, places, [bodies[0], rest], key=key, count=len(pieces))]


def _top(body: list[Part]) -> int:
    """The position in a period where an iteration begins: where the source line jumps back."""
    lines = [part.places[0][1] for part in body]
    back = [lines[at - 1] - line for at, line in enumerate(lines)]
    return back.index(max(back)) if max(back) > 0 else 0


def _first(before: list[Part], body: list[Part]) -> list[Part]:
    """The first iteration, at the end of `before`: like `body` except for loop-invariant nodes.

    Loop-invariant nodes are created by the first iteration only, and its state may be read through
    views that compute nothing.
    """
    top = body[0].places[0]
    if max(part.places[0] for part in body) <= top:
        return []
    start = len(before)
    while start and top <= before[start - 1].places[0] <= body[-1].places[0]:
        start -= 1
        if start and before[start - 1].places[0] > before[start].places[0]:
            break
    first = before[start:]
    shared = Counter(map(_what, first)) & Counter(map(_what, body))
    is_alike = shared.total() >= _MOSTLY * max(len(first), len(body))
    return first if is_alike else []


def _what(part: Part) -> object:
    return part.kind, part.name, part.places


def _chunks(bodies: list[Part], first: int) -> list[Part]:
    """Iterations grouped into at most twelve parts, recursively."""
    if len(bodies) <= _CHUNKS:
        return bodies
    size = -(-len(bodies) // _CHUNKS)
    chunks = []
    for start in range(0, len(bodies), size):
        piece = bodies[start : start + size]
        at = first + start
        name = f"iterations {at} … {at + len(piece) - 1}" if len(piece) > 1 else f"iteration {at}"
        chunks.append(Part("rest", name, _span(piece), _chunks(piece, at)))
    return chunks


def _chunked(parts: list[Part]) -> list[Part]:
    """`parts`, with neighbours grouped where there are too many to read.

    Parts on one line are grouped first, then as many as necessary. Modules are grouped by their
    names, not by lines.
    """
    if len(parts) > MOST_CHILDREN and all(part.kind != "module" for part in parts):
        lines = itertools.groupby(parts, key=lambda part: part.places[0])
        pieces = [list(piece) for _, piece in lines]
        parts = [_lines_part(piece) for piece in pieces] if len(pieces) > 1 else parts
    while len(parts) > MOST_CHILDREN:
        size = -(-len(parts) // _CHUNKS)
        pieces = [parts[start : start + size] for start in range(0, len(parts), size)]
        parts = [_lines_part(piece) for piece in pieces]
    return parts


def _lines_part(piece: list[Part]) -> Part:
    if len(piece) == 1:
        return piece[0]
    places = _span(piece)
    ends = piece[0], piece[-1]
    is_named = all(part.kind == "module" for part in ends)
    name = " … ".join(part.name for part in ends) if is_named else _lines(places)
    return Part("lines", name, places, piece)


def _span(parts: Sequence[Part]) -> tuple[Place, ...]:
    """The first and the last line of parts, both in the first of their files."""
    places = [place for part in parts for place in part.places]
    file = places[0][0]
    lines = sorted({line for other, line in places if other == file})
    return tuple((file, line) for line in dict.fromkeys((lines[0], lines[-1])))


def _lines(places: tuple[Place, ...]) -> str:
    return in_lines(places[0][1], places[-1][1])


def _numbered(whole: Part) -> tuple[list[Scope], dict[TensorNode, int]]:
    """The tree as rows, and the row of each node of a call."""
    rows: list[Scope] = []
    of: dict[TensorNode, int] = {}
    stack = [(part, -1) for part in reversed(whole.parts)]
    while stack:
        part, parent = stack.pop()
        of.update(dict.fromkeys(part.nodes, len(rows)))
        stack += [(inner, len(rows)) for inner in reversed(part.parts)]
        *_, last = part.calls()
        rows.append(
            Scope(
                part.kind, part.name, parent, part.places, part.count, last.nodes[-1], part.module
            )
        )
    return rows, of


def _inputs(
    computing: Sequence[Sequence[TensorNode]], unit: dict[TensorNode, int], leaves: set[int]
) -> set[TensorNode]:
    """The inputs of the program: the first operand of each call that reads nothing computed."""
    bases: set[TensorNode] = set()
    learned: set[TensorNode] = set()
    for nodes in computing:
        inside = set(nodes)
        if _is_aside(nodes[0]):  # parameters and state of an optimiser are no inputs
            learned.update(s for node in nodes for s in node.sources)
            continue
        read = [s for node in nodes for s in node.sources if s not in inside]
        if read and all(_is_leaf(s, unit, leaves) for s in read):
            base = next((b for s in read if (b := _base(s)) is not None), None)
            bases |= {base} if base is not None else set()
    return bases - learned


def _is_aside(node: TensorNode) -> bool:
    """True if a node belongs to no model but to an auxiliary part, such as an optimiser step."""
    module = node.origin.module if node.origin else None
    return module is not None and not module.chain()[0].name


def _base(node: TensorNode) -> TensorNode | None:
    """The data that a view reads; None for constants."""
    while node.sources:
        node = node.sources[0]
    return node if isinstance(node, Buffer | Param) else None


def _give_back(
    computing: Sequence[Sequence[TensorNode]], order: list[TensorNode], of: dict[TensorNode, int]
) -> None:
    """Move shared views of an operand to the scope of the call that computed the operand.

    The first of several calls that read an operand created the views of it that the others reuse;
    without this, the first would seem to feed the others.
    """
    results = {nodes[-1] for nodes in computing}
    shared: set[TensorNode] = set()
    readers: dict[TensorNode, set[int]] = {}
    for node in reversed(order):
        is_view = isinstance(node, MOVEMENT) and node in of and node not in results
        if is_view and readers.get(node, set()) - {of[node]}:  # results of a program: no readers
            shared.add(node)
        for source in node.sources:
            readers.setdefault(source, set()).add(-1 if node in shared else of.get(node, -1))
    for node in order:
        if node in shared:
            del of[node]
            if node.sources[0] in of:
                of[node] = of[node.sources[0]]


def _hold(
    order: list[TensorNode], rows: Sequence[Scope], of: dict[TensorNode, int],
    inputs: set[TensorNode],
) -> None:  # fmt: skip
    """Give nodes that compute nothing the common scope of their readers; inputs get none.

    A parameter belongs to the layers that read it, even if gradients and an optimiser read it too.
    """
    near = _near(rows)
    around: dict[TensorNode, int] = {}
    nearest: dict[TensorNode, int] = {}
    for node in reversed(order):
        if node not in of:
            of[node] = -1 if node in inputs else around.get(node, -1)
        mine = of[node]
        rank = _ASIDE if isinstance(node, Backward | Gradient) else near[mine]
        for source in node.sources:
            rank_before = nearest.get(source, _ASIDE - 1)
            if rank > rank_before:
                around[source], nearest[source] = mine, rank
            elif rank == rank_before:
                around[source] = _common(around[source], mine, rows)


_ASIDE, _OUTSIDE, _IN_MODEL = range(3)


def _near(rows: Sequence[Scope]) -> list[int]:
    """The rank of each scope: in a module of a model, outside of models, or auxiliary (such as an
    optimiser step). The last entry is for nodes in no scope."""
    ranks: list[int] = []
    for row in rows:
        if row.module is None:
            ranks.append(ranks[row.parent] if row.parent >= 0 else _OUTSIDE)
        else:
            ranks.append(_ASIDE if row.kind == "optimizer" else _IN_MODEL)
    return [*ranks, _OUTSIDE]


def scopes_after(
    before: Scopes, order: Sequence[TensorNode], provenance: Provenance[Origin]
) -> dict[TensorNode, int]:
    """The scopes of nodes that passes created: the scope of the call that each comes from.

    Backward-pass nodes have the scope of their forward call. A node that comes from several calls
    has the most frequent scope, or the one around all of them; a node that is computed from
    constants only has the scope of the first.
    """
    nodes = [node for node in order if not isinstance(node, Sink)]
    numbers, constants = provenance.numbers, _constants(nodes)
    calls = {row.result.origin.call: scope for scope, row in enumerate(before.rows)
             if row.kind == "call" and row.result is not None and row.result.origin}  # fmt: skip
    read = {numbers[node]: scope for node, scope in before.of.items() if isinstance(node, Buffer)}
    of: dict[TensorNode, int] = {}
    for node in nodes:
        scope = before.of.get(node)
        if isinstance(node, Buffer) and numbers[node] in read:  # the same data, without a line
            scope = read[numbers[node]]
        elif scope is None:
            counts = _counts(provenance.of(node), calls, before.sweeps)
            first = min(counts, default=None)
            scope = first if node in constants else _most(counts, before.rows)
        if scope is not None:
            of[node] = scope
    _hold(nodes, before.rows, of, set())
    return of


def _constants(nodes: Iterable[TensorNode]) -> set[TensorNode]:
    """The nodes that are computed from constants only, and the constants."""
    constants: set[TensorNode] = set()
    for node in nodes:
        if not isinstance(node, Buffer | Param) and constants.issuperset(node.sources):
            constants.add(node)
    return constants


def _counts(
    lines: Iterable[Origin], calls: Mapping[int, int], sweeps: Container[int]
) -> Counter[int]:
    """The number of lines whose call is in each scope; gradient requests count only
    where there is nothing else."""
    numbers = [line.back or line.call for line in lines]
    apart = [number for number in numbers if number not in sweeps]
    return Counter(calls[number] for number in apart or numbers if number in calls)


def _most(counts: Counter[int], rows: Sequence[Scope]) -> int | None:
    """The most frequent scope, for a tie the innermost one around them; None of none."""
    if not counts:
        return None
    most = max(counts.values())
    first, *others = (scope for scope, count in counts.items() if count == most)
    for scope in others:
        first = _common(first, scope, rows)
    return first


def _common(a: int, b: int, rows: Sequence[Scope]) -> int:
    """The innermost scope that holds both."""
    while a != b:  # an enclosing scope has a lower position
        if a > b:
            a = rows[a].parent
        else:
            b = rows[b].parent
    return a
