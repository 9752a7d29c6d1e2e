"""Samples of PyTorch's own database of operators (OpInfo) through `from_torch`: a table.

    python -m tools.opinfo                     every operator, in two processes
    python -m tools.opinfo softmax 'linalg*'   some, by names or patterns of the shell
    python -m tools.opinfo --samples 1 …       fewer samples of each operator and element type
    python -m tools.opinfo --out rows.json …   keep the rows; those that are there are not run again
    python -m tools.opinfo --limit 600 …       end after so many seconds

A sample is a module: its tensors are inputs, its other arguments constants. Values are compared
with PyTorch's, and for inputs that are learned also gradients of a weighted sum of all outputs. Of
random operators, and of samples that differ with another seed, only types and shapes are
compared. Common operators run first. A result is one of

    equal       the same type and shape, integers exactly, floats up to rounding, NaN at one place;
                of float32 also what is as near to PyTorch's float64 as PyTorch's own result
    zeros       equal but for the signs of zeros
    absent      equal, but a gradient of zeros here is None with PyTorch, or the reverse
    inexact     the gradient is exact here and, as documented, not with PyTorch: see `INEXACT`
    refused     a `CompileError`: the sentence is kept
    unexported  `torch.export` or its decompositions raise an exception without the compiler, too
    skipped     PyTorch itself raises an exception, or the sample has no tensor
    failed      any other exception, a crash, or no answer in time: a defect
    wrong       another result: a defect
"""

import argparse
import contextlib
import fnmatch
import itertools
import json
import multiprocessing
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

from tools.opinfo_differences import ABSENT, RESULTS, Positions, different, is_as_near, result_of

Row = dict[str, Any]
DEFECTS = ("failed", "wrong")
COMMON = (
    "add", "sub", "mul", "div*", "matmul", "mm", "bmm", "addmm", "nn.functional.linear", "sum",
    "mean", "max*", "min*", "amax", "amin", "nn.functional.conv*", "nn.functional.*norm*",
    "nn.functional.*pool*", "*softmax*", "nn.functional.*loss*", "nn.functional.cross_entropy",
    "nn.functional.embedding*", "nn.functional.scaled_dot_product_attention", "nn.functional.*",
    "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "pow", "where", "clamp*", "cat", "stack",
    "reshape", "view", "permute", "transpose", "expand", "repeat*", "gather", "scatter*", "index*",
    "masked_fill", "take*", "topk", "sort", "argsort", "arg*", "cum*", "var*", "std*", "norm*",
    "einsum", "roll", "flip*", "tri*", "*split*", "chunk", "select*", "slice*", "squeeze",
    "unsqueeze", "round*", "floor*", "remainder", "fmod",
)  # fmt: skip
"""Operators by how often models have them, as patterns; what fits none is last."""
OTHERS = ("int64", "bool", "int32", "complex64")
"""Types of which the first that an operator supports is tested after its floating types."""
DRAWN = 100
"""Samples that are drawn of one operator and type, to choose some that differ."""
INEXACT = {"nn.functional.max_unpool1d": 1, "nn.functional.max_unpool2d": 2,
           "nn.functional.max_unpool3d": 3}  # fmt: skip
"""Operators that may write several elements to one place, by the number of axes of their positions.
PyTorch then gives the gradient of the place to all of the elements, which it documents as incorrect
(`Tensor.scatter_`, https://docs.pytorch.org). Here the element that was written last has it."""
UNDEFINED = ("empty", "empty_like", "empty_permuted", "empty_strided", "new_empty",
             "new_empty_strided")  # fmt: skip
"""Operators whose values nobody defines: types and shapes are compared."""


