"""From a worker's answer to the votes that count: contract, failures and sides (SPEC B3, B4, B8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from verifyplan.protocol.call import WorkerAnswer, WorkerVote
from verifyplan.protocol.vote import Basis, Mode, Verdict

LEFT_OUT = "left out: the dispatch completed without an answer on this item"
NO_BASIS = "contract violation: a disagree of an adversarial run must state its basis"


class Ballot(NamedTuple):
    """A vote as it counts and is recorded."""

    verdict: Verdict
    disagree_basis: Basis | None
    explanation: str


def ballots(asked: Sequence[str], answer: WorkerAnswer, mode: Mode) -> dict[str, Ballot]:
    """The votes of one completed dispatch, one for each item asked about.

    An item left out is a `verification-error` (SPEC B8), and so is an adversarial disagree without a basis
    (SPEC B4). A basis where none belongs is dropped: on other verdicts, and in collaborative runs.

    >>> answer = WorkerAnswer(votes={"F-1": {"verdict": "REFUTED", "explanation": "no"}})
    >>> {key: ballot.verdict for key, ballot in ballots(["F-1", "F-2"], answer, "adversarial").items()}
    {'F-1': 'verification-error', 'F-2': 'verification-error'}
    """
    return {finding_id: _ballot(answer.votes.get(finding_id), mode) for finding_id in asked}


def failed(asked: Sequence[str], reason: str) -> dict[str, Ballot]:
    """The votes of a dispatch that gave no result: one `verification-error` an item (SPEC B8)."""
    return {finding_id: Ballot("verification-error", None, reason) for finding_id in asked}


def _ballot(vote: WorkerVote | None, mode: Mode) -> Ballot:
    if vote is None:
        return Ballot("verification-error", None, LEFT_OUT)
    if vote.verdict != "disagree" or mode == "collaborative":
        return Ballot(vote.verdict, None, vote.explanation)
    if vote.disagree_basis is None:
        said = f" (it said: {vote.explanation})" if vote.explanation else ""
        return Ballot("verification-error", None, NO_BASIS + said)
    return Ballot("disagree", vote.disagree_basis, vote.explanation)


def sides(
    roster: Sequence[str], discoverers: Iterable[str], rounds: Iterable[Mapping[str, Verdict]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Who stands for a finding and who against it, each in roster order (SPEC B3).

    For it: the discoverers, and whoever's last vote was agree or supplement; against it: whose last was
    disagree. Errors are no votes; a worker with errors alone is on neither side.

    >>> sides(["a", "b", "c"], ["b"], [{"a": "agree", "c": "disagree"}, {"c": "verification-error"}])
    (('a', 'b'), ('c',))
    """
    last: dict[str, Verdict] = {}
    for votes in rounds:
        last.update({worker: verdict for worker, verdict in votes.items() if verdict != "verification-error"})
    last.update(dict.fromkeys(discoverers, "agree"))
    return (
        tuple(worker for worker in roster if last.get(worker) in ("agree", "supplement")),
        tuple(worker for worker in roster if last.get(worker) == "disagree"),
    )
