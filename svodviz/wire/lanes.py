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


def lanes_row(timeline: "Timeline") -> "answers.Lanes":
    """One run on a cluster."""
    sent = _sent(timeline)
    places = {number: place for place, number in enumerate(sent)}
    waits = (wait for wait in timeline.waits if wait.next in places)
    return {
        "run": visible(timeline.run),
        "ns": timeline.ns,
        "lanes": [(visible(it.name), visible(it.address), it.error) for it in timeline.lanes],
        "bars": [_bar(timeline, number, places) for number in sent],
        "unsent": len(timeline.bars) - len(sent),
        "waits": [_wait(timeline, wait, places) for wait in waits],
        "path": [places[number] for number in timeline.path if number in places],
        "error": timeline.error,
        "moved": timeline.moved,
        "sent": timeline.sent,
        "fetched": timeline.fetched,
        "again": list(timeline.again),
        "lost": [visible(it) for it in timeline.lost],
        "dashboard": _link(timeline.dashboard),
    }


def _sent(timeline: "Timeline") -> Sequence[int]:
    """The numbers of the bars that are sent, in order."""
    every = range(len(timeline.bars))
    if len(every) <= MOST_BARS:
        return every
    path = set(timeline.path)
    order = sorted(every, key=lambda n: (n not in path, -timeline.bars[n].ns, n))
    return sorted(order[:MOST_BARS])


def _bar(timeline: "Timeline", number: int, places: dict[int, int]) -> "answers.LaneBar":
    bar: Bar = timeline.bars[number]
    item = -1 if bar.item is None else bar.item
    source = -1 if bar.source is None else bar.source
    needs = [places[n] for n in bar.needs if n in places]
    words = visible(timeline.words(number))
    return (bar.lane, bar.kind, bar.begin, bar.end, item, visible(bar.name), bar.nbytes, source,
            needs, words)  # fmt: skip


def _wait(timeline: "Timeline", wait: "Wait", places: dict[int, int]) -> "answers.LaneWait":
    on = -1 if wait.on is None else places.get(wait.on, -1)
    words = visible(timeline.because(wait))
    return wait.lane, wait.begin, wait.end, places[wait.next], on, wait.ready, words


def _link(address: str) -> str:
    """The address of a page; "" of anything else."""
    shown = visible(address)
    return shown if urlsplit(shown).scheme in ("http", "https") else ""
