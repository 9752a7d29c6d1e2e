"""A small tensor compiler whose every stage can be printed, verified, run and looked at.

In order: each imports only what stands before it.

    core/        underneath all stages: nodes and their history, types, errors, options
    ops/         operations: one row for each, with everything that is known of it
    settings/    options of a compilation, and the model of a machine
    graph/       stage 1 and 2: the tensor graph, its passes, and how it is verified
    schedule/    stages 3 and 4: the kernel graph, and the schedule of its calls
    loops/       stage 5: one kernel as scalar expressions over ranges
    lowered/     stage 6: one kernel as linear instructions
    llvm/        from lowered programs to LLVM IR text and machine code
    threads/     running compiled kernels: one foreign call for many of them
    device/      devices: where data lives and programs run
    pipeline/    the rows of the compiler, each with its reason, and the driver that runs them
    tune/        a search, by measurement, over the loop choices of each kernel of a program
    run/         programs that run: inputs, memory, steps, execution plans, tensors as data
    ask/         questions to a compilation: is it right, where not, why not
    tensors/     what users write, in layers by noun: each file adds methods to the one before it
    tensor.py    `Tensor`, what users write
    custom.py    functions of your own in a tensor program
    program/     one program with all its stages: what `compile` returns
    roots.py     packages whose names are loaded when somebody first asks for them
    playground/  the playground: one kernel with choices of one's own, tried, timed
"""

from typing import TYPE_CHECKING

from compiler import roots

if TYPE_CHECKING:
    from compiler import custom
    from compiler.ask.bisect import Bisection, bisect
    from compiler.ask.check_passes import check_passes
    from compiler.ask.why_not import WhyNot, why_not
    from compiler.core.dtypes import (
        DType,
        bool_,
        default_dtype,
        float16,
        float32,
        float64,
        get_default_dtype,
        int8,
        int16,
        int32,
        int64,
        set_default_dtype,
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
        GraphError,
        InternalError,
        PassError,
        ShapeError,
        SizeError,
    )
    from compiler.core.passes import Passes
    from compiler.device.calibration import calibrate
    from compiler.device.device import Device
    from compiler.graph.builder import GraphBuilder
    from compiler.graph.kinds.views import Strided
    from compiler.pipeline.rows import PASSES
    from compiler.pipeline.user_rule import is_constant, rule
    from compiler.program.compilation import Compilation, compile
    from compiler.program.effect import effect
    from compiler.run.execution_plan import (
        CacheInfo,
        ExecutionPlan,
        cache_clear,
        cache_info,
        prepare,
    )
    from compiler.run.recompiled import RecompiledWarning
    from compiler.settings.machine import MachineModel
    from compiler.settings.options import Options
    from compiler.tensor import Tensor
    from compiler.tensors.files import save_tensors as save
    from compiler.tensors.repeat import repeat
    from compiler.tensors.variables import Variable

__all__ = [
    "PASSES",
    "AxisError",
    "Bisection",
    "CacheInfo",
    "Compilation",
    "CompileError",
    "DType",
    "DTypeError",
    "DataError",
    "Device",
    "DeviceError",
    "ExecutionPlan",
    "GraphBuilder",
    "GraphError",
    "InternalError",
    "MachineModel",
    "Options",
    "PassError",
    "Passes",
    "RecompiledWarning",
    "ShapeError",
    "SizeError",
    "Strided",
    "Tensor",
    "Variable",
    "WhyNot",
    "bisect",
    "bool_",
    "cache_clear",
    "cache_info",
    "calibrate",
    "check_passes",
    "compile",
    "custom",
    "default_dtype",
    "effect",
    "float16",
    "float32",
    "float64",
    "get_default_dtype",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_constant",
    "prepare",
    "repeat",
    "rule",
    "save",
    "set_default_dtype",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "why_not",
]

_PLACES = {
    "custom": "compiler.custom:",
    "Bisection": "compiler.ask.bisect",
    "bisect": "compiler.ask.bisect",
    "check_passes": "compiler.ask.check_passes",
    "effect": "compiler.program.effect",
    "WhyNot": "compiler.ask.why_not",
    "why_not": "compiler.ask.why_not",
    "DType": "compiler.core.dtypes",
    "bool_": "compiler.core.dtypes",
    "default_dtype": "compiler.core.dtypes",
    "float16": "compiler.core.dtypes",
    "float32": "compiler.core.dtypes",
    "float64": "compiler.core.dtypes",
    "get_default_dtype": "compiler.core.dtypes",
    "int16": "compiler.core.dtypes",
    "int32": "compiler.core.dtypes",
    "int64": "compiler.core.dtypes",
    "int8": "compiler.core.dtypes",
    "set_default_dtype": "compiler.core.dtypes",
    "uint16": "compiler.core.dtypes",
    "uint32": "compiler.core.dtypes",
    "uint64": "compiler.core.dtypes",
    "uint8": "compiler.core.dtypes",
    "AxisError": "compiler.core.errors",
    "CompileError": "compiler.core.errors",
    "DTypeError": "compiler.core.errors",
    "DataError": "compiler.core.errors",
    "DeviceError": "compiler.core.errors",
    "GraphError": "compiler.core.errors",
    "InternalError": "compiler.core.errors",
    "PassError": "compiler.core.errors",
    "ShapeError": "compiler.core.errors",
    "SizeError": "compiler.core.errors",
    "MachineModel": "compiler.settings.machine",
    "Options": "compiler.settings.options",
    "Passes": "compiler.core.passes",
    "calibrate": "compiler.device.calibration",
    "Device": "compiler.device.device",
    "GraphBuilder": "compiler.graph.builder",
    "Strided": "compiler.graph.kinds.views",
    "PASSES": "compiler.pipeline.rows",
    "is_constant": "compiler.pipeline.user_rule",
    "rule": "compiler.pipeline.user_rule",
    "Compilation": "compiler.program.compilation",
    "compile": "compiler.program.compilation",
    "CacheInfo": "compiler.run.execution_plan",
    "ExecutionPlan": "compiler.run.execution_plan",
    "cache_clear": "compiler.run.execution_plan",
    "cache_info": "compiler.run.execution_plan",
    "prepare": "compiler.run.execution_plan",
    "RecompiledWarning": "compiler.run.recompiled",
    "Tensor": "compiler.tensor",
    "save": "compiler.tensors.files:save_tensors",
    "repeat": "compiler.tensors.repeat",
    "Variable": "compiler.tensors.variables",
}
"""Where each name is: it is loaded when it is first asked for, so `import compiler` is quick."""

__getattr__, __dir__ = roots.names(__name__, _PLACES, __all__)
