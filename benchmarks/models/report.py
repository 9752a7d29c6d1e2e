"""The results as tables, compared with the targets, and as a section of the documentation."""

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
Models as ONNX files, ours by `from_onnx`. `ms` is the median over rounds; the columns of the other
runtimes are ratios: how many times longer they take. All runtimes are measured interleaved,
each in its own process; torch and torch.compile run the module that was exported. `first s`:
from the file to the first result, without imports; `again s`: the same in a second process;
`their s`: the first result of torch.compile. `MB`: peak memory; last column: ONNX Runtime's."""
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


def figures(models: list[Model]) -> list[str]:
    """The summary figures in words, without their targets."""
    return [f"{words}: {_number(value)}" for words, value, _, _ in _summarised(models)]


def targets(models: list[Model]) -> list[str]:
    """The summary figures, each compared with its target."""
    lines = []
    for words, value, target, is_least in _summarised(models):
        holds = value >= target if is_least else value <= target
        verdict = "unknown" if math.isnan(value) else "met" if holds else "not met"
        lines.append(f"{words}: {_number(value)}, target {target}: {verdict}")
    return lines


def _summarised(models: list[Model]) -> list[tuple[str, float, float, bool]]:
    """Words, value, target, and True if the target is a lower bound."""
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
    return [
        ("geometric mean over the better of PyTorch and ONNX Runtime", mean(ratios), MEAN, True),
        ("the same for models in float32", mean(floats), MEAN, True),
        ("smallest of these ratios", min(known, default=math.nan), LEAST, True),
        ("geometric mean over tinygrad", mean(tiny), TINYGRAD, True),
        ("first result, largest ratio to torch.compile", _most(shares), COLD, False),
        ("resnet18 in a second process, s", _most(again), AGAIN, False),
        ("peak memory, largest ratio to ONNX Runtime", _most(peaks), MEMORY, False),
    ]


def _most(values: list[float]) -> float:
    return max((each for each in values if not math.isnan(each)), default=math.nan)


def _peak(model: Model, runtime: str) -> float:
    """Bytes; NaN if nothing was measured."""
    return model.runtimes.get(runtime, Measured()).peak or math.nan


def tell(path: Path, results: Models) -> None:
    """Write the results between the two marks of a page."""
    path.write_text(between(path.read_text(), BEGIN, END, summary(results)))


def summary(results: Models) -> str:
    """The section of the documentation: a table of the models, and summary figures."""
    about = results.machine
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items())
    where = (f"{about['processor']} ({about['llvm_cpu']}), {about['threads']} threads, "
             f"{about['date'][:10]}, compared with {versions}.")  # fmt: skip
    rows = [HEAD, *map(_row, results.models)]
    lines = [f"| {' | '.join(each)} |" for each in rows]
    lines.insert(1, "| :-- |" + " --: |" * (len(HEAD) - 1))
    points = [f"* {each}" for each in figures(results.models)]
    return "\n".join([f"{where} {KEY}", "", *lines, "", *points])


def _row(model: Model) -> tuple[str, ...]:
    ours, theirs = model.runtimes[OURS], model.runtimes.get("torch_compile", Measured())
    peers = (model.ratio(each) for each in ("torch", "torch_compile", "onnxruntime", "tinygrad"))
    megabytes = (_peak(model, each) / 1e6 for each in (OURS, "onnxruntime"))
    first = theirs.first or math.nan
    return (
        f"`{model.name}`", f"{ours.median:.3g}", *map(_number, peers), _number(ours.first),
        _number(ours.again or math.nan), _number(first, 1), *(_number(n, 0) for n in megabytes),
    )  # fmt: skip
