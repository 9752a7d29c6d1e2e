"""Programs as people write them: what findings should say of each, and of which nothing.

Those of the examples and notebooks, those that are benchmarked, and networks, solvers and data
analysis written for this. Nothing here runs: sizes are those of real use.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from compiler import Tensor, repeat

Program = Callable[[], Any]


def data(name: str, *shape: int, dtype: Any = np.float32) -> Tensor:
    """An input; what is in it does not matter."""
    return Tensor(np.ones(shape, dtype), name=name)


def normalized(x: Tensor) -> Tensor:
    mean = x.mean(axis=-1, keepdim=True)
    spread = ((x - mean) ** 2).mean(axis=-1, keepdim=True)
    return (x - mean) / (spread + 1e-5).sqrt()


def block(scale: Any, rows: int = 128, width: int = 256, heads: int = 4) -> Tensor:
    """A transformer block whose scores are divided by `scale`."""
    x = data("x", 2, rows, width)
    normal = normalized(x)

    def split(name: str) -> Tensor:
        made = normal @ data(name, width, width)
        return made.reshape(2, rows, heads, width // heads).transpose(1, 2)

    q, k, v = (split(name) for name in ("wq", "wk", "wv"))
    mask = Tensor(np.triu(np.full((rows, rows), -np.inf, np.float32), 1))
    scores = (q @ k.transpose(-1, -2) / scale + mask).softmax(-1)
    mixed = (scores @ v).transpose(1, 2).reshape(2, rows, width) @ data("wo", width, width)
    x = x + mixed
    hidden = (normalized(x) @ data("w1", width, 4 * width)).gelu()
    return x + hidden @ data("w2", 4 * width, width)


def convolutions() -> Tensor:
    x = data("images", 64, 1, 28, 28)
    x = x.conv2d(data("c1", 8, 1, 3, 3), padding=1).relu().max_pool2d(2)
    x = x.conv2d(data("c2", 16, 8, 3, 3), padding=1).relu().max_pool2d(2)
    return (x.flatten(1) @ data("w", 784, 10)).softmax(axis=1)


def heat(steps: int = 10, size: int = 256) -> Tensor:
    u = data("u", size, size)
    for _ in range(steps):
        near = u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1)
        u = u + 0.1 * (near - 4 * u)
    return u


def clusters() -> Tensor:
    x, centres = data("x", 4096, 16), data("c", 8, 16)
    for _ in range(3):
        near = ((x[:, None, :] - centres[None]) ** 2).sum(-1).argmin(1)
        chosen = (near[:, None] == np.arange(8)).astype(np.float32)
        centres = chosen.T @ x / chosen.sum(0)[:, None]
    return centres


def logistic(steps: int = 5) -> list[Tensor]:
    x, y, w, b = data("x", 569, 30), data("y", 569), data("w", 30), data("b", 1)
    for _ in range(steps):
        error = (x @ w + b).sigmoid() - y
        w, b = w - 0.5 * (x.T @ error) / 569, b - 0.5 * error.mean()
    return [w, b]


def training(zeros: str = "float32") -> list[Tensor]:
    """A step of a network of two layers whose biases start as zeros of a type."""
    x, w1, w2 = data("x", 64, 784), data("w1", 784, 128), data("w2", 128, 10)
    b1, b2 = Tensor.zeros(128, dtype=zeros), Tensor.zeros(10, dtype=zeros)
    wanted = data("t", 64, 10)
    before = x @ w1 + b1
    hidden = before.relu()
    error = ((hidden @ w2 + b2).softmax(-1) - wanted) / 64
    back = (error @ w2.T) * (before > 0)
    pairs = [(w1, x.T @ back), (b1, back.sum(0)), (w2, hidden.T @ error), (b2, error.sum(0))]
    return [old - 0.1 * new for old, new in pairs]


def fourier(count: int = 16) -> list[Tensor]:
    def halves(re: Tensor, im: Tensor) -> tuple[Tensor, Tensor]:
        size = re.shape[0]
        if size == 1:
            return re, im
        (er, ei), (o, p) = halves(re[0::2], im[0::2]), halves(re[1::2], im[1::2])
        angles = -2 * np.pi * np.arange(size // 2) / size
        c, s = (Tensor(f(angles).astype(np.float32)) for f in (np.cos, np.sin))
        real, imaginary = o * c - p * s, o * s + p * c
        return (Tensor.cat(er + real, er - real), Tensor.cat(ei + imaginary, ei - imaginary))

    return list(halves(data("re", count), data("im", count)))


def network(rows: int = 1797) -> Tensor:
    hidden = (data("x", rows, 64) @ data("w1", 64, 32) + data("b1", 32)).relu()
    return (hidden @ data("w2", 32, 10) + data("b2", 10)).softmax(axis=1)


def power(count: int = 60) -> Any:
    matrix = data("matrix", 3, 3)

    def step(i: Tensor, v: Tensor) -> Tensor:
        w = matrix @ v
        return w / (w * w).sum().sqrt()

    return repeat(count, step, Tensor.ones(3, dtype="float32"))


def blur(size: int = 3) -> Tensor:
    picture = data("x", 427, 640).pad(((size // 2,) * 2,) * 2)
    return picture.unfold(0, size).unfold(1, size).mean((2, 3))


def sobel() -> Tensor:
    right = Tensor(np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]], np.float32))
    around = data("x", 427, 640).pad(((1, 1), (1, 1))).unfold(0, 3).unfold(1, 3)
    dx, dy = (around * right).sum((2, 3)), (around * right.T).sum((2, 3))
    return (dx * dx + dy * dy).sqrt()


def branches() -> Tensor:
    x = data("x", 256, 128)
    wide, narrow = (x @ data("w1", 128, 64)).relu(), (x @ data("w2", 128, 16)).tanh()
    return (wide @ data("w3", 64, 10) + narrow @ data("w4", 16, 10)).softmax(axis=1)


def layers(count: int = 5, width: int = 64, rows: int = 64) -> Tensor:
    x = data("h", rows, width)
    for number in range(count):
        x = (x @ data(f"w{number}", width, width)).relu()
    return x


def statistics() -> list[Tensor]:
    x = data("x", 4096, 64)
    centred = x - x.mean(0)
    return [x.mean(0), centred.square().mean(0).sqrt(), centred.T @ centred / 4095]


def embedding() -> Tensor:
    words = Tensor(np.zeros((32, 128), np.int64), name="words")
    return normalized(data("table", 8192, 128)[words]) @ data("w", 128, 128)


def attention(rows: int = 512, width: int = 64) -> Tensor:
    q, k, v = (data(name, rows, width) for name in "qkv")
    return ((q @ k.permute(1, 0)) * width**-0.5).softmax(-1) @ v


def doubles() -> Tensor:
    """Float64 because everything was made so: nothing is by accident."""
    x = data("x", 512, 512, dtype=np.float64)
    return (x @ x).exp().sum(1)


def ranks(pages: int = 500) -> Tensor:
    """The ranks of pages by the links between them."""
    links = data("links", pages, pages)
    moves = (links / links.sum(1, keepdim=True).maximum(1)).T
    rank = data("rank", pages)
    for _ in range(10):
        rank = 0.85 * (moves @ rank) + 0.15 / pages
    return rank


def edges(rows: int = 240, columns: int = 320) -> Tensor:
    """Where an image that was blurred twice is steep."""
    x = data("image", 1, 1, rows, columns)
    blur, across, down = (data(name, 1, 1, 3, 3) for name in ("blur", "across", "down"))
    x = x.conv2d(blur, padding=1).conv2d(blur, padding=1)
    steep = (x.conv2d(across, padding=1) ** 2 + x.conv2d(down, padding=1) ** 2).sqrt()
    return (steep > steep.mean()).cast("float32")


def options(count: int = 100_000) -> list[Tensor]:
    """The value of options."""
    spot, strike, years = (data(name, count) for name in ("spot", "strike", "years"))

    def below(x: Tensor) -> Tensor:
        return 0.5 * (1 + (x / 2**0.5).erf())

    spread = 0.2 * years.sqrt()
    first = ((spot / strike).log() + 0.05 * years) / spread
    price = spot * below(first) - strike * (-0.03 * years).exp() * below(first - spread)
    return [price, price.mean(), price.max()]


def gated(steps: int = 12, width: int = 64) -> Tensor:
    """A recurrent network with gates."""
    names = "wz", "wr", "wn", "uz", "ur", "un"
    w = {name: data(name, width, width) for name in names}
    h, xs = data("h", 8, width), data("xs", steps, 8, width)
    for step in range(steps):
        x = xs[step]
        z = (x @ w["wz"] + h @ w["uz"]).sigmoid()
        r = (x @ w["wr"] + h @ w["ur"]).sigmoid()
        n = (x @ w["wn"] + r * (h @ w["un"])).tanh()
        h = (1 - z) * n + z * h
    return h


PROGRAMS: dict[str, Program] = {
    "ew_chain": lambda: (data("a", 1 << 20) * data("b", 1 << 20) + data("c", 1 << 20)).relu() * 0.5,
    "gelu": lambda: data("x", 1 << 20).gelu(),
    "gelu awkward": lambda: data("x", (1 << 20) - 61).gelu(),
    "sum all": lambda: data("x", 1 << 22).sum(),
    "row sum": lambda: data("x", 2048, 2048).sum(1),
    "column sum": lambda: data("x", 2048, 2048).sum(0),
    "column sum awkward": lambda: data("x", 2017, 2035).sum(0),
    "softmax": lambda: data("x", 1024, 1024).softmax(-1),
    "softmax awkward": lambda: data("x", 1021, 1001).softmax(-1),
    "layernorm": lambda: data("x", 1024, 1024).layernorm(-1),
    "matmul": lambda: data("a", 512, 512) @ data("b", 512, 512),
    "matmul awkward": lambda: data("a", 501, 505) @ data("b", 505, 507),
    "matmul bias relu": lambda: (data("a", 512, 512) @ data("b", 512, 512) + data("c", 512)).relu(),
    "bmm": lambda: data("a", 32, 128, 128) @ data("b", 32, 128, 128),
    "conv2d": lambda: data("x", 8, 64, 32, 32).conv2d(data("w", 64, 64, 3, 3), padding=1),
    "attention": attention,
    "mlp": network,
    "transpose": lambda: data("x", 2048, 2048).permute(1, 0).contiguous(),
    "small chain": lambda: layers(30, 64, 1),
    "layers": layers,
    "branches": branches,
    "block": lambda: block(8.0),
    "convolutions": convolutions,
    "heat": heat,
    "clusters": clusters,
    "logistic": logistic,
    "training": training,
    "fourier": fourier,
    "power": power,
    "blur": blur,
    "blur wide": lambda: blur(7),
    "sobel": sobel,
    "statistics": statistics,
    "embedding": embedding,
    "doubles": doubles,
    "cumulative": lambda: data("x", 256, 4096).cumsum(1),
    "sorted": lambda: data("x", 64, 256).sort(1),
    "histogram": lambda: Tensor.zeros(16, dtype="int64").scatter_add(
        0, (data("x", 65536) * 15.99).cast("int64"), 1),
    "argmax": lambda: data("x", 1024, 1000).argmax(1),
    "distances": lambda: ((data("a", 512, 1, 16) - data("b", 1, 512, 16)) ** 2).sum(-1).sqrt(),
    "polynomial": lambda: sum((data("x", 1 << 18) ** n / n for n in range(1, 6)), Tensor(0.0)),
    "random walk": lambda: Tensor.rand(256, 1024).cumsum(1).max(1),
    "half": lambda: (data("x", 1 << 18, dtype=np.float16) * 2).sum(),
    "integers": lambda: (Tensor(np.ones(1 << 18, np.int64)) % 7).sum(),
    "ranks": ranks,
    "edges": edges,
    "options": options,
    "gated": gated,
    "slash": lambda: data("x", 3, 4).T.reshape(12) * 6,
}  # fmt: skip
"""By name."""


@cache
def compiled(name: str) -> Any:
    """A program of the corpus, compiled once."""
    import compiler

    return compiler.compile(PROGRAMS[name](), compiler.Options(threads=2))
