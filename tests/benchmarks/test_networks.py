"""Whole networks, small: right on svodviz, split into kernels, measured; results reported."""

import ast
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks.measuring import ROOT, Effort
from benchmarks.networks import measuring, ours, run
from benchmarks.networks.alone import Alone, OneByOne, alone, total_ns
from benchmarks.networks.bars import checks
from benchmarks.networks.kernels import KernelTime, far, kernels, machine, plain, roof_ns
from benchmarks.networks.library import Library
from benchmarks.networks.network import Network
from benchmarks.networks.report import BEGIN, END, report, summary, tell
from benchmarks.networks.results import Found, Results, from_json, to_json
from benchmarks.networks.worker import Session
from benchmarks.networks.zoo import NETWORKS
from benchmarks.results import OURS, Entry
from benchmarks.run import PAGE
from benchmarks.worker import error
from compiler import MachineModel
from compiler.core.reason import Reason
from compiler.loops.choices import Refused, Vectorize, chosen
from compiler.schedule.items import ItemAnalysis
from tests.benchmarks.small import NETS

ON_TORCH = ROOT / "benchmarks" / "networks" / "on_torch.py"
BY_NAME = {network.name: network for network in NETS}


def test_every_network_has_a_small_one() -> None:
    assert BY_NAME.keys() == NETWORKS.keys()


@pytest.mark.parametrize("network", NETS, ids=lambda network: network.name)
def test_ours_agrees_with_numpy_in_float64(network: Network) -> None:
    expected, call = network.expected(), ours.call(network)
    assert expected.dtype == np.float64
    assert 1e-3 < np.abs(expected).max() < 1e6, "what vanishes or overflows compares nothing"
    for _ in range(2):
        assert error(call(), expected) < 1e-5


def test_pytorch_has_every_operation() -> None:
    """Read, not imported: the library need not be installed."""
    (made,) = (it for it in ast.parse(ON_TORCH.read_text()).body if isinstance(it, ast.ClassDef))
    names = {it.name for it in made.body if isinstance(it, ast.FunctionDef)}
    assert Library.__abstractmethods__ <= names


@pytest.mark.parametrize("name", ["gpt2_token", "lstm", "kmeans", "stencil"])
def test_its_operations_one_by_one_make_the_same(name: str) -> None:
    network, library = BY_NAME[name], OneByOne()
    program, inputs = network.on(library)
    assert error(library.array(program(*inputs)), network.expected()) < 1e-5
    assert all(row.ns > 0 for row in library.found())


def test_equal_operations_are_counted_and_measured_once() -> None:
    found, per_step = alone(BY_NAME["stencil"], 0.0), 7
    assert [row.times for row in found if row.title == "pad 14×14"] == [3]
    assert sum(row.times for row in found) == 3 * per_step > len(found)
    assert total_ns((Alone("a", 3, 2.0), Alone("b", 1, 5.0))) == 11.0


def test_movement_is_no_operation() -> None:
    titles = {row.title.split()[0] for row in alone(BY_NAME["gpt2_prefill"], 0.0)}
    assert {"linear", "matmul", "softmax", "gelu", "layer_norm", "getitem"} <= titles
    assert not titles & {"reshape", "swapaxes", "T"}


def test_kernels_have_estimates_roofs_and_reasons() -> None:
    network = BY_NAME["unet"]
    made = ours.compilation(network)
    measured = made.measure(list(network.inputs().values()), seconds=0.01)
    found = kernels(made, measured, MachineModel())
    assert sum(it.items for it in found) == len(made.schedule.items)
    assert sum(it.ns for it in found) == pytest.approx(measured.total)
    assert [it.ns for it in found] == sorted((it.ns for it in found), reverse=True)
    for kernel in found:
        assert kernel.roof > 0 and kernel.estimated > 0 and kernel.title.startswith(kernel.name)
        assert kernel.why.startswith("plain: " if kernel.plain else "bound by ")


def test_a_roof_is_the_slower_of_operations_and_bytes() -> None:
    model = MachineModel(fma_ns=0.01, cores=2, launch_ns=0, read=(4.0,) * 4, write=(2.0,) * 4)
    assert roof_ns(ItemAnalysis(0, 10_000, 8, 8, 0), model) == pytest.approx(25.0)
    assert roof_ns(ItemAnalysis(0, 10, 800, 400, 0), model) == pytest.approx(200.0)


