"""Cited files as the evidence of a finding, written so that every worker finds them (rule B4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verifyplan.plans.paths import without_place

MAX_CITED_PLACES = 5
"""So many places of a finding are opened by a worker."""

MAX_KNOWN_FILES = 100
"""So many files of a plan are looked through for one that is named without its folders."""

LINES = 200
"""So many lines of a cited file are shown."""


def cited(paths: Iterable[str]) -> str:
    """Paths as places from their first line on, each once, at most five; a place that is named stays as it is.

    >>> cited(["src/a.py", "src/b.py:12", "src/a.py"])
    'src/a.py:1-200 src/b.py:12'
    """
    clean = (path.strip().removeprefix("./") for path in paths)
    places = (path if without_place(path) != path else f"{path}:1-{LINES}" for path in clean if _is_citable(path))
    return " ".join(list(dict.fromkeys(places))[:MAX_CITED_PLACES])


def one_line(text: str) -> str:
    r"""A text on one line, without what cannot be shown or written.

    >>> one_line(" the\n queue\x00 is full ")
    'the queue is full'
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())


def known_as(paths: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Paths as the plan or the summary writes them in full, where they name a file without its folders.

    >>> known_as(["a.py", "docs/b.md"], ["src/a.py"])
    ('src/a.py', 'docs/b.md')
    """
    known = known[:MAX_KNOWN_FILES]
    return tuple(
        next((full for full in known if "/" not in path and full.endswith(f"/{path}")), path) for path in paths
    )


def _is_citable(path: str) -> bool:
    """Whether a path is of one file, and in one word."""
    return bool(path) and not path.endswith("/") and not any(letter in path for letter in " \t\n`*?{}<>")
