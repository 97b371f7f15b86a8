"""What stands behind a label in prose (`**Evidence:** text`, `- Fix: text`), each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from verifyplan.plans.word_lists import words

_MARKER = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_LONGEST = 60  # letters of a label; what stands before a colon further on is prose


class LocatedText(NamedTuple):
    """The text behind a label, its further lines joined, and the label's line."""

    text: str
    line: int


def labelled_texts(lines: Iterable[tuple[int, str]], names: Mapping[str, str]) -> dict[str, LocatedText]:
    """What stands behind each of the labels `names` (as written, in small letters -> as it is called).

    A label may be emphasised, a list item's beginning or a heading. Its text goes on to the next label or heading, or
    to an empty line once there is text. The first of two equal labels stands; one without text is there and empty.

    >>> lines = enumerate(["**Root Cause:** a race", "between two writers", "", "- Fix: one lock"], 1)
    >>> labelled_texts(lines, {"root cause": "cause", "fix": "fix"})
    {'cause': Labelled(text='a race between two writers', line=1), 'fix': Labelled(text='one lock', line=4)}
    """
    found: dict[str, tuple[int, list[str]]] = {}
    texts: list[str] | None = None
    for number, line in lines:
        name, text = split_label(line)
        if name in names:
            texts = [text] if text else []
            found.setdefault(names[name], (number, texts))
        elif line.lstrip().startswith("#"):
            texts = None
        elif texts is not None and line.strip():
            texts.append(line.strip())
        elif texts:
            texts = None
    return {name: LocatedText(" ".join(texts), number) for name, (number, texts) in found.items()}


def split_label(line: str) -> tuple[str, str]:
    """The label that a line begins with, in small letters, and the text behind it; ("", "") without a label.

    >>> split_label("- **Next action:** look"), split_label("### Hypothesis"), split_label("prose")
    (('next action', 'look'), ('hypothesis', ''), ('', ''))
    """
    marker = _MARKER.match(line)
    text = line[marker.end() if marker else 0 :].strip()
    if text.startswith("#"):
        return text.strip("#*_`: ").casefold(), ""
    head, colon, rest = text.partition(":")
    if not colon or len(head) > _LONGEST:
        return "", ""
    name = head.strip("*_` ")
    opened = head[: len(head) - len(head.lstrip("*_`"))]
    if opened and not head.rstrip().endswith(opened):
        rest = rest.lstrip().removeprefix(opened)
    return name.casefold().replace("_", " "), rest.strip()


_NOTHING = frozenset(
    {"none", "none found", "nothing", "n/a", "na", "no gaps", "no issues", "no critical issues", "-", "—", ""}
)


def says_nothing(text: str) -> bool:
    """Whether a text says that there is nothing to tell.

    >>> says_nothing("None."), says_nothing("- *None*"), says_nothing("None yet, but the log is open")
    (True, True, False)
    """
    return text.casefold().strip("-*_`. \t") in _NOTHING


def is_blank(cell: str) -> bool:
    """Whether a cell of a table says nothing: it is empty, or holds a dash or a word that stands for that.

    >>> is_blank(" - "), is_blank("TBD"), is_blank("src/a.py:3")
    (True, True, False)
    """
    return says_nothing(cell) or cell.casefold().strip("*_`. ") in ("tbd", "todo", "?", "...", "\N{EN DASH}")


Outcome = Literal["passed", "failed", "human", "override"]
"""What a status cell says: it holds, it does not, a person must look, a person let it pass."""

_WORDS: dict[Outcome, str] = {
    "passed": "verified pass passed passing done ok yes present wired satisfied complete completed met protected"
    " covered connected working works",
    "failed": "failed fail failing missing partial partially skipped stub broken orphaned no not gap gaps blocked"
    " unwired unverified unprotected uncovered absent incomplete regressed regression error unmet",
    "human": "human needs uncertain manual unclear pending",
    "override": "override overridden waived",
}
_MEANT: dict[str, Outcome] = {word: name for name, meant in _WORDS.items() for word in meant.split()}
_SIGNS: dict[str, Outcome] = {
    **dict.fromkeys("✓✔✅☑", "passed"),
    **dict.fromkeys("✗✘❌✖❎", "failed"),
    **dict.fromkeys("?⚠❓", "human"),
}
_FIRST_WORD = re.compile(r"[a-z]+")


def outcome(status: str) -> Outcome | None:
    """What a status says: by its first word, or by its sign where it has no word; None where neither is known.

    >>> outcome("✓ VERIFIED"), outcome("NOT_WIRED"), outcome("? UNCERTAIN"), outcome("❌"), outcome("blue")
    ('passed', 'failed', 'human', 'failed', None)
    """
    word = _FIRST_WORD.search(status[:200].casefold())
    if word:
        return _MEANT.get(word.group())
    return next((_SIGNS[sign] for sign in status if sign in _SIGNS), None)


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
