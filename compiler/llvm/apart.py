"""Questions to LLVM in a process of its own: for what cannot be undone or survived in this one.

What LLVM prints of its passes cannot be switched off again, and a machine that cannot do what a
program needs makes LLVM end the process. So a new one is started for each question: `answer.py`.

    question   {"job": "passes", "text", "level": [number, passes], "options": [option]}
               {"job": "assembly", "texts": [text], "levels": [[number, passes]],
                "triple", "cpu", "features"}
               {"job": "scheduled", "options": [option], and the same as for "assembly"}
               {"job": "assembled", "text", "level": [number, passes]}
    answer     {"start": text}, {"texts": [text]}, {"code": base 64}, or {"problem": words}; and
               what LLVM printed
"""

import json
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from compiler.core import isolated
from compiler.core.errors import InternalError

SECONDS_ALLOWED = 120.0
"""A choice, no measurement: five times the slowest kernel seen, 25 s (2026-11-23, 64 lanes of bytes
that change places)."""
# The package is found where this one is, whatever the environment says; an empty module stands for
# it, because its own loads all of the compiler, which takes several times as long as the work.
_PROGRAM = f"""\
import sys, types
package = sys.modules["compiler"] = types.ModuleType("compiler")
package.__path__ = [{str(Path(__file__).resolve().parents[1])!r}]
from compiler.llvm.answer import main
main()
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of the process, and all that LLVM printed on the way."""

    content: dict[str, Any]
    printed: str


def ask(question: dict[str, Any], seconds: float = SECONDS_ALLOWED) -> Answer:
    """The answer to one question.

    Raises `InternalError`, with LLVM's last words, where it ended the process or took too long.
    """
    # LLVM prints in pieces of some ten bytes: a pipe would wake this process for each of them.
    with tempfile.TemporaryFile() as printed:
        try:
            done = subprocess.run(
                isolated.command(_PROGRAM), input=json.dumps(question).encode(),
                stdout=subprocess.PIPE, stderr=printed, timeout=seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as error:
            raise InternalError("llvm", f"LLVM took more than {seconds:.0f} seconds") from error
        printed.seek(0)
        text = printed.read().decode(errors="replace")
    if done.returncode:
        raise InternalError("llvm", "LLVM ended the process", got=_last_words(text))
    return Answer(json.loads(done.stdout), text)


def _last_words(printed: str) -> str:
    """The last words of LLVM when it gave up: the line that says so, else the last one."""
    lines = [line.strip() for line in printed.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("LLVM ERROR")]
    return (errors or lines or ["nothing was said"])[-1]
