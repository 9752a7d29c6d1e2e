"""Functions of a tensor and a number, each a way to use the number, and numbers to call them with.

Nothing here knows how `jit` follows numbers. `python -m tests.replay.number_ways` runs every way
with every sequence and prints each call that differs from the function without `jit`.
"""

import collections
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import json
import math
import operator
import statistics
import struct
import sys
import time
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

import compiler
from compiler import Tensor

Way: TypeAlias = Callable[[Tensor, Any], Any]


class Level(enum.IntEnum):
    """Integers of a class of their own."""

    LOW = 1
    HIGH = 2


@dataclasses.dataclass(frozen=True)
class Setting:
    """An object that is equal where its number is."""

    k: Any


@functools.lru_cache
def _cached(k: Any) -> Any:
    return k * 3


@functools.singledispatch
def _by_class(k: Any) -> Any:
    return 1.0


@_by_class.register
def _(k: int) -> Any:
    return 2.0 * k


@_by_class.register
def _(k: float) -> Any:
    return 3.0 * k


def augmented(x: Tensor, k: Any) -> Tensor:
    k += 1
    k *= 2
    return x * k


def counted(x: Tensor, k: Any) -> Tensor:
    n = 0
    while n < k and n < 5:
        x, n = x + n, n + 1
    return x


