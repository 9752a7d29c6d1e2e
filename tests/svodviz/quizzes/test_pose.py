"""Questions about compilations: are they fair, and are their answers true?"""

import re
from collections import Counter
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import networkx as nx
import numpy as np
import pytest

import compiler
from compiler import Options, Tensor, compile
from compiler.core.lineage import lineage
from svodviz.quizzes.drafts import Draft, is_given_away
from svodviz.quizzes.pose import KINDS, pose
from svodviz.quizzes.questions import Choice, Question
from tests.findings.corpus import PROGRAMS
from tests.svodviz.sample import hostile, rich, sample

CORPUS = (
    "softmax", "layernorm", "matmul awkward", "conv2d", "attention", "mlp", "layers", "branches",
    "block", "convolutions", "clusters", "logistic", "training", "statistics", "sobel",
    "embedding", "sorted", "column sum", "integers",
)  # fmt: skip
MOST_ALIKE = 0.5
"""Of the programs that are asked a kind of question, how many may have the same answer."""
ENOUGH = 4
"""Programs: of fewer no share tells anything."""


@cache
def compiled(name: str) -> Any:
    """A program of the corpus, every rewrite recorded."""
    return compile(PROGRAMS[name](), Options(threads=2, trace=True))


@cache
def asked(name: str, seed: int = 0) -> list[Question]:
    return pose(compiled(name), seed=seed)


MAKERS: list[Callable[[], Any]] = [
    sample, rich, hostile, *(partial(compiled, it) for it in CORPUS)]


def of_kind(kind: str) -> list[tuple[Any, Question]]:
    return [(compiled(it), each) for it in CORPUS for each in asked(it) if each.kind == kind]


def right(question: Question) -> str:
    return question.choices[question.answer].text


def wrong(question: Question) -> list[str]:
    return [it.text for n, it in enumerate(question.choices) if n != question.answer]


def target(question: Question) -> str:
    (found,) = [it for it in question.lines if it.startswith("→")]
    return found[1:].strip()


# -- fair ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", MAKERS)
def test_questions_are_sound(make: Callable[[], Any]) -> None:
    found = pose(make(), seed=3)
    assert found and pose(make(), seed=3) == found
    assert len({it.id for it in found}) == len(found)
    for question in found:
        texts = [it.text for it in question.choices]
        assert len(texts) == len(set(texts)) == 4
        assert question.answer in range(4) and 1 <= question.level <= 3
        assert all(it.reply for it in question.choices)
        words = "".join((question.prompt, *question.lines, *texts, *question.why))
        assert not re.search("[\x00-\x1f\u202e]", words)


def tokens(text: str) -> set[str]:
    return set(re.findall(r"[a-z]{2,}|\d[\d,.]*\d|\d", text.lower()))


@pytest.mark.parametrize("name", CORPUS)
def test_no_answer_is_in_its_question(name: str) -> None:
    for question in asked(name):
        told = "\n".join((question.prompt, *question.lines))
        if right(question) in told:
            assert any(it in told for it in wrong(question)), question
        # What only this choice says: whether all of it stands in the question.
        others = [tokens(it) for it in wrong(question)]
        mine = tokens(right(question)) - set().union(*others)
        if mine and mine <= tokens(told):
            assert any(it - tokens(right(question)) <= tokens(told) for it in others), question


@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_has_mostly_one_answer(kind: str) -> None:
    programs = [{right(it) for it in asked(name) if it.kind == kind} for name in CORPUS]
    programs = [it for it in programs if it]
    assert programs, "no program is asked this"
    if len(programs) >= ENOUGH:
        (answer, times), = Counter(it for each in programs for it in each).most_common(1)
        assert times <= MOST_ALIKE * len(programs), answer


def test_each_place_is_right_as_often() -> None:
    places = Counter(it.answer for name in CORPUS for it in asked(name))
    share = [places[it] / places.total() for it in range(4)]
    assert min(share) > 0.17 and max(share) < 0.34


@pytest.mark.parametrize("kind", KINDS)
def test_the_right_one_is_not_the_longest_or_shortest(kind: str) -> None:
    rows = [it for _, it in of_kind(kind)]
    longest = sum(len(right(it)) > max(map(len, wrong(it))) for it in rows)
    shortest = sum(len(right(it)) < min(map(len, wrong(it))) for it in rows)
    if len(rows) >= 2 * ENOUGH:
        assert max(longest, shortest) <= 0.6 * len(rows)


def test_another_seed_asks_something_else() -> None:
    first, second = ({it.id for it in asked("block", seed)} for seed in range(2))
    assert first - second


@pytest.mark.parametrize(("words", "fair"), [
    ("which rule is relu?", False), ("which rule is it?", True), ("relu or exp?", True),
])  # fmt: skip
def test_what_gives_an_answer_away(words: str, fair: bool) -> None:
    draft = Draft(words, [], Choice("relu", ""), [], [])
    assert is_given_away(draft, [Choice("exp", ""), Choice("tanh", "")]) is not fair


