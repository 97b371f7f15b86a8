"""How many runs may be under way at once: each holds its log and its lock open."""

from __future__ import annotations

import importlib
from typing import Any

FILES_OF_A_RUN = 2
RESERVED = 100
"""Files for everything else: connections, tools, what the caller has open."""

MOST = 5_000
WITHOUT_LIMITS = 200
"""Runs at once where the system tells no limit."""


def room() -> int:
    """How many runs this process may drive at once, by the files that it may have open; at least one."""
    try:
        limits: Any = importlib.import_module("resource")  # of POSIX systems alone
    except ImportError:
        return WITHOUT_LIMITS
    files: int = limits.getrlimit(limits.RLIMIT_NOFILE)[0]
    if files == limits.RLIM_INFINITY:
        return MOST
    return min(MOST, max(1, (files - RESERVED) // FILES_OF_A_RUN))
