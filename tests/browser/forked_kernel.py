"""A Jupyter kernel as a fork of a process that has imported libraries: to start one and import them takes seconds."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

if __name__ == "__main__":  # the socket of the fork server, then the kernel's connection file
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests import fork_client

    words, here = ["-f", sys.argv[2]], str(Path.cwd())
    handed = (signal.SIGINT, signal.SIGTERM)
    sys.exit(fork_client.run(sys.argv[1], "tests.fork_server", "kernel", words, here, os.environ, signals=handed))
