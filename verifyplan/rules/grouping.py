"""Which findings say the same thing: the default matcher, and grouping by any matcher (SPEC B2)."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple, Protocol

from rapidfuzz import fuzz

from verifyplan.protocol.finding import Finding
from verifyplan.rules.citations import places

LINES_APART = 5
"""Cited lines of one file that are no further apart than this name the same place."""
WORDS_ALIKE = 80.0
"""Smallest similarity of the wording, 0-100 (rapidfuzz `token_sort_ratio`)."""

_NAME_OR_NUMBER = re.compile(r"`[^`]*`|[\w.]*[_.\d(]\w*|\b[a-z]+[A-Z]\w*")
_NEGATION = re.compile(r"\b(?:not?|never|without|lacks?|missing|none|cannot|un\w+able)\b|n't\b", re.IGNORECASE)


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
        """The first cited file, and every name, number and negation in the claim."""
        cited = places(finding.evidence)
        names = frozenset(token.strip("`(.") for token in _NAME_OR_NUMBER.findall(finding.summary))
        return cited[0].path if cited else None, names, len(_NEGATION.findall(finding.summary)) % 2

    def same(self, a: Finding, b: Finding) -> bool:
        """Whether the cited lines are near each other (or neither cites any) and the words alike."""
        place_a, place_b = places(a.evidence), places(b.evidence)
        near = not (place_a and place_b) or abs(place_a[0].first - place_b[0].first) <= LINES_APART
        return near and fuzz.token_sort_ratio(a.summary.lower(), b.summary.lower()) >= WORDS_ALIKE


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

    A finding is compared with the first member of each group before it, so the outcome depends on the order
    of the input alone. `matcher=None` groups by id only.

    >>> a = Finding(finding_id="F-1", summary="`f` lacks a check", evidence="m.py:3", worker="ann")
    >>> b = Finding(finding_id="F-2", summary="A check `f` lacks", evidence="m.py:4", worker="bob")
    >>> [g.discoverers for g in group([a, b], ["bob", "ann"], PlaceAndText())]
    [('bob', 'ann')]
    """
    members: list[list[Finding]] = []
    by_id: dict[str, int] = {}
    by_key: dict[Hashable, list[int]] = {}
    for finding in findings:
        index = by_id.get(finding.finding_id)
        if index is None and matcher is not None:
            candidates = by_key.setdefault(matcher.key(finding), [])
            index = next((i for i in candidates if matcher.same(members[i][0], finding)), None)
            if index is None:
                candidates.append(len(members))
        if index is None:
            index = len(members)
            members.append([])
        members[index].append(finding)
        by_id[finding.finding_id] = index
    place = {worker: position for position, worker in enumerate(roster)}
    rank: Callable[[Finding], int] = lambda finding: place[finding.worker]  # noqa: E731  (used twice below)
    ordered = [sorted(group, key=rank) for group in members]
    return [Group(tuple(group), tuple(dict.fromkeys(f.worker for f in group))) for group in ordered]
