"""Files that tools write: written, or compared with what is there."""

from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent


def write(files: Mapping[Path, str], arguments: list[str]) -> int:
    """The exit code of a tool that writes `files`: prints those that differ, and writes them.

    With `--check` among the arguments none is written, and 1 is returned if any differs.
    """
    stale = {path: text for path, text in files.items() if path.read_text("utf-8") != text}
    is_check = "--check" in arguments
    for path, text in stale.items():
        print(path.relative_to(ROOT))
        if not is_check:
            path.write_text(text, "utf-8")
    return int(bool(stale) and is_check)
