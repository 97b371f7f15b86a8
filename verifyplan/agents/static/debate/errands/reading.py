"""A task read as criteria: the words to replace or to add, the sections to begin, what is left to an author."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verifyplan.agents.static.debate.errands.clauses import README, Clause, clauses
from verifyplan.agents.static.debate.errands.sections import Listed, Written
from verifyplan.agents.static.debate.errands.wanted import Added, Authored, Kept, Replaced, Wanted, is_code

_LONGEST_TITLE = 80
_QUOTED = r"(?:\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`|'([^'\n]{1,300})')"
_REPLACE = re.compile(
    rf"\b(?:replace|change|rename)s?\s+(?:\w+ ){{0,3}}?{_QUOTED}\s+(?:with|by|to|into)\s+(?:\w+ ){{0,2}}?{_QUOTED}",
    re.IGNORECASE,
)
_REMOVE = re.compile(r"\b(?:remove|delete)s?\s+(?:\w+ ){0,4}?\"([^\"\n]{1,300})\"", re.IGNORECASE)
_ADD = re.compile(
    r"\b(?:add|append|insert|write)s?\s+(?:(?!section\b|heading\b|chapter\b)\w+ ){0,4}?\"([^\"\n]{1,300})\"",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([A-Za-z_][\w.]{2,80})(?:\(\))?`")


@dataclass(frozen=True)
class Errand:
    """What a task comes to: its criteria, and the files that they are about."""

    wanted: tuple[Wanted, ...]
    paths: tuple[str, ...]


def read_task(
    task: str, known: Callable[[str], str | None], defined: Callable[[str], str | None], default: str = README
) -> Errand:
    """The criteria of a task.

    `known` gives the path of the one file that a name means, `defined` the file of code that defines a name; `default`
    is the file of a task that names none. Never raises, whatever the text.
    """
    wanted: list[Wanted] = []
    sections: dict[str, list[str]] = {}
    before = ""
    for clause in clauses(task, known):
        texts = [path for path in clause.paths if not is_code(path)]
        path = (clause.paths or (before,))[-1] or default
        exact = list(_exact(clause, path))
        if exact:
            wanted += exact
        elif clause.deed != "write" or clause.outside or _of_code(clause, defined):
            wanted += _left(clause, defined, before)
        else:
            for one in texts or [before or default]:
                sections.setdefault(one, []).append(clause.about)
        before = texts[0] if texts else before
    for path, about in sections.items():
        wanted += [Written(path, _title(about[0]), tuple(about)), Listed(path, tuple(about))]
    paths = tuple(dict.fromkeys(one.path for one in wanted if one.path))
    return Errand(tuple(wanted), paths or (default,))


def _exact(clause: Clause, path: str) -> Iterator[Wanted]:
    """What is to be replaced, removed or added word by word."""
    text = clause.text
    if clause.deed == "keep" or clause.outside:
        return
    replaced, removed, added = _REPLACE.search(text), _REMOVE.search(text), _ADD.search(text)
    if replaced is not None:
        old, new = (next(group for group in replaced.groups()[at : at + 3] if group) for at in (0, 3))
        if old != new:
            yield Replaced(path, old, new)
    elif removed is not None:
        yield Replaced(path, removed[1], "")
    elif added is not None and not is_code(path):
        yield Added(path, added[1])


def _of_code(clause: Clause, defined: Callable[[str], str | None]) -> bool:
    """Whether a clause is about code: it names no text, but files of code or what they define."""
    if clause.paths:
        return all(map(is_code, clause.paths))
    return any(defined(name) for name in _TICKED.findall(clause.text))


def _left(clause: Clause, defined: Callable[[str], str | None], before: str) -> Iterator[Wanted]:
    """What stays as it is, and what takes an author: files that the clause names, or that define what it names."""
    if clause.deed == "keep":
        yield from (Kept(path, clause.text) for path in clause.paths or ("",))
        return
    paths = list(clause.paths)
    if clause.outside:
        paths = []
    elif not paths:
        paths = [path for name in _TICKED.findall(clause.text) if (path := defined(name)) is not None]
    for path in dict.fromkeys(paths) or ("" if clause.deed == "code" or clause.outside else before,):
        yield Authored(path, clause.text, code=clause.deed == "code", outside=clause.outside)


def _title(about: str) -> str:
    title = about[:1].upper() + about[1:]
    if len(title) <= _LONGEST_TITLE:
        return title
    return title[:_LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") or title[:_LONGEST_TITLE]
