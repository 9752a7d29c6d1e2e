"""`make aarch64`: its requests to apt and pip, its commands, and its messages on failure."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from tools import aarch64
from tools.aarch64 import Environment, UnavailableError


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment that is there whole: its Python says how it was called."""
    made = Environment(tmp_path / "made here")
    made.python.parent.mkdir(parents=True)
    made.python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    made.python.chmod(0o755)
    (made.folder / "made").write_text(aarch64.key(aarch64.requirements()))
    return made


def test_what_runs_exists() -> None:
    for name in aarch64.TESTS:
        path, _, test = name.partition("::")
        assert f"def {test}" in (aarch64.ROOT / path).read_text("utf-8")
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:xdist", "-k",
         aarch64.ONLY, "tests/test_operations.py"],
        cwd=aarch64.ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert "[add-f32-machine]" in ran and "[add-f32-transformed]" in ran
    assert "-graph]" not in ran and "-lowered]" not in ran


def test_every_package_that_the_compiler_needs_is_asked_for() -> None:
    found = {row.split(">")[0] for row in aarch64.requirements()}
    assert found == set(aarch64.NEEDED)
    assert all(">=" in row for row in aarch64.requirements()), "as pyproject.toml says it"


def test_apt_keeps_to_its_own_folder() -> None:
    command = aarch64.apt(Path("/x/apt"), "update")
    settings = dict(word.split("=", 1) for word in command if "::" in word)
    for name in ("Dir::State", "Dir::State::status", "Dir::Cache"):
        assert settings[name].startswith("/x/apt/")
    assert settings["APT::Architecture"] == "arm64" and command[-1] == "update"
    own = {word.partition("=")[2] for word in command if word.startswith("APT::Architectures::")}
    assert "arm64" in own and not own & {"x86_64", "aarch64"}


def test_pip_takes_wheels_of_another_processor() -> None:
    command = aarch64.pip(Path("/x/site"), "3.12", ["numpy>=2"])
    assert command[:4] == [sys.executable, "-m", "pip", "install"] and command[-1] == "numpy>=2"
    assert command[command.index("--python-version") + 1] == "3.12"
    assert command[command.index("--target") + 1] == "/x/site"
    platforms = [b for a, b in itertools.pairwise(command) if a == "--platform"]
    assert "manylinux2014_aarch64" in platforms and "manylinux_2_28_aarch64" in platforms
    assert "--only-binary=:all:" in command, "nothing is built, for which there is no compiler"


def test_python_is_told_that_it_is_the_script(tmp_path: Path) -> None:
    """Arguments and places with spaces arrive whole."""
    made = Environment(tmp_path / "a b")
    words = tmp_path / "words"
    words.write_text('#!/bin/sh\nfor each in "$@"; do echo "$each"; done\n')
    words.chmod(0o755)
    started = tmp_path / "script"
    started.write_text(aarch64.script(str(words), made, made.root / "usr/bin/python3.11"))
    started.chmod(0o755)
    told = subprocess.run([started, "-c", "1 + 1"], capture_output=True, text=True, check=True)
    assert told.stdout.splitlines() == [
        "-0", str(made.python), "-L", str(made.root), f"{made.root}/usr/bin/python3.11",
        "-c", "1 + 1",
    ]  # fmt: skip


def test_an_environment_is_made_once(
    environment: Environment, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []
    monkeypatch.setattr(aarch64, "unpack_system", lambda made: steps.append("system"))
    monkeypatch.setattr(aarch64, "install_wheels", lambda made: steps.append("wheels"))
    assert aarch64.made(environment) is environment and steps == []
    (environment.folder / "made").write_text("of another version")
    aarch64.made(environment)
    assert steps == ["system", "wheels"] and not environment.root.exists()
    aarch64.made(environment)
    assert len(steps) == 2


@pytest.mark.parametrize("machine", ["x86_64", "riscv64"])
def test_where_it_cannot_be_had_it_says_why_and_ends_well(
    machine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert aarch64.main(["--folder", str(tmp_path)]) == 0
    assert capfd.readouterr().out == "AArch64 was not tested: this system has no apt-get\n"
    assert not (tmp_path / "made").exists()


def test_a_command_that_fails_is_told_by_its_last_line() -> None:
    program = "import sys; print('E: one\\nE: no network', file=sys.stderr); sys.exit(100)"
    with pytest.raises(UnavailableError, match=r"^cannot get lists: E: no network$"):
        aarch64._done([sys.executable, "-c", program], "lists")
    with pytest.raises(UnavailableError, match="no output"):
        aarch64._done([sys.executable, "-c", "import sys; sys.exit(1)"], "lists")


def test_an_environment_that_does_not_run_is_no_failure(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    environment.python.write_text("#!/bin/sh\necho 'no such machine' >&2\nexit 1\n")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert aarch64.main(["--folder", str(environment.folder)]) == 0
    told = "AArch64 was not tested: the emulated Python does not run: no such machine\n"
    assert capfd.readouterr().out == told


TEST = """
import os, time

def test_first(): assert os.environ["SVODVIZ_MACHINE"] == "host"
def test_second(): time.sleep({seconds})
def test_third(): assert {third}
"""


@pytest.mark.parametrize(("third", "code", "line"), [
    ("True", 0, "3 passed"), ("False", 1, "1 failed, 2 passed"),
])  # fmt: skip
def test_tests_run_there_and_a_failure_counts(
    environment: Environment, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str],
    tmp_path: Path, third: str, code: int, line: str,
) -> None:  # fmt: skip
    file = tmp_path / "test_there.py"
    file.write_text(TEST.format(seconds=0, third=third))
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    given = ["--folder", str(environment.folder), "--", str(file)]
    assert aarch64.main(given) == code
    out = capfd.readouterr().out
    assert out.startswith("AArch64, emulated: ") and line in out


def test_no_test_begins_when_the_time_is_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "test_late.py"
    file.write_text(TEST.format(seconds=30, third="False"))
    told = aarch64.surroundings({"PATH": "/usr/bin"}, None, 1e-9)
    assert aarch64.run([sys.executable], told, [str(file), "-rs"], 1e-9) == 0
    out = capfd.readouterr().out
    assert "3 skipped" in out and "the time was up" in out


def test_a_host_that_is_one_needs_no_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "test_there.py"
    file.write_text(TEST.format(seconds=0, third="True"))
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert aarch64.main(["--folder", str(tmp_path / "none"), "--", str(file)]) == 0
    assert not (tmp_path / "none").exists()
    assert capfd.readouterr().out.startswith("AArch64: this host is one\n")


def test_what_follows_the_dashes_is_pytests() -> None:
    assert aarch64.usual()[-len(aarch64.TESTS) :] == list(aarch64.TESTS)
    assert aarch64.ONLY in aarch64.usual()