def test_kinds_are_chosen() -> None:
    found = pose(compiled("branches"), ("memory", "together"))
    assert list(dict.fromkeys(it.kind for it in found)) == ["memory", "together"]
    with pytest.raises(ValueError, match=r"no question is about \['moon'\]; expected some of"):
        pose(sample(), ("moon",))


# -- true ------------------------------------------------------------------------------------------


def test_a_shape_is_what_numpy_says() -> None:
    for _, question in of_kind("shape"):
        read = re.search(r"\[([\d,]+)\]$", question.lines[-2])
        argument = re.search(r"\(([\d,]+)\)", target(question))
        assert read and argument
        data = np.broadcast_to(0, [int(it) for it in read[1].split(",")])
        axes = tuple(int(it) for it in argument[1].split(","))
        if "permute" in target(question):
            found = data.transpose(axes).shape
        else:  # folding keeps one element of an axis, as a slice of it does
            found = data[tuple(slice(n not in axes or 1) for n in range(data.ndim))].shape
            found = tuple(1 if n in axes else it for n, it in enumerate(data.shape))
        assert right(question) == f"[{','.join(map(str, found))}]"


def test_a_rule_is_the_recorded_one_and_no_other_matches() -> None:
    for made, question in of_kind("rule"):
        where = re.search(r"Pass (\w+) goes over the (?:loops of (\w+)|graph)", question.prompt)
        assert where
        at = (where[1], where[2] or "")
        (record,) = [it for it in made.passes if (it.name, it.kernel) == at and it.matches]
        fired = {it.algebra for it in record.applied if it.before == question.entity}
        assert right(question) in fired
        assert not fired & set(wrong(question))


def outputs(made: Any) -> dict[str, int]:
    """For each value that an item stores its node in the graph: the one that its others lead to."""
    graph, found = made.optimized_graph.to_networkx(), {}
    for place in range(len(made.schedule.items)):
        nodes = {it for call in made.schedule.parents[place] for it in made.kernels.links[call]}
        for node in nodes:
            if not nodes & set(graph.successors(node)):
                found[node] = place
    return found


def test_what_is_written_ends_a_kernel() -> None:
    for made, question in of_kind("written"):
        stored = outputs(made)
        texts = {it.text.partition("   ")[0]: it.entity for it in made.optimized_graph.lines}

        def leads(text: str, made: Any = made, texts: Any = texts, stored: Any = stored) -> bool:
            """True if it is stored, or only moved before it is."""
            graph, node = made.optimized_graph.to_networkx(), texts[text]
            while node not in stored:
                after = list(graph.successors(node))
                if len(after) != 1 or graph.nodes[after[0]]["kind"] != "movement":
                    return False
                (node,) = after
            return True

        assert leads(right(question))
        assert not any(leads(it) for it in wrong(question))


def test_so_many_kernels_are_called() -> None:
    for made, question in of_kind("kernels"):
        ops = made.kernels.to_networkx().nodes(data="op")
        assert right(question) == str(sum(op == "call" for _, op in ops))


def test_a_node_is_computed_where_its_value_is_stored() -> None:
    for made, question in of_kind("kernel"):
        graph, stored = made.optimized_graph.to_networkx(), outputs(made)
        seen, homes, stack = set(), set(), [question.entity]
        while stack:
            node = stack.pop()
            if node in stored:
                homes.add(stored[node])
            elif node not in seen:
                seen.add(node)
                stack.extend(graph.successors(node))
        (home,) = homes
        (written,) = made.schedule.items[home].operation.writes
        shape = ",".join(map(str, written.shape))
        assert right(question).endswith(f"writes {written.name}[{shape}]")


def test_two_that_may_run_at_once_are_joined_by_no_path() -> None:
    for made, question in of_kind("together"):
        graph = nx.DiGraph(made.schedule.to_networkx().edges)

        def is_bound(text: str, graph: Any = graph) -> bool:
            first, then = (f"schedule:{it.split()[0]}" for it in text.split(" and "))
            return first in graph and then in graph and nx.has_path(graph, first, then)

        assert not is_bound(right(question))
        assert all(is_bound(it) for it in wrong(question))


def test_who_is_late_delays_the_end() -> None:
    for made, question in of_kind("critical"):
        costs = {it.item_id: it.cost for it in made.schedule.times}

        def longest(late: int, made: Any = made, costs: Any = costs) -> int:
            ends: dict[int, int] = {}
            for item in made.schedule.items:
                start = max((ends[it] for it in item.depends_on), default=0)
                ends[item.item_id] = start + costs[item.item_id] + (item.item_id == late)
            return max(ends.values())

        assert longest(int(right(question).split()[0])) == longest(-1) + 1
        assert all(longest(int(it.split()[0])) == longest(-1) for it in wrong(question))


def test_the_kernel_that_takes_longest_does() -> None:
    for made, question in of_kind("costly"):
        cost = {str(it.item_id): it.estimated_ns for it in made.schedule.analysis}
        mine = cost[right(question).split()[0]]
        assert all(mine > 1.2 * cost[it.split()[0]] for it in wrong(question))


