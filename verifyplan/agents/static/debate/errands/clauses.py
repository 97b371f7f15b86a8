"""The clauses of a task: what each one does, which files it names, and what it is about."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

from verifyplan.agents.static.debate.diffs import nameable
from verifyplan.documents.values import normalised

LONGEST = 20_000
"""Characters of a task that are read."""

README = "README.md"
"""The file that a task is about which names none, as in document 004."""

Deed = Literal["write", "keep", "code", "other"]
"""What a clause asks for: words in a text, a file left as it is, code, or something else."""

_MOST, _LONGEST_CLAUSE, _LONGEST_NAME = 30, 300, 4
_SENTENCES = re.compile(
    r"(?<=[.!?;])\s+|;\s*|,? and then |, then "
    r"|,? and (?=(?:mention|describe|document|explain|note|list|record|include) (?:it|this|that|them)\b)"
)
_MARK = re.compile(r"^(?:[-*+]|\d{1,3}[.)]|#{1,6})\s+(?:\[[ xX]\]\s+)?")
_KNOWN_END = re.compile(r"[^\s/]\.[A-Za-z][A-Za-z0-9]{0,7}$")
_IN_QUOTES = re.compile(r"\"([^\"\n]{1,120})\"|`([^`\n]{1,120})`|'([^'\n]{1,120})'")
_FILE = re.compile(
    r"(?<![\w/.:-])(?:[\w.-]{1,80}/){0,12}[\w-][\w.-]{0,80}\.[A-Za-z][A-Za-z0-9]{0,7}(?![\w/(])|\bREADME\b"
    r"|(?<![^\s(])\.[A-Za-z][\w.-]{1,40}"
)
_OUTSIDE = re.compile(r"(?<![\w.])(?:(?:[\w.-]{1,80}/){0,8}\.\./|~/|/(?:etc|home|root|tmp|usr|var)/)")
_LEAD = r"^(?:(?:please|also|and|then|finally)[ ,]+){0,3}"
_VERB = re.compile(
    _LEAD + r"(?:add|append|insert|write|document|describe|explain|create|draft|note|mention|outline|summari[sz]e|list"
    r"|introduce|include|put|record)\b\s*(?:down\b|in\b(?=\s+(?:the\s+)?README))?",
    re.IGNORECASE,
)
_NEEDS = re.compile(
    r"^.{0,80}?\b(?:gets?|needs?|should (?:have|get))\s+(?=an?\s+(?:\w+ ){0,2}(?:section|paragraph|chapter|page)\b)",
    re.IGNORECASE,
)
_KEEPS = re.compile(
    r"\b(?:do not|don't|never|must not) (?:touch|change|edit|modify|alter|rewrite|remove|delete)\b"
    r"|\b(?:keep|leave)s?\b.{1,120}\b(?:unchanged|untouched|alone|as (?:it is|they are|is))\b",
    re.IGNORECASE,
)
_CODES = re.compile(
    _LEAD + r"(?:fix|refactor|implement|optimi[sz]e|debug|rewrite|speed up|port|upgrade|parallelize)\b", re.IGNORECASE
)
_PART = re.compile(
    r"^(?:(?:an?|the|some|new|short|brief|further|README) ){0,4}"
    r"(?:section|paragraph|chapter|heading|page|file|words?)\b\s*"
    r"(?:(?:on|about|of|for|with|called|titled|named|saying|covering|that (?:explains|describes|says))\b)?[\s:]*",
    re.IGNORECASE,
)
_ARTICLE = r"(?:(?:an?|the|some|new|short|brief)\s+)"
_TO = re.compile(
    rf"\s*\b(?:to|into|in|inside|at|of)\s+{_ARTICLE}{{0,3}}(?:file\s+)?\x00|\b{_ARTICLE}{{1,3}}(?:file\s+)?\x00|\x00",
    re.IGNORECASE,
)
_IS_FILE = re.compile(
    rf"\s*{_ARTICLE}{{0,3}}(?:file\s+)?\x00(?!\s+(?:section|paragraph|chapter|heading|page)\b)", re.IGNORECASE
)
_JOIN = re.compile(r"^(?:(?:with|about|on|for|of)\b\s*)+", re.IGNORECASE)
_PRONOUN = re.compile(r"^(?:it|this|that|them|these|those)$", re.IGNORECASE)


class Clause(NamedTuple):
    """One thing that a task asks for."""

    text: str
    deed: Deed
    paths: tuple[str, ...]
    about: str
    """What it is to speak of, without its verb and its files; the clause itself where it does not say."""
    outside: bool
    """Whether it names a place outside of the folder."""


def clauses(task: str, known: Callable[[str], str | None]) -> tuple[Clause, ...]:
    """The clauses of a task, each once; of a long task the first 20,000 characters are read.

    `known` gives the path of the one file that a name means. Items of a list that have no verb belong to a clause in
    front of them that asks for words. Never raises, whatever the text.

    >>> [one] = clauses("Add a section on setup to docs/a b.md", {"docs/a b.md": "docs/a b.md"}.get)
    >>> one.deed, one.paths, one.about
    ('write', ('docs/a b.md',), 'setup')
    """
    found: list[Clause] = []
    begun = ""
    for item, text in _parts(task):
        paths, rest = _files(text, known)
        deed = _deed(text, rest)
        if deed == "other" and item and found and found[-1].deed == "write" and not paths:
            deed = "write"
        about = _about(rest) if deed == "write" else ""
        if _PRONOUN.match(about) and found:
            about = (begun if paths else "") or found[-1].about or found[-1].text
        begun = heading_of(paths[0]) if deed == "write" and paths and _begins(rest, paths[0], known) else ""
        about = about or begun
        found.append(Clause(text, deed, paths, about or text, _OUTSIDE.search(text) is not None))
    return tuple({one.text: one for one in found}.values())[:_MOST]


def _parts(task: str) -> list[tuple[bool, str]]:
    """The sentences of each line, without marks of lists and headings; and whether such a mark stood there."""
    found: list[tuple[bool, str]] = []
    for line in task[:LONGEST].splitlines():
        mark = _MARK.match(line.strip())
        for part in _SENTENCES.split(line.strip()[mark.end() if mark else 0 :]):
            text = "".join(c if c.isprintable() else " " for c in part[:_LONGEST_CLAUSE]).strip().rstrip(".;,: ")
            if any(character.isalnum() for character in text):
                found.append((mark is not None, text))
        if len(found) >= 2 * _MOST:
            break
    return found


def _deed(text: str, rest: str) -> Deed:
    if _KEEPS.search(text):
        return "keep"
    if _CODES.match(text):
        return "code"
    return "write" if _VERB.match(rest) or _NEEDS.match(rest) else "other"


def _files(text: str, known: Callable[[str], str | None]) -> tuple[tuple[str, ...], str]:
    """The files that a clause names, in order, and the clause with a mark in place of each."""
    found: list[tuple[int, str]] = []

    def quoted(match: re.Match[str]) -> str:
        name = next(group for group in match.groups() if group)
        if not _KNOWN_END.search(name) and known(name) is None:
            return match.group()
        found.append((match.start(), name))
        return "\0".ljust(len(match.group()), "\1")

    rest = _IN_QUOTES.sub(quoted, text)
    for match in reversed(list(_FILE.finditer(rest))):
        start = _start(rest, match, known)
        found.append((start, rest[start : match.end()]))
        rest = rest[:start] + "\0".ljust(match.end() - start, "\1") + rest[match.end() :]
    paths = (_path(name, known) for _, name in sorted(found))
    return tuple(dict.fromkeys(path for path in paths if nameable(path))), rest.replace("\1", "")


def _start(text: str, match: re.Match[str], known: Callable[[str], str | None]) -> int:
    """Where a name begins: further left where a file of that name has spaces in it."""
    words = [one.start() for one in re.finditer(r"\S+", text[: match.start()])][-_LONGEST_NAME:]
    return next((at for at in words if known(text[at : match.end()])), match.start())


def _path(name: str, known: Callable[[str], str | None]) -> str:
    return known(name) or (README if name == "README" else normalised(name))


def _begins(rest: str, path: str, known: Callable[[str], str | None]) -> bool:
    """Whether what a clause wants written is a file, and that file is not there yet."""
    verb = _VERB.match(rest)
    return verb is not None and _IS_FILE.match(rest, verb.end()) is not None and known(path) is None


def heading_of(path: str) -> str:
    """What a text without a title of its own is called: the stem of its file, in words.

    >>> [heading_of(path) for path in ("CHANGELOG.md", "docs/release-notes.md", "FAQ.md")]
    ['Changelog', 'Release notes', 'FAQ']
    """
    stem = path.rpartition("/")[2].partition(".")[0]
    words = " ".join(re.split(r"[\s_-]+", stem)).strip() or path
    if words.isupper() and len(words) > _LONGEST_NAME and words != "README":
        words = words.lower()
    return words[:1].upper() + words[1:]


def _about(rest: str) -> str:
    verb = _VERB.match(rest) or _NEEDS.match(rest)
    said = " ".join(_TO.sub("", rest[verb.end() :] if verb else rest).split())
    return _JOIN.sub("", _PART.sub("", _JOIN.sub("", said))).strip(" \"'`,:")
