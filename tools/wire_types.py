"""Writes what describes the data of pages, from the types in svodviz/data/records.py and its like.

    python -m tools.wire_types            writes the three files
    python -m tools.wire_types --check    says which of them would change; exit code 1 if any

    docs/page.schema.json   of what pages and saved notebooks carry
    docs/schema.json        of a stage that is exported as JSON
    wire.d.ts               of what TypeScript's checker knows: the part behind the line `BEHIND`;
                            what stands before it is written by hand

The files are read as text, not loaded: names of types and docstrings behind fields are what the
schemas say.
"""

import ast
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tools.generated import ROOT, write

SOURCES = tuple(
    next((ROOT / "svodviz").rglob(f"{name}.py"))
    for name in ("records", "answers", "pages", "states")
)
BEHIND = "// -- made by python -m tools.wire_types from svodviz/data/records.py, which says more --"
WIDEST = 100
Schema: TypeAlias = dict[str, object]


@dataclass(frozen=True)
class Field:
    """A field of a record; an optional one may be missing."""

    name: str
    kind: ast.expr
    is_optional: bool
    words: str = ""


@dataclass
class Record:
    """A TypedDict, with the fields of those that it extends."""

    name: str
    words: str
    bases: list[str] = field(default_factory=list)
    own: list[Field] = field(default_factory=list)


@dataclass(frozen=True)
class Alias:
    """A name for another type."""

    name: str
    words: str
    kind: ast.expr


Types: TypeAlias = dict[str, Record | Alias]


# -- reading ---------------------------------------------------------------------------------------


def read() -> Types:
    """Every type of the sources, in their order."""
    types: Types = {}
    for path in SOURCES:
        body = ast.parse(path.read_text("utf-8")).body
        for position, statement in enumerate(body):
            record = _type_of(statement, _words(body, position + 1))
            types |= {record.name: record} if record else {}
    return types


def _words(body: list[ast.stmt], position: int) -> str:
    """The string that stands at a position, in one line; "" where none does."""
    match body[position : position + 1]:
        case [ast.Expr(ast.Constant(str(text)))]:
            return " ".join(text.split()).removesuffix(".")
    return ""


def _type_of(statement: ast.stmt, words: str) -> Record | Alias | None:
    match statement:
        case ast.ClassDef(name=name, bases=bases, keywords=keywords, body=body):
            above = [it.id for it in bases if isinstance(it, ast.Name) and it.id != "TypedDict"]
            return Record(name, _words(body, 0), above, list(_fields(body, _is_total(keywords))))
        case ast.AnnAssign(ast.Name(name), ast.Name("TypeAlias"), ast.expr() as kind):
            return Alias(name, words, kind)
        case ast.Assign(
            [ast.Name(name)], ast.Call(ast.Name("TypedDict"), [_, ast.Dict() as rows], keywords)
        ):
            is_total = _is_total(keywords)
            pairs = zip(rows.keys, rows.values, strict=True)
            fields = [
                _field(ast.literal_eval(key), kind, is_total, "") for key, kind in pairs if key
            ]
            return Record(name, words, [], fields)
    return None


def _is_total(keywords: list[ast.keyword]) -> bool:
    return not any(it.arg == "total" and not ast.literal_eval(it.value) for it in keywords)


def _fields(body: list[ast.stmt], is_total: bool) -> Iterator[Field]:
    for position, statement in enumerate(body):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            words = _words(body, position + 1)
            yield _field(statement.target.id, statement.annotation, is_total, words)


def _field(name: str, kind: ast.expr, is_total: bool, words: str) -> Field:
    match kind:
        case ast.Subscript(ast.Name("NotRequired"), inner):
            return Field(name, inner, True, words)
    return Field(name, kind, not is_total, words)


def all_fields(types: Types, record: Record) -> list[Field]:
    """The fields of a record, those that it has from others first."""
    fields: list[Field] = []
    for base in record.bases:
        above = types[base]
        assert isinstance(above, Record), base
        fields += all_fields(types, above)
    return [*fields, *record.own]


