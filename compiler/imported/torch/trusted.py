"""Files of exported programs that run no code when they are read.

A `.pt2` file is an archive: the graph as JSON, weights as bytes, and members that PyTorch
unpickles. If a member does not suit PyTorch's safe reader, it falls back to the unsafe one, which
runs code from the file. So a file is accepted only if

    every pickle      makes nothing but tensors, plain containers and numbers
    every member      is of a kind known here: nothing compiled, no object of a class
    every expression  of the JSON is arithmetic: PyTorch evaluates these as Python

Anything unknown is refused, unless the user trusts the file.
"""

import io
import json
import pickletools
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from compiler.core.errors import DataError

_TEXT = re.compile(
    r"(archive_format|archive_version|version|byteorder|\.data/\w+|\.format_version|"
    r"extra/[\w.]*|.*\.json)"
)
_BYTES = re.compile(r"data/(weights|constants)/(weight|tensor)_\d+")
_PICKLED = re.compile(
    r"data/sample_inputs/\w+\.pt|data/(weights|constants)/\w+\.pt|"
    r"serialized_(state_dict|constants|example_inputs)(\.pt)?"
)
_CALLABLE = re.compile(
    r"torch\._utils\._rebuild_(tensor_v2|parameter|device_tensor_from_numpy|tensor_v3)|"
    r"torch\._tensor\._rebuild_from_type_v2|torch\.(Size|device|\w*Storage)|"
    r"torch\.storage\.\w*Storage|collections\.OrderedDict|torch\.nn\.parameter\.Parameter|"
    r"torch\.(bool|u?int(8|16|32|64)|b?float(16|32|64)?|half|double|long|complex(64|128)|"
    r"float8_\w+|Tensor)"
)
_TEXTS = ("SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8", "UNICODE")
_SUMS = re.compile(r"[\w\s+\-*/%(),.<>=&|~]*")
_CALLED = frozenset({
    "Max", "Min", "Mod", "PythonMod", "FloorDiv", "CeilDiv", "CleanDiv", "IntTrueDiv",
    "FloatTrueDiv", "ModularIndexing", "Pow", "PowByNatural", "FloatPow", "Abs", "ToFloat",
    "TruncToInt", "TruncToFloat", "FloorToInt", "CeilToInt", "RoundToInt", "Identity", "Where",
    "Eq", "Ne", "Lt", "Le", "Gt", "Ge", "And", "Or", "Not", "Integer", "Float", "Rational",
    "floor", "ceiling",
})  # fmt: skip
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(\()?")


def refuse_pickles(path: Path) -> None:
    """Raise `DataError` for a file from which PyTorch would, or may, run code."""
    if not zipfile.is_zipfile(path):
        _refuse(path, "the file is not an archive", "an archive written by torch.export.save")
    with zipfile.ZipFile(path) as archive:
        for name, content in _members(archive):
            why = _problem(name, content)
            if why:
                _refuse(path, f"{name}: {why}", "tensors, numbers and containers of them")


def _refuse(path: Path, got: str, expected: str) -> None:
    raise DataError(
        "from_torch", "reading this file may run code in it", got=f"{path.name}: {got}",
        expected=expected, hint="from_torch(path, trust=True) reads a file that you trust; on the "
        "command line --trust",
    )  # fmt: skip


def _members(archive: zipfile.ZipFile) -> Iterator[tuple[str, bytes]]:
    """Names below the archive's folder, and contents; a duplicate name is refused."""
    names = [info.filename for info in archive.infolist() if not info.is_dir()]
    begins = {name.partition("/")[0] for name in names}
    is_in_folder = len(begins) == 1 and all("/" in name for name in names)
    for info in archive.infolist():
        if not info.is_dir():
            name = info.filename.partition("/")[2] if is_in_folder else info.filename
            yield name if names.count(info.filename) == 1 else "two members", archive.read(info)


def _problem(name: str, content: bytes) -> str:
    """The reason why a member is refused; "" if it is accepted."""
    if name.endswith(".json"):
        return _problem_of_json(content)
    if _TEXT.fullmatch(name) or _BYTES.fullmatch(name):
        return ""
    if not _PICKLED.fullmatch(name):
        return "nothing is known of a member of this name"
    return _problem_of_saved(content) if content else ""


def _problem_of_saved(content: bytes) -> str:
    """The same for a file written by `torch.save`: an archive with one pickle, and bytes."""
    buffer = io.BytesIO(content)
    if not zipfile.is_zipfile(buffer):
        return "a pickle by itself"
    with zipfile.ZipFile(buffer) as archive:
        for name, inner in _members(archive):
            if name == "data.pkl":
                if why := _problem_of_pickle(inner):
                    return why
            elif not re.fullmatch(r"data/\d+|version|byteorder|\.data/\w+|\.format_version"
                                  r"|\.storage_alignment", name):  # fmt: skip
                return f"nothing is known of its member {name}"
    return ""


def _problem_of_pickle(content: bytes) -> str:
    """The same for a pickle, which is parsed as a list of opcodes and not run."""
    texts: list[str] = []
    stored: dict[int, str | None] = {}
    last: str | None = None
    try:
        for step, argument, _ in pickletools.genops(content):
            kind = step.name
            if kind in ("GLOBAL", "INST"):
                name = ".".join(str(argument).split(" ", 1))
                if kind == "INST" or not _CALLABLE.fullmatch(name):
                    return f"it makes an object by {name}"
            elif kind == "STACK_GLOBAL":
                name = ".".join(texts[-2:])
                if len(texts) < 2 or not _CALLABLE.fullmatch(name):
                    return f"it makes an object by {name}"
            elif kind in ("EXT1", "EXT2", "EXT4", "OBJ", "NEWOBJ_EX", "PERSID"):
                return f"it makes an object by {kind}"
            if kind in _TEXTS:
                last = str(argument)
                texts.append(last)
            elif kind in ("BINGET", "LONG_BINGET", "GET"):
                last = stored.get(int(str(argument)))
                texts.append(last or "?")
            elif kind in ("BINPUT", "LONG_BINPUT", "PUT"):
                stored[int(str(argument))] = last
            elif kind == "MEMOIZE":
                stored[len(stored)] = last
            elif kind != "STACK_GLOBAL":
                last = None
                texts.append("?")
            else:
                last = None
    except Exception as error:  # whatever its reader raises
        return f"it is not a pickle: {error}"
    return ""


def _problem_of_json(content: bytes) -> str:
    try:
        whole = json.loads(content)
    except ValueError as error:
        return f"it is not JSON: {error}"
    open_parts: list[Any] = [whole]
    while open_parts:
        value = open_parts.pop()
        if isinstance(value, list):
            open_parts += value
        if not isinstance(value, dict):
            continue
        open_parts += value.values()
        if value.get("use_pickle"):
            return "a tensor is a pickle"
        for key, text in value.items():
            if key.endswith("expr_str") and not _is_arithmetic(text):
                return f"{text!r} is not arithmetic"
    return ""


def _is_arithmetic(text: Any) -> bool:
    if not isinstance(text, str) or not _SUMS.fullmatch(text) or "__" in text:
        return False
    if re.search(r"[^\W\d]\w*\s*\.|\)\s*\.|\.\s*[^\W\d]", text):
        return False
    return all(not called or name in _CALLED for name, called in _NAME.findall(text))
