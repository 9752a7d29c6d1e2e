"""Deltas lead to the graphs they were made from, and what stays holds its place."""

import networkx as nx
import pytest

from svodviz.data.records import Delta, NodeRow, Replay
from svodviz.foundation.entities import Entities
from svodviz.wire.pass_replay import Recorder
from svodviz.wire.scene import Budget
from tests.svodviz.sample import sample
from tests.svodviz.sample_graph import changes_between


class Player:
    """Applies the deltas of a replay as the page does."""

    def __init__(self) -> None:
        self.nodes: set[int] = set()
        self.edges: set[int] = set()
        self.rows: dict[int, NodeRow] = {}

    def play(self, delta: Delta) -> None:
        self.nodes.difference_update(delta.get("n-", ()))
        self.edges.difference_update(delta.get("e-", ()))
        self.nodes.update(delta.get("n+", ()))
        self.edges.update(delta.get("e+", ()))
        self.rows.update((number, row) for number, row in delta.get("set", ()))


def replay_of(records: list) -> tuple[Replay, Entities]:
    entities = Entities()
    recorder = Recorder(entities)
    for record in records:
        recorder.record(record.changes())
    return recorder.wire(Budget()), entities


def test_deltas_replay_every_graph() -> None:
    records = [it for it in sample().passes if it.stage == "graph"]
    replay, entities = replay_of(records)
    player = Player()
    for record, done in zip(records, replay["passes"], strict=True):
        for graph, delta in zip(record.replay(), [done["start"], *done["steps"]], strict=True):
            player.play(delta)
            shown = {entities.names[replay["nodes"][it]["e"]] for it in player.nodes}
            assert shown == set(graph)
            ends = {tuple(replay["edges"][it][:2]) for it in player.edges}
            names = {tuple(entities.names[replay["nodes"][n]["e"]] for n in it) for it in ends}
            assert names == set(graph.edges)


def test_every_graph_fits_its_layout() -> None:
    replay, _ = replay_of([it for it in sample().passes if it.stage == "graph"])
    player = Player()
    for done in replay["passes"]:
        places = {row[0] for row in replay["layouts"][done["layout"]]["places"]}
        routes = {row[0] for row in replay["layouts"][done["layout"]]["routes"]}
        for delta in (done["start"], *done["steps"]):
            player.play(delta)
            assert player.nodes <= places
            assert player.edges <= routes


def test_one_layout_as_long_as_graphs_fit_together() -> None:
    replay, _ = replay_of([it for it in sample().passes if it.stage == "graph"])
    assert len(replay["layouts"]) == 1
    assert {done["layout"] for done in replay["passes"]} == {0}


def test_steps_carry_only_what_changes() -> None:
    replay, _ = replay_of([it for it in sample().passes if it.stage == "graph"])
    merging = replay["passes"][2]
    assert len(merging["start"]) == 0
    assert all(len(step["n+"]) == 1 and len(step["n-"]) == 2 for step in merging["steps"])


def row_of(count: int, first: int) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from((f"graph:{it}", {"op": "add"}) for it in range(first, first + count))
    return graph


def test_a_new_layout_begins_where_little_stays() -> None:
    recorder = Recorder(Entities())
    for graph in (row_of(50, 0), row_of(50, 200), row_of(55, 200)):
        recorder.record(changes_between([graph]))
    wire = recorder.wire(Budget())
    assert [done["layout"] for done in wire["passes"]] == [0, 1, 1]
    assert len(wire["layouts"][0]["places"]) == 50


def test_a_node_that_reads_differently_is_sent_again() -> None:
    before, after = row_of(2, 0), row_of(2, 0)
    after.nodes["graph:1"]["argument"] = "a much longer argument"
    recorder = Recorder(Entities())
    recorder.record(changes_between([before, after]))
    wire = recorder.wire(Budget())
    ((number, row),) = wire["passes"][0]["steps"][0]["set"]
    assert row["arg"] == "a much longer argument"
    assert wire["nodes"][number]["w"] == row["w"]  # the table has room for the largest reading


@pytest.mark.parametrize(("budget", "steps"), [(1000, 9), (25, 1), (1, 0)])
def test_long_passes_are_cut(budget: int, steps: int) -> None:
    recorder = Recorder(Entities())
    recorder.budget = budget
    graphs = (row_of(10, 10 * number) for number in range(10))
    assert recorder.record(changes_between(graphs)) == steps
