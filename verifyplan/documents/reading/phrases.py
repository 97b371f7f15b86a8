"""Read short texts: labels, statuses, words for nothing; tell commands from prose, and orders from statements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from verifyplan.plans.word_lists import words

StatusMeaning = Literal["passed", "failed", "human", "override"]
"""The meaning of a status: it holds, it does not, a person must look, a person let it pass."""

MAX_LABEL_CHARACTERS = 60
"""Text before a colon further on is prose, not a label."""

_LIST_MARKER = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_NOTHING = frozenset(
    {"none", "none found", "nothing", "n/a", "na", "no gaps", "no issues", "no critical issues", "-", "—", ""}
)
_STATUS_WORDS: dict[StatusMeaning, str] = {
    "passed": "verified pass passed passing done ok yes present wired satisfied complete completed met protected"
    " covered connected working works",
    "failed": "failed fail failing missing partial partially skipped stub broken orphaned no not gap gaps blocked"
    " unwired unverified unprotected uncovered absent incomplete regressed regression error unmet",
    "human": "human needs uncertain manual unclear pending",
    "override": "override overridden waived",
}
_OUTCOMES: dict[str, StatusMeaning] = {word: name for name, listed in _STATUS_WORDS.items() for word in listed.split()}
_SIGNS: dict[str, StatusMeaning] = {
    **dict.fromkeys("✓✔✅☑", "passed"),
    **dict.fromkeys("✗✘❌✖❎", "failed"),
    **dict.fromkeys("?⚠❓", "human"),
}
_STATUS_WORD = re.compile(r"[a-z]+")
_SHELL = re.compile(r"""[|&;$<>=`"'\\{}\[\]*~/]|(?:^|\s)--?\w|\w\.\w""")
_CAPITALIZED = re.compile(r"[A-Z][a-z]+")
_COMMANDS_WITH_PROSE = frozenset({"echo", "printf", "say", "grep", "rg"})
_TASK_PREFIX = re.compile(
    r"\s*(?:(?:Task|Step)\s+\d{1,3}[a-z]?\s*[:.)\-]+|\d{1,3}[.)]|\[[^\]]{1,20}\]|[A-Z]{2,10}:)\s*"
)
_WORD = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)?")


class LocatedText(NamedTuple):
    """A text of a document, its further lines joined, and its first line."""

    text: str
    line: int


def labelled_texts(lines: Iterable[tuple[int, str]], names: Mapping[str, str]) -> dict[str, LocatedText]:
    """Return the texts behind labels, as in `**Evidence:** text`; `names`: small label -> name in the result.

    A label may be emphasised, begin a list item, or be a heading. Its text ends before the next label or heading, or at
    an empty line behind some text. Of equal labels the first one counts; a label without text is there and empty.

    >>> lines = enumerate(["**Root Cause:** a race", "between two writers", "", "- Fix: one lock"], 1)
    >>> labelled_texts(lines, {"root cause": "cause", "fix": "fix"})
    {'cause': LocatedText(text='a race between two writers', line=1), 'fix': LocatedText(text='one lock', line=4)}
    """
    labelled: dict[str, tuple[int, list[str]]] = {}
    texts: list[str] | None = None
    for number, line in lines:
        label, text = split_label(line)
        if label in names:
            texts = [text] if text else []
            labelled.setdefault(names[label], (number, texts))
        elif line.lstrip().startswith("#"):
            texts = None
        elif texts is not None and line.strip():
            texts.append(line.strip())
        elif texts:
            texts = None
    return {name: LocatedText(" ".join(texts), number) for name, (number, texts) in labelled.items()}


def split_label(line: str) -> tuple[str, str]:
    """Return the label that a line begins with, in small letters, and the text behind it; ("", "") without a label.

    >>> split_label("- **Next action:** look"), split_label("### Hypothesis"), split_label("prose")
    (('next action', 'look'), ('hypothesis', ''), ('', ''))
    """
    marker = _LIST_MARKER.match(line)
    text = line[marker.end() if marker else 0 :].strip()
    if text.startswith("#"):
        return text.strip("#*_`: ").casefold(), ""
    head, colon, rest = text.partition(":")
    if not colon or len(head) > MAX_LABEL_CHARACTERS:
        return "", ""
    name = head.strip("*_` ")
    opened = head[: len(head) - len(head.lstrip("*_`"))]
    if opened and not head.rstrip().endswith(opened):
        rest = rest.lstrip().removeprefix(opened)
    return name.casefold().replace("_", " "), rest.strip()


def says_nothing(text: str) -> bool:
    """Whether a text says that there is nothing to report.

    >>> says_nothing("None."), says_nothing("- *None*"), says_nothing("None yet, but the log is open")
    (True, True, False)
    """
    return text.casefold().strip("-*_`. \t") in _NOTHING


def is_blank(cell: str) -> bool:
    """Whether a table's cell says nothing: it is empty, or holds a dash or a word for "nothing yet".

    >>> is_blank(" - "), is_blank("TBD"), is_blank("src/a.py:3")
    (True, True, False)
    """
    return says_nothing(cell) or cell.casefold().strip("*_`. ") in ("tbd", "todo", "?", "...", "\N{EN DASH}")


def outcome(status: str) -> StatusMeaning | None:
    """Return the meaning of a status, by its first word, or by its sign without a word; None where neither is known.

    >>> outcome("✓ VERIFIED"), outcome("NOT_WIRED"), outcome("? UNCERTAIN"), outcome("❌"), outcome("blue")
    ('passed', 'failed', 'human', 'failed', None)
    """
    word = _STATUS_WORD.search(status[:200].casefold())
    if word:
        return _OUTCOMES.get(word.group())
    return next((_SIGNS[sign] for sign in status if sign in _SIGNS), None)


def is_prose(text: str) -> bool:
    """Whether a check is prose that no shell could run; False where it may be a command.

    Prose has no sign of a shell, and either begins with a capitalised word, or has three words or more with a function
    word of English among them.

    >>> [is_prose(text) for text in ("Check that the page loads", "Manual inspection", "pytest -q", "make all")]
    [True, True, False, False]
    """
    tokens = text.replace(".\n", "\n").strip().rstrip(".").split()
    if len(tokens) < 2 or tokens[0] in _COMMANDS_WITH_PROSE or _SHELL.search(" ".join(tokens)[:2_000]):
        return False
    folded = {token.strip(",.:()").casefold() for token in tokens}
    has_function_word = len(tokens) > 2 and bool(folded & words("phrasing", "function"))
    return bool(_CAPITALIZED.fullmatch(tokens[0])) or has_function_word


def is_imperative(name: str) -> bool:
    """Whether a task's name may be an order: it does not begin with a participle or article, and is not a statement.

    >>> [is_imperative(name) for name in ("Add login", "Task 1: Embed fonts", "Adding login", "Login works", "The API")]
    [True, True, False, False, False]
    """
    begin = [word.strip("*,.:;()") for word in _TASK_PREFIX.sub("", name, count=1)[:300].split()[:2]]
    if not begin or not _WORD.fullmatch(begin[0]):
        return True
    first = begin[0].casefold()
    participle = len(first) > 4 and first.endswith(("ing", "ed")) and first not in words("phrasing", "alike")
    finite = len(begin) > 1 and begin[1].casefold() in words("phrasing", "finite")
    return not (participle or finite or first in words("phrasing", "determiners"))
