"""Rules files: the sentences in which a project tells people and agents what to do and what to leave."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from verifyplan.agents.repository.records import FileEntry, Polarity, RuleLine
from verifyplan.agents.repository.stopwords import STOP
from verifyplan.agents.repository.texts import Texts

NAMES = frozenset(
    {
        ".clinerules",
        ".cursorrules",
        ".windsurfrules",
        "agents.md",
        "claude.md",
        "contributing.md",
        "contributing.rst",
        "contributing.txt",
        "conventions.md",
        "copilot-instructions.md",
        "gemini.md",
    }
)
"""Names of rules files, in small letters; files below `.cursor/rules` and `.github/instructions` are such, too."""

LONGEST = 2_000
"""Characters of a paragraph that are read."""

_FOLDERS = (".cursor/rules/", ".github/instructions/")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_HEADING = re.compile(r"[ \t]*#{1,6}[ \t]+(.*)")
_END = re.compile(
    r"(?<=[.!?])[\s*_]+(?=[A-Z`*_\"'(])|(?<=[.!?][)\"'`])\s+(?=[A-Z`])|;\s+|:\s+(?=(?:use|prefer|call)\b)"
)
_CODE = re.compile(r"`([^`\n]{1,100})`")
_MUST_NOT = re.compile(
    r"\b(?:never|must not|mustn't|do not|don't|donts|should not|shouldn't|may not|cannot|can't|avoid|forbidden"
    r"|prohibited|disallowed|not allowed|not permitted|no longer use|refrain|nobody|none)\b|^no\b|(?<!and )\bnothing\b",
    re.IGNORECASE,
)
_MUST = re.compile(
    r"\b(?:must|always|prefer|preferred|only|required|requires|mandatory|should|shall|ensure|make sure|need to|needs to"
    r"|have to|has to|and nothing else)\b|^(?:use|all|every|each)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"(?:where|when|whenever|if|unless|because|since|while|although|as)\b[^,]*,\s*", re.IGNORECASE)
_INSTEAD = re.compile(r"(?:,|\band\b)?\s+(?:not|never|instead of|rather than|over)\s+", re.IGNORECASE)
_CHOOSING = re.compile(r"\b(?:use|prefer|choose|write|call|import|pick)\b", re.IGNORECASE)
_TOKEN = re.compile(r"[A-Za-z][\w.+#/'-]{0,60}[\w+#]|[A-Za-z]")
_MOST_SUBJECTS = 8


class _Block(NamedTuple):
    """A paragraph or list item: its lines as they stand, the first one's number, and the heading above."""

    line: int
    lines: tuple[str, ...]
    heading: str


def read_rules(files: Mapping[str, FileEntry], texts: Texts) -> list[RuleLine]:
    """All rules of all rules files, in order of path and line."""
    found: list[RuleLine] = []
    for path, text in texts.scan([path for path in files if is_rules_file(path)]):
        found += rules_in(path, text)
    return found


def is_rules_file(path: str) -> bool:
    """Whether a file holds rules, by its name.

    >>> is_rules_file("docs/CONTRIBUTING.md"), is_rules_file(".cursor/rules/style.mdc"), is_rules_file("README.md")
    (True, True, False)
    """
    lower = path.lower()
    return lower.rpartition("/")[2] in NAMES or any(f"/{folder}" in f"/{lower}" for folder in _FOLDERS)


def rules_in(path: str, text: str) -> list[RuleLine]:
    """The rules in a text: sentences of paragraphs and list items that hold a word such as must, never or prefer.

    A list below a heading such as "Never" takes its sense from that. "Use X, not Y" is two rules: one that asks for
    X, and one that forbids Y. Code blocks are not read. Never raises.

    >>> [(rule.polarity, rule.subjects) for rule in rules_in("AGENTS.md", "- Use `ruff`, not `black`.")]
    [('must', ('ruff',)), ('must-not', ('black',))]
    """
    found: list[RuleLine] = []
    for block in _blocks(text):
        for line, sentence in _sentences(block):
            found += _rules(sentence, path, line, block.heading)
    return found


