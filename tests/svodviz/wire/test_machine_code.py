"""Questions about machine code, answered and kept; what exports carry of them."""

import json
from typing import Any

import pytest

from compiler import Options, Tensor, compile
from svodviz.cli.main import main
from svodviz.foundation.requests import key_of, respond
from svodviz.widget.explorer import Explorer
from svodviz.wire.machine_code import flow_row, machine_rows, recorded
from tests.svodviz.sample import HOSTILE, as_json, hostile, sample
from tests.svodviz.sample_machine import NO_NEON


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    x = Tensor.arange(512).cast("float32")
    return Explorer(compile((x * x + 1.0).relu(), Options(loops="plain"), name="chain"))


def ask(explorer: Any, name: str, **arguments: Any) -> dict[str, Any]:
    sent: list[dict[str, Any]] = []
    content = {"kind": "request", "id": 1, "name": name, "arguments": arguments}
    respond(explorer, content, sent.append)
    assert all(it["kind"] == "progress" and it["words"] for it in sent[:-1])
    return sent[-1]


def applied(before: list[Any], edits: list[Any]) -> list[Any]:
    """The text after edits, as the page makes it."""
    rows = list(before)
    for at, removed, added in reversed(edits):
        rows[at : at + removed] = added
    return rows


def test_llvms_passes_as_the_page_gets_them(explorer: Explorer) -> None:
    answer = ask(explorer, "llvm_passes", kernel="k0", level=-1)["result"]
    run = explorer.compilation.llvm_passes("k0")
    assert [it["name"] for it in answer["changes"]] == [it.name for it in run]
    latest = {"IR": answer["start"], "machine": []}
    for row, change in zip(answer["changes"], run, strict=True):
        latest[row["kind"]] = applied(latest[row["kind"]], row["edits"])
        assert [text for text, *_ in latest[row["kind"]]] == list(change.after.rows)
    assert any("vectorised by LLVM" in words for words, *_ in answer["remarks"])
    assert json.loads(json.dumps(answer)) == as_json(answer)


def test_latencies_have_a_number_for_every_line(explorer: Explorer) -> None:
    answer = ask(explorer, "latencies", kernel="k0")["result"]
    (listing,) = explorer.compilation.assembly
    assert len(answer["cycles"]) == len(listing.rows)
    assert {it for it in answer["cycles"] if it < 0} == {-1}
    assert answer["processor"] == explorer.compilation.latencies("k0").processor
    assert key_of("latencies", {"kernel": "k0"}) in explorer.recorded


def test_lines_lead_to_entities_of_the_page(explorer: Explorer) -> None:
    known = set(explorer.wire["entities"])
    answer = ask(explorer, "llvm_passes", kernel="k0", level=-1)["result"]
    rows = [row for change in answer["changes"] for edit in change["edits"] for row in edit[2]]
    lines = {line for _, *lines in rows for line in lines}
    assert lines and {f"llvm:{answer['number']}:{line}" for line in lines} <= known


def test_what_was_asked_is_kept_and_exported(explorer: Explorer) -> None:
    explorer.recorded = {}
    question = {"machine": "arm-neon"}
    answer = ask(explorer, "assembly_for", **question)["result"]
    assert explorer.recorded == {key_of("assembly_for", question): answer}
    assert 'assembly_for {"machine":"arm-neon"}' in explorer.recorded
    (unit,) = answer["units"]
    (listing,) = explorer.compilation.assembly_for("arm-neon")
    assert unit["figures"] == list(listing.notes) and len(unit["figures"]) == 3
    assert listing.inner and unit["flow"]["blocks"][unit["inner"]][1] == listing.inner.first
    assert unit["flow"]["blocks"] and any(text.strip() == "ret" for text, *_ in unit["lines"])
    assert "assembly_for {" not in Explorer(sample()).export_html()
    page = Explorer(sample())
    ask(page, "assembly_for", machine="riscv-v")
    assert "riscv-v" in str(page.recorded)
    assert len(page.export_html()) > len(Explorer(sample()).export_html())


def test_a_failure_is_told_and_not_kept(explorer: Explorer) -> None:
    explorer.recorded = {}
    for name, arguments in (
        ("llvm_passes", {"kernel": "k9", "level": -1}),
        ("llvm_passes", {"kernel": "k0", "level": 7}),
        ("assembly_for", {"machine": "z80"}),
    ):
        message = ask(explorer, name, **arguments)
        assert message["kind"] == "failure" and "no such" in message["words"]
    assert explorer.recorded == {}


def test_everything_at_once_with_words_for_what_cannot_be() -> None:
    found = recorded(sample())
    questions = sorted(key.split(" ")[0] for key in found)
    kernels = len(sample().loops)
    asked = {"assembly_for": len(machine_rows()), "latencies": kernels, "llvm_passes": kernels}
    assert questions == [name for name, times in asked.items() for _ in range(times)]
    assert found[key_of("assembly_for", {"machine": "arm-neon"})] == {"problem": NO_NEON}
    assert json.loads(json.dumps(recorded(hostile())))


def test_hostile_words_arrive_printable() -> None:
    text = json.dumps(recorded(hostile()), ensure_ascii=False)
    assert "\\\\u202e" not in text or "\u202e" not in text
    assert not {"\u202e", "\x00"} & set(text)
    assert HOSTILE[0] in json.loads(text)[next(iter(recorded(hostile())))]["kernel"]


def test_every_machine_has_a_flow_that_covers_its_lines() -> None:
    for machine in ("wasm", "riscv-v"):
        (listing, *_) = sample().assembly_for(machine)
        found = flow_row(listing)
        assert found is not None
        assert sum(end - first for _, first, end, _ in found["blocks"]) == len(listing.rows)


def test_the_stage_is_named_and_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    made = sample()
    monkeypatch.setattr(type(made), "llvm_passes", None)
    stage = next(it for it in Explorer(made).wire["stages"] if it["id"] == "llvm_passes")
    assert stage["asked"] and [it["name"] for it in stage["units"]] == ["k0", "k1", "k2", "k3"][
        : len(made.loops)
    ]


def test_on_the_command_line(tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    program = tmp_path / "tiny.py"
    program.write_text("from compiler import Tensor\ny = Tensor.arange(8) + 1\n")
    assert main(["show", "--stage", "llvm_passes", str(program)]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("k0: ") and "kernel: 0 bytes of the stack" in shown
    pages = [tmp_path / "plain.html", tmp_path / "more.html"]
    assert main(["explore", "-o", str(pages[0]), str(program)]) == 0
    assert main(["explore", "--machine-code", "-o", str(pages[1]), str(program)]) == 0
    sizes = [len(page.read_text()) for page in pages]
    assert sizes[0] + 5_000 < sizes[1] < 1_500_000