# -- JSON schemas ----------------------------------------------------------------------------------

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PLAIN = {"int": "integer", "float": "number", "str": "string", "bool": "boolean"}
STAGE_ID, PAGE_ID = "urn:svodviz:graph:1", "urn:svodviz:page:4"
PAGES = {"Wire": "explorer", "ComparisonWire": "comparison", "QuizWire": "quiz", "Later": "later"}
"""The data that a page may carry, and their names in its schema."""
STAGE_WORDS = (
    "Positions count from 0. Later versions may give nodes, edges and rows more properties; "
    "whatever is required here keeps its meaning as long as `version` is 1."
)
PAGE_WORDS = (
    "What an exported page, a widget and a saved notebook carry: an explorer, a comparison or a "
    "quiz. Tables refer to rows of others by position, counted from 0. Types that both have are "
    "described in schema.json (urn:svodviz:graph:1)."
)


def title_of(name: str) -> str:
    """`item-row` for ItemRow: what schemas call a type."""
    words = "".join(f"-{it.lower()}" if it.isupper() else it for it in name).removeprefix("-")
    return PAGES.get(name, words)


@dataclass
class Schemas:
    """Collects the definitions that one schema needs; those of `others` are referred to."""

    types: Types
    is_closed: bool
    others: "dict[str, Schema]" = field(default_factory=dict)
    made: "dict[str, Schema]" = field(default_factory=dict)

    def of(self, kind: ast.expr) -> Schema:
        """The schema of a type expression."""
        match kind:
            case ast.Constant(None):
                return {"type": "null"}
            case ast.Constant(str(text)):
                return self.of(ast.parse(text, mode="eval").body)
            case ast.Name(name) if name in PLAIN:
                return {"type": PLAIN[name]}
            case ast.Name(name):
                return self.reference(name)
            case ast.BinOp(op=ast.BitOr()):
                return self._union(list(_parts(kind)))
            case ast.Subscript(ast.Name(name), inner):
                return self._generic(name, inner)
        raise ValueError(f"no schema for {ast.unparse(kind)}")

    def reference(self, name: str) -> Schema:
        """A reference to a type, which is described on its first use."""
        title = title_of(name)
        if name in self.others:
            return {"$ref": f"{STAGE_ID}#/$defs/{title}"}
        if name not in self.made:
            self.made[name] = {}  # a type may have itself inside
            row = self.types[name]
            schema = self.record(row) if isinstance(row, Record) else self.of(row.kind)
            self.made[name] = _described(row.words, schema)
        return {"$ref": f"#/$defs/{title}"}

    def record(self, record: Record) -> Schema:
        """The schema of a record."""
        fields = all_fields(self.types, record)
        schema: Schema = {
            "type": "object",
            "required": [it.name for it in fields if not it.is_optional],
            "properties": {it.name: _described(it.words, self.of(it.kind)) for it in fields},
        }
        return {**schema, "additionalProperties": False} if self.is_closed else schema

    def _union(self, parts: list[ast.expr]) -> Schema:
        if all(_is_tuple(it) for it in parts):  # each has a field more than the one before
            shortest, longest = (len(list(_items(it))) for it in (parts[0], parts[-1]))
            return {**self.of(parts[-1]), "minItems": longest - (longest - shortest)}
        return {"anyOf": [self.of(it) for it in parts]}

    def _generic(self, name: str, inner: ast.expr) -> Schema:
        items = _elements(inner)
        match name:
            case "list":
                return {"type": "array", "items": self.of(inner)}
            case "tuple":
                return self._tuple(items)
            case "dict":
                return self._dict(items[0], self.of(items[1]))
            case "Literal":
                values = [ast.literal_eval(it) for it in items]
                return {"const": values[0]} if len(values) == 1 else {"enum": values}
            case "Annotated":
                return self._annotated(items[0], items[1:])
        raise ValueError(f"no schema for {name}")

    def _tuple(self, items: list[ast.expr]) -> Schema:
        fixed = [self.of(it) for it in items if not isinstance(it, ast.Starred)]
        rest = next((it.value for it in items if isinstance(it, ast.Starred)), None)
        more = False if rest is None else self.of(next(_items(rest)))
        return {"type": "array", "prefixItems": fixed, "items": more, "minItems": len(fixed)}

    def _dict(self, key: ast.expr, value: Schema) -> Schema:
        named = self.types.get(key.id) if isinstance(key, ast.Name) else None
        pattern = self.of(named.kind) if isinstance(named, Alias) else {}
        if "pattern" not in pattern:
            return {"type": "object", "additionalProperties": value}
        properties = {str(pattern["pattern"]): value}
        return {"type": "object", "patternProperties": properties, "additionalProperties": False}

    def _annotated(self, kind: ast.expr, more: list[ast.expr]) -> Schema:
        """`minimum 0`, `pattern …`; pairs of a pattern of keys and what such a key has."""
        match more:
            case [ast.Constant(str(text))]:
                word, _, value = text.partition(" ")
                return {**self.of(kind), word: int(value) if word == "minimum" else value}
        pairs = [it.elts for it in more if isinstance(it, ast.Tuple)]
        properties = {ast.literal_eval(key): self.of(it) for key, it in pairs}
        return {"type": "object", "patternProperties": properties, "additionalProperties": False}


