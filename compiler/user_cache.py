"""Where the user's cache folder is, as the environment says it."""

import os
import sys
from pathlib import Path


def user_cache() -> Path | None:
    """The folder for what can be made again; None where the user has no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):  # a relative one is to be ignored, says its specification
        return Path(given) / "svodviz"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "svodviz"