def operators() -> dict[str, Any]:
    """The database, by name."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {"-".join(filter(None, (op.name, op.variant_test_name))): op for op in op_db}


def chosen(patterns: Sequence[str], among: Sequence[str]) -> list[str]:
    """The operators of these names or patterns; `SystemExit` where one fits none."""
    names: list[str] = []
    for pattern in patterns:
        fitting = fnmatch.filter(among, pattern)
        if not fitting:
            raise SystemExit(f"no such operator: {pattern}")
        names += fitting
    return list(dict.fromkeys(names))


def by_use(names: Sequence[str]) -> list[str]:
    """The operators, common ones first."""

    def place(name: str) -> int:
        fitting = (n for n, each in enumerate(COMMON) if fnmatch.fnmatchcase(name, each))
        return next(fitting, len(COMMON))

    return sorted(names, key=place)


def varied(samples: Sequence[Any], count: int, traits: Callable[[Any], set[str]]) -> list[Any]:
    """At most `count` samples: each next is the one with the most traits that none has so far."""
    left, seen, taken = [(each, traits(each)) for each in samples], set[str](), list[Any]()
    while left and len(taken) < count:
        best = max(left, key=lambda pair: len(pair[1] - seen))
        left.remove(best)
        seen |= best[1]
        taken.append(best[0])
    return taken


def _traits(sample: Any) -> set[str]:
    import torch
    from torch.utils import _pytree as pytree

    traits = {f"{name}={value!r}"[:60] for name, value in sample.kwargs.items()}
    traits |= {f"named {name}" for name in sample.kwargs} | {f"{len(sample.args)} arguments"}
    shapes = set()
    for leaf in pytree.tree_leaves((sample.input, sample.args, sample.kwargs)):
        if isinstance(leaf, torch.Tensor):
            shapes.add(tuple(leaf.shape))
            traits |= {f"rank {leaf.ndim}", f"empty {leaf.numel() == 0}",
                      f"contiguous {leaf.is_contiguous()}"}  # fmt: skip
        else:
            traits.add(f"{type(leaf).__name__} {leaf!r}"[:40])
    return traits | {f"{len(shapes)} shapes"}


def types_of(op: Any) -> list[str]:
    """The element types to try: the floating ones, and one other."""
    names = {str(each).removeprefix("torch.") for each in op.dtypes}
    floats = [name for name in ("float32", "float64") if name in names]
    return floats + [name for name in OTHERS if name in names][:1]


def rows_of(op: Any, count: int) -> Iterator[Row]:
    """A row for each sample of an operator."""
    import torch

    for name in types_of(op):
        dtype = getattr(torch, name)
        is_learned = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
        torch.manual_seed(0)
        try:
            drawn = op.sample_inputs("cpu", dtype, requires_grad=is_learned)
            samples = varied(list(itertools.islice(drawn, DRAWN)), count, _traits)
        except Exception as error:  # whatever the database raises
            yield {"type": name, "values": "skipped", "why": _first_line(error)}
            continue
        for sample in samples:
            yield {"type": name, "sample": sample.summary()[:300],
                   **_compared(op, sample, is_learned)}  # fmt: skip


def _compared(op: Any, sample: Any, is_learned: bool) -> Row:
    """The results of one sample: of values, and of gradients where there are some."""
    import torch
    from torch.utils import _pytree as pytree

    flat, spec = pytree.tree_flatten((sample.input, sample.args, sample.kwargs))
    places = [n for n, leaf in enumerate(flat) if isinstance(leaf, torch.Tensor)]
    if not places:
        return {"values": "skipped", "why": "no tensor"}
    module = _module(op, sample, flat, spec, places)
    inputs = [flat[n].detach().clone() for n in places]
    grads = [is_learned and flat[n].requires_grad for n in places]
    try:
        eager = [x.clone().requires_grad_(g) for x, g in zip(inputs, grads, strict=True)]
        outputs = list(pytree.tree_leaves(module(*eager)))
        wanted = [_value(each) for each in outputs]
        slopes = _slopes(outputs, eager)
    except Exception as error:
        return {"values": "skipped", "why": _first_line(error)}
    is_loose = op.name in UNDEFINED or _is_drawn(module, inputs, wanted)
    ends = [getattr(each, "requires_grad", False) for each in outputs]
    if op.name == "topk":
        axis = sample.kwargs.get("dim", (*sample.args, -1, -1)[1])
        wanted[1] = Positions(wanted[1], _value(inputs[0]), axis)
    row = _ours(module, inputs, wanted, slopes, ends, grads, is_loose)
    if row.get("gradients") == "wrong" and _writes_twice(op.name, sample):
        row["gradients"] = "inexact"
    return row


def _writes_twice(name: str, sample: Any) -> bool:
    """True for a sample of `INEXACT` whose positions have one of a plane more than once."""
    if name not in INEXACT:
        return False
    positions = sample.args[0].flatten(-INEXACT[name]).flatten(0, -2)
    return any(len(plane.unique()) < len(plane) for plane in positions)


def _is_drawn(module: Any, inputs: list[Any], wanted: list[Any]) -> bool:
    """True if PyTorch's values differ with another seed: arguments ask for dropout. The
    database's operators set a seed of their own, which is replaced."""
    import torch
    from torch.utils import _pytree as pytree

    seeded = torch.random.default_generator.manual_seed
    for seed in range(4):
        tensors = [x.clone() for x in inputs]
        with torch.no_grad(), mock.patch.object(torch, "manual_seed", lambda _, n=seed: seeded(n)):
            torch.manual_seed(0)
            again = [_value(each) for each in pytree.tree_leaves(module(*tensors))]
        if different(again, wanted):
            return True
    return False


