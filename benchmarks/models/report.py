"""The results in words: a table, and whether the bars are reached."""

import math

from benchmarks.models.results import AGAIN, COLD, FAST, LEAST, MEAN, OURS, TINYGRAD, Model, mean
from benchmarks.models.runtimes import RUNTIMES


def _number(value: float, digits: int = 2) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def table(models: list[Model]) -> list[str]:
    """Medians in ms, and the ratios, a row for each model."""
    lines = ["| model | " + " | ".join(f"{name}, ms" for name in RUNTIMES)
             + " | of the better of PyTorch and ONNX Runtime | error |",
             "|---" * (len(RUNTIMES) + 3) + "|"]  # fmt: skip
    for each in models:
        times = [each.runtimes[name].median if name in each.runtimes else math.nan
                 for name in RUNTIMES]  # fmt: skip
        cells = [_number(time) for time in times]
        error = f"{each.runtimes[OURS].error:.0e}" if OURS in each.runtimes else "–"
        lines.append(f"| {each.name} | {' | '.join(cells)} | {_number(each.ratio(*FAST))} "
                     f"| {error} |")  # fmt: skip
    return lines


def cold(models: list[Model]) -> list[str]:
    """First calls and memory, a row for each model."""
    lines = ["| model | " + " | ".join(f"{name}: first call s, again s, peak MB"
                                       for name in RUNTIMES) + " |",
             "|---" * (len(RUNTIMES) + 1) + "|"]  # fmt: skip
    for each in models:
        cells = []
        for name in RUNTIMES:
            found = each.runtimes.get(name)
            if found is None or found.missing:
                cells.append("–" if found is None else found.missing)
            else:
                cells.append(f"{found.first:.2f}, {found.again:.2f}, {found.peak / 1e6:.0f}")
        lines.append(f"| {each.name} | {' | '.join(cells)} |")
    return lines


def bars(models: list[Model]) -> list[str]:
    """Each bar, what was reached, and whether that is enough."""
    ratios = [each.ratio(*FAST) for each in models]
    known = [each for each in ratios if not math.isnan(each)]
    tiny = [each.ratio("tinygrad") for each in models]
    shares = [
        each.runtimes[OURS].first / each.runtimes["torch_compile"].first
        for each in models
        if each.runtimes.get(OURS) and each.runtimes[OURS].first
        and each.runtimes.get("torch_compile") and each.runtimes["torch_compile"].first
    ]  # fmt: skip
    again = [each.runtimes[OURS].again or math.nan for each in models if each.name == "resnet18"]
    found = [
        ("geometric mean over the better of PyTorch and ONNX Runtime", mean(ratios), MEAN, True),
        ("least of these", min(known, default=math.nan), LEAST, True),
        ("geometric mean over tinygrad", mean(tiny), TINYGRAD, True),
        ("cold, most of torch.compile's share", max(shares, default=math.nan), COLD, False),
        ("resnet18 in a second process, s", max(again, default=math.nan), AGAIN, False),
    ]
    lines = []
    for words, value, bar, is_least in found:
        holds = value >= bar if is_least else value <= bar
        verdict = "unknown" if math.isnan(value) else "reached" if holds else "MISSED"
        lines.append(f"{words}: {_number(value)} (bar {bar}) {verdict}")
    return lines
