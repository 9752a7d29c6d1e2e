"""A cache of compilation results: in this process's memory, and on disk for later processes.

It has three kinds of entries: object code, loops that a search found (`tune/remembered.py`), and
programs partitioned into kernels (`run/remembered.py`). A key covers everything that an entry
depends on. On disk each entry is one file:

    magic · SHA-256 of the rest · key · content

It is written under a temporary name and then renamed, so it is complete or absent, and processes
may share a folder. Its content gets executed: a folder or file that belongs to another user, or
that others may write to, is refused (`user_cache.py`).
"""

import hashlib
import os
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from compiler.core.kept import Kept
from compiler.core.user_cache import Untrusted, no_user_cache, read, user_cache, write
from compiler.settings.options import Cache

DIGEST = 32
"""Bytes of a hash, so of a key."""
KEPT = 1024
"""Objects kept in memory, least recently used first out. A choice: those of the test programs have
1.3 kB each (mean of 16; 3 kB at most)."""
BOUND = 256 * 2**20
"""Bytes kept in a folder. A choice, no measurement."""
TRIMMED = 0.75
"""The share of the bound that is left after files were removed. A choice: so many writes follow
before the next removal."""
TRIM_EVERY = 64
"""Looking at all files of a full folder takes long: one write of so many does. Measured 2026-11-23
on an AMD EPYC, busy with other work: 0.54 s for 20,000 files, 0.3 ms for a write that does not
look."""
STALE = 3600.0
"""Seconds after which a file that was never renamed belongs to no process any more. A choice: a
write takes milliseconds."""


REFUSED: Counter[str] = Counter()
"""The number of files that were refused because another user may have written them, by reason."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of content: its name, the magic bytes of its files, its folder in the user's cache."""

    name: str
    magic: bytes
    folder: str
    again: str
    """The remedy for a damaged entry, in words."""

    @property
    def suffix(self) -> str:
        """The suffix of the files' names."""
        return f".{self.folder[:-1]}"


OBJECT = Kind("object code", b"svodviz object 1\n", "objects", "compiling again")
TUNING = Kind("tuned loops", b"svodviz tuning 1\n", "tunings", "tuning again")
PROGRAM = Kind("a prepared program", b"svodviz program 1\n", "programs", "compiling again")
MAGIC = OBJECT.magic


@dataclass(frozen=True, slots=True)
class Folder:
    """Entries on disk. Nothing here raises: a failure to read or write is a warning."""

    path: Path
    bound: int = BOUND
    kind: Kind = OBJECT

    def get(self, key: bytes) -> bytes | None:
        """The content for a key; None if there is no entry or its file is damaged."""
        path = self._file(key)
        try:
            content = read(path)
        except FileNotFoundError:
            return None
        except Untrusted as error:
            REFUSED[str(error)] += 1
            _warn(f"{path} is not used, {error}: {self.kind.again}")
            return None
        except OSError as error:
            _warn(f"the object cache cannot be read: {error}")
            return None
        code = _content(content, key, self.kind.magic)
        if code is None:
            _warn(f"{path} is damaged: {self.kind.again}")
            return None
        return code

    def put(self, key: bytes, code: bytes) -> None:
        """Keep the content of a key."""
        try:
            write(self._file(key), _entry(key, code, self.kind.magic))
        except OSError as error:
            _warn(f"{self.kind.name} could not be kept: {error}")
        else:
            if key[0] % TRIM_EVERY == 0:
                self.trim()

    def trim(self) -> None:
        """Remove the least recently used entries if the folder exceeds its bound."""
        files = sorted(self._files())
        total, least = sum(size for _, size, _ in files), TRIMMED * self.bound
        if total <= self.bound:
            return
        for _, size, path in files:
            _remove(path)
            total -= size
            if total <= least:
                return

    def has(self, key: bytes) -> bool:
        """True if there is a file for a key."""
        return self._file(key).exists()

    def count(self) -> tuple[int, int]:
        """The number of entries, and their bytes."""
        sizes = [size for _, size, path in self._files() if path.suffix == self.kind.suffix]
        return len(sizes), sum(sizes)

    def clear(self) -> None:
        """Remove every entry."""
        for _, _, path in self._files():
            _remove(path)

    def _files(self) -> list[tuple[float, int, Path]]:
        """Time of last use, bytes and path of each of our files; stale ones are removed."""
        files = []
        try:
            with os.scandir(self.path) as entries:
                for entry in entries:
                    if entry.name.endswith((self.kind.suffix, ".tmp")):
                        files += _facts(entry)
        except OSError as error:
            _warn(f"the object cache cannot be read: {error}")
        return files

    def _file(self, key: bytes) -> Path:
        return self.path / f"{key.hex()}{self.kind.suffix}"


