"""Models in files as programs to explore: read, given inputs, compiled.

    model.onnx      `compiler.from_onnx`
    model.pt2       `compiler.from_torch`, of what `torch.export.save` wrote

Inputs come from files, or are made of the shapes and types that the model declares, by a seed: the
same in every run. Integers that choose rows of a table of the model stay within it, masks are ones.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.core.modules import run_by
from svodviz.cli.program import Found, ProgramError
from svodviz.cli.progress import reported
from svodviz.foundation.escape import visible
from svodviz.foundation.subject import is_tensor

if TYPE_CHECKING:
    from compiler.program.compilation import Compilation
    from compiler.tensor import Tensor

SUFFIXES = (".onnx", ".pt2")
EXTRAS = {".onnx": ("onnx", "onnx"), ".pt2": ("torch", "torch")}
"""For each suffix the package that reads it, and the extra of this one that brings it."""
COMMAND = "command line"
"""The name that the stage Source gives to the place that runs a model."""
FEW, LENGTH, EXTENT = 1, 16, 64
"""The default extents of dynamic axes: of a batch, of a sequence, of any other. A choice: small
enough to be explored, large enough for most strides and windows."""
BATCHES = ("batch", "n", "b")
LENGTHS = ("seq", "len", "time", "token", "step", "word")

Shape = tuple[int | str, ...]


@dataclass(frozen=True)
class Given:
    """The options of the command line for a model's inputs."""

    files: tuple[str, ...] = ()
    """`x.npz`, `x=x.npy`, or `x.npy` where there is one input."""
    dims: Mapping[str, int] | None = None
    seed: int = 0
    trust: bool = False
    """True if reading the file may execute code in it."""

    @property
    def is_any(self) -> bool:
        """True if any option is set."""
        return bool(self.files or self.dims)


def is_model(path: str) -> bool:
    """True if a file is a model and not a Python program, by its suffix."""
    return Path(path).suffix.lower() in SUFFIXES


def load(path: str, options: Given) -> list[Found]:
    """The model at `path`, compiled for inputs. Raises ProgramError where what reads it is missing,
    and ValueError or CompileError where model and inputs do not fit."""
    suffix = Path(path).suffix.lower()
    name = visible(Path(path).name)
    try:
        with reported(f"reading {name}"), run_by(COMMAND, name):
            program = _read(path, suffix, options.trust)
    except ModuleNotFoundError as error:
        package, extra = EXTRAS[suffix]
        raise ProgramError(
            f"{path}: {suffix} files need {package}, which is not installed here: "
            f"pip install 'svodviz[{extra}]'"
        ) from error
    inputs = arrays(program, options, _tables(path) if suffix == ".onnx" else {})
    with reported(f"compiling {name}"):
        return [Found(_compiled(program, inputs, Path(path)))]


def _read(path: str, suffix: str, trust: bool) -> Any:
    import compiler

    if suffix == ".onnx":
        return compiler.from_onnx(path)
    read = getattr(compiler, "from_torch", None)
    if read is None:
        raise ProgramError(f"{path}: this version reads no {suffix} files")
    return read(path, trust=trust)


def _compiled(program: Any, inputs: Mapping[str, Array], file: Path) -> "Compilation":
    import compiler

    with run_by(COMMAND, f"{file.name}: {program!r}"):
        result = program(**inputs)
    return compiler.compile(list(_tensors(result)), name=file.stem)


def _tensors(result: Any) -> "Iterator[Tensor]":
    """The results of a model, from any container."""
    if is_tensor(result):
        yield result
    elif isinstance(result, Mapping):
        yield from (it for value in result.values() for it in _tensors(value))
    elif isinstance(result, list | tuple):
        yield from (it for value in result for it in _tensors(value))


# -- inputs ----------------------------------------------------------------------------------------


