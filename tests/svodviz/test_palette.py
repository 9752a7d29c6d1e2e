"""Text can be read on every fill, in both themes, and kinds differ by more than colour."""

import pytest

from svodviz import palette
from svodviz.palette import BY_NAME, COLOURS, EDGES, Theme, colour, css, edge_of, kind_of


def luminance(text: str) -> float:
    parts = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4
                        for it in parts)  # fmt: skip
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast ratio of WCAG 2."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", list(BY_NAME))
def test_words_stand_out_from_fills(name: str, theme: Theme) -> None:
    kind = kind_of(name)
    ink = kind.dark if theme == "dark" else kind.light
    assert contrast(colour("text", theme), ink.fill) >= 7
    assert contrast(ink.border, colour("page", theme)) >= 3


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("name", [
    "text", "soft", "faint", "accent", "added", "removed", "critical", "related", "keyword",
    "number", "string", "comment", "register",
])  # fmt: skip
def test_words_stand_out_from_the_page(name: str, theme: Theme) -> None:
    for ground in ("page", "panel"):
        assert contrast(colour(name, theme), colour(ground, theme)) >= 4.5


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
    assert len(set(glyphs)) == len(glyphs) == 11


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
