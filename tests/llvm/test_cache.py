"""Cached object code: damaged entries are recompiled, folders are private, bounded and shared."""

import hashlib
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import compiler
from compiler import Options, Tensor
from compiler.core.errors import DataError
from compiler.core.user_cache import user_cache
from compiler.llvm import jit
from compiler.llvm.cache import BOUND, MAGIC, OBJECTS, Folder, Objects, folder_of
from compiler.llvm.level import Level
from tests.llvm.test_jit import DOUBLE

LEVEL = Level(2, "few", "a test")
KEYS = [bytes([1]) + hashlib.sha256(bytes([n])).digest()[1:] for n in range(15)]
"""Keys at whose writing nothing is trimmed."""
CODE = b"code" * 100


def only(folder: Path) -> Path:
    (path,) = folder.glob("*.object")
    return path


def test_what_was_put_is_found(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    assert folder.get(KEYS[0]) is None
    folder.put(KEYS[0], CODE)
    folder.put(KEYS[1], b"")
    assert folder.get(KEYS[0]) == CODE and folder.get(KEYS[1]) == b""
    files = [path.name for path in tmp_path.iterdir()]
    assert sorted(files) == sorted(f"{key.hex()}.object" for key in KEYS[:2])
    assert folder.count()[0] == 2
    folder.clear()
    assert folder.count() == (0, 0) and folder.get(KEYS[0]) is None


def test_files_are_the_user_s_alone(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "a" / "objects")
    assert folder and folder.path.stat().st_mode & 0o777 == 0o700
    folder.put(KEYS[0], CODE)
    assert only(folder.path).stat().st_mode & 0o777 == 0o600


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda found: b"",
    "without its end": lambda found: found[:-1],
    "only its beginning": lambda found: found[: len(MAGIC) + 10],
    "a bit of the code": lambda found: found[:-1] + bytes([found[-1] ^ 1]),
    "a bit of the key": lambda found: found.replace(KEYS[0], KEYS[1]),
    "another format": lambda found: found.replace(b"object 1", b"object 0"),
    "something after it": lambda found: found + b"x",
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_entry_is_a_miss_and_replaced(
    damage: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    folder = Folder(tmp_path)
    folder.put(KEYS[0], CODE)
    path = only(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.warns(UserWarning, match="is damaged: compiling again"):
        assert folder.get(KEYS[0]) is None
    folder.put(KEYS[0], CODE)
    assert folder.get(KEYS[0]) == CODE


def test_an_entry_of_another_key_is_not_taken(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.put(KEYS[0], CODE)
    only(tmp_path).rename(tmp_path / f"{KEYS[1].hex()}.object")
    with pytest.warns(UserWarning, match="is damaged"):
        assert folder.get(KEYS[1]) is None


def test_the_bound_holds_and_what_was_used_last_stays(tmp_path: Path) -> None:
    folder = Folder(tmp_path, bound=10 * len(CODE))
    for age, key in enumerate(KEYS):
        folder.put(key, CODE)
        os.utime(tmp_path / f"{key.hex()}.object", (age, age))
    assert folder.get(KEYS[0]) == CODE, "used: the newest now"
    folder.trim()
    count, size = folder.count()
    assert 0 < count < 15 and size <= folder.bound
    assert folder.get(KEYS[0]) == CODE and folder.get(KEYS[14]) == CODE
    assert folder.get(KEYS[1]) is None
    folder.trim()
    assert folder.count() == (count, size), "within the bound nothing is removed"


def test_writing_trims_now_and_then(tmp_path: Path) -> None:
    folder = Folder(tmp_path, bound=10 * len(CODE))
    for number in range(1000):
        folder.put(hashlib.sha256(b"%d" % number).digest(), CODE)
    assert folder.count()[0] < 500


def test_files_that_were_never_renamed_go_when_they_are_old(tmp_path: Path) -> None:
    old, young = tmp_path / "a.tmp", tmp_path / "b.tmp"
    other = tmp_path / "somebody's"
    for path in (old, young, other):
        path.write_bytes(b"x")
    os.utime(old, (0, 0))
    Folder(tmp_path).clear()
    assert not old.exists() and young.exists() and other.exists()


@pytest.mark.parametrize("mode", (0o777, 0o770, 0o722))
def test_a_folder_that_others_can_write_is_refused(mode: int, tmp_path: Path) -> None:
    tmp_path.chmod(mode)
    with pytest.warns(UserWarning, match="others may write to"):
        assert folder_of(tmp_path) is None
    tmp_path.chmod(0o755)
    assert folder_of(tmp_path) == Folder(tmp_path, BOUND)


def test_a_folder_of_somebody_else_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.warns(UserWarning, match="others may write to"):
        assert folder_of(tmp_path) is None


def test_a_folder_that_cannot_be_made_or_written_is_only_warned_of(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.warns(UserWarning, match="no object cache on disk"):
        assert folder_of(file / "objects") is None
    with pytest.warns(UserWarning, match="could not be kept"):
        Folder(tmp_path / "gone").put(KEYS[0], CODE)
    with pytest.warns(UserWarning, match="cannot be read"):
        assert Folder(file).get(KEYS[0]) is None
    with pytest.warns(UserWarning, match="cannot be read"):
        assert Folder(tmp_path / "gone").count() == (0, 0)


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is read-only for root")
def test_a_read_only_folder_is_read(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.put(KEYS[0], CODE)
    tmp_path.chmod(0o500)
    try:
        assert folder.get(KEYS[0]) == CODE
        with pytest.warns(UserWarning, match="could not be kept"):
            folder.put(KEYS[1], CODE)
    finally:
        tmp_path.chmod(0o700)


WRITER = """
import hashlib, sys
from pathlib import Path
from compiler.llvm.cache import Folder

folder = Folder(Path(sys.argv[1]), bound=20_000)
for number in range(400):
    key = hashlib.sha256(b"%d" % (number % 20)).digest()
    held = folder.get(key)
    assert held in (None, key * 50), "half an entry, or another"
    folder.put(key, key * 50)
    if number % 50 == 0:
        folder.trim()
print("done")
"""


def test_processes_share_a_folder(tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", WRITER, str(tmp_path)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in running:
        out, problem = process.communicate(timeout=60)
        assert out == "done\n", problem
    assert not list(tmp_path.glob("*.tmp"))


def test_memory_comes_first_then_the_disk(tmp_path: Path) -> None:
    folder, objects = Folder(tmp_path), Objects(2)
    assert objects.get(KEYS[0], folder) is None
    for key in KEYS[:3]:
        objects.put(key, key, folder)
    assert len(objects) == 2
    assert objects.get(KEYS[2], folder) == KEYS[2]
    assert objects.get(KEYS[0], None) is None
    assert objects.get(KEYS[0], folder) == KEYS[0]
    assert (objects.hits, objects.read, objects.misses) == (1, 1, 2)
    objects.clear()
    assert (len(objects), objects.hits, objects.read, objects.misses) == (0, 0, 0, 0)


def test_code_depends_on_text_and_level_not_on_the_name(tmp_path: Path) -> None:
    OBJECTS.clear()
    texts = [DOUBLE, DOUBLE.replace("fadd", "fmul")]
    levels = [LEVEL, Level(1, "few", ""), Level(2, "pipeline", "")]
    for text in texts:
        for level in levels:
            jit.object_code(text, "twice", level, tmp_path)
    assert OBJECTS.misses == 6 and folder_of(tmp_path).count()[0] == 6  # type: ignore[union-attr]
    OBJECTS.clear()
    jit.object_code(texts[0].replace("twice", "k9"), "k9", Level(2, "few", "else"), tmp_path)
    assert (OBJECTS.misses, OBJECTS.read) == (0, 1)


def test_code_from_disk_runs_and_damaged_code_is_made_again(tmp_path: Path) -> None:
    x, options = np.arange(3000.0), Options(cache=tmp_path)
    for number in range(3):
        compiler.cache_clear()
        (out,) = compiler.compile(Tensor(x) * 2.5 + 1, options).run()
        np.testing.assert_array_equal(out, x * 2.5 + 1)
        info = compiler.cache_info(tmp_path)
        assert (info.disk.hits, info.objects.misses) == ((0, 1) if number != 1 else (1, 0))
        assert info.disk.files == 1 and info.disk.bytes == only(tmp_path).stat().st_size
        if number == 1:
            only(tmp_path).write_bytes(MAGIC)
            warnings.simplefilter("ignore")
    compiler.cache_clear(disk=tmp_path)
    assert compiler.cache_info(tmp_path).disk.files == 0


def test_nothing_is_kept_on_disk_where_that_is_asked_for(tmp_path: Path) -> None:
    compiler.cache_clear()
    assert folder_of(False) is None
    before = compiler.cache_info().disk.files
    compiler.compile(Tensor(np.arange(7.0)) * 11.5, Options(cache=False)).run()
    assert compiler.cache_info().disk.files == before
    compiler.compile(Tensor(np.arange(7.0)) * 12.5).run()
    assert compiler.cache_info().disk.files == before + 1
    with pytest.raises(DataError, match="no such cache"):
        Options(cache=3)  # type: ignore[arg-type]


def test_the_user_s_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert user_cache() == tmp_path / "svodviz"
    found = folder_of(True)
    assert found and found.path == tmp_path / "svodviz" / "objects"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    for platform, name in (("linux", ".cache"), ("darwin", "Library/Caches")):
        monkeypatch.setattr(sys, "platform", platform)
        assert user_cache() == tmp_path / name / "svodviz"

    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", homeless)
    assert user_cache() is None and folder_of(True) is None


def test_an_entry_is_as_new_as_its_last_use(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.put(KEYS[0], CODE)
    os.utime(only(tmp_path), (1, 1))
    folder.get(KEYS[0])
    assert only(tmp_path).stat().st_mtime > 1
