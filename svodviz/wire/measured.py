"""The measured time of one run: for the page, for exports, and in Python.

Items are in the order of the schedule's, null where the time did not suffice; times are
nanoseconds, `start` and `late` when an item could start and must, by the times measured. Where the
program cannot run the answer is {"problem": words}. Nothing is run before somebody asks: the page,
`explore(x, measure=True)`, or `svodviz.measure(x)`.
"""

from typing import TYPE_CHECKING, cast

from svodviz.foundation.escape import visible
from svodviz.foundation.requests import Arguments, Asked, Progress, key_of, request
from svodviz.foundation.subject import compilation_of
from svodviz.foundation.values import preview
from svodviz.wire.findings import finding_rows
from svodviz.wire.lanes import lanes_row
from svodviz.wire.scene import number

if TYPE_CHECKING:
    from compiler.ask.measurement import Measurement
    from compiler.distributed.timeline import Timeline
    from compiler.program.compilation import Compilation
    from svodviz.data import answers

SECONDS = 1.0
"""Seconds that the program runs to be measured. A choice."""


@request("measure", is_kept=True)
def measured(explorer: Asked, arguments: Arguments, progress: Progress) -> "answers.Measurement":
    """Runs the program a few times and measures it."""
    progress("running the program a few times …")
    return _answer(explorer.compilation, SECONDS)


def recorded_run(compilation: "Compilation", seconds: float = SECONDS) -> "answers.Recorded":
    """The question and its answer, for pages without Python."""
    try:
        answer: answers.Answer = _answer(compilation, seconds)
    except Exception as error:  # a program without its data is still worth exploring
        answer = {"problem": visible(f"{error}")}
    return {key_of("measure", {}): answer}


def _answer(compilation: "Compilation", seconds: float) -> "answers.Measurement":
    """A program measured now, with the findings that rest on its times."""
    row = measured_row(compilation.measure(seconds=seconds))
    row["findings"] = finding_rows(compilation)
    return row


def measure(subject: object, *inputs: object, seconds: float = SECONDS) -> "Measurement":
    """Run a tensor or compilation for so many seconds; `print` what each item takes.

    `subject` is what `explore` takes. Raises TypeError where it is nothing to explore, and
    `DataError` where the program lacks data.
    """
    compilation = compilation_of(subject, *inputs, by="measure")
    return compilation.measure(seconds=seconds)


def is_measurable(compilation: "Compilation") -> bool:
    """True if there is anything to measure."""
    return bool(compilation.schedule.items)


def measured_row(measurement: "Measurement") -> "answers.Measurement":
    """The answer."""
    row: answers.Measurement = {
        "items": [_item(measurement, at) for at in range(len(measurement.schedule.items))],
        "path": list(measurement.critical_path),
        "whole": None if measurement.whole is None else number(measurement.whole),
        "call": number(measurement.call),
        "rounds": measurement.rounds,
        "machine": visible(measurement.machine),
        "notes": [visible(note) for note in measurement.notes],
        "results": [preview(array) for array in measurement.results],
        "seconds": number(measurement.seconds),
    }
    if measurement.timeline is not None:
        row["lanes"] = lanes_row(cast("Timeline", measurement.timeline))
    return row


def _item(measurement: "Measurement", position: int) -> "answers.Time | None":
    time, when = measurement.by_item.get(position), measurement.timings[position]
    if time is None:
        return None
    return {
        "ns": number(time.ns),
        "low": number(time.low),
        "high": number(time.high),
        "rounds": time.rounds,
        "start": when.earliest_start,
        "late": when.latest_start,
        "cost": when.cost,
        "critical": when.is_critical,
        "bound": visible(measurement.bound(time)),
    }
