"""What stands behind a label in prose (`**Evidence:** text`, `- Fix: text`), each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

_MARKER = re.compile(r"\s*(?:[-*+]\s+|\d{1,9}[.)]\s+)?(?:\[[ xX]\]\s+)?")
_LONGEST = 60  # letters of a label; what stands before a colon further on is prose


class Labelled(NamedTuple):
    """The text behind a label, its further lines joined, and the label's line."""

    text: str
    line: int


def labelled(lines: Iterable[tuple[int, str]], names: Mapping[str, str]) -> dict[str, Labelled]:
    """What stands behind each of the labels `names` (as written, in small letters -> as it is called).

    A label may be emphasised, a list item's beginning or a heading. Its text goes on to the next label or heading, or
    to an empty line once there is text. The first of two equal labels stands; one without text is there and empty.

    >>> lines = enumerate(["**Root Cause:** a race", "between two writers", "", "- Fix: one lock"], 1)
    >>> labelled(lines, {"root cause": "cause", "fix": "fix"})
    {'cause': Labelled(text='a race between two writers', line=1), 'fix': Labelled(text='one lock', line=4)}
    """
    found: dict[str, tuple[int, list[str]]] = {}
    texts: list[str] | None = None
    for number, line in lines:
        name, text = divided(line)
        if name in names:
            texts = [text] if text else []
            found.setdefault(names[name], (number, texts))
        elif line.lstrip().startswith("#"):
            texts = None
        elif texts is not None and line.strip():
            texts.append(line.strip())
        elif texts:
            texts = None
    return {name: Labelled(" ".join(texts), number) for name, (number, texts) in found.items()}


def divided(line: str) -> tuple[str, str]:
    """The label that a line begins with, in small letters, and the text behind it; ("", "") without a label.

    >>> divided("- **Next action:** look"), divided("### Hypothesis"), divided("prose")
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
