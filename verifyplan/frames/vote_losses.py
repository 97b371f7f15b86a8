"""The votes that a class does without: lost ones, lost refutations, votes without a look, absent ones (rule B8)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import InputError
from verifyplan.frames.codes import first_rows, row_numbers
from verifyplan.frames.vote_checks import FINDING, VoteNumbers, cite_places
from verifyplan.protocol.vote import NO_LOOK_BEGINNINGS
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.round_decisions import quorum_reached
from verifyplan.text import counted, listed

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

LOST = ["lost_votes", "lost_refutes"]
"""The columns that say what a class does without."""

_USED = [*FINDING, "round", "worker", "verdict", "disagree_basis", "explanation", "is_origin"]


def lost_votes(finding: Ints, rounds: Ints, failed: Bools, decided: Ints) -> Ints:
    """Return, for each finding, how many votes of the round that decided were asked for and are errors.

    `finding`, `rounds` and `failed` have one entry a vote: the finding's position in `decided`, the round, and whether
    the vote is an error.
    """
    failures = np.flatnonzero(failed)
    lost = failures[rounds[failures] == decided[finding[failures]]]
    return np.bincount(finding[lost], minlength=len(decided))


def lost_refutes(finding: Ints, rounds: Ints, workers: Any, valid: Bools, counter: Bools, decided: Ints) -> Ints:
    """Return the positions of the votes that are counter-evidences the deciding round did without.

    Such is the last vote of a worker, errors aside, before a round in which it has no vote that counts: an error, or
    nothing at all. A later vote withdraws the counter-evidence of its worker. Every argument but `decided` has one
    entry a vote.
    """
    early = valid & counter & (rounds < decided[finding]) if (decided > 1).any() else np.zeros(len(finding), dtype=bool)
    if not early.any():
        return np.zeros(0, dtype=np.int64)
    concerned = np.bincount(finding[early], minlength=len(decided)) > 0
    votes = np.flatnonzero(concerned[finding] & valid & (rounds <= decided[finding]))
    codes, names = pd.factorize(workers[votes])
    of_worker, pairs = pd.factorize(finding[votes] * len(names) + codes)
    last = np.zeros(len(pairs), dtype=np.int64)
    np.maximum.at(last, of_worker, rounds[votes])
    return np.asarray(votes[early[votes] & (rounds[votes] == last[of_worker])], dtype=np.int64)


def with_losses(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame) -> pd.DataFrame:
    """Return the findings with the votes that were asked for and valid, and the lost ones, as each was voted on last.

    The round that decided is the last in which a finding has a vote. A missing basis is counter-evidence where the
    explanation cites a place; collaborative runs, whose votes have no basis, lose no counter-evidence.
    """
    finding = _rows_of(votes, findings, FINDING)
    known = finding >= 0
    if not known.all():
        votes, finding = votes.loc[known, ["iteration", *_USED]], finding[known]
    return with_losses_at(runs, findings, votes, finding)


def with_losses_at(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, finding: Ints) -> pd.DataFrame:
    """Return the same where the position of each vote's finding is known."""
    run = _rows_of(findings, runs, ["run_id"])
    findings = _with_votes_asked(runs, findings, votes, finding, run)
    used = _may_count(votes)
    if not used.all():
        votes, finding = votes[_USED][used], finding[used]
    return _with_losses(runs, findings, votes, finding, run)


def _rows_of(table: pd.DataFrame, known: pd.DataFrame, key: list[str]) -> Ints:
    """Return for each row of a table the row of another that has the same key, of several the last; -1 for none."""
    rows = known[key].assign(row=np.arange(len(known))).drop_duplicates(key, keep="last")
    return table[key].merge(rows, on=key, how="left")["row"].fillna(-1).to_numpy(dtype=np.int64)


