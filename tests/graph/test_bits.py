"""Constants print as the shortest decimal literal, which rounds to the same bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler import Tensor, compile
from compiler.core import dtypes
from compiler.core.dtypes import DType
from compiler.graph.bits import from_bits, literal, to_bits

FLOATS = (dtypes.float16, dtypes.float32, dtypes.float64)


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1e-5, dtypes.float32, "1e-5"), (1e-5, dtypes.float64, "1e-5"),
        (0.1, dtypes.float16, "0.1"), (1 / 3, dtypes.float32, "0.33333334"),
        (1e20, dtypes.float32, "1e20"), (1.5e-12, dtypes.float64, "1.5e-12"),
        (16777216, dtypes.float32, "16777216.0"), (65504, dtypes.float16, "65504.0"),
        (0.0, dtypes.float32, "0.0"), (-0.0, dtypes.float32, "-0.0"),
        (np.inf, dtypes.float32, "inf"), (np.nan, dtypes.float64, "nan"),
        (-3, dtypes.int8, "-3"), (1, dtypes.bool_, "True"),
    ],
)  # fmt: skip
def test_a_constant_is_printed_as_it_was_written(value: float, dtype: DType, text: str) -> None:
    assert literal(to_bits(value, dtype), dtype) == text


@given(st.sampled_from(FLOATS), st.integers(0, 2**64 - 1))
def test_what_is_printed_means_the_same_bits(dtype: DType, bits: int) -> None:
    bits %= 1 << dtype.bits
    if not np.isnan(from_bits(bits, dtype)):
        assert to_bits(float(literal(bits, dtype)), dtype) == bits


def test_every_stage_prints_it_so() -> None:
    compilation = compile((Tensor(np.ones(8, "f4")) + 1e-5).sqrt())
    texts = [str(compilation.graph), str(compilation.loops[0]), str(compilation.lowered[0])]
    assert all("1e-5" in text for text in texts)
