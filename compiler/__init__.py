"""A small tensor compiler whose every stage can be printed, verified, run and looked at."""

from compiler.compilation import Compilation, compile
from compiler.dtypes import (
    DType,
    bool_,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from compiler.errors import (
    AxisError,
    CompileError,
    DataError,
    DTypeError,
    GraphError,
    InternalError,
    ShapeError,
    SizeError,
)
from compiler.graph.builder import GraphBuilder
from compiler.graph.views import Strided
from compiler.kernels import CacheInfo, cache_info
from compiler.options import Options
from compiler.tensor import Tensor
from compiler.tensors.files import save_tensors as save
from compiler.tensors.repeat import repeat
from compiler.tensors.variables import Variable

__all__ = [
    "AxisError",
    "CacheInfo",
    "Compilation",
    "CompileError",
    "DType",
    "DTypeError",
    "DataError",
    "GraphBuilder",
    "GraphError",
    "InternalError",
    "Options",
    "ShapeError",
    "SizeError",
    "Strided",
    "Tensor",
    "Variable",
    "bool_",
    "cache_info",
    "compile",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "repeat",
    "save",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
