"""The models: as PyTorch's users build them, from configurations, with random weights."""

from collections.abc import Callable
from typing import Any, NamedTuple


class Built(NamedTuple):
    """A module and the tensors that it is called with."""

    module: Any
    inputs: tuple[Any, ...]


TOKENS = 128
"""The length of a text."""


def _vision(name: str) -> Built:
    from tools.models import vision

    module, inputs, _ = vision(name)
    return Built(module, inputs)


def _bert() -> Built:
    import torch
    from transformers import BertConfig, BertModel

    class Encoder(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            config = BertConfig(attn_implementation="sdpa", hidden_dropout_prob=0.0)
            self.bert = BertModel(config).eval()

        def forward(self, tokens: Any) -> Any:
            return self.bert(tokens).last_hidden_state

    return Built(Encoder().eval(), (torch.randint(0, 30000, (1, TOKENS)),))


def _gpt2() -> Any:
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(GPT2Config(attn_implementation="sdpa")).eval()


def _gpt2_prefill() -> Built:
    import torch

    class Prefill(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.gpt2 = _gpt2()

        def forward(self, tokens: Any) -> Any:
            return self.gpt2(tokens, use_cache=False).logits

    return Built(Prefill().eval(), (torch.randint(0, 50000, (1, TOKENS)),))


def _gpt2_token() -> Built:
    import torch
    from transformers import DynamicCache

    class Token(torch.nn.Module):
        """One token more: its logits, and the keys and values with it."""

        def __init__(self) -> None:
            super().__init__()
            self.gpt2 = _gpt2()

        def forward(self, token: Any, *past: Any) -> Any:
            cache = DynamicCache()
            for layer in range(len(past) // 2):
                cache.update(past[2 * layer], past[2 * layer + 1], layer)
            made = self.gpt2(token, past_key_values=cache, use_cache=True)
            kept = [each for layer in made.past_key_values.layers
                    for each in (layer.keys, layer.values)]  # fmt: skip
            return made.logits, *kept

    past = tuple(torch.randn(1, 12, TOKENS, 64) / 8 for _ in range(24))
    return Built(Token().eval(), (torch.randint(0, 50000, (1, 1)), *past))


def _lstm() -> Built:
    import torch

    class Rows(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(256, 256, num_layers=2, batch_first=True)

        def forward(self, rows: Any) -> Any:
            return self.lstm(rows)[0]

    return Built(Rows().eval(), (torch.randn(8, 64, 256),))


MODELS: dict[str, Callable[[], Built]] = {
    "resnet18": lambda: _vision("resnet18"),
    "mobilenet_v3": lambda: _vision("mobilenet_v3_large"),
    "vit_b_16": lambda: _vision("vit_b_16"),
    "bert_base": _bert,
    "gpt2_prefill": _gpt2_prefill,
    "gpt2_token": _gpt2_token,
    "lstm": _lstm,
}
QUANTISED = {"resnet18_int8": "resnet18"}
"""Models of 8 bits, and what they are made of; ONNX Runtime's tools choose the scales."""
NAMES = (*MODELS, *QUANTISED)
