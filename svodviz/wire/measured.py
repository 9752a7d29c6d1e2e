"""What one run takes, measured: what the page asks, what exports carry, and the same in Python.

    measure   {}
      answer  {"items": [item or null], "path": [item], "whole": ns or null, "call": ns, "rounds",
               "machine", "notes": [text], "results": [preview], "seconds"}
      item    {"ns", "low", "high", "rounds", "start", "late", "cost", "critical", "bound"}

Items are in the order of the schedule's, null where the time did not suffice; times are
nanoseconds, `start` and `late` when an item could start and must, by the times measured. Where the
program cannot run the answer is {"problem": words}. Nothing is run before somebody asks: the page,
`explore(x, measure=True)`, or `svodviz.measure(x)`.
"""

from typing import TYPE_CHECKING, Any

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Json, Progress, key_of, request
from svodviz.foundation.subject import compilation_of
from svodviz.foundation.values import preview
from svodviz.wire.items import is_tight
from svodviz.wire.scene import Wire, plain

if TYPE_CHECKING:
    from compiler.ask.measurement import Measurement

SECONDS = 1.0


@request("measure", is_kept=True)
def measured(explorer: Any, arguments: dict[str, Any], progress: Progress) -> Json:
    """The program is run a few times, now."""
    progress("running the program a few times …")
    return measured_row(explorer.compilation.measure(seconds=SECONDS))


def recorded_run(compilation: Any, seconds: float = SECONDS) -> dict[str, Json]:
    """The question and its answer, for pages without Python."""
    try:
        answer = measured_row(compilation.measure(seconds=seconds))
    except Exception as error:  # a program without its data is still worth exploring
        answer = {"problem": visible(f"{error}")}
    return {key_of("measure", {}): answer}


def measure(subject: Any, *inputs: Any, seconds: float = SECONDS) -> "Measurement":
    """Run a tensor or compilation for so many seconds; `print` what each item takes.

    `subject` is what `explore` takes. Raises TypeError where it is nothing to explore, and
    `DataError` where the program lacks data.
    """
    compilation = compilation_of(subject, *inputs, by="measure")
    found: Measurement = compilation.measure(seconds=seconds)
    return found


def is_measurable(compilation: Any) -> bool:
    """Whether a compilation can be asked at all: it has items, and says how to run them."""
    return hasattr(compilation, "measure") and bool(getattr(compilation.schedule, "items", ()))


def measured_row(found: "Measurement") -> Wire:
    """The answer."""
    return {
        "items": [_item(found, number) for number in range(len(found.schedule.items))],
        "path": list(found.critical_path),
        "whole": plain(found.whole),
        "call": plain(found.call),
        "rounds": found.rounds,
        "machine": visible(found.machine),
        "notes": [visible(note) for note in found.notes],
        "results": [preview(array) for array in found.results],
        "seconds": plain(found.seconds),
    }


def _item(found: "Measurement", number: int) -> Wire | None:
    time, when = found.by_item.get(number), found.timings[number]
    if time is None:
        return None
    return {
        "ns": plain(time.ns),
        "low": plain(time.low),
        "high": plain(time.high),
        "rounds": time.rounds,
        "start": when.earliest_start,
        "late": when.latest_start,
        "cost": when.cost,
        "critical": is_tight(when),
        "bound": visible(found.bound(time)),
    }
