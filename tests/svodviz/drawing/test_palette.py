"""Text can be read on every fill, in both themes, and kinds differ by more than colour."""

from itertools import combinations

import pytest

from svodviz.drawing import palette
from svodviz.drawing.palette import BY_NAME, COLOURS, EDGES, Theme, colour, css, edge_of, kind_of
from tests.svodviz.vision import EYES, contrast, distance

GROUNDS = ("page", "panel", "raised", "accent-fill", "related-fill", "added-fill", "removed-fill")
RULES = ("rule", "strong-rule")
LINES = ("edge", "edge-strong", "slack")
WORDS = tuple(it for it in COLOURS if it not in (*GROUNDS, *RULES, *LINES))
"""Every other colour: a new one has to be read on every ground."""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_words_stand_out_from_fills(name: str, theme: Theme) -> None:
    kind = kind_of(name)
    ink = kind.dark if theme == "dark" else kind.light
    assert contrast(colour("text", theme), ink.fill) >= 7
    assert contrast(ink.border, colour("page", theme)) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("ground", GROUNDS)
def test_words_stand_out_from_every_ground(ground: str, theme: Theme) -> None:
    below = {name: contrast(colour(name, theme), colour(ground, theme)) for name in WORDS}
    assert {name: it for name, it in below.items() if it < 4.5} == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [*LINES, "selected", "related", "added", "removed", "critical"])
def test_lines_stand_out_from_the_page(name: str, theme: Theme) -> None:
    assert contrast(colour(name, theme), colour("page", theme)) >= 3


@pytest.mark.parametrize("eye", list(EYES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_states_without_a_sign_differ_for_every_eye(theme: Theme, eye: str) -> None:
    # Only their colour tells a selected node from a related one and from a hit of a search.
    assert distance(colour("selected", theme), colour("related", theme), eye) >= 10
    assert distance(colour("edge-strong", theme), colour("edge", theme), eye) >= 10


@pytest.mark.parametrize("eye", list(EYES))
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_kinds_of_one_outline_differ_for_every_eye(theme: Theme, eye: str) -> None:
    alike = [(a, b) for a, b in combinations(BY_NAME.values(), 2)
             if (a.shape, a.glyph) == (b.shape, b.glyph)]  # fmt: skip
    assert alike
    for a, b in alike:
        one, other = ((it.dark if theme == "dark" else it.light) for it in (a, b))
        seen = [distance(one.fill, other.fill, eye), distance(one.border, other.border, eye)]
        assert max(seen) >= 3, (a.name, b.name)


def test_the_simulated_eyes_see_what_is_known_of_them() -> None:
    # Red and green of equal lightness fall together without green cones, not without blue ones.
    red, green = "#b3554d", "#6a7a2c"
    assert distance(red, green) > 2 * distance(red, green, "no green cones")
    assert distance(red, green, "no blue cones") > 2 * distance(red, green, "no green cones")
    assert distance("#000000", "#ffffff") == pytest.approx(100, abs=0.1)
    for eye in EYES:
        assert distance("#000000", "#ffffff", eye) == pytest.approx(100, abs=0.5)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("state", ["added", "removed", "related", "accent"])
def test_words_stand_out_from_states(state: str, theme: Theme) -> None:
    assert contrast(colour("text", theme), colour(f"{state}-fill", theme)) >= 7


def test_kinds_that_share_a_shape_differ_in_hue_and_words() -> None:
    kinds = list(BY_NAME.values())
    assert len({(it.shape, it.light.fill) for it in kinds}) == len(kinds)
    assert len({it.words for it in kinds}) == len(kinds)
    assert len({it.shape for it in kinds}) == 10
    glyphs = [it.glyph for it in kinds if it.glyph]
    assert len(set(glyphs)) == len(glyphs) > 0


def test_kinds_of_edges_differ_without_colour() -> None:
    assert len({it.dashes for it in EDGES}) == len({it.words for it in EDGES}) == len(EDGES)
    assert edge_of("data").dashes == ""
    assert all(f'[data-edge="{it.name}"]' in css() for it in EDGES)
    assert edge_of("surprise") == edge_of("order")


def test_the_style_sheet_has_every_colour() -> None:
    text = css()
    assert all(text.count(f"--{name}: ") == 2 for name in COLOURS)
    assert all(f'data-kind="{name}"' in text for name in BY_NAME)


def test_unknown_kinds_are_drawn_plainly() -> None:
    assert kind_of("surprise") is palette.OTHER
