"""Deltas lead to the frames they were made from, and what stays holds its place."""

import networkx as nx
import pytest

from svodviz.data.records import Delta, NodeRow
from svodviz.data.records import Film as FilmRow
from svodviz.foundation.entities import Entities
from svodviz.wire.frames import Film
from svodviz.wire.scene import Budget
from tests.svodviz.sample import sample
from tests.svodviz.sample_graph import changes_between


class Player:
    """Replays a film as the page does."""

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


def film_of(records: list) -> tuple[FilmRow, Entities]:
    entities = Entities()
    film = Film(entities)
    for record in records:
        film.shoot(record.changes())
    return film.wire(Budget()), entities


def test_deltas_replay_every_frame() -> None:
    records = [it for it in sample().passes if it.stage == "graph"]
    film, entities = film_of(records)
    player = Player()
    for record, shot in zip(records, film["passes"], strict=True):
        for frame, delta in zip(record.frames(), [shot["start"], *shot["steps"]], strict=True):
            player.play(delta)
            shown = {entities.names[film["nodes"][it]["e"]] for it in player.nodes}
            assert shown == set(frame)
            ends = {tuple(film["edges"][it][:2]) for it in player.edges}
            names = {tuple(entities.names[film["nodes"][n]["e"]] for n in it) for it in ends}
            assert names == set(frame.edges)


def test_every_frame_fits_its_layout() -> None:
    film, _ = film_of([it for it in sample().passes if it.stage == "graph"])
    player = Player()
    for shot in film["passes"]:
        places = {row[0] for row in film["layouts"][shot["layout"]]["places"]}
        routes = {row[0] for row in film["layouts"][shot["layout"]]["routes"]}
        for delta in (shot["start"], *shot["steps"]):
            player.play(delta)
            assert player.nodes <= places
            assert player.edges <= routes


def test_one_layout_as_long_as_frames_fit_together() -> None:
    film, _ = film_of([it for it in sample().passes if it.stage == "graph"])
    assert len(film["layouts"]) == 1
    assert {shot["layout"] for shot in film["passes"]} == {0}


def test_steps_carry_only_what_changes() -> None:
    film, _ = film_of([it for it in sample().passes if it.stage == "graph"])
    merging = film["passes"][2]
    assert len(merging["start"]) == 0
    assert all(len(step["n+"]) == 1 and len(step["n-"]) == 2 for step in merging["steps"])


def row_of(count: int, first: int) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from((f"graph:{it}", {"op": "add"}) for it in range(first, first + count))
    return graph


def test_a_new_layout_begins_where_little_stays() -> None:
    film = Film(Entities())
    for frame in (row_of(50, 0), row_of(50, 200), row_of(55, 200)):
        film.shoot(changes_between([frame]))
    wire = film.wire(Budget())
    assert [shot["layout"] for shot in wire["passes"]] == [0, 1, 1]
    assert len(wire["layouts"][0]["places"]) == 50


def test_a_node_that_reads_differently_is_sent_again() -> None:
    before, after = row_of(2, 0), row_of(2, 0)
    after.nodes["graph:1"]["argument"] = "a much longer argument"
    film = Film(Entities())
    film.shoot(changes_between([before, after]))
    wire = film.wire(Budget())
    ((number, row),) = wire["passes"][0]["steps"][0]["set"]
    assert row["arg"] == "a much longer argument"
    assert wire["nodes"][number]["w"] == row["w"]  # the table has room for the largest reading


@pytest.mark.parametrize(("budget", "steps"), [(1000, 9), (25, 1), (1, 0)])
def test_long_passes_are_cut(budget: int, steps: int) -> None:
    film = Film(Entities())
    film.budget = budget
    frames = (row_of(10, 10 * number) for number in range(10))
    assert film.shoot(changes_between(frames)) == steps
