"""ATen operators that no function of PyTorch leaves in today's exported graphs, but graphs of other
versions, files or other decompositions may have: each is called directly, against PyTorch."""

from typing import Any

import numpy as np
import pytest

from compiler import Tensor
from compiler.imported.torch.binding import called
from compiler.imported.torch.call import Call, function_of, name_of
from tests.imported.reached import reaching

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
ATEN = torch.ops.aten
pytree = torch.utils._pytree

X, Y = torch.linspace(-2.5, 2.5, 24).reshape(2, 3, 4), torch.linspace(0.25, 3, 24).reshape(2, 3, 4)
WHOLE = torch.arange(1, 13).reshape(3, 4)
IMAGE = torch.sin(torch.arange(2 * 4 * 9 * 8.0)).reshape(2, 4, 9, 8)
SOLID = torch.cos(torch.arange(2 * 2 * 5 * 6 * 7.0)).reshape(2, 2, 5, 6, 7)
ROWS = torch.tensor([2, 0, 2])
PLACES = ROWS.expand(2, 1, 3)
HEADS = torch.sin(torch.arange(2 * 3 * 5 * 8.0)).reshape(2, 3, 5, 8)
ONES, SHIFT = torch.linspace(0.5, 2, 4), torch.linspace(-1, 1, 4)
OPEN = torch.tensor([[-torch.inf] * 4, [0.0, 1.0, -torch.inf, 2.0]])


def weights(gates: int) -> list[Any]:
    """The parameters of a recurrent layer of 4 inputs and 3 features."""
    sizes = ((gates * 3, 4), (gates * 3, 3), (gates * 3,), (gates * 3,))
    return [torch.sin(torch.arange(float(np.prod(size))) + n).reshape(size)
            for n, size in enumerate(sizes)]  # fmt: skip


