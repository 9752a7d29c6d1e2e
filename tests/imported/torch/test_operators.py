"""Every supported ATen operator against PyTorch: many in one program, by subject."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import compiler
from tests.imported.reached import reaching

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
F = torch.nn.functional
Function = Callable[..., Any]

X, Y = torch.linspace(-2.5, 2.5, 24).reshape(2, 3, 4), torch.linspace(0.25, 3, 24).reshape(2, 3, 4)
SIGNED, WHOLE = torch.arange(-6, 6).reshape(3, 4), torch.arange(1, 13).reshape(3, 4)
IMAGE = torch.sin(torch.arange(2 * 4 * 9 * 8.0)).reshape(2, 4, 9, 8)
SOLID = torch.cos(torch.arange(2 * 2 * 5 * 6 * 7.0)).reshape(2, 2, 5, 6, 7)
ROWS = torch.tensor([2, 0, 2])

ELEMENTWISE: dict[str, Function] = {
    "unary": lambda x, y: [f(x) for f in (
        torch.abs, torch.neg, torch.sign, torch.square, torch.floor, torch.ceil, torch.trunc,
        torch.round, torch.isnan, torch.isinf, torch.isfinite, torch.signbit, torch.sin, torch.cos,
        torch.tan, torch.sinh, torch.cosh, torch.tanh, torch.sigmoid, torch.erf, torch.erfc,
        torch.exp, torch.exp2, torch.expm1, torch.atan, torch.asinh, torch.logical_not,
        torch.deg2rad, torch.rad2deg,
    )],
    "of positive numbers": lambda x, y: [f(y) for f in (
        torch.sqrt, torch.rsqrt, torch.log, torch.log2, torch.log10, torch.log1p, torch.reciprocal,
        torch.acosh, torch.logit,
    )],
    "of angles": lambda x, y: [f(x / 3) for f in (torch.asin, torch.acos, torch.atanh)],
    "arithmetic": lambda x, y: [
        x + y, torch.add(x, y, alpha=2), x - 1, 1 - x, torch.sub(x, y, alpha=3), x * y, x / y,
        torch.rsub(x, y), x // y, torch.div(x, y, rounding_mode="trunc"), x % y, torch.fmod(x, y),
        torch.remainder(x, 2), x * 2, torch.lerp(x, y, 0.25), torch.addcmul(x, x, y, value=2),
        torch.addcdiv(x, x, y), torch.hypot(x, y), torch.atan2(x, y), torch.copysign(x, -y),
        torch.logaddexp(x, y), torch.nan_to_num(x / 0.0),
    ],
    "powers": lambda x, y: [y**2, y**3, y**0.5, y**-0.5, y**-1, y**2.5, 2.0**x, y**x],
    "comparisons": lambda x, y: [
        x == y, x != y, x < y, x <= 0, x > 1, x >= y, torch.maximum(x, y), torch.minimum(x, y),
        torch.fmax(x, y), torch.where(x > 0, x, y), torch.where(x > 0, x, 0.0), x.clamp(-1, 1),
        x.clamp(min=0), x.clamp(max=y), torch.clamp_min(x, 0.5), torch.clamp_max(x, 0.5),
        torch.logical_and(x, y > 1), torch.logical_xor(x > 0, y > 1), ~(x > 0),
        (x > 0) & (y > 1), (x > 0) | (y > 1), x.masked_fill(x > 0, 7.0),
    ],
    "conversions": lambda x, y: [
        x.half(), x.double(), x.bfloat16(), x.int(), x.bool(), y.to(torch.uint8),
        x.view(torch.int32), x.half() + y, x.half() * 2, x.double() + y, x * x.detach(),
    ],
}  # fmt: skip
INTEGERS: dict[str, Function] = {
    "integers": lambda i, j: [
        i + j, i * 2, i - j, i / j, i // j, i % j, i + 0.5, i * 1.5, i == j, i > 0.5, i & j, i | j,
        i ^ j, ~i, i.abs(), j << 1, j >> 1, torch.div(i, j, rounding_mode="trunc"), i.float() + j,
        torch.sqrt(j), j.exp(), i.int() + j.short(), i.sum(), i.float().mean(), j.prod(0),
        i.cumsum(1), i > j, torch.true_divide(i, j), i.to(torch.uint8) + 1, i.bool() | j.bool(),
        i.any(0), i.bool().all(), i.bool().sum(), torch.maximum(i, j.int()), i**2,
    ],
}  # fmt: skip
ACTIVATIONS: dict[str, Function] = {
    "activations": lambda x, y: [
        F.relu(x), F.relu6(x * 4), F.silu(x), F.mish(x), F.hardswish(x * 2), F.hardsigmoid(x * 2),
        F.hardtanh(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.elu(x, 0.5), F.celu(x, 1.5),
        F.selu(x), F.leaky_relu(x, 0.2), F.prelu(x, torch.tensor([0.1, 0.2, 0.3])), F.softplus(x),
        F.softplus(x, 2, 1), F.logsigmoid(x), F.softsign(x), F.hardshrink(x), F.softshrink(x),
        F.tanhshrink(x), F.threshold(x, 0.5, 9.0), F.glu(x), F.dropout(x, 0.5, training=False),
        F.softmax(x, -1), F.log_softmax(x, 1), F.softmin(x, 0), F.normalize(x), F.rrelu(x),
    ],
}  # fmt: skip
SHAPES: dict[str, Function] = {
    "views": lambda x, y: [
        x.view(6, 4), x.reshape(-1), x.flatten(1), x.unflatten(2, (2, 2)), x.permute(2, 0, 1),
        x.transpose(0, -1), x[0].t(), x.mT, x.unsqueeze(1), x.unsqueeze(-1), x[:1].squeeze(0),
        x[:1].squeeze(), x[:, 1], x[..., -1], x[:, 1:], x[:, ::2], x[:, :, -3:-1],
        x.narrow(1, 1, 2),
        x[:1].expand(5, 3, 4), x[:, :1].expand(-1, 7, -1), x.expand(2, 2, 3, 4), x.select(2, -2),
        x.movedim(0, 1), x.swapaxes(1, 2), x.contiguous().as_strided((2, 2), (3, 1), 2),
        x.unfold(2, 2, 1), x[0].diagonal(), torch.diagonal(x, 1, 1, 2), x[:, None, :, 1],
    ],
    "joined and cut": lambda x, y: [
        torch.cat([x, y], 1), torch.cat([x, y.double()]), torch.stack([x, y], -1), *x.split(2, 2),
        *x.split([1, 3], -1), *x.chunk(3, 2), *x.unbind(1), torch.cat([torch.zeros(0), x[0, 0]]),
        x.repeat(2, 1, 1, 3), x.tile(2), x.repeat_interleave(2, 1), x.flip(0, 2), x.roll(1, 2),
        x.roll((1, -1), (0, 1)), x.tril(), x.triu(1), torch.meshgrid(x[0, 0], y[0, 0, :2])[0],
        F.pad(x, (1, 2)), F.pad(x, (1, 0, -1, 2), value=3.0), F.pad(x, (1, 2), mode="reflect"),
        F.pad(x, (2, 1), mode="replicate"), F.pad(x, (1, 1), mode="circular"), x.rot90(1, (1, 2)),
        x.slice_scatter(y[:, :1], 1, 1, 2), x.select_scatter(y[0], 0, 1),
    ],
    "made": lambda x, y: [
        torch.arange(5), torch.arange(1, 7, 2), torch.arange(0.0, 1.0, 0.25), torch.zeros(2, 3),
        torch.ones(2, dtype=torch.int32), torch.full((2, 2), 7), torch.full_like(x, 2.5),
        torch.zeros_like(x), torch.ones_like(x), x.new_zeros(3), x.new_ones((2, 2)),
        x.new_full((2,), 4.0), torch.eye(3), torch.eye(2, 3), torch.linspace(0, 1, 5),
        torch.tensor(3.0) + x, torch.tensor([1, 2]), torch.tril_indices(3, 3),
        torch.scalar_tensor(2.0), x.clone().fill_(1.0), torch.arange(4) + x,
    ],
}  # fmt: skip
FOLDS: dict[str, Function] = {
    "folds": lambda x, y: [
        x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), x.mean(), x.mean(-1, keepdim=True),
        x.half().sum(), y.prod(), y.prod(1), x.amax(1), x.amin((0, 1)), x.max(), x.min(),
        *x.max(1), *x.min(2, keepdim=True), torch.max(x, y), x.argmax(), x.argmax(1), x.argmin(-1),
        (x > 0).any(), (x > 0).any(1), (y > 0).all(), (x > 0).all(2, keepdim=True), x.var(),
        x.var(1), x.std(2, unbiased=False), x.std((0, 1)), *torch.var_mean(x, 1),
        x.cumsum(2), y.cumprod(1), *x.cummax(2), torch.logcumsumexp(x, 1), torch.logsumexp(x, 1),
        x.norm(), x.norm(dim=1), x.norm(1, dim=2), torch.linalg.vector_norm(x, 3, 1),
        torch.nansum(x), (x > 0).sum(0), x.sum(dtype=torch.float64), torch.count_nonzero(x),
        *torch.std_mean(x, 0),
    ],
}  # fmt: skip
NORMALISATIONS: dict[str, Function] = {
    "normalisations": lambda x, w: [
        F.layer_norm(x, (8,)), F.layer_norm(x, (9, 8), w[:9, :8], w[1:10, :8], 1e-3),
        F.group_norm(x, 2, w[0, :4], w[1, :4]), F.instance_norm(x), F.rms_norm(x, (8,), w[0, :8]),
        F.instance_norm(x, weight=w[0, :4], bias=w[1, :4]), F.rms_norm(x, (9, 8), eps=1e-2),
        F.batch_norm(x, w[0, :4], w[2, :4].abs() + 0.5, w[1, :4], w[3, :4]),
        F.batch_norm(x, w[0, :4], w[2, :4].abs() + 0.5, training=False, eps=0.1),
        F.batch_norm(x, None, None, w[1, :4], w[3, :4], training=True),
        F.local_response_norm(x, 3), F.channel_shuffle(x, 2), F.pixel_shuffle(x, 2),
        F.pixel_unshuffle(x[:, :, :8], 2), F.cosine_similarity(x, x.flip(0)),
    ],
}  # fmt: skip
PICKING: dict[str, Function] = {
    "picking": lambda x, rows: [
        F.embedding(rows, x[0]), x.index_select(1, rows), x[:, rows], x[:, rows, rows], x[rows % 2],
        x[:, :, rows], x.gather(1, rows.expand(2, 1, 3)), x[0].take_along_dim(rows[:, None], 0),
        x.index_add(1, rows, x), x.scatter(1, rows.expand(2, 1, 3), 5.0),
        x.scatter_add(1, rows.expand(2, 1, 3), x), x.index_copy(1, rows[:2], x[:, :2]),
        x.scatter_reduce(1, rows.expand(2, 1, 3), x, "amax"), *x.topk(2, -1), *x.sort(1),
        *x.topk(2, 1, largest=False), *torch.sort(x, dim=2, descending=True, stable=True),
        x.argsort(2), F.one_hot(rows, 4), torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])),
        x.index_put((rows[:2] % 2,), x[:, :1].expand(2, 3, 4)[:2]), torch.isin(rows, rows[:1]),
        x[0].index_put((rows,), x[0], accumulate=True),
        torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x),
    ],
}  # fmt: skip
PRODUCTS: dict[str, Function] = {
    "products": lambda x, y: [
        x[0] @ y[0].T, x @ y.mT, torch.matmul(x, y[0, 0]), torch.bmm(x, y.mT), x[0, 0] @ y[0, 0],
        F.linear(x, y[0]), F.linear(x, y[0], y[0, :, 0]), torch.addmm(x[0, :, :3], x[0], y[0].T),
        torch.addmm(x[0, :, :3], x[0], y[0].T, beta=0.5, alpha=2), torch.mv(x[0], y[0, 0]),
        torch.baddbmm(x[..., :3], x, y.mT), torch.outer(x[0, 0], y[0, 0]),
        torch.dot(x[0, 0], y[0, 0]), torch.inner(x, y[0]), torch.inner(x[0, :, :3], y[0, :, :3]),
        torch.einsum("bij,bkj->bik", x, y), torch.einsum("...i,i->...", x, y[0, 0]),
        F.bilinear(x[0], y[0], torch.ones(2, 4, 4)), torch.kron(x[0], y[0, :1]),
        torch.chain_matmul(x[0], y[0].T, x[0]),
    ],
    "attention": lambda x, y: [
        F.scaled_dot_product_attention(x, y, x), F.scaled_dot_product_attention(x, y, x, scale=2.0),
        F.scaled_dot_product_attention(x, y, x, is_causal=True),
        F.scaled_dot_product_attention(x, y, x, attn_mask=x @ y.mT),
        F.scaled_dot_product_attention(x, y, x, attn_mask=x @ y.mT > -1),
        F.scaled_dot_product_attention(
            x.expand(4, 2, 3, 4).reshape(1, 8, 3, 4), y[None], y[None], enable_gqa=True),
    ],
}  # fmt: skip
WINDOWS: dict[str, Function] = {
    "convolutions": lambda x, s: [
        F.conv2d(x, x[:, :, :3, :3]), F.conv2d(x, x[:, :, :3, :2], x[0, 0, 0, :2], 2, (1, 2)),
        F.conv2d(x, x[:, :2, :3, :3], groups=2, padding="same"), F.conv2d(x[0], x[:, :, :2, :2]),
        F.conv2d(x, x[:, :, :3, :3], dilation=2, padding=2), F.conv1d(x[0], x[0, :2, :9, :3]),
        F.conv1d(x[:, 0], x[:, 1, :, :3], stride=2, padding=1), F.conv3d(s, s[:, :, :2, :3, :2]),
        F.conv_transpose2d(x, x[0, :, None, :3, :3].expand(4, 2, 3, 3), stride=2, padding=1),
        F.conv_transpose1d(x[:, 0], x[0, 0, :, :, None].expand(9, 8, 3), None, 3, 0, 1),
        F.conv_transpose2d(x, x[:1, :, :3, :3].reshape(4, 1, 3, 3), groups=2, dilation=2),
        F.conv2d(x, x[:, :, :9, :8]), F.unfold(x, 2),
    ],
    "pooling": lambda x, s: [
        F.max_pool2d(x, 2), F.max_pool2d(x, 3, 2, 1, ceil_mode=True), F.max_pool1d(x[0], 3),
        F.max_pool2d(x, 3, 1, dilation=2), *F.max_pool2d(x, 2, return_indices=True),
        F.max_pool3d(s, 2), F.avg_pool2d(x, 2), F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        F.avg_pool2d(x, 3, ceil_mode=True), F.avg_pool1d(x[0], 2), F.avg_pool3d(s, 2),
        F.avg_pool2d(x, 2, divisor_override=3), F.adaptive_avg_pool2d(x, 1),
        F.adaptive_avg_pool2d(x, (3, 2)), F.adaptive_avg_pool1d(x[0], 4),
        F.lp_pool2d(x.abs(), 2, 2),
        F.adaptive_avg_pool3d(s, (2, 3, 1)), F.adaptive_max_pool2d(x, (3, 4)),
        F.max_pool2d(x[0], 2), F.avg_pool2d(x[0], 2),
    ],
    "resizing": lambda x, s: [
        F.interpolate(x, scale_factor=2), F.interpolate(x, (5, 12)), F.interpolate(s, (3, 4, 9)),
        F.interpolate(x, (5, 12), mode="bilinear"), F.interpolate(x[0], 11, mode="linear"),
        F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True),
        F.interpolate(x, (12, 5), mode="bicubic"), F.interpolate(x, (7, 5), mode="nearest-exact"),
        F.interpolate(s, scale_factor=2, mode="trilinear"), F.interpolate(x, (3, 4), mode="area"),
        F.interpolate(x, (4, 5), mode="bilinear", antialias=True),
    ],
}  # fmt: skip
CASES = [
    *((name, f, (X, Y)) for group in (ELEMENTWISE, ACTIVATIONS, SHAPES, FOLDS, PRODUCTS)
      for name, f in group.items()),
    *((name, f, (SIGNED, WHOLE)) for name, f in INTEGERS.items()),
    *((name, f, (IMAGE, IMAGE[0].reshape(-1, 9)[:12].sin())) for name, f in NORMALISATIONS.items()),
    *((name, f, (X, ROWS)) for name, f in PICKING.items()),
    *((name, f, (IMAGE, SOLID)) for name, f in WINDOWS.items()),
]  # fmt: skip


class Module(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A function as a module."""

    def __init__(self, function: Function) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Any) -> Any:
        return self.function(*inputs)


def array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray((x.float() if x.dtype == torch.bfloat16 else x).detach())


@pytest.mark.parametrize(("name", "function", "inputs"), CASES, ids=[it[0] for it in CASES])
def test_results_are_those_of_pytorch(name: str, function: Function, inputs: Any) -> None:
    module = Module(function).eval()
    with reaching("torch"):
        results = compiler.from_torch(module, inputs)(*inputs)
    found = compiler.compile([it for it in results if isinstance(it, compiler.Tensor)]).run()
    wanted = module(*inputs)
    assert len(found) == len(wanted)
    for place, (ours, theirs) in enumerate(zip(found, wanted, strict=True)):
        said, expected = f"{name}: result {place}", array(theirs)
        assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch."), said
        assert ours.shape == expected.shape, said
        is_half = theirs.dtype in (torch.float16, torch.bfloat16)
        np.testing.assert_allclose(
            ours.astype(expected.dtype), expected, rtol=1e-2 if is_half else 2e-5,
            atol=1e-2 if is_half else 2e-6, err_msg=said,
        )  # fmt: skip
