"""Judge findings again with some of their votes changed: failed, uncited and single votes, workers left out (rule R4).

Each change is judged for all findings at once. What is judged are the votes that were cast; a round that was never held
gives none.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from verifyplan.analysis.treatments.bounds import attainable_classes
from verifyplan.analysis.treatments.recorded_votes import RecordedPart
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import judge_codes
from verifyplan.rules.vote_codes import (
    AGREE,
    BURDEN,
    COUNTED,
    COUNTER,
    LOST,
    N_CODES,
    NOT_ASKED,
    SUPPLEMENT,
    UNSEEN,
    Bools,
    Codes,
    Ints,
    read_codes,
)

_CONTESTED = 1 << CLASSIFICATIONS.index("contested")

_OPPOSITE = np.arange(N_CODES, dtype=np.int8)
_OPPOSITE[[AGREE, SUPPLEMENT, BURDEN, COUNTER]] = COUNTER, COUNTER, AGREE, AGREE


class Judged(NamedTuple):
    """How some findings are judged."""

    classes: Ints
    """Position in CLASSIFICATIONS."""
    goes_on: Bools
    """Whether the rules would go on to a round that was never held."""


class Effect(NamedTuple):
    """The effect of a kind of change on the findings of a part; arrays have one entry a finding."""

    n_votes: Ints
    """The votes that are changed; of left-out workers those who voted on the finding."""
    n_deciding: Ints
    """Those of them on which the class rests: by themselves where each is changed alone, else together."""
    attainable: Ints
    """The classes with and without the change, as a set: bit c for position c in CLASSIFICATIONS."""
    goes_on: Bools
    """Whether a change of the class would go on to a round that was never held."""


@dataclass(frozen=True, eq=False)
class PartVotes:
    """The votes of a part as the rules read them, with as many slots as a finding has voters."""

    part: RecordedPart
    recorded: Codes
    """The votes as recorded, of shape (rounds, slots, findings), without workers and rounds that do not count."""
    read: Codes
    """What each counts as by itself."""
    filled: Bools
    """Whether its basis was filled in."""
    worker: Ints
    """The position of the worker in each slot, of shape (slots, findings); -1 where there is none."""

    def judge(self, votes: Codes, findings: Ints | None = None) -> Judged:
        """Return how votes in place of those of some findings are judged; None are all."""
        rows = np.arange(votes.shape[2]) if findings is None else findings
        decision, _ = judge_codes(votes, self.part.executed[rows], self._rules, self.part.mode, self._names)
        return Judged(decision.classification, ~decision.settled & self.could_go_on[rows])

    def attainable(self, votes: Codes) -> Ints:
        """Return the classes that findings can have where unseen votes may be any."""
        return attainable_classes(votes, self.part.executed, self._rules, self.part.mode, self._names)

    @property
    def could_go_on(self) -> Bools:
        """Whether the rules allow a finding more rounds than were held."""
        return np.asarray(self.part.executed < self.part.allowed)

    @property
    def _rules(self) -> VotingRules:
        return self.part.rules.model_copy(update={"workers": None})  # others have no slot

    @property
    def _names(self) -> tuple[str, ...]:
        """The names of the slots, which matter where workers have weights: then each has a slot of its own."""
        return self.part.cube.workers if self.part.rules.weights is not None else ("",) * len(self.worker)


def part_votes(part: RecordedPart) -> PartVotes:
    """Return the votes of a part as its rules read them."""
    codes = np.where(part.cube.codes == UNSEEN, np.int8(LOST), part.cube.codes)  # held back: their calls failed
    later = np.arange(1, len(codes) + 1)[:, None] > part.executed
    codes[np.broadcast_to(later[:, None], codes.shape)] = NOT_ASKED
    if part.rules.workers is not None:
        codes[:, [name not in part.rules.workers for name in part.cube.workers]] = NOT_ASKED
    asked, filled = (codes != NOT_ASKED).any(axis=0), part.filled
    if part.rules.weights is not None:
        worker = np.where(asked, np.arange(len(asked))[:, None], -1)
    else:
        finding, voter = np.nonzero(asked.T)
        sizes = asked.sum(axis=0)
        slot = np.arange(len(finding)) - (np.cumsum(sizes) - sizes)[finding]
        worker = np.full((int(sizes.max(initial=0)), codes.shape[2]), -1, dtype=np.int64)
        worker[slot, finding] = voter
        codes = np.where(worker >= 0, np.take_along_axis(codes, np.maximum(worker, 0)[None], axis=1), NOT_ASKED)
        filled = (worker >= 0) & np.take_along_axis(filled, np.maximum(worker, 0)[None], axis=1)
    return PartVotes(part, codes, read_codes(codes, part.rules, part.mode), filled & (codes != NOT_ASKED), worker)


def together(votes: PartVotes, cells: Bools, changed: Codes, before: Judged) -> tuple[Judged, Effect]:
    """Return how findings are judged with all votes of some cells changed, and the effect."""
    after = votes.judge(np.where(cells, changed, votes.read))
    return after, _effect(cells, before, 1 << after.classes, after.goes_on)


def failed_as_anything(votes: PartVotes, before: Judged) -> Effect:
    """Return the effect of failed votes if each could have been any vote."""
    failed = votes.recorded == LOST
    attainable = votes.attainable(np.where(failed, np.int8(UNSEEN), votes.read))
    return _effect(failed, before, attainable, (attainable & _CONTESTED > 0) & votes.could_go_on)


def _effect(cells: Bools, before: Judged, attainable: Ints, goes_on: Bools) -> Effect:
    n_votes, own = cells.sum(axis=(0, 1)), 1 << before.classes
    changed = attainable | own != own
    return Effect(n_votes, np.where(changed, n_votes, 0), attainable | own, changed & goes_on)


def other_basis(votes: Codes) -> Codes:
    """Return votes as they are read, each disagree with the other basis."""
    table = np.arange(N_CODES, dtype=np.int8)
    table[[BURDEN, COUNTER]] = COUNTER, BURDEN
    return table[votes]


def single_votes(votes: PartVotes, before: Judged) -> Effect:
    """Return the effect of single votes: each taken the opposite way, agree or counter-evidence, all others as cast."""
    n_votes = np.isin(votes.read, COUNTED).sum(axis=(0, 1))
    n_deciding, attainable = np.zeros_like(n_votes), 1 << before.classes
    goes_on = np.zeros(len(n_votes), dtype=bool)
    for number, slot in np.ndindex(votes.read.shape[:2]):
        findings = np.flatnonzero(np.isin(votes.read[number, slot], COUNTED))
        flipped = votes.read[:, :, findings]
        flipped[number, slot] = _OPPOSITE[flipped[number, slot]]
        _add(votes.judge(flipped, findings), findings, before, n_deciding, attainable, goes_on)
    return Effect(n_votes, n_deciding, attainable, goes_on)


def _add(after: Judged, findings: Ints, before: Judged, n_deciding: Ints, attainable: Ints, goes_on: Bools) -> None:
    """Count another reading of some findings."""
    changed = after.classes != before.classes[findings]
    n_deciding[findings] += changed
    attainable[findings] |= 1 << after.classes
    goes_on[findings] |= changed & after.goes_on


class LeftOut(NamedTuple):
    """Findings without one of their workers."""

    worker: int
    """Position in the workers of the part."""
    findings: Ints
    """The findings that the worker voted on."""
    judged: Judged


def left_out_workers(votes: PartVotes) -> Iterator[LeftOut]:
    """Yield how findings are judged without each of their workers in turn."""
    slots, findings = np.nonzero(votes.worker >= 0)
    workers = votes.worker[slots, findings]
    order = np.argsort(workers, kind="stable")
    edges = np.flatnonzero(np.diff(workers[order], prepend=-1, append=-1))
    for start, end in pairwise(edges):
        chosen = order[start:end]
        some, of = findings[chosen], slots[chosen]
        left = votes.read[:, :, some]
        left[:, of, np.arange(len(some))] = NOT_ASKED
        yield LeftOut(int(workers[chosen[0]]), some, votes.judge(left, some))


def effect_of_left_out(votes: PartVotes, before: Judged, all_left_out: list[LeftOut]) -> Effect:
    """Return the effect of leaving out any one worker."""
    n_workers = (votes.worker >= 0).sum(axis=0)
    n_deciding, attainable = np.zeros_like(n_workers), 1 << before.classes
    goes_on = np.zeros(len(n_workers), dtype=bool)
    for left in all_left_out:
        _add(left.judged, left.findings, before, n_deciding, attainable, goes_on)
    return Effect(n_workers, n_deciding, attainable, goes_on)