def _module(op: Any, sample: Any, flat: list[Any], spec: Any, places: list[int]) -> Any:
    from torch import nn
    from torch.utils import _pytree as pytree

    function, finish = op.op, sample.output_process_fn_grad

    class Sampled(nn.Module):  # type: ignore[misc]
        """The operator, with all that is no tensor as constants."""

        def forward(self, *tensors: Any) -> Any:
            leaves = list(flat)
            for place, tensor in zip(places, tensors, strict=True):
                leaves[place] = tensor
            first, args, named = pytree.tree_unflatten(leaves, spec)
            return finish(function(first, *args, **named))

    return Sampled().eval()


def _ours(
    module: Any, inputs: list[Any], wanted: list[Any], slopes: list[Any], ends: list[bool],
    grads: list[bool], is_loose: bool,
) -> Row:  # fmt: skip
    from torch.utils import _pytree as pytree

    import compiler
    from compiler.core.errors import CompileError

    row: Row = {}
    for kind in ("values", "gradients") if any(grads) else ("values",):
        try:
            if kind == "values":
                program = compiler.from_torch(module, tuple(inputs))
                ours = [_tensor(x, False) for x in inputs]
                got = [_value(each) for each in pytree.tree_leaves(program(*ours))]
            else:
                tensors = [_tensor(x, g) for x, g in zip(inputs, grads, strict=True)]
                outputs = list(pytree.tree_leaves(program(*tensors)))
                got, wanted = _our_slopes(outputs, tensors, slopes), slopes
            why = different(got, wanted, is_loose)
            if result_of(why) == "wrong" and _is_rounding(module, inputs, grads, kind, got, wanted):
                why = ""
            if kind == "gradients" and not why.startswith(ABSENT):  # which is a gradient of 0
                other = _other_ends(outputs, ends)
                is_zero = not any(each is not None and each.any() for each in slopes)
                why = (f"{ABSENT}: {other}" if is_zero else other) if other else why
            row[kind] = result_of(why)
        except CompileError as error:
            row[kind], why = _refusal(error, module, inputs), _sentence(error)
        except Exception as error:
            row[kind], why = "failed", f"{type(error).__name__}: {_first_line(error)}"
        if why:
            row["why"] = why
        if row[kind] not in ("equal", "zeros", "absent", "wrong"):
            break
    return row


def _is_rounding(
    module: Any, inputs: list[Any], grads: list[bool], kind: str, got: list[Any], wanted: list[Any]
) -> bool:
    """True if results in float32 differ from PyTorch's by no more than these do from float64's."""
    import torch
    from torch.utils import _pytree as pytree

    if not any(x.dtype == torch.float32 for x in inputs) or len(got) != len(wanted):
        return False
    wide = [x.double() if x.dtype == torch.float32 else x.clone() for x in inputs]
    try:
        for x, is_learned in zip(wide, grads, strict=True):
            x.requires_grad_(is_learned)
        outputs = list(pytree.tree_leaves(module(*wide)))
        exact = _slopes(outputs, wide) if kind == "gradients" else [_value(x) for x in outputs]
    except Exception:  # the module has constants of another type
        return False
    return len(exact) == len(got) and all(map(is_as_near, got, wanted, exact))


def _refusal(error: Exception, module: Any, inputs: list[Any]) -> str:
    """True if an error is a refusal, an export that PyTorch cannot do, or a defect."""
    import torch

    from compiler.core.errors import CompileError, InternalError, NameMistake

    if isinstance(error, InternalError | NameMistake):
        return "failed"
    if error.__cause__ is None or isinstance(error.__cause__, CompileError):
        return "refused"
    try:
        torch.export.export(module, tuple(inputs), strict=False).run_decompositions()
    except Exception:  # whatever PyTorch raises
        return "unexported"
    return "failed" if "torch.export" in _first_line(error) else "refused"


