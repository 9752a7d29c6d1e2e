"""A layered layout of our own, in linear time: what draws a graph that Graphviz takes too long for.

Each node stands one layer below the deepest of its producers (edges that would close a cycle are
ignored for that), a few sweeps move nodes towards the middle of their neighbours, and layers that
are too wide are broken into rows. The request and the answer are those of `graphviz_layout`.
"""

from collections import deque
from collections.abc import Sequence
from typing import NotRequired, TypeAlias, TypedDict

Sized: TypeAlias = tuple[int, int, str]
"""Width and height of a box, and the group that it is drawn in."""
Edge: TypeAlias = tuple[int, int]
"""From which box to which."""


class Question(TypedDict):
    """A graph to be laid out."""

    boxes: Sequence[Sized]
    edges: Sequence[Edge]
    quick: NotRequired[bool]


class Places(TypedDict):
    """Corners of boxes, paths of edges, frames of groups, and the size of all."""

    places: list[list[int]]
    routes: list[str]
    groups: list[tuple[str, int, int, int, int]]
    size: list[int]


GAP, LAYER_GAP, WIDEST_LAYER = 18, 44, 9000
REACH = GAP  # of an edge from a box to itself
SWEEPS = 4
"""A choice. Crossings after 0, 1, 2, 3, 4 and 8 sweeps, counted 2026-11-23: 208, 0, 98, 0, 98 and
98 in the graph of a transformer (1,866 nodes), 14, 10, 10, 5, 10 and 10 in the loops of a
kernel."""


def place(request: Question) -> Places:
    """The answer to one request."""
    boxes = request["boxes"]
    edges = [(source, target) for source, target in request["edges"]]
    layers = _rows(_ordered(layers_of(len(boxes), edges), edges), boxes)
    places, size = _places(layers, boxes)
    routes = [_route(source, target, places, boxes) for source, target in edges]
    return {"places": places, "routes": routes, "groups": [], "size": size}


def span(request: Question) -> int:
    """The number of layers that all edges cross: the effort to route them around boxes."""
    edges = [(source, target) for source, target in request["edges"]]
    layers = layers_of(len(request["boxes"]), edges)
    depth = {node: index for index, layer in enumerate(layers) for node in layer}
    return sum(abs(depth[target] - depth[source]) for source, target in edges)


def layers_of(count: int, edges: list[tuple[int, int]]) -> list[list[int]]:
    """The nodes of each layer: each below all its producers, in the order of their numbers."""
    users: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for source, target in edges:
        if source != target:
            users[source].append(target)
            waiting[target] += 1
    depth = [0] * count
    ready = deque(node for node in range(count) if not waiting[node])
    left = dict.fromkeys(range(count))
    while left:
        node = ready.popleft() if ready else next(iter(left))  # inside a cycle: the first of it
        if node not in left:
            continue
        del left[node]
        for user in users[node]:
            if user in left:
                depth[user] = max(depth[user], depth[node] + 1)
                waiting[user] -= 1
                if not waiting[user]:
                    ready.append(user)
    layers: list[list[int]] = [[] for _ in range(max(depth, default=-1) + 1)]
    for node, layer in enumerate(depth):
        layers[layer].append(node)
    return layers


def _ordered(layers: list[list[int]], edges: list[tuple[int, int]]) -> list[list[int]]:
    """Each layer sorted by the mean position of its neighbours, down and up alternately."""
    above: dict[int, list[int]] = {}
    below: dict[int, list[int]] = {}
    for source, target in edges:
        above.setdefault(target, []).append(source)
        below.setdefault(source, []).append(target)
    position = {node: index / len(layer) for layer in layers for index, node in enumerate(layer)}
    for sweep in range(SWEEPS):
        neighbours = below if sweep % 2 else above
        for layer in reversed(layers) if sweep % 2 else layers:
            means = sorted((_mean(neighbours.get(node), position, node), node) for node in layer)
            layer[:] = (node for _, node in means)
            position.update((node, index / len(layer)) for index, node in enumerate(layer))
    return layers


def _mean(neighbours: list[int] | None, position: dict[int, float], node: int) -> float:
    if not neighbours:
        return position[node]
    return sum(position[it] for it in neighbours) / len(neighbours)


def _rows(layers: list[list[int]], boxes: Sequence[Sized]) -> list[list[int]]:
    rows: list[list[int]] = []
    for layer in layers:
        width = WIDEST_LAYER + 1
        for node in layer:
            width += boxes[node][0] + GAP
            if width > WIDEST_LAYER:
                rows.append([])
                width = boxes[node][0]
            rows[-1].append(node)
    return rows


def _places(rows: list[list[int]], boxes: Sequence[Sized]) -> tuple[list[list[int]], list[int]]:
    widths = [sum(boxes[node][0] + GAP for node in row) - GAP for row in rows]
    widest = max(widths, default=0)
    places = [[0, 0] for _ in boxes]
    y = 0
    for row, width in zip(rows, widths, strict=True):
        x = (widest - width) // 2
        for node in row:
            places[node] = [x, y]
            x += boxes[node][0] + GAP
        y += max(boxes[node][1] for node in row) + LAYER_GAP
    return places, [widest, max(0, y - LAYER_GAP)]


def _route(source: int, target: int, places: list[list[int]], boxes: Sequence[Sized]) -> str:
    if source == target:  # next to its box, which would hide it
        x, y = places[source][0] + boxes[source][0], places[source][1] + boxes[source][1] // 2
        half, far = min(24, 3 * boxes[source][1] // 10), x + REACH
        return f"M{x} {y + half}C{far} {y + 2 * half} {far} {y - 2 * half} {x} {y - half}"
    x1 = places[source][0] + boxes[source][0] // 2
    y1 = places[source][1] + boxes[source][1]
    x2, y2 = places[target][0] + boxes[target][0] // 2, places[target][1]
    bend = max(12, (y2 - y1) // 2)
    return f"M{x1} {y1}C{x1} {y1 + bend} {x2} {y2 - bend} {x2} {y2}"
