"""A table that forgets what was used least recently."""

import os
import threading
from collections import OrderedDict
from contextlib import nullcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compiler.core.kept import Kept


def test_what_was_used_longest_ago_goes_first() -> None:
    table: Kept[str, int] = Kept(2)
    assert table.keep("a", 1) == 1
    table.keep("b", 2)
    assert table.held("a") == 1
    table.keep("c", 3)
    assert table.items() == [("a", 1), ("c", 3)]
    table.keep("a", 4)
    table.keep("d", 5)
    assert table.items() == [("a", 4), ("d", 5)]
    assert len(table) == 2


def test_nothing_is_forgotten_meanwhile() -> None:
    table: Kept[int, int] = Kept(3)
    with table.all_kept():
        with table.all_kept():
            for each in range(5):
                table.keep(each, each)
        assert [table.held(each) for each in range(5)] == [0, 1, 2, 3, 4]
        table.held(0)
    assert table.items() == [(3, 3), (4, 4), (0, 0)]
    table.keep(5, 5)
    assert table.items() == [(4, 4), (0, 0), (5, 5)]


@given(st.lists(st.tuples(st.sampled_from(["keep", "held", "many"]), st.integers(0, 9)),
                max_size=80), st.integers(1, 5))  # fmt: skip
def test_the_one_used_longest_ago_always_goes(uses: list[tuple[str, int]], bound: int) -> None:
    table: Kept[int, int] = Kept(bound)
    expected: OrderedDict[int, int] = OrderedDict()
    for number, (what, key) in enumerate(uses):
        if what == "held":
            assert table.held(key) == expected.get(key)
            if key in expected:
                expected.move_to_end(key)
            continue
        with table.all_kept() if what == "many" else nullcontext():
            for each in (key, key + 1, key + 2) if what == "many" else (key,):
                table.keep(each, number)
                expected[each] = number
                expected.move_to_end(each)
        while len(expected) > bound:
            expected.popitem(last=False)
        assert table.items() == list(expected.items())


def test_hits_are_counted_and_all_is_forgotten() -> None:
    table: Kept[str, int] = Kept(2)
    assert table.held("a") is None
    table.keep("a", 1)
    assert table.held("a") == table.held("a") == 1
    assert (table.hits, table.misses) == (2, 0)
    table.misses += 1
    table.clear()
    assert (table.hits, table.misses, len(table), table.held("a")) == (0, 0, 0, None)


def test_several_things_in_one_step() -> None:
    table: Kept[str, int] = Kept(8)

    def count() -> None:
        for _ in range(2000):
            with table.lock:
                table.keep("n", (table.held("n") or 0) + 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert table.held("n") == 8000


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_it_is_free_in_a_child() -> None:
    table: Kept[str, int] = Kept(8)
    table.keep("a", 1)
    inside, done = threading.Event(), threading.Event()

    def hold() -> None:
        with table.lock:
            inside.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if table.held("a") == 1 else 1)
    _, status = os.waitpid(child, 0)
    done.set()
    thread.join()
    assert status == 0
