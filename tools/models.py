"""Models of torchvision and transformers, with random weights, compared with PyTorch: a table.

    python -m tools.models                    all of them, each in a process of its own
    python -m tools.models bert 'swin*'       some
    python -m tools.models --out rows.json …  keep the rows; those that are there are not run again
    python -m tools.models --exact …          also how far both are from float64 (else only where
                                              the difference is larger than rounding explains)

All of them take more than an hour: with `--out` they may be ended at any time, and go on there.

A row: operators of ATen, nodes of the graph, kernels and other items, the largest difference from
PyTorch relative to the largest magnitude of each output, how far both are from PyTorch in float64
in the same measure, seconds to export, to make tensors of, and to compile with an empty cache,
milliseconds of a run of ours and of PyTorch (two threads, alternating, medians), gigabytes at most.
"""

import argparse
import fnmatch
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

THREADS = 2
ROUNDS = 5
"""The default number of alternating runs of ours and of PyTorch (`--rounds`)."""
BOUND = 1e-4
"""The largest allowed difference from PyTorch, relative to the largest magnitude. If a model
with random weights amplifies rounding, `--exact` compares our difference with PyTorch's own."""
_QUICK = {"googlenet": {"init_weights": False}, "inception_v3": {"init_weights": False}}
"""Options that skip the slow initialisation of weights, which are redrawn anyway."""
Built = tuple[Any, tuple[Any, ...], dict[str, Any]]


def vision(name: str) -> Built:
    """A classification model of torchvision and its image."""
    import torch
    from torchvision import models

    side = 299 if name == "inception_v3" else 224
    image = torch.randn(1, 3, side, side)
    module = models.get_model(name, weights=None, **_QUICK.get(name, {})).eval()
    _enliven(module, image)
    return module, (image,), {}


def _enliven(module: Any, image: Any) -> None:
    """Weights and statistics as of a network that has learned: values neither vanish nor explode.

    As they are initialised, the outputs of many models hardly hang on the image: then nothing is
    compared.
    """
    import torch
    from torch import nn

    for each in module.modules():
        if isinstance(each, nn.Conv2d | nn.Linear):
            nn.init.kaiming_normal_(each.weight)
        elif isinstance(each, nn.modules.batchnorm._BatchNorm):
            each.reset_running_stats()
            each.momentum = None
            each.train()
    for name, parameter in module.named_parameters():
        if name.endswith("layer_scale"):
            nn.init.constant_(parameter, 0.5)
    with torch.no_grad():
        module(torch.cat([image, torch.randn_like(image)]))
    module.eval()


def _bert() -> Built:
    import torch
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig()).eval(), (torch.randint(0, 30000, (1, 128)),), {}


def _gpt2() -> Built:
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    tokens = torch.randint(0, 50000, (1, 128))
    return GPT2LMHeadModel(GPT2Config()).eval(), (tokens,), {"use_cache": False}


def _llama() -> Built:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    config = LlamaConfig(
        hidden_size=768, intermediate_size=2048, num_hidden_layers=12, num_attention_heads=12,
        num_key_value_heads=4, vocab_size=32000,
    )  # fmt: skip
    tokens = torch.randint(0, 32000, (1, 128))
    return LlamaForCausalLM(config).eval(), (tokens,), {"use_cache": False}


def _vit() -> Built:
    import torch
    from transformers import ViTConfig, ViTModel

    return ViTModel(ViTConfig()).eval(), (torch.randn(1, 3, 224, 224),), {}


def _whisper() -> Built:
    import torch
    from transformers import WhisperConfig, WhisperModel

    config = WhisperConfig(
        d_model=384, encoder_layers=4, decoder_layers=4, encoder_attention_heads=6,
        decoder_attention_heads=6, encoder_ffn_dim=1536, decoder_ffn_dim=1536,
    )  # fmt: skip
    named = {"decoder_input_ids": torch.randint(0, 50000, (1, 16)), "use_cache": False}
    return WhisperModel(config).eval(), (torch.randn(1, 80, 3000),), named


LANGUAGE: dict[str, Callable[[], Built]] = {
    "bert": _bert, "gpt2": _gpt2, "llama": _llama, "vit": _vit, "whisper": _whisper,
}  # fmt: skip


def names() -> list[str]:
    """All models."""
    from torchvision import models

    return [*models.list_models(module=models), *LANGUAGE]


def chosen(patterns: Sequence[str], among: Sequence[str]) -> list[str]:
    """The models of these names or patterns of the shell; `SystemExit` where one fits none."""
    chosen_names = []
    for pattern in patterns:
        fitting = fnmatch.filter(among, pattern)
        if not fitting:
            raise SystemExit(f"no such model: {pattern}")
        chosen_names += fitting
    return list(dict.fromkeys(chosen_names))


def kept(out: Path | None) -> dict[str, dict[str, Any]]:
    """The rows of a file, by model; without those that failed, which may be tried again."""
    rows = json.loads(out.read_text("utf-8")) if out and out.exists() else []
    return {row["model"]: row for row in rows if "failed" not in row}


def is_wrong(row: Mapping[str, Any]) -> bool:
    """True if a model failed, or differs by more than rounding explains."""
    bound = max(BOUND, 4 * row.get("theirs", 0.0))
    return "failed" in row or not row["difference"] <= bound


