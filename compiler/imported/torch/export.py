"""`torch.export`: a module as a graph of ATen operators; those that tensors support are not
decomposed.

Stack traces are kept complete: PyTorch would keep only those of functions called `forward`.
"""

import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from compiler.core.errors import DataError
from compiler.core.lazy import loading
from compiler.imported.torch.call import function_of
from compiler.imported.torch.graphs import Exported, description_of
from compiler.imported.torch.trusted import refuse_pickles
from compiler.tensor import Tensor

_LOCK = threading.Lock()
_FILTER = "_filter_traceback_frames"
_OWN = "svodviz"
_REGION = "wrap_with_set_grad_enabled"
_LIBRARIES: list[Any] = []
_OF_A_CACHE = (
    "; use_cache=False leaves out a model's cache, and what transformers.integrations.executorch"
    ".convert_and_export_with_cache(model) gives has one and is taken"
)


def exported(
    module: Any, inputs: Any, named: Any, dynamic_shapes: Any, trust: bool = False
) -> Exported:
    """A module, an exported program, or a file of one, as an exported program that is decomposed
    into supported operators where possible. A file with pickled objects is refused unless
    `trust`."""
    with loading():
        import torch
    program = module
    if isinstance(module, str | Path):
        if not trust:
            refuse_pickles(Path(module))
        program = torch.export.load(str(module))
    if isinstance(program, torch.nn.Module):
        return _of_module(program, inputs, named, dynamic_shapes)
    if not isinstance(program, torch.export.ExportedProgram):
        raise DataError("from_torch", "this is not a PyTorch module", got=type(module).__name__,
                        expected="a torch.nn.Module, an ExportedProgram, or a path of a .pt2 file",
                        )  # fmt: skip
    try:
        return _decomposed(program)
    except Exception as error:  # whatever PyTorch raises
        raise _failed("PyTorch cannot decompose this program", error, "a program of "
                      "torch.export.export(module, …, strict=True)") from error  # fmt: skip


def _of_module(module: Any, inputs: Any, named: Any, dynamic_shapes: Any) -> Exported:
    """A module exported and decomposed. PyTorch's non-strict mode is used if the default gives
    writes that cannot be decomposed, as for a cache that is both a buffer and held by an object."""
    if inputs is None and not named:
        raise DataError("from_torch", "a module needs inputs as an example", got="none",
                        expected="from_torch(module, (x, …))")  # fmt: skip
    args, named = _arguments(inputs, named)
    hint = _OF_A_CACHE if type(module).__module__.startswith("transformers.") else ""
    try:
        program = _traced(module, args, named, dynamic_shapes, strict=False)
        try:
            return _decomposed(program)
        except Exception:  # whatever PyTorch raises
            return _decomposed(_traced(module, args, named, dynamic_shapes, strict=True))
    except Exception as error:  # whatever the module, or PyTorch, raises
        raise _failed("torch.export cannot write this module as a graph", error,
                      "a module whose graph does not depend on data", hint) from error  # fmt: skip


def _failed(problem: str, error: Exception, expected: str, hint: str = "") -> DataError:
    first = str(error).strip().partition("\n")[0]
    return DataError("from_torch", problem, got=f"{type(error).__name__}: {first}",
                     expected=expected, hint=f"the error above is PyTorch's own{hint}")  # fmt: skip


def _traced(module: Any, args: Any, named: Any, dynamic_shapes: Any, *, strict: bool) -> Any:
    with loading():
        import torch
    with torch.enable_grad(), _whole_traces():  # else regions without gradients leave no trace
        return torch.export.export(
            module, args, named, dynamic_shapes=dynamic_shapes, strict=strict
        )  # fmt: skip


def _decomposed(program: Any) -> Exported:
    """Decomposed into supported operators where possible."""
    with loading():
        import torch
    table = torch.export.default_decompositions()
    for target in list(table):
        if function_of(target) is not None:
            table.pop(target)
    with torch.no_grad(), _whole_traces(), _with_detaches(program):
        decomposed: Exported = program.run_decompositions(table)
        return decomposed


@contextmanager
def _with_detaches(program: Any) -> Iterator[None]:
    """Context in which an operator of ours replaces each `detach` of a program, and marks results
    of regions without gradients: PyTorch's decompositions would drop both."""
    with loading():
        import torch
    usual = torch.ops.aten.detach.default
    modules = [m for m in program.graph_module.modules() if hasattr(m, "graph")]
    nodes = [n for m in modules for n in m.graph.nodes if n.target is usual]
    for node in nodes:
        node.target = _detach()
    inserted = [new for module in modules for new in _detached_results(module)]
    try:
        yield
    finally:
        for node in nodes:
            node.target = usual
        for new in inserted:
            new.replace_all_uses_with(new.args[0])
            new.graph.erase_node(new)


