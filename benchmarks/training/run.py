"""`python -m benchmarks training [--networks a,b] [--peers x,y] [--python PATH]`: timed steps.

`--python` is an interpreter that has PyTorch, JAX and tinygrad; ours runs in this one.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import environment
from benchmarks.training import NETWORKS, PEERS, curve

ROOT = Path(__file__).resolve().parents[2]
THREADS = 2
STEPS = {"mlp": 200, "cnn": 40, "transformer": 10}
"""Steps of a round, of a peer that takes no longer for them than `LONGEST`."""
WARM = 4
"""Steps before the first round: some peers compile in the first two or three."""
LONGEST = 3.0
"""Seconds."""


class Process:
    """A peer that waits for what to do; None of a loss where it is not there."""

    def __init__(self, python: str, peer: str, network: str, folder: Path) -> None:
        command = [python, "-m", "benchmarks.training.worker", peer, network]
        pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
        self.inner = subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe,
                                      stderr=nothing, env=environment(folder, THREADS))  # fmt: skip
        assert self.inner.stdout is not None
        line = self.inner.stdout.readline()
        self.first = float(line) if line else None
        """Seconds until the first step was done; None where the peer cannot be run."""
        self.times: list[float] = []
        self.losses = (0.0, 0.0)

    def run(self, count: int) -> None:
        """So many steps, or fewer of one that takes long."""
        if self.times:
            count = max(1, min(count, int(LONGEST / self.times[-1])))
        assert self.inner.stdin is not None and self.inner.stdout is not None
        self.inner.stdin.write(f"{count}\n")
        self.inner.stdin.flush()
        seconds, first, last = map(float, self.inner.stdout.readline().split())
        self.times.append(seconds)
        self.losses = first, last

    def end(self) -> None:
        """Let it go."""
        self.inner.kill()
        self.inner.wait()


def measure(network: str, peers: Sequence[str], python: str, rounds: int) -> dict[str, Process]:
    """All peers interleaved, `rounds` times."""
    with tempfile.TemporaryDirectory() as caches:
        made = {
            peer: Process(
                sys.executable if peer == "ours" else python, peer, network, Path(caches, peer)
            )
            for peer in peers
        }
        there = {peer: process for peer, process in made.items() if process.first is not None}
        for process in there.values():
            process.run(WARM)
        for _ in range(rounds):
            for process in there.values():
                process.run(STEPS[network])
        for process in made.values():
            process.end()
            del process.times[:1]
    return there


def main() -> None:
    """Print a line for each network and peer."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks training")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--curve", type=int, metavar="STEPS", help="losses, and PyTorch's")
    given = parser.parse_args()
    if given.curve:
        curve.main(given.curve)
        return
    for network in given.networks.split(","):
        found = measure(network, given.peers.split(","), given.python, given.rounds)
        own = statistics.median(found["ours"].times) if "ours" in found else None
        for peer, process in found.items():
            time = statistics.median(process.times)
            ratio = f"{time / own:5.2f} of ours" if own else ""
            first, last = process.losses
            print(f"{network:<12} {peer:<14} {time * 1e3:8.3f} ms a step  {ratio}  "
                  f"first after {process.first:5.2f} s  loss {first:.3f} to {last:.3f}",
                  flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
