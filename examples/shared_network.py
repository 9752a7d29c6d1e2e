"""One network on two devices, shared in two ways: what each moves, and the least possible.

    rows       each device has some of the images and all weights: nothing moves but the answer
    weights    each device has all images and some of the weights: one all-reduce of the answer

Run it, or look into it:  svodviz explore examples/shared_network.py -o shared.html
"""

import numpy as np

import compiler
from compiler import Tensor

DEVICES = ("CPU:0", "CPU:1")
IMAGES, PIXELS, HIDDEN, CLASSES = 256, 784, 128, 10


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Images and the weights of two layers, float32."""
    random = np.random.default_rng(0)
    shapes = (IMAGES, PIXELS), (PIXELS, HIDDEN), (HIDDEN, CLASSES)
    images, first, second = (random.normal(0, 1, s).astype("float32") for s in shapes)
    return images, first / 28, second / 11


def network(x: Tensor, first: Tensor, second: Tensor) -> Tensor:
    """Two layers, with nothing in them that knows of devices."""
    return (x @ first).relu() @ second


def by_rows() -> Tensor:
    """Images cut, weights whole on each device."""
    images, first, second = arrays()
    weights = (Tensor(w).shard(DEVICES).realize() for w in (first, second))
    return network(Tensor(images).shard(DEVICES, axis=0).realize(), *weights)


def by_weights() -> Tensor:
    """Images whole on each device; the hidden layer is cut, so the second layer adds parts up."""
    images, first, second = arrays()
    columns = Tensor(first).shard(DEVICES, axis=1).realize()
    rows = Tensor(second).shard(DEVICES, axis=0).realize()
    return network(Tensor(images).shard(DEVICES).realize(), columns, rows)


shared = by_weights()


def report(name: str, y: Tensor, least: int) -> int:
    """Print what the network moves until every device has its part; returns the bytes."""
    made = compiler.compile(y.shards)
    transfers = sum(each.transfers for each in made.transfers)
    nbytes = sum(each.nbytes for each in made.transfers)
    print(f"{name:<8} {transfers} transfers, {nbytes:,} bytes; least possible {least:,} bytes")
    return nbytes


def main() -> None:
    """Check both against one device, and print the figures."""
    expected = network(*(Tensor(a) for a in arrays())).numpy()
    answer = expected.nbytes
    for name, y, least in (("rows", by_rows(), 0), ("weights", by_weights(), 2 * answer)):
        report(name, y, least)
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-4, atol=1e-5)


if __name__ == "__main__":
    main()
