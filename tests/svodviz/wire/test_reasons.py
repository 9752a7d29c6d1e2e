"""Decisions as the page gets them: sentences, numbers in words, and reasons sent once."""

import numpy as np

from compiler import Options, Tensor, compile
from compiler.core.reason import Number, Reason
from svodviz.cli.main import main
from svodviz.foundation.entities import Entities
from svodviz.texts.decision_text import decision_text
from svodviz.wire.later import seen_inside
from svodviz.wire.payload import wire
from svodviz.wire.reasons import decision_rows, number_rows
from tests.svodviz.conftest import softmax_layer


def test_numbers_are_ready_to_be_read() -> None:
    seen = Number("size of a\x1b", 65536, "bytes", "its own", 1024)
    assert number_rows(Reason("why", seen)) == [
        ["size of a\\x1b", "65,536 bytes", ">", "1,024 bytes", "its own"]
    ]
    assert number_rows("plain words") == []


def test_every_decision_of_a_compilation_is_told_once() -> None:
    made = compile(softmax_layer(), Options(threads=2))
    entities = Entities()
    rows = decision_rows(made, entities)
    names = entities.names
    told = [(names[e], kind, taken, reason) for e, kind, taken, reason, _ in rows["decisions"]]
    told += [(names[e], kind, True, reason)
             for kind, reason, _, subjects in rows["plain"] for e in subjects]  # fmt: skip
    expected = [(d.subject, d.kind, d.taken, str(d.reason)) for d in made.decisions]
    assert sorted(told) == sorted(expected)
    assert len({(kind, reason) for kind, reason, *_ in rows["plain"]}) == len(rows["plain"])
    assert any(numbers for *_, numbers in rows["decisions"])


def test_kernels_places_and_fusions_have_numbers() -> None:
    data = wire(compile(softmax_layer(), Options(threads=2)))
    kernel = data["kernels"][0]
    assert any(numbers for *_, numbers in kernel["choices"]) and kernel["numbers"]
    assert any(name == "parallelize" and numbers for name, _, numbers in kernel["refused"])
    fusions = data["schedule"]["fusions"]
    assert fusions and all(it["numbers"] for it in fusions)
    assert all("numbers" in it for it in data["schedule"]["memory"]["plan"]["places"])


def test_decisions_as_text(tmp_path, capsys) -> None:  # type: ignore[no-untyped-def]
    made = compile(softmax_layer(), Options(threads=2))
    text = decision_text(made)
    refused = next(d for d in made.decisions if not d.taken and d.numbers)
    assert refused.reason in text and refused.numbers[0].name in text
    assert "without a choice:" in text and "✗ parallelize loops of k0" in text
    program = tmp_path / "program.py"
    program.write_text("import compiler\nx = compiler.Tensor([1.0, 2.0]) + 1.0\n")
    assert main(["show", str(program), "--stage", "decisions"]) == 0
    assert "✗ vectorize" in capsys.readouterr().out


def test_what_is_not_run_to_see_its_values_is_told() -> None:
    data = np.ones((300, 300), np.float32)
    notes: list[str] = []
    values, unseen = seen_inside(compile(Tensor(data) @ Tensor(data)), Entities(), notes)
    assert not values and unseen[0][:2] == ("", -1)
    assert "54,000,000 operations" in unseen[0][2] and notes == [
        f"no values inside kernels: {unseen[0][2]}"
    ]
    small = compile(Tensor(data[:4, :4]) * 2.0)
    assert seen_inside(small, Entities(), notes)[1] == []


def test_many_kernels_without_values_are_one_note() -> None:
    x = Tensor(np.ones((4, 8), np.float32))
    parts = [(x * float(n)).sum(1).contiguous() for n in range(2, 14)]
    notes: list[str] = []
    made = compile([part.reshape(2, 2) + 1.0 for part in parts])
    _, unseen = seen_inside(made, Entities(), notes)
    assert len(made.loops) <= 8 or unseen
    if len(unseen) > 3:
        assert len(notes) == 1 and "the inspector says of each why" in notes[0]
