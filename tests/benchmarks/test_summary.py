"""The README tells the last whole run."""

import pytest

from benchmarks.results import OURS, Entry, Results, Run, read
from benchmarks.run import README, RESULTS
from benchmarks.summary import BEGIN, END, summary, told

MACHINE = {"processor": "a processor"}
LIMITS = {"triad": 37e9, "fma": 225e9}


def entry(seconds: float) -> Entry:
    return Entry(seconds, seconds, (seconds, seconds), seconds, (seconds,) * 3)


def results(**entries: dict[str, Entry]) -> Results:
    return Results(MACHINE, Run(2, LIMITS, {}, entries))


def test_rows_have_times_rates_and_the_better_entrys_ratio() -> None:
    row = {OURS: entry(2e-3), "torch": entry(9e-3), "torch out=": entry(5e-3), "jax": entry(1.0)}
    text = summary(results(matmul_512=row))
    assert "37 GB/s, 225 GFLOP/s" in text.replace("\n", " ")
    assert "| workload | ms | rate | torch | jax |" in text
    assert f"| `matmul_512` | 2 | {2 * 512**3 / 2e-3 / 1e9:.0f} GFLOP/s | 2.50 | 500 |" in text


def test_what_a_peer_lacks_is_a_dash_and_awkward_sizes_are_left_out() -> None:
    made = results(
        gelu={OURS: entry(1e-3), "jax": entry(2e-3)},
        softmax={OURS: entry(1e-3)},
        gelu_awkward={OURS: entry(1e-3)},
    )
    rows = [line.split(" | ") for line in summary(made).splitlines() if line.startswith("| `")]
    assert [row[-1] for row in rows] == ["2.00 |", "– |"]


def test_telling_replaces_what_was_told() -> None:
    first = told(f"before {BEGIN} old {END} after", results(gelu={OURS: entry(1e-3)}))
    assert "old" not in first and first.startswith("before ") and first.endswith(" after")
    assert told(first, results(gelu={OURS: entry(1e-3)})) == first


@pytest.mark.skipif(not RESULTS.exists(), reason="no whole run was measured yet")
def test_the_readme_tells_the_results_beside_it() -> None:
    text = README.read_text()
    assert told(text, read(RESULTS)) == text
