"""The trials of a search over loop choices, as data for the page, by name of kernel.

A compilation that was not tuned has none.
"""

from typing import TYPE_CHECKING

from svodviz.foundation.escape import visible

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from compiler.tune.trials import Trial
    from svodviz.data import answers


def tuning_rows(compilation: "Compilation") -> "dict[str, answers.Tuning]":
    """The search of each kernel that was tuned, or that could not be."""
    return {
        visible(made.name): {
            "words": visible(made.words),
            "best": made.best.number,
            "trials": [_trial(trial) for trial in made.tried],
        }
        for made in compilation.tuning
    }


def _trial(trial: "Trial") -> "answers.TrialRow":
    from compiler.loops.choices import text

    parent = -1 if trial.parent is None else trial.parent
    choices = text(trial.choices) or "plain"
    refused = visible(trial.refused)
    return trial.number, parent, visible(trial.change), trial.seconds, refused, visible(choices)