def measured(name: str, rounds: int, *, is_exact: bool) -> dict[str, Any]:
    """The row of one model, with caches that are empty."""
    import torch
    from torch.utils import _pytree as pytree

    import compiler
    from compiler.core.node import toposort

    torch.manual_seed(0)
    torch.set_num_threads(THREADS)
    module, args, named = LANGUAGE[name]() if name in LANGUAGE else vision(name)
    with torch.no_grad():
        wanted = _arrays(pytree.tree_leaves(module(*args, **named)))
    times = [time.perf_counter()]
    program = compiler.from_torch(module, args, named)
    times.append(time.perf_counter())
    results = [t for t in pytree.tree_leaves(program(*args, **named)) if hasattr(t, "recipe")]
    times.append(time.perf_counter())
    plan = compiler.prepare(results)
    times.append(time.perf_counter())
    got = plan.run()
    row = {
        "model": name, "operators": sum(program.operators.values()),
        "nodes": len(toposort([t.node for t in results])), "items": len(plan.structure.items),
        "difference": _difference(got, wanted),
        "export": times[1] - times[0], "walk": times[2] - times[1], "compile": times[3] - times[2],
        **_run_times(plan.run, lambda: module(*args, **named), rounds),
    }  # fmt: skip
    row["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    if is_exact or not row["difference"] <= BOUND / 10:
        double = [_double(each) for each in args], {k: _double(v) for k, v in named.items()}
        with torch.no_grad():
            exact = _arrays(pytree.tree_leaves(module.double()(*double[0], **double[1])))
        row["ours"], row["theirs"] = _difference(got, exact), _difference(wanted, exact)
    return row


def _arrays(leaves: list[Any]) -> list[Any]:
    return [leaf.detach().numpy() for leaf in leaves if hasattr(leaf, "detach")]


def _double(value: Any) -> Any:
    is_float = hasattr(value, "is_floating_point") and value.is_floating_point()
    return value.double() if is_float else value


def _difference(got: list[Any], wanted: list[Any]) -> float:
    """The largest difference, relative to the largest magnitude of each output."""
    import numpy as np

    worst = 0.0
    for a, b in zip(got, wanted, strict=True):
        size = float(np.abs(b).max()) or 1.0
        worst = max(worst, float(np.abs(a - b).max()) / size)
        worst = worst if np.isfinite(b).all() and np.isfinite(a).all() else float("nan")
    return worst


def _run_times(ours: Callable[[], Any], theirs: Callable[[], Any], rounds: int) -> dict[str, float]:
    """Milliseconds of both, measured alternately."""
    import torch

    rows: dict[str, list[float]] = {"run": [], "torch": []}
    with torch.no_grad():
        for _ in range(rounds):
            for key, call in (("run", ours), ("torch", theirs)):
                start = time.perf_counter()
                call()
                rows[key].append((time.perf_counter() - start) * 1e3)
    return {key: statistics.median(times) for key, times in rows.items()}


HEAD = (
    f"{'model':22} {'ATen':>5} {'nodes':>6} {'items':>5} {'difference':>10} {'ours-64':>8} "
    f"{'torch-64':>8} {'export s':>8} {'walk s':>6} {'compile s':>9} {'run ms':>8} "
    f"{'torch ms':>8} {'GB':>5}"
)


def printed(row: dict[str, Any]) -> str:
    """A row of the table."""
    if "failed" in row:
        return f"{row['model']:22} {row['failed']}"
    exact = [f"{row[key]:8.1e}" if key in row else " " * 8 for key in ("ours", "theirs")]
    return (
        f"{row['model']:22} {row['operators']:5} {row['nodes']:6} {row['items']:5} "
        f"{row['difference']:10.1e} {exact[0]} {exact[1]} {row['export']:8.1f} {row['walk']:6.2f} "
        f"{row['compile']:9.1f} {row['run']:8.1f} {row['torch']:8.1f} {row['memory']:5.1f}"
    )


def row_of(name: str, options: Sequence[str], seconds: float) -> dict[str, Any]:
    """The row of a model, measured in a process with caches of its own."""
    command = [sys.executable, "-m", "tools.models", "--one", name, *options]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "XDG_CACHE_HOME": folder}
        try:
            done = subprocess.run(
                command, env=environment, timeout=seconds, capture_output=True, text=True,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return {"model": name, "failed": f"not ready after {seconds:.0f} s"}
    if done.returncode:
        why = done.stderr.strip().splitlines()[-6:]
        return {"model": name, "failed": " | ".join(why) or f"exit {done.returncode}"}
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return row


def main() -> int:
    """Print the table; 1 where a model differs or fails."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("models", nargs="*", help="names or patterns; else all")
    parser.add_argument("--exact", action="store_true", help="compare both with float64")
    parser.add_argument("--seconds", type=float, default=900, help="for one model at most")
    parser.add_argument("--out", type=Path, help="a file for the rows, as JSON: it is gone on with")
    parser.add_argument("--anew", action="store_true", help="run what the file has, too")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(measured(arguments.one, arguments.rounds, is_exact=arguments.exact)))
        return 0
    every = {} if arguments.anew else kept(arguments.out)
    asked = chosen(arguments.models or ["*"], names())
    options = [f"--rounds={arguments.rounds}", *(["--exact"] if arguments.exact else [])]
    if before := sum(name in every for name in asked):
        print(f"{before} of {len(asked)} were in {arguments.out}: --anew runs them, too")
    print(HEAD, flush=True)
    for name in asked:
        if name not in every:
            every[name] = row_of(name, options, arguments.seconds)
            if arguments.out:
                arguments.out.parent.mkdir(parents=True, exist_ok=True)
                arguments.out.write_text(json.dumps(list(every.values()), indent=1) + "\n", "utf-8")
        print(printed(every[name]), flush=True)
    return int(any(is_wrong(every[name]) for name in asked))


if __name__ == "__main__":
    sys.exit(main())