def _with_votes_asked(
    runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, finding: Ints, run: Ints
) -> pd.DataFrame:
    """Return the findings with `votes_asked`, `votes_valid` and `below_quorum` of the last round of each."""
    width = int(votes["round"].max() or 0) + 1 if len(votes) else 1
    at = votes["iteration"].to_numpy(dtype=np.int64) * width + votes["round"].to_numpy(dtype=np.int64)
    last = np.full(len(findings), -1, dtype=np.int64)
    np.maximum.at(last, finding, at)
    asked = (at == last[finding]) & ~votes["is_origin"].fillna(False).to_numpy(dtype=bool)
    valid = asked & votes["verdict"].ne("verification-error").to_numpy(dtype=bool)
    n_asked, n_valid = (np.bincount(finding[which], minlength=len(findings)) for which in (asked, valid))
    return findings.assign(
        votes_asked=pd.array(n_asked, dtype="Int64"),
        votes_valid=pd.array(n_valid, dtype="Int64"),
        below_quorum=_below_quorum(runs, run, n_asked, n_valid),
    )


def _below_quorum(runs: pd.DataFrame, run: Ints, n_asked: Ints, n_valid: Ints) -> Any:
    """Return whether fewer votes are valid than the quorum of the run's rules; missing where that is not known."""
    codes, texts = pd.factorize(runs["rules"].astype("object").to_numpy())
    rules = np.append(codes, -1)[run]  # the last is that of a finding without a run
    below, unknown = np.zeros(len(run), dtype=bool), np.ones(len(run), dtype=bool)
    for code, text in enumerate(texts):
        of_rules = rules == code
        quorum = quorum_of(text)
        unknown[of_rules] = quorum is None
        if quorum:
            below[of_rules] = (n_asked > 0)[of_rules] & ~quorum_reached(n_valid, n_asked, quorum)[of_rules]
    return pd.arrays.BooleanArray(below, unknown)


def quorum_of(rules: str) -> int | Fraction | None:
    """Return the quorum of rules as the table `runs` has them; 0 for none, None for rules of another version."""
    try:
        return VotingRules.from_json(rules).quorum
    except (InputError, ValueError):
        return None


def _may_count(votes: pd.DataFrame) -> Bools:
    """Return whether each vote is of its finding's last iteration and, where all are of round 1, an error."""
    latest = np.ones(len(votes), dtype=bool)
    if votes["iteration"].any():
        last = votes.groupby(FINDING, sort=False)["iteration"].transform("max")
        latest = votes["iteration"].eq(last).to_numpy(dtype=bool)
    if votes["round"][latest].eq(1).all():  # no round came before, so that only errors say anything
        latest &= votes["verdict"].eq("verification-error").to_numpy(dtype=bool)
    return latest


def _with_losses(
    runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, finding: Ints, run: Ints
) -> pd.DataFrame:
    rounds = votes["round"].to_numpy(dtype=np.int64)
    decided = np.zeros(len(findings), dtype=np.int64)
    np.maximum.at(decided, finding, rounds)
    asked = ~votes["is_origin"].fillna(False).to_numpy(dtype=bool)
    failed = votes["verdict"].eq("verification-error").to_numpy(dtype=bool)
    counter = _is_counter(runs, votes, run[finding])
    refutes = finding[lost_refutes(finding, rounds, votes["worker"].array, asked & ~failed, counter, decided)]
    return findings.assign(
        lost_votes=pd.array(lost_votes(finding, rounds, failed & asked, decided), dtype="Int64"),
        lost_refutes=pd.array(np.bincount(refutes, minlength=len(decided)), dtype="Int64"),
    )


def _is_counter(runs: pd.DataFrame, votes: pd.DataFrame, run: Ints) -> Bools:
    """Return whether each vote is a counter-evidence, by its basis or, where it has none, by what it cites.

    `run` has the row of each vote's run, -1 for none.
    """
    counter = votes["disagree_basis"].eq("counter-evidence").to_numpy(dtype=bool, copy=True)
    bare = (votes["verdict"].eq("disagree") & votes["disagree_basis"].isna()).to_numpy(dtype=bool, copy=True)
    of_collaborative = np.append(runs["mode"].eq("collaborative").to_numpy(dtype=bool), False)[run]
    counter[of_collaborative] = bare[of_collaborative] = False
    counter[bare] = cite_places(votes.loc[bare, "explanation"])
    return counter


