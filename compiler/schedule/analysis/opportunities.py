"""opportunities: kernel pairs that could be fused, what that would save, and why they are not.

    0 + 2  mixed        +41.27 µs  +412.7 %   32,768 bytes less   it would be computed 128 times: …
    1 + 2  elementwise   −0.31 µs    −3.1 %    8,192 bytes less   tmp1 is a result of the program, …
    1      reduction     −0.10 µs    −1.0 %      512 bytes less   ✓ reduce sum: computed once per 64

A pair is a producer and a consumer kernel (vertical fusion), or two independent kernels that read
the same buffer (horizontal fusion). The change is the estimated time of the fused kernel
(`fused_work.py`: the work of both, with recomputation of the first, without the memory traffic
between them) minus that of the two kernels. If the partition compared both costs, the change is its
difference. If loops are not known, the saving is one launch and the time of the memory traffic,
less the time for recomputation of the first kernel's work.

Fusions that were made are listed in the same way: values for which the partition had an
alternative, computed inside their consumer. Their change is the difference of both costs in the
partition, else one launch and the time of the memory traffic.

Relies on: items are in order; `reasons` has the reason why a buffer's value was not fused.
Ensures: each pair occurs once, the greatest score first; equal ones are in order of items.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from compiler.core.node import toposort
from compiler.core.printable import printable
from compiler.core.reason import Number, Reason, numbers_of
from compiler.core.text import microseconds
from compiler.graph.nodes import Buffer, Reduce, Sink, TensorNode
from compiler.graph.words import operation, short
from compiler.machines.model import DEFAULT, LEVELS, MachineModel
from compiler.schedule.analysis.fused_work import fused_ns, fused_work
from compiler.schedule.analysis.reuse import last_touched
from compiler.schedule.analysis.share import MemoryPlan
from compiler.schedule.analysis.traffic import Since, nearness
from compiler.schedule.analysis.work import Work, begin_ns
from compiler.schedule.items import ItemAnalysis, Kernel, ScheduleItem
from compiler.schedule.partition import Choice

COMPARED = ("computed where it is read", "predicated loads", "loops of one kernel")
"""The names of the costs that are compared with those of a stored value, see
`schedule/repeating.py`, `schedule/padding.py` and `schedule/fission.py`."""
FusionType = Literal["elementwise", "reduction", "mixed"]


@dataclass(frozen=True, slots=True)
class FusionOpportunity:
    """Items `first` and `second` could be fused; `reason` states why they are not.

    `change` is the change of the program's estimated time by fusion, in nanoseconds: negative if it
    saves time. `score` is the saved share of the program's time, at most 1; negative if fusion
    costs time. If the fusion was `taken`, both items are the kernel that computes `value`, `reason`
    states why it was fused, and `score` is the share of the time without this fusion.
    """

    first: int
    second: int
    fusion_type: FusionType
    score: float
    bytes_saved: int
    reason: str
    taken: bool = False
    value: str = ""
    change: float = 0.0

    def __str__(self) -> str:
        pair = str(self.first) if self.taken else f"{self.first} + {self.second}"
        time, share = signed(self.change), signed_percent(-self.score)
        saved = f"{time:>10}  {share:>8}  {self.bytes_saved:>11,} bytes less"
        reason = f"✓ {self.value}: {self.reason}" if self.taken else self.reason
        return f"{pair:<9} {self.fusion_type:<11} {saved}   {printable(reason)}"


def signed(nanoseconds: float) -> str:
    """`−1.23 µs`, `+41.27 µs`: a change of time with its sign."""
    return f"{_sign(nanoseconds)}{microseconds(abs(nanoseconds))}"


def signed_percent(share: float) -> str:
    """`−3.1 %`, `+412.7 %`: a relative change with its sign."""
    return f"{_sign(round(share, 3))}{100 * abs(share):,.1f} %"


def _sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else "±"


def opportunities(
    items: Sequence[ScheduleItem],
    analysis: Sequence[ItemAnalysis],
    results: Collection[Buffer] = (),
    reasons: Mapping[Buffer, str] | None = None,
    model: MachineModel = DEFAULT,
    works: Mapping[Sink, Work] | None = None,
    plan: MemoryPlan | None = None,
) -> tuple[FusionOpportunity, ...]:
    """Every pair of kernels that shares a buffer and could be fused.

    `works` has the work of bodies whose loops are known; `plan` states which buffers share memory.
    """
    total = max(sum(row.cost for row in analysis), 1)
    results = frozenset(results)
    readers = Counter(buffer for item in items for buffer in item.operation.reads)
    estimates = _Fused(works or {}, model, last_touched(items, plan))
    by_pair: dict[tuple[int, int], FusionOpportunity] = {}
    for a, b, shared, is_sibling in _pairs(items):
        saved = _bytes_saved(shared, readers, results, is_sibling)
        why = _sibling_reason(a, b) if is_sibling else _reason(a, b, shared, results, reasons)
        first, second = (analysis[it.item_id].cost for it in (a, b))
        pair = _Pair(a, b, shared, is_sibling, shared not in results and readers[shared] == 1,
                     is_sibling or readers[shared] > 1)  # fmt: skip
        separate = second if pair.is_first_kept else first + second
        fused = _as_compared(why, separate, readers[shared])
        if fused is None and (fused := estimates.ns(pair, why)) is not None:
            # that the rest then just fits a cache is no reason to fuse the value
            most = begin_ns(model) + model.moving_ns(LEVELS.index("memory"), saved, saved)
            fused = max(fused, separate - most)
        if fused is None:
            launches, done = (0, 0) if pair.is_first_kept else (1, 1)
            time = launches * begin_ns(model) + saved / model.read[model.level(saved)]
            again = (_times(why) - done) * max(first - begin_ns(model), 0.0)
            fused = max(separate - time + again, 0.0)
        change = fused - separate
        reason = Reason(why, *numbers_of(why), *_compared(saved, fused, separate))
        ids = a.item_id, b.item_id
        score = min(-change / total, 1.0)
        opportunity = FusionOpportunity(
            *ids, _fusion_type(a, b), score, saved, reason, change=change
        )
        if ids not in by_pair or opportunity.score > by_pair[ids].score:
            by_pair[ids] = opportunity
    return tuple(sorted(by_pair.values(), key=lambda o: (-o.score, o.first, o.second)))


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two kernels and the buffer that they share.

    `is_dropped`: the buffer would no longer be in memory. `is_first_kept`: the first kernel stays,
    because others read its result; the second one recomputes it.
    """

    first: ScheduleItem
    second: ScheduleItem
    shared: Buffer
    is_sibling: bool
    is_dropped: bool
    others_read: bool

    @property
    def is_first_kept(self) -> bool:
        return self.others_read and not self.is_sibling


