"""The targets for whole networks, compared with results."""

from collections.abc import Iterator

from benchmarks.bars import Check
from benchmarks.networks.results import Found, Results
from benchmarks.results import OURS

MEANS = {"torch": 1.1, "torch.compile": 0.9}
"""The geometric mean over all networks, by peer."""
EACH = 0.8
"""Every network, against eager PyTorch."""
ALONE = 1.1
"""The most that kernels take of what the operations take alone."""
COMPILE_SHARE = 0.1
"""The most that compiling takes of torch.compile's."""
COLD = {"resnet18": (1.0, 0.3)}
"""Seconds of compiling, and in a process that finds the machine code on disk."""


def checks(results: Results) -> list[Check]:
    """Those of all networks together, then of each."""
    made = []
    for peer, least in MEANS.items():
        made.append(Check("all", f"{peer}, geometric mean", least, results.mean(peer)))
    return [*made, *(check for found in results.networks for check in _of(found))]


def _of(found: Found) -> Iterator[Check]:
    yield Check(found.name, "torch", EACH, found.ratio("torch"))
    yield Check(found.name, "kernels ÷ operations alone", ALONE, found.beside_alone, False)
    ours, theirs = found.entries.get(OURS), found.entries.get("torch.compile")
    share = ours.cold / theirs.cold if ours and theirs and theirs.cold else None
    yield Check(found.name, "compiling ÷ torch.compile's", COMPILE_SHARE, share, False)
    if found.name in COLD:
        cold, kept = COLD[found.name]
        yield Check(found.name, "compiling", cold, ours.cold if ours else None, False, " s")
        yield Check(found.name, "compiling again", kept, found.kept, False, " s")
