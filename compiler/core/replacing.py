"""Files that are replaced in one step: nobody ever sees half of one, whatever ends the process.

    new file      the permissions that the user's umask gives, or those that are asked for
    old file      its permissions, and its owner's group where the system lets us
    link          what it points to is replaced, the link stays
    hard links    the other names keep the old content, as a file is replaced and not written

The content is written to a file in the same folder, brought to the disk, and renamed. A folder that
nobody may write to is refused by the system (`OSError`), and the old file stays. Files of processes
that were killed meanwhile are removed when the same file is written next.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_MARK = "svodviz-part"


@contextmanager
def replacing(path: str | Path, mode: int | None = None) -> Iterator[IO[bytes]]:
    """A file to write, which takes the place of `path` at the end; removed after an exception.

    Where a `mode` is given, the file is private: these are its permissions, whatever those of the
    old one were, and a link is replaced itself. Raises `OSError`.
    """
    place = Path(os.path.realpath(path)) if mode is None else Path(path)
    if mode is None and place.exists() and not place.is_file():  # a pipe, a terminal
        with place.open("wb") as device:
            yield device
        return
    _remove_left(place)
    part = place.with_name(f".{place.name[:100]}.{os.getpid()}.{os.urandom(8).hex()}.{_MARK}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    descriptor = os.open(part, flags, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            if mode is None:
                _take_over(place, file.fileno())
            yield file
            file.flush()
            if mode is None:  # a private file can be written again: no sync
                os.fsync(file.fileno())
        os.replace(part, place)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_file(path: str | Path, content: bytes, mode: int | None = None) -> None:
    """Put `content` in the place of a file, whole or not at all; see `replacing`."""
    with replacing(path, mode) as file:
        file.write(content)


def write_text(path: str | Path, text: str) -> None:
    """The same with text, as UTF-8; line ends stay as they are."""
    write_file(path, text.encode("utf-8"))


def _take_over(place: Path, descriptor: int) -> None:
    """Give a new file the permissions, and the group, of the one that it replaces."""
    try:
        old = place.stat()
    except OSError:
        return
    if old.st_gid != os.fstat(descriptor).st_gid:
        with contextlib.suppress(OSError):  # another group than the user's
            os.fchown(descriptor, -1, old.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)


def _remove_left(place: Path) -> None:
    """Remove files for `place` of processes that do not exist any more."""
    begin = f".{place.name[:100]}."
    try:
        names = os.listdir(place.parent)
    except OSError:
        return
    for name in names:
        if name.startswith(begin) and name.endswith(f".{_MARK}"):
            owner = name[len(begin) :].partition(".")[0]
            if owner.isdigit() and not _is_alive(int(owner)):
                with contextlib.suppress(OSError):
                    (place.parent / name).unlink()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # somebody else's
    return True
