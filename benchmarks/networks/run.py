"""run: the command.

    python -m benchmarks networks [--networks a,b] [--peers x,y] [--rounds n] [--isa avx2]

A whole run writes `benchmarks/networks.json` and the README's table, a part a file in `build/`.
With `--kernels` nothing but our kernels is measured, in this process, whole tables of them.
"""

import argparse
import sys
import time
from pathlib import Path

from benchmarks import run as command
from benchmarks.measuring import ROOT, Effort
from benchmarks.networks import ours
from benchmarks.networks.kernels import kernels, machine
from benchmarks.networks.measuring import SECONDS, measure
from benchmarks.networks.network import Network
from benchmarks.networks.report import kernel_table, report, row, tell
from benchmarks.networks.results import PEERS, Results, to_json
from benchmarks.networks.zoo import NETWORKS
from compiler.core.text import counted

RESULTS = ROOT / "benchmarks" / "networks.json"
PART = ROOT / "build" / "networks.json"
EFFORT = Effort(rounds=7, seconds=0.5, starts=3)


def chosen(names: str) -> list[Network]:
    """The networks of a list with commas; empty means all."""
    return [NETWORKS[name] for name in _among(names, tuple(NETWORKS), "network")]


def _among(names: str, known: tuple[str, ...], noun: str) -> list[str]:
    """Those of a list with commas, in the usual order; empty means all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in known]:
        sys.exit(f"no such {noun}: {', '.join(unknown)}\nthere are {', '.join(known)}")
    return [name for name in known if not wanted or name in wanted]


def run(networks: list[Network], peers: list[str], effort: Effort, threads: int) -> Results:
    """Measure; progress goes to standard error, and what is found so far into `build/`."""
    made = Results(command.machine({}, effort.isa), threads, ())
    for network in networks:
        start = time.perf_counter()
        found = measure(network, peers, threads, effort)
        versions = made.machine["versions"] | found.versions
        made = Results(command.machine(versions, effort.isa), threads, (*made.networks, found))
        write(made, PART)
        missing = f"; missing {', '.join(found.missing)}" if found.missing else ""
        took = time.perf_counter() - start
        print(f"{'  '.join(row(found))}{missing} ({took:.0f} s)", file=sys.stderr, flush=True)
    return made


def write(results: Results, place: Path) -> None:
    """The results as data."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(to_json(results))


def show_kernels(networks: list[Network], seconds: float) -> None:
    """Print the kernels of networks."""
    model = machine()
    for network in networks:
        made = ours.compilation(network)
        measured = made.measure(list(network.inputs().values()), seconds=seconds)
        found = kernels(made, measured, model)
        plain = sum(bool(kernel.plain) for kernel in found)
        whole = f"{measured.whole / 1e6:.2f} ms" if measured.whole else "not measured"
        print(f"{network.name}: run() {whole}, items {measured.total / 1e6:.2f} ms, "
              f"{counted(len(found), 'kernel')}, {plain} plain")  # fmt: skip
        print(*kernel_table(found, measured.total), "", sep="\n", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure, print the tables, write the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks networks", description=__doc__)
    parser.add_argument("--networks", default="", metavar="A,B", help=", ".join(NETWORKS))
    parser.add_argument("--peers", default="", metavar="X,Y", help=", ".join(PEERS))
    parser.add_argument("--rounds", type=int, default=EFFORT.rounds)
    parser.add_argument("--seconds", type=float, default=EFFORT.seconds,
                        help="for each of ours and the peers, in each round")  # fmt: skip
    parser.add_argument("--starts", type=int, default=EFFORT.starts,
                        help="fresh processes for the time of compiling")  # fmt: skip
    parser.add_argument("--threads", type=int, default=command.cores())
    parser.add_argument("--json", type=Path, metavar="FILE", help="where results are written")
    command.add_isa(parser)
    parser.add_argument("--kernels", action="store_true", help="our kernels alone")
    given = parser.parse_args(arguments)
    networks, peers = chosen(given.networks), _among(given.peers, PEERS, "peer")
    if given.kernels:
        return show_kernels(networks, SECONDS)
    effort = Effort(given.rounds, given.seconds, given.starts, given.isa)
    with command.holding(given.isa):
        results = run(networks, peers, effort, given.threads)
    is_part = bool(given.networks or given.peers or given.json or given.isa)
    is_part = is_part or given.threads < command.cores()
    place = given.json or (PART if is_part else RESULTS)
    write(results, place)
    if not is_part:
        tell(command.PAGE, results)
    print(report(results))
    print(f"\nwritten: {place}")


if __name__ == "__main__":
    main()
