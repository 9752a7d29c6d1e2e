"""The playground of an explorer, without a page: what it is asked, what it keeps, Python access."""

import gc
import json
import re
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import svodviz
from compiler.core.errors import DataError
from compiler.loops.choices import parse
from compiler.playground import playground as core
from compiler.playground import roofs
from compiler.playground.roofs import Roofs
from compiler.tune.duel import Duel
from compiler.tune.trials import Trial
from compiler.tune.tuning import Found, Tuning
from svodviz.cli.program import run
from svodviz.foundation.requests import respond
from svodviz.wire import grounds
from svodviz.wire.grounds import tuning_rows
from svodviz.wire.payload import wire
from tests.playground.programs import TILED, gathered, product
from tests.svodviz.sample import sample


@pytest.fixture(autouse=True)
def _brief(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(core, "SECONDS", 0.0)
    yield


def small() -> Any:
    return product(rows=32, columns=32, depth=32, loops="auto")


def ask(explorer: Any, name: str, **arguments: Any) -> Any:
    """The last message that a request is answered by."""
    sent: list[dict[str, Any]] = []
    content = {"kind": "request", "id": 1, "name": f"playground: {name}", "arguments": arguments}
    respond(explorer, content, sent.append)
    json.dumps(sent, allow_nan=False)
    return sent[-1]


def answer(explorer: Any, name: str, **arguments: Any) -> Any:
    said = ask(explorer, name, **arguments)
    assert said["kind"] == "answer", said
    return said["result"]


def test_exploring_tries_nothing() -> None:
    explorer = svodviz.explore(small())
    nothing = {"kernels": {}, "roofs": {}, "tunings": {}}
    assert explorer.wire["playground"] == grounds.recorded(explorer.compilation) == nothing


def test_a_kernel_is_opened_and_choices_are_tried() -> None:
    explorer = svodviz.explore(small())
    row = answer(explorer, "kernel", kernel="k0")
    assert [axis[0] for axis in row["axes"]] == ["i0", "i1", "r2"]
    assert row["labels"]["1"] == "a" and row["points"] == []
    point = answer(explorer, "try", kernel="k0", choices=TILED)
    assert point["number"] == 0 and point["time"]["seconds"] > 0
    assert [level[0] for level in point["cache"]["levels"]] == ["L1", "L2", "L3"]
    assert point["cache"]["memories"][1][:2] == ("in1", "a")
    assert any("f32x16" in line for line in point["texts"]["lowered"])
    assert point["texts"]["asm"] and point["trace"] is None
    trace = answer(explorer, "trace", kernel="k0", point=0)
    assert len(trace["steps"]) % 3 == 0 and len(trace["intervals"]) > 10
    kept = grounds.recorded(explorer.compilation)["kernels"]["k0"]["points"][0]
    assert kept["trace"] == trace and kept["text"] == point["text"]


def test_an_illegal_choice_is_an_answer_in_words() -> None:
    point = answer(svodviz.explore(small()), "try", kernel="k0", choices="tile i7 16")
    assert "there is no axis i7" in point["refused"]
    assert point["texts"] is None and point["time"] is None


def test_a_kernel_that_is_none_is_told() -> None:
    said = ask(svodviz.explore(small()), "kernel", kernel="k\u202e9")
    assert said["kind"] == "failure" and "no such kernel" in said["words"]
    assert "\u202e" not in said["words"]


def test_limits_are_measured() -> None:
    row = answer(svodviz.explore(small()), "roofs", threads=1)
    assert row["peak"] > row["alone"] > 0 and [n for n, _ in row["levels"]][-1] == "memory"


def test_the_playground_opens_with_points_and_exports_them() -> None:
    explorer = svodviz.playground(small(), choices=[TILED, "tile i9 4"])
    assert explorer.state["view"] == "playground" and explorer.state["stage"] == "loops"
    points = explorer.wire["playground"]["kernels"]["k0"]["points"]
    assert [p["label"] for p in points] == ["plain", "the compiler's own", "", ""]
    assert points[2]["trace"] and points[3]["refused"]
    assert "1" in explorer.wire["playground"]["roofs"]
    answer(explorer, "try", kernel="k0", choices="tile i0 8")
    recorded = grounds.recorded(explorer.compilation)["kernels"]["k0"]["points"]
    assert [p["text"] for p in recorded][-1] == "tile i0 8 peel"
    assert len(explorer.export_html()) > 10_000


def test_one_point_from_python() -> None:
    point = svodviz.try_loops(small(), "tile i0 8; reorder i0.0 i1 i0.1")
    assert point.timing is not None and "L1 48 KiB" in repr(point)
    assert "no axis" in svodviz.try_loops(small(), "tile i9 8", kernel="k0").refused


def test_caches_from_python_without_running() -> None:
    own, plain = svodviz.simulate_cache(small()), svodviz.simulate_cache(small(), "k0", "plain")
    assert plain.accesses == 2 * 32**3 + 32**2 > own.accesses
    assert re.match(r"k0: 66,560 accesses, 192 lines touched \(12 KiB\)", repr(plain))
    assert svodviz.simulate_cache(small(), "k0", "plain", limit=10).accesses == 10


def test_what_cannot_be_simulated_says_why() -> None:
    with pytest.raises(DataError, match="in memory"):
        svodviz.simulate_cache(gathered())
    point = answer(svodviz.explore(gathered()), "try", kernel="k0", choices="own")
    assert "values in memory" in point["unseen"] and point["cache"] is None


def test_long_texts_say_what_they_leave_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("svodviz.wire.playpoints.MOST_LINES", 3)
    point = answer(svodviz.explore(small()), "try", kernel="k0", choices="plain")
    assert len(point["texts"]["asm"]) == 4
    assert re.fullmatch(r"… \d+ more lines", point["texts"]["asm"][-1])


def test_points_belong_to_the_compilation() -> None:
    compilation = small()
    svodviz.playground(compilation, choices=["tile i0 8"])
    again = svodviz.explore(compilation).wire["playground"]["kernels"]["k0"]["points"]
    assert [p["text"] for p in again][-1] == "tile i0 8 peel" and again[-1]["trace"]


def test_a_compilation_that_is_gone_takes_its_points_along() -> None:
    compilation = small()
    svodviz.explore(compilation)
    grounds.grounds_of(compilation).of("k0")
    alive = weakref.ref(grounds.grounds_of(compilation))
    vars(compilation).clear()
    gc.collect()
    assert alive() is None


def test_a_program_on_the_command_line_exports_its_points(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np\nimport svodviz\nfrom compiler import Tensor\n"
        "x = Tensor(np.ones((24, 24), np.float32))\n"
        "svodviz.playground(x @ x, choices=['tile i0 8'])\n"
    )
    (found,) = run(str(program), [])
    kernels = wire(found.compilation)["playground"]["kernels"]
    assert [p["text"] for p in kernels["k0"]["points"]][-1] == "tile i0 8 peel"
    assert found.shown is not None and found.shown.state["view"] == "playground"


def test_limits_below_what_a_kernel_reached_are_measured_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    explorer = svodviz.playground(small(), choices=[TILED])
    speeds = (100.0, 50.0, 25.0, 10.0)
    fastest = max(it.speed for it in grounds.grounds_of(explorer.compilation).of("k0").points)
    found = iter([Roofs("m", 1, fastest * share, 1.0, speeds) for share in (0.5, 0.9, 1.5, 2.0)])
    monkeypatch.setattr(roofs, "measure_roofs", lambda threads: next(found))
    assert answer(explorer, "roofs", threads=1)["peak"] == pytest.approx(fastest * 1.5)
    assert next(found).peak == fastest * 2.0, "a sufficient limit is not measured again"


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