def _tensor(x: Any, is_learned: bool) -> Any:
    from compiler import Tensor
    from compiler.imported.torch.element_types import array_of

    return Tensor(array_of(x, "a sample"), requires_grad=is_learned)


def _value(each: Any) -> Any:
    """An array, or a number as it is."""
    from compiler import Tensor

    if hasattr(each, "resolve_conj"):
        return each.detach().clone().resolve_conj().resolve_neg().numpy()
    return each.numpy() if isinstance(each, Tensor) else each


def _weights(shape: Sequence[int], dtype: Any) -> Any:
    import numpy as np

    size = int(np.prod(shape))
    return (0.5 + np.cos(np.arange(size) * 0.7)).reshape(shape).astype(dtype)


def _slopes(outputs: list[Any], inputs: list[Any]) -> list[Any]:
    """PyTorch's gradient by each input; None where there is none."""
    import torch

    parts = [
        (each * torch.from_numpy(_weights(each.shape, _value(each).dtype))).sum()
        for each in outputs
        if isinstance(each, torch.Tensor) and each.requires_grad and each.is_floating_point()
    ]
    learned = [x for x in inputs if x.requires_grad]
    if not parts or not learned:
        return [None] * len(inputs)
    total = sum(part.double() for part in parts)
    gradients = iter(torch.autograd.grad(total, learned, allow_unused=True))
    slopes = [next(gradients) if x.requires_grad else None for x in inputs]
    return [None if s is None else _value(s) for s in slopes]


def _our_slopes(outputs: list[Any], tensors: list[Any], slopes: list[Any]) -> list[Any]:
    """Our gradient by each input; None where no result depends on it."""
    from compiler import Tensor

    parts = [
        (each * Tensor(_weights(each.shape, each.dtype.numpy))).sum()
        for each in outputs
        if isinstance(each, Tensor) and each.requires_grad and each.dtype.is_float
    ]
    learned = [x for x in tensors if x.requires_grad]
    if not parts:
        return [None] * len(tensors)
    total = parts[0].cast("float64")
    for part in parts[1:]:
        total = total + part.cast("float64")
    gradients = total.gradient(*learned, allow_unused=True)
    slopes_of = iter(gradients if len(learned) > 1 else [gradients])
    got = [next(slopes_of).numpy() if x.requires_grad else None for x in tensors]
    return [None if each is None or (not each.any() and _is_unused(total, x)) else each
            for each, x in zip(got, tensors, strict=True)]  # fmt: skip


def _is_unused(total: Any, x: Any) -> bool:
    """True if a result does not depend on an input at all."""
    from compiler.core.errors import GradientError

    try:
        total.gradient(x)
    except GradientError:
        return True
    return False


def _other_ends(outputs: list[Any], ends: list[bool]) -> str:
    """The first result that requires gradients where PyTorch's does not, or the reverse."""
    for place, (ours, theirs) in enumerate(zip(outputs, ends, strict=True)):
        if getattr(ours, "requires_grad", False) != theirs:
            return f"result {place} requires gradients: {not theirs}, PyTorch's: {theirs}"
    return ""


def _sentence(error: BaseException) -> str:
    """The first line of an error's page, and the one that says which operators it is about."""
    lines = [line.strip() for line in str(error).strip().splitlines()]
    got = [line.removeprefix("got:").strip() for line in lines if line.startswith("got:")]
    return "; ".join([_first_line(error), *got])[:400]


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).strip().splitlines()), "")[:400] or type(error).__name__


def _serve(pipe: Connection, count: int) -> None:
    """Answers names of operators with their rows, until there are no more."""
    warnings.simplefilter("ignore")
    import torch

    torch.set_num_threads(1)
    every = operators()
    pipe.send(list(every))
    with contextlib.suppress(EOFError, BrokenPipeError):  # the command was ended
        while name := pipe.recv():
            pipe.send(list(rows_of(every[name], count)))


