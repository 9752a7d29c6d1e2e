"""Each addition has all the places of its recipe, and one that lacks a place is named with it."""

import pytest

from tests.recipes import RECIPES, ROOT, missing

BY_KIND = {recipe.kind: recipe for recipe in RECIPES}


def test_every_addition_has_its_places() -> None:
    lines = missing()
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("kind", BY_KIND)
def test_a_new_addition_lacks_all_of_them(kind: str) -> None:
    """A name that is nowhere: each place of the recipe is reported, so each check can fail."""
    recipe = BY_KIND[kind]
    assert recipe.missing("graph/brand_new") == [
        it.words.replace("{}", "graph/brand_new") for it in recipe.places
    ]
    assert list(recipe.names())


def test_contributing_has_each_recipe() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    rows = [line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| a")]
    assert rows == [
        "an elementwise operation", "a pass", "a finding", "a view", "a layer", "an optimizer",
        "a question of a quiz", "an operator of an importer",
    ]  # fmt: skip
