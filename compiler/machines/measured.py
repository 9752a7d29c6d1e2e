"""The file of measurements of this machine, in the user's cache folder.

    machine-0123456789abcdef.json    {"key": …, "model": {"cycle_ns": …, …}}

If a file is broken, or of another processor or version, there is a warning and it is not used.
"""

import hashlib
import json
import math
import warnings
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from compiler.core.user_cache import read, write
from compiler.machines.model import MachineModel
from compiler.machines.processors import host

VERSION = 6
"""The version of the figures and of the file; a file of another version is measured again."""
COUNTS = {"cache_bytes": 3, "ways": 3, "read": 4, "write": 4, "strided": 4}
"""Figures of a field that is several."""
WORDS = "name", "origins", "broadcasts", "takes_lanes", "masks", "dots"
"""Fields that are no figures."""


def path_in(folder: Path) -> Path:
    """The path of the file of measurements of this machine."""
    return folder / f"machine-{_key()[:16]}.json"


def kept(folder: Path) -> MachineModel | None:
    """The measured model of this machine; None, with a warning, if the file is not valid."""
    path = path_in(folder)
    try:
        held = json.loads(read(path).decode())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        _warn(path, str(error))
        return None
    try:
        if held["key"] == _key():
            return _model(held["model"])
        _warn(path, "it is of another machine or version")
    except (KeyError, TypeError, ValueError) as error:
        _warn(path, repr(error))
    return None


def keep(folder: Path, model: MachineModel) -> None:
    """Replace the file atomically: concurrent readers get the old one or the new one."""
    path = path_in(folder)
    text = json.dumps({"key": _key(), "model": asdict(model)}, indent=1)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, text.encode())
    except OSError as error:
        warnings.warn(f"the machine model could not be kept: {error}", stacklevel=3)


def _key() -> str:
    """Everything that the figures depend on: processor, its features, this file's version."""
    processor = host()
    text = "\n".join((str(VERSION), processor.name, processor.features))
    return hashlib.sha256(text.encode()).hexdigest()


def _warn(path: Path, why: str) -> None:
    warnings.warn(f"{path} is no machine model ({why}); it is not used", stacklevel=4)


def _model(row: dict[str, Any]) -> MachineModel:
    """The model of a JSON object. Raises if a figure is missing, not positive or not a number."""
    values = {name: _frozen(value) for name, value in row.items()}
    if set(values) != {each.name for each in fields(MachineModel)}:
        raise ValueError("figures are missing")
    model = MachineModel(**values)
    if any(len(getattr(model, name)) != count for name, count in COUNTS.items()):
        raise ValueError("levels are missing")
    figures = [n for name, value in values.items() for n in _figures(name, value)]
    if not all(isinstance(n, int | float) and 0 < n < math.inf for n in figures):
        raise ValueError("a figure is not positive")
    return model


def _figures(name: str, value: Any) -> tuple[Any, ...]:
    """The numbers of a field, all of which are more than zero."""
    if name in WORDS:
        return ()
    if name == "operations":
        return tuple(ns for _, ns in value)
    return value if isinstance(value, tuple) else (value,)


def _frozen(value: object) -> Any:
    return tuple(_frozen(v) for v in value) if isinstance(value, list) else value