def _described(words: str, schema: Schema) -> Schema:
    return {"description": words, **schema} if words else schema


def _parts(kind: ast.expr) -> Iterator[ast.expr]:
    """The parts of a union."""
    if isinstance(kind, ast.BinOp):
        yield from (*_parts(kind.left), *_parts(kind.right))
    else:
        yield kind


def _is_tuple(kind: ast.expr) -> bool:
    return isinstance(kind, ast.Subscript) and ast.unparse(kind.value) == "tuple"


def _items(kind: ast.expr) -> Iterator[ast.expr]:
    """The kinds between the brackets of a type."""
    yield from _elements(kind.slice) if isinstance(kind, ast.Subscript) else ()


def _elements(inner: ast.expr) -> list[ast.expr]:
    return inner.elts if isinstance(inner, ast.Tuple) else [inner]


def stage_schema(types: Types) -> tuple[Schema, "dict[str, Schema]"]:
    """The schema of an exported stage, and the types that it describes."""
    schemas = Schemas(types, is_closed=False)
    graph = types["StageGraph"]
    assert isinstance(graph, Record)
    top = schemas.record(graph)
    return {
        "$schema": DRAFT, "$id": STAGE_ID, "title": "svodviz-graph, version 1",
        "description": f"{graph.words}. {STAGE_WORDS}", **top, "additionalProperties": False,
        "dependentRequired": {"schedule": ["entities"], "entities": ["schedule"]},
        "$defs": {title_of(name): it for name, it in sorted(schemas.made.items())},
    }, schemas.made  # fmt: skip


def page_schema(types: Types, others: "dict[str, Schema]") -> Schema:
    """The schema of what pages carry."""
    schemas = Schemas(types, is_closed=True, others=others)
    pages = [schemas.reference(name) for name in PAGES]
    return {
        "$schema": DRAFT, "$id": PAGE_ID, "title": "The data of a page of svodviz",
        "description": PAGE_WORDS, "oneOf": pages,
        "$defs": {title_of(name): it for name, it in sorted(schemas.made.items())},
    }  # fmt: skip


def written(value: object, indent: int = 0, taken: int = 0) -> str:
    """JSON in which what fits into a line stands in one, `taken` columns of which are before it."""
    line = json.dumps(value, ensure_ascii=False)
    if indent + taken + len(line) < WIDEST or not isinstance(value, dict | list) or not value:
        return line
    pad = " " * (indent + 1)
    if isinstance(value, list):
        rows = [written(it, indent + 1) for it in value]
        return "[\n" + ",\n".join(pad + it for it in rows) + "\n" + " " * indent + "]"
    keys = {f"{json.dumps(key)}: ": it for key, it in value.items()}
    pairs = [f"{key}{written(it, indent + 1, len(key))}" for key, it in keys.items()]
    return "{\n" + ",\n".join(pad + it for it in pairs) + "\n" + " " * indent + "}"


# -- TypeScript ------------------------------------------------------------------------------------

SCRIPT = {"int": "number", "float": "number", "str": "string", "bool": "boolean"}
WHOLE = ("State",)
"""Types whose missing fields the page fills in."""
LACKING = (("Layout", "size"),)
"""Fields that rows of this kind lack where the page makes them itself."""


