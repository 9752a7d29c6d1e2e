"""LLVM requests that run in a separate process, because they could not be undone or survived here.

LLVM's options that print passes cannot be switched off again, and LLVM aborts the process when a
target cannot do what a program needs. So each request gets a new process: `answer.py`.

Loading Python and LLVM takes 0.34 s, several times as long as most requests. So where `fork`
exists, a server process loads them once and forks a child for each request; it exits after a minute
without requests. A request that finds the server busy or gone starts a process of its own.

    question   {"job": "passes", "text", "level": [number, passes], "options": [option]}
               {"job": "assembly", "texts": [text], "levels": [[number, passes]],
                "triple", "cpu", "features"}
               {"job": "scheduled", "options": [option], and the same as for "assembly"}
               {"job": "assembled", "text", "level": [number, passes]}
    answer     {"start": text}, {"texts": [text]}, {"code": base 64}, or {"problem": words}; and
               what LLVM printed
"""

import atexit
import contextlib
import json
import os
import select
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from compiler.core import forking, isolated
from compiler.core.errors import InternalError

TOO_LONG = "too long"
"""As in `answer.py`, which this process does not load."""
SECONDS_ALLOWED = 120.0
"""A choice, no measurement: five times the slowest kernel seen, 25 s (2026-11-23, 64 lanes of bytes
that change places)."""
MARGIN = 10.0
"""Seconds that the process which makes others may take longer than they. Not measured."""
# The package is found where this one is, whatever the environment says; an empty module stands for
# it, because its own loads all of the compiler, which takes several times as long as the work.
_PROGRAM = f"""\
import sys, types
package = sys.modules["compiler"] = types.ModuleType("compiler")
package.__path__ = [{str(Path(__file__).resolve().parents[1])!r}]
from compiler.llvm.answer import main, serve
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the process, and everything that LLVM printed."""

    content: dict[str, Any]
    printed: str


def ask(question: dict[str, Any], seconds: float = SECONDS_ALLOWED) -> Answer:
    """The answer to one request.

    Raises `InternalError`, with LLVM's last message, if LLVM aborted or took too long.
    """
    reply = _SERVER.ask(question, seconds) or _alone(question, seconds)
    if reply.code == TOO_LONG:
        raise InternalError("llvm", f"LLVM took more than {seconds:.0f} seconds")
    if reply.code:
        raise InternalError("llvm", "LLVM ended the process", got=_last_words(reply.printed))
    return Answer(json.loads(reply.answer), reply.printed)


class _Ended(NamedTuple):
    """The result of a finished process: its exit code, the answer as JSON, LLVM's output."""

    code: int | str
    answer: str
    printed: str


def _alone(question: dict[str, Any], seconds: float) -> _Ended:
    """The answer of a process that is started for this request."""
    # LLVM prints in pieces of some ten bytes: a pipe would wake this process for each of them.
    with tempfile.TemporaryFile() as printed:
        try:
            done = subprocess.run(
                isolated.command(_PROGRAM + "main()"), input=json.dumps(question).encode(),
                stdout=subprocess.PIPE, stderr=printed, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return _Ended(TOO_LONG, "", "")
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    return _Ended(done.returncode, done.stdout.decode(), text)


class _Server:
    """The server process whose children answer, if it runs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: dict[str, Any], seconds: float) -> _Ended | None:
        """The answer; None if the server is busy or cannot answer."""
        if not hasattr(os, "fork") or not self._lock.acquire(blocking=False):
            return None
        try:
            return self._asked({**question, "seconds": seconds}, seconds + MARGIN)
        except (OSError, ValueError):  # it exited, as it does after a while without requests
            self.close()
            return None
        finally:
            self._lock.release()

    def _asked(self, question: dict[str, Any], seconds: float) -> _Ended:
        """Raises `OSError` or `ValueError` where there is no answer."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                isolated.command(_PROGRAM + "serve()"), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None and answers is not None
        asked.write(json.dumps(question).encode() + b"\n")
        asked.flush()
        if not select.select([answers], [], [], seconds)[0]:
            self._process.kill()
            raise OSError("it stands still")
        return _Ended(**json.loads(answers.readline()))

    def close(self) -> None:
        """End it, if it runs."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        process.terminate()
        process.wait()

    def forget(self) -> None:
        """In a child of `fork`: it is the parent's."""
        self._lock = threading.Lock()
        if self._process is not None:
            self._process.returncode = 0  # so that nobody here waits for it
        self._process = None


_SERVER = _Server()
atexit.register(_SERVER.close)
forking.in_child(_SERVER.forget)


def _last_words(printed: str) -> str:
    """The last words of LLVM when it gave up: the line that says so, else the last one."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("LLVM ERROR")]
    return (errors or lines or ["no output"])[-1]
