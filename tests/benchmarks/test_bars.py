"""Bars, tables, the file of results and the picture, on results that are made up."""

import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from benchmarks import run as command
from benchmarks.bars import Check, checks, most_memory, share
from benchmarks.instruction_sets import SETS, excess
from benchmarks.measuring import environment
from benchmarks.peers import PEERS
from benchmarks.plot import plot
from benchmarks.report import bars, report
from benchmarks.results import Entry, Memory, Results, Run, entry, from_json, read, to_json
from benchmarks.summary import BEGIN, END
from benchmarks.workloads import WORKLOADS


def times(seconds: float, first: float = 0.5, rounds: int = 3) -> Entry:
    return Entry(seconds, first, (seconds, seconds), seconds, (seconds,) * rounds)


def made(**changes: float) -> Run:
    """A run in which every peer takes 20 times as long as we do, unless a name says otherwise."""
    row = {"svodviz": 1e-3, **{p: 20e-3 for p in PEERS if p != "svodviz"}} | changes
    entries = {name: times(s, 0.02 if name == "svodviz" else 1.0) for name, s in row.items()}
    workloads = {name: dict(entries) for name in WORKLOADS}
    limits = {name: WORKLOADS[name].nbytes / 0.95e-3 for name in WORKLOADS}
    memory = {name: Memory(200 * 10**6, 10**6, 100 * 10**6, 1000) for name in WORKLOADS}
    return Run(2, {"copy": 4e10, "fma": 4e11}, limits, workloads, memory)


def found(run: Run, workload: str, what: str) -> Check:
    (check,) = (c for c in checks(run) if (c.workload, c.what) == (workload, what))
    return check


def test_all_bars_are_reached_where_all_are_far() -> None:
    made_checks = checks(made())
    assert len(made_checks) > 80 and all(c.passed for c in made_checks)
    assert {"ew_chain", "gelu", "small_chain", "18 workloads"} <= {c.workload for c in made_checks}


@pytest.mark.parametrize(
    ("changes", "workload", "what", "measured", "passed"),
    [
        ({"jax": 2.4e-3}, "ew_chain", "jax", 2.4, False),
        ({"jax": 2.5e-3}, "ew_chain", "jax", 2.5, True),
        ({"torch": 9e-3, "torch out=": 1.4e-3}, "ew_chain", "torch", 1.4, False),
        ({"torch": 1.4e-3, "torch out=": 9e-3}, "gelu", "torch", 1.4, False),
        ({"numba": 0.96e-3}, "row_sum", "numba", 0.96, True),
        ({"numba": 0.94e-3}, "row_sum", "numba", 0.94, False),
        ({"numpy": 1.05e-3}, "matmul_2048", "numpy", 1.05, False),
        ({"torch": 0.8e-3}, "attention", "torch", 0.8, True),
        ({"torch": 0.8e-3}, "matmul_bias_relu", "torch", 0.8, False),
        ({"torch.compile": 3e-3, "jax": 5e-3}, "transpose", "the best peer", 3.0, False),
        ({"numba": 0.9e-3}, "small_chain", "the best peer", 0.9, False),
        ({"tinygrad": 2.6e-3}, "matmul_256", "tinygrad, each", 2.6, True),
        ({"tinygrad": 2.6e-3}, "18 workloads", "tinygrad, geometric mean", 2.6, False),
        ({"svodviz": 2e-3}, "gelu", "share of bandwidth", 0.475, False),
        ({"svodviz": 3e-3}, "small_chain", "per kernel", 3.0, False),
    ],
)
def test_one_bar(
    changes: dict[str, float], workload: str, what: str, measured: float, passed: bool
) -> None:
    check = found(made(**changes), workload, what)
    assert check.measured == pytest.approx(measured)
    assert check.passed is passed


def test_a_ratio_is_of_times_of_one_round() -> None:
    run = made()
    ours = Entry(2.0, 1.0, (1.0, 3.0), 1.0, (1.0, 2.0, 3.0))
    theirs = Entry(4.0, 1.0, (2.0, 9.0), 2.0, (2.0, 4.0, 9.0))
    run.workloads["gelu"] = {"svodviz": ours, "jax": theirs}
    assert run.ratio("gelu", "jax") == 2.0
    assert run.ratio("gelu", "torch") is None


def test_cold_compile_is_the_first_call_less_a_steady_one() -> None:
    run = made()
    row = run.workloads["softmax"]
    row["svodviz"], row["tinygrad"] = times(0.01, 0.06), times(0.1, 0.2)
    cold = found(run, "softmax", "cold compile")
    assert (round(cold.measured or 0), cold.bar, cold.passed) == (50, 45, False)
    share_of = found(run, "softmax", "cold compile ÷ tinygrad")
    assert share_of.measured == pytest.approx(0.5) and share_of.passed is False


def test_memory() -> None:
    run = made()
    run.memory["bmm"] = Memory(peak=500 * 10**6, planned=100 * 10**6, data=200 * 10**6, kernels=1)
    check = found(run, "bmm", "peak memory")
    assert (check.measured, check.bar, check.passed) == (300.0, 270.0, False)
    assert most_memory(Memory(0, 10**6, 0, 1)) == pytest.approx(151.2 * 10**6)


def test_what_is_missing_decides_nothing() -> None:
    run = made()
    del run.workloads["gelu"]["jax"], run.limit_nearby["gelu"]
    assert found(run, "gelu", "jax").passed is None
    assert share(run, "gelu") is None
    part = Run(2, {}, {}, {"gelu": run.workloads["gelu"]})
    assert {c.workload for c in checks(part)} == {"gelu", "1 workloads"}
    assert checks(Run(2)) == []