STATE = torch.zeros(1, 3, 3) + 0.25
LAYER = (True, 1, 0.0, False, False, False)
"""Arguments of recurrent layers: has_biases, num_layers, dropout, train, bidirectional,
batch_first."""
CASES: list[tuple[Any, ...]] = [
    (ATEN._adaptive_avg_pool2d.default, IMAGE, [3, 2]),
    (ATEN._adaptive_avg_pool3d.default, SOLID, [2, 3, 1]),
    (ATEN._autocast_to_full_precision.default, X.bfloat16(), True, True),
    (ATEN._autocast_to_reduced_precision.default, X, True, True, torch.float16, torch.bfloat16),
    (ATEN._fused_rms_norm.default, X, [4], ONES, 1e-5),
    (ATEN._log_softmax.default, X, 1, False),
    (ATEN._native_batch_norm_legit_functional.default, IMAGE, ONES, SHIFT, SHIFT, ONES, True, 0.1,
     1e-5),
    (ATEN._reshape_alias.default, X, [6, 4], [4, 1]),
    (ATEN._safe_softmax.default, OPEN, -1),
    (ATEN._scaled_dot_product_flash_attention_for_cpu.default, HEADS, HEADS.flip(2), HEADS),
    (ATEN._softmax.default, X, -1, False),
    (ATEN._unsafe_index.Tensor, X, [None, ROWS]),
    (ATEN._unsafe_index_put.default, X, [ROWS[:2] % 2], Y),
    (ATEN._upsample_bicubic2d_aa.default, IMAGE, [5, 12], False, None, None),
    (ATEN._upsample_nearest_exact1d.default, X, [7], None),
    (ATEN._upsample_nearest_exact3d.default, SOLID, [3, 4, 9], None, None, None),
    (ATEN.adaptive_max_pool1d.default, X, [2]),
    (ATEN.adaptive_max_pool3d.default, SOLID, [2, 3, 2]),
    (ATEN.addbmm.default, X[0, :, :3], X, Y.mT),
    (ATEN.addmv.default, X[0, :, 0], X[0], Y[0, 0]),
    (ATEN.alias_copy.default, X),
    (ATEN.alpha_dropout.default, X, 0.5, False),
    (ATEN.arange.start, 2, 7),
    (ATEN.as_strided_copy.default, X, [2, 2], [3, 1], 2),
    (ATEN.bernoulli.default, (X > 0).float()),
    (ATEN.bitwise_left_shift.Tensor, WHOLE, WHOLE % 3),
    (ATEN.bitwise_right_shift.Tensor, WHOLE, WHOLE % 3),
    (ATEN.broadcast_to.default, X[:1], [2, 3, 4]),
    (ATEN.constant_pad_nd.default, X, [1, 2], 3.0),
    (ATEN.contiguous.default, X),
    (ATEN.conv_transpose3d.input, SOLID, SOLID[:, :, :2, :3, :2], None, [2, 2, 2], [1, 1, 1]),
    (ATEN.convolution.default, IMAGE, IMAGE[:, :, :3, :3], ONES[:2], [2, 1], [0, 1], [1, 1], False,
     [0, 0], 1),
    (ATEN.convolution.default, IMAGE, IMAGE[:1, :, :3, :3].reshape(4, 1, 3, 3), None, [2, 2],
     [1, 1], [1, 1], True, [1, 1], 2),
    (ATEN.copy.default, X, Y),
    (ATEN.cummin.default, X * Y.flip(2), 2),
    (ATEN.detach_.default, X),
    (ATEN.detach_copy.default, X),
    (ATEN.diagonal_copy.default, X, 1, 1, 2),
    (ATEN.dropout.default, X, 0.5, False),
    (ATEN.expand_copy.default, X[:1], [5, 3, 4]),
    (ATEN.feature_dropout.default, IMAGE, 0.5, False),
    (ATEN.flatten.using_ints, X, 1),
    (ATEN.fmin.default, X.log(), Y - 1),
    (ATEN.gru.input, X, STATE, weights(3), *LAYER),
    (ATEN.inner.default, X, Y[0]),
    (ATEN.inner.default, X[0, :, :3], Y[0, :, :3]),
    (ATEN.inner.default, X, Y[0, 0, 0]),
    (ATEN.lift_fresh.default, X),
    (ATEN.lift_fresh_copy.default, X),
    (ATEN.logical_or.default, X > 1, Y > 2),
    (ATEN.lstm.input, X, [STATE, STATE * 2], weights(4), *LAYER),
    (ATEN.max_pool1d_with_indices.default, X, [2]),
    (ATEN.max_pool3d_with_indices.default, SOLID, [2, 2, 2]),
    (ATEN.narrow.default, X, 1, 1, 2),
    (ATEN.narrow_copy.default, X, 1, 1, 2),
    (ATEN.native_channel_shuffle.default, IMAGE, 2),
    (ATEN.native_dropout.default, X, 0.5, False),
    (ATEN.native_group_norm.default, IMAGE, ONES, SHIFT, 2, 4, 72, 2, 1e-5),
    (ATEN.native_layer_norm.default, X, [4], ONES, SHIFT, 1e-5),
    (ATEN.norm.ScalarOpt_dim, X, 3, [1]),
    (ATEN.numel.default, X),
    (ATEN.permute_copy.default, X, [2, 0, 1]),
    (ATEN.positive.default, X),
    (ATEN.reflection_pad1d.default, X, [1, 2]),
    (ATEN.reflection_pad2d.default, IMAGE, [1, 2, 3, 0]),
    (ATEN.reflection_pad3d.default, SOLID, [1, 2, 3, 0, 1, 1]),
    (ATEN.replication_pad1d.default, X, [1, 2]),
    (ATEN.replication_pad2d.default, IMAGE, [1, 2, 3, 0]),
    (ATEN.replication_pad3d.default, SOLID, [1, 2, 3, 0, 1, 1]),
    (ATEN.reshape.default, X, [6, -1]),
    (ATEN.resolve_conj.default, X),
    (ATEN.resolve_neg.default, X),
    (ATEN.rnn_relu.input, X, STATE, weights(1), *LAYER),
    (ATEN.rnn_tanh.input, X, STATE, weights(1), *LAYER),
    (ATEN.scatter.reduce, X, 1, PLACES % 2, Y, {"reduce": "add"}),
    (ATEN.scatter.src, X, 1, PLACES[:, :, :2], Y),
    (ATEN.scatter.value_reduce, X, 1, PLACES, 2.5, {"reduce": "multiply"}),
    (ATEN.select_copy.int, X, 1, -2),
    (ATEN.sgn.default, X),
    (ATEN.size.int, X, 1),
    (ATEN.slice_copy.Tensor, X, 1, 0, 3, 2),
    (ATEN.softshrink.default, X, 0.75),
    (ATEN.split_copy.Tensor, X, 2, 1),
    (ATEN.split_with_sizes_copy.default, X, [1, 2], 1),
    (ATEN.squeeze_copy.default, X[:1]),
    (ATEN.sym_numel.default, X),
    (ATEN.sym_size.int, X, 1),
    (ATEN.to.dtype, X, torch.float64),
    (ATEN.triu_indices.default, 3, 4, 1),
    (ATEN.unbind_copy.int, X, 1),
    (ATEN.unfold_copy.default, X, 2, 2, 1),
    (ATEN.unsqueeze_copy.default, X, 1),
    (ATEN.upsample_nearest1d.default, X, [7]),
    (ATEN.vdot.default, X[0, 0], Y[0, 0]),
    (ATEN.view_copy.default, X, [6, 4]),
    (ATEN.view_copy.dtype, X, torch.int32),
]  # fmt: skip


