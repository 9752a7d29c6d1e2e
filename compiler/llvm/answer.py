"""Runs LLVM requests: the program of the processes that `apart.py` starts.

    main()     one request, as JSON on standard input; the answer is JSON on standard output, and
               LLVM's output about its passes goes to standard error
    serve()    requests line by line; each runs in a forked child, in which LLVM is already loaded.
               The answer is {"code", "answer", "printed"}: exit code, result and LLVM's output
"""

import base64
import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from typing import IO, Any

import llvmlite.binding as llvm

from compiler.llvm import jit
from compiler.llvm.level import Level
from compiler.machines.processors import is_x86

X86 = "x86_64-unknown-linux-gnu"


def passes(question: dict[str, Any]) -> dict[str, Any]:
    """Optimise and compile a text for this host while LLVM prints what changes."""
    jit.host_features()  # prepares LLVM, before anything is printed
    for option in question["options"]:
        llvm.set_option("", option)
    level = _level(question["level"])
    with jit.parse(question["text"]) as module, jit.borrowed_machine(level.number) as machine:
        start = str(module)
        jit.optimise(module, machine, level)
        machine.emit_assembly(module)
    return {"start": start}


def assembly(question: dict[str, Any]) -> dict[str, Any]:
    """The assembly of each text for the machine named, or the reason why there is none."""
    _prepare_all()
    try:
        target = llvm.Target.from_triple(question["triple"])
    except RuntimeError as error:
        return {"problem": str(error).strip()}
    pairs = zip(question["texts"], question["levels"], strict=True)
    return {"texts": [_assembly(target, question, text, _level(level)) for text, level in pairs]}


def scheduled(question: dict[str, Any]) -> dict[str, Any]:
    """The assembly with LLVM's names of the instructions; LLVM prints how it schedules them."""
    _prepare_all()
    target = llvm.Target.from_triple(question["triple"])
    pairs = list(zip(question["texts"], map(_level, question["levels"]), strict=True))
    texts = {"texts": [_assembly(target, question, *pair, is_named=True) for pair in pairs]}
    for option in question["options"]:
        llvm.set_option("", option)
    for pair in pairs:
        _assembly(target, question, *pair)
    return texts


def assembled(question: dict[str, Any]) -> dict[str, Any]:
    """The object code of assembly for this host, in base 64."""
    jit.host_features()
    llvm.initialize_native_asmparser()
    text = question["text"].replace("\\", "\\5C").replace('"', "\\22")
    module = llvm.parse_assembly("\n".join(f'module asm "{it}"' for it in text.splitlines()))
    with jit.borrowed_machine(int(question["level"][0])) as machine:
        return {"code": base64.b64encode(machine.emit_object(module)).decode()}


def _prepare_all() -> None:
    """All machines that this LLVM has; those of x86 are printed in Intel syntax."""
    jit.host_features()
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    if not is_x86() and _has(X86):  # on x86 it is set already; twice would be an error
        llvm.set_option("", "-x86-asm-syntax=intel")


def _has(triple: str) -> bool:
    try:
        llvm.Target.from_triple(triple)
    except RuntimeError:
        return False
    return True


def _assembly(
    target: Any, question: dict[str, Any], text: str, level: Level, is_named: bool = False
) -> str:
    """The assembly of a text; with `is_named` LLVM's name of each instruction is a comment."""
    machine = target.create_target_machine(
        cpu=question["cpu"], features=question["features"], opt=level.number, reloc="pic",
        codemodel="default", printmc=is_named,
    )  # fmt: skip
    machine.set_asm_verbosity(is_named)
    with jit.parse(text) as module:
        module.triple = question["triple"]
        module.data_layout = str(machine.target_data)
        jit.optimise(module, machine, level)
        return str(machine.emit_assembly(module))


def _level(row: list[Any]) -> Level:
    return Level(int(row[0]), row[1], "it was asked for")


JOBS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "passes": passes,
    "assembly": assembly,
    "scheduled": scheduled,
    "assembled": assembled,
}


def main() -> None:
    """Answers the question."""
    question = json.load(sys.stdin)
    json.dump(JOBS[question["job"]](question), sys.stdout)


IDLE = 60.0
"""The server exits after this many seconds without a request. A choice."""
TOO_LONG = "too long"
"""The exit code reported for a child that ran out of time."""


def serve() -> None:
    """Answer requests until there are none; each states its time limit in seconds."""
    asked = sys.stdin.fileno()  # not what buffers it: select would not see what is there
    while select.select([asked], [], [], IDLE)[0]:
        line = _line(asked)
        if not line:
            return
        question = json.loads(line)
        with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as printed:
            child = os.fork()
            if not child:
                _answered(question, answer, printed)
            code = _end_of(child, question["seconds"])
            texts = [_content(each) for each in (answer, printed)]
        print(json.dumps({"code": code, "answer": texts[0], "printed": texts[1]}), flush=True)


def _line(asked: int) -> bytes:
    """The next line; empty at the end."""
    parts: list[bytes] = []
    while not parts or not parts[-1].endswith(b"\n"):
        part = os.read(asked, 1 << 20)
        if not part:
            return b""
        parts.append(part)
    return b"".join(parts)


def _answered(question: dict[str, Any], answer: IO[bytes], printed: IO[bytes]) -> None:
    """Answers in this process, and ends it."""
    try:
        os.dup2(answer.fileno(), 1)
        os.dup2(printed.fileno(), 2)
        json.dump(JOBS[question["job"]](question), sys.stdout)
        sys.stdout.flush()
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _end_of(child: int, seconds: float) -> int | str:
    """The exit code of a child, which is killed when it exceeds its time limit."""
    end = time.monotonic() + seconds
    pause = 0.0005  # seconds, doubled up to 0.01: a choice
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return TOO_LONG
        time.sleep(pause)
        pause = min(2 * pause, 0.01)


def _content(file: IO[bytes]) -> str:
    """The content of a file, including what other holders of it have written."""
    file.seek(0)
    return file.read().decode(errors="replace")
