"""A process of one peer and network: runs as many steps as a line says, answers with seconds."""

import importlib
import sys
import time


def main() -> None:
    """`python -m benchmarks.training.worker PEER NETWORK`."""
    peer, network = sys.argv[1:]
    begin = time.perf_counter()  # before the imports: some peers import as late as they can
    module = importlib.import_module(f"benchmarks.training.{peer.partition('.')[0]}")
    step = module.step_of(network, peer)
    first = float(step())
    print(time.perf_counter() - begin, flush=True)
    for line in sys.stdin:
        count = int(line)
        begin = time.perf_counter()
        for _ in range(count):
            loss = step()
        last = float(loss)
        print((time.perf_counter() - begin) / count, first, last, flush=True)


if __name__ == "__main__":
    main()
