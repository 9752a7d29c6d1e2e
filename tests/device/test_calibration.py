"""The machine model: measured figures are plausible, and the file that keeps them is safe."""

import json
from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import MachineModel, Options, Tensor
from compiler.device import calibration
from compiler.machines import at_hand
from compiler.machines.at_hand import machine
from compiler.machines.model import DEFAULT, EXPENSIVE
from compiler.machines.system import core_count


def test_this_machine_is_measured() -> None:
    model = calibration.measure()
    assert list(model.read) == sorted(model.read, reverse=True)
    assert list(model.write) == sorted(model.write, reverse=True)
    assert model.strided[0] < model.strided[3]
    assert model.vector_ns < model.scalar_ns
    assert 0 < model.fma_ns < 2 * model.scalar_ns
    assert 1 <= model.memory_cores <= core_count()
    assert 20 < model.launch_ns < 1e6
    assert {name for name, _ in model.operations} == set(EXPENSIVE)
    assert 1.0 <= model.wide <= 8.0
    assert model.name.endswith("measured") and "measured by compiler.calibrate()" in str(model)
    here = machine("host")
    assert (model.vector_bytes, model.registers) == (here.vector_bytes, here.registers)


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[MachineModel]:
    """Models given out instead of measured ones, in order."""
    given: list[MachineModel] = []

    def next_model() -> MachineModel:
        given.append(MachineModel(name=f"model {len(given)}", launch_ns=100.0 + len(given)))
        return given[-1]

    monkeypatch.setattr(calibration, "measure", next_model)
    return given


def file_in(folder: Path) -> Path:
    (path,) = folder.glob("machine-*.json")
    return path


def test_a_model_is_measured_once_and_read_back(
    measured: list[MachineModel], tmp_path: Path
) -> None:
    folder = tmp_path / "cache" / "svodviz"
    first = compiler.calibrate(folder)
    assert compiler.calibrate(folder) == first and len(measured) == 1
    assert compiler.calibrate(str(folder), again=True).name == "model 1"
    assert compiler.calibrate(folder).name == "model 1"
    assert [p.suffix for p in folder.iterdir()] == [".json"], "no other file is left"


def test_what_was_measured_is_used_from_then_on(
    measured: list[MachineModel], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a folder it is the user's cache, which the machine at hand is taken from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    at_hand.forget()
    assert "model" not in machine("host").name
    assert compiler.calibrate().name == "model 0" == machine("host").name
    assert Options(machine="host").model.launch_ns == 100.0
    assert compiler.calibrate(again=True).name == "model 1" == machine("host").name
    monkeypatch.undo()
    at_hand.forget()


BROKEN = (
    "", "{", "[]", "null", '"text"', '{"key": 1}',
    lambda held: held["model"].pop("read"),
    lambda held: held["model"].update(surprise=1),
    lambda held: held["model"].update(read=[1, 2, 3]),
    lambda held: held["model"].update(launch_ns=-1),
    lambda held: held["model"].update(launch_ns="fast"),
    lambda held: held["model"].update(vector_ns=float("nan")),
    lambda held: held["model"].pop("fma_ns"),
    lambda held: held["model"].update(memory_cores=0),
    lambda held: held["model"].update(operations=[["exp"]]),
    lambda held: held.update(key="another machine"),
)  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_file_is_measured_again_with_a_warning(
    broken: object, measured: list[MachineModel], tmp_path: Path
) -> None:
    compiler.calibrate(tmp_path)
    path = file_in(tmp_path)
    if callable(broken):
        held = json.loads(path.read_text())
        broken(held)
        path.write_text(json.dumps(held))
    else:
        path.write_text(str(broken))
    with pytest.warns(UserWarning, match="is no machine model"):
        assert compiler.calibrate(tmp_path).name == "model 1"
    assert compiler.calibrate(tmp_path).name == "model 1", "the file was mended"


def test_a_file_that_is_not_text_is_measured_again(
    measured: list[MachineModel], tmp_path: Path
) -> None:
    compiler.calibrate(tmp_path)
    file_in(tmp_path).write_bytes(b"\xff\xfe\x00\x80")
    with pytest.warns(UserWarning, match="is no machine model"):
        assert compiler.calibrate(tmp_path).name == "model 1"


def test_a_folder_that_cannot_be_written_is_only_warned_of(
    measured: list[MachineModel], tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(UserWarning, match="could not be kept"):
        assert compiler.calibrate(tmp_path / "file" / "below").name == "model 0"


def test_the_model_of_the_options_is_what_estimates_rest_on() -> None:
    x = Tensor([1.0, 2.0]) + 1.0
    slow = MachineModel(launch_ns=123_456.0)
    times = [
        compiler.compile(x, Options(machine=m)).schedule.estimated_ns for m in (DEFAULT, slow)
    ]
    assert times[0] < 1000 < 123_456 <= times[1]
    assert compiler.compile(x).schedule.estimated_ns == times[0], "compile does not calibrate"


@pytest.mark.parametrize(("stated", "fast_to", "expected"), [
    (480, 48, 48), (480, 1000, 96), (32, 1000, 32), (32, 12, 12), (8, 1000, 8),
])  # fmt: skip
def test_the_last_cache_is_what_copies_are_fast_in(
    monkeypatch: pytest.MonkeyPatch, stated: int, fast_to: int, expected: int
) -> None:
    mb = 1 << 20
    monkeypatch.setattr(
        calibration, "_copied", lambda nbytes, room: 28.5 if nbytes <= fast_to * mb else 15.0
    )
    assert calibration._kept(stated * mb, np.empty(0)) == expected * mb
