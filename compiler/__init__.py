"""A small tensor compiler whose every stage can be printed, verified, run and looked at."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from compiler import custom
from compiler.compilation import Compilation, compile
from compiler.device.device import Device
from compiler.device.measure import calibrate
from compiler.dtypes import (
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
from compiler.errors import (
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
from compiler.graph.builder import GraphBuilder
from compiler.graph.views import Strided
from compiler.machine import MachineModel
from compiler.options import Options
from compiler.passes import Passes
from compiler.pipeline import PASSES
from compiler.prepare import CacheInfo, ExecutionPlan, cache_clear, cache_info, prepare
from compiler.recompiled import RecompiledWarning
from compiler.rule import rule
from compiler.tensor import Tensor
from compiler.tensors.files import save_tensors as save
from compiler.tensors.names import missing_name
from compiler.tensors.repeat import repeat
from compiler.tensors.variables import Variable

if TYPE_CHECKING:
    from compiler.asking.bisect import Bisection, bisect
    from compiler.asking.check_passes import check_passes
    from compiler.asking.effect import effect
    from compiler.asking.why_not import WhyNot, why_not

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

_ASKING = {
    "Bisection": "bisect",
    "WhyNot": "why_not",
    "bisect": "bisect",
    "check_passes": "check_passes",
    "effect": "effect",
    "why_not": "why_not",
}
"""What is asked of a compilation, and in which module of `asking`: loaded when it is asked."""


def __getattr__(name: str) -> Any:
    if name in _ASKING:
        return getattr(import_module(f"compiler.asking.{_ASKING[name]}"), name)
    raise missing_name("compiler", name, __all__, Tensor)
