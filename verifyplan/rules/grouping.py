"""Which findings say the same thing: the default matcher, and grouping by any matcher (SPEC B2)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Protocol

from rapidfuzz import fuzz

from verifyplan.protocol.finding import Finding
from verifyplan.rules.citations import places

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


class Matcher(Protocol):
    """Says whether two findings say the same thing; must be deterministic and see no truth."""

    def key(self, finding: Finding) -> Hashable:
        """Findings with different keys never match; keys keep the comparisons few."""

    def same(self, a: Finding, b: Finding) -> bool:
        """Whether two findings with equal keys say the same thing."""


class PlaceAndText:
    """The default: same file, nearby lines, the same names, numbers and negations, and like words.

    A claim about `indent` and one about `indents` at the same line differ in a name, so they are two
    findings, however alike their words are.
    """

    def key(self, finding: Finding) -> Hashable:
        """The first cited file, and every name and number in the claim, in order, and whether it is negated."""
        cited = places(finding.evidence)
        names = tuple(names_and_numbers(finding.summary))
        return cited[0].path if cited else None, names, len(_NEGATION.findall(finding.summary)) % 2

    def same(self, a: Finding, b: Finding) -> bool:
        """Whether the cited lines are near each other (or neither cites any) and the words alike."""
        place_a, place_b = places(a.evidence), places(b.evidence)
        if place_a and place_b:
            apart = max(place_a[0].first, place_b[0].first) - min(place_a[0].last, place_b[0].last)
            if apart > LINES_APART:
                return False
        alike = fuzz.token_sort_ratio(a.summary.lower(), b.summary.lower(), score_cutoff=WORDS_ALIKE)
        return alike >= WORDS_ALIKE


def names_and_numbers(text: str) -> list[str]:
    """What must be equal in two claims that say the same: quoted or code-like words, capitals, numbers.

    >>> names_and_numbers("The call `dumps(x)` of json.encoder returns -1. Two of the JSONEncoder tests fail.")
    ['dumps(x)', 'json.encoder', '-1', 'two', 'JSONEncoder']
    """
    found, end = [], 0
    for token in _TOKEN.finditer(text):
        word = token.group().strip("`(").removesuffix("()")
        begins = token.start() == 0 or _SENTENCE_END.search(text, end, token.start()) is not None
        end = token.end()
        if word.lower() in _NUMBER_WORDS:
            found.append(word.lower())
        elif _WRITTEN_LIKE_A_NAME.search(token.group()) or (word[:1].isupper() and not begins):
            found.append(word)
    return found


class Group(NamedTuple):
    """Findings that say the same thing, the origin's first; `discoverers` in roster order."""

    findings: tuple[Finding, ...]
    discoverers: tuple[str, ...]

    @property
    def origin(self) -> Finding:
        """The text that stands for the group: that of the first discoverer in roster order."""
        return self.findings[0]

    @property
    def truth(self) -> bool | None:
        """The truth that all members agree on; None where one is unknown or two differ."""
        truths = {finding.truth for finding in self.findings}
        return truths.pop() if len(truths) == 1 else None


def group(findings: Sequence[Finding], roster: Sequence[str], matcher: Matcher | None) -> list[Group]:
    """Findings that share an id, or that `matcher` calls the same, as groups in order of first appearance.

    The matcher joins findings of several workers, never two of one worker, who gave them two ids. Findings are
    taken in the order of the roster and of their ids, and compared with the first member of each group: what is
    grouped does not depend on the order of the input. `matcher=None` groups by id only.

    >>> a = Finding(finding_id="F-1", summary="`f` lacks a check", evidence="m.py:3", worker="ann")
    >>> b = Finding(finding_id="F-2", summary="A check `f` lacks", evidence="m.py:4", worker="bob")
    >>> [g.discoverers for g in group([a, b], ["bob", "ann"], PlaceAndText())]
    [('bob', 'ann')]
    """
    rank = {worker: position for position, worker in enumerate(roster)}
    appeared: dict[str, int] = {}
    for position, finding in enumerate(findings):
        appeared.setdefault(finding.finding_id, position)
    by_id: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: (rank[f.worker], f.finding_id)):
        by_id.setdefault(finding.finding_id, []).append(finding)
    groups: list[list[Finding]] = []
    by_key: dict[Hashable, list[list[Finding]]] = {}
    for bearers in by_id.values():
        near = by_key.setdefault(matcher.key(bearers[0]), []) if matcher else []
        found = next((members for members in near if matcher and _joins(bearers, members, matcher)), None)
        if found is None:
            groups.append(found := [])
            near.append(found)
        found.extend(bearers)
    groups.sort(key=lambda members: min(appeared[finding.finding_id] for finding in members))
    ordered = [sorted(members, key=lambda finding: rank[finding.worker]) for members in groups]
    return [Group(tuple(members), tuple(dict.fromkeys(f.worker for f in members))) for members in ordered]


def _joins(bearers: Sequence[Finding], members: Sequence[Finding], matcher: Matcher) -> bool:
    """Whether the findings of one id belong to a group: by other workers, and the same by their first."""
    workers = {finding.worker for finding in members}
    return workers.isdisjoint(finding.worker for finding in bearers) and matcher.same(members[0], bearers[0])
