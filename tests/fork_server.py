"""A process with one thread that runs the programs of killings, each in a fork of its own.

To import what they need takes two seconds, and here it is done once. A line on standard input is a request, as JSON:
the module, its words, and the files that its output goes to; the answer is a line with the exit code.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from importlib import import_module
from typing import Any


def run(request: dict[str, Any]) -> int:
    """Run one program to its end, and return its exit code."""
    program = import_module(request["module"])
    gc.freeze()  # what was imported is looked through for garbage in no fork
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 1
    try:
        for number, (path, flags) in enumerate(
            ((os.devnull, os.O_RDONLY), (request["out"], os.O_WRONLY), (request["err"], os.O_WRONLY))
        ):
            os.dup2(os.open(path, flags | os.O_CREAT, 0o600), number)
        program.main(*request["words"])
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    for line in sys.stdin:
        sys.stdout.write(f"{run(json.loads(line))}\n")
        sys.stdout.flush()
