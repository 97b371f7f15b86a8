"""Functions of parts that other processes import."""

from __future__ import annotations

import os
import signal


def where(_: object) -> int:
    """Return the process that this is called in."""
    return os.getpid()


def dies(_: object) -> None:
    """End the process that this is called in, as the system does where memory runs out."""
    os.kill(os.getpid(), signal.SIGKILL)


def refuses(part: int) -> int:
    """Return the part, or raise for the second one."""
    if part == 1:
        raise ValueError("no second part")
    return part
