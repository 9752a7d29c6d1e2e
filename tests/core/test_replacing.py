"""Files that are replaced in one step."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.core.replacing import replacing, write_file, write_text


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_permissions_of_the_old_file_stay(tmp_path: Path) -> None:
    place = tmp_path / "state"
    for mode in (0o600, 0o640, 0o444):
        place.write_bytes(b"old")
        place.chmod(mode)
        write_file(place, b"new")
        assert (place.read_bytes(), _mode(place)) == (b"new", mode)
        place.unlink()


def test_a_new_file_has_those_that_the_umask_gives(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "page", "ä\r\n")
    finally:
        os.umask(before)
    assert _mode(tmp_path / "page") == 0o640
    assert (tmp_path / "page").read_bytes() == b"\xc3\xa4\r\n"


def test_permissions_that_are_asked_for(tmp_path: Path) -> None:
    place = tmp_path / "private"
    place.write_bytes(b"old")
    place.chmod(0o666)
    write_file(place, b"new", 0o600)
    assert _mode(place) == 0o600


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    target, link = tmp_path / "there" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    write_file(link, b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "later")
    write_file(dangling, b"new")
    assert dangling.is_symlink() and (tmp_path / "later").read_bytes() == b"new"


def test_other_names_of_a_file_keep_the_old_content(tmp_path: Path) -> None:
    place, other = tmp_path / "state", tmp_path / "other"
    place.write_bytes(b"old")
    other.hardlink_to(place)
    write_file(place, b"new")
    assert (place.read_bytes(), other.read_bytes()) == (b"new", b"old")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_an_exception_leaves_the_old_file_and_no_other(tmp_path: Path, error: Exception) -> None:
    place = tmp_path / "state"
    place.write_bytes(b"old")
    with pytest.raises(type(error)), replacing(place) as file:
        file.write(b"half")
        raise error
    assert place.read_bytes() == b"old" and os.listdir(tmp_path) == ["state"]


def test_what_a_killed_process_left_is_removed(tmp_path: Path) -> None:
    place = tmp_path / "state"
    program = (
        "import os, signal, sys; from compiler.core.replacing import replacing\n"
        "with replacing(sys.argv[1]) as file:\n"
        "    file.write(b'half'); file.flush(); os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", program, str(place)], check=False, timeout=120)
    assert len(os.listdir(tmp_path)) == 1
    with replacing(place) as mine:
        mine.write(b"new")
        write_file(place, b"other")  # the file of a process that exists stays
    assert os.listdir(tmp_path) == ["state"] and place.read_bytes() == b"new"


def test_what_is_no_file_is_written_as_it_is(tmp_path: Path) -> None:
    write_file("/dev/null", b"gone")
    assert not Path("/dev/null").is_file()
    with pytest.raises(OSError, match="directory"):
        write_file(tmp_path, b"no")
