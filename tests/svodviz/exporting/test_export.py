"""Everything that leaves the notebook can be read by the programs it is for."""

import base64
import gzip
import io
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pygraphviz
import pytest

from compiler import Tensor, compile
from svodviz.exporting.export import FORMATS, export_html, export_stage
from svodviz.exporting.picture import MOST_NODES, still, svg
from svodviz.foundation.stages import BY_ID, WITH_GRAPHS
from svodviz.wire.payload import wire
from svodviz.wire.refine import pictured
from tests.svodviz.sample import HOSTILE, as_json, hostile, large, sample

STAGES = [it for it in WITH_GRAPHS if it != "source"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("make", [sample, hostile])
def test_svg_is_xml_with_every_node(make: Any, stage: str) -> None:
    compilation = make()
    read = ET.fromstring(export_stage(compilation, stage, "svg"))
    nodes = nx.compose_all(it.stage.to_networkx() for it in units_of(compilation, stage))
    groups = [it for it in read.iter() if it.tag.endswith("}g")]
    assert len(groups) == len(nodes) + 1
    assert not [it for it in read.iter() if it.tag.endswith(("script", "image", "}img"))]


def units_of(compilation: Any, stage: str) -> list:
    from svodviz.foundation.stages import units

    return [it for it in units(compilation, BY_ID[stage]) if it.name != "after passes"]


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("make", [sample, hostile])
def test_graphml_reads_back(make: Any, stage: str) -> None:
    text = export_stage(make(), stage, "graphml")
    read = nx.read_graphml(io.BytesIO(text.encode()))
    nodes = nx.compose_all(pictured(it.stage) for it in units_of(make(), stage))
    assert set(read) == set(nodes)
    assert set(read.edges) == set(nodes.edges)


def test_lines_of_code_begin_at_the_left_in_dot() -> None:
    made = compile(Tensor(np.ones((64, 64), np.float32)).sum(1))
    code = pygraphviz.AGraph(string=export_stage(made, "asm", "dot"))
    labels = [it.attr["label"] for it in code.nodes()]
    assert labels and all(it.endswith("\\l") and "\\n" not in it for it in labels)
    graph = pygraphviz.AGraph(string=export_stage(made, "graph", "dot"))
    assert not any("\\l" in it.attr["label"] for it in graph.nodes())


@pytest.mark.parametrize("make", [sample, hostile])
def test_dot_is_read_by_graphviz(make: Any) -> None:
    read = pygraphviz.AGraph(string=export_stage(make(), "graph", "dot"))
    assert len(read.nodes()) == 33
    assert len(read.edges()) == make().graph.graph.number_of_edges()


@pytest.mark.parametrize(("make", "count"), [(sample, 4), (hostile, 10)])
def test_json_holds_the_graph(make: Any, count: int) -> None:
    read = json.loads(export_stage(make(), "schedule", "json"))
    assert (read["format"], read["version"]) == ("svodviz-graph", 1)
    assert [it["entity"] for it in read["nodes"]] == [f"schedule:{it}" for it in range(count)]
    assert read["nodes"][0]["cost"]["est_ns"] in (9100, 4000)
    assert len(read["schedule"]["items"]) == count


def test_text_of_one_kernel_or_all() -> None:
    plain = sample()
    assert export_stage(plain, "loops", "txt", kernel="k1") == f"{plain.loops[1]}\n"
    assert export_stage(plain, "loops", "txt").count("store") == 4
    assert export_stage(plain, "graph", "txt") == f"{plain.graph}\n"
    after = export_stage(plain, "graph", "txt", kernel="after passes")
    assert after == f"{plain.optimized_graph}\n"


@pytest.mark.parametrize(("stage", "form", "kernel", "words"), [
    ("nowhere", "svg", "", "no stage 'nowhere'"),
    ("passes", "svg", "", "no stage 'passes'"),
    ("graph", "png", "", "no format 'png'; expected one of"),
    ("loops", "svg", "k9", "no kernel 'k9' in stage 'loops'; expected one of k0, k1, k2, k3"),
])  # fmt: skip
def test_wrong_wishes(stage: str, form: str, kernel: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        export_stage(sample(), stage, form, kernel=kernel)


def test_every_format_is_written() -> None:
    assert all(export_stage(sample(), "kernels", form) for form in FORMATS)


def test_the_page_is_one_small_file(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    page = export_html(wire(sample()), path, picture=still(sample()))
    assert path.read_text("utf-8") == page
    assert len(page.encode()) < 1_000_000
    outside = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?(https?:|//)""", page)
    assert not outside


def test_large_data_travels_packed() -> None:
    data = wire(large(3000))
    page = export_html(data)
    packed = re.search(r'data-packed="gzip">([^<]*)<', page)
    assert packed
    assert json.loads(gzip.decompress(base64.b64decode(packed[1]))) == as_json(data)
    assert len(page) < 1_000_000


def test_the_same_page_every_time() -> None:
    data = wire(large(2000))
    assert export_html(data) == export_html(data)


def test_a_page_of_hostile_names_holds_only_its_own_elements() -> None:
    page = export_html(wire(hostile()), picture=still(hostile()))
    own = export_html(wire(sample()), picture=still(sample()))
    assert page.count("<script") == own.count("<script") == 3
    assert page.count("</script") == 3
    assert f"<title>{'&lt;/script&gt;'}" in page


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("stage", ["graph", "kernels", "schedule"])
def test_still_pictures(theme: Any, stage: str) -> None:
    graph = getattr(sample(), stage).to_networkx()
    read = ET.fromstring(svg(graph, theme, title=HOSTILE[0]))
    words = [it.text for it in read.iter() if it.tag.endswith("}text")]
    assert words[0] == HOSTILE[0]
    assert ("◆" in words) == (stage == "schedule")


def test_a_graph_too_large_for_a_picture_gives_way() -> None:
    assert "network.py: graph as written" in still(sample())
    assert "large.py: kernel graph" in still(large(MOST_NODES + 1))


def test_a_program_without_kernels_has_no_stage_of_kernels() -> None:
    found = compile(Tensor([1.0, 2.0]))
    assert export_stage(found, "graph", "txt")
    with pytest.raises(ValueError, match="the program has no kernel"):
        export_stage(found, "loops", "svg")
