"""cuts: one network cut in three ways, as programs for any number of workers.

    data_parallel     each worker has a part of the rows and all of the weights
    tensor_parallel   each worker has some columns of the weights and all of the rows
    pipeline          each worker has some of the layers; parts of the rows go from one to another

Their data are placeholders: what is simulated needs none, and what runs is given them by name.
"""

from compiler.tensor import Tensor

ROWS, WIDTH = 65_536, 1_024
LAYERS, CLASSES, PARTS = 8, 16, 32
RATE = 0.1


def data_parallel(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, classes: int = CLASSES
) -> list[Tensor]:
    """One step of gradient descent of a network of two layers: its new weights.

    The rows are cut, the weights are on each worker, and the gradients are added up over all.
    """
    x = _given("x", rows, width).shard(devices, 0)
    y = _given("y", rows, classes).shard(devices, 0)
    first, last = (_given(*it).shard(devices) for it in
                   (("first", width, width), ("last", width, classes)))  # fmt: skip
    hidden = (x @ first).relu()
    error = (hidden @ last - y) * (2.0 / rows)
    behind = (error @ last.T) * (hidden > 0.0)
    return [first - (x.T @ behind) * RATE, last - (hidden.T @ error) * RATE]


def tensor_parallel(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, classes: int = CLASSES
) -> Tensor:
    """The same network forwards: the first weights cut by columns, the last ones by rows.

    The products of the last ones are added up over all workers.
    """
    x = _given("x", rows, width).shard(devices)
    first = _given("first", width, width).shard(devices, 1)
    last = _given("last", width, classes).shard(devices, 0)
    return (x @ first).relu() @ last


def pipeline(
    devices: tuple[str, ...], rows: int = ROWS, width: int = WIDTH, layers: int = LAYERS,
    parts: int = PARTS,
) -> list[Tensor]:  # fmt: skip
    """Layers one after the other, each on a worker; the rows go through in `parts`.

    Of more workers than layers, only as many have anything to do.
    """
    places = [devices[layer * len(devices) // layers] if len(devices) < layers else devices[layer]
              for layer in range(layers)]  # fmt: skip
    weights = [_given(f"w{layer}", width, width).to(place) for layer, place in enumerate(places)]
    made = []
    for part in range(parts):
        x = _given(f"x{part}", rows // parts, width).to(places[0])
        for weight, place in zip(weights, places, strict=True):
            x = (x.to(place) @ weight).relu()
        made.append(x)
    return made


def _given(name: str, rows: int, columns: int) -> Tensor:
    return Tensor.placeholder(rows, columns, dtype="float32", name=name)