def note_blind_classes(votes: pd.DataFrame, where: str = "") -> str | None:
    """Say of how many findings every vote that counts in the last round looked at nothing, and which; None for none.

    Errors and the discoverers' own votes do not count; a finding without a vote that counts is not among them.
    """
    if not votes["explanation"].notna().any():
        return None
    own = votes["is_origin"].fillna(False).astype(bool)
    cast = votes[~own & votes["verdict"].ne("verification-error")]
    width = int(cast["round"].max() or 0) + 1 if len(cast) else 1
    at = cast["iteration"].to_numpy() * width + cast["round"].to_numpy()
    cast = cast[FINDING].assign(at=at, blind=cast["explanation"].str.startswith(NO_LOOK_BEGINNINGS).eq(True))
    if not cast["blind"].any():
        return None
    last = cast[cast["at"].eq(cast.groupby(FINDING, sort=False)["at"].transform("max"))]
    blind = last.groupby(FINDING, sort=False)["blind"].all()
    ids = blind.index[blind.to_numpy(dtype=bool)].get_level_values("finding_id")
    if not len(ids):
        return None
    classes, rest = ("class", "rests") if len(ids) == 1 else ("classes", "rest")
    those = f"{counted(len(ids), 'finding')}{where}"
    return f"The {classes} of {those} {rest} only on votes that looked at nothing: {listed(ids)}."


def absent_votes(
    runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, numbers: VoteNumbers | None = None
) -> pd.DataFrame:
    """Return `run_id, finding_id, round, voters, judges` where a table has fewer votes than its run has judges.

    A judge is whoever votes anywhere in the run; a row that says that the vote was lost is a vote here, and a
    discoverer of the finding is not missed. Rounds that nobody voted in, and runs that were no table of votes (whose
    logs tell who was asked), are not among them. `numbers` are those of the votes, where they have got some.
    """
    imported = runs["kind"].eq("votes").to_numpy(dtype=bool)
    cast = votes[[*FINDING, "round", "worker"]]
    if not imported.all():
        cast = cast[votes["run_id"].isin(runs.loc[imported, "run_id"]).to_numpy(dtype=bool)]
    if numbers is None or len(numbers.finding) != len(cast) or votes["iteration"].any():
        numbers = VoteNumbers(row_numbers(*(cast[name] for name in FINDING)), pd.factorize(cast["worker"])[0], ())
    finding = numbers.finding
    group = row_numbers(finding, cast["round"])
    voters = np.bincount(group)
    if (voters > numbers.worker.max(initial=-1)).all():  # everybody votes everywhere
        none = np.zeros(0, dtype=np.int64)
        return cast[[*FINDING, "round"]].iloc[:0].reset_index(drop=True).assign(voters=none, judges=none)
    run, names = pd.factorize(cast["run_id"])
    judges = pd.Series(numbers.worker).groupby(run).nunique().to_numpy()
    finders = findings[[*FINDING, "discoverers"]]
    finders = finders.explode("discoverers").dropna().rename(columns={"discoverers": "worker"})
    if len(finders):
        excused = finders.merge(cast[["run_id", "worker"]].drop_duplicates())
        excused = excused.merge(cast[[*FINDING, "round"]].drop_duplicates(), on=FINDING)
        cast = pd.concat([cast, excused[cast.columns]]).drop_duplicates()
        run = pd.Index(names).get_indexer(cast["run_id"])
        group = row_numbers(*(cast[name] for name in [*FINDING, "round"]))
        voters = np.bincount(group)
    first = first_rows(group)
    short = voters < judges[run[first]]
    rows = cast[[*FINDING, "round"]].iloc[first[short]].reset_index(drop=True)
    return rows.assign(voters=voters[short], judges=judges[run[first]][short])


def note_absent_votes(
    runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame, where: str = "", numbers: VoteNumbers | None = None
) -> str | None:
    """Say how many findings have fewer votes than their run has judges, and which; None where there is none."""
    ids = absent_votes(runs, findings, votes, numbers).drop_duplicates(FINDING)["finding_id"]
    if ids.empty:
        return None
    have, run = ("has", "the run has") if len(ids) == 1 else ("have", "their run has")
    return f"{counted(len(ids), 'finding')}{where} {have} fewer votes than {run} judges: {listed(ids)}."
