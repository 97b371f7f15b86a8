"""Child processes of tests: where they find the package of this checkout, how long they live, what they found."""

from __future__ import annotations

import atexit
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import Any, NamedTuple

from tests import fork_client

ROOT = Path(__file__).parents[1]


def environment(**more: str) -> dict[str, str]:
    """This process's environment, with the checkout on the path and whatever else is wanted."""
    return os.environ | {"PYTHONPATH": str(ROOT)} | more


def restore_signals() -> None:
    """Take SIGINT and SIGTERM as a program in a terminal does, however this process was started; so do its children.

    A job in the background ignores SIGINT, and what it starts would never end by Ctrl-C.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})


@contextmanager
def process(command: list[str], **options: Any) -> Iterator[subprocess.Popen[Any]]:
    """Start a process that ends with the block at the latest: a test that gives up waits for nothing."""
    restore_signals()
    with subprocess.Popen(command, **options) as started:
        try:
            yield started
        finally:
            started.kill()


def killed(program: str, folder: Path, *words: object) -> dict[str, Any]:
    """What a program of killings found, in a process of its own that has one thread; nothing may be wrong."""
    module = ".".join(Path(program).relative_to(ROOT).with_suffix("").parts)
    done = forked("everything", module, "main", folder, *words)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["wrong"] == []
    return found


def forked(
    kind: str,
    module: str,
    function: str,
    *words: object,
    folder: Path = ROOT,
    variables: Mapping[str, str] = os.environ,
) -> subprocess.CompletedProcess[str]:
    """Run a function of a module to its end, in a fork of a process that has imported "libraries" or "everything"."""
    given = [str(word) for word in words]
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err, Path(os.devnull).open() as nothing:
        files = (nothing.fileno(), out.fileno(), err.fileno())
        try:
            code = fork_client.run(fork_server(kind), module, function, given, str(folder), variables, files)
        except BaseException:  # a test whose time is over: nothing that it started lives on
            os.killpg(_SERVERS.pop(kind).process.pid, signal.SIGKILL)
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess([module, function, *given], code, out.read(), err.read())


def python(code: str, *words: object) -> list[str]:
    """Return the words that start a program as `python -c` does, but in a fork that has imported everything.

    It starts within a moment, is sent SIGINT and SIGTERM, and ends soon after what was started is killed.
    """
    return client("python", code, *words, signals=(signal.SIGINT, signal.SIGTERM))


def client(function: str, *words: object, signals: Sequence[int] = ()) -> list[str]:
    """Return the words that start a function of `fork_server.py` in such a fork, which is sent these signals."""
    numbers = " ".join(str(int(number)) for number in signals)
    return [sys.executable, "-IS", fork_client.__file__, fork_server("everything"), numbers, function, *map(str, words)]


def write_command(place: Path) -> Path:
    """Write a script that does what the command `verifyplan` does, in a fork; return its place."""
    place.write_text(f'#!/bin/sh\nexec {shlex.join(client("command"))} "$@"\n')
    place.chmod(0o755)
    return place


class _ForkServer(NamedTuple):
    """A process of `tests/fork_server.py`, and the socket at which it is asked."""

    process: subprocess.Popen[str]
    place: str


_SERVERS: dict[str, _ForkServer] = {}


def fork_server(kind: str) -> str:
    """Return the socket of the server of this kind, which ends with this process and is started by the first call."""
    if kind not in _SERVERS:
        restore_signals()
        warned = [] if kind == "kernels" else ["-W", "error"]  # kernels warn, as those of users do
        place = str(Path(mkdtemp()) / "socket")  # a short path: sockets take no long ones
        process = subprocess.Popen(
            [sys.executable, *warned, "-m", "tests.fork_server", kind, place], cwd=ROOT, env=environment(),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, text=True,
        )  # fmt: skip
        atexit.register(shutil.rmtree, Path(place).parent)
        atexit.register(process.communicate)  # closes its standard input, at which it ends
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        _SERVERS[kind] = _ForkServer(process, place)
    return _SERVERS[kind].place
