"""Ours and the peers: each makes a call of a model's file, with its inputs bound.

A call gives the results as a list of arrays, or as what becomes arrays by `numpy.asarray`.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

Call: TypeAlias = Callable[[], Any]
Arrays: TypeAlias = list[Any]


def svodviz(path: Path, inputs: Arrays, threads: int) -> Call:
    """`from_onnx`, prepared once."""
    import compiler

    program = compiler.from_onnx(path)
    made = program(*inputs)
    plan = compiler.prepare(list(made.values()), compiler.Options(threads=threads))
    return plan.run


def onnxruntime(path: Path, inputs: Arrays, threads: int) -> Call:
    """ONNX Runtime's CPU provider, all its optimisations."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    named = dict(zip((each.name for each in session.get_inputs()), inputs, strict=True))
    return lambda: session.run(None, named)


def _module(path: Path, inputs: Arrays, threads: int) -> tuple[Any, list[Any]]:
    import torch

    from benchmarks.models.zoo import MODELS

    torch.set_num_threads(threads)
    torch.manual_seed(0)
    return MODELS[path.stem]().module, [torch.from_numpy(each) for each in inputs]


def _called(module: Any, tensors: list[Any]) -> Call:
    import torch

    def call() -> Any:
        with torch.inference_mode():
            made = module(*tensors)
        return made if isinstance(made, tuple) else [made]

    return call


def torch(path: Path, inputs: Arrays, threads: int) -> Call:
    """PyTorch, operation by operation."""
    return _called(*_module(path, inputs, threads))


def torch_compile(path: Path, inputs: Arrays, threads: int) -> Call:
    """`torch.compile` with its usual settings."""
    import torch

    module, tensors = _module(path, inputs, threads)
    return _called(torch.compile(module), tensors)


def tinygrad(path: Path, inputs: Arrays, threads: int) -> Call:
    """tinygrad's reader of ONNX, under its own `TinyJit`."""
    from tinygrad import Tensor, TinyJit
    from tinygrad.nn.onnx import OnnxRunner

    runner = OnnxRunner(path)
    names = list(runner.graph_inputs)

    @TinyJit
    def step(*tensors: Any) -> list[Any]:
        made = runner(dict(zip(names, tensors, strict=True)))
        return [each.realize() for each in made.values()]

    given = [Tensor(each).realize() for each in inputs]
    return lambda: [each.numpy() for each in step(*given)]


RUNTIMES = {
    "svodviz": svodviz, "torch": torch, "torch_compile": torch_compile,
    "onnxruntime": onnxruntime, "tinygrad": tinygrad,
}  # fmt: skip
LIBRARY = {"torch_compile": "torch"}
"""The modules that are imported before the first call is timed, if they have another name."""
