"""A run on a cluster as data for the page: lanes of workers, bars and waits, on one clock.

Of very long runs the bars that took the longest are sent; what needed the others says so no more.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.distributed.bars import Bar
    from compiler.distributed.timeline import Timeline
    from compiler.distributed.waits import Wait
    from svodviz.data import answers

MOST_BARS = 20_000
"""A choice: 2 MB of a page."""


def lanes_row(found: "Timeline") -> "answers.Lanes":
    """One run on a cluster."""
    sent = _sent(found)
    places = {number: place for place, number in enumerate(sent)}
    waits = (wait for wait in found.waits if wait.next in places)
    return {
        "run": visible(found.run),
        "ns": found.ns,
        "lanes": [(visible(it.name), visible(it.address), it.error) for it in found.lanes],
        "bars": [_bar(found, number, places) for number in sent],
        "unsent": len(found.bars) - len(sent),
        "waits": [_wait(found, wait, places) for wait in waits],
        "path": [places[number] for number in found.path if number in places],
        "error": found.error,
        "moved": found.moved,
        "sent": found.sent,
        "fetched": found.fetched,
        "again": list(found.again),
        "lost": [visible(it) for it in found.lost],
        "dashboard": _link(found.dashboard),
    }


def _sent(found: "Timeline") -> Sequence[int]:
    """The numbers of the bars that are sent, in order."""
    every = range(len(found.bars))
    if len(every) <= MOST_BARS:
        return every
    path = set(found.path)
    order = sorted(every, key=lambda n: (n not in path, -found.bars[n].ns, n))
    return sorted(order[:MOST_BARS])


def _bar(found: "Timeline", number: int, places: dict[int, int]) -> "answers.LaneBar":
    bar: Bar = found.bars[number]
    item = -1 if bar.item is None else bar.item
    source = -1 if bar.source is None else bar.source
    needs = [places[n] for n in bar.needs if n in places]
    words = visible(found.words(number))
    return (bar.lane, bar.kind, bar.begin, bar.end, item, visible(bar.name), bar.nbytes, source,
            needs, words)  # fmt: skip


def _wait(found: "Timeline", wait: "Wait", places: dict[int, int]) -> "answers.LaneWait":
    on = -1 if wait.on is None else places.get(wait.on, -1)
    words = visible(found.because(wait))
    return wait.lane, wait.begin, wait.end, places[wait.next], on, wait.ready, words


def _link(address: str) -> str:
    """The address of a page; "" of anything else."""
    shown = visible(address)
    return shown if urlsplit(shown).scheme in ("http", "https") else ""
