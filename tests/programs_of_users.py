"""User programs with functions, for tests of calls and source lines."""

import numpy as np

from compiler import Tensor


def tensor(*shape: int, name: str = "") -> Tensor:
    """Data of a shape: the same each time, no two elements alike."""
    draw = np.random.default_rng(1)
    return Tensor(draw.normal(size=shape).astype(np.float32), name=name)


def layernorm(x: Tensor) -> Tensor:
    mean = x.mean(axis=-1, keepdim=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdim=True)
    return (x - mean) / (variance + 1e-5).sqrt()


def fft(x: Tensor) -> Tensor:
    """A Fourier transform by halves, but for its twiddle factors."""
    if x.shape[0] == 1:
        return x
    even, odd = fft(x[0::2]), fft(x[1::2])
    twist = odd * tensor(odd.shape[0])
    return Tensor.cat(even + twist, even - twist)
