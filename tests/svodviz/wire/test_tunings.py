"""Searches over loop choices as data for the page."""

import json
from types import SimpleNamespace
from typing import Any

from compiler.loops.choices import parse
from compiler.tune.duel import Duel
from compiler.tune.trials import Trial
from compiler.tune.tuning import Found, Tuning
from svodviz.wire.tunings import tuning_rows
from tests.playground.programs import product
from tests.svodviz.sample import sample

TRIALS = (
    Trial(0, None, "the default", parse("tile i0 8"), 2e-6),
    Trial(1, 0, "tile i0 8 → 16", parse("tile i0 16"), 1e-6),
    Trial(2, 0, "plain", parse(""), None, "slow\u202e"),
)


def test_a_search_has_its_trials_and_the_best() -> None:
    found = Found(TRIALS, 1, Duel(2e-6, 1e-6, 1e-6, 1e-8, 9))
    made = Tuning(title="tuning k0", name="k0", kernel=0, found=found)
    holder: Any = SimpleNamespace(tuning=(made,))
    row = tuning_rows(holder)["k0"]
    assert row["best"] == 1 and row["words"] == made.words
    assert row["trials"][1] == (1, 0, "tile i0 8 → 16", 1e-6, "", "tile i0 16 peel")
    assert row["trials"][2] == (2, 0, "plain", None, "slow\\u202e", "plain")
    json.dumps(row, allow_nan=False)


def test_what_was_not_tuned_has_none() -> None:
    assert tuning_rows(product()) == {}
    assert tuning_rows(sample()) == {}
