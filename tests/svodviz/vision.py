"""Colours as they are seen: contrast, and how far apart two are, also for colour-blind eyes."""

from collections.abc import Sequence

# Dichromacy in linear RGB: G. Machado, M. Oliveira, L. Fernandes, "A physiologically-based model
# for simulation of color vision deficiency" (2009), severity 1.
EYES = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red cones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                     (-0.003882, -0.048116, 1.051998)),
    "no green cones": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                       (-0.011820, 0.042940, 0.968881)),
    "no blue cones": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                      (0.004733, 0.691367, 0.303900)),
}  # fmt: skip
# Linear RGB to the cones of Oklab, and these to its lightness and two hue axes (B. Ottosson, 2020).
_CONES = ((0.4122214708, 0.5363325363, 0.0514459929), (0.2119034982, 0.6806995451, 0.1073969566),
          (0.0883024619, 0.2817188376, 0.6299787005))  # fmt: skip
_AXES = ((0.2104542553, 0.7936177850, -0.0040720468), (1.9779984951, -2.4285922050, 0.4505937099),
         (0.0259040371, 0.7827717662, -0.8086757660))  # fmt: skip

Vector = Sequence[float]


def linear(colour: str) -> list[float]:
    """Red, green and blue of "#rrggbb" as amounts of light."""
    parts = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return [it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4 for it in parts]


def luminance(colour: str) -> float:
    """The relative luminance of WCAG 2."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2, from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def distance(one: str, other: str, eye: str = "all cones") -> float:
    """The perceived distance of two colours: about 2 is just visible, black and white are 100."""
    a, b = _seen(one, eye), _seen(other, eye)
    return 100 * sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) ** 0.5


def _seen(colour: str, eye: str) -> list[float]:
    light = [min(1.0, max(0.0, it)) for it in _times(EYES[eye], linear(colour))]
    return _times(_AXES, [it ** (1 / 3) for it in _times(_CONES, light)])


def _times(matrix: Sequence[Vector], vector: Vector) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]