def test_a_busy_moment_lowers_no_roof(monkeypatch: pytest.MonkeyPatch) -> None:
    slow, fast = (500.0, 250.0, 1.0, 0.5), (500.0, 250.0, 60.0, 50.0)
    busy = MachineModel(read=slow, write=fast, fma_ns=1.0, cores=2, memory_cores=2.0)
    rates = {"copy": 40.0, "fma": 200.0}
    monkeypatch.setattr("benchmarks.networks.kernels.at_hand", lambda: busy)
    monkeypatch.setattr("benchmarks.networks.kernels._limit", lambda kind, _: rates[kind])
    found = machine()
    assert (found.read, found.write) == ((500.0, 250.0, 20.0, 20.0), fast)
    assert found.fma_ns == pytest.approx(0.02)


def test_plain_has_its_reason() -> None:
    refused = Refused("vectorize", Reason("left to LLVM: it is short"))
    assert plain(chosen([refused])) == "left to LLVM: it is short"
    assert plain(chosen([refused, Vectorize("i0")])) == ""
    assert plain(chosen([])) == "nothing was chosen"


KERNEL = KernelTime("k0", "k0 conv2d 8×8", 2, 1e6, 5e5, 9e5, "memory", 0.0, "")


def test_an_estimate_is_off_either_way() -> None:
    assert KERNEL.off == 2.0 and replace(KERNEL, estimated=4e6).off == 4.0


def test_far_is_below_the_roof_and_worth_telling() -> None:
    slow, small = replace(KERNEL, roof=3e5), replace(KERNEL, roof=1e2, ns=1e3)
    assert far((KERNEL, slow, small)) == (slow,)


def entry(*rounds: float) -> Entry:
    return Entry(rounds[0], 2.0, (1.0, 2.0), 1.0, rounds)


def results() -> Results:
    good = Found(
        "resnet18", "1×3×224×224",
        {OURS: entry(0.2, 0.1), "torch": entry(0.4, 0.4), "torch.compile": entry(0.1, 0.1)},
        {}, {"torch": "2"}, 0.25, 2,
        (replace(KERNEL, roof=1e5, plain="left to LLVM: why"),), (Alone("conv2d", 4, 1e6),),
    )  # fmt: skip
    return Results({"processor": "p"}, 2, (good, Found("lstm", "long", {}, {OURS: "it broke"})))


def test_ratios_are_medians_over_rounds() -> None:
    made = results()
    assert made.networks[0].ratio("torch") == 3.0 and made.networks[1].ratio("torch") is None
    assert made.mean("torch") == pytest.approx(3.0) and made.networks[0].beside_alone == 0.25
    assert Results({}, 2, ()).mean("torch") is None


def test_the_file_of_results() -> None:
    assert from_json(to_json(results())) == results()


def test_the_report_names_everything() -> None:
    text = report(results())
    for words in ("torch: geometric mean 3.00 over 1 network, least 3.00", "it broke",
                  "estimates of 1 kernel: off by a median factor of 2.00, at most 2.0: k0",
                  "left to LLVM: why", "4 operations of 1 kind alone 4.00 ms",
                  "conv2d 4 × 1.000 ms", "svodviz 1e+03, torch 1e+03"):  # fmt: skip
        assert words in text
    rows = [line.split() for line in text.splitlines() if line.startswith("resnet18 ")]
    assert " ".join(rows[0]) == "resnet18 200 3 0.75 1.8 0.25 1.9 1 1 0.25"


def test_bars_are_decided_from_results() -> None:
    made = {(it.workload, it.what): it.passed for it in checks(results())}
    assert made[("all", "torch, geometric mean")] is True
    assert made[("all", "torch.compile, geometric mean")] is False
    assert made[("resnet18", "kernels ÷ operations alone")] is True
    assert made[("resnet18", "compiling ÷ torch.compile's")] is False
    assert made[("resnet18", "compiling again")] is True
    assert made[("lstm", "torch")] is None


