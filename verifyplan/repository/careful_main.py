"""The process that does what a hostile text can make endless or deadly: parsing, and trying patterns on lines.

It reads requests and writes replies as JSON behind their length in four bytes. `careful` starts and ends it.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from verifyplan.repository.messages import read_frame, write_frame
from verifyplan.repository.outline import outline

try:
    import resource
except ImportError:  # Windows has none; there, only the time is limited
    resource = None  # type: ignore[assignment]

MEMORY = 500_000_000
"""Bytes of address space that the process may take."""
LONGEST_LINE = 1_000
"""Characters of a line that a pattern is tried on."""


def main() -> None:
    """Answer requests until there are no more."""
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        limit = MEMORY if most == resource.RLIM_INFINITY else min(MEMORY, most)
        resource.setrlimit(resource.RLIMIT_AS, (limit, most))
    warnings.simplefilter("ignore")
    while (request := read_frame(sys.stdin.buffer)) is not None:
        write_frame(sys.stdout.buffer, answer(request))


def answer(request: list[Any]) -> dict[str, Any]:
    """`{"value": ...}`, or `{"error": ...}` with the reason in words."""
    try:
        task, *given = request
        return {"value": _TASKS[task](*given)}
    except re.error as error:
        return {"error": str(error)}
    except (ValueError, OverflowError, RecursionError, MemoryError) as error:
        return {"error": "it takes too much work" if "Parsing" in str(error) else type(error).__name__}


@lru_cache(maxsize=16)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _grep(pattern: str, texts: list[tuple[str, str]], limit: int) -> list[tuple[str, int, str]]:
    """Path, number and text of up to `limit` lines in which the pattern is found."""
    search = _compiled(pattern).search
    found: list[tuple[str, int, str]] = []
    for path, text in texts:
        for number, line in enumerate(text.split("\n"), 1):
            if search(line[:LONGEST_LINE]):
                found.append((path, number, line[:LONGEST_LINE]))
                if len(found) >= limit:
                    return found
    return found


_TASKS: dict[str, Callable[..., Any]] = {"outline": outline, "grep": _grep}
