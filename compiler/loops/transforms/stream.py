"""stream: non-temporal stores, which bypass the caches.

    Choice:  stream 0
    Before:  i0.1 in 16   lanes
             for i0.0 in 4
               %0 = in1[i0.0*16 + i0.1]
               %1 = exp(%0)
               out[i0.0*16 + i0.1] = %1
    After:   i0.1 in 16   lanes
             for i0.0 in 4
               %0 = in1[i0.0*16 + i0.1]
               %1 = exp(%0)
               out[i0.0*16 + i0.1] = %1   streamed

An ordinary store first reads the cache line that it writes to, and evicts others. If the output is
larger than the caches, and not read soon, that is wasted. Only stores of whole vectors benefit.

Relies on: `vectorize` has run.
Ensures: the same values.
"""

from typing import Any

from compiler.core.trace import Match, Provenance
from compiler.loops.choices import Choices, Stream
from compiler.loops.nodes import Argument, Body, Range, ScalarNode, Store
from compiler.loops.symbolic import as_sum
from compiler.loops.transforms.axes import record, refuse


def stream(
    body: Body, choices: Choices, provenance: Provenance[Any], matches: list[Match] | None = None
) -> Body:
    """`body` with non-temporal vector stores to each argument that a Stream names."""
    for choice in choices.of(Stream):
        stores = [n for n in body.sources if isinstance(n, Store) and _is_of(n, choice)]
        streams: dict[ScalarNode, ScalarNode] = {n: _streamed(n) for n in stores}
        if not streams:
            refuse(choice, f"nothing is stored to argument {choice.slot}", "slot 0, the output")
        for old, new in streams.items():
            provenance.rebuilt(new, old)
        changed = Body(tuple(streams.get(n, n) for n in body.sources))
        provenance.rebuilt(changed, body)
        record(matches, choice, body, changed)
        body = changed
    return body


def _is_of(store: Store, choice: Stream) -> bool:
    target = store.sources[0]
    return isinstance(target, Argument) and target.slot == choice.slot


def _streamed(store: Store) -> Store:
    """The store as a non-temporal one, if it stores whole vectors contiguously."""
    steps = as_sum(store.sources[1]).terms
    lanes: list[Range] = [r for r in store.ranges if r.level == "vector"]
    if len(lanes) != 1 or steps.get(lanes[0]) != 1:
        return store
    return Store(store.sources, store.is_part, True)