def _detached_results(module: Any) -> Iterator[Any]:
    """Insert a `detach` for each result of a region without gradients."""
    for node in module.graph.nodes:
        if getattr(node.target, "__name__", "") != _REGION or node.args[0]:
            continue
        inner = getattr(module, node.args[1].target).graph
        end = next(each for each in inner.nodes if each.op == "output")
        for result in end.all_input_nodes:
            if getattr(getattr(description_of(result), "dtype", None), "is_floating_point", False):
                with inner.inserting_before(end):
                    new = inner.call_function(_detach(), (result,))
                new.meta = dict(result.meta)
                end.replace_input_with(result, new)
                yield new


@cache
def _detach() -> Any:
    """`svodviz::detach`, which no decomposition removes."""
    with loading():
        import torch
    library = torch.library.Library(_OWN, "FRAGMENT")
    library.define("detach(Tensor x) -> Tensor")
    library.impl("detach", lambda x: x.clone(), "CompositeExplicitAutograd")
    _LIBRARIES.append(library)  # its operators live as long as it does
    return torch.ops.svodviz.detach.default


def _arguments(inputs: Any, named: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Inputs of a module as PyTorch tensors: some positional, and some by name."""
    with loading():
        from torch.utils import _pytree as pytree
    if inputs is None:
        inputs = ()
    values = inputs if isinstance(inputs, tuple | list) else (inputs,)
    seen: set[int] = set()
    first = tuple(pytree.tree_map(lambda value: _as_torch(value, seen), each) for each in values)
    return first, {
        name: pytree.tree_map(lambda value: _as_torch(value, seen), each)
        for name, each in (named or {}).items()
    }


def _as_torch(value: Any, seen: set[int]) -> Any:
    """A PyTorch tensor, a separate one for each input: PyTorch's trace would merge an input that is
    passed twice."""
    with loading():
        import torch
    if isinstance(value, Tensor):
        value = value.numpy()
    if isinstance(value, np.ndarray):
        return torch.from_numpy(np.array(value))
    if isinstance(value, torch.Tensor) and id(value) in seen:
        return value.clone()
    seen.add(id(value))
    return value


@contextmanager
def _whole_traces() -> Iterator[None]:
    """Context in which nodes keep every line of the model that led to them."""
    with loading():
        from torch.fx.proxy import TracerBase
    if not hasattr(TracerBase, _FILTER):  # not a public interface of PyTorch
        yield
        return
    with _LOCK:
        usual = getattr(TracerBase, _FILTER)
        setattr(TracerBase, _FILTER, _frames)
        try:
            yield
        finally:
            setattr(TracerBase, _FILTER, usual)


def _frames(_tracer: Any, summary: traceback.StackSummary) -> traceback.StackSummary:
    """The lines from the first `forward` on, without PyTorch's own."""
    with loading():
        from torch.fx.experimental.symbolic_shapes import uninteresting_files
    hidden = uninteresting_files()
    start = next((n for n, frame in enumerate(summary) if frame.name == "forward"), len(summary))
    kept = [frame for frame in list(summary)[start:] if frame.filename not in hidden]
    return traceback.StackSummary.from_list(kept)


def dimension_names(program: Exported, dynamic_shapes: Any) -> dict[str, str]:
    """The user's names of dynamic dimensions, by PyTorch's symbol."""
    names: dict[str, str] = {}
    inputs = [node for node in program.graph.nodes if node.op == "placeholder"]
    wanted = [n for n in inputs if n.name in program.graph_signature.user_inputs]
    rows = list(_leaves(dynamic_shapes))
    if len(rows) != len(wanted):
        return names
    for node, row in zip(wanted, rows, strict=True):
        shape = getattr(description_of(node), "shape", ())
        for axis, dimension in row.items():
            name = getattr(dimension, "__name__", None)
            if isinstance(name, str) and axis < len(shape):
                names[str(shape[axis])] = name
    return names


def _leaves(shapes: Any) -> Iterator[dict[int, Any]]:
    """The dynamic dimensions of each input, by axis."""
    if isinstance(shapes, Mapping) and not all(isinstance(key, int) for key in shapes):
        for each in shapes.values():
            yield from _leaves(each)
    elif isinstance(shapes, Mapping):
        yield dict(shapes)
    elif isinstance(shapes, tuple | list) and any(
        isinstance(each, Mapping | tuple | list) for each in shapes
    ):
        for each in shapes:
            yield from _leaves(each)
    elif isinstance(shapes, tuple | list):
        yield dict(enumerate(shapes))
    else:
        yield {}