class Worker:
    """A process that is made anew when it crashes or does not answer in time."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, self._count), daemon=True)
        self._process.start()
        other.close()
        self.names: list[str] = self._pipe.recv()

    def rows(self, name: str, seconds: float) -> list[Row]:
        """The rows of an operator; one that failed where the process ends or is too slow."""
        self._pipe.send(name)
        try:
            if self._pipe.poll(seconds):
                rows: list[Row] = self._pipe.recv()
                return rows
            why = f"not ready after {seconds:.0f} s"
        except EOFError:
            self._process.join(5)
            why = f"the process ended with {self._process.exitcode}"
        self.end()
        self._start()
        return [{"type": "", "values": "failed", "why": why}]

    def end(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.join()


def run(
    workers: Sequence[Worker], names: Sequence[str], seconds: float, limit: float,
    finish: Callable[[str, list[Row]], None],
) -> None:  # fmt: skip
    """Every operator in one of the processes; `finish` takes the rows of each."""
    left, lock, end = iter(names), threading.Lock(), time.monotonic() + limit

    def serve(worker: Worker) -> None:
        while time.monotonic() < end:
            with lock:
                name = next(left, None)
            if name is None:
                return
            rows = worker.rows(name, seconds)
            with lock:
                finish(name, rows)

    threads = [threading.Thread(target=serve, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kept(out: Path | None) -> dict[str, list[Row]]:
    """The rows of a file, by operator."""
    rows: dict[str, list[Row]] = json.loads(out.read_text("utf-8")) if out and out.exists() else {}
    return rows


def is_wrong(rows: Sequence[Row]) -> bool:
    """True if some sample is a defect."""
    return any(row.get(kind) in DEFECTS for row in rows for kind in ("values", "gradients"))


def table(every: dict[str, list[Row]]) -> str:
    """Counts of samples by result, and of operators by the worst of theirs."""
    rows = [row for group in every.values() for row in group]
    lines = [f"{'':10}" + "".join(f"{result:>12}" for result in RESULTS)]
    for kind in ("values", "gradients"):
        counts = Counter(row[kind] for row in rows if kind in row)
        lines.append(f"{kind:10}" + "".join(f"{counts[result]:12}" for result in RESULTS))
    worst: Counter[str] = Counter()
    for group in every.values():
        words = {row[kind] for row in group for kind in ("values", "gradients") if kind in row}
        worst[max(words, key=RESULTS.index, default="skipped")] += 1
    lines.append(f"{'operators':10}" + "".join(f"{worst[result]:12}" for result in RESULTS))
    return "\n".join(lines)


def printed(name: str, rows: Sequence[Row]) -> str:
    """An operator's line, and a line for each defect and each difference of zeros."""
    counts = Counter(row[kind] for row in rows for kind in ("values", "gradients") if kind in row)
    lines = [f"{name:45} " + ", ".join(f"{counts[r]} {r}" for r in RESULTS if counts[r])]
    lines += [
        f"    {row['type']} {row.get('sample', '')[:120]}: {row.get('why', '')}"
        for row in rows if {"zeros", "absent", *DEFECTS} & {row.get("values"), row.get("gradients")}
    ]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    """Print the table; 1 where a sample is wrong or failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("operators", nargs="*", help="names or patterns; else all")
    parser.add_argument("--samples", type=int, default=4, help="of each element type at most")
    parser.add_argument("--seconds", type=float, default=300, help="for one operator at most")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds for all")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--out", type=Path, help="a file for the rows, as JSON: it is gone on with")
    parser.add_argument("--anew", action="store_true", help="run what the file has, too")
    chosen_options = parser.parse_args()
    every = kept(chosen_options.out)
    workers = [Worker(chosen_options.samples) for _ in range(chosen_options.processes)]
    asked = chosen(chosen_options.operators or ["*"], by_use(workers[0].names))
    before = [] if chosen_options.anew else [name for name in asked if name in every]
    if before:
        print(f"{len(before)} of {len(asked)} were in {chosen_options.out}: --anew runs them, too")

    def finish(name: str, rows: list[Row]) -> None:
        every[name] = rows
        print(printed(name, rows), flush=True)
        if chosen_options.out:
            chosen_options.out.parent.mkdir(parents=True, exist_ok=True)
            chosen_options.out.write_text(json.dumps(every, indent=1) + "\n", "utf-8")

    left = [name for name in asked if name not in before]
    run(workers, left, chosen_options.seconds, chosen_options.limit, finish)
    for worker in workers:
        worker.end()
    print(table({name: every[name] for name in asked if name in every}))
    return int(any(is_wrong(every[name]) for name in asked if name in every))


if __name__ == "__main__":
    sys.exit(main())
