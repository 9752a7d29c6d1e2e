"""The order of the page's files: written once, in svodviz/js/README.md, and held here."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from posixpath import dirname, join, normpath

import pytest

FOLDER = Path(__file__).resolve().parent.parent / "svodviz" / "js"
PAGE = "README.md"
SECTION = re.compile(r"^## `js/(.*)`$")
ENTRY = re.compile(r"^- `([\w.]+/?)` — \S")
# Values and types alike: import … from "./x.js", {import("./x.js").X}, declare module "./x.js".
IMPORT = re.compile(r'\b(?:from |import ?\(?|module )"(\.[^"]+)"')


def listed(page: str) -> list[str]:
    """The paths of all files in their order: a folder's where its entry stands."""
    sections: dict[str, list[str]] = {"": []}
    folder = ""
    for line in page.splitlines():
        if head := SECTION.match(line):
            folder = head[1]
            sections.setdefault(folder, [])
        elif entry := ENTRY.match(line):
            sections[folder].append(folder + entry[1])
    return list(_files("", sections))


def _files(folder: str, sections: Mapping[str, list[str]]) -> Iterator[str]:
    for entry in sections[folder]:
        if entry.endswith("/") and entry in sections:
            yield from _files(entry, sections)
        else:
            yield entry


def imports(name: str, files: Mapping[str, str]) -> Iterator[str]:
    """The paths of the files that a module, or a file of types, imports from."""
    if not name.endswith((".js", ".ts")):
        return
    for path in IMPORT.findall(files[name]):
        target = normpath(join(dirname(name), path))
        types = target.removesuffix(".js") + ".d.ts"
        yield types if types in files else target


def problems(page: str, files: Mapping[str, str]) -> list[str]:
    """Where files and their imports are not as the page has them."""
    order = listed(page)
    place = {name: at for at, name in enumerate(order)}
    found = [f"{it}: it stands twice" for it in place if order.count(it) > 1]
    found += [f"{it}: listed, but not there" for it in place if it not in files]
    found += [f"{it}: it has no line" for it in files if it not in place]
    for name in (it for it in files if it in place):
        for target in imports(name, files):
            if target not in place:
                found.append(f"{name}: imports {target}, which has no line")
            elif place[target] >= place[name]:
                found.append(f"{name}: imports {target}, which does not stand before it")
    return found


def of_the_page() -> dict[str, str]:
    """The text of every file of the page by its path, but for the one that lists them."""
    paths = (it for it in sorted(FOLDER.rglob("*")) if it.is_file() and it != FOLDER / PAGE)
    return {it.relative_to(FOLDER).as_posix(): it.read_text("utf-8") for it in paths}


def test_files_stand_in_order() -> None:
    files = of_the_page()
    assert problems((FOLDER / PAGE).read_text("utf-8"), files) == []
    assert sum(len(set(imports(name, files))) for name in files) > 200


SMALL_PAGE = """
## `js/`

- `kit/` — what comes first
- `data/` — what uses it
- `main.js` — what uses all

## `js/data/`

- `rows.d.ts` — types
- `model.js` — one

## `js/kit/`

- `one.js` — one
- `two.js` — another
"""
SMALL = {
    "kit/one.js": "export const one = 1;",
    "kit/two.js": 'import { one } from "./one.js";',
    "data/rows.d.ts": 'import type { Two } from "../kit/two.js";',
    "data/model.js": '/** @typedef {import("./rows.js").Row} Row */',
    "main.js": 'import {\n  one,\n} from "./kit/one.js";\nimport * as all from "./data/model.js";',
}


def test_folders_stand_where_their_entry_does() -> None:
    assert listed(SMALL_PAGE) == list(SMALL)
    assert problems(SMALL_PAGE, SMALL) == []
    assert list(imports("data/model.js", SMALL)) == ["data/rows.d.ts"]


@pytest.mark.parametrize(("changed", "words"), [
    ({"kit/one.js": 'import { two } from "./two.js";', "kit/two.js": ""}, "imports kit/two.js"),
    ({"kit/two.js": 'import { model } from "../data/model.js";'}, "imports data/model.js"),
    ({"kit/two.js": 'import { all } from "../main.js";'}, "imports main.js"),
    ({"kit/two.js": '/** @param {import("../data/rows.js").Row} row */'}, "imports data/rows.d.ts"),
    ({"data/rows.d.ts": 'declare module "./model.js" {}'}, "imports data/model.js"),
    ({"kit/one.js": 'import { two } from "./two.js";'}, "imports kit/two.js"),
    ({"kit/one.js": 'import { one } from "./one.js";'}, "imports kit/one.js"),
    ({"kit/two.js": 'import "./three.js";'}, "imports kit/three.js, which has no line"),
    ({"kit/three.js": ""}, "kit/three.js: it has no line"),
    ({"deep/three.css": ""}, "deep/three.css: it has no line"),
    ({"data/model.js": None}, "data/model.js: listed, but not there"),
])  # fmt: skip
def test_wrong_files_are_found(changed: dict[str, str | None], words: str) -> None:
    files = {name: text for name, text in {**SMALL, **changed}.items() if text is not None}
    found = problems(SMALL_PAGE, files)
    assert any(words in it for it in found)


def test_a_circle_is_found_in_whatever_order() -> None:
    circle = {"kit/one.js": 'import { two } from "./two.js";',
              "kit/two.js": 'import { one } from "./one.js";'}  # fmt: skip
    for names in ("one two", "two one"):
        lines = "".join(f"- `{it}.js` — one of them\n" for it in names.split())
        page = f"## `js/`\n- `kit/` — both\n## `js/kit/`\n{lines}"
        assert len(problems(page, circle)) == 1


@pytest.mark.parametrize(("line", "words"), [
    ("- `one.js` — again", "kit/one.js: it stands twice"),
    ("- `three.js` — not there", "kit/three.js: listed, but not there"),
    ("- `deep/` — a folder without a list", "kit/deep/: listed, but not there"),
])  # fmt: skip
def test_wrong_lines_are_found(line: str, words: str) -> None:
    assert words in problems(f"{SMALL_PAGE}{line}\n", SMALL)


def test_a_line_says_what_a_file_is() -> None:
    page = SMALL_PAGE.replace("- `one.js` — one", "- `one.js`")
    assert "kit/one.js: it has no line" in problems(page, SMALL)
