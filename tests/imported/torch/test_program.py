"""`from_torch`: small networks as users write them, their memory, their places, and refusals."""

import copy
import inspect
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import compiler
from compiler import DataError, Tensor

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")
nn = torch.nn


class Perceptron(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(8, 16), nn.Linear(16, 4)

    def forward(self, x: Any, *, scale: Any = None) -> Any:
        h = torch.relu(self.first(x))
        y = self.second(h)
        return {"logits": y, "rest": (h, y if scale is None else y * scale)}


class Network(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6)
        self.head = nn.Linear(6, 5)

    def forward(self, x: Any) -> Any:
        x = self.norm(self.conv(x))
        x = nn.functional.max_pool2d(x.relu(), 2)
        return self.head(x.mean((2, 3)))


class Recurrent(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, 5, 2, bidirectional=True, batch_first=True)
        self.gru, self.rnn = nn.GRU(10, 3), nn.RNN(3, 3, nonlinearity="relu")

    def forward(self, i: Any) -> Any:
        y, (h, c) = self.lstm(self.embed(i))
        g, last = self.gru(y)
        return self.rnn(g)[0], h, c, last


def encoder() -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 3, enable_nested_tensor=False).eval()


def check(ours: Any, theirs: Any) -> None:
    np.testing.assert_allclose(ours.numpy(), theirs.detach().numpy(), rtol=2e-5, atol=2e-6)


def module_of(x: Tensor) -> Any:
    origin = x.recipe.origin
    assert origin is not None and origin.module is not None
    return origin.module


def test_results_have_the_structure_that_forward_gives_them() -> None:
    module, x, scale = Perceptron(), torch.randn(3, 8), torch.tensor(2.0)
    program = compiler.from_torch(module, (x,), kwargs={"scale": scale})
    assert repr(program) == (
        "TorchProgram(Perceptron: x: f32[3,8], scale: f32[] -> f32[3,4], f32[3,16], f32[3,4])"
    )
    assert program.operators == {"linear.default": 2, "relu.default": 1, "mul.Tensor": 1}
    wanted = module(x, scale=scale)
    for given in ((x, scale), (x.numpy(), scale.numpy())):
        for found in (program(given[0], scale=given[1]), program(*given)):
            assert list(found) == ["logits", "rest"] and isinstance(found["rest"], tuple)
            check(found["logits"], wanted["logits"])
            check(found["rest"][0], wanted["rest"][0])
            check(found["rest"][1], wanted["rest"][1])


def test_parameters_are_the_memory_of_the_module() -> None:
    module, x = Perceptron(), torch.randn(3, 8)
    program = compiler.from_torch(module, x)
    weight = program.parameters["first.weight"]
    assert set(program.parameters) == {n for n, _ in module.named_parameters()}
    assert np.shares_memory(weight.numpy(), module.first.weight.detach().numpy())
    with torch.no_grad():
        module.first.weight.mul_(2.0)
    check(program(x)["logits"], module(x)["logits"])


def test_a_weight_with_two_names_is_one_tensor() -> None:
    module = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    module[1].weight = module[0].weight
    program = compiler.from_torch(module, torch.randn(2, 4))
    assert len({id(each) for each in program.parameters.values()}) == 3


def test_a_network_that_learns_moves_its_buffers_as_pytorch_does() -> None:
    torch.manual_seed(0)
    module, x = Network().train(), torch.randn(2, 3, 8, 8)
    other = copy.deepcopy(module)
    program = compiler.from_torch(module, x)
    for step in range(1, 4):
        check(program(x), other(x))
        for name, buffer in other.named_buffers():
            check(program.buffers[name], buffer)
        assert int(module.norm.num_batches_tracked) == step, "it is the memory of the module"
    module.eval()
    check(compiler.from_torch(module, x)(x), other.eval()(x))


class Cache(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(4, 2))

    def forward(self, x: Any, place: Any) -> Any:
        self.kept.index_copy_(0, place, x)
        return self.kept.sum(0)


