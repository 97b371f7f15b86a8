"""Whether a text of a task is what the contract asks: a command rather than prose, an order rather than a report."""

from __future__ import annotations

import re

from verifyplan.plans.word_lists import words

_SHELL = re.compile(r"""[|&;$<>=`"'\\{}\[\]*~/]|(?:^|\s)--?\w|\w\.\w""")
_CAPITAL = re.compile(r"[A-Z][a-z]+")
_TALKS = frozenset({"echo", "printf", "say", "grep", "rg"})
_PREFIX = re.compile(r"\s*(?:(?:Task|Step)\s+\d{1,3}[a-z]?\s*[:.)\-]+|\d{1,3}[.)]|\[[^\]]{1,20}\]|[A-Z]{2,10}:)\s*")
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)?")


def is_prose(text: str) -> bool:
    """Whether a check is prose that no shell could run; where it may be a command, it is none.

    Prose has no sign of a shell, and a function word of English among three words or more, or it begins with a capital
    letter as sentences do.

    >>> [is_prose(text) for text in ("Check that the page loads", "Manual inspection", "pytest -q", "make all")]
    [True, True, False, False]
    """
    said = text.replace(".\n", "\n").strip().rstrip(".").split()
    if len(said) < 2 or said[0] in _TALKS or _SHELL.search(" ".join(said)[:2_000]):
        return False
    told = {word.strip(",.:()").casefold() for word in said}
    return bool(_CAPITAL.fullmatch(said[0])) or (len(said) > 2 and bool(told & words("phrasing", "function")))


def is_imperative(name: str) -> bool:
    """Whether a task's name may be an order: not begun by a participle or an article, nor a sentence about something.

    >>> [is_imperative(name) for name in ("Add login", "Task 1: Embed fonts", "Adding login", "Login works", "The API")]
    [True, True, False, False, False]
    """
    told = [word.strip("*,.:;()") for word in _PREFIX.sub("", name, count=1)[:300].split()[:2]]
    if not told or not _WORD.fullmatch(told[0]):
        return True
    first = told[0].casefold()
    participle = len(first) > 4 and first.endswith(("ing", "ed")) and first not in words("phrasing", "alike")
    finite = len(told) > 1 and told[1].casefold() in words("phrasing", "finite")
    return not (participle or finite or first in words("phrasing", "determiners"))
