"""Programs whose loops earlier failed verification, or gave wrong results."""

FORMER = {
    "a convolution, flattened":
        "x0 = float32[8, 1, 28, 28]; x1 = float32[16, 1, 3, 3]; x0.conv2d(x1).relu().flatten(1)",
    "a small convolution, flattened":
        "x0 = float32[2, 1, 12, 12]; x1 = float32[5, 1, 3, 3]; x0.conv2d(x1).relu().flatten(1)",
    "a convolution of groups":
        "x0 = float32[1, 128, 33, 100]; x1 = float32[128, 4, 1, 7]; x2 = float32[128]; "
        "x0.conv2d(x1, bias=x2, stride=(1, 2), groups=32)",
    "merged heads":
        "x0 = float32[3, 4, 6]; x1 = float32[3, 6, 8]; (x0 @ x1).swapaxes(0, 1).flatten(1)",
    "merged heads of wide rows":
        "x0 = float32[1, 2, 94, 4]; x1 = float32[1, 2, 4, 20]; (x0 @ x1).swapaxes(1, 2).flatten(2)",
    "merged heads of batches":
        "x0 = float64[2, 1, 16, 8]; x1 = float64[2, 1, 8, 63]; (x0 @ x1).swapaxes(1, 2).flatten(1)",
    "an axis that is split again":
        "x0 = float32[2, 3, 26, 40]; (x0.mT @ x0).reshape(2, 1, 3, 40, 40)"
        ".permute(2, 1, 3, 0, 4).reshape(3, 1, 40, 80)",
    "merged heads, and batches next to a masked axis":
        "x0 = float64[2, 4, 3, 32]; x1 = float64[2, 32, 2, 16]; "
        "(x0 @ x1.swapaxes(1, 2).repeat_interleave(2, 1))"
        ".flatten(0, 2).permute(1, 0).reshape(16, 8, 3).swapaxes(0, 1)",
    "a remainder in the lanes":
        "x0 = float64[3, 7, 9]; x1 = float64[3, 7, 39]; "
        "Tensor.einsum('dab,dac->acb', x0, x1).reshape(7, 351)",
    "pooled, and flattened":
        "x0 = uint32[3, 16, 9, 16]; "
        "x0.max_pool2d(2, stride=1).permute(1, 0, 2, 3).reshape(48, 8, 15).flatten(1)",
    "a matrix times itself": "x0 = float32[1500, 1500]; x0 @ x0",
    "a matrix times itself, its rows": "x0 = float32[1501, 1600]; x0 @ x0.T",
    "least squares": "x0 = float32[10000, 784]; x0.T @ x0",
    "matrices times themselves": "x0 = int64[3, 2049, 2049]; x0 @ x0",
    "a panel that is no tile":
        "x0 = float16[3717, 65536]; x1 = float16[65536, 64, 63]; "
        "Tensor.einsum('acd,cbd->ba', x0.reshape(59, 63, 65536), x1.permute(2, 1, 0))",
    "a panel that the sum does not move":
        "x0 = uint16[8, 7, 8, 3]; x1 = uint16[1, 6, 7, 1]; "
        "Tensor.einsum('abcf,adef->cebad', x0, x1.expand(8, 6, 7, 3))",
    "weights that overlap":
        "x0 = uint16[1, 128, 223, 26]; x1 = uint16[48, 8, 3, 3]; "
        "x0.pad([(0, 0), (0, 0), (2, 0), (0, 0)])"
        ".conv2d(x1, stride=(2, 1), padding=2, groups=16).permute(3, 2, 1, 0)",
    "one row or two": "x0 = uint8[n<=2, 40]; x1 = uint8[47, 40]; x0 @ x1.mT",
    "a fold in a fold": "x0 = float32[47]; x0.unfold(0, 6, 1).min(-1).min((0,))",
    "a long fold in a fold": "x0 = float32[147]; x0.unfold(0, 17, 1).max(-1).sum((0,))",
}  # fmt: skip
"""By what they are, as text."""
