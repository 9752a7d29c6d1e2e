"""Questions about compilations, and whether their answers are true."""

import re
from typing import Any

import numpy as np
import pytest

from compiler import Options, Tensor, compile
from svodviz.quizzes.pose import MOST_CHOICES, NONE_OF_THEM, pose
from svodviz.quizzes.questions import KINDS, Question
from tests.svodviz.comparing.test_compare import softmax
from tests.svodviz.sample import hostile, rich, sample

LOOPS = {"k0": "tile i0 16 peel; tile i1 8; vectorize i1.1"}


def branches(**options: Any) -> Any:
    """Two layers beside each other, and one that reads both."""
    def weights(name: str, *shape: int) -> Tensor:
        return Tensor(np.ones(shape, np.float32), name=name)

    x = weights("x", 256, 128)
    wide = (x @ weights("w1", 128, 64)).relu()
    narrow = (x @ weights("w2", 128, 16)).tanh()
    y = (wide @ weights("w3", 64, 10) + narrow @ weights("w4", 16, 10)).softmax(axis=1)
    return compile(y, Options(trace=True, **options))


MAKERS = [sample, rich, hostile, branches, lambda: compile(softmax(more=True)),
          lambda: branches(loops="plain")]  # fmt: skip


def right(question: Question) -> str:
    return question.choices[question.answer].text


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", range(4))
def test_questions_are_sound(make: Any, seed: int) -> None:
    found = pose(make(), seed=seed)
    assert found
    for question in found:
        texts = [it.text for it in question.choices]
        assert 2 <= len(texts) <= MOST_CHOICES
        assert len(set(texts)) == len(texts)
        assert question.answer in range(len(texts))
        assert all(it.reply for it in question.choices)
        words = "".join((question.prompt, *question.lines, *texts, *question.why))
        assert not re.search("[\x00-\x1f\u202e]", words)


@pytest.mark.parametrize("make", MAKERS)
def test_the_same_seed_asks_the_same(make: Any) -> None:
    assert pose(make(), seed=3) == pose(make(), seed=3)


def test_kinds_are_chosen() -> None:
    assert [it.kind for it in pose(branches(), ("critical", "kernels"))] == ["critical", "kernels"]
    with pytest.raises(ValueError, match=r"no question is about \['moon'\]; expected some of"):
        pose(sample(), ("moon",))
    assert {it.kind for it in pose(branches())} == set(KINDS)


@pytest.mark.parametrize("make", [branches, lambda: compile(softmax(more=True))])
def test_the_rule_is_the_recorded_one(make: Any) -> None:
    compilation = make()
    found = pose(compilation, ("rule",))
    for question in found:
        position = re.search(r"rewrite (\d+) of", question.prompt)
        name = re.search(r"Pass (\w+) goes over (?:the loops of )?(\w+|the graph)", question.prompt)
        assert position and name
        kernel = "" if name[2] == "the" or "graph" in name[2] else name[2]
        record = next(it for it in compilation.passes
                      if (it.name, it.kernel) == (name[1], kernel) and it.rewrites)  # fmt: skip
        fired = record.rewrites[int(position[1]) - 1]
        assert right(question) == f"{fired.rule}: {fired.algebra}"
        target = [it for it in question.lines if it.startswith("→ ")]
        assert len(target) == 1
        assert question.entity == fired.before


def test_a_rule_says_what_it_makes() -> None:
    question = pose(compile(softmax(more=True)), ("rule",))[0]
    assert right(question) == "relu: relu(x) = max(x, 0)"
    assert "= max %9 " in question.choices[question.answer].reply


def test_the_number_of_kernels() -> None:
    question = pose(branches(), ("kernels",))[0]
    assert right(question) == "4"
    numbers = [int(it.text) for it in question.choices]
    assert numbers == sorted(numbers)
    assert any(it.startswith("in memory: ") for it in question.why)


def test_the_critical_item() -> None:
    compilation = branches(loops="plain")
    question = pose(compilation, ("critical",))[0]
    times = compilation.schedule.times
    for choice in question.choices:
        slack = times[int(choice.text.split()[0])].slack
        assert (slack == 0) == (choice.text == right(question))
    assert len(question.lines) == len(compilation.schedule.items)
    assert len({it.index("takes") for it in question.lines}) == 1  # in columns
    waits = [it for it in compilation.schedule.dependencies if it.consumer == 2]
    assert all(f"{it.producer} " in question.lines[2].partition("waits for")[2] for it in waits)


def test_a_chain_has_no_item_to_choose() -> None:
    assert pose(compile(softmax()), ("critical",)) == []


@pytest.mark.parametrize("loops", ["auto", "plain", LOOPS])
def test_the_lanes_are_those_of_the_printed_loops(loops: Any) -> None:
    compilation = branches(loops=loops)
    found = pose(compilation, ("vectorizes",))
    assert found
    for question in found:
        kernel = re.search(r"Kernel (\w+)", question.prompt)[1]  # type: ignore[index]
        text = str(next(it for it in compilation.loops if it.name == kernel))
        lanes = re.findall(r"^ *(\S+) in .*\blanes$", text, re.MULTILINE)
        for choice in question.choices:
            is_right = choice.text == right(question)
            assert is_right == (choice.text in lanes or (choice.text == NONE_OF_THEM and not lanes))
        assert "lanes" not in "".join(question.lines)
