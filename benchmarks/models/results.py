"""The results: for each model and runtime the times of calls, of the first one, and memory."""

import json
import math
import statistics
from dataclasses import asdict, dataclass, field
from typing import Any

OURS = "svodviz"
FAST = ("torch", "onnxruntime")
"""The runtimes of which the better is the one to be beaten."""
LEAST, MEAN, TINYGRAD, COLD, AGAIN, MEMORY = 0.75, 1.0, 5.0, 0.25, 0.6, 1.0


@dataclass
class Measured:
    """One runtime on one model."""

    seconds: list[float] = field(default_factory=list)
    first: float = 0.0
    """Seconds from the file to the first result, with empty caches, beyond imports."""
    again: float = 0.0
    """The same in a second process; 0 where nothing was asked."""
    error: float = 0.0
    peak: int = 0
    missing: str = ""

    @property
    def median(self) -> float:
        """Of the calls, in milliseconds; NaN without any."""
        return 1e3 * statistics.median(self.seconds) if self.seconds else math.nan


@dataclass
class Model:
    """One model on all runtimes."""

    name: str
    runtimes: dict[str, Measured] = field(default_factory=dict)

    def ratio(self, *peers: str) -> float:
        """The better of the peers' times, of ours: more than 1 where ours is faster."""
        times = [self.runtimes[peer].median for peer in peers if peer in self.runtimes]
        known = [each for each in times if not math.isnan(each)]
        return min(known) / self.runtimes[OURS].median if known else math.nan


def mean(ratios: list[float]) -> float:
    """The geometric mean of those that are known."""
    known = [math.log(each) for each in ratios if not math.isnan(each)]
    return math.exp(sum(known) / len(known)) if known else math.nan


@dataclass
class Models:
    """A run: the machine, and its models."""

    machine: dict[str, Any]
    models: list[Model]


def to_json(results: Models) -> str:
    """The results as text."""
    return json.dumps(asdict(results), indent=1)


def from_json(text: str) -> Models:
    """The results in a text; the inverse of `to_json`."""
    made = json.loads(text)
    models = [
        Model(each["name"], {k: Measured(**v) for k, v in each["runtimes"].items()})
        for each in made["models"]
    ]  # fmt: skip
    return Models(made["machine"], models)
