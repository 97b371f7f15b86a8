"""Unified diffs made of texts: how files are, and how they will be."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping

NOWHERE = "/dev/null"
"""The name that a diff gives a file which is not there."""

_MARK = "\\ No newline at end of file"
HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_CONTEXT, _MOST_COMPARED = 3, 20_000


def diff_of(changes: Mapping[str, tuple[str | None, str]]) -> str:
    r"""The unified diff of some files, each with its text as it is (None: there is no such file) and as it will be.

    Files that stay as they are, and names that no diff can hold, are left out. Lines end at line feeds alone.

    >>> print(diff_of({"README.md": ("# Sums\n", "# Sums\n\nAdd.\n")}), end="")
    --- a/README.md
    +++ b/README.md
    @@ -1 +1,3 @@
     # Sums
    +
    +Add.
    """
    return "".join(
        line
        for path, (old, new) in changes.items()
        if old != new and nameable(path)
        for line in _written(path, old, new)
    )


def nameable(path: str) -> bool:
    """Whether a diff can name a file: a path that stays in its folder, without control characters."""
    parts = path.split("/")
    plain = all(character.isprintable() for character in path) and "\\" not in path and path.strip() == path
    return plain and not set(parts) & {"", ".", ".."} and not re.match(r"[A-Za-z]:", path)


def _written(path: str, old: str | None, new: str) -> Iterator[str]:
    before, after = lines_of(old or ""), lines_of(new)
    skipped, kept = _equal(before, after)
    compared = (before[skipped : len(before) - kept], after[skipped : len(after) - kept])
    tab = "\t" if " " in path else ""
    names = (NOWHERE if old is None else f"a/{path}{tab}", f"b/{path}{tab}")
    long = sum(map(len, compared)) > _MOST_COMPARED
    for line in (_replaced if long else _compared)(*compared, *names):
        shown = HUNK.sub(lambda found: _shifted(found, skipped), line) if line.startswith("@@") else line
        yield shown if shown.endswith("\n") else f"{shown}\n{_MARK}\n"


def _equal(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines at the start and at the end are equal, but for those that a hunk shows around it."""
    most = min(len(before), len(after))
    head = next((at for at in range(most) if before[at] != after[at]), most)
    tail = next((at for at in range(most - head) if before[-1 - at] != after[-1 - at]), most - head)
    return max(head - _CONTEXT, 0), max(tail - _CONTEXT, 0)


def _compared(old: list[str], new: list[str], *names: str) -> Iterator[str]:
    before, after = names
    return difflib.unified_diff(old, new, before, after, n=_CONTEXT)


def _replaced(old: list[str], new: list[str], *names: str) -> Iterator[str]:
    """One hunk that takes all and gives all: looking for the least change takes too long in texts of that size."""
    yield from (f"--- {names[0]}\n", f"+++ {names[1]}\n")
    yield f"@@ -{min(len(old), 1)},{len(old)} +{min(len(new), 1)},{len(new)} @@\n"
    yield from (f"-{line}" for line in old)
    yield from (f"+{line}" for line in new)


def _shifted(found: re.Match[str], lines: int) -> str:
    old, n_old, new, n_new = found.groups()
    ranges = (f"{int(first) + lines}" + (f",{n}" if n is not None else "") for first, n in ((old, n_old), (new, n_new)))
    return "@@ -{} +{} @@".format(*ranges)


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only a line feed ends one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    lines[-1] = lines[-1].removesuffix("\n")
    return lines if lines[-1] else lines[:-1]
