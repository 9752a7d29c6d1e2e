"""TfIdfVectorizer: counts of n-grams."""

from typing import Any

import numpy as np

from compiler.imported.onnx.call import Call, operator
from compiler.tensor import Tensor

Grams = list[list[int]]


@operator("TfIdfVectorizer")
def count_grams(call: Call, x: Tensor) -> Tensor:
    """The counts of each known n-gram in each row, for [rows, n] or [n] integers; elements are
    adjacent or up to a number of skipped elements apart; optionally weighted."""
    rows = x.reshape(1, -1) if x.ndim < 2 else x
    places = call["ngram_indexes"]
    whole = Tensor.zeros(rows.shape[0], max(places) + 1, dtype="float32")
    for grams, columns in _by_length(call):
        skips = 1 if len(grams[0]) == 1 else int(call["max_skip_count"]) + 1
        for distance in range(1, skips + 1):
            if (some := _counts(rows, grams, distance)) is not None:
                to = np.zeros((len(grams), whole.shape[1]), np.float32)
                to[np.arange(len(grams)), columns] = 1
                whole = whole.add(some.matmul(Tensor(to)))
    counts = _weighted(call, whole)
    return counts.reshape(-1) if x.ndim < 2 else counts


def _by_length(call: Call) -> list[tuple[Grams, Any]]:
    """The n-grams of each requested length, and the columns for their counts."""
    if "pool_int64s" not in call.attributes:
        raise call.refused("only sequences of whole numbers are supported", "pool_strings",
                           "pool_int64s")  # fmt: skip
    pool, starts, columns = call["pool_int64s"], call["ngram_counts"], call["ngram_indexes"]
    groups, first = [], 0
    for length, (begin, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True), 1):
        grams = [list(pool[at : at + length]) for at in range(begin, end, length)]
        if grams and call["min_gram_length"] <= length <= call["max_gram_length"]:
            groups.append((grams, np.array(columns[first : first + len(grams)])))
        first += len(grams)
    return groups


def _counts(rows: Tensor, grams: Grams, distance: int) -> Tensor | None:
    """[rows, grams]: the counts for n-grams whose elements are `distance` apart."""
    length = len(grams[0])
    starts = rows.shape[1] - (length - 1) * distance
    if starts < 1:
        return None
    is_found: Tensor | None = None
    for number in range(length):
        begin = number * distance
        wanted = Tensor(np.array([gram[number] for gram in grams])).cast(rows.dtype)
        is_here = rows._part(1, begin, begin + starts).unsqueeze(2).eq(wanted)
        is_found = is_here if is_found is None else is_found.logical_and(is_here)
    assert is_found is not None
    return is_found.sum(1).float()


def _weighted(call: Call, counts: Tensor) -> Tensor:
    mode, weights = call["mode"], call.get("weights")
    marks = counts.gt(0).float() if mode == "IDF" else counts
    if mode == "TF" or weights is None:
        return marks
    return marks.mul(Tensor(np.array(weights, np.float32)))
