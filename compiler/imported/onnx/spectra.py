"""DFT and STFT: sums of products with sines and cosines, complex numbers as pairs."""

from typing import Any

import numpy as np

from compiler.core.dtypes import Array
from compiler.imported.onnx.call import Call, fixed, operator
from compiler.imported.onnx.element_types import dtype_of
from compiler.tensor import Tensor


def _turns(n: int, length: int, is_inverse: bool) -> tuple[Array, Array]:
    """The cosines and sines [n, length] for every term and every frequency."""
    angle = 2 * np.pi * np.outer(np.arange(n), np.arange(length)) / length
    return np.cos(angle), np.sin(angle) if is_inverse else -np.sin(angle)


def _transformed(
    real: Tensor, imaginary: Tensor | None, length: int, is_inverse: bool
) -> tuple[Tensor, Tensor]:
    """The transform along the last axis, truncated or zero-padded to a length.

    It is computed in float64, so that terms that should cancel do so within one unit of float32.
    """
    n = min(fixed(real, -1)[0], length)
    cosine, sine = map(Tensor, _turns(n, length, is_inverse))
    wide = real.double()._part(real.ndim - 1, 0, n)
    first, second = wide.matmul(cosine), wide.matmul(sine)
    if imaginary is not None:
        other = imaginary.double()._part(imaginary.ndim - 1, 0, n)
        first = first.sub(other.matmul(sine))
        second = second.add(other.matmul(cosine))
    share = float(length if is_inverse else 1)
    return first.div(share).cast(real.dtype), second.div(share).cast(real.dtype)


def _half(spectrum: tuple[Tensor, Tensor], length: int) -> tuple[Tensor, Tensor]:
    """The first half of a spectrum, which determines the other for real input."""
    first, second = (part._part(part.ndim - 1, 0, length // 2 + 1) for part in spectrum)
    return first, second


@operator("DFT")
def discrete_fourier(call: Call, x: Tensor, *_known: Any) -> Tensor:
    """The discrete Fourier transform along one axis."""
    is_inverse, is_half = bool(call.get("inverse", 0)), bool(call.get("onesided", 0))
    usual = 1 if call.version < 20 else -2
    named = int(call.known(2, "the axis").item()) if call.has(2) else call.get("axis", usual)
    axis = call.axis(named, x.ndim)
    extent = fixed(x, axis)[0]
    usual_length = 2 * (extent - 1) if is_half and is_inverse else extent
    length = int(call.known(1, "the length").item()) if call.has(1) else usual_length
    parts = [x[..., place].moveaxis(axis, -1) for place in range(x.shape[-1])]
    if is_half and is_inverse:
        parts = [_mirrored(part, length, place == 1) for place, part in enumerate(parts)]
    spectrum = _transformed(parts[0], parts[1] if parts[1:] else None, length, is_inverse)
    if is_half and is_inverse:
        return spectrum[0].moveaxis(-1, axis).unsqueeze(-1)
    spectrum = _half(spectrum, length) if is_half else spectrum
    real, imaginary = (part.moveaxis(-1, axis) for part in spectrum)
    return real.stack(imaginary, dim=-1)


def _mirrored(part: Tensor, length: int, is_imaginary: bool) -> Tensor:
    """The other half of the spectrum of real input, from the first."""
    last = part.ndim - 1
    rest = length - fixed(part, -1)[0]
    back = part._part(last, 1, 1 + rest).flip(last)
    return part.cat(back.neg() if is_imaginary else back, dim=last)


@operator("STFT")
def short_time_fourier(call: Call, signal: Tensor, *_known: Any) -> Tensor:
    """Transforms of windows that slide over a signal."""
    step = int(call.known(1, "the step").item())
    window = Tensor(call.known(2, "the window")) if call.has(2) else None
    length = int(call.known(3, "the length").item()) if call.has(3) else 0
    length = length or (window.shape[0] if window is not None else 0)
    parts = []
    for place in range(signal.shape[-1] if signal.ndim == 3 else 1):
        row = signal[..., place] if signal.ndim == 3 else signal
        frames = row.unfold(1, length, step)
        parts.append(frames if window is None else frames.mul(window))
    spectrum = _transformed(parts[0], parts[1] if parts[1:] else None, length, False)
    spectrum = _half(spectrum, length) if call.get("onesided", 1) else spectrum
    return spectrum[0].stack(spectrum[1], dim=-1)


@operator("MelWeightMatrix")
def mel_weights(call: Call, *_known: Tensor) -> Tensor:
    """[frequency bins, mel bins]: triangular filters, evenly spaced in mel."""
    bins, length, rate, low, high = (
        call.known(place, "what the matrix is made of").item() for place in range(5)
    )
    ends = [2595 * np.log10(1 + edge / 700) for edge in (low, high)]
    mels = ends[0] + np.arange(bins + 2) * (ends[1] - ends[0]) / (bins + 2)
    hertz = 700 * (10 ** (mels / 2595) - 1)
    corners = np.floor((length + 1) * hertz / rate)
    place = np.arange(length // 2 + 1)[:, None]
    left, centre, right = corners[:-2], corners[1:-1], corners[2:]
    rising = (place - left) / np.maximum(centre - left, 1)
    falling = (right - place) / np.maximum(right - centre, 1)
    weights = np.where(place < centre, rising, np.where(place == centre, 1.0, falling))
    target = dtype_of(call.get("output_datatype", 1), call.op)
    return Tensor(weights.clip(0, None)).cast(target)
