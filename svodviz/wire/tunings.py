"""What a search over loop choices tried, as data for the page.

    tuning  {"words", "best": number, "trials": [trial]}          by name of kernel
    trial   [number, parent (-1: none), change, seconds or null, refused, choices]

A compilation that was not tuned has none.
"""

from typing import Any

from svodviz.foundation.escape import visible
from svodviz.wire.scene import Wire


def tuning_rows(compilation: Any) -> Wire:
    """The search of each kernel that was tuned, or that could not be."""
    return {
        visible(made.name): {
            "words": visible(made.words),
            "best": made.best.number,
            "trials": [_trial(trial) for trial in made.tried],
        }
        for made in getattr(compilation, "tuning", ())
    }


def _trial(trial: Any) -> list[Any]:
    from compiler.loops.choices import text

    parent = -1 if trial.parent is None else trial.parent
    choices = text(trial.choices) or "plain"
    refused = visible(trial.refused)
    return [trial.number, parent, visible(trial.change), trial.seconds, refused, visible(choices)]