def arrays(program: Any, inputs: Given, tables: Mapping[str, int]) -> dict[str, Array]:
    """An array for each input of a model: from the files given, else made."""
    declared: dict[str, tuple[Any, Shape]] = program.inputs
    from_files = _from_files(inputs.files, list(declared))
    if unknown := sorted(set(from_files) - set(declared)):
        raise ValueError(f"--input: the model has no input {', '.join(unknown)}; "
                         f"it has {', '.join(declared)}")  # fmt: skip
    dims = dict(inputs.dims or {})
    names = {it for _, shape in declared.values() for it in shape if isinstance(it, str)}
    if unknown := sorted(set(dims) - names):
        has = f"it has {', '.join(sorted(names))}" if names else "all its extents are fixed"
        raise ValueError(f"--dim: no extent is called {', '.join(unknown)}; {has}")
    for name, array in from_files.items():  # an extent that a file has is so in all inputs
        named = zip(declared[name][1], array.shape, strict=False)
        dims |= {extent: size for extent, size in named if isinstance(extent, str)}
    random = np.random.default_rng(inputs.seed)
    return {
        name: from_files[name] if name in from_files
        else _made(name, dtype.numpy, extents(shape, dims), tables.get(name, 0), random)
        for name, (dtype, shape) in declared.items()
    }  # fmt: skip


def extents(shape: Shape, dims: Mapping[str, int]) -> tuple[int, ...]:
    """The extents of an input: a named one has the stated value, or else its default."""
    return tuple(
        extent if isinstance(extent, int) else dims.get(extent, _usual(extent, axis))
        for axis, extent in enumerate(shape)
    )


def _usual(name: str, axis: int) -> int:
    lower = name.lower()
    if lower in BATCHES or "batch" in lower:
        return FEW
    if any(word in lower for word in LENGTHS):
        return LENGTH
    return FEW if axis == 0 else EXTENT


def _made(
    name: str, dtype: Any, shape: tuple[int, ...], rows: int, random: np.random.Generator
) -> Array:
    """Values for an input: `rows` are those of the table that it chooses from, 0 for none."""
    kind = np.dtype(dtype).kind
    if "mask" in name.lower():
        return np.ones(shape, dtype)
    if kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if kind in "iu":
        return random.integers(0, rows or 2, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def _tables(path: str) -> dict[str, int]:
    """The number of rows for each input of an ONNX model that indexes rows of a constant."""
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    rows = {it.name: list(it.dims) for it in graph.initializer}
    same = {it.name: it.name for it in graph.input}
    sizes: dict[str, int] = {}
    for node in graph.node:
        if node.op_type in ("Cast", "Identity") and node.input[0] in same:
            same[node.output[0]] = same[node.input[0]]
        if node.op_type != "Gather" or node.input[1] not in same or node.input[0] not in rows:
            continue
        axis = next((it.i for it in node.attribute if it.name == "axis"), 0)
        name, count = same[node.input[1]], rows[node.input[0]][axis]
        sizes[name] = min(sizes.get(name, count), count)
    return sizes


def _from_files(files: Sequence[str], names: Sequence[str]) -> dict[str, Array]:
    """The arrays in files, by the names of inputs."""
    arrays_by_name: dict[str, Array] = {}
    for said in files:
        name, is_named, path = said.partition("=")
        if not is_named:
            name, path = "", said
        arrays_by_name |= dict(_arrays_in(Path(path), name, names))
    return arrays_by_name


def _arrays_in(path: Path, name: str, names: Sequence[str]) -> Iterator[tuple[str, Array]]:
    if not path.is_file():
        raise ValueError(f"--input {path}: no such file")
    try:
        data = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, OSError) as error:
        raise ValueError(f"--input {path}: no arrays are in it: {error}") from error
    if isinstance(data, np.ndarray):
        if not name and len(names) != 1:
            raise ValueError(f"--input {path}: which input is it? Write NAME={path}; the model has "
                             f"{', '.join(names)}")  # fmt: skip
        yield name or names[0], data
        return
    with data:
        if name and name not in data:
            raise ValueError(f"--input {path}: there is no {name} in it; there is "
                             f"{', '.join(data) or 'nothing'}")  # fmt: skip
        for each in [name] if name else list(data):
            yield each, data[each]


def dim_of(text: str) -> tuple[str, int]:
    """`batch=4` as a name and a number. Raises ValueError for what is none."""
    name, _, number = text.partition("=")
    if not name or not number.isdecimal() or int(number) < 1:
        raise ValueError(f"--dim {text}: expected NAME=NUMBER, as in batch=4")
    return name, int(number)
