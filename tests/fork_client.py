"""Ask a process of `fork_server.py` to run a program; also a script, so that a shell can do so within a moment."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from collections.abc import Mapping, Sequence

KILLED = 137
"""The exit code of a program that ended without one, as shells have it."""


def run(place: str, module: str, function: str, words: Sequence[str], folder: str, environment: Mapping[str, str],
        files: Sequence[int] = (0, 1, 2), signals: Sequence[int] = ()) -> int:  # fmt: skip
    """Run a function of a module there, with these standard files; return its exit code.

    These signals are passed on to it; where there are any, it ends with this process at the latest.
    """
    request = {"module": module, "function": function, "words": list(words), "folder": folder, "signals": list(signals)}
    data = json.dumps(request | {"environment": dict(environment)}).encode()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        connection.sendall(data[socket.send_fds(connection, [data], list(files)) :])
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile() as answers:
            process = int(answers.readline())
            for number in signals:
                signal.signal(number, lambda sent, _: os.kill(process, sent))
            return int(answers.readline() or KILLED)


if __name__ == "__main__":  # the socket, the signals to pass on, a function of `fork_server.py` and its words
    folder = os.getcwd()  # noqa: PTH109  (pathlib takes as long to import as all else here)
    place, numbers, function, *words = sys.argv[1:]
    signals = [int(number) for number in numbers.split()]
    sys.exit(run(place, "tests.fork_server", function, words, folder, os.environ, signals=signals))
