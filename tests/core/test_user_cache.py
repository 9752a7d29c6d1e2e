"""Files of the user's cache are taken only where nobody else could have written them."""

import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core import user_cache
from compiler.device import calibration
from compiler.llvm.cache import REFUSED, TUNING, Folder
from compiler.machines.model import DEFAULT
from compiler.tune.remembered import remembered

ROOT = Path(__file__).parents[2]
KEY = bytes(32)
is_root = os.getuid() == 0


def to_somebody_else(path: Path) -> None:
    os.chown(path, 12345, 12345)


def to_all(path: Path) -> None:
    path.chmod(0o666)


def to_the_group(path: Path) -> None:
    path.chmod(0o620)


def to_a_link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def to_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def to_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "somebody else's": (to_somebody_else, "it is somebody else's"),
    "written by all": (to_all, "others may write to it"),
    "written by a group": (to_the_group, "others may write to it"),
    "a link": (to_a_link, "it is a symbolic link"),
    "a pipe": (to_a_pipe, "it is no regular file"),
    "a folder": (to_a_folder, "it is no regular file"),
}
needs_root = pytest.mark.skipif(not is_root, reason="only root can give a file away")
every_change = pytest.mark.parametrize(
    ("change", "reason"),
    [pytest.param(*each, marks=needs_root if each[0] is to_somebody_else else ())
     for each in CHANGES.values()], ids=CHANGES,
)  # fmt: skip


@every_change
def test_a_file_that_others_may_have_written_is_not_taken(
    change: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "file"
    user_cache.write(path, b"content")
    assert user_cache.read(path) == b"content" and path.stat().st_mode & 0o777 == 0o600
    change(path)
    with pytest.raises(user_cache.Untrusted) as caught:
        user_cache.read(path)
    assert str(caught.value) == reason
    if change is not to_a_folder:
        user_cache.write(path, b"again")
        assert user_cache.read(path) == b"again" and not path.is_symlink()


@every_change
def test_machine_code_of_others_is_not_run_and_that_is_counted(
    change: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    options, x = Options(cache=tmp_path), np.arange(5.0)
    compiler.cache_clear()
    compiler.compile(Tensor(x) * 3.25, options).run()
    (path,) = tmp_path.glob("*.object")
    change(path)
    compiler.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        (out,) = compiler.compile(Tensor(x) * 3.25, options).run()
    np.testing.assert_array_equal(out, x * 3.25)
    assert f"{path} is not used, {reason}: compiling again" in {str(w.message) for w in caught}
    info = compiler.cache_info(tmp_path)
    assert (info.disk.hits, info.objects.misses) == (0, 1)
    assert info.disk.refused == ((reason, 1),) and info.disk.problem == ""
    compiler.cache_clear()
    assert compiler.cache_info(tmp_path).disk.refused == ()
    if change is not to_a_folder:
        compiler.compile(Tensor(x) * 3.25, options).run()
        assert compiler.cache_info(tmp_path).disk.hits == 1, "it was written again"


@every_change
def test_tuned_loops_of_others_are_not_taken(
    change: Callable[[Path], None], reason: str, tmp_path: Path
) -> None:
    folder = Folder(tmp_path, kind=TUNING)
    folder.put(KEY, b"content")
    assert folder.get(KEY) == b"content"
    (path,) = tmp_path.glob("*.tuning")
    change(path)
    REFUSED.clear()
    with pytest.warns(UserWarning, match=f"{reason}: tuning again"):
        assert folder.get(KEY) is None
    assert {reason: 1} == REFUSED and remembered(KEY, False) is None


@every_change
def test_a_machine_model_of_others_is_not_believed(
    change: Callable[[Path], None], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibration, "measure", lambda: DEFAULT)
    assert compiler.calibrate(tmp_path) == DEFAULT
    (path,) = tmp_path.glob("machine-*.json")
    wide = type(DEFAULT)(**{**asdict(DEFAULT), "wide": 9})
    monkeypatch.setattr(calibration, "measure", lambda: wide)
    assert compiler.calibrate(tmp_path) == DEFAULT, "it is read"
    change(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert compiler.calibrate(tmp_path).wide == 9
    text = f"{path} is no machine model ({reason}); it is not used"
    assert text in {str(w.message) for w in caught}


PROGRAM = """
import os, warnings
warnings.simplefilter("error")
import numpy as np
import compiler
from compiler import Tensor
assert (Tensor(np.arange(3.0)) * 7.5).tolist() == [0, 7.5, 15]
print(compiler.cache_info().disk.problem)
"""


@pytest.mark.parametrize(
    ("home", "problem"),
    [("", "HOME is '', which is no folder"), ("a/b", "HOME is 'a/b', which is no folder"),
     ("/not/there", "the home /not/there is not there")],
)  # fmt: skip
def test_without_a_home_nothing_is_kept_on_disk(home: str, problem: str, tmp_path: Path) -> None:
    settings = {k: v for k, v in os.environ.items() if k not in ("XDG_CACHE_HOME", "HOME")}
    was_there = Path("/.cache/svodviz").exists()
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=60,
        env={**settings, "HOME": home, "PYTHONPATH": str(ROOT)}, check=False,
    )  # fmt: skip
    assert (ended.returncode, ended.stdout.strip()) == (0, problem), ended.stderr
    assert not list(tmp_path.iterdir()) and not Path("/not").exists()
    assert Path("/.cache/svodviz").exists() == was_there


def test_cache_info_says_why_nothing_is_kept(tmp_path: Path) -> None:
    assert compiler.cache_info(False).disk.problem == "cache=False"
    tmp_path.chmod(0o777)
    with pytest.warns(UserWarning, match="others may write to"):
        assert compiler.cache_info(tmp_path).disk.problem == "the folder is refused"
