"""A small tensor compiler. Every stage of it can be printed, verified, run and inspected.

In order: each imports only what stands before it.

    core/        the base of all stages: nodes and their provenance, types, errors, options
    ops/         operations: one table row each, with all its properties
    machines/    machine descriptions: this machine and others, with the figures that choose loops
    settings/    compilation options
    graph/       stages 1 and 2: the tensor graph, its passes and its verifier
    schedule/    stages 3 and 4: the kernel graph, and the schedule of kernel calls
    loops/       stage 5: one kernel as scalar expressions over ranges
    lowered/     stage 6: one kernel as a linear instruction list
    llvm/        from lowered programs to LLVM IR text and machine code
    threads/     running compiled kernels on threads: one foreign call for many of them
    device/      devices that hold data and run programs
    pipeline/    the list of compiler passes, each with its reason, and the driver that runs them
    tune/        autotuning: a measured search over the loop choices of each kernel
    run/         running programs: inputs, memory, steps, execution plans, results
    stages/      a program with all its stages: data, and how to run it
    ask/         analyses of a compilation: is it correct, where is it not, and why
    findings/    performance advice: rules, each with measured numbers and a suggested change
    tensors/     the methods of `Tensor`, in mixins of one topic each
    tensor.py    `Tensor`, the public class
    roots.py     packages whose names are imported lazily, on first use
    custom.py    user-defined functions in a tensor program
    differentiation.py  derivatives of functions: `grad`, `vjp`, `jvp`, `checkpoint`
    array_api/   the functions of the array API standard
    imported/    importers for ONNX, PyTorch and JAX
    distributed/  programs on the workers of a Dask cluster
    program/     a program with all its stages, as `compile` returns it
    replay/      `jit`: functions captured once per signature, then replayed
    nn/          neural-network layers
    optim/       optimisers
    data/        batches for training, and a progress bar
    playground/  the playground: one kernel with your own choices, run and timed
"""

from typing import TYPE_CHECKING

from compiler import roots

if TYPE_CHECKING:
    from compiler import array_api, custom, data, nn, optim
    from compiler.ask.bisect import Bisection, bisect
    from compiler.ask.check_passes import check_passes
    from compiler.ask.first_nan import first_nan
    from compiler.ask.why_not import WhyNot, why_not
    from compiler.core.dtypes import (
        DType,
        bfloat16,
        bool_,
        default_dtype,
        float4_e2m1fn,
        float8_e4m3fn,
        float8_e4m3fnuz,
        float8_e5m2,
        float8_e5m2fnuz,
        float8_e8m0fnu,
        float16,
        float32,
        float64,
        get_default_dtype,
        int2,
        int4,
        int8,
        int16,
        int32,
        int64,
        set_default_dtype,
        uint2,
        uint4,
        uint8,
        uint16,
        uint32,
        uint64,
    )
    from compiler.core.errors import (
        AxisError,
        CompileError,
        DataError,
        DeviceError,
        DTypeError,
        GradientError,
        GraphError,
        InternalError,
        JitError,
        PassError,
        ShapeError,
        SizeError,
    )
    from compiler.core.passes import Passes
    from compiler.device.calibration import calibrate
    from compiler.device.device import Device
    from compiler.differentiation import checkpoint, grad, jvp, value_and_grad, vjp
    from compiler.distributed.blockwise import blockwise
    from compiler.distributed.cluster import cluster
    from compiler.distributed.local import local_cluster
    from compiler.distributed.simulation.cluster import Cluster
    from compiler.distributed.simulation.simulate import simulate
    from compiler.graph.builder import GraphBuilder
    from compiler.graph.kinds.views import Strided
    from compiler.imported.jax.program import JaxProgram, from_jax
    from compiler.imported.onnx.program import OnnxProgram, from_onnx
    from compiler.imported.torch.program import TorchProgram, from_torch
    from compiler.machines.at_hand import machine
    from compiler.machines.model import MachineModel
    from compiler.pipeline.rows import PASSES
    from compiler.pipeline.user_rule import is_constant, rule
    from compiler.program.compilation import Compilation, compile
    from compiler.program.effect import effect
    from compiler.replay.function import jit
    from compiler.run.execution_plan import (
        CacheInfo,
        ExecutionPlan,
        cache_clear,
        cache_info,
        prepare,
    )
    from compiler.run.recompiled import RecompiledWarning
    from compiler.settings.options import Options
    from compiler.tensor import Tensor, load
    from compiler.tensors.files import save_tensors as save
    from compiler.tensors.gradients import is_grad_enabled, no_grad
    from compiler.tensors.repeat import repeat
    from compiler.tensors.variables import Variable

