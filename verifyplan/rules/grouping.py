"""Which findings say the same thing: the default matcher, and grouping by any matcher (rule B2)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple, Protocol

from verifyplan.protocol.vote import Finding
from verifyplan.rules.citations import places
from verifyplan.rules.likeness import Likeness


class Matcher(Protocol):
    """Says whether two findings say the same thing; must be deterministic and see no truth."""

    def key(self, finding: Finding) -> Hashable:
        """Return a key; findings with different keys never match, and keys keep the comparisons few."""

    def same(self, a: Finding, b: Finding) -> bool:
        """Return whether two findings with equal keys say the same thing."""


class SameClaim:
    """The default: the same cited places and the same claim, spaces and case aside.

    A wrong join gives consensus without a vote, so nothing else is joined.
    """

    def key(self, finding: Finding) -> Hashable:
        """Return the cited places and the words of the claim."""
        return frozenset(places(finding.evidence)), claim_words(finding.summary)

    def same(self, a: Finding, b: Finding) -> bool:  # noqa: ARG002  (the key says it all)
        """Return True: findings with one key say the same."""
        return True


def claim_words(summary: str) -> str:
    r"""Return a claim as it is compared: in small letters, with one space between words.

    >>> claim_words(" The lock\n is HELD ")
    'the lock is held'
    """
    return " ".join(summary.casefold().split())


MATCHERS: dict[str, Matcher] = {"claim": SameClaim(), "likeness": Likeness()}
"""The matchers that are chosen by name."""


class Group(NamedTuple):
    """Findings that say the same thing, the origin's first; `discoverers` in roster order, none if nobody is named."""

    findings: tuple[Finding, ...]
    discoverers: tuple[str, ...]

    @property
    def origin(self) -> Finding:
        """The text of the group: that of the first discoverer in roster order."""
        return self.findings[0]

    @property
    def merged_ids(self) -> tuple[str, ...]:
        """The ids of its findings other than that of the origin, each once."""
        return tuple(dict.fromkeys(f.finding_id for f in self.findings if f.finding_id != self.origin.finding_id))

    @property
    def truth(self) -> bool | None:
        """The truth that all members agree on; None where one is unknown or two differ."""
        truths = {finding.truth for finding in self.findings}
        return truths.pop() if len(truths) == 1 else None


def group(findings: Sequence[Finding], roster: Sequence[str], matcher: Matcher | None) -> list[Group]:
    """Return findings that share an id, or that `matcher` calls the same, as groups in order of first appearance.

    The matcher joins findings of several workers, never two of one worker, who gave them two ids. Findings of nobody
    named are joined, too: nobody told them apart, and as they have no discoverer, a join gives no consensus.
    Findings are taken in the order of the roster and of their ids, and compared with the first member of each group:
    what is grouped does not depend on the order of the input. `matcher=None` groups by id only.

    >>> a = Finding(finding_id="F-1", summary="`f` lacks a check", evidence="m.py:3", worker="ann")
    >>> b = Finding(finding_id="F-2", summary="A check `f` lacks", evidence="m.py:4", worker="bob")
    >>> [[g.discoverers for g in group([a, b], ["bob", "ann"], MATCHERS[name])] for name in ("likeness", "claim")]
    [[('bob', 'ann')], [('ann',), ('bob',)]]
    """
    rank: dict[str | None, int] = {worker: position for position, worker in enumerate(roster)} | {None: len(roster)}
    appeared: dict[str, int] = {}
    for position, finding in enumerate(findings):
        appeared.setdefault(finding.finding_id, position)
    by_id: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda f: (rank[f.worker], f.finding_id)):
        by_id.setdefault(finding.finding_id, []).append(finding)
    groups: list[list[Finding]] = []
    by_key: dict[Hashable, _Near] = {}
    stems_of = matcher.stems if isinstance(matcher, Likeness) else None
    for bearers in by_id.values():
        first = bearers[0]
        near = by_key.setdefault(matcher.key(first), _Near()) if matcher else _Near()
        stems = stems_of(first) if stems_of else None
        may_join = near.that_may_join(first.worker, stems)
        found = next((members for members in may_join if matcher and _joins(bearers, members, matcher)), None)
        if found is None:
            groups.append(found := [])
            near.add(found, stems)
        found.extend(bearers)
    groups.sort(key=lambda members: min(appeared[finding.finding_id] for finding in members))
    ordered = [sorted(members, key=lambda finding: rank[finding.worker]) for members in groups]
    return [Group(tuple(members), tuple(dict.fromkeys(f.worker for f in members if f.worker))) for members in ordered]


class _Near:
    """The groups of one key, in order, and those that have a word; no group is looked at that cannot match."""

    def __init__(self) -> None:
        self._groups: list[list[Finding]] = []
        self._firsts: dict[str, int] = {}
        self._with_stem: dict[str, list[int]] = {}
        self._by_rarest: dict[str | None, list[int]] = {}

    def add(self, members: list[Finding], stems: frozenset[str] | None) -> None:
        """Add a group, with the stems of its first member where the matcher has some."""
        at = len(self._groups)
        self._groups.append(members)
        if stems is None:
            return
        rarest = min(stems, key=lambda stem: (len(self._with_stem.get(stem, ())), stem), default=None)
        self._by_rarest.setdefault(rarest, []).append(at)
        for stem in stems:
            self._with_stem.setdefault(stem, []).append(at)

    def that_may_join(self, worker: str | None, stems: frozenset[str] | None) -> Iterator[list[Finding]]:
        """Yield the groups that a finding of a worker may belong to, in order.

        Of two findings that are alike one has all stems of the other: the groups that have the finding's rarest stem,
        and those whose rarest stem the finding has.
        """
        start = self._first_without(worker)
        if not stems:
            yield from (self._groups[at] for at in range(start, len(self._groups)))
            return
        of_all_stems = min((self._with_stem.get(stem, []) for stem in stems), key=len)
        lists = [of_all_stems, *(self._by_rarest.get(stem, []) for stem in (None, *stems))]
        yield from (
            self._groups[at] for at in sorted({at for each in lists for at in each[bisect_left(each, start) :]})
        )

    def _first_without(self, worker: str | None) -> int:
        """Return the first group that a worker is not in; kept, so that no group is looked at twice for it."""
        if worker is None:
            return 0
        at = self._firsts.get(worker, 0)
        while at < len(self._groups) and any(finding.worker == worker for finding in self._groups[at]):
            at += 1
        self._firsts[worker] = at
        return at


def _joins(bearers: Sequence[Finding], members: Sequence[Finding], matcher: Matcher) -> bool:
    """Return whether the findings of one id belong to a group: by other workers, and the same by their first."""
    workers = {finding.worker for finding in members if finding.worker}
    return workers.isdisjoint(finding.worker for finding in bearers) and matcher.same(members[0], bearers[0])
