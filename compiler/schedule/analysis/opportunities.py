"""opportunities: pairs of kernels that could be one, what that would save, and why they are two.

    0 + 2  mixed        saves   32,768 bytes costs 412.7 %   it would be computed 128 times: …
    1 + 2  elementwise  saves    8,192 bytes   3.1 %   tmp1 is a result of the program, so …
    1      reduction    saves      512 bytes   1.0 %   ✓ reduce sum: computed once per 64, …

A pair is a kernel and one that reads what it wrote, or two independent kernels that read the same
buffer. The score is the share of the program's estimated time that one kernel would save: a
launch, and the bytes that would stay in registers, less the first kernel's work where that would be
done again. It is negative where that takes longer than what is saved.

The fusions that were taken are listed like those that were not: values which the partition had a
choice about, computed inside the kernel that reads them.

Relies on: items are in order; `reasons` says why a buffer's value was not fused into its readers.
Ensures: each pair once, the greatest score first; among equal ones in order of items.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from compiler.core.node import toposort
from compiler.core.printable import printable
from compiler.core.reason import Number, Reason, numbers_of
from compiler.graph.nodes import Buffer, Reduce, TensorNode
from compiler.graph.words import operation, short
from compiler.schedule.items import ItemAnalysis, Kernel, ScheduleItem
from compiler.schedule.partition import Choice
from compiler.settings.machine import DEFAULT, MachineModel

FusionType = Literal["elementwise", "reduction", "mixed"]


@dataclass(frozen=True, slots=True)
class FusionOpportunity:
    """Items `first` and `second` could be one kernel; `reason` says why they are not.

    `score` is the share of the program's estimated time that would be saved, at most 1; negative
    where one kernel would take longer than two, as it repeats what the first computes. If it was
    `taken` the items are one, in which `value` is computed, `reason` says why, and the share is
    of the time that the program would take without.
    """

    first: int
    second: int
    fusion_type: FusionType
    score: float
    bytes_saved: int
    reason: str
    taken: bool = False
    value: str = ""

    def __str__(self) -> str:
        pair = str(self.first) if self.taken else f"{self.first} + {self.second}"
        share = f"{'costs ' if self.score < 0 else ''}{100 * abs(self.score):.1f} %"
        saved = f"saves {self.bytes_saved:>11,} bytes {share:>7}"
        reason = f"✓ {self.value}: {self.reason}" if self.taken else self.reason
        return f"{pair:<9} {self.fusion_type:<11} {saved}   {printable(reason)}"


def opportunities(
    items: Sequence[ScheduleItem],
    analysis: Sequence[ItemAnalysis],
    results: Collection[Buffer] = (),
    reasons: Mapping[Buffer, str] | None = None,
    model: MachineModel = DEFAULT,
) -> tuple[FusionOpportunity, ...]:
    """Every pair of kernels that shares a buffer and could be fused."""
    total = max(sum(row.cost for row in analysis), 1)
    results = frozenset(results)
    readers = Counter(buffer for item in items for buffer in item.operation.reads)
    found: dict[tuple[int, int], FusionOpportunity] = {}
    for a, b, shared, is_sibling in _pairs(items):
        saved = _bytes_saved(shared, readers, results, is_sibling)
        time = model.launch_ns + saved / model.read[model.level(saved)]
        kind = _fusion_type(a, b)
        why = _sibling_reason(a, b) if is_sibling else _reason(a, b, shared, results, reasons)
        again = _times_again(why) * max(analysis[a.item_id].cost - model.launch_ns, 0.0)
        reason = Reason(why, *numbers_of(why), *_saved(saved, time, total, again))
        ids = a.item_id, b.item_id
        made = FusionOpportunity(*ids, kind, min((time - again) / total, 1.0), saved, reason)
        if ids not in found or made.score > found[ids].score:
            found[ids] = made
    return tuple(sorted(found.values(), key=lambda o: (-o.score, o.first, o.second)))


def taken(
    items: Sequence[ScheduleItem],
    computed: Sequence[frozenset[TensorNode]],
    choices: Iterable[Choice],
    analysis: Sequence[ItemAnalysis],
    model: MachineModel = DEFAULT,
) -> tuple[FusionOpportunity, ...]:
    """The fusions that were made, one for each kernel a value is computed in, the best first.

    `computed` has for each item the values it computes. Each saves writing the value once, shared
    by the kernels, and reading it once in each of them.
    """
    total = max(sum(row.cost for row in analysis), 1)
    found = []
    for choice in (c for c in choices if c.is_fused):
        node = choice.node
        inside = [i for i, nodes in zip(items, computed, strict=True) if node in nodes]
        for item in inside:
            saved = node.nbytes + node.nbytes // len(inside)
            time = model.launch_ns / len(inside) + saved / model.read[model.level(saved)]
            kind: FusionType = "reduction" if isinstance(node, Reduce) else "elementwise"
            why = choice.reason.partition("; saves")[0]
            looked_at = (n for n in numbers_of(choice.reason) if n.name != "never written")
            reason = Reason(why, *looked_at, *_saved(saved, time, total + time))
            word = f"{operation(node)} {short(node)}"
            ids = item.item_id, item.item_id
            score = time / (total + time)
            found.append(FusionOpportunity(*ids, kind, score, saved, reason, True, word))
    return tuple(sorted(found, key=lambda o: (-o.score, o.first, o.value)))


def _saved(nbytes: int, time: float, total: float, again: float = 0.0) -> tuple[Number, Number]:
    """The savings of one kernel in place of two, beside the work that it repeats if it does."""
    against = ("work repeated", again) if again else ("the program without", total)
    return Number("bytes not moved", nbytes, "bytes"), Number("time saved", time, "ns", *against)


def _times_again(reason: str) -> float:
    """How many more times one kernel would do the work of the first, as the reason says."""
    found = {number.name: number for number in numbers_of(reason)}
    for name in ("times each element is computed", "evaluations", "reads"):
        if name in found:
            number = found[name]
            return max(number.value / max(number.limit or 1, 1) - 1, 0.0)
    if "indices under which it is read" not in found:
        return 0.0
    indices = found["indices under which it is read"].value
    kernels = found["kernels that read it"].value
    # Where others read it too the first kernel stays, and all that is done elsewhere is done again.
    return indices / kernels if kernels > 1 else indices - 1


def _pairs(
    items: Sequence[ScheduleItem],
) -> Iterator[tuple[ScheduleItem, ScheduleItem, Buffer, bool]]:
    """Kernels that share a buffer: writer and reader, then neighbours among the readers."""
    writer: dict[Buffer, ScheduleItem] = {}
    readers: dict[Buffer, list[ScheduleItem]] = {}
    before = _before(items)
    for item in items:
        if not isinstance(item.operation, Kernel):
            continue
        for buffer in item.operation.reads:
            readers.setdefault(buffer, []).append(item)
            if buffer in writer and writer[buffer] is not item:
                yield writer[buffer], item, buffer, False
        writer.update(dict.fromkeys(item.operation.writes, item))
    for buffer, found in readers.items():
        for a, b in pairwise(found):
            if not before[b.item_id] >> a.item_id & 1:
                yield a, b, buffer, True


def _before(items: Sequence[ScheduleItem]) -> dict[int, int]:
    """For each item, as a bit set, all items that must have run before it."""
    result: dict[int, int] = {}
    for item in items:
        bits = 0
        for producer in item.depends_on:
            bits |= result.get(producer, 0) | 1 << producer
        result[item.item_id] = bits
    return result


def _bytes_saved(
    shared: Buffer, readers: Mapping[Buffer, int], results: Collection[Buffer], is_sibling: bool
) -> int:
    """Reading it once less; not writing it either where nobody else needs it."""
    if is_sibling or shared in results:
        return shared.nbytes
    return shared.nbytes * (2 if readers[shared] == 1 else 1)


def _fusion_type(a: ScheduleItem, b: ScheduleItem) -> FusionType:
    names: tuple[FusionType, ...] = ("elementwise", "mixed", "reduction")
    return names[_reduces(a) + _reduces(b)]


def _reduces(item: ScheduleItem) -> bool:
    """Whether a kernel folds anything."""
    kernel = item.operation
    assert isinstance(kernel, Kernel)
    return any(isinstance(node, Reduce) for node in toposort([kernel.body]))


def _reason(
    a: ScheduleItem,
    b: ScheduleItem,
    shared: Buffer,
    results: Collection[Buffer],
    reasons: Mapping[Buffer, str] | None,
) -> str:
    """Why a value goes through memory to its reader."""
    if shared in b.operation.writes:
        return f"{_name(shared)} is written in place: the reader needs it whole before it changes"
    known = (reasons or {}).get(shared)
    if known:
        return known
    if shared in results:
        return f"{_name(shared)} is a result of the program, so it is in memory in any case"
    return _spaces(a, b) or "its value was asked for in memory"


def _sibling_reason(a: ScheduleItem, b: ScheduleItem) -> str:
    """Why two kernels read the same buffer one after the other."""
    return _spaces(a, b) or "a kernel writes one value, and here are two of one shape"


def _spaces(a: ScheduleItem, b: ScheduleItem) -> str:
    """That the two have different loops, in words; "" if they have the same."""
    shapes = [item.operation.writes[0].shape for item in (a, b) if item.operation.writes]
    words = [" × ".join(str(n) for n in shape if n != 1) or "1" for shape in shapes]
    if len(set(words)) < 2:
        return ""
    first, second = (math.prod(shape) for shape in shapes)
    seen = Number("elements the first writes", first, "", "the second", second)
    return Reason(f"different iteration spaces: {words[0]} and {words[1]}", seen)


def _name(buffer: Buffer) -> str:
    return buffer.name or f"[{','.join(map(str, buffer.shape))}]"
