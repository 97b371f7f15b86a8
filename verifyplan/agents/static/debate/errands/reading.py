"""A task read as criteria: its clauses, the files they name, the words to replace or to add."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verifyplan.agents.static.debate.diffs import nameable
from verifyplan.agents.static.debate.errands.wanted import Added, Coded, Listed, Replaced, Wanted, Written, is_code
from verifyplan.documents.values import normalised

LONGEST = 20_000
"""Characters of a task that are read."""

DEFAULT = "README.md"
"""The file that a task is about which names none, as in document 004."""

_MOST_CLAUSES, _LONGEST_CLAUSE, _LONGEST_TITLE = 30, 300, 80
_CLAUSES = re.compile(r"\n+|(?<=[.!?;])\s+|;\s*|,? and then |, then ")
_MARK = re.compile(r"^(?:[-*+]|\d{1,3}[.)]|#{1,6})\s+(?:\[[ xX]\]\s+)?")
_FILE = re.compile(
    r"(?<![\w/.:-])(?:[\w.-]{1,80}/){0,12}[\w-][\w.-]{0,80}\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/(])|\bREADME\b"
)
_QUOTED = r"(?:\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`|'([^'\n]{1,300})')"
_REPLACE = re.compile(
    rf"\b(?:replace|change|rename)s?\s+(?:\w+ ){{0,3}}?{_QUOTED}\s+(?:with|by|to|into)\s+(?:\w+ ){{0,2}}?{_QUOTED}",
    re.IGNORECASE,
)
_REMOVE = re.compile(r"\b(?:remove|delete)s?\s+(?:\w+ ){0,4}?\"([^\"\n]{1,300})\"", re.IGNORECASE)
_ADD = re.compile(r"\b(?:add|append|insert|write)s?\s+(?:\w+ ){0,4}?\"([^\"\n]{1,300})\"", re.IGNORECASE)
_CODES = re.compile(
    r"^(?:please\s+)?(?:fix|refactor|implement|optimi[sz]e|debug|rewrite|speed up|port|upgrade|parallelize)\b",
    re.IGNORECASE,
)
_TICKED = re.compile(r"`([A-Za-z_][\w.]{2,80})(?:\(\))?`")


@dataclass(frozen=True)
class Errand:
    """What a task comes to: its criteria, and the files that they are about."""

    wanted: tuple[Wanted, ...]
    paths: tuple[str, ...]


def read_task(task: str, resolve: Callable[[str], str], defined: Callable[[str], str | None], default: str) -> Errand:
    """The criteria of a task.

    `resolve` gives the path that a name means, `defined` the file of code that defines a name; `default` is the file
    of a task that names none. Never raises, whatever the text; of a long one the first 20,000 characters are read.
    """
    clauses = _clauses(task)
    wanted: list[Wanted] = []
    prose: dict[str, list[str]] = {}
    before = ""
    for clause in clauses:
        paths = [path for name in _FILE.findall(clause) if nameable(path := resolve(_path(name)))]
        exact = list(_exact(clause, paths[-1] if paths else before or default))
        wanted += exact
        coded = [] if exact else list(_coded(clause, paths, defined))
        wanted += coded
        for path in [] if exact or coded else [path for path in paths if not is_code(path)] or [before or default]:
            prose.setdefault(path, []).append(clause)
        before = next((path for path in paths if not is_code(path)), before)
    for path, said in prose.items():
        wanted += [Written(path, _title(said[0]), tuple(said)), Listed(path, tuple(said))]
    about = tuple(dict.fromkeys(one.path for one in wanted if one.path))
    return Errand(tuple(wanted), about or (default,))


def _clauses(task: str) -> list[str]:
    parts = (_MARK.sub("", part.strip())[:_LONGEST_CLAUSE].strip() for part in _CLAUSES.split(task[:LONGEST]))
    plain = ("".join(c if c.isprintable() else " " for c in part).strip().rstrip(".;,: ") for part in parts)
    return list(dict.fromkeys(part for part in plain if any(c.isalnum() for c in part)))[:_MOST_CLAUSES]


def _exact(clause: str, path: str) -> Iterator[Wanted]:
    """What is to be replaced, removed or added word by word."""
    replaced, removed, added = _REPLACE.search(clause), _REMOVE.search(clause), _ADD.search(clause)
    if replaced is not None:
        old, new = (next(group for group in replaced.groups()[at : at + 3] if group) for at in (0, 3))
        if old != new:
            yield Replaced(path, old, new)
    elif removed is not None:
        yield Replaced(path, removed[1], "")
    elif added is not None and not is_code(path):
        yield Added(path, added[1])


def _coded(clause: str, paths: list[str], defined: Callable[[str], str | None]) -> Iterator[Wanted]:
    """Files of code that the clause names or whose definitions it names; code at all, where its verb is of code."""
    code = [path for path in paths if is_code(path)]
    if not paths:
        code = [path for name in _TICKED.findall(clause) if (path := defined(name)) is not None]
    if code:
        yield from (Coded(path, clause) for path in dict.fromkeys(code))
    elif _CODES.match(clause) and not paths:
        yield Coded("", clause)


def _path(name: str) -> str:
    return DEFAULT if name == "README" else normalised(name)


def _title(clause: str) -> str:
    title = clause[:1].upper() + clause[1:]
    if len(title) <= _LONGEST_TITLE:
        return title
    return title[:_LONGEST_TITLE].rsplit(" ", 1)[0].rstrip(",;:") or title[:_LONGEST_TITLE]