def _as_compared(why: str, separate: float, readers: int) -> float | None:
    """The time of the fused kernel if the partition compared both costs; None if not."""
    for number in numbers_of(why):
        if number.name in COMPARED and number.limit is not None:
            return max(separate + (number.value - number.limit) / max(readers, 1), 0.0)
    return None


@dataclass(frozen=True, slots=True)
class _Fused:
    """Estimates of fused kernels. Each pair of bodies is estimated once."""

    works: Mapping[Sink, Work]
    model: MachineModel
    since: Sequence[Since]
    """For each item the reuse distances of its arguments."""
    known: dict[tuple[object, ...], float] = field(default_factory=dict)

    def ns(self, pair: _Pair, why: str) -> float | None:
        """The estimate of the fused kernel; None if the loops of either kernel are not known."""
        kernels = [pair.first.operation, pair.second.operation]
        bodies = [it.body for it in kernels if isinstance(it, Kernel)]
        first, second = (self.works.get(it) for it in bodies)
        if first is None or second is None:
            return None
        inputs, outputs = (_slots(it, pair.shared) for it in (pair.second, pair.first))
        is_unwritten = not pair.is_sibling and (pair.is_dropped or pair.is_first_kept)
        unwritten = outputs if is_unwritten else frozenset[int]()
        since = self.since[pair.first.item_id], self.since[pair.second.item_id]
        sizes = [size * n for size in self.model.cache_bytes for n in (1, self.model.cores)]
        works = zip((first, second), since, strict=True)
        near = (nearness(work.footprints, ago, sizes) for work, ago in works)
        key = (*bodies, _times(why), unwritten, inputs, *near)
        if key not in self.known:
            parts = fused_work(first, second, _times(why), unwritten, inputs)
            self.known[key] = fused_ns(parts, self.model, since)
        return self.known[key]


def _slots(item: ScheduleItem, buffer: Buffer) -> frozenset[int]:
    arguments = enumerate(item.operation.arguments)
    return frozenset(slot for slot, argument in arguments if argument is buffer)