def test_a_cache_is_written_row_by_row() -> None:
    module = Cache()
    program = compiler.from_torch(module, (torch.ones(1, 2), torch.tensor([0])))
    for place in range(3):
        got = program(torch.full((1, 2), 2.0**place), torch.tensor([place]))
        assert got.numpy().tolist() == [2.0 ** (place + 1) - 1] * 2
    assert program.buffers["kept"].numpy()[:, 0].tolist() == [1, 2, 4, 0]


def test_recurrent_layers_and_embeddings() -> None:
    module, tokens = Recurrent().eval(), torch.randint(0, 10, (2, 7))
    program = compiler.from_torch(module, tokens)
    assert program.operators["lstm.input"] == 1, "they stay whole"
    for ours, theirs in zip(program(tokens), module(tokens), strict=True):
        check(ours, theirs)


def test_nodes_know_their_module_and_their_line_of_forward() -> None:
    module, x = Perceptron(), torch.randn(3, 8)
    found = compiler.from_torch(module, x)(x)
    _, start = inspect.getsourcelines(Perceptron.forward)
    second = module_of(found["logits"])
    assert (second.path, second.kind) == ("second", "Linear")
    origin = found["logits"].recipe.origin
    assert (origin.file, origin.line) == (__file__, start + 2)
    assert origin.method == "linear" and "found = " in origin.callers[0].text
    assert module_of(found["rest"][0]).path == "", "what forward computes itself is the model's"
    with pytest.raises(DataError, match=r"y = self\.second"):
        raise DataError("x", "a page with that line", origin=origin)


def test_scopes_are_the_tree_of_modules() -> None:
    module, x = encoder(), torch.randn(2, 5, 8)
    y = compiler.from_torch(module, x)(x)
    check(y, module(x))
    rows = [it.module for it in compiler.compile(y).scopes.rows if it.module]
    paths = {(it.path, it.kind) for it in rows}
    assert {(f"layers.{n}.self_attn", "MultiheadAttention") for n in range(3)} < paths
    assert {("layers.2.linear1", "Linear"), ("layers.1", "TransformerEncoderLayer")} < paths
    outer = next(it for it in rows if it.path == "layers.1.norm2").outer
    assert outer is not None and outer.kind == "TransformerEncoderLayer"


def test_attention_stays_one_call() -> None:
    program = compiler.from_torch(encoder(), torch.randn(2, 5, 8))
    assert program.operators["scaled_dot_product_attention.default"] == 3
    assert program.operators["layer_norm.default"] == 6


class Flexible(nn.Module):  # type: ignore[misc, name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 6)

    def forward(self, x: Any) -> Any:
        y = self.linear(x).relu()
        return y.softmax(-1), y.sum(0), x.reshape(x.shape[0], 2, 2), x.shape[0]


def test_an_axis_that_may_differ_is_a_variable_of_one_program() -> None:
    module = Flexible()
    batch = torch.export.Dim("batch", min=1, max=64)
    program = compiler.from_torch(module, torch.randn(5, 4), dynamic_shapes=({0: batch},))
    assert program.inputs["x"][1] == ("batch", 4)
    compiler.cache_clear()
    for count in (5, 64, 9, 1):
        x = torch.randn(count, 4)
        *found, last = program(x)
        for ours, theirs in zip(found, module(x), strict=False):
            check(ours, theirs)
        assert str(last).startswith("batch") and found[0].symbolic_shape[0] == last
    assert program.refused is None
    assert compiler.cache_info().schedules.misses == 3, "once for each of the results"


def test_batch_and_sequence_of_an_encoder_are_variables() -> None:
    module = encoder()
    batch, length = (torch.export.Dim(name, min=1, max=16) for name in ("batch", "length"))
    shapes = {"src": {0: batch, 1: length}}
    program = compiler.from_torch(module, torch.randn(2, 5, 8), dynamic_shapes=shapes)
    for extents in ((2, 5), (1, 16), (7, 3)):
        x = torch.randn(*extents, 8)
        check(program(x), module(x))
    assert program.refused is None, program.refused


