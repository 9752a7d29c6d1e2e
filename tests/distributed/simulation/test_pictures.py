"""Pictures as SVG: they are well formed, and have what they are given."""

import xml.etree.ElementTree as ET

from compiler.distributed.simulation.pictures import Bar, Curve, curves, lanes

SVG = "{http://www.w3.org/2000/svg}"


def parts(picture: str, kind: str) -> list[ET.Element]:
    return list(ET.fromstring(picture).iter(SVG + kind))


def texts(picture: str) -> str:
    return " | ".join(it.text or "" for it in parts(picture, "text"))


def test_a_lane_for_each_worker() -> None:
    bars = [
        Bar(0, "compute", 0.0, 500.0, "k0 <&>", (1, 2), True),
        Bar(1, "receive", 500.0, 900.0, "k0", (), False),
        Bar(7, "compute", 0.0, 900.0, "elsewhere", (), False),
    ]
    picture = lanes({0: "DASK", 1: "DASK:1"}, bars, 1000.0, "a <run>")
    assert len(parts(picture, "rect")) == 1 + 2
    assert "DASK | DASK:1" in texts(picture) and "a <run>" in texts(picture)
    titles = [it.text for it in parts(picture, "title")]
    assert "compute: k0 <&>, 2 items, 500 ns" in titles and "receive: k0, 400 ns" in titles


def test_bars_too_narrow_to_be_seen_are_thinned_out() -> None:
    bars = [Bar(0, "compute", at, at + 0.5, "k", (), False) for at in range(100_000)]
    assert len(parts(lanes({0: "DASK"}, bars, 1e5, "many"), "rect")) < 5000
    assert "none" in texts(lanes({}, [], 0.0, "none"))


def test_a_curve_for_each_cut() -> None:
    rows = [
        Curve("rows", (1, 2, 4), (1.0, 1.9, 3.1), (1.0, 0.95, 0.78), 4, "overhead"),
        Curve("columns", (1, 2, 4), (1.0, 0.5, 0.25), (1.0, 0.25, 0.06)),
        Curve("one", (1,), (1.0,), (1.0,)),
    ]
    picture = curves(rows, "Workers")
    assert len(parts(picture, "polyline")) == 1 + 2 * 3
    assert "rows: overhead takes longer than computing from 4 on" in texts(picture)
    assert "columns: computing takes longer than communication and overhead" in texts(picture)
    assert picture.count('r="9"') == 2
