"""A search for programs whose loops are chosen wrongly: refused by a pass, or with another result.

    python -m tests.search --seconds 1800 --jobs 2            a new seed each time, which is printed
    python -m tests.search --only 7.1234                      one case again, all of its kernels run
    python -m tests.search --program "x0 = float32[9, 9]; x0 @ x0.T"

The exit code is 1 where something failed.
"""

import argparse
import sys
import time
from collections import Counter

from tests.search.cases import (
    CHOSEN,
    PLAIN,
    ROUNDED,
    RUN,
    Failure,
    Outcome,
    case_of,
    tried,
    tried_text,
)
from tests.search.workers import searched

SHOWN = 3
"""Failures of one kind that are printed in full."""


def main(given: list[str]) -> int:
    """Search as the arguments say; 1 where something failed."""
    asked = _arguments(given)
    start = time.monotonic()
    if asked.only or asked.program:
        found = tried_text(asked.program) if asked.program else tried(case_of(asked.only), set())
        if asked.only:
            print(case_of(asked.only).program.text)
    else:
        print(f"seed {asked.seed}, {asked.seconds:.0f} s, {asked.jobs} processes", flush=True)
        told = _Progress(start, asked.every)
        found = searched(asked.seed, asked.seconds, asked.jobs, asked.run_share, told)
    print(_table(found))
    print(_failures(found.failures))
    seed = f"seed {asked.seed}: " if not (asked.only or asked.program) else ""
    seconds, case = found.slowest
    print(f"the slowest case took {seconds:.1f} s: {case}")
    print(f"{seed}{_summary(found)} in {time.monotonic() - start:.0f} s")
    return int(bool(found.failures))


def _arguments(given: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.search", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--run-share", type=float, default=0.4, help="of small kernels")
    parser.add_argument("--every", type=float, default=60.0, help="seconds between reports")
    parser.add_argument("--only", default="", help="the name of a case, e.g. 7.1234")
    parser.add_argument("--program", default="", help="the text of a program")
    return parser.parse_args(given)


class _Progress:
    """Prints a line now and then."""

    def __init__(self, start: float, every: float) -> None:
        self.start, self.every, self.last = start, every, start
        self.seen = 0
        self.kinds: Counter[str] = Counter()

    def __call__(self, found: Outcome) -> bool:
        """Prints what came out so far; the first failures of each kind at once."""
        for failure in found.failures[self.seen :]:
            self.kinds[_kind(failure)] += 1
            if self.kinds[_kind(failure)] <= SHOWN:
                print(f"FAILED {failure}", flush=True)
        self.seen = len(found.failures)
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            print(f"{now - self.start:6.0f} s: {_summary(found)}", flush=True)
        return False


def _summary(found: Outcome) -> str:
    chosen, ran = found.total(CHOSEN, PLAIN), found.total(RUN, ROUNDED)
    return (
        f"{found.programs:,} programs, {chosen:,} kernels chosen ({found.total(PLAIN):,} of them "
        f"left plain), {ran:,} run ({found.total(RUN):,} to the last bit), "
        f"{len(found.failures):,} failures"
    )


def _table(found: Outcome) -> str:
    """Counts by family, bytes of a vector, and bytes of an element."""
    widths = sorted({key[2] for key in found.counts})
    rows = [f"{'chosen / run':<14} {'vectors':>7} " + "".join(f"{f'{n}-byte':>16}" for n in widths)]
    for family, lanes in sorted({key[:2] for key in found.counts}):
        cells = []
        for width in widths:
            place = family, lanes, width
            here = Counter({k[3]: n for k, n in found.counts.items() if k[:3] == place})
            cells.append(f"{here[CHOSEN] + here[PLAIN]:,} / {here[RUN] + here[ROUNDED]:,}")
        rows.append(f"{family:<14} {lanes:>7} " + "".join(f"{cell:>16}" for cell in cells))
    return "\n".join(rows)


def _failures(failures: list[Failure]) -> str:
    """The first failures of each kind."""
    kinds: dict[str, list[Failure]] = {}
    for failure in failures:
        kinds.setdefault(_kind(failure), []).append(failure)
    rows = []
    for kind, those in sorted(kinds.items(), key=lambda pair: -len(pair[1])):
        rows.append(f"{len(those)} × {kind}")
        rows += [f"  {failure}" for failure in those[:SHOWN]]
    return "\n".join(rows) or "no failures"


def _kind(failure: Failure) -> str:
    """The error without its numbers."""
    return "".join(c for c in failure.error if not c.isdigit())[:90]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