def direct(target: Any, *values: Any, expected: Any, **named: Any) -> list[Any]:
    """The results of the operator's function for the arguments of a node, which PyTorch describes
    by `expected`."""
    graph = torch.fx.Graph()

    def placeholder(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        node = graph.placeholder("x")
        node.meta["val"] = value
        return node

    node = graph.call_function(target, pytree.tree_map(placeholder, values), named)
    node.meta["val"] = expected
    ours = pytree.tree_map(lambda it: Tensor(array(it)) if isinstance(it, torch.Tensor) else it,
                           values)  # fmt: skip
    function = function_of(target)
    assert function is not None
    result = called(Call(node, name_of(target), ""), function, ours, named)
    return list(result) if isinstance(result, tuple | list) else [result]


def array(x: Any) -> np.ndarray[Any, Any]:
    return np.asarray((x.float() if x.dtype == torch.bfloat16 else x).detach())


def as_list(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


@pytest.mark.parametrize("case", CASES, ids=lambda case: name_of(case[0]))
def test_results_are_those_of_pytorch(case: tuple[Any, ...]) -> None:
    target, *values = case
    named = values.pop() if isinstance(values[-1], dict) else {}
    theirs = target(*pytree.tree_map(lambda it: it.clone() if isinstance(it, torch.Tensor) else it,
                                     values), **named)  # fmt: skip
    with reaching("torch"):
        results = direct(target, *values, expected=theirs, **named)
    compare(results, as_list(theirs))


def compare(results: list[Any], theirs: list[Any]) -> None:
    """Equal in shape and value; None stands for a result that no graph reads."""
    assert results[0] is not None
    for got, wanted in zip(results, theirs, strict=False):
        if got is None:
            continue
        if not isinstance(wanted, torch.Tensor):
            assert got == wanted
            continue
        assert got.shape == tuple(wanted.shape)
        expected = array(wanted)
        np.testing.assert_allclose(got.numpy().astype(expected.dtype), expected,
                                   rtol=2e-5, atol=2e-6)  # fmt: skip


def test_attention_for_graphics_cards_is_that_for_processors() -> None:
    expected = torch.nn.functional.scaled_dot_product_attention(HEADS, HEADS.flip(2), HEADS)
    with reaching("torch"):
        results = direct(ATEN._scaled_dot_product_efficient_attention.default, HEADS, HEADS.flip(2),
                         HEADS, None, False, expected=(expected, None, None, None))  # fmt: skip
    compare(results, [expected])


@pytest.mark.parametrize("target", [
    ATEN.empty_permuted.default, ATEN.empty_strided.default, ATEN.new_empty_strided.default,
], ids=name_of)  # fmt: skip
def test_tensors_without_values_have_the_shape(target: Any) -> None:
    """Their values mean nothing, so shape and type are all that is compared."""
    order = [1, 0] if target is ATEN.empty_permuted.default else [3, 1]
    values = [X] if target is ATEN.new_empty_strided.default else []
    expected = target(*values, [2, 3], order)
    with reaching("torch"):
        (result,) = direct(target, *values, [2, 3], order, expected=expected)
    assert (result.shape, str(result.dtype)) == ((2, 3), "float32")


@pytest.mark.parametrize("target", [
    ATEN._assert_scalar.default, ATEN.sym_constrain_range.default,
    ATEN.sym_constrain_range_for_size.default,
], ids=name_of)  # fmt: skip
def test_conditions_have_no_result(target: Any) -> None:
    values = [3, "message"] if target is ATEN._assert_scalar.default else [3]
    with reaching("torch"):
        assert direct(target, *values, expected=None) == [None]


@pytest.mark.parametrize(("target", "values"), [
    (ATEN.rand.default, [[64, 64]]), (ATEN.randn.default, [[64, 64]]),
    (ATEN.rand_like.default, [torch.zeros(64, 64)]),
    (ATEN.randn_like.default, [torch.zeros(64, 64)]),
    (ATEN.bernoulli.p, [torch.zeros(64, 64), 0.25]),
], ids=lambda it: "" if isinstance(it, list) else name_of(it))  # fmt: skip
def test_random_numbers_have_the_distribution(target: Any, values: list[Any]) -> None:
    """Mean and deviation are those of PyTorch's own numbers, to six standard errors."""
    expected = target(*values)
    with reaching("torch"):
        (result,) = direct(target, *values, expected=expected)
    got, wanted = result.numpy().astype("f8"), array(expected).astype("f8")
    assert got.shape == wanted.shape
    assert abs(got.mean() - wanted.mean()) < 6 * np.sqrt(2) * wanted.std() / 64
    assert 0.85 < got.std() / wanted.std() < 1.15
    is_bounded = "randn" not in name_of(target)
    assert len(np.unique(got)) > 1 and bool(((got >= 0) & (got <= 1)).all()) == is_bounded


@pytest.mark.parametrize("target", [ATEN.dropout.default, ATEN.native_dropout.default], ids=name_of)
def test_dropout_keeps_or_scales(target: Any) -> None:
    x = torch.linspace(1, 2, 4096)
    with reaching("torch"):
        result, *mask = direct(target, x, 0.25, True, expected=target(x, 0.25, True))
    (got, *masks) = (each.numpy() for each in (result, *mask))
    kept = got != 0
    np.testing.assert_allclose(got[kept], array(x)[kept] / 0.75, rtol=1e-6)
    assert abs(kept.mean() - 0.75) < 6 * np.sqrt(0.75 * 0.25 / 4096)
    assert all((each == kept).all() for each in masks)
