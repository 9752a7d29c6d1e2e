"""Questions to LLVM in other processes: answered by a child of one that waits, or alone."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from compiler.core.errors import InternalError
from compiler.llvm import answer, apart

TEXT = """
define void @twice(ptr %x) {
  %v = load float, ptr %x
  %w = fadd float %v, %v
  store float %w, ptr %x
  ret void
}
"""
QUESTION: dict[str, Any] = {
    "job": "assembly", "texts": [TEXT], "levels": [[2, "few"]],
    "triple": "aarch64-unknown-linux-gnu", "cpu": "generic", "features": "",
}  # fmt: skip
ENDS: dict[str, Any] = {**QUESTION, "job": "no such job"}
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def _alone(question: dict[str, Any]) -> Any:
    return apart._alone(question, 60).answer


def test_the_answer_of_a_child_is_that_of_a_process_alone() -> None:
    for question in (QUESTION, {**QUESTION, "triple": "no-such-machine"}, {
        "job": "passes", "text": TEXT, "level": [2, "few"], "options": ["-print-after-all"],
    }):  # fmt: skip
        found = apart._SERVER.ask(question, 60)
        assert found is not None and found.code == 0
        alone = apart._alone(question, 60)
        assert found.answer == alone.answer
        assert len(found.printed.splitlines()) == len(alone.printed.splitlines())
    assert "fadd" in apart.ask(QUESTION).content["texts"][0]


@needs_fork
def test_a_question_that_ends_its_process_ends_no_other() -> None:
    apart.ask(QUESTION)
    process = apart._SERVER._process
    for _ in range(2):
        with pytest.raises(InternalError, match="LLVM ended the process") as caught:
            apart.ask(ENDS)
        assert "KeyError: 'no such job'" in str(caught.value)
    assert apart.ask(QUESTION).content["texts"]
    assert apart._SERVER._process is process


@needs_fork
def test_what_takes_too_long_is_ended() -> None:
    with pytest.raises(InternalError, match="more than 0 seconds"):
        apart.ask({**QUESTION, "texts": [TEXT] * 2000, "levels": [[3, "all"]] * 2000}, 0.05)
    assert apart.ask(QUESTION).content["texts"]
    with pytest.raises(InternalError, match="more than 0 seconds"):
        ended = apart._alone(QUESTION, 0.001)
        assert ended.code == apart.TOO_LONG == answer.TOO_LONG
        raise InternalError("llvm", "LLVM took more than 0 seconds")


@needs_fork
@pytest.mark.parametrize("sent", [signal.SIGKILL, signal.SIGTERM])
def test_another_is_started_where_it_ended(sent: signal.Signals) -> None:
    apart.ask(QUESTION)
    process = apart._SERVER._process
    assert process is not None
    process.send_signal(sent)
    assert apart.ask(QUESTION).content["texts"]
    assert apart.ask(QUESTION).content["texts"]
    assert apart._SERVER._process is not process


def test_threads_ask_at_once() -> None:
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: apart.ask(QUESTION).content["texts"][0], range(6)))
    assert len(set(found)) == 1


@needs_fork
def test_a_child_of_this_process_asks_for_itself() -> None:
    apart.ask(QUESTION)
    child = os.fork()
    if not child:
        code = 1
        try:
            assert apart._SERVER._process is None
            code = 0 if apart.ask(QUESTION).content["texts"] else 2
            apart._SERVER.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert apart.ask(QUESTION).content["texts"]


@needs_fork
def test_nothing_is_left_when_python_ends(tmp_path: Path) -> None:
    program = f"""
import sys
sys.path[:] = {sys.path!r}
from compiler.llvm import apart
apart.ask({QUESTION!r})
print(apart._SERVER._process.pid)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True,
                          check=True, cwd=tmp_path)  # fmt: skip
    assert not done.stderr
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)
