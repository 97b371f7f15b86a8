"""Classify findings by recorded votes, under any mode, rounds and way to fill in missing bases (rules B6, B7)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.tally import CodedVotes, Ints, code_votes, count, fill_bases
from verifyplan.errors import Problem, SettingsError, TableError, one_of
from verifyplan.frames.vote_losses import lost_refutes, lost_votes
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MISSING_BASES, MODES, VERDICTS, MissingBasis, Mode
from verifyplan.rules.classification import CLASS_OF_RULE, RULES, RULES_OF_MODE, at_end, rule_index
from verifyplan.text import did_you_mean

CLASS_TYPE = pd.CategoricalDtype(list(CLASSIFICATIONS), ordered=True)
RULE_TYPE = pd.CategoricalDtype(list(RULES), ordered=True)

_NO_VOTES = RULES.index("no-votes")
_CLASS_IN_ROUND = np.array(
    [CLASSIFICATIONS.index(c) if (c := CLASS_OF_RULE.get(rule)) else -1 for rule in RULES], dtype=np.int64
)
_CLASS_AT_END = np.array(
    [CLASSIFICATIONS.index(at_end(None if rule == "no-votes" else rule)[0]) for rule in RULES], dtype=np.int64
)


def classify(
    votes: pd.DataFrame, *, mode: Mode, max_rounds: int = 3, missing_basis: MissingBasis = "infer"
) -> pd.DataFrame:
    """Return the class that recorded votes give each finding under a mode and a number of rounds.

    Rounds are judged in order, each on its own votes; the first that classifies decides. A finding that none
    classifies is `contested` (nobody ever voted: `worker-unique`), decided at the last executed round; it is
    `censored` where fewer rounds were recorded than `max_rounds` allows, since the deciding votes were never
    cast. Source: rules B5-B7.

    Args:
        votes: one row a vote: `run_id, finding_id, round, worker, verdict, disagree_basis`, optionally `iteration`
            (part of the key, then), `explanation`, `is_origin` (such votes, and errors, are not tallied).
        mode: `collaborative` or `adversarial`.
        max_rounds: rounds that would have been allowed, at least 1.
        missing_basis: how the adversarial mode fills in a missing basis of a disagree: `infer` (counter-evidence
            if its explanation cites a place, else burden-not-met), one of the two bases, or `raise`.

    Returns:
        One row a finding, in order of appearance: `run_id, finding_id, classification, decided_round, rule,
        censored, filled_bases`, and `iteration` where the votes have it. `filled_bases` counts the missing bases
        of the rounds that were executed; 0 in collaborative mode, where no basis matters.

    Raises:
        TableError: listing all columns, values, gaps in rounds and repeated votes that make no sense.
        SettingsError: for an unknown mode or `missing_basis`, or `max_rounds` below 1.

    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": "F-1", "round": 1, "worker": ["a", "b"],
    ...     "verdict": ["agree", "disagree"], "disagree_basis": None})
    >>> classify(votes, mode="collaborative", max_rounds=1)["classification"].tolist()
    ['contested']
    >>> classify(votes, mode="adversarial", max_rounds=1)["rule"].tolist()
    ['lone-doubt']
    """
    check_settings(mode, max_rounds, missing_basis)
    cast = code_votes(votes)
    return judge(votes, cast, mode, np.full(len(cast.findings), max_rounds, dtype=np.int64), missing_basis)


def check_settings(mode: str, max_rounds: int | None, missing_basis: str, modes: tuple[str, ...] = MODES) -> None:
    """Raise SettingsError, listing all that is wrong, unless a replay can be made with these settings."""
    problems = []
    if mode not in modes:
        problems.append(Problem("mode", f"{mode!r} is unknown{did_you_mean(mode, modes)}", f"use {one_of(modes)}"))
    if missing_basis not in MISSING_BASES:
        message = f"{missing_basis!r} is unknown{did_you_mean(missing_basis, MISSING_BASES)}"
        problems.append(Problem("missing_basis", message, f"use {one_of(MISSING_BASES)}"))
    whole = isinstance(max_rounds, int | np.integer) and not isinstance(max_rounds, bool)
    if max_rounds is not None and not (whole and max_rounds >= 1):
        problems.append(Problem("max_rounds", f"{max_rounds!r} is out of range", "give a whole number from 1"))
    if problems:
        raise SettingsError(problems)


def judge(
    votes: pd.DataFrame,
    cast: CodedVotes,
    mode: Mode,
    max_rounds: Ints,
    missing_basis: MissingBasis,
    *,
    losses: bool = False,
) -> pd.DataFrame:
    """Return what `classify` does, for votes that are ballots already, with a number of rounds for each finding.

    With `losses`, `disagreements` counts the disagrees of the executed rounds, `filled_counter` the filled bases that
    were taken as counter-evidence, `deciding_votes` the votes of the deciding round that count, `lost_votes` those that
    are errors, and `lost_refutes` the counter-evidences of earlier rounds that it did without (rule B8); what counts
    bases is 0 in collaborative mode, where no basis matters.
    """
    adversarial = mode == "adversarial"
    basis = fill_bases(votes, cast, missing_basis) if adversarial else cast.basis
    executed = np.minimum(cast.last_round, max_rounds)
    width = int(executed.max(initial=1))
    tallies = count(cast, basis, width)
    rules = np.array([RULES.index(rule) for rule in RULES_OF_MODE[mode]])[rule_index(tallies, mode)]
    ran = np.arange(1, width + 1) <= executed[:, None]
    deciding = ran & (_CLASS_IN_ROUND[rules] >= 0)
    settled = deciding.any(axis=1)
    rule = np.where(settled, _at(rules, deciding.argmax(axis=1)), _last(rules, ran & (tallies.n > 0)))
    classes = np.where(settled, _CLASS_IN_ROUND[rule], _CLASS_AT_END[rule])
    decided = np.where(settled, deciding.argmax(axis=1) + 1, executed)
    missing = cast.missing & (cast.round <= decided[cast.finding]) if adversarial else np.zeros_like(cast.missing)
    if missing_basis == "raise" and missing.any():
        _refuse_missing(votes[missing])
    judged = cast.findings.assign(
        classification=pd.Categorical.from_codes(classes, dtype=CLASS_TYPE),
        decided_round=decided,
        rule=pd.Categorical.from_codes(rule, dtype=RULE_TYPE),
        censored=~settled & (cast.last_round < max_rounds),
        filled_bases=np.bincount(cast.finding[missing], minlength=len(cast.findings)),
    )
    if not losses:
        return judged
    workers, counter = votes["worker"].to_numpy(), basis == BASES.index("counter-evidence")
    refutes = lost_refutes(cast.finding, cast.round, workers, cast.counted & adversarial, counter, decided)
    disagrees = cast.counted & (cast.verdict == VERDICTS.index("disagree")) & (cast.round <= decided[cast.finding])
    return judged.assign(
        deciding_votes=_at(tallies.n, np.maximum(decided, 1) - 1),
        lost_votes=lost_votes(cast.finding, cast.round, cast.failed, decided),
        lost_refutes=np.bincount(cast.finding[refutes], minlength=len(decided)),
        disagreements=np.bincount(cast.finding[disagrees & adversarial], minlength=len(decided)),
        filled_counter=np.bincount(cast.finding[missing & counter], minlength=len(decided)),
    )


def _at(values: npt.NDArray[Any], column: Ints) -> npt.NDArray[Any]:
    return values[np.arange(len(values)), column]


def _last(rules: npt.NDArray[Any], voted: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return the rule of the last executed round with n > 0; `no-votes` where there is none (rule B7)."""
    last = voted.shape[1] - 1 - voted[:, ::-1].argmax(axis=1)
    return np.where(voted.any(axis=1), _at(rules, last), _NO_VOTES)


def _refuse_missing(votes: pd.DataFrame) -> None:
    fix = "state the basis, or choose missing_basis 'infer', 'counter-evidence' or 'burden-not-met'"
    message = "the disagree of {worker!r} on finding {finding_id!r} of run {run_id!r} in round {round} has no basis"
    rows = votes[["worker", "finding_id", "run_id", "round"]].to_dict("records")
    raise TableError(Problem("votes", message.format_map(row), fix) for row in rows)
