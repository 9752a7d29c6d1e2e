"""Python in a process of its own, which loads nothing from the folder that it is started in.

It is passed the folders in which this process finds its packages, so virtual environments, editable
installs and `PYTHONPATH` are as they are here; but not the current folder, where anybody's files
may be.
"""

import os
import sys


def command(program: str, *arguments: str) -> list[str]:
    """The command that starts Python on a text of a program."""
    begin = f"import sys\nsys.path[:] = {_folders()!r}\n"
    return [sys.executable, "-I", "-X", "utf8", "-c", begin + program, *arguments]


def script(path: str, *arguments: str) -> list[str]:
    """The command that starts Python on a file, whose own folder it does not look into."""
    return command(f"import runpy\nrunpy.run_path({path!r}, run_name='__main__')", *arguments)


def _folders() -> list[str]:
    """The folders in which Python looks for packages, without the current one."""
    try:
        here = os.path.realpath(os.getcwd())
    except OSError:  # it was removed
        here = ""
    return [each for each in sys.path if os.path.isabs(each) and os.path.realpath(each) != here]
