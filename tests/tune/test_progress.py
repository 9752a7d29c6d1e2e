"""The progress line: only where somebody looks, and gone at the end."""

import io

from compiler.loops.choices import PLAIN
from compiler.tune.progress import Progress, is_interactive
from compiler.tune.trials import Trial

TRIALS = [Trial(0, None, "", PLAIN, 2e-6), Trial(1, 0, "", PLAIN, 1e-6), Trial(2, 0, "", PLAIN)]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_one_line_that_goes_away() -> None:
    stream = Terminal()
    line = Progress(5.0, 2, stream)
    line.show("k0", 1, 2.5, TRIALS)
    line.show("k0", 1, 9.0, TRIALS[:1])
    first, second = stream.getvalue().split("\r")[1:]
    assert first == "tuning k0 (1 of 2)  ██████░░░░░░  2.5 of 5.0 s  3 tried  1 µs, 2.00×"
    assert "████████████" in second and len(second) >= len(first)
    line.close()
    assert "\n" not in stream.getvalue() and stream.getvalue().endswith(" \r")


def test_nobody_sees_nothing() -> None:
    stream = io.StringIO()
    line = Progress(5.0, 1, stream)
    line.show("k0", 1, 1.0, TRIALS)
    line.close()
    assert stream.getvalue() == ""


def test_a_line_that_was_never_written_is_not_taken_away() -> None:
    stream = Terminal()
    Progress(5.0, 1, stream).close()
    assert stream.getvalue() == ""


def test_a_default_that_did_not_run_has_no_ratio() -> None:
    stream = Terminal()
    Progress(5.0, 1, stream).show("k0", 1, 0.0, TRIALS[2:])
    assert stream.getvalue().endswith("1 tried")


def test_the_output_of_a_cell_is_looked_at() -> None:
    made = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    assert is_interactive(made()) and not is_interactive(io.StringIO())
