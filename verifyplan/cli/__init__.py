"""The command line, `verifyplan --help` (rules H1, H2); this entry imports nothing that takes time."""

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main() -> None:
    """Run the command line; Ctrl-C before a command begins ends it with exit code 130 and no message."""
    try:
        with exit_on_interrupt():
            app = import_module("verifyplan.cli.app")
        app.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """End the process at once on Ctrl-C while the block runs; for imports, which have nothing to save.

    A KeyboardInterrupt is not enough: modules that are being imported can turn it into another error.
    """
    before = signal.getsignal(signal.SIGINT)
    ignored = before in (signal.SIG_IGN, None)  # a background job keeps ignoring Ctrl-C
    if ignored or threading.current_thread() is not threading.main_thread():  # other threads may set no handler
        yield
        return
    signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def has_terminal() -> bool:
    """Return whether a user can read a question and type an answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()
