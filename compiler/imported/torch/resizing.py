"""Images of another size."""

from typing import Any

from compiler.imported.torch.call import Call, operator
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
def upsample(call: Call, x: Tensor, size: Any, *rest: Any, **named: Any) -> Tensor:
    """Larger or smaller, by size or by scale."""
    name = call.name.partition(".")[0]
    mode, given = _MODES[name], list(rest)
    corners = None
    if "nearest" not in mode:
        corners = given.pop(0) if given else named.get("align_corners", False)
    scales = given if not call.name.endswith(".vec") else (given[0] if given else None)
    scales = named.get("scale_factors", scales)
    if size is not None:
        if scales and any(s is not None for s in scales) and not _fit(x, size, scales):
            raise call.refused("its scale is not that of its sizes", scales, "sizes over extents")
        return x.interpolate(list(size), None, mode, corners or None, name.endswith("_aa"))
    return x.interpolate(None, list(scales or ()), mode, corners or None, name.endswith("_aa"))


def _fit(x: Tensor, size: Any, scales: Any) -> bool:
    """Whether scales are what the sizes say: then it does not matter which are given."""
    pairs = zip(size, x.shape[2:], scales, strict=True)
    return all(s is None or abs(n / old - s) < 1e-6 for n, old, s in pairs)