def test_an_entry_is_the_median_over_rounds() -> None:
    one = entry(0.9, 1e-7, [[1.0, 2.0, 9.0], [4.0], [3.0, 3.0]])
    assert (one.seconds, one.first, one.rounds) == (3.0, 0.9, (2.0, 4.0, 3.0))
    assert one.spread == (2.0, 4.0) and one.cold == 0.0 and one.least == 1.0


def results() -> Results:
    about = {"processor": "p", "llvm_cpu": "c", "cores": 2, "date": "2026-11-24 10:00"}
    return Results(about, made(), made(), {"gelu, x": "no such library"})


def test_the_file_of_results(tmp_path: Path) -> None:
    whole = results()
    assert from_json(to_json(whole)) == whole
    command.write(whole, tmp_path / "results.json", tmp_path / "docs" / "picture.svg")
    assert read(tmp_path / "results.json") == whole
    data = json.loads((tmp_path / "results.json").read_text())
    assert {"machine", "limits", "workloads"} <= data.keys()
    ours = data["workloads"]["ew_chain"]["svodviz"]
    assert ours["seconds"] == 1e-3 and ours["first"] == 0.02
    ElementTree.parse(tmp_path / "docs" / "picture.svg")
    command.write(whole, tmp_path / "held.json")
    assert read(tmp_path / "held.json") == whole


def test_two_runs_that_are_apart_decide_nothing() -> None:
    now, near, far = made(jax=7e-3), made(jax=7.9e-3), made(jax=8.5e-3)
    assert "undecided" not in bars(checks(now), checks(near))
    text = bars(checks(now), checks(far))
    rows = [line for line in text.splitlines() if "undecided" in line]
    assert all("8.50× in the run before" in row for row in rows)
    assert {"ew_chain", "gelu", "attention"} <= {row.split()[0] for row in rows}
    assert not any("met" in row.split() for row in rows)


def test_what_holds_every_peer_is_set_and_what_holds_by_chance_is_not(
    monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", {"OPENBLAS_CORETYPE": "Prescott", "HOME": "there"})
    with command.holding(""):
        assert os.environ == {"HOME": "there"}
    with command.holding("avx2"):
        assert os.environ["OPENBLAS_CORETYPE"] == "Haswell"
        assert os.environ["SVODVIZ_CPU"] == "haswell"
        assert SETS["avx2"].items() <= environment(Path("x"), 2).items()
    assert os.environ == {"OPENBLAS_CORETYPE": "Prescott", "HOME": "there"}


@pytest.mark.parametrize(("name", "used", "is_left_out"), [
    ("", "avx512", False), ("avx2", "avx2", False), ("avx2", "avx512", True), ("avx2", "", True),
    ("avx2", "default", True),
])  # fmt: skip
def test_who_uses_more_than_was_asked_for_is_left_out(
    name: str, used: str, is_left_out: bool
) -> None:
    assert bool(excess(name, used)) == is_left_out
    assert (used or "does not tell") in excess(name, used) or not is_left_out


def test_the_report_names_everything() -> None:
    text = report(results())
    for word in (*PEERS, "torch", "ew_chain", "GB/s", "GFLOP/s", "no such library", "targets: "):
        assert word in text
    assert "not met" not in text
    assert "not met" in report(Results({}, made(jax=1e-3)))
    assert all(len(line) < 200 for line in text.splitlines())


def test_the_picture_has_a_dot_per_ratio() -> None:
    root = ElementTree.fromstring(plot(made(numpy=0.4e-3, tinygrad=4.0)))
    space = "{http://www.w3.org/2000/svg}"
    titles = [t.text for t in root.iter(f"{space}title")]
    usual = [name for name in WORKLOADS if not WORKLOADS[name].is_awkward]
    assert len(titles) == len(usual) * (len(PEERS) - 1)
    assert "gelu: numpy takes 0.40 times as long as svodviz" in titles
    width = float(root.attrib["width"])
    assert all(0 < float(c.attrib["cx"]) < width for c in root.iter(f"{space}circle"))
    ElementTree.fromstring(plot(Run(1)))


def test_choices_of_workloads_and_peers() -> None:
    assert [w.name for w in command.chosen_workloads("gelu, bmm_awkward")] == [
        "gelu", "gelu_awkward", "bmm_awkward",
    ]  # fmt: skip
    assert len(command.chosen_workloads("")) == len(WORKLOADS)
    assert command.chosen_peers("jax") == ["svodviz", "jax"]
    assert command.chosen_peers("") == list(PEERS)
    for wrong in (lambda: command.chosen_workloads("gelo"), lambda: command.chosen_peers("tf")):
        with pytest.raises(SystemExit, match="no such"):
            wrong()


@pytest.mark.parametrize(
    ("arguments", "is_part"),
    [([], False), (["--workloads", "gelu"], True), (["--peers", "jax"], True), (["--brief"], True)],
)
def test_a_part_leaves_the_results_of_a_whole_run(
    arguments: list[str], is_part: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "results" / "c.json", tmp_path / "docs" / "benchmarks.svg"
    readme = tmp_path / "README"
    readme.write_text(untold := f"{BEGIN} {END}")
    places = (tmp_path, whole[0].parent, whole[1], readme, tmp_path / "build")
    monkeypatch.setattr(command, "machine", lambda *_: results().machine)
    for name, path in zip(("ROOT", "RESULTS", "PICTURE", "PAGE", "PART"), places, strict=True):
        monkeypatch.setattr(command, name, path)
    monkeypatch.setattr(command, "run", lambda *_: made())
    command.main(arguments)
    parts = tuple(tmp_path / "build" / path.name for path in whole)
    assert set(tmp_path.rglob("*.*")) == set(parts if is_part else whole)
    assert (readme.read_text() == untold) == is_part
