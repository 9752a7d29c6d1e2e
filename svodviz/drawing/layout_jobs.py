"""Layouts that the page asks for: Graphviz in a process of its own, looked at until it is done.

    "layout: start"   {"boxes": [[w, h, group]], "edges": [[from, to]]}  ->  {"job": n}
    "layout: look"    {"job": n}  ->  {"state": "running", "seconds"}
                                      {"state": "done", "places", "routes", "seconds"}
                                      {"state": "failed", "words"}
    "layout: stop"    {"job": n}  ->  {}

Nothing here waits: the kernel stays free, the page asks again. A worker that takes longer than
`SECONDS_ALLOWED` is stopped, by a look, or by itself where nobody looks any more.
"""

import itertools
import json
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from compiler.core import isolated
from svodviz.drawing import graphviz_layout
from svodviz.drawing.layout import LARGE
from svodviz.foundation.requests import Arguments, Asked, Progress, request

# Choices: Graphviz quick took 4 s for 10,000 nodes (two cores with Debian 12, at a date not on
# record).
SECONDS_ALLOWED = 60.0
MOST_BOXES = 20_000
WORKER = Path(graphviz_layout.__file__)


@dataclass
class Job:
    """A running worker, the file that it answers into, and when it began."""

    process: "subprocess.Popen[bytes]"
    answer: IO[bytes]
    started: float


_JOBS: dict[int, Job] = {}
_numbers = itertools.count(1)


@request("layout: start")
def start(explorer: Asked, arguments: Arguments, progress: Progress) -> dict[str, int]:
    """Begins a layout; the answer has its number."""
    boxes, edges = _sound(arguments.get("boxes"), arguments.get("edges"))
    answer = tempfile.TemporaryFile()  # noqa: SIM115 - read and closed once the worker is done
    with tempfile.TemporaryFile() as question:
        asked = {"boxes": boxes, "edges": edges, "quick": len(boxes) > LARGE}
        question.write(json.dumps(asked).encode())
        question.seek(0)
        process = subprocess.Popen(
            isolated.script(str(WORKER), str(int(SECONDS_ALLOWED))),
            stdin=question, stdout=answer, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    number = next(_numbers)
    _JOBS[number] = Job(process, answer, time.monotonic())
    return {"job": number}


def _sound(
    boxes: object, edges: object
) -> tuple[list[tuple[float, float, str]], list[tuple[int, int]]]:
    """The graph that was asked for; ValueError where it is none, or too large."""
    if not isinstance(boxes, list) or not isinstance(edges, list):
        raise ValueError("a layout needs boxes and edges")
    if len(boxes) > MOST_BOXES:
        raise ValueError(f"{len(boxes):,} boxes: Graphviz is asked for up to {MOST_BOXES:,}")
    sound = [(float(width), float(height), str(group)) for width, height, group in boxes]
    pairs = [(int(source), int(target)) for source, target in edges]
    if any(not 0 <= end < len(sound) for pair in pairs for end in pair):
        raise ValueError("a layout has an edge to a box that is not there")
    return sound, pairs


@request("layout: look")
def look(explorer: Asked, arguments: Arguments, progress: Progress) -> dict[str, object]:
    """The progress of a layout; one that is done or has failed is removed."""
    number = arguments.get("job")
    if not isinstance(number, int) or number not in _JOBS:
        raise LookupError("this layout is over")
    job = _JOBS[number]
    seconds = time.monotonic() - job.started
    code = job.process.poll()
    if code is None and seconds <= SECONDS_ALLOWED:
        return {"state": "running", "seconds": seconds}
    answer = _ended(number)
    if code == 0:
        layout = json.loads(answer)
        return {"state": "done", "seconds": seconds,
                "places": layout["places"], "routes": layout["routes"]}  # fmt: skip
    words = f"no layout within {SECONDS_ALLOWED:.0f} s" if seconds > SECONDS_ALLOWED else (
        "Graphviz could not lay this graph out")  # fmt: skip
    return {"state": "failed", "words": words}


@request("layout: stop")
def stop(explorer: Asked, arguments: Arguments, progress: Progress) -> dict[str, object]:
    """Stops a layout; one that is over already is no mistake."""
    number = arguments.get("job")
    if isinstance(number, int) and number in _JOBS:
        _ended(number)
    return {}


def _ended(number: int) -> bytes:
    """The output of a worker, which is stopped where it still runs."""
    job = _JOBS.pop(number)
    if job.process.poll() is None:
        job.process.kill()
    job.process.wait()
    with job.answer as file:
        file.seek(0)
        return file.read()
