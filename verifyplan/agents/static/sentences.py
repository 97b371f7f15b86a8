"""A text as sentences of names and of the words between them; linear in the length of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass

from verifyplan.agents.static import vocabulary

_TOKEN = re.compile(r"`([^`\n]+)`|([^\s`]+)")
_LINE = re.compile(r"([0-9]{1,8})(?![0-9])")
_EDGES = ".,;:!?()[]{}\"'*_"
_KNOWN = frozenset.union(
    vocabulary.FILLERS,
    vocabulary.NEGATIONS,
    vocabulary.QUANTIFIERS,
    vocabulary.CUTS,
    *vocabulary.KINDS.values(),
)


@dataclass(frozen=True)
class Sentence:
    """The names of a sentence; `gaps[i]` holds the words before name i, the last gap those after all names.

    `line` is the number after the word "line"; `rest` the word that begins a part which was not read.
    """

    names: tuple[str, ...]
    gaps: tuple[tuple[str, ...], ...]
    line: str = ""
    rest: str = ""

    @property
    def words(self) -> frozenset[str]:
        """All words that are no names."""
        return frozenset(word for gap in self.gaps for word in gap)

    def negations(self) -> int:
        """How often the sentence denies."""
        return sum(word in vocabulary.NEGATIONS or word.endswith("n't") for gap in self.gaps for word in gap)

    def without(self, at: int) -> Sentence:
        """The sentence without one name; the words around it stay."""
        joined = self.gaps[at] + self.gaps[at + 1]
        names = self.names[:at] + self.names[at + 1 :]
        return Sentence(names, (*self.gaps[:at], joined, *self.gaps[at + 2 :]), self.line, self.rest)

    def merged(self, at: int, name: str) -> Sentence:
        """The sentence with names `at - 1` and `at` as one name; the words between them go."""
        names = (*self.names[: at - 1], name, *self.names[at + 1 :])
        return Sentence(names, self.gaps[:at] + self.gaps[at + 1 :], self.line, self.rest)


def sentences(text: str) -> list[Sentence]:
    """The sentences of `text`: names stand in backticks, or are the words that are no ordinary ones.

    >>> sentences("Function `f` calls `g`.")[0].names
    ('f', 'g')
    >>> sentences("f() calls os.stat on line 3")[0].line
    '3'
    """
    text = text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    quoted = "`" in text
    found: list[list[tuple[str, bool]]] = [[]]
    for match in _TOKEN.finditer(text):
        name, word = match.groups()
        found[-1].append((name, True) if name is not None else _word(word, quoted))
        if word is not None and word.endswith((".", "!", "?", ";")):
            found.append([])
    return [_sentence(tokens) for tokens in found if tokens]


def _word(word: str, quoted: bool) -> tuple[str, bool]:
    """A bare word, and whether it is a name; in a text with backticks none is."""
    stripped = word.rstrip(".,;:!?\"'").lstrip("\"'([")
    plain = stripped.strip(_EDGES).lower()
    name = not quoted and plain not in _KNOWN and not plain.endswith("n't") and any(map(str.isalnum, plain))
    return (stripped, True) if name else (plain, False)


def _sentence(tokens: list[tuple[str, bool]]) -> Sentence:
    names: list[str] = []
    gaps: list[list[str]] = [[]]
    line, before = "", ""
    for text, is_name in tokens:
        if len(names) > 1 and not is_name and text in vocabulary.CUTS:
            return Sentence(tuple(names), tuple(map(tuple, gaps)), line, text)
        if before in {"line", "lines"} and (number := _LINE.match(text)):
            line = line or number[1]
        elif is_name:
            names.append(text)
            gaps.append([])
        else:
            gaps[-1].append(text)
        before = text
    return Sentence(tuple(names), tuple(map(tuple, gaps)), line)
