"""Where a compilation asks for a search. The search itself is loaded by the first that asks."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from compiler.core.origin import no_origin
from compiler.pipeline.scheduling import Scheduled
from compiler.settings.options import Measured, Options

if TYPE_CHECKING:
    from compiler.tune.tuning import Tuning


def tunings_of(made: Scheduled, options: Options) -> "tuple[Tuning, ...]":
    """The search for each kernel of a program; () where `Options.tune` gives no time."""
    if not options.tune:
        return ()
    from compiler.tune.tune import tune

    with no_origin():
        return tune(made.outlined.bodies, made.items, options)


def tuned(options: Options, tunings: "Sequence[Tuning]") -> Options:
    """The options that lead to what was found: its choices for each kernel, and no search."""
    if not tunings:
        return options
    found = Measured({tuning.name: tuning.best.choices for tuning in tunings})
    return replace(options, tune=0.0, loops=found)
