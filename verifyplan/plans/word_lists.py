"""The word lists that reading and assessment use (data, in the folder `words`), and a fast search for their phrases."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

_TOKEN = re.compile(r"[^\W_]+|\?{3}")
_JOINERS = frozenset(["", "/", ".", "-", "_", "'", "\u2019"])
_MAX_GAP = 40


@cache
def table(name: str) -> Mapping[str, Any]:
    """Return one file of words as it is: names, and the words under each."""
    text = files("verifyplan.plans").joinpath("words", f"{name}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


@cache
def words(name: str, key: str) -> frozenset[str]:
    """Return the single words under one name of a file of words.

    >>> "Makefile" in words("paths", "names")
    True
    """
    listed: str = table(name)[key]
    return frozenset(listed.split())


class PhraseMatch(NamedTuple):
    """A phrase in a text: the list that has it, the words as they are written, and their place."""

    group: str
    words: str
    start: int
    end: int


class _Phrase(NamedTuple):
    group: str
    tokens: tuple[str, ...]


class Lexicon:
    """Lists of phrases, by name, to find in texts; linear in the length of the text.

    A phrase matches as whole words in any case, its last word with a plural s or without. The words of a phrase may be
    joined by white space, slash, dot, hyphen, underscore or apostrophe. Where phrases of one list overlap, the one that
    begins first matches, then the longest. A word that a hyphen or underscore ties to a further word does not match.

    >>> words = Lexicon({"api": ["api", "api key"], "ci": ["ci/cd"]})
    >>> [match.words for match in words.find("APIs, an API key, CI/CD; no capital, no non-api")]
    ['apis', 'api key', 'ci/cd']
    """

    def __init__(self, lists: Mapping[str, Iterable[str]]) -> None:
        self._by_first_word: defaultdict[str, list[_Phrase]] = defaultdict(list)
        for group, phrases in lists.items():
            for phrase in phrases:
                tokens = tuple(_TOKEN.findall(phrase.lower()))
                for ending in ("", "s"):
                    forms = (*tokens[:-1], tokens[-1] + ending)
                    self._by_first_word[forms[0]].append(_Phrase(group, forms))
        for started in self._by_first_word.values():
            started.sort(key=lambda phrase: -len(phrase.tokens))

    def find(self, text: str) -> Iterator[PhraseMatch]:
        """Yield the phrases of a text, in the order in which they begin."""
        tokens = [(matched.group().lower(), matched.start(), matched.end()) for matched in _TOKEN.finditer(text)]
        ends: dict[str, int] = {}  # of the last match of each list
        for at, (word, start, _) in enumerate(tokens):
            if word not in self._by_first_word:
                continue
            for phrase in self._by_first_word[word]:
                end = tokens[min(at + len(phrase.tokens), len(tokens)) - 1][2]
                if start >= ends.get(phrase.group, 0) and _matches(phrase, tokens, at, text):
                    ends[phrase.group] = end
                    yield PhraseMatch(phrase.group, " ".join(text[start:end].lower().split()), start, end)


def _matches(phrase: _Phrase, tokens: list[tuple[str, int, int]], at: int, text: str) -> bool:
    """Return whether a phrase whose first word is at a place continues there and ends with a whole word."""
    last = at + len(phrase.tokens) - 1
    if last >= len(tokens):
        return False
    for offset in range(1, len(phrase.tokens)):
        between = text[tokens[at + offset - 1][2] : tokens[at + offset][1]]
        joined = len(between) <= _MAX_GAP and between.strip() in _JOINERS
        if tokens[at + offset][0] != phrase.tokens[offset] or not joined:
            return False
    return not (_tied(text, tokens[at][1] - 1, -1) or _tied(text, tokens[last][2], 1))


def _tied(text: str, at: int, step: int) -> bool:
    """Return whether a hyphen or underscore at a place ties a word to the one beyond it."""
    beyond = at + step
    return 0 <= at < len(text) and text[at] in "-_" and 0 <= beyond < len(text) and text[beyond].isalnum()
