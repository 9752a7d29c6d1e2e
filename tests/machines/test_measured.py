"""The file of what was measured: what is written is what is read, and nothing else is believed."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from compiler.machines import at_hand, measured, processors
from compiler.machines.model import DEFAULT
from compiler.machines.processors import Processor

MODEL = replace(
    DEFAULT, name="mine, measured", cycle_ns=0.25, loads=3.0, origins=(("read", "measured"),)
)


def test_what_is_kept_is_read_back_with_where_it_comes_from(tmp_path: Path) -> None:
    measured.keep(tmp_path, MODEL)
    found = measured.kept(tmp_path)
    assert found == MODEL and found.origins == MODEL.origins
    assert found.operations == MODEL.operations and isinstance(found.cache_bytes, tuple)


def test_nothing_is_no_reason_to_warn(tmp_path: Path) -> None:
    assert measured.kept(tmp_path) is None and measured.kept(tmp_path / "none") is None
    (tmp_path / "file").write_text("")
    assert measured.kept(tmp_path / "file") is None


def test_every_processor_has_a_file_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured.keep(tmp_path, MODEL)
    monkeypatch.setattr(measured, "host", lambda: Processor("another", "+avx"))
    assert measured.kept(tmp_path) is None
    measured.keep(tmp_path, DEFAULT)
    assert len(list(tmp_path.iterdir())) == 2


def test_a_file_of_another_version_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured.keep(tmp_path, MODEL)
    held = json.loads(measured.path_in(tmp_path).read_text())
    monkeypatch.setattr(measured, "VERSION", measured.VERSION + 1)
    new = measured.path_in(tmp_path)
    new.write_text(json.dumps(held))
    new.chmod(0o600)
    with pytest.warns(UserWarning, match="it is of another machine or version"):
        assert measured.kept(tmp_path) is None


@pytest.mark.parametrize(("field", "value"), [
    ("cycle_ns", 0), ("ways", [8, 8]), ("cache_bytes", [1, -1, 1]), ("cores", "two"),
    ("operations", [["exp", -1.0]]), ("latency", None),
])  # fmt: skip
def test_a_figure_that_cannot_be_is_told_of(field: str, value: object, tmp_path: Path) -> None:
    measured.keep(tmp_path, MODEL)
    path = measured.path_in(tmp_path)
    held = json.loads(path.read_text())
    held["model"][field] = value
    path.write_text(json.dumps(held))
    with pytest.warns(UserWarning, match="is no machine model"):
        assert measured.kept(tmp_path) is None


def test_it_is_what_loops_are_chosen_by_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    at_hand.forget()
    before = at_hand.machine("host")
    assert "measured" not in before.name
    measured.keep(tmp_path / "svodviz", MODEL)
    at_hand.forget()
    found = at_hand.machine("host")
    assert (found.name, found.cycle_ns, found.loads) == ("mine, measured", 0.25, 3.0)
    assert found.cores == before.cores, "those of this process, not of the one that measured"
    monkeypatch.setenv(processors.VARIABLE, "")
    at_hand.forget()
