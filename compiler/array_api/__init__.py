"""The array API standard, version 2024.12, on tensors: for libraries that support any array.

    import compiler.array_api as xp
    xp.sum(xp.exp(xp.asarray([1.0, 2.0])))      a lazy tensor, as `Tensor([1.0, 2.0]).exp().sum()`
    x.__array_namespace__()                     this module: so SciPy, scikit-learn, einops find it

Functions have the standard's names and arguments, and are as lazy as the methods they call.
Operations that depend on data (`bool(x)`, `nonzero`, `unique_*`, boolean masks) compute it. Complex
numbers are not supported, as `__array_namespace_info__()` reports, nor the extension `fft`.

In order: each imports only what stands before it.

    arguments.py     conversion of arguments to tensors
    data_types.py    element types and their limits, kinds and conversions
    inspection.py    the devices, types and capabilities of this namespace
    creation.py      new tensors, and tensors from arrays, numbers and memory of other libraries
    elementwise.py   elementwise functions
    statistical.py   sums, means, extremes, cumulative sums, all and any, differences
    linear.py        matrix products
    manipulation.py  reshaping, joining and repeating
    searching.py     sorting, searching and selection by index
    sets.py          distinct elements
    linalg.py        the extension `linalg`: decompositions, norms
"""

import math

from compiler.array_api import linalg
from compiler.array_api.creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    from_dlpack,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from compiler.array_api.data_types import astype, can_cast, finfo, iinfo, isdtype, result_type
from compiler.array_api.elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
)
from compiler.array_api.inspection import VERSION, __array_namespace_info__
from compiler.array_api.linear import matmul, matrix_transpose, tensordot, vecdot
from compiler.array_api.manipulation import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from compiler.array_api.searching import (
    argmax,
    argmin,
    argsort,
    count_nonzero,
    nonzero,
    searchsorted,
    sort,
    take,
    take_along_axis,
    where,
)
from compiler.array_api.sets import unique_all, unique_counts, unique_inverse, unique_values
from compiler.array_api.statistical import (
    all,
    any,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)
from compiler.core.dtypes import bfloat16 as bfloat16
from compiler.core.dtypes import bool_ as bool
from compiler.core.dtypes import float16 as float16
from compiler.core.dtypes import (
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

e, inf, nan, newaxis, pi = math.e, math.inf, math.nan, None, math.pi
__array_api_version__ = VERSION

__all__ = [
    "__array_api_version__", "__array_namespace_info__", "abs", "acos", "acosh", "add", "all",
    "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift",
    "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays",
    "broadcast_to", "can_cast", "ceil", "clip", "concat", "conj", "copysign", "cos", "cosh",
    "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "divide", "e", "empty",
    "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "finfo", "flip", "float32",
    "float64", "floor", "floor_divide", "from_dlpack", "full", "full_like", "greater",
    "greater_equal", "hypot", "iinfo", "imag", "inf", "int8", "int16", "int32", "int64",
    "isdtype", "isfinite", "isinf", "isnan", "less", "less_equal", "linalg", "linspace", "log",
    "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "matmul", "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min",
    "minimum", "moveaxis", "multiply", "nan", "negative", "newaxis", "nextafter", "nonzero",
    "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod", "real",
    "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round",
    "searchsorted", "sign", "signbit", "sin", "sinh", "sort", "sqrt", "square", "squeeze",
    "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot",
    "tile", "tril", "triu", "trunc", "uint8", "uint16", "uint32", "uint64", "unique_all",
    "unique_counts", "unique_inverse", "unique_values", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like",
]  # fmt: skip
