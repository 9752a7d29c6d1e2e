"""Reports of the command line on long steps."""

import io
import time

import pytest

from svodviz.cli import progress
from svodviz.cli.progress import reported


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.02)


def wait_for(stream: io.StringIO, words: str) -> None:
    end = time.monotonic() + 30
    while words not in stream.getvalue() and time.monotonic() < end:
        time.sleep(0.005)


def test_what_takes_long_is_said_and_taken_back() -> None:
    stream = Terminal()
    with reported("making page.html", stream=stream):
        wait_for(stream, "making page.html … 0 s\r\x1b[Kmaking")
    text = stream.getvalue()
    assert "\r\x1b[Kmaking page.html … 0 s" in text
    assert text.endswith("\r\x1b[K") and "\n" not in text


def test_where_others_write_it_is_a_line() -> None:
    stream = Terminal()
    with reported("running program.py", is_alone=False, stream=stream):
        wait_for(stream, "\n")
        time.sleep(0.1)
    assert stream.getvalue() == "running program.py …\n"


def test_what_is_quick_is_not_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 60.0)
    stream = Terminal()
    with reported("making page.html", stream=stream):
        pass
    assert stream.getvalue() == ""


def test_files_and_pipes_get_nothing() -> None:
    stream = io.StringIO()
    with reported("making page.html", stream=stream):
        time.sleep(0.1)
    assert stream.getvalue() == ""


def test_it_ends_with_what_it_tells_of() -> None:
    stream = Terminal()
    with pytest.raises(ValueError), reported("making page.html", stream=stream):
        wait_for(stream, "…")
        raise ValueError
    assert stream.getvalue().endswith("\r\x1b[K")