def divided(x: Tensor, k: Any) -> Tensor:
    try:
        return x * (10 // k)
    except ZeroDivisionError:
        return -x


def rooted(x: Tensor, k: Any) -> Tensor:
    try:
        if k < 0:
            raise KeyError
        return x / math.sqrt(k - 1)
    except (KeyError, ValueError):
        return -x
    except ZeroDivisionError:
        return x * 0


def looked_up(x: Tensor, k: Any) -> Tensor:
    try:
        return x * [1.0, 2.0][k]
    except (IndexError, TypeError) as error:
        return x * len(str(error))


def raised(x: Tensor, k: Any) -> Tensor:
    if k > 1:
        raise ValueError(k)
    return x * k


def matched(x: Tensor, k: Any) -> Tensor:
    match k:
        case 1:
            return x * 5
        case int(n):
            return x * n
        case float():
            return x * 9
    return x


def stored(x: Tensor, k: Any) -> Tensor:
    held = {"a": k}
    numbers = [k, k + 1]
    space = types.SimpleNamespace(k=(k,))
    return x * (held["a"] + numbers[1] + space.k[0])


def around(x: Tensor, k: Any) -> Tensor:
    def inner(y: Any) -> Any:
        return y * k

    return inner(x) + inner(1)


def written(x: Tensor, k: Any) -> Tensor:
    y = x.clone()
    y[0] = k
    return y


def generated(x: Tensor, k: Any) -> Tensor:
    def numbers() -> Iterator[Any]:
        yield from (n * k for n in range(3))

    return x * sum(numbers())


ARITHMETIC: dict[str, Way] = {
    "x * k": lambda x, k: x * k, "k * x": lambda x, k: k * x, "x + k": lambda x, k: x + k,
    "k - x": lambda x, k: k - x, "x / k": lambda x, k: x / k, "k / x": lambda x, k: k / x,
    "x ** k": lambda x, k: x ** k, "k ** x": lambda x, k: k ** x, "x % k": lambda x, k: x % k,
    "k % x": lambda x, k: k % x, "x // k": lambda x, k: x // k, "k // x": lambda x, k: k // x,
    "2 ** -k": lambda x, k: x * 2 ** -k, "k ** 2": lambda x, k: x * k ** 2,
    "abs(k) ** 0.5": lambda x, k: x * abs(k) ** 0.5, "k // 2": lambda x, k: x * (k // 2),
    "k % 3": lambda x, k: x * (k % 3), "-k": lambda x, k: x * -k, "+k": lambda x, k: x * +k,
    "7 / k": lambda x, k: x * (7 / k), "divmod": lambda x, k: x * sum(divmod(k, 2)),
    "divmod(7, k)": lambda x, k: x * sum(divmod(7, k)), "round": lambda x, k: x * round(k),
    "round(k, 1)": lambda x, k: x * round(k, 1), "floor": lambda x, k: x * math.floor(k),
    "ceil": lambda x, k: x * math.ceil(k), "trunc": lambda x, k: x * math.trunc(k),
    "complex root": lambda x, k: x * abs((-8) ** (k / 3)), "k << 1": lambda x, k: x * (k << 1),
    "k & 1": lambda x, k: x * (k & 1), "~k": lambda x, k: x * ~k,
    "pow(k, 2, 5)": lambda x, k: x * pow(k, 2, 5), "sum": lambda x, k: x * sum([k, k, 1]),
    "prod": lambda x, k: x * math.prod([k, 3]), "both": lambda x, k: x * (k * 2 + 1) / (k - 0.5),
    "reduce": lambda x, k: x * functools.reduce(operator.mul, [k, 2]),
    "accumulate": lambda x, k: x * list(itertools.accumulate([k, 1]))[1],
    "partial": lambda x, k: functools.partial(operator.mul, k)(x),
    "mean": lambda x, k: x * statistics.mean([k, 2]), "augmented": augmented, "stored": stored,
    "around": around, "generated": generated, "divided": divided,
}  # fmt: skip

QUESTIONS: dict[str, Way] = {
    "isinstance int": lambda x, k: x if isinstance(k, int) else -x,
    "isinstance float": lambda x, k: x if isinstance(k, float) else -x,
    "type is int": lambda x, k: x if type(k) is int else -x,
    "type by name": lambda x, k: x * len(type(k).__name__),
    "__class__": lambda x, k: x if k.__class__ is int else -x,
    "type as key": lambda x, k: x * {int: 2, float: 3}[type(k)],
    "singledispatch": lambda x, k: x * _by_class(k), "match": matched,
    "k > 1": lambda x, k: x if k > 1 else -x, "if k": lambda x, k: x if k else -x,
    "k and 3": lambda x, k: x * (k and 3), "0 < k < 3": lambda x, k: x if 0 < k < 3 else -x,
    "min": lambda x, k: x * min(k, 2), "max": lambda x, k: x * max(k, 2),
    "sorted": lambda x, k: x * sorted([k, 1, 2])[0],
    "k is None": lambda x, k: x if k is None else -x,
    "in a list": lambda x, k: x if k in [1, 2] else -x,
    "in a set": lambda x, k: x if k in {1, 2} else -x,
    "in a range": lambda x, k: x if k in range(2) else -x, "hash": lambda x, k: x * (hash(k) % 7),
    "key": lambda x, k: x * {0: 1.0, 1: 5.0, 2: 6.0}.get(k, 77),
    "cached": lambda x, k: x * _cached(k),
    "equal objects": lambda x, k: x if Setting(k) == Setting(1) else -x,
    "hasattr": lambda x, k: x if hasattr(k, "bit_length") else -x,
    "hasattr __array__": lambda x, k: x if hasattr(k, "__array__") else -x,
    "is_integer": lambda x, k: x if float(k).is_integer() else -x,
    "isinf": lambda x, k: x * math.isinf(k),
    "isscalar": lambda x, k: x if np.isscalar(k) else -x, "counted": counted, "rooted": rooted,
    "raised": raised, "looked up": looked_up,
}  # fmt: skip

CONVERSIONS: dict[str, Way] = {
    "int": lambda x, k: x * int(k),
    "float": lambda x, k: x * float(k),
    "bool": lambda x, k: x * bool(k),
    "complex": lambda x, k: x * abs(complex(k)), "str": lambda x, k: x * len(str(k)),
    "repr": lambda x, k: x * len(repr(k)), "f-string": lambda x, k: x * len(f"{k:>5}"),
    "percent": lambda x, k: x * len("%d" % k),  # noqa: UP031
    "format": lambda x, k: x * len(format(k, ".3f")),
    "[0] * k": lambda x, k: x * len([0] * k), "text * k": lambda x, k: x * len(k * "ab"),
    "range": lambda x, k: x * sum(range(k)), "list[k]": lambda x, k: x * [1.0, 5.0, 7.0, 9.0][k],
    "list[:k]": lambda x, k: x * len([1, 2, 3, 4][:k]), "1 << k": lambda x, k: x * (1 << k),
    "round to k": lambda x, k: x * round(2.3456, k), "sqrt": lambda x, k: x * math.sqrt(abs(k)),
    "cos": lambda x, k: x * math.cos(k), "gcd": lambda x, k: x * math.gcd(k, 6),
    "copysign": lambda x, k: x * math.copysign(1.0, k), "fsum": lambda x, k: x * math.fsum([k, 1]),
    "numpy.sqrt": lambda x, k: x * np.sqrt(abs(k)), "numpy.float32": lambda x, k: x * np.float32(k),
    "numpy.array": lambda x, k: x * np.array([k, 1, 2]),
    "numpy.full": lambda x, k: x * np.full(3, k),
    "array * k": lambda x, k: x * (np.ones(3) * k), "k * array": lambda x, k: x * (k * np.ones(3)),
    "scalar * k": lambda x, k: x * (np.float64(2) * k),
    "numpy.clip": lambda x, k: x * np.clip(k, 0, 2),
    "numpy.where": lambda x, k: x * np.where(np.ones(3, bool), k, 2),
    "dtype": lambda x, k: x * np.asarray(k).dtype.itemsize,
    "json": lambda x, k: x * len(json.dumps([k])),
    "Decimal": lambda x, k: x * float(decimal.Decimal(k)),
    "Fraction": lambda x, k: x * float(fractions.Fraction(k) / 3),
    "Fraction + k": lambda x, k: x * float(fractions.Fraction(1, 3) + k),
    "timedelta": lambda x, k: x * datetime.timedelta(seconds=k).total_seconds(),
    "pack": lambda x, k: x * len(struct.pack("d", k)), "copy": lambda x, k: x * copy.copy(k),
    "deepcopy": lambda x, k: x * copy.deepcopy([k])[0], "real": lambda x, k: x * k.real,
    "bit_length": lambda x, k: x * k.bit_length(),
    "counter": lambda x, k: x * collections.Counter([k])[1],
    "a result": lambda x, k: (x, k * 2), "itself": lambda x, k: (x * k, k),
    "results": lambda x, k: {"x": x, "k": k + 1, "t": (k, [k])}, "a set": lambda x, k: (x, {k}),
    "a text": lambda x, k: (x, f"{k}"),
}  # fmt: skip

OPERATIONS: dict[str, Way] = {
    "x < k": lambda x, k: x < k, "k < x": lambda x, k: k < x, "x == k": lambda x, k: x == k,
    "k != x": lambda x, k: k != x, "where": lambda x, k: (x > k).where(k, x),
    "clip": lambda x, k: x.clip(0, k), "maximum": lambda x, k: x.maximum(k),
    "masked_fill": lambda x, k: x.masked_fill(x > 2, k), "mulacc": lambda x, k: x.mulacc(k, 2),
    "lerp": lambda x, k: x.lerp(x * 2, k), "leaky_relu": lambda x, k: x.leaky_relu(k),
    "dropout": lambda x, k: x.dropout(k, False), "layernorm": lambda x, k: x.layernorm(-1, k),
    "Tensor": lambda x, k: x + Tensor(k), "list": lambda x, k: x + Tensor([k, 1, 2]),
    "full": lambda x, k: x + Tensor.full((2, 3), k),
    "linspace": lambda x, k: Tensor.linspace(0, k, 3) + x,
    "float32": lambda x, k: x.cast("float32") * k, "int8": lambda x, k: x.cast("int8") + k,
    "int8 / k": lambda x, k: x.cast("int8") / k, "int8 < k": lambda x, k: x.cast("int8") < k,
    "uint8": lambda x, k: x.cast("uint8") * k, "float16": lambda x, k: x.cast("float16") * k,
    "bool": lambda x, k: (x > 2) + k,
    "written": written,
    "pad value": lambda x, k: x.pad(((0, 0), (1, 0)), k),
    "norm": lambda x, k: x.norm(k, 0), "var": lambda x, k: x.var(0, correction=k),
    "quantile": lambda x, k: x.quantile(k, 0),
}  # fmt: skip

PLACES: dict[str, Way] = {
    "sum": lambda x, k: x.sum(k),
    "softmax": lambda x, k: x.softmax(axis=k),
    "x[k]": lambda x, k: x[k],
    "x[..., k]": lambda x, k: x[..., k],
    "x[:, :k]": lambda x, k: x[:, :k],
    "x[:, -k]": lambda x, k: x[:, -k],
    "roll": lambda x, k: x.roll(k, 1), "pad": lambda x, k: x.pad(((0, 0), (k, 0))),
    "repeat": lambda x, k: x.repeat(k, 1), "unsqueeze": lambda x, k: x.unsqueeze(k),
    "tril": lambda x, k: x.tril(k),
    "cumsum": lambda x, k: x.cumsum(k),
    "topk": lambda x, k: x.topk(k)[0],
    "stack": lambda x, k: x.stack(x, axis=k), "chunk": lambda x, k: x.chunk(k, 1)[0],
    "one_hot": lambda x, k: Tensor([0, 1]).one_hot(k),
    "ones": lambda x, k: Tensor.ones(k).sum() + x,
    "eye": lambda x, k: Tensor.eye(k).sum() + x, "arange": lambda x, k: Tensor.arange(k).sum() + x,
    "reshape": lambda x, k: x.reshape(k, -1),
}  # fmt: skip
"""Ways that need a small integer."""

WAYS: dict[str, Way] = {
    f"{group}: {name}": way
    for group, ways in (
        ("arithmetic", ARITHMETIC), ("question", QUESTIONS), ("conversion", CONVERSIONS),
        ("operation", OPERATIONS), ("place", PLACES),
    )
    for name, way in ways.items()
}  # fmt: skip

SEQUENCES: dict[str, Sequence[Any]] = {
    "integers": (1, 2, 3, 2, 1, 0, -1),
    "floats": (0.5, 1.0, 1.5, 2.0, 0.25),
    "types": (1, 1.0, 2, 2.5, True, 1, False, 0.0),
    "zeros": (1.0, 0.0, -0.0, 0.0, -0.0),
    "not finite": (1.0, math.nan, math.inf, -math.inf, math.nan, 2.0),
    "float32": (np.float32(0.1), np.float32(0.2), np.float32(0.3), np.float64(0.1)),
    "int8": (np.int8(1), np.int8(2), np.int8(100), np.int64(2)),
    "classes": (Level.LOW, Level.HIGH, 1, 2),
    "large": (1, 2**40, 2**63, 300, -300, 127),
}
_LONG = ("conversion: [0] * k", "conversion: text * k", "conversion: range", "conversion: 1 << k",
         "arithmetic: 2 ** -k", "question: in a range", "conversion: round to k")  # fmt: skip


def pairs() -> Iterator[tuple[str, str]]:
    """Each way with each sequence: large numbers without ways that take as much memory or time."""
    for way, sequence in itertools.product(WAYS, SEQUENCES):
        if sequence != "large" or not (way in _LONG or way.startswith("place")):
            yield way, sequence


def differences(way: str, sequence: str) -> list[str]:
    """The calls that give something else with `jit` than without."""
    function = WAYS[way]
    captured = compiler.jit(function)
    data = np.arange(6.0).reshape(2, 3) + 1
    found = []
    for k in SEQUENCES[sequence]:
        _cached.cache_clear()
        plain, made = _result(function, Tensor(data), k), _result(captured, Tensor(data), k)
        if not _is_close(plain, made):
            found.append(f"{way} of {k!r} ({sequence}): {made} instead of {plain}")
    return found


def _result(function: Way, x: Tensor, k: Any) -> Any:
    try:
        return _shown(function(x, k))
    except Exception as error:
        return type(error).__name__


def _shown(value: Any) -> Any:
    match value:
        case Tensor():
            array = value.numpy()
            return str(array.dtype), array.shape, array.reshape(-1).tolist()
        case dict():
            return {key: _shown(each) for key, each in value.items()}
        case tuple() | list():
            return [type(value).__name__, *map(_shown, value)]
    return type(value).__name__, repr(value)


def _is_close(plain: Any, made: Any) -> bool:
    if repr(plain) == repr(made):
        return True
    if not isinstance(plain, tuple) or len(plain) < 3 or plain[:2] != made[:2]:
        return False
    near = 1e-12 if plain[0] == "float64" else 1e-3
    return np.allclose(plain[2], made[2], rtol=near, equal_nan=True)


def main() -> None:
    """Run every pair, or every n-th: `python -m tests.replay.number_ways [n]`."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    step = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    begin, count, bad = time.monotonic(), 0, 0
    for way, sequence in itertools.islice(pairs(), 0, None, step):
        found = differences(way, sequence)
        count, bad = count + 1, bad + len(found)
        print(*found, sep="\n", end="\n" if found else "", flush=True)
    minutes = (time.monotonic() - begin) / 60
    print(f"{len(WAYS)} ways, {count} with a sequence, {bad} calls differ, {minutes:.1f} minutes")


if __name__ == "__main__":
    main()