def _facts(entry: "os.DirEntry[str]") -> list[tuple[float, int, Path]]:
    """The facts of one file, unless another process removed it."""
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return []
    path = Path(entry.path)
    if path.suffix == ".tmp":
        if time.time() - status.st_mtime > STALE:
            _remove(path)
        return []
    return [(status.st_mtime, status.st_size, path)]


def _entry(key: bytes, code: bytes, magic: bytes) -> bytes:
    rest = key + code
    return magic + hashlib.sha256(rest).digest() + rest


def _content(stored: bytes, key: bytes, magic: bytes) -> bytes | None:
    """The content of a file; None unless the file is intact and has this key."""
    start = len(magic) + DIGEST
    digest, rest = stored[len(magic) : start], stored[start:]
    is_whole = stored.startswith(magic) and hashlib.sha256(rest).digest() == digest
    return rest[DIGEST:] if is_whole and rest[:DIGEST] == key else None


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        _warn(f"the object cache cannot be trimmed: {error}")


def _warn(message: str) -> None:
    warnings.warn(message, stacklevel=3)


def no_folder(cache: Cache) -> str:
    """The reason why nothing is cached on disk; "" if something is, or if the folder is refused."""
    if cache is False:
        return "cache=False"
    return no_user_cache() if cache is True else ""


def folder_of(cache: Cache, kind: Kind = OBJECT) -> Folder | None:
    """The folder of `Options.cache`, made if need be; None where nothing is kept on disk."""
    if cache is False:
        return None
    parent = user_cache() if cache is True else None
    path = parent / kind.folder if parent else None if cache is True else Path(str(cache))
    return Folder(path, kind=kind) if path is not None and _is_safe(path) else None


def _is_safe(path: Path) -> bool:
    """True if a folder is ours alone to write; it is made if it is not there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.stat()
    except OSError as error:
        _warn(f"no object cache on disk: {error}")
        return False
    if status.st_uid == os.getuid() and not status.st_mode & 0o022:
        return True
    _warn(f"no object cache on disk: others may write to {path}")
    return False


class Objects(Kept[bytes, bytes]):
    """Entries by key: in memory, then in a folder."""

    def __init__(self, bound: int = KEPT) -> None:
        super().__init__(bound)
        self.read = 0

    def get(self, key: bytes, folder: Folder | None) -> bytes | None:
        """The cached content for a key; None if there is none."""
        held = self.held(key)
        if held is not None:
            return held
        content = folder.get(key) if folder else None
        with self.lock:
            self.read += content is not None
            self.misses += content is None
        return content if content is None else self.keep(key, content)

    def put(self, key: bytes, code: bytes, folder: Folder | None) -> None:
        """Keep the content of a key."""
        self.keep(key, code)
        if folder:
            folder.put(key, code)

    def clear(self) -> None:
        """Forget what is in memory, and set the counts to 0."""
        with self.lock:
            super().clear()
            self.read = 0
            REFUSED.clear()


OBJECTS = Objects()
"""Object code."""
TUNINGS = Objects()
"""Tuned loops, as `tune/remembered.py` writes them."""