def lives(made: Any) -> dict[str, tuple[int, int, int, bool]]:
    """Of each buffer of the program: first and last level, bytes, whether it is a result."""
    graph = nx.DiGraph(made.schedule.to_networkx().edges)
    graph.add_nodes_from(made.schedule.entity(it.item_id) for it in made.schedule.items)
    level = {it: n for n, rows in enumerate(nx.topological_generations(graph)) for it in rows}
    found: dict[str, list[int]] = {}
    sizes = {}
    for item in made.schedule.items:
        for buffer in (*item.operation.reads, *item.operation.writes):
            if buffer.unique < 0:
                at = level[made.schedule.entity(item.item_id)]
                found.setdefault(buffer.name, []).append(at)
                sizes[buffer.name] = -(-buffer.nbytes // 64) * 64
    results = {it.name for it in made.schedule.results}
    end = max(level.values())
    return {it: (min(at), end if it in results else max(at), sizes[it], it in results)
            for it, at in found.items()}  # fmt: skip


def test_the_bytes_are_those_alive_at_once() -> None:
    for made, question in of_kind("memory"):
        rows = lives(made).values()
        results = sum(size for *_, size, is_result in rows if is_result)
        most = max(sum(size for first, last, size, is_result in rows
                       if first <= level <= last and not is_result)
                   for level in range(len(made.schedule.items)))  # fmt: skip
        assert right(question) == f"{most + results:,} bytes"


def test_buffers_that_share_live_one_after_the_other() -> None:
    for made, question in of_kind("shared"):
        known = lives(made)
        name = question.prompt.rstrip("?").split()[-1]

        def can(text: str, known: Any = known, name: str = name) -> bool:
            other = text.partition("[")[0]
            if other not in known or known[other][3]:
                return False
            (a, b, *_), (c, d, *_) = known[name], known[other]
            return bool(b < c or d < a)

        assert can(right(question))
        assert not any(can(it) for it in wrong(question))


def test_a_line_runs_as_often_as_the_loops_around_it_say() -> None:
    for _, question in of_kind("count"):
        loops: list[tuple[int, int]] = []
        for line in question.lines:
            depth = len(line[1:]) - len(line[1:].lstrip())
            loops = [it for it in loops if it[0] < depth]
            if line.startswith("→"):
                break
            if found := re.match(r"\s*for \S+ in (\d+)", line):
                loops.append((depth, int(found[1])))
        times = np.prod([it for _, it in loops], dtype=np.int64)
        assert right(question) == f"{times:,} times"


def test_a_tiled_loop_is_what_the_pass_makes() -> None:
    for name in ("matmul awkward", "sobel", "column sum", "attention"):
        for question in (it for it in asked(name) if it.kind == "tile"):
            words = re.search(r"loops of (\w+).*“(tile (\S+) .*)”", question.prompt)
            assert words
            kernel, text, axis = words.groups()
            made = compile(PROGRAMS[name](), Options(threads=2, loops={kernel: text}))
            printed = str(next(it for it in made.loops if it.name == kernel))
            found = set(re.findall(rf"({re.escape(axis)}\.\d) in (\d+)", printed))
            assert set(re.findall(r"(\S+) in (\d+)", right(question))) >= found
            for each in wrong(question):
                assert not set(re.findall(r"(\S+) in (\d+)", each)) >= found


def lines_of(made: Any, question: Question, prefix: str) -> list[str]:
    """The lines of a stage that the entity of a question comes from or leads to."""
    rows = lineage(question.entity, made.stages)
    return [it.text.strip() for it in rows if (it.entity or "").startswith(prefix)]


def test_a_line_of_loops_comes_from_the_users_line() -> None:
    for made, question in of_kind("line"):
        lines = lines_of(made, question, "source:")
        assert right(question) in lines
        assert not set(wrong(question)) & set(lines)


def test_an_instruction_is_made_for_the_line() -> None:
    for made, question in of_kind("instruction"):
        lines = " \n".join(lines_of(made, question, "llvm:"))
        assert f"{right(question)} " in lines or f"{right(question)}(" in lines, question
        for each in wrong(question):
            assert f" {each} " not in lines and f" {each}(" not in lines, question


def test_what_is_as_critical_is_no_wrong_answer() -> None:
    x = Tensor(np.ones((64, 512), np.float32))
    sides = [(x * n).sum(1).contiguous() for n in (2, 3)]
    program = compile(sides[0] + sides[1] * Tensor(np.ones(64, np.float32)).exp().contiguous())
    times = program.schedule.times
    assert sum(it.slack == 0 for it in times) > len(program.schedule.critical_path)
    assert pose(program, ("critical",)) == []  # too few have time to spare for three wrong choices


def test_nothing_is_run_or_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    made = compiled("branches")
    for name in ("load", "run", "values"):
        monkeypatch.setattr(compiler.Compilation, name, None)
    assert pose(made, seed=7)
