"""Judge whether two texts say the same, by place and likeness of words, and find the earlier ones (rules B2, A5).

Nothing is joined across a negation, number, name or opposite.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from rapidfuzz import fuzz

from verifyplan.protocol.vote import Finding
from verifyplan.rules.citations import places

PAIRS = """
before earlier prior preceding precedes precede | after later subsequent following follows follow
with including includes include | without excluding excludes exclude
input inputs inbound incoming | output outputs outbound outgoing
inside within internal inner | outside external outer
upper upward upwards upstream | lower downward downwards downstream
above over exceeds exceed exceeding | below under beneath
more most greater larger longer higher maximum max | less least fewer smaller shorter minimum min
first leading initial initially | last trailing final finally
all every each always everything everyone | some any sometimes
left | right
true truthy | false falsy
only just solely | also too additionally
both | either
and | or
must shall should | may might could can
source sources sender senders producer producers | target targets destination destinations receiver consumer consumers
client clients caller callers request requests | server servers callee response responses
parent parents ancestor | child children descendant
old older oldest previous | new newer newest next
early eager eagerly | late lazy lazily
ascending increasing increases increase grows | descending decreasing decreases decrease shrinks
"""
"""Two sides a line. Other words need no line: one that is exchanged for another, as "released on error" for
"retained on error", tells two claims apart whatever the two words are."""

_SIDES = {
    word: f"{number}{'ab'[side]}"
    for number, line in enumerate(PAIRS.strip().split("\n"))
    for side, words in enumerate(line.split("|"))
    for word in words.split()
}


def _bare_words(text: str) -> frozenset[str]:
    return frozenset(text.split())


DIRECTIONS = _bare_words("to from into onto by than instead through toward towards against")
"""With one of these, or a word of a pair, the order of the other words matters: "the cache to the disk"."""

FILLERS = _bare_words(
    """
    a an the this that these those it its they their there which who whose what of as is are was were be been being
    has have had do does did will would so then here see
    not no nor never neither nothing nobody none cannot t s d ll re ve
    isn aren wasn weren doesn don didn hasn haven hadn won wouldn couldn shouldn mustn
    """
)
"""Words that may come and go; negations are among them, as they are counted apart."""


def side_of(word: str) -> str | None:
    """Return which side of which pair a word in small letters takes; None for a word of no pair.

    >>> side_of("before") == side_of("prior"), side_of("before") == side_of("after"), side_of("lock")
    (True, False, None)
    """
    return _SIDES.get(word)


LINES_APART = 5
"""Cited lines of one file that are no further apart than this name the same place."""
WORDS_ALIKE = 80.0
"""Smallest similarity of the wording, 0-100 (rapidfuzz `token_sort_ratio`)."""

_TOKEN = re.compile(r"`[^`]+`|-?\w+(?:\.\w+)*\(?")  # each character is read once, whatever the text
_WRITTEN_LIKE_A_NAME = re.compile(r"[`_.\d(]|[^\W\d_][A-Z]")
_SENTENCE_END = re.compile(r"(?:^|[.!?:])\s*$")
_NUMBER_WORDS = frozenset(
    ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"],
).union(["first", "second", "third", "once", "twice"])
_NEGATION = re.compile(
    r"\b(?:not?|nor|never|neither|nothing|nobody|without|lack(?:s|ing)?|missing|none|cannot|un\w*able)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


class Likeness:
    """Joins claims on nearby lines that differ in fillers, inflections and, where no direction is given, order.

    The names, numbers, negations and sides of opposites must be the same, in their order, and no word may be exchanged
    for another: a claim about `indent` and one about `indents` are two, and so are "released" and "retained on error".
    What is not joined costs a vote; what is joined wrongly gives consensus without one.
    """

    def key(self, finding: Finding) -> Hashable:
        """Return the first cited file, and the names, numbers, negations and opposites of the claim."""
        cited, text = places(finding.evidence), finding.summary
        sides = tuple(side for word in _WORD.findall(text.lower()) if (side := side_of(word)))
        return cited[0].path if cited else None, tuple(names_and_numbers(text)), len(_NEGATION.findall(text)), sides

    def same(self, a: Finding, b: Finding) -> bool:
        """Return whether the cited lines are near each other (or neither cites any), and the words alike."""
        place_a, place_b = places(a.evidence), places(b.evidence)
        if place_a and place_b:
            apart = max(place_a[0].first, place_b[0].first) - min(place_a[0].last, place_b[0].last)
            if apart > LINES_APART:
                return False
        return likeness(a.summary, b.summary) >= WORDS_ALIKE and not _words_differ(a.summary, b.summary)

    def stems(self, finding: Finding) -> frozenset[str]:
        """Return the words of a claim without fillers and endings; of two that are the same, one has all of the other.

        >>> sorted(Likeness().stems(Finding(finding_id="F-1", summary="The lock is closed.", evidence="", worker="w")))
        ['clos', 'lock']
        """
        return frozenset(_words(finding.summary).stems)


def likeness(a: str, b: str) -> float:
    """Return how alike the words of two claims are, 0-100, whatever their order; below `WORDS_ALIKE` it is 0."""
    return fuzz.token_sort_ratio(a.lower(), b.lower(), score_cutoff=WORDS_ALIKE)


def names_and_numbers(text: str) -> list[str]:
    """Return what must be equal in two claims that say the same: quoted or code-like words, capitals, numbers.

    >>> names_and_numbers("The call `dumps(x)` of json.encoder returns -1. Two of the JSONEncoder tests fail.")
    ['dumps(x)', 'json.encoder', '-1', 'two', 'JSONEncoder']
    """
    numbers, end = [], 0
    for token in _TOKEN.finditer(text):
        word = token.group().strip("`(").removesuffix("()")
        begins = token.start() == 0 or _SENTENCE_END.search(text, end, token.start()) is not None
        end = token.end()
        if word.lower() in _NUMBER_WORDS:
            numbers.append(word.lower())
        elif _WRITTEN_LIKE_A_NAME.search(token.group()) or (word[:1].isupper() and not begins):
            numbers.append(word)
    return numbers


class _Words(NamedTuple):
    stems: tuple[str, ...]
    directed: bool


def _words_differ(a: str, b: str) -> bool:
    """Return whether a word is exchanged for another, or words that a direction binds change their order."""
    left, right = _words(a), _words(b)
    shared = set(left.stems) & set(right.stems)
    if set(left.stems) - shared and set(right.stems) - shared:
        return True
    if not (left.directed or right.directed):
        return False
    return [stem for stem in left.stems if stem in shared] != [stem for stem in right.stems if stem in shared]


@lru_cache(maxsize=4096)
def _words(text: str) -> _Words:
    words = _WORD.findall(text.lower())
    directed = any(word in DIRECTIONS or side_of(word) for word in words)
    return _Words(tuple(_stem(word) for word in words if word not in FILLERS), directed)


def _stem(word: str) -> str:
    """Return a word without the endings of its inflections, as far as two forms of one word need to meet.

    >>> {_stem(word) for word in ("close", "closes", "closed", "closing")}
    {'clos'}
    """
    for ending, instead in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending) + instead
    return word


_SHORTEST_STEM = 2
_ENDINGS = (("ies", "y"), ("ied", "y"), ("sses", "ss"), ("ss", "ss"), ("s", ""), ("ing", ""), ("ed", ""), ("e", ""))


_LIKENESS = Likeness()


class Sayings:
    """The texts so far, by id; finds the ones that a new text repeats."""

    def __init__(self, said: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._by_key: dict[Hashable, list[Finding]] = {}
        self._by_words: dict[Hashable, list[Finding]] = {}
        for name, (text, evidence) in (said or {}).items():
            self.add(name, text, evidence)

    def add(self, name: str, text: str, evidence: str = "") -> None:
        """Remember what was said under an id, and the places that it cites."""
        for said, evidence_of in ((self._by_key, evidence), (self._by_words, "")):
            finding = _finding(name, text, evidence_of)
            said.setdefault(_LIKENESS.key(finding), []).append(finding)

    def again(self, text: str, evidence: str = "") -> str | None:
        """Return the id of the first that said the same; None if it is new.

        >>> said = Sayings({"C1": ("`store.py` is missing: step 2 changes it.", "plan.md:12")})
        >>> said.again("`store.py` is missing; step 2 changes it", "plan.md:12"), said.again("`a.py` is missing.")
        ('C1', None)
        """
        return next(self.every(text, evidence), None)

    def every(self, text: str, evidence: str = "") -> Iterator[str]:
        """Return the ids of all that said the same, in the order in which they were said.

        >>> said = Sayings({"C1": ("The store is locked.", ""), "C2": ("The store is locked.", "")})
        >>> list(said.every("The store is locked"))
        ['C1', 'C2']
        """
        return _same(self._by_key, _finding("new", text, evidence))

    def worded(self, text: str) -> Iterator[str]:
        """Return the ids of all that said the same in like words, whatever places they cite.

        >>> list(Sayings({"C1": ("The store is locked.", "a.py:3")}).worded("The store is locked"))
        ['C1']
        """
        return _same(self._by_words, _finding("new", text, ""))


def brings_new_place(evidence: str, settled: Iterable[str]) -> bool:
    """Return whether evidence cites lines that none of the `settled` evidence cites (rule A5, disputes).

    >>> brings_new_place("b.py:7", ["a.py:7"]), brings_new_place("a.py:7", ["a.py:5-9"]), brings_new_place("", [""])
    (True, False, False)
    """
    known = [place for text in settled for place in places(text)]
    return any(
        not any(new.path == old.path and new.first <= old.last and old.first <= new.last for old in known)
        for new in places(evidence)
    )


def _same(said: Mapping[Hashable, list[Finding]], finding: Finding) -> Iterator[str]:
    return (other.finding_id for other in said.get(_LIKENESS.key(finding), []) if _LIKENESS.same(other, finding))


def _finding(name: str, text: str, evidence: str) -> Finding:
    return Finding(finding_id=name, summary=text if text.strip() else "-", evidence=evidence, worker="-")
