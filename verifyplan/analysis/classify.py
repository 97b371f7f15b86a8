"""Classify findings by recorded votes, under any mode, rounds and way to fill in missing bases (rules B6, B7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.judgement import bases_matter, judgement
from verifyplan.analysis.tally import Bools, CodedVotes, Ints, code_votes, with_held_back
from verifyplan.analysis.voters import Voters, voters_of_votes
from verifyplan.errors import Problem, SettingsError, TableError, one_of
from verifyplan.frames.cut_rounds import held_back
from verifyplan.frames.vote_losses import lost_refutes, lost_votes
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES, VERDICTS, MissingBasis, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.classification import RULES

CLASS_TYPE = pd.CategoricalDtype(list(CLASSIFICATIONS), ordered=True)
RULE_TYPE = pd.CategoricalDtype(list(RULES), ordered=True)

DEFAULT_ROUNDS = 3
"""Rounds that a table of votes is classified with, where nobody says how many."""


def classify(
    votes: pd.DataFrame,
    *,
    mode: Mode | None = None,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
) -> pd.DataFrame:
    """Return the class that recorded votes give each finding under a mode, or any rules, and a number of rounds.

    Rounds are judged in order, each on its own votes unless the rules say otherwise; the first that classifies decides.
    A finding that none classifies is `contested` (nobody ever voted: `worker-unique`), decided at the last executed
    round. It is `censored` where the rules hold rounds, or ask for votes, that were never cast; `low` and `high` are
    then the worst and the best class that these votes could have given. Source: rules B5-B7, R2, R4.

    Args:
        votes: one row a vote: `run_id, finding_id, round, worker, verdict, disagree_basis`, optionally `iteration`
            (part of the key, then), `explanation` (it may cite a place, or say that a limit of the run held the vote
            back), `is_origin` (such votes, and errors, are not tallied). Where rules stop within a round, workers are
            asked in the order in which they first appear.
        mode: `collaborative` or `adversarial`; needed unless the rules name it.
        rules: VotingRules, the name of a preset, a mapping of fields, or a JSON file.
        max_rounds: rounds that would have been allowed, at least 1; 3 unless the rules say another number.
        missing_basis: how the adversarial mode fills in a missing basis of a disagree: `infer` (counter-evidence
            if its explanation cites a place, else burden-not-met), one of the two bases, or `raise`.

    Returns:
        One row a finding, in order of appearance: `run_id, finding_id, classification, decided_round, rule, censored,
        filled_bases, low, high`, and `iteration` where the votes have it. `filled_bases` counts the missing bases
        of the rounds that were executed; 0 where no basis matters, as in collaborative mode.

    Raises:
        TableError: listing all columns, values, gaps in rounds and repeated votes that make no sense.
        SettingsError: for an unknown mode or `missing_basis`, `max_rounds` below 1, rules that are none, and where
            rules and another argument say two things.

    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": "F-1", "round": 1, "worker": ["a", "b"],
    ...     "verdict": ["agree", "disagree"], "disagree_basis": None})
    >>> classify(votes, mode="collaborative", max_rounds=1)["classification"].tolist()
    ['contested']
    >>> classify(votes, mode="adversarial", max_rounds=1)["rule"].tolist()
    ['lone-doubt']
    >>> classify(
    ...     votes, rules={"mode": "adversarial", "aggregate": "any-refute"}, max_rounds=1
    ... )["rule"].tolist()
    ['any-disagree']
    """
    chosen = chosen_rules(rules, mode, max_rounds, missing_basis, modes=MODES)
    return next(classify_each(votes, [chosen]))


def classify_each(votes: pd.DataFrame, rules: Sequence[VotingRules]) -> Iterator[pd.DataFrame]:
    """Yield what `classify` returns under each of some rules; votes are checked once for all."""
    modes = [_mode_of(each) for each in rules]
    cast = with_held_back(code_votes(votes), held_back(votes))
    for each, mode in zip(rules, modes, strict=True):
        allowed = np.full(len(cast.findings), each.max_rounds or DEFAULT_ROUNDS, dtype=np.int64)
        yield judge(votes, cast, mode, allowed, each)


def _mode_of(rules: VotingRules) -> Mode:
    if rules.mode is None:
        raise SettingsError(Problem("mode", "is missing, and the rules name none", f"use {one_of(MODES)}"))
    return rules.mode


def judge(
    votes: pd.DataFrame,
    cast: CodedVotes,
    mode: Mode,
    max_rounds: Ints,
    rules: VotingRules,
    voters_of: Callable[[], Voters] | None = None,
    *,
    losses: bool = False,
    all_asked: bool = True,
) -> pd.DataFrame:
    """Return what `classify` does, for votes that are ballots already, with a number of rounds for each finding.

    `voters_of` tells who votes and who could have, where the table alone does not; `all_asked` whether rounds that were
    held asked everybody. With `losses`, `disagreements`
    counts the disagrees of the executed rounds, `filled_counter` the filled bases that were taken as counter-evidence,
    `deciding_votes` the votes of the deciding round that count, `lost_votes` those that are errors, and `lost_refutes`
    the counter-evidences of earlier rounds that it did without (rule B8); what counts bases is 0 where no
    basis matters.
    """
    judged = judgement(
        votes, cast, mode, max_rounds, rules, voters_of or partial(voters_of_votes, votes, cast), all_asked=all_asked
    )
    decided, needs_bases = judged.decision.round, bases_matter(rules, mode)
    read = np.zeros(len(cast.round), dtype=bool)
    if needs_bases:
        read = judged.asked & cast.counted & (cast.round <= decided[cast.finding])
    missing = read & cast.missing
    if rules.missing_basis == "raise" and missing.any():
        _refuse_missing(votes[missing])

    def by_finding(rows: Bools | Ints) -> Ints:
        return np.bincount(cast.finding[rows], minlength=len(decided))

    table = cast.findings.assign(
        classification=pd.Categorical.from_codes(judged.decision.classification, dtype=CLASS_TYPE),
        decided_round=decided,
        rule=pd.Categorical.from_codes(judged.decision.rule, dtype=RULE_TYPE),
        censored=judged.censored,
        filled_bases=by_finding(missing),
        low=pd.Categorical.from_codes(judged.low, dtype=CLASS_TYPE),
        high=pd.Categorical.from_codes(judged.high, dtype=CLASS_TYPE),
    )
    if not losses:
        return table
    workers, valid = votes["worker"].array, cast.counted & judged.asked & needs_bases
    refutes = lost_refutes(cast.finding, cast.round, workers, valid, judged.counter, decided)
    return table.assign(
        deciding_votes=judged.deciding_votes,
        lost_votes=lost_votes(cast.finding, cast.round, cast.failed & judged.asked, decided),
        lost_refutes=by_finding(refutes[~judged.kept[refutes]]),
        disagreements=by_finding(read & (cast.verdict == VERDICTS.index("disagree"))),
        filled_counter=by_finding(missing & judged.counter),
    )


def _refuse_missing(votes: pd.DataFrame) -> None:
    fix = "state the basis, or choose missing_basis 'infer', 'counter-evidence' or 'burden-not-met'"
    message = "the disagree of {worker!r} on finding {finding_id!r} of run {run_id!r} in round {round} has no basis"
    rows = votes[["worker", "finding_id", "run_id", "round"]].to_dict("records")
    raise TableError(Problem("votes", message.format_map(row), fix) for row in rows)