__all__ = [
    "PASSES", "AxisError", "Bisection", "CacheInfo", "Cluster", "Compilation", "CompileError",
    "DType", "DTypeError", "DataError", "Device", "DeviceError", "ExecutionPlan", "GradientError",
    "GraphBuilder", "GraphError", "InternalError", "JaxProgram", "JitError", "MachineModel",
    "OnnxProgram", "Options", "PassError", "Passes", "RecompiledWarning", "ShapeError", "SizeError",
    "Strided", "Tensor", "TorchProgram", "Variable", "WhyNot", "array_api", "bfloat16", "bisect",
    "blockwise", "bool_", "cache_clear", "cache_info", "calibrate", "check_passes", "checkpoint",
    "cluster", "compile", "custom", "data", "default_dtype", "effect", "first_nan", "float4_e2m1fn",
    "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu",
    "float16", "float32", "float64", "from_jax", "from_onnx", "from_torch", "get_default_dtype",
    "grad", "int2", "int4", "int8", "int16", "int32", "int64", "is_constant", "is_grad_enabled",
    "jit", "jvp", "load", "local_cluster", "machine", "nn", "no_grad", "optim", "prepare", "repeat",
    "rule", "save", "set_default_dtype", "simulate", "uint2", "uint4", "uint8", "uint16", "uint32",
    "uint64", "value_and_grad", "vjp", "why_not",
]  # fmt: skip

_PLACES = {
    "compiler.array_api:": "array_api",
    "compiler.custom:": "custom",
    "compiler.data:": "data",
    "compiler.nn:": "nn",
    "compiler.optim:": "optim",
    "compiler.imported.jax.program": "from_jax JaxProgram",
    "compiler.imported.onnx.program": "from_onnx OnnxProgram",
    "compiler.imported.torch.program": "from_torch TorchProgram",
    "compiler.distributed.blockwise": "blockwise",
    "compiler.distributed.cluster": "cluster",
    "compiler.distributed.local": "local_cluster",
    "compiler.distributed.simulation.cluster": "Cluster",
    "compiler.distributed.simulation.simulate": "simulate",
    "compiler.ask.bisect": "bisect Bisection",
    "compiler.ask.check_passes": "check_passes",
    "compiler.program.effect": "effect",
    "compiler.ask.first_nan": "first_nan",
    "compiler.ask.why_not": "why_not WhyNot",
    "compiler.core.dtypes":
        "bfloat16 bool_ default_dtype DType float16 float32 float4_e2m1fn float64 float8_e4m3fn "
        "float8_e4m3fnuz float8_e5m2 float8_e5m2fnuz float8_e8m0fnu get_default_dtype int16 int2 "
        "int32 int4 int64 int8 set_default_dtype uint16 uint2 uint32 uint4 uint64 uint8",
    "compiler.core.errors":
        "AxisError CompileError DataError DeviceError DTypeError "
        "GradientError GraphError InternalError JitError PassError ShapeError SizeError",
    "compiler.replay.function": "jit",
    "compiler.machines.at_hand": "machine",
    "compiler.machines.model": "MachineModel",
    "compiler.settings.options": "Options",
    "compiler.core.passes": "Passes",
    "compiler.device.calibration": "calibrate",
    "compiler.device.device": "Device",
    "compiler.graph.builder": "GraphBuilder",
    "compiler.graph.kinds.views": "Strided",
    "compiler.pipeline.rows": "PASSES",
    "compiler.pipeline.user_rule": "is_constant rule",
    "compiler.program.compilation": "Compilation compile",
    "compiler.run.execution_plan": "cache_clear cache_info CacheInfo ExecutionPlan prepare",
    "compiler.run.recompiled": "RecompiledWarning",
    "compiler.tensor": "load Tensor",
    "compiler.tensors.files:save_tensors": "save",
    "compiler.differentiation": "checkpoint grad jvp value_and_grad vjp",
    "compiler.tensors.gradients": "is_grad_enabled no_grad",
    "compiler.tensors.repeat": "repeat",
    "compiler.tensors.variables": "Variable",
}  # fmt: skip
"""The module that defines each name. A name is imported on first use, so `import compiler` is
quick."""

__getattr__, __dir__ = roots.names(__name__, _PLACES, __all__)
