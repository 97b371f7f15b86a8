"""A task read as criteria: the words to replace or to add, the sections to begin, what is left to an author."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from verifyplan.agents.static.debate.errands.clauses import README, Clause, clauses, heading_of
from verifyplan.agents.static.debate.errands.sections import Listed, Written
from verifyplan.agents.static.debate.errands.wanted import Added, Authored, Kept, Replaced, Wanted, is_code
from verifyplan.documents.values import normalised

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
_EVERYWHERE = re.compile(
    r"\b(?:everywhere(?! in\b)|throughout(?! [\w./`-]+\.\w)|in (?:all|every) (?:the )?(?:files?|places?|modules?|code)"
    r"|across the|in the (?:whole |entire )?(?:code|codebase|project|repository|repo)\b)",
    re.IGNORECASE,
)
_NAME = re.compile(r"[A-Za-z_][\w.]*(?:\(\))?")
_RENAME = re.compile(r"\brenames?\b", re.IGNORECASE)
_SECTION = re.compile(r"\bsections?\b", re.IGNORECASE)
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
    pages: dict[str, str] = {}
    before = ""
    for clause in clauses(task, known):
        texts = [path for path in clause.paths if not is_code(path)]
        exact = list(_exact(clause, before, default))
        if exact:
            wanted += exact
        elif clause.deed != "write" or clause.outside or _of_code(clause, defined):
            wanted += _left(clause, defined, before)
        else:
            for one in texts or [before or default]:
                sections.setdefault(one, []).append(clause.about)
                if _SECTION.search(clause.text) and known(one) is None:
                    pages[one] = heading_of(one)
        before = texts[0] if texts else before
    for path, about in sections.items():
        wanted += [Written(path, _title(about[0]), tuple(about), pages.get(path, "")), Listed(path, tuple(about))]
    paths = tuple(dict.fromkeys(one.path for one in wanted if one.path))
    return Errand(tuple(wanted), paths or (default,))


def _exact(clause: Clause, before: str, default: str) -> Iterator[Wanted]:
    """What is to be replaced, removed or added word by word, in each file that the clause names."""
    text = clause.text
    if clause.deed == "keep" or clause.outside:
        return
    replaced, removed, added = _REPLACE.search(text), _REMOVE.search(text), _ADD.search(text)
    if replaced is not None:
        old, new = (next(group for group in replaced.groups()[at : at + 3] if group) for at in (0, 3))
        if old != new:
            yield from _replaced(clause, old, new, before, default)
    elif removed is not None:
        yield from (Replaced(path, removed[1], "") for path in _places(clause, (removed[1],)) or (before or default,))
    elif added is not None:
        paths = _places(clause, (added[1],)) or (before or default,)
        if not all(map(is_code, paths)):
            yield from (Authored(path, text) if is_code(path) else Added(path, added[1]) for path in paths)


def _replaced(clause: Clause, old: str, new: str, before: str, default: str) -> Iterator[Wanted]:
    """Words replaced in each file named; a name of code, or what is to be replaced everywhere, is for an author."""
    paths = _places(clause, (old, new))
    if not paths and normalised(old) in clause.paths:
        yield Authored(normalised(old), clause.text)  # a file gets another name
        return
    name = _NAME.fullmatch(old) is not None
    renamed = _RENAME.search(clause.text) is not None or f"`{old}`" in clause.text
    code = _EVERYWHERE.search(clause.text) is not None or (
        name and not paths and not before and default == README and renamed
    )
    if not paths and not code:
        paths = (before or default,)
    yield from (Replaced(path, old, new, code=name and is_code(path)) for path in paths)
    if code:
        yield Authored("", clause.text, code=name)


def _places(clause: Clause, words: tuple[str, ...]) -> tuple[str, ...]:
    """The files that a clause names to change them, without those that its words only speak of."""
    spoken = {normalised(one) for one in words}
    others = [path for path in clause.paths if path not in spoken]
    told = [path for path in others if not any(path.rpartition("/")[2] in one for one in words)]
    return tuple(told or others)


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
