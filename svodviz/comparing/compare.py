"""Compares two compilations: the differences per stage, pass and kernel.

    print(svodviz.compare(a, b))       what `svodviz diff a.py b.py` prints
"""

from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, TypeAlias

from svodviz.comparing.comparison import (
    COMPARED,
    Comparison,
    KernelPair,
    PassPair,
    PassSide,
    UnitPair,
)
from svodviz.comparing.figures import kernel_figures, program_figures
from svodviz.comparing.pair_kernels import Pairs, pair_kernels
from svodviz.comparing.pair_nodes import pair_nodes
from svodviz.foundation.escape import visible
from svodviz.foundation.stages import BY_ID, Unit, units
from svodviz.foundation.subject import compilation_of, name_of
from svodviz.wire.refine import pictured

if TYPE_CHECKING:
    from compiler.core.trace import PassRecord
    from compiler.program.compilation import Compilation

Names: TypeAlias = tuple[str, str]
Placed: TypeAlias = "tuple[int, PassRecord]"
"""A pass, and its position among all."""


def compare(
    a: object, b: object, *, names: Names | None = None, measure: bool = False
) -> Comparison:
    """Compares two tensors or compilations; `names` are what they are called in the answer.

    With `measure` both also run, alternately, and the time of one run is among the figures.
    """
    one, other = compilation_of(a, by="compare"), compilation_of(b, by="compare")
    pairs = kernel_pairs(one, other)
    stages, missing = _stages(one, other, pairs)
    missing |= _untraced(one, other)
    return Comparison(
        a=one,
        b=other,
        names=(visible(names[0]), visible(names[1])) if names else _names(one, other),
        passes=tuple(_passes(one, other, pairs)),
        kernels=tuple(_kernels(one, other, pairs, stages)),
        stages=stages,
        missing=missing,
        figures=program_figures(one, other, measure=measure),
    )


def _names(a: "Compilation", b: "Compilation") -> Names:
    """The names of both; where they are the same, first and second."""
    first, second = visible(name_of(a)), visible(name_of(b))
    return (first, second) if first != second else (f"{first} (first)", f"{second} (second)")


def _stages(
    a: "Compilation", b: "Compilation", pairs: Pairs
) -> tuple[dict[str, tuple[UnitPair, ...]], dict[str, str]]:
    stages, missing = {}, {}
    for stage in COMPARED:
        try:
            stages[stage] = unit_pairs(stage, a, b, pairs)
        except Exception as error:
            # The texts that LLVM makes are computed on demand and may fail by themselves.
            if not BY_ID[stage].on_demand:
                raise
            missing[stage] = visible(f"{type(error).__name__}: {error}")
    return stages, missing


def unit_pairs(
    stage: str, a: "Compilation", b: "Compilation", pairs: Pairs
) -> tuple[UnitPair, ...]:
    """The parts of a stage of both, partners together."""
    mine, theirs = (list(units(it, BY_ID[stage])) for it in (a, b))
    paired = _by_kernel if BY_ID[stage].per_kernel else _by_name
    return tuple(paired(stage, mine, theirs, pairs))


def kernel_pairs(a: "Compilation", b: "Compilation") -> Pairs:
    """The pairs of kernels of both that do the same work."""
    after = pair_nodes(pictured(a.optimized_graph), pictured(b.optimized_graph))
    return pair_kernels(a, b, after)


def _untraced(a: "Compilation", b: "Compilation") -> dict[str, str]:
    """The side whose rewrites are not known although those of the other are."""
    lacking = [not all(it.is_traced for it in side.passes) for side in (a, b)]
    if lacking[0] == lacking[1]:
        return {}
    why = "it was compiled without a trace; Options(trace=True) records one"
    return {f"the list of rewrites in {'a' if lacking[0] else 'b'}": why}


def _by_name(stage: str, a: list[Unit], b: list[Unit], pairs: Pairs) -> list[UnitPair]:
    """The graphs before and after the passes; a single graph if there are no passes."""
    mine = {it.name: (position, it) for position, it in enumerate(a)}
    theirs = {it.name: (position, it) for position, it in enumerate(b)}
    if len(mine) != len(theirs):
        mine, theirs = ({"": next(iter(it.values()))} for it in (mine, theirs))
    return [UnitPair(stage, name, mine[name], theirs[name]) for name in mine]


def _by_kernel(stage: str, a: list[Unit], b: list[Unit], pairs: Pairs) -> list[UnitPair]:
    mine = {it.name: (position, it) for position, it in enumerate(a)}
    theirs = {it.name: (position, it) for position, it in enumerate(b)}
    return [
        UnitPair(stage, both(x, y), mine.get(x or ""), theirs.get(y or "")) for x, y, _ in pairs
    ]


def both(a: str | None, b: str | None) -> str:
    """The name of a pair: "k0", or "k0 – k1" where they are called differently."""
    return str(a or b) if a == b or not (a and b) else f"{a} – {b}"


def _passes(a: "Compilation", b: "Compilation", pairs: Pairs) -> list[PassPair]:
    """Passes over the graph, then those over each pair of kernels."""
    mine, theirs = _grouped(a), _grouped(b)
    rows = _aligned("", mine.pop("", []), theirs.pop("", []))
    # Loops that have passes but no kernel of their own in the stages come last, by name.
    positions: list[tuple[str | None, str | None]] = [(x, y) for x, y, _ in pairs]
    rest_a = [(it, None) for it in mine if it not in {x for x, _ in positions}]
    rest_b = [(None, it) for it in theirs if it not in {y for _, y in positions}]
    for x, y in [*positions, *rest_a, *rest_b]:
        rows += _aligned(both(x, y), mine.get(x or "", []), theirs.get(y or "", []))
    return rows


def _grouped(compilation: "Compilation") -> dict[str, list[Placed]]:
    groups: dict[str, list[Placed]] = {"": []}
    for position, record in enumerate(compilation.passes):
        groups.setdefault(record.kernel, []).append((position, record))
    return groups


def _aligned(kernel: str, a: list[Placed], b: list[Placed]) -> list[PassPair]:
    """Passes of one name in the same order are partners."""
    mine, theirs = [it.name for _, it in a], [it.name for _, it in b]
    rows = []
    for tag, i, j, m, n in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if tag == "equal":
            both_sides = zip(a[i:j], b[m:n], strict=True)
            rows += [_pass(kernel, x[1], _side(x), _side(y)) for x, y in both_sides]
            continue
        rows += [_pass(kernel, x[1], _side(x), None) for x in a[i:j]]
        rows += [_pass(kernel, y[1], None, _side(y)) for y in b[m:n]]
    return rows


def _pass(kernel: str, record: "PassRecord", a: PassSide | None, b: PassSide | None) -> PassPair:
    return PassPair(visible(record.stage), visible(kernel), visible(record.name), a, b)


def _side(placed: Placed) -> PassSide:
    position, record = placed
    rules = Counter(visible(it.rule) for it in record.applied)
    return PassSide(position, record.changed, rules, record.is_traced)


def _kernels(
    a: "Compilation", b: "Compilation", pairs: Pairs, stages: dict[str, tuple[UnitPair, ...]]
) -> list[KernelPair]:
    same = {(_name(it.a), _name(it.b)): it.is_same for it in stages["lowered"]}
    mine, theirs = kernel_figures(a), kernel_figures(b)
    return [
        KernelPair(x, y, same.get((x, y), False), share, mine.beside(theirs, x, y))
        for x, y, share in pairs
    ]


def _name(side: tuple[int, Unit] | None) -> str | None:
    return side[1].name if side else None
