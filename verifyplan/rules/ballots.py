"""From a worker's answer to the votes that count: contract, failures and sides (rules B3, B4, B8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from verifyplan.protocol.call import WorkerVote
from verifyplan.protocol.vote import (
    Basis,
    MissingBasis,
    Mode,
    Verdict,
    read_basis,
    read_refutation,
    read_verdict,
    spelling,
)
from verifyplan.rules.citations import cites_location
from verifyplan.text import counted

LEFT_OUT = "left out: the dispatch completed without an answer on this item"
MAX_SHOWN_CHARACTERS = 80


class Ballot(NamedTuple):
    """A vote as it counts and is recorded."""

    verdict: Verdict
    disagree_basis: Basis | None
    explanation: str
    basis_filled: bool = False


Votes = dict[str, WorkerVote | str]
"""A worker's votes by finding id; in place of a vote that cannot be read, the reason."""


def read_votes(value: object) -> Votes | str:
    """Read a worker's answer, `{"votes": {finding_id: vote}}`, each vote alone; a text says why there is none.

    `votes` may also be a list of votes that each name their `finding_id`; two unlike ones on a finding cannot be read.
    A vote is an object with a `verdict` and, if it has them, a basis and an explanation, or the verdict alone; keys and
    words are read in any spelling, `basis` as `disagreeBasis`, a basis beside the label ("REFUTED, burden-not-met") as
    one; other keys are passed over. Of several keys for one thing the first that holds
    something counts. A basis that is none is read as missing. Source: rules B4, B8.

    >>> read_votes({"votes": {"F-1": {"verdict": "REFUTED", "disagreeBasis": "Counter Evidence"}, "F-2": {}}})["F-2"]
    'its verdict is missing'
    """
    votes = value.get("votes") if isinstance(value, Mapping) else None
    if isinstance(votes, list) and any(map(_finding_of, votes)):
        entries = [(_finding_of(entry), entry) for entry in votes]
    elif isinstance(votes, Mapping):
        entries = list(votes.items())
    else:
        return "answer outside its schema: it holds no object `votes` with a vote for each finding id"
    read: Votes = {}
    for key, entry in entries:
        finding_id, vote = str(key).strip(), read_vote(entry)
        read[finding_id] = vote if read.get(finding_id, vote) == vote else "two votes on it, which are not alike"
    unread = unread_votes(read)
    return f"answer outside its schema: {unread}" if read and all(isinstance(v, str) for v in read.values()) else read


def _finding_of(entry: object) -> object:
    """The finding that a vote of a list names; blank if it names none."""
    keys = entry.items() if isinstance(entry, Mapping) else ()
    return next((held for key, held in keys if spelling(str(key)) == spelling("finding_id")), "")


def read_vote(entry: object) -> WorkerVote | str:
    """Read one vote as `read_votes` does; a text says why it cannot be read."""
    fields: dict[str, object] = {} if isinstance(entry, Mapping) else {"verdict": entry}
    for key, held in entry.items() if isinstance(entry, Mapping) else ():
        if held is not None and held != "":
            fields.setdefault(spelling(str(key)), held)
    if "verdict" not in fields:
        return "its verdict is missing"
    named, explanation = read_refutation(fields["verdict"]), fields.get("explanation", "")
    verdict = "disagree" if named else read_verdict(fields["verdict"])
    if verdict is None or verdict == "verification-error":
        return f"its verdict {fields['verdict']!r:.{MAX_SHOWN_CHARACTERS}} is no verdict"
    return WorkerVote(
        verdict=verdict,
        disagree_basis=read_basis(fields.get("disagreebasis", fields.get("basis"))) or named,
        explanation=explanation if isinstance(explanation, str) else str(explanation),
    )


def unread_votes(votes: Votes) -> str | None:
    """Say how many votes of an answer cannot be read, and why the first cannot; None if all can be read."""
    unread = {finding_id: vote for finding_id, vote in votes.items() if isinstance(vote, str)}
    if not unread:
        return None
    finding_id, reason = next(iter(unread.items()))
    return (
        f"{len(unread)} of {counted(len(votes), 'vote')} cannot be read; {finding_id:.{MAX_SHOWN_CHARACTERS}}: {reason}"
    )


def ballots(asked: Sequence[str], votes: Votes, mode: Mode, missing_basis: MissingBasis = "infer") -> dict[str, Ballot]:
    """Return the votes of one completed dispatch as they count, one for each item asked about.

    An item that is left out or cannot be read is a `verification-error`, alone (rule B8). An adversarial disagree
    without a basis counts with the one that `missing_basis` gives it, and is marked (rule B4). A basis where none
    belongs is dropped: on other verdicts, and in collaborative runs.

    >>> votes = read_votes({"votes": {"F-1": {"verdict": "REFUTED", "explanation": "m.py:4 checks it"}}})
    >>> ballots(["F-1"], votes, "adversarial")["F-1"][1:]
    ('counter-evidence', 'm.py:4 checks it', True)
    """
    return {finding_id: _ballot(votes.get(finding_id), mode, missing_basis) for finding_id in asked}


def _ballot(vote: WorkerVote | str | None, mode: Mode, missing_basis: MissingBasis) -> Ballot:
    if vote is None:
        return Ballot("verification-error", None, LEFT_OUT)
    if isinstance(vote, str):
        return Ballot("verification-error", None, f"cannot be read: {vote}")
    if vote.verdict != "disagree" or mode == "collaborative":
        return Ballot(vote.verdict, None, vote.explanation)
    basis = vote.disagree_basis or basis_if_missing(vote.explanation, missing_basis)
    return Ballot("disagree", basis, vote.explanation, basis_filled=vote.disagree_basis is None)


def basis_if_missing(explanation: str | None, missing_basis: MissingBasis) -> Basis:
    """Return the basis that is filled in where a vote has none (rule B7).

    `infer`: counter-evidence if the explanation cites a place, else burden-not-met; `raise`, which a reader of the vote
    must refuse, gives burden-not-met.

    >>> basis_if_missing("m.py:4 checks it", "infer"), basis_if_missing("no proof", "infer")
    ('counter-evidence', 'burden-not-met')
    """
    if missing_basis == "infer":
        return "counter-evidence" if cites_location(explanation) else "burden-not-met"
    return "counter-evidence" if missing_basis == "counter-evidence" else "burden-not-met"


def failed(asked: Sequence[str], reason: str) -> dict[str, Ballot]:
    """The votes of a dispatch that gave no result: one `verification-error` an item (rule B8)."""
    return {finding_id: Ballot("verification-error", None, reason) for finding_id in asked}


def sides(
    roster: Sequence[str], discoverers: Iterable[str], rounds: Iterable[Mapping[str, Verdict]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return who is for a finding and who is against it, each in roster order (rule B3).

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
