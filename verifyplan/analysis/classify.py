"""Classify findings by recorded votes, under any mode, rounds and way to fill in missing bases (rules B6, B7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.judgement import bases_matter, counts_suffice, judgement
from verifyplan.analysis.packed_classes import PackedClasses, Settings, packed_classes
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
    """Yield what `classify` returns under each of some rules; where they can be, votes are counted once for all."""
    settings = [_settings(each) for each in rules]
    packed = packed_classes(votes, settings) if all(map(counts_suffice, rules)) else None
    if packed is not None:
        yield from (_table(votes, each) for each in packed)
    elif len(settings) == 1:
        yield judge_table(votes, settings[0].mode, settings[0].max_rounds, settings[0].rules)
    else:
        for each in rules:
            yield from classify_each(votes, [each])


def _settings(rules: VotingRules) -> Settings:
    """Return what votes are classified under; SettingsError where the rules name no mode."""
    if rules.mode is None:
        raise SettingsError(Problem("mode", "is missing, and the rules name none", f"use {one_of(MODES)}"))
    max_rounds = rules.max_rounds or DEFAULT_ROUNDS
    bounds = partial(judge_table, mode=rules.mode, max_rounds=max_rounds, rules=rules)
    return Settings(rules.mode, rules, max_rounds, bounds)


def judge_table(votes: pd.DataFrame, mode: Mode, max_rounds: int, rules: VotingRules) -> pd.DataFrame:
    """Return what `classify` does, from votes as they are coded one by one."""
    cast = code_votes(votes)
    cast = with_held_back(cast, held_back(votes))
    return judge(votes, cast, mode, np.full(len(cast.findings), max_rounds, dtype=np.int64), rules)


def _table(votes: pd.DataFrame, packed: PackedClasses) -> pd.DataFrame:
    """Return the result of `classify`, from decisions by packed tallies."""
    key = [name for name in ("run_id", "iteration", "finding_id") if name in votes]
    columns: dict[str, Any] = {
        name: _of_findings(votes[name], codes, packed) for name, codes in zip(key, packed.keys, strict=True)
    }
    columns |= {
        "classification": _classes(packed.classification, CLASS_TYPE),
        "decided_round": packed.round,
        "rule": _classes(packed.rule, RULE_TYPE),
        "censored": packed.censored,
        "filled_bases": packed.filled_bases,
        "low": _classes(packed.low, CLASS_TYPE),
        "high": _classes(packed.high, CLASS_TYPE),
    }
    return pd.DataFrame(columns, copy=False)


def _of_findings(values: pd.Series[Any], codes: Any, packed: PackedClasses) -> Any:
    """Return the values of a column for each finding, from their codes where these are of the column itself."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        return _classes(codes, values.dtype)
    if codes.dtype == values.dtype:
        return codes
    return pd.Series(values.array.take(packed.first), dtype=values.dtype, copy=False)


def _classes(codes: Any, dtype: pd.CategoricalDtype) -> pd.Categorical:
    return pd.Categorical.from_codes(codes, dtype=dtype, validate=False)


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
