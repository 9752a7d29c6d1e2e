"""The report of the models' benchmark, from invented times."""

import json
import math
from pathlib import Path

import pytest

from benchmarks.models.report import BEGIN, END, cold, summary, table, targets, tell
from benchmarks.models.results import Measured, Model, Models, from_json, mean, to_json
from benchmarks.models.run import RESULTS
from benchmarks.run import PAGE


def _model(name: str, **medians: float) -> Model:
    made = {each: Measured([value / 1e3] * 3, first=value, error=1e-6, peak=10**8)
            for each, value in medians.items()}  # fmt: skip
    return Model(name, made)


MODELS = [
    _model("resnet18", svodviz=10.0, torch=12.0, onnxruntime=8.0, torch_compile=90.0, tinygrad=100),
    _model("lstm", svodviz=10.0, torch=20.0, onnxruntime=30.0),
]


def test_the_better_peer_is_the_one_to_beat() -> None:
    assert [each.ratio("torch", "onnxruntime") for each in MODELS] == [0.8, 2.0]
    assert math.isnan(MODELS[1].ratio("tinygrad"))
    assert mean([0.5, 2.0, math.nan]) == pytest.approx(1.0)


def test_the_table_has_a_row_for_each_model() -> None:
    lines = table(MODELS)
    assert len(lines) == 4
    assert "| resnet18 | 10.00 | 12.00 | 90.00 | 8.00 | 100.00 | 0.80 | 1e-06 |" in lines
    assert "| – | 2.00 |" in lines[-1]
    assert len(cold(MODELS)) == 4


def test_targets_are_met_or_not() -> None:
    lines = targets(MODELS)
    words = "geometric mean over the better of PyTorch and ONNX Runtime"
    assert f"{words}: 1.26, target 1.0: met" in lines
    assert "smallest of these ratios: 0.80, target 0.75: met" in lines
    MODELS[0].runtimes["svodviz"].seconds = [0.02]
    try:
        assert "smallest of these ratios: 0.40, target 0.75: not met" in targets(MODELS)
    finally:
        MODELS[0].runtimes["svodviz"].seconds = [0.01] * 3
    assert "first result, largest ratio to torch.compile: 0.11, target 0.25: met" in lines
    assert "resnet18 in a second process, s: –, target 0.6: unknown" in lines


def test_what_is_missing_is_said_where_its_figures_would_be() -> None:
    made = _model("gpt2", svodviz=1.0)
    made.runtimes["tinygrad"] = Measured(missing="KeyError: 'x'")
    assert "KeyError: 'x'" in cold([made])[-1]
    results = Models({}, [made])
    assert json.loads(to_json(results))["models"][0]["runtimes"]["tinygrad"]["seconds"] == []
    assert from_json(to_json(results)) == results


def test_a_new_summary_replaces_the_old_one(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"before {BEGIN} earlier {END} after")
    machine = {"processor": "P", "llvm_cpu": "p", "threads": 2, "date": "2026-11-24 1",
               "versions": {"torch": "2"}}  # fmt: skip
    for _ in range(2):
        tell(page, Models(machine, MODELS))
        text = page.read_text()
        assert "earlier" not in text and text.startswith("before ") and text.endswith(" after")
    row = "| `resnet18` | 10 | 1.20 | 9.00 | 0.80 | 10.00 | 10.00 | – | 90.0 | 100 | 100 |"
    assert row in text and "P (p), 2 threads, 2026-11-24, compared with torch 2." in text
    assert "* peak memory, largest ratio to ONNX Runtime: 1.00\n" in text
    assert "* the same for models in float32: 1.26\n" in text and "target" not in text


def test_the_readme_tells_the_results_beside_it() -> None:
    written = PAGE.read_text().split(BEGIN)[1].split(END)[0]
    assert written.strip() == summary(from_json(RESULTS.read_text()))
