"""`make cpus`: the tests it runs, and its message if this host cannot act as a processor."""

import subprocess
import sys

import pytest

from compiler.machines.processors import VARIABLE
from tools import cpus


def test_what_is_left_out_exists() -> None:
    """A name that pytest does not know would leave out nothing, without a word."""
    for name in cpus.LEFT_OUT:
        path, _, test = name.partition("::")
        assert f"def {test}(" in (cpus.ROOT / path).read_text("utf-8") if test else True
        assert (cpus.ROOT / path).is_file()
    assert all((cpus.ROOT / "tests" / part).is_dir() for part in cpus.PARTS)


def test_each_processor_gets_a_run_or_a_reason(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    reasons = {"haswell": "", "skylake-avx512": "skylake-avx512; the host lacks avx512f"}
    monkeypatch.setattr(cpus, "obstacle", reasons.__getitem__)
    probe = f"import os, sys; print('ran', os.environ['{VARIABLE}']); sys.exit(3)"
    monkeypatch.setattr(cpus, "command", lambda given: [sys.executable, "-c", probe, *given])
    assert cpus.main(["skylake-avx512", "--", "-n", "1"]) == 0
    assert cpus.main(["haswell", "skylake-avx512"]) == 1
    skipped = "SVODVIZ_CPU=skylake-avx512: skipped: skylake-avx512; the host lacks avx512f\n"
    assert capfd.readouterr().out == f"{skipped}SVODVIZ_CPU=haswell\nran haswell\n{skipped}"


def test_pytest_gets_what_follows_and_leaves_out_what_is_said() -> None:
    called = cpus.command(["--collect-only", "-n", "0"])
    assert called[-10:-7] == ["--collect-only", "-n", "0"] and called[-1] == "notebooks"
    done = subprocess.run(
        [*called[:-7], "tests/device/c/test_source.py", "tests/device/test_cpu.py"],
        cwd=cpus.ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "test_cpu.py" in done.stdout and "test_c_source.py::" not in done.stdout


def test_an_unknown_name_ends_it() -> None:
    with pytest.raises(SystemExit, match="no such processor: hasvell"):
        cpus.main(["hasvell"])


def test_the_obstacle_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tools.cpus.is_x86", lambda: True)
    monkeypatch.setattr("llvmlite.binding.get_host_cpu_features", dict)
    assert cpus.obstacle("haswell").startswith("haswell; the host lacks 64bit, cmov")
    monkeypatch.setattr("tools.cpus.is_x86", lambda: False)
    assert cpus.obstacle("haswell") == "this host is no x86"