def taken(
    items: Sequence[ScheduleItem],
    computed: Sequence[frozenset[TensorNode]],
    choices: Iterable[Choice],
    analysis: Sequence[ItemAnalysis],
    model: MachineModel = DEFAULT,
) -> tuple[FusionOpportunity, ...]:
    """The fusions that were made, one for each kernel that computes a fused value, best first.

    `computed` has the values that each item computes. A fusion saves one store of the value,
    shared between its kernels, and one load in each of them.
    """
    total = max(sum(row.cost for row in analysis), 1)
    rows = []
    for choice in (c for c in choices if c.is_fused):
        node = choice.node
        inside = [i for i, nodes in zip(items, computed, strict=True) if node in nodes]
        for item in inside:
            saved = node.nbytes + node.nbytes // len(inside)
            change = _change(choice, len(inside), saved, model)
            kind: FusionType = "reduction" if isinstance(node, Reduce) else "elementwise"
            why = choice.reason.partition("; saves")[0]
            looked_at = (n for n in numbers_of(choice.reason) if n.name != "never written")
            reason = Reason(why, *looked_at, *_compared(saved, total, total - change))
            word = f"{operation(node)} {short(node)}"
            ids = item.item_id, item.item_id
            score = -change / max(total - change, 1)
            rows.append(FusionOpportunity(*ids, kind, score, saved, reason, True, word, change))
    return tuple(sorted(rows, key=lambda o: (-o.score, o.first, o.value)))


def _compared(nbytes: int, fused: float, separate: float) -> tuple[Number, Number]:
    """The saved bytes, and the time of the fused kernel compared with that of separate ones."""
    return (
        Number("bytes not moved", nbytes, "bytes"),
        Number("as one kernel", fused, "ns", "as they are", separate),
    )


def _change(choice: Choice, inside: int, saved: int, model: MachineModel) -> float:
    """The change of time by fusing a value into one of its kernels, in nanoseconds."""
    for number in numbers_of(choice.reason):
        if number.name in COMPARED and number.limit is not None:
            return (number.value - number.limit) / inside
    return -model.launch_ns / inside - saved / model.read[model.level(saved)]


def _times(reason: str) -> float:
    """The number of times that the fused kernel would do the first's work, from the reason."""
    numbers = {number.name: number for number in numbers_of(reason)}
    for name in ("times each element is computed", "evaluations", "reads"):
        if name in numbers:
            number = numbers[name]
            return max(number.value / max(number.limit or 1, 1), 1.0)
    if "indices under which it is read" not in numbers:
        return 1.0
    indices, kernels = numbers["indices under which it is read"], numbers["kernels that read it"]
    # If several kernels read it, each does its part of these.
    return max(indices.value / max(kernels.value, 1), 1.0)


def _pairs(
    items: Sequence[ScheduleItem],
) -> Iterator[tuple[ScheduleItem, ScheduleItem, Buffer, bool]]:
    """Pairs of kernels that share a buffer: writer and reader, then neighbouring readers."""
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
    for buffer, places in readers.items():
        for a, b in pairwise(places):
            if not before[b.item_id] >> a.item_id & 1:
                yield a, b, buffer, True


def _before(items: Sequence[ScheduleItem]) -> dict[int, int]:
    """For each item the bit set of all items that have to run before it."""
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
    """The bytes that fusion saves: one load of the buffer, and its store if nothing else reads it.
    """
    if is_sibling or shared in results:
        return shared.nbytes
    return shared.nbytes * (2 if readers[shared] == 1 else 1)


def _fusion_type(a: ScheduleItem, b: ScheduleItem) -> FusionType:
    names: tuple[FusionType, ...] = ("elementwise", "mixed", "reduction")
    return names[_reduces(a) + _reduces(b)]


def _reduces(item: ScheduleItem) -> bool:
    """True if a kernel contains a reduction."""
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
    """The reason why a value is passed to its reader through memory."""
    if shared in b.operation.writes:
        return f"{_name(shared)} is written in place: the reader needs it whole before it changes"
    reason = (reasons or {}).get(shared)
    if reason:
        return reason
    if shared in results:
        return f"{_name(shared)} is a result of the program, so it is in memory in any case"
    return _spaces(a, b) or "its value was asked for in memory"


def _sibling_reason(a: ScheduleItem, b: ScheduleItem) -> str:
    """The reason why two kernels that read the same buffer are not one."""
    return _spaces(a, b) or "a kernel writes one value, and here are two of one shape"


def _spaces(a: ScheduleItem, b: ScheduleItem) -> str:
    """The reason that their iteration spaces differ; "" if they are equal."""
    shapes = [item.operation.writes[0].shape for item in (a, b) if item.operation.writes]
    words = [" × ".join(str(n) for n in shape if n != 1) or "1" for shape in shapes]
    if len(set(words)) < 2:
        return ""
    first, second = (math.prod(shape) for shape in shapes)
    seen = Number("elements the first writes", first, "", "the second", second)
    return Reason(f"different iteration spaces: {words[0]} and {words[1]}", seen)


def _name(buffer: Buffer) -> str:
    return buffer.name or f"[{','.join(map(str, buffer.shape))}]"