def script(types: Types) -> str:
    """The types for TypeScript's checker, records as interfaces."""
    return "\n\n".join(_interface(it, types) for it in types.values() if it.name != "Json")


def _interface(record: Record | Alias, types: Types) -> str:
    comment = f"/** {record.words} */\n" if record.words else ""
    if isinstance(record, Alias):
        return f"{_wrapped(comment)}export type {record.name} = {_script(record.kind)};"
    above = f" extends {', '.join(record.bases)}" if record.bases else ""
    lines = [f"{_wrapped(comment)}export interface {record.name}{above} {{"]
    for it in record.own:
        is_optional = it.is_optional and record.name not in WHOLE
        sign = "?" if is_optional or (record.name, it.name) in LACKING else ""
        name = it.name if it.name.isidentifier() else json.dumps(it.name)
        lines.append(f"  {name}{sign}: {_script(it.kind)};")
    return "\n".join([*lines, "}"])


def _wrapped(comment: str) -> str:
    """A comment in lines that are not too long."""
    if len(comment) <= WIDEST:
        return comment
    lines, words = ["/**"], comment.removeprefix("/** ").removesuffix(" */\n").split(" ")
    line = " *"
    for word in words:
        if len(line) + 1 + len(word) > WIDEST:
            lines.append(line)
            line = " *"
        line += f" {word}"
    return "\n".join([*lines, line, " */\n"])


def _script(kind: ast.expr) -> str:
    """A type expression as TypeScript writes it."""
    match kind:
        case ast.Constant(None):
            return "null"
        case ast.Constant(str(text)):
            return _script(ast.parse(text, mode="eval").body)
        case ast.Name(name):
            return SCRIPT.get(name, name)
        case ast.BinOp(op=ast.BitOr()):
            return _script_union(list(_parts(kind)))
        case ast.Subscript(ast.Name(name), inner):
            return _script_generic(name, _elements(inner))
    raise ValueError(f"no TypeScript for {ast.unparse(kind)}")


def _script_union(parts: list[ast.expr]) -> str:
    if not all(_is_tuple(it) for it in parts):
        return " | ".join(map(_script, parts))
    *_, longest = parts
    always = len(list(_items(parts[0])))
    rows = [f"{_script(it)}{'?' * (n >= always)}" for n, it in enumerate(_items(longest))]
    return f"[{', '.join(rows)}]"


def _script_generic(name: str, items: list[ast.expr]) -> str:
    match name:
        case "list":
            inner = _script(items[0])
            return f"({inner})[]" if " " in inner and inner[0] not in "[{" else f"{inner}[]"
        case "tuple":
            return f"[{', '.join(map(_script_item, items))}]"
        case "dict":
            return f"Record<string, {_script(items[1])}>"
        case "Literal":
            return " | ".join(json.dumps(ast.literal_eval(it), ensure_ascii=False) for it in items)
        case "Annotated":
            return _script(items[0])
    raise ValueError(f"no TypeScript for {name}")


def _script_item(item: ast.expr) -> str:
    if isinstance(item, ast.Starred):
        return f"...{_script(next(_items(item.value)))}[]"
    return _script(item)


# -- the files -------------------------------------------------------------------------------------


def script_path() -> Path:
    """The file of TypeScript's types, wherever the modules of js/ have it."""
    return next((ROOT / "svodviz" / "js").rglob("wire.d.ts"))


def files() -> dict[Path, str]:
    """The text that each file should hold."""
    types = read()
    stage, schema = stage_schema(types)
    path = script_path()
    by_hand, line, _ = path.read_text("utf-8").partition(BEHIND)
    if not line:
        raise ValueError(f"{path} has no line {BEHIND}")
    return {
        ROOT / "docs" / "schema.json": written(stage) + "\n",
        ROOT / "docs" / "page.schema.json": written(page_schema(types, schema)) + "\n",
        path: f"{by_hand}{BEHIND}\n\n{script(types)}\n",
    }


def main(arguments: list[str]) -> int:
    """Writes the files, or says which would change."""
    return write(files(), arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
