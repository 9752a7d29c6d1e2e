"""The tool that runs the standard's own suite: what it changes in its copy, and what it refuses."""

from pathlib import Path

import pytest

from tools.array_api_suite import CORRECTIONS, corrected


def suite(folder: Path, texts: dict[str, str]) -> Path:
    """A folder with the files that the tool reads."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (folder / "array-api" / "src").mkdir(parents=True)
    return folder


def test_only_a_copy_is_put_right(tmp_path: Path) -> None:
    texts = {name: f"a = 1\n{found} 2\n" for name, (found, _) in CORRECTIONS.items()}
    given = suite(tmp_path / "given", texts)
    corrected(given, tmp_path / "copy")
    for name, (found, wanted) in CORRECTIONS.items():
        assert (given / name).read_text() == texts[name]
        assert (tmp_path / "copy" / name).read_text() == texts[name].replace(found, wanted)
    corrected(tmp_path / "copy", tmp_path / "again")  # what is right already is left as it is
    for name in CORRECTIONS:
        assert (tmp_path / "again" / name).read_text() == (tmp_path / "copy" / name).read_text()


def test_another_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no checkout of array-api-tests"):
        corrected(tmp_path, tmp_path / "copy")
    given = suite(tmp_path / "given", dict.fromkeys(CORRECTIONS, "text"))
    with pytest.raises(SystemExit, match="does not say any more"):
        corrected(given, tmp_path / "copy")