def _blocks(text: str) -> Iterator[_Block]:
    """Paragraphs and list items, without code blocks, headings and tables."""
    fence, heading, start = "", "", 0
    held: list[str] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        stripped = line.strip()
        title = _HEADING.match(line)
        mark = stripped[:3] if stripped.startswith(("```", "~~~")) else ""
        breaks = not stripped or title or mark or fence or _ITEM.match(line) or stripped.startswith(("|", "<!--"))
        if breaks and held:
            yield _Block(start, tuple(held), heading)
            held = []
        if mark and (not fence or mark == fence):
            fence = "" if fence else mark
        elif title and not fence:
            heading = title[1].strip(" #*_:`")
        elif stripped and not fence and not stripped.startswith(("|", "<!--")):
            start = start if held else number
            held.append(line)


def _sentences(block: _Block) -> Iterator[tuple[int, str]]:
    """The sentences of a block, on one line each, with the line on which each begins."""
    mark = _ITEM.match(block.lines[0])
    start = mark.end() if mark else 0
    text = "\n".join([" " * start + block.lines[0][start:], *block.lines[1:]])[:LONGEST]
    at = 0
    for end in [*(found.end() for found in _END.finditer(text)), len(text)]:
        part = text[at:end]
        words = " ".join(part.split()).strip("*_ ")
        if words:
            before = len(part) - len(part.lstrip())
            yield block.line + text.count("\n", 0, at + before), words
        at = end


def _rules(sentence: str, path: str, line: int, heading: str) -> Iterator[RuleLine]:
    plain = _outside_code(sentence.replace("\u2019", "'")).replace("*", "").replace("_", " ")
    plain = _CONDITION.sub("", plain.strip())
    forbids, asks = _MUST_NOT.search(plain), _MUST.search(plain)
    chosen = _chosen(sentence)
    if chosen is not None:
        yield RuleLine(sentence, path, line, "must", _subjects(chosen[0]))
        yield RuleLine(sentence, path, line, "must-not", _subjects(chosen[1]))
    elif forbids or asks:
        yield RuleLine(sentence, path, line, "must-not" if forbids else "must", _subjects(sentence))
    elif (polarity := _of_heading(heading)) is not None and _subjects(sentence):
        yield RuleLine(sentence, path, line, polarity, _subjects(sentence))


def _outside_code(text: str) -> str:
    """The text with names in backticks blanked, so that `only()` is no word."""
    return _CODE.sub("x", text)


def _chosen(sentence: str) -> tuple[str, str] | None:
    """The two sides of "use X, not Y", "prefer X over Y"; None for any other sentence."""
    found = _INSTEAD.search(sentence)
    before = sentence[: found.start()] if found else ""
    if found is None or not _CHOOSING.search(_outside_code(before)) or _MUST_NOT.search(_outside_code(before)):
        return None
    after = re.split(r"[,;:(]|\s(?:when|if|unless|because|so|for|in|to)\s", sentence[found.end() :])[0]
    return (before, after) if _subjects(before) and _subjects(after) else None


def _of_heading(heading: str) -> Polarity | None:
    """What a heading that says no more than "Never" or "Always" means for what stands below it."""
    if len(heading.split()) > 3:
        return None
    if _MUST_NOT.search(heading.replace("\u2019", "'")):
        return "must-not"
    return "must" if re.fullmatch(r"(?i)(?:you )?must|always|required|mandatory|do'?s?", heading) else None


def _subjects(text: str) -> tuple[str, ...]:
    """What a sentence speaks of: names in backticks, then names by their looks, then the other words that matter."""
    code = [name.strip() for name in _CODE.findall(text)]
    plain = _CODE.sub(" ", text).replace("\u2019", "'")
    words = [word.removesuffix("'s") for word in _TOKEN.findall(plain) if word.lower() not in STOP and len(word) > 2]
    names = [word for at, word in enumerate(words) if _looks_like_name(word, first=at == 0)]
    rest = [word.lower() for word in words if word not in names]
    return tuple(dict.fromkeys([*code, *names, *rest]))[:_MOST_SUBJECTS]


def _looks_like_name(word: str, *, first: bool) -> bool:
    inner = any(sign in word for sign in "._/+#") or any(letter.isupper() or letter.isdigit() for letter in word[1:])
    return inner or (word[0].isupper() and not first)
