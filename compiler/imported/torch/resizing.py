"""Resized images."""

from typing import Any

from compiler.imported.torch.call import Call, base_of, operator
from compiler.tensor import Tensor

_MODES = {
    "upsample_nearest1d": "nearest", "upsample_nearest2d": "nearest",
    "upsample_nearest3d": "nearest", "_upsample_nearest_exact1d": "nearest-exact",
    "_upsample_nearest_exact2d": "nearest-exact", "_upsample_nearest_exact3d": "nearest-exact",
    "upsample_linear1d": "linear", "upsample_bilinear2d": "bilinear",
    "upsample_trilinear3d": "trilinear", "upsample_bicubic2d": "bicubic",
    "_upsample_bilinear2d_aa": "bilinear", "_upsample_bicubic2d_aa": "bicubic",
}  # fmt: skip


@operator(*_MODES)
def upsample(
    call: Call, x: Tensor, size: Any, /, align_corners: bool = False, scale_factors: Any = None,
    scales: float | None = None, scales_d: float | None = None, scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:  # fmt: skip
    """Images resized to a size or by a scale."""
    name = base_of(call.name)
    rank = x.ndim - 2
    each = [scales] if rank == 1 else [scales_d, scales_h, scales_w][-rank:]
    wanted = each if scale_factors is None else list(scale_factors)
    corners, is_smooth = align_corners or None, name.endswith("_aa")
    is_by_size = size is not None and (align_corners or all(s is None for s in wanted))
    if is_by_size:
        return x.interpolate(list(size), None, _MODES[name], corners, is_smooth)
    factors = [s for s in wanted if s is not None]
    if len(factors) < len(wanted):
        raise call.refused("some axes have a scale and others have none", wanted, "a scale each")
    image = x.interpolate(None, factors, _MODES[name], corners, is_smooth)
    if size is not None and image.shape[2:] != tuple(size):
        raise call.refused("its scales do not give its sizes", f"{wanted}: {image.shape[2:]}",
                           str(tuple(size)))  # fmt: skip
    return image