class Grown(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return x.repeat(x.shape[0], 1)[: 2 * x.shape[0]].flip(0)


def test_what_no_variable_can_do_is_compiled_for_each_extent() -> None:
    module, batch = Grown(), torch.export.Dim("batch", min=2, max=64)
    program = compiler.from_torch(module, torch.randn(5, 4), dynamic_shapes=({0: batch},))
    for count in (3, 7):
        x = torch.randn(count, 4)
        check(program(x), module(x))


class Picky:
    """A structure of a user's that takes tensors of PyTorch alone."""

    def __init__(self, kept: Any) -> None:
        self.kept = torch.clone(kept)


class Keeping(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return x + 1, Picky(x * 2)


def test_a_class_that_takes_no_tensors_of_ours_is_a_dict_of_its_parts() -> None:
    torch.utils._pytree.register_pytree_node(
        Picky, lambda it: ([it.kept], ["kept"]), lambda parts, _: Picky(*parts),
        serialized_type_name="tests.Picky",
    )  # fmt: skip
    x = torch.ones(2)
    first, kept = compiler.from_torch(Keeping(), x)(x)
    assert first.numpy().tolist() == [2, 2] and kept["kept"].numpy().tolist() == [2, 2]


class Chosen(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.sin(), lambda x: x.cos(), (x,))


def test_one_of_two_graphs_is_chosen_by_data() -> None:
    program = compiler.from_torch(Chosen(), torch.ones(3))
    for x in (torch.ones(3), -torch.ones(3)):
        check(program(x), Chosen()(x))


def test_sixteen_bit_parameters_are_shared() -> None:
    module, x = nn.Linear(64, 8).bfloat16(), torch.randn(2, 64).bfloat16()
    program = compiler.from_torch(module, x)
    got = program(x).numpy().astype(np.float32)
    np.testing.assert_allclose(got, module(x).float().detach(), rtol=2**-6, atol=2**-6)
    bits = program.parameters["weight"].numpy().view(np.int16)
    assert np.shares_memory(bits, module.weight.detach().view(torch.int16).numpy())


def test_a_file_of_an_exported_program_is_read(tmp_path: Path) -> None:
    module, x = Network().eval(), torch.randn(2, 3, 8, 8)
    torch.export.save(torch.export.export(module, (x,)), tmp_path / "network.pt2")
    program = compiler.from_torch(tmp_path / "network.pt2")
    assert repr(program).startswith("TorchProgram(Network: x: f32[2,3,8,8]")
    check(program(x), module(x))


class Unknown(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return torch.linalg.qr(x)[0] + torch.special.i0(x) + torch.special.i0(x + 1)


def test_all_operators_that_are_not_supported_are_told_with_their_places() -> None:
    with pytest.raises(DataError) as caught:
        compiler.from_torch(Unknown(), torch.randn(3, 3))
    for part in ("2 × i0.default (i0, test_program.py:", "1 × linalg_qr.default (linalg_qr, "):
        assert part in str(caught.value)


def test_inputs_that_do_not_fit_are_refused_with_what_is_expected() -> None:
    program = compiler.from_torch(Network().eval(), torch.randn(2, 3, 8, 8))
    with pytest.raises(DataError, match=r"float32 \(2, 3, 8, 9\)\n  expected: float32 \(2, 3, 8"):
        program(torch.randn(2, 3, 8, 9))
    with pytest.raises(DataError, match="float64"):
        program(np.zeros((2, 3, 8, 8)))
    with pytest.raises(DataError, match="missing"):
        program()
    with pytest.raises(DataError, match="no such input"):
        program(image=torch.randn(2, 3, 8, 8))


def test_what_is_no_module_is_refused() -> None:
    with pytest.raises(DataError, match="not a PyTorch module"):
        compiler.from_torch(3, torch.randn(3))
    with pytest.raises(DataError, match="inputs as an example"):
        compiler.from_torch(Network())


class Difference(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, a: Any, b: Any) -> Any:
        return a - 2 * b


def test_one_example_for_two_inputs_stands_for_two() -> None:
    example = torch.ones(3)
    a, b = torch.tensor([1.0, 2, 3]), torch.tensor([10.0, 20, 30])
    for program in (compiler.from_torch(Difference(), (example, example)),
                    compiler.from_torch(Difference(), (example,), {"b": example})):  # fmt: skip
        assert program(a, b).numpy().tolist() == [-19, -38, -57]


class Fickle(nn.Module):  # type: ignore[misc, name-defined]
    def forward(self, x: Any) -> Any:
        return x + 1 if x.sum() > 0 else x


def test_what_pytorch_cannot_export_is_told_in_its_words() -> None:
    with pytest.raises(DataError, match=r"torch.export cannot write this module") as caught:
        compiler.from_torch(Fickle(), torch.ones(3))
    assert caught.value.__cause__ is not None


class Rows:
    """A cache as an object has it, which torch.export knows nothing of."""

    def __init__(self) -> None:
        self.rows = torch.zeros(4, 3)

    def put(self, place: Any, x: Any) -> Any:
        self.rows.index_copy_(0, place, x)
        return self.rows


class Remembering(nn.Module):  # type: ignore[misc, name-defined]
    """Its buffer is that of the object: transformers' static caches are held so."""

    def __init__(self) -> None:
        super().__init__()
        self.cache = Rows()
        self.register_buffer("rows", self.cache.rows, persistent=False)

    def forward(self, x: Any, place: Any) -> Any:
        return self.cache.put(place, x).sum(0)


def test_a_buffer_that_an_object_holds_too() -> None:
    """PyTorch's usual way of tracing has it twice then, and cannot decompose what it wrote."""
    module, places = Remembering(), [torch.tensor([n]) for n in (0, 2, 0)]
    program = compiler.from_torch(module, (torch.ones(1, 3), places[0]))
    for value, place, total in zip((1.0, 2.0, 5.0), places, (1.0, 3.0, 7.0), strict=True):
        got = program(torch.full((1, 3), value), place)
        np.testing.assert_array_equal(got.numpy(), np.full(3, total, np.float32))
    np.testing.assert_array_equal(module.rows.numpy()[:, 0], [5, 0, 2, 0])


def test_a_static_cache_of_transformers() -> None:
    """As its own exporter gives it; a cache among the inputs is refused with what to do."""
    transformers = pytest.importorskip("transformers")
    executorch = pytest.importorskip("transformers.integrations.executorch")
    config = transformers.LlamaConfig(
        hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, vocab_size=20, max_position_embeddings=16,
    )  # fmt: skip
    model, tokens = transformers.LlamaForCausalLM(config).eval(), torch.tensor([[5, 7, 9]])
    with torch.no_grad():
        wanted = model(tokens, use_cache=False).logits
    cache = transformers.StaticCache(config=config, max_cache_len=8)
    with pytest.raises(DataError, match="convert_and_export_with_cache"):
        compiler.from_torch(model, tokens, {"past_key_values": cache})
    model.generation_config = transformers.GenerationConfig(
        use_cache=True, cache_implementation="static", max_length=8,
        cache_config={"batch_size": 1, "max_cache_len": 8},
    )  # fmt: skip
    program = compiler.from_torch(executorch.convert_and_export_with_cache(model))
    for place in range(3):
        got = program(input_ids=tokens[:, place : place + 1], cache_position=torch.tensor([place]))
        check(got[:, 0], wanted[:, place])


def test_dropout_leaves_out_elements_while_learning() -> None:
    module, x = nn.Dropout(0.25).train(), torch.ones(100, 100)
    got = compiler.from_torch(module, x)(x).numpy()
    assert set(np.unique(got)) == {np.float32(0), np.float32(1 / 0.75)}
    assert 0.2 < (got == 0).mean() < 0.3


def test_the_last_layer_learns_another_task(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("sklearn")
    example = Path(__file__).parents[3] / "examples" / "imported" / "fine_tune.py"
    runpy.run_path(str(example), run_name="__main__")
    learned, fresh = capsys.readouterr().out.splitlines()[1:]
    shares = [float(line.split(", ")[-1].split("%")[0]) for line in (learned, fresh)]
    assert shares[0] > 70 and shares[0] > shares[1] + 10
