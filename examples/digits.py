"""Handwritten digits, classified by a two-layer network that this compiler compiles.

The images are scikit-learn's (1,797 of 8 x 8 pixels); a few lines of NumPy find the weights.
Run it, or look into it:  svodviz explore examples/digits.py -o digits.html
"""

import numpy as np
from sklearn.datasets import load_digits

from compiler import Tensor

digits = load_digits()
images = (digits.data / 16.0).astype(np.float32)
labels = digits.target


def find_weights(hidden: int = 32, steps: int = 300, rate: float = 0.5) -> list[np.ndarray]:
    """Gradient descent on the cross-entropy; returns w1, b1, w2, b2 as float32."""
    rng = np.random.default_rng(0)
    w1 = rng.normal(0, 0.2, (64, hidden)).astype(np.float32)
    w2 = rng.normal(0, 0.2, (hidden, 10)).astype(np.float32)
    b1, b2 = np.zeros(hidden, np.float32), np.zeros(10, np.float32)
    wanted = np.eye(10, dtype=np.float32)[labels]
    for _ in range(steps):
        h = np.maximum(images @ w1 + b1, 0)
        scores = np.exp(h @ w2 + b2)
        error = (scores / scores.sum(1, keepdims=True) - wanted) / len(images)
        back = error @ w2.T * (h > 0)
        w2 -= rate * h.T @ error
        b2 -= rate * error.sum(0)
        w1 -= rate * images.T @ back
        b1 -= rate * back.sum(0)
    return [w1, b1, w2, b2]


w1, b1, w2, b2 = find_weights()

x = Tensor(images, name="x")
hidden = (x @ Tensor(w1, name="w1") + Tensor(b1, name="b1")).relu()
scores = hidden @ Tensor(w2, name="w2") + Tensor(b2, name="b2")
probabilities = scores.softmax(axis=1)

if __name__ == "__main__":
    found = probabilities.numpy().argmax(axis=1)
    hidden_np = np.maximum(images @ w1 + b1, 0)
    expected = (hidden_np @ w2 + b2).argmax(axis=1)
    print(f"{(found == labels).mean():.1%} of {len(labels)} digits recognised")
    print(f"equal to NumPy's prediction for {(found == expected).sum()} of {len(labels)}")
