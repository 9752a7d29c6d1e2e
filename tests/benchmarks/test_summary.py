"""The README tells the last whole run."""

from benchmarks.results import OURS, Entry, Results, Run
from benchmarks.run import PAGE, RESULTS
from benchmarks.summary import BEGIN, END, kept, summary, told

MACHINE = {"processor": "a processor", "llvm_cpu": "znver9", "date": "2026-11-24 10:00"}
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
    made = results(gelu={OURS: entry(1e-3)})
    first = told(f"before {BEGIN} old {END} after", [made])
    assert "old" not in first and first.startswith("before ") and first.endswith(" after")
    assert told(first, [made]) == first


def test_every_machine_has_a_row_and_the_newest_that_was_not_held_the_table() -> None:
    made = results(
        gelu={OURS: entry(1e-3), "jax": entry(8e-3), "torch": entry(4e-3)},
        softmax={OURS: entry(1e-3), "torch out=": entry(5e-3), "torch": entry(1e-3)},
        gelu_awkward={OURS: entry(1e-3), "jax": entry(3e-3)},
    )
    held = Results({**MACHINE, "isa": "avx2", "processor": "another"}, made.all_threads)
    text = told(f"{BEGIN}{END}", [made, held])
    assert "| a processor (znver9) | – | 2026-11-24 | 2.00 | 3.00 | – | 1.00 `softmax` |" in text
    assert "| another (znver9) | avx2 | 2026-11-24 | 2.00 | 3.00 | – | 1.00 `softmax` |" in text
    assert "a processor, 2 threads" in text and held.name == "znver9-avx2"


def test_the_readme_tells_the_results_beside_it() -> None:
    text = PAGE.read_text()
    assert told(text, kept(RESULTS)) == text
