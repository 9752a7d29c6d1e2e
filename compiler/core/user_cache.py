"""The user's cache: where its folder is, and the one door through which its files are read.

What is in these files is executed or believed. So a file is taken only where nobody else could
have written it: it is the user's own, no link, and nobody else may write to it. Asking where the
folder is, is the one thing that is asked of the environment.
"""

import contextlib
import errno
import os
import stat
import sys
from pathlib import Path

from compiler.core.replacing import write_file

_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody writes to would be waited for
    | getattr(os, "O_CLOEXEC", 0)
)


class Untrusted(OSError):
    """A file that somebody else may have written; `str` is the reason."""


def user_cache() -> Path | None:
    """The cache folder of the user; None where the user has no home."""
    return None if no_user_cache() else _user_cache()


def no_user_cache() -> str:
    """The reason why there is no such folder; "" if there is one."""
    if os.path.isabs(os.environ.get("XDG_CACHE_HOME", "")):
        return ""
    folder = os.environ.get("HOME")
    if folder is not None and not os.path.isabs(folder):
        return f"HOME is {folder!r}, which is no folder"
    try:
        home = Path.home()
    except RuntimeError:
        return "the user has no home"
    return "" if home.is_dir() else f"the home {home} is not there"


def _user_cache() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):  # a relative one is to be ignored, says its specification
        return Path(named) / "svodviz"
    caches = "Library/Caches" if sys.platform == "darwin" else ".cache"
    return Path.home() / caches / "svodviz"


def read(path: Path) -> bytes:
    """The bytes of a file of the user's own, which counts as used now.

    Raises `Untrusted` for a file that somebody else may have written, and other `OSError`s.
    """
    try:
        descriptor = os.open(path, _FLAGS)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.EMLINK):
            raise Untrusted("it is a symbolic link") from error
        raise
    try:
        reason = _distrusted(os.fstat(descriptor))
        if reason:
            raise Untrusted(reason)
        with contextlib.suppress(OSError):  # one that cannot be written is read as well
            os.utime(descriptor)
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def _distrusted(status: os.stat_result) -> str:
    """The reason why a file is not trusted; "" if it is."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_uid != os.getuid():
        return "it is somebody else's"
    return "others may write to it" if status.st_mode & 0o022 else ""


def write(path: Path, content: bytes) -> None:
    """Put a file in its place, whole or not at all, for the user alone. Raises `OSError`."""
    write_file(path, content, 0o600)
