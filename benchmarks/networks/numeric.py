"""Programs of numeric work that are no networks of layers: k-means, covariance, a stencil."""

import numpy as np

from benchmarks.networks.library import Array, Library, Value
from benchmarks.networks.network import Network, normal


def kmeans(points: int = 100_000, width: int = 64, clusters: int = 16, steps: int = 10) -> Network:
    """The means after some steps of Lloyd's algorithm."""

    def program(f: Library, x: Value, means: Value) -> Value:
        for _ in range(steps):
            distances = (means * means).sum(1) - 2.0 * (x @ means.T)
            nearest = f.one_hot(distances.argmin(1), clusters)
            means = (nearest.T @ x) / nearest.sum(0)[:, None]
        return means

    def inputs() -> dict[str, Array]:
        # Apart, so that no rounding moves a point from one cluster to another.
        centres = 4 * normal(clusters, width)
        chosen = np.random.default_rng(0).permutation(points) % clusters
        first = centres + normal(1, clusters, width)[0]
        return {"x": centres[chosen] + normal(1, points, width)[0], "means": first}

    about = f"{points:,} × {width}, {clusters} clusters, {steps} steps"
    return Network("kmeans", about, program, inputs)


def covariance(rows: int = 20_000, columns: int = 100) -> Network:
    """Of the columns of a table."""

    def program(f: Library, x: Value) -> Value:
        centred = x - x.mean(0)
        return (centred.T @ centred) / (rows - 1.0)

    return Network(
        "covariance", f"{rows:,} × {columns}", program, lambda: {"x": normal(rows, columns)}
    )


def stencil(size: int = 2048, steps: int = 100) -> Network:
    """Heat that spreads to the four neighbours; it is cold outside."""

    def program(f: Library, u: Value) -> Value:
        for _ in range(steps):
            p = f.padded(u)
            around = p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]
            u = 0.5 * u + 0.125 * around
        return u

    about = f"5 points, {steps} steps on {size:,}²"
    return Network("stencil", about, program, lambda: {"u": normal(size, size)})
