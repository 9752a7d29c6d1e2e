"""The data of pages have one source: schemas and wire.d.ts are made of it, and are up to date."""

from collections.abc import Callable
from pathlib import Path

import pytest

from svodviz.data.states import QuizState, SidesState, State
from svodviz.quizzes.quiz import STATE_NAMES as OF_QUIZ
from svodviz.widget.explorer import STATE_NAMES as OF_EXPLORER
from svodviz.widget.side_by_side import STATE_NAMES as OF_SIDES
from tools import wire_types
from tools.wire_types import Alias, Record, Schemas, files, read, script, written

SAMPLE = '''
class Box(TypedDict):
    """A box."""

    e: int
    """Its number."""
    name: NotRequired[str]


Row: TypeAlias = tuple[str, int] | tuple[str, int, str]
"""Text, number, and why."""
Sizes: TypeAlias = dict[Digits, Box | None]
Digits: TypeAlias = Annotated[str, "pattern ^[0-9]+$"]
Delta = TypedDict("Delta", {"n+": list[int]}, total=False)
"""Nodes that come."""


class More(Box):
    rows: list[Row]
    """The rows."""
    mark: Literal["=", "~"]
    sizes: Sizes
'''


@pytest.fixture
def types(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> wire_types.Types:
    """Those of the sample."""
    path = tmp_path / "records.py"
    path.write_text(SAMPLE)
    monkeypatch.setattr(wire_types, "SOURCES", (path,))
    return read()


@pytest.mark.parametrize("path", files(), ids=lambda it: it.name)
def test_the_files_are_what_the_types_make(path: Path) -> None:
    found = path.read_text("utf-8") == files()[path]
    assert found, f"{path.name} is stale: run python -m tools.wire_types"


def test_a_change_of_a_type_is_a_change_of_the_files(monkeypatch: pytest.MonkeyPatch) -> None:
    source = wire_types.SOURCES[0]
    text = source.read_text("utf-8")
    changed = text.replace("    left_out: Position\n", "    left_out: Position\n    more: bool\n")
    monkeypatch.setattr(Path, "read_text", _instead_of(source, changed, Path.read_text))
    names = {path.name for path, made in files().items() if path.read_text("utf-8") != made}
    assert names == {"schema.json", "page.schema.json", "wire.d.ts"}


def _instead_of(source: Path, changed: str, read_text: Callable[..., str]) -> Callable[..., str]:
    return lambda path, *more: changed if path == source else read_text(path, *more)


def test_records_are_objects_with_what_they_extend(types: wire_types.Types) -> None:
    schemas = Schemas(types, is_closed=True)
    schemas.reference("More")
    made = schemas.made["More"]
    assert made["required"] == ["e", "rows", "mark", "sizes"]
    assert made["additionalProperties"] is False
    assert made["properties"]["e"] == {"description": "Its number", "type": "integer"}
    assert made["properties"]["mark"] == {"enum": ["=", "~"]}
    assert schemas.made["Row"] == {
        "description": "Text, number, and why", "type": "array", "items": False, "minItems": 2,
        "prefixItems": [{"type": "string"}, {"type": "integer"}, {"type": "string"}],
    }  # fmt: skip
    assert schemas.made["Sizes"] == {
        "type": "object", "additionalProperties": False,
        "patternProperties": {"^[0-9]+$": {"anyOf": [{"$ref": "#/$defs/box"}, {"type": "null"}]}},
    }  # fmt: skip


def test_what_another_schema_describes_is_referred_to(types: wire_types.Types) -> None:
    schemas = Schemas(types, is_closed=True, others={"Box": {}})
    assert schemas.reference("Box") == {"$ref": "urn:svodviz:graph:1#/$defs/box"}
    assert schemas.made == {}


def test_records_are_interfaces(types: wire_types.Types) -> None:
    text = script(types)
    assert "/** A box */\nexport interface Box {\n  e: number;\n  name?: string;\n}" in text
    assert "export type Row = [string, number, string?];" in text
    assert "export type Sizes = Record<string, Box | null>;" in text
    assert '  "n+"?: number[];' in text
    assert "export interface More extends Box {\n  rows: Row[];\n" in text


def test_what_no_schema_can_say_is_refused(types: wire_types.Types) -> None:
    types["Odd"] = Alias("Odd", "", wire_types.ast.parse("set[int]", mode="eval").body)
    with pytest.raises(ValueError, match="no schema for set"):
        Schemas(types, is_closed=True).reference("Odd")
    with pytest.raises(ValueError, match="no TypeScript for set"):
        script(types)


def test_json_is_folded_where_it_fits() -> None:
    assert written({"a": [1, 2]}) == '{"a": [1, 2]}'
    assert max(map(len, written({"a": ["x" * 60, "y" * 60]}).splitlines())) < 100


def test_the_names_of_states_stand_in_one_place() -> None:
    made = {it.name: [each.name for each in it.own]
            for it in read().values() if isinstance(it, Record)}  # fmt: skip
    for state, names in ((State, OF_EXPLORER), (SidesState, OF_SIDES), (QuizState, OF_QUIZ)):
        assert made[state.__name__] == list(names) == list(state.__annotations__)
    assert "llvm_pass" in OF_EXPLORER
