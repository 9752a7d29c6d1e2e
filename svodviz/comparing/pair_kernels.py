"""Pairs the kernels of two compilations that do the same work.

Kernels of the same lowered program are partners. The others are judged by what they compute: each
kernel knows the nodes of the tensor graph that it was cut from, and `pair_nodes` says which nodes
of the two graphs are the same. The share of common nodes is the measure, the names decide ties.
"""

from collections import defaultdict
from typing import TYPE_CHECKING, TypeAlias

from svodviz.comparing.diff_texts import canonical
from svodviz.comparing.pair_nodes import Pairing

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation

LEAST_SHARED = 0.05  # the share that makes kernels partners: a choice, no measurement

Pairs: TypeAlias = list[tuple[str | None, str | None, float]]


def pair_kernels(a: "Compilation", b: "Compilation", graphs: Pairing) -> Pairs:
    """The names of partners and the share of common work; kernels without a partner come last."""
    texts_a, texts_b = _texts(a), _texts(b)
    pairs = _same_text(texts_a, texts_b)
    free_a = [it for it in texts_a if it not in {x for x, _, _ in pairs}]
    free_b = [it for it in texts_b if it not in {y for _, y, _ in pairs}]
    for x, y, share in _by_work(_members(a), _members(b), free_a, free_b, graphs):
        if x in free_a and y in free_b:
            free_a.remove(x)
            free_b.remove(y)
            pairs.append((x, y, share))
    order = {name: position for position, name in enumerate(texts_a)}
    pairs.sort(key=lambda it: order[str(it[0])])
    return [*pairs, *((x, None, 0.0) for x in free_a), *((None, y, 0.0) for y in free_b)]


def _texts(compilation: "Compilation") -> dict[str, tuple[str, ...]]:
    return {
        stage.name: tuple(canonical("lowered", line.text) for line in stage.lines)
        for stage in compilation.lowered
    }


def _same_text(a: dict[str, tuple[str, ...]], b: dict[str, tuple[str, ...]]) -> Pairs:
    """Kernels of one text; those of one name first, the rest in order."""
    pairs: Pairs = [(name, name, 1.0) for name, text in a.items() if b.get(name) == text]
    used = {name for name, _, _ in pairs}
    free: defaultdict[tuple[str, ...], list[str]] = defaultdict(list)
    for name, text in b.items():
        if name not in used:
            free[text].append(name)
    for name, text in a.items():
        if name not in used and free.get(text):
            pairs.append((name, free[text].pop(0), 1.0))
    return pairs


def _members(compilation: "Compilation") -> dict[str, frozenset[str]]:
    """The nodes of the tensor graph that each kernel was cut from, over all of its calls."""
    from compiler.schedule.kinds import Call

    kernels = compilation.kernels
    members: defaultdict[str, set[str]] = defaultdict(set)
    for node in kernels.nodes:
        if isinstance(node, Call):
            members[node.name].update(kernels.parents.get(node, ()))
    return {name: frozenset(nodes) for name, nodes in members.items()}


def _by_work(
    a: dict[str, frozenset[str]], b: dict[str, frozenset[str]],
    free_a: list[str], free_b: list[str], graphs: Pairing,
) -> list[tuple[str, str, float]]:  # fmt: skip
    """Candidates, best first."""
    makers: defaultdict[str, set[str]] = defaultdict(set)
    for y in free_b:
        for node in b.get(y, ()):
            makers[node].add(y)
    rows = []
    for x in free_a:
        partners = {graphs.to_b[it] for it in a.get(x, ()) if it in graphs.to_b}
        for y in sorted({it for node in partners for it in makers.get(node, ())}):
            share = len(partners & b[y]) / (len(a[x]) + len(b[y]) - len(partners & b[y]))
            if share >= LEAST_SHARED:
                rows.append((x, y, share))
    return sorted(rows, key=lambda it: (-it[2], it[0] != it[1]))
