"""The command line, `verifyplan --help` (rules H1, H2): its entry, which imports nothing that takes time."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

INTERRUPTED = 130
"""Exit code after Ctrl-C."""


def main() -> None:
    """Run the command line; Ctrl-C before a command has begun ends it quietly with exit code 130."""
    try:
        with exit_on_interrupt():
            app = import_module("verifyplan.cli.app")
        app.main()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


@contextmanager
def exit_on_interrupt() -> Iterator[None]:
    """End the process at once on Ctrl-C while the block runs; for imports, which have nothing to save.

    A KeyboardInterrupt would not do: modules that are being imported can turn it into another error.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a job in the background stays deaf to Ctrl-C
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
