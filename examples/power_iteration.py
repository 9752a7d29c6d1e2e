"""The strongest direction in scikit-learn's pictures of digits, by power iteration.

v ← A v / |A v|, a hundred times, where A holds the products of all pixels with each other. The
step is traced once and becomes a loop of kernels. Run it, or look into it:
    svodviz explore examples/power_iteration.py -o power_iteration.html
"""

import numpy as np
from sklearn.datasets import load_digits

import compiler
from compiler import Tensor

ITERATIONS = 100


def gram_matrix() -> Tensor:
    """The products of the 64 pixels with each other over all 1797 pictures."""
    pictures = Tensor(load_digits().data, name="pictures")
    return (pictures.T @ pictures).realize()


def strongest(matrix: Tensor, iterations: int = ITERATIONS) -> tuple[Tensor, Tensor]:
    """The eigenvector of the largest eigenvalue of a symmetric matrix, and that eigenvalue."""

    def step(i: Tensor, v: Tensor) -> Tensor:
        w = matrix @ v
        return w / (w * w).sum().sqrt()

    v = compiler.repeat(iterations, step, Tensor.full(matrix.shape[0], matrix.shape[0] ** -0.5))
    assert isinstance(v, Tensor)
    return v, v @ (matrix @ v)


matrix = gram_matrix()
vector, value = strongest(matrix)


def main() -> None:
    """Print the eigenvalue, and how far it is from NumPy's."""
    compiled = compiler.compile([vector, value])
    print(compiled.summary())
    values, vectors = np.linalg.eigh(matrix.numpy())
    off = np.abs(np.abs(vector.numpy()) - np.abs(vectors[:, -1])).max()
    print(f"largest eigenvalue {value.item():,.3f}, NumPy {values[-1]:,.3f}; vectors differ by "
          f"{off:.1e}")  # fmt: skip


if __name__ == "__main__":
    main()
