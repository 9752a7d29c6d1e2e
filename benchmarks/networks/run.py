"""run: the command.

    python -m benchmarks networks [--networks a,b] [--kernels] [--seconds s]

With `--kernels` nothing but our kernels is measured, in this process.
"""

import argparse
import sys

import compiler
from benchmarks.networks import ours
from benchmarks.networks.kernels import KernelTime, kernels
from benchmarks.networks.network import Network
from benchmarks.networks.zoo import NETWORKS
from compiler.core.text import aligned


def chosen(names: str) -> list[Network]:
    """The networks of a list with commas; empty means all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in NETWORKS]:
        sys.exit(f"no such network: {', '.join(unknown)}\nthere are {', '.join(NETWORKS)}")
    return [network for name, network in NETWORKS.items() if not wanted or name in wanted]


def kernel_table(found: tuple[KernelTime, ...]) -> str:
    """A row for each kernel: milliseconds of one run."""
    total = sum(kernel.ns for kernel in found) or 1.0
    head = ("kernel", "items", "ms", "share", "estimated", "of roof", "why")
    rows = [
        (it.title, f"{it.items}", f"{it.ns / 1e6:.3f}", f"{it.ns / total:.1%}",
         f"{it.estimated / 1e6:.3f}", f"{it.of_roof:.2f}", it.why)
        for it in found
    ]  # fmt: skip
    return "\n".join(aligned([head, *rows], range(1, 6)))


def show_kernels(networks: list[Network], seconds: float) -> None:
    """Print the kernels of networks."""
    model = compiler.calibrate()
    for network in networks:
        made = ours.compilation(network)
        measured = made.measure(list(network.inputs().values()), seconds=seconds)
        found = kernels(made, measured, model)
        plain = sum(bool(kernel.plain) for kernel in found)
        whole = f"{measured.whole / 1e6:.2f} ms" if measured.whole else "not measured"
        print(f"{network.name}: run() {whole}, items {measured.total / 1e6:.2f} ms, "
              f"{len(found)} kernels, {plain} plain")  # fmt: skip
        print(kernel_table(found), end="\n\n", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """Measure, and print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks networks", description=__doc__)
    parser.add_argument("--networks", default="", metavar="A,B")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--kernels", action="store_true", help="our kernels alone")
    given = parser.parse_args(arguments)
    show_kernels(chosen(given.networks), given.seconds)


if __name__ == "__main__":
    main()