def test_telling_replaces_what_was_told(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before {BEGIN} untold {END} after")
    for _ in range(2):
        tell(page, results())
        text = page.read_text()
        assert "untold" not in text and text.startswith("before ") and text.endswith(" after")
        assert "| `resnet18` | 200 | 3 | 0.75 |" in text


@pytest.mark.skipif(not run.RESULTS.exists(), reason="no whole run was measured yet")
def test_the_readme_tells_the_results_beside_it() -> None:
    assert summary(from_json(run.RESULTS.read_text())) in PAGE.read_text()


def test_choices_of_networks() -> None:
    assert [it.name for it in run.chosen("lstm, unet")] == ["unet", "lstm"]
    assert len(run.chosen("")) == len(NETWORKS)
    with pytest.raises(SystemExit, match="no such network: unit"):
        run.chosen("unit")


@pytest.mark.parametrize(
    ("arguments", "is_part"),
    [([], False), (["--networks", "lstm"], True), (["--peers=torch"], True)],
)
def test_a_part_leaves_the_results_of_a_whole_run(
    arguments: list[str], is_part: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, part, readme = (tmp_path / name for name in ("whole.json", "part.json", "README"))
    readme.write_text(untold := f"{BEGIN} {END}")
    monkeypatch.setattr(run, "RESULTS", whole)
    monkeypatch.setattr(run, "PART", part)
    monkeypatch.setattr(run.command, "PAGE", readme)
    monkeypatch.setattr(run, "run", lambda *_: results())
    run.main(arguments)
    assert whole.exists() != is_part and part.exists() == is_part
    assert (readme.read_text() == untold) == is_part


def test_what_is_found_is_kept_network_by_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, kept = tmp_path / "build" / "part.json", list[int]()

    def measured(network: Network, *_: object) -> Found:
        kept.append(len(from_json(place.read_text()).networks) if place.exists() else 0)
        return Found(network.name, network.about, versions={OURS: "1"})

    monkeypatch.setattr(run, "PART", place)
    monkeypatch.setattr(run, "measure", measured)
    found = run.run([BY_NAME["lstm"], BY_NAME["unet"]], [], run.EFFORT, 1)
    assert kept == [0, 1] and from_json(place.read_text()) == found
    assert found.machine["versions"] == {OURS: "1"}


def test_kernels_alone_are_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "machine", MachineModel)
    run.show_kernels([BY_NAME["covariance"]], 0.01)
    text = capsys.readouterr().out
    assert text.startswith("covariance: run() ") and "of roof" in text and "matmul" in text


def test_a_session_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    network = BY_NAME["covariance"]
    np.save(tmp_path / "expected.npy", network.expected())
    monkeypatch.setattr("benchmarks.networks.worker.machine", MachineModel)
    session = Session(OURS, network, tmp_path)
    (found,) = session.answer("start")["entries"].values()
    assert found["first"] > 0 and found["error"] < 1e-5
    assert session.answer(f"measure\t{OURS}\t0.001")["seconds"]
    answer = session.answer("kernels\t0.01")
    assert answer["items"] == sum(it["items"] for it in answer["kernels"])
    assert session.answer("alone\t0.0001")["alone"]
    with pytest.raises(ValueError, match="no such command"):
        session.answer("stop")


def test_the_best_look_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = iter(((3.0, 9.0), (2.0, 8.0), (4.0, 7.0)))
    now = (0.0, 0.0)

    class Ours:
        """Answers with one time after the other."""

        def ask(self, command: str, _seconds: str) -> dict[str, object]:
            nonlocal now
            if command == "alone":
                return {"alone": [{"title": "sum", "times": 2, "ns": now[1]}]}
            now = next(looks)
            return {"kernels": [asdict(replace(KERNEL, ns=now[0]))], "items": 2}

    run_of = measuring.NetworkRun(BY_NAME["covariance"], tmp_path, 1)
    run_of.looked_into(Ours())  # type: ignore[arg-type]
    assert (run_of.made.kernels_ns, run_of.made.alone_ns, run_of.made.items) == (2.0, 14.0, 2)


@pytest.mark.parametrize(("uses", "is_left_out"), [("avx2", False), ("avx512", True), ("", True)])
def test_who_does_not_keep_to_the_instruction_set_is_left_out(
    uses: str, is_left_out: bool, tmp_path: Path
) -> None:
    class Peer:
        """Answers that it has computed the right thing, with some instructions."""

        peer = "torch"

        def hear(self) -> dict[str, object]:
            return {"version": "2"}

        def ask(self, _command: str) -> dict[str, object]:
            return {"entries": {"torch": {"first": 0.0, "error": 0.0}}, "uses": uses}

    run_of = measuring.NetworkRun(BY_NAME["covariance"], tmp_path, 1, "avx2")
    answer = run_of.started(Peer())  # type: ignore[arg-type]
    assert (answer is None) == is_left_out == ("torch" in run_of.made.missing)
    assert not is_left_out or "not held to avx2" in run_of.made.missing["torch"]


def test_processes_of_a_network_and_a_peer_that_is_missing() -> None:
    effort = Effort(rounds=2, seconds=0.001, starts=1)
    found = measuring.measure(NETWORKS["covariance"], ["nobody"], 1, effort)
    assert found.missing.keys() == {"nobody"} and len(found.entries[OURS].rounds) == 2
    assert found.kept is not None and found.kernels and found.alone
