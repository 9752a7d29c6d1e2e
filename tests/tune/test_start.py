"""The search is loaded, and run, only where it is asked for; its choices become options."""

import subprocess
import sys

from compiler.loops.choices import parse
from compiler.settings.options import Options
from compiler.tune.start import tuned
from tests.tune.test_tuning import TUNING

SCRIPT = """
import sys
import numpy as np
from compiler import Options, Tensor, compile
(Tensor(np.ones(4, np.float32)) * 2).numpy()
assert "compiler.tune.tune" not in sys.modules
compile(Tensor(np.ones(4, np.float32)) * 2, Options(tune=0.1, cache=False))
assert "compiler.tune.tune" in sys.modules
"""


def test_the_search_is_loaded_when_it_is_asked_for() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


def test_without_a_search_options_stay() -> None:
    options = Options(tune=3.0)
    assert tuned(options, ()) is options


def test_what_was_found_becomes_choices_by_name() -> None:
    options = tuned(Options(tune=3.0, optimize=2), (TUNING,))
    assert options == Options(optimize=2, loops={"k3": parse("tile i0 32 mask; reorder i0.1 i0.0")})
