"""The results in words: tables, whether the bars are reached, and what the README tells."""

import math
from pathlib import Path

from benchmarks.models.results import (
    AGAIN,
    COLD,
    FAST,
    LEAST,
    MEAN,
    MEMORY,
    OURS,
    TINYGRAD,
    Measured,
    Model,
    Models,
    mean,
)
from benchmarks.models.runtimes import RUNTIMES
from benchmarks.models.zoo import QUANTISED
from benchmarks.report import between

BEGIN = "<!-- models: written by python -m benchmarks models -->"
END = "<!-- end of models -->"
KEY = """\
Files of models, ours through `from_onnx`. `ms` is ours, the median over rounds; the columns of the
peers say how many times longer they take, measured in turns in processes of their own; of torch and
torch.compile the module that was exported. `first s`: from the file to the first result, imports
aside, `again s`: the same in a second process, `their s`: torch.compile's first. `MB`: the peak of
memory, of ONNX Runtime in the last column."""
HEAD = ("model", "ms", "torch", "torch.compile", "ONNX Runtime", "tinygrad", "first s", "again s",
        "their s", "MB", "theirs")  # fmt: skip


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
    floats = [each.ratio(*FAST) for each in models if each.name not in QUANTISED]
    peaks = [_peak(each, OURS) / _peak(each, "onnxruntime") for each in models]
    again = [each.runtimes[OURS].again or math.nan for each in models if each.name == "resnet18"]
    found = [
        ("geometric mean over the better of PyTorch and ONNX Runtime", mean(ratios), MEAN, True),
        ("the same of models in float32", mean(floats), MEAN, True),
        ("least of these", min(known, default=math.nan), LEAST, True),
        ("geometric mean over tinygrad", mean(tiny), TINYGRAD, True),
        ("cold, most of torch.compile's share", _most(shares), COLD, False),
        ("resnet18 in a second process, s", _most(again), AGAIN, False),
        ("peak of memory, most of ONNX Runtime's share", _most(peaks), MEMORY, False),
    ]
    lines = []
    for words, value, bar, is_least in found:
        holds = value >= bar if is_least else value <= bar
        verdict = "unknown" if math.isnan(value) else "reached" if holds else "MISSED"
        lines.append(f"{words}: {_number(value)} (bar {bar}) {verdict}")
    return lines


def _most(values: list[float]) -> float:
    return max((each for each in values if not math.isnan(each)), default=math.nan)


def _peak(model: Model, runtime: str) -> float:
    """Bytes; NaN where nothing was measured."""
    return model.runtimes.get(runtime, Measured()).peak or math.nan


def tell(path: Path, results: Models) -> None:
    """Writes the results between the two marks of a page."""
    path.write_text(between(path.read_text(), BEGIN, END, summary(results)))


def summary(results: Models) -> str:
    """What the README tells: a table of the models, and the bars."""
    about = results.machine
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    where = (f"{about['processor']} ({about['llvm_cpu']}), {about['threads']} threads, "
             f"{about['date'][:10]}, beside {versions}.")  # fmt: skip
    rows = [HEAD, *map(_row, results.models)]
    lines = [f"| {' | '.join(each)} |" for each in rows]
    lines.insert(1, "| :-- |" + " --: |" * (len(HEAD) - 1))
    told = [f"* {each}" for each in bars(results.models)]
    return "\n".join([f"{where} {KEY}", "", *lines, "", *told])


def _row(model: Model) -> tuple[str, ...]:
    ours, theirs = model.runtimes[OURS], model.runtimes.get("torch_compile", Measured())
    peers = (model.ratio(each) for each in ("torch", "torch_compile", "onnxruntime", "tinygrad"))
    megabytes = (_peak(model, each) / 1e6 for each in (OURS, "onnxruntime"))
    first = theirs.first or math.nan
    return (
        f"`{model.name}`", f"{ours.median:.3g}", *map(_number, peers), _number(ours.first),
        _number(ours.again or math.nan), _number(first, 1), *(_number(n, 0) for n in megabytes),
    )  # fmt: skip
