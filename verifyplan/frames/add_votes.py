"""Put the votes of supplementary runs beside those of the runs that they supplement (rules R4, R5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pandas as pd

from verifyplan.errors import InputError, Problem
from verifyplan.frames.columns import typed
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import TABLE_NAMES, RunSet, concat
from verifyplan.frames.vote_checks import FINDING
from verifyplan.frames.vote_losses import with_losses

MAX_PROBLEMS = 20
"""Findings or votes that an error names, of each kind."""

_VOTE = [*FINDING, "iteration", "round", "worker"]
_TEXTS = ["summary", "evidence"]
_LOST = "verification-error"
_ELSEWHERE = "another run of `more` says something else"


def add_votes(runs: Runs, more: Runs | Mapping[str, Runs]) -> RunSet:
    """Return runs in which the votes of supplementary runs are beside the recorded ones, for replays and searches.

    Each vote of `more` is added to the recorded run that its run supplements, under the same finding, round and worker;
    `runs.added_votes` counts them. A vote that is there already is not added again; one in place of a lost vote takes
    its place. Classes, rounds and calls stay those that the runs recorded.

    Args:
        runs: the recorded runs.
        more: supplementary runs, from `crossverify(only=)`: each names the run it supplements, if its list had a column
            `run_id`; or a mapping of the id of a recorded run to what supplements it. Where there is one recorded run,
            all votes are its.

    Raises:
        InputError: listing every supplementary run whose recorded run is not known or was asked in another mode, every
            finding that the recorded run lacks or has with another text, every vote by who found the finding, and
            every vote that is there already with another verdict or basis.

    >>> import verifyplan as vp
    >>> first = {"F-1": {"verdict": "agree"}}
    >>> script = {
    ...     1: {"bob": first, "cy": {"F-1": {"verdict": "disagree"}}},
    ...     2: {"bob": first},
    ... }
    >>> claim = [{"finding_id": "F-1", "summary": "f has no check", "worker": "ann"}]
    >>> setting = {
    ...     "backend": vp.agents.ScriptedBackend(script),
    ...     "log_dir": None,
    ...     "mode": "collaborative",
    ... }
    >>> run = vp.crossverify(claim, ["ann", "bob", "cy"], max_rounds=1, **setting)
    >>> calls = [{"finding_id": "F-1", "round": 2, "worker": "bob"}]
    >>> extra = vp.crossverify(
    ...     claim, ["ann", "bob", "cy"], max_rounds=2, only=calls, **setting
    ... )
    >>> print(add_votes(run, extra))
    RunSet(1 run, 1 finding, 3 votes, 1 round, 3 dispatches, 2 calls)
    note: 1 vote of supplementary runs was added to 1 run.
    """
    recorded = as_runs(runs)
    added, target = _supplements(recorded, more)
    votes = added.votes[~added.votes["is_origin"].fillna(False).astype(bool)]
    votes = votes.assign(run_id=votes["run_id"].map(target))
    findings = added.findings.assign(run_id=added.findings["run_id"].map(target))
    findings = findings.merge(votes[FINDING].drop_duplicates(), on=FINDING).drop_duplicates(FINDING)
    same = votes.merge(recorded.votes, on=_VOTE, how="left", suffixes=("", "_there"), indicator="known")
    problems = [
        *_other_findings(recorded.findings, findings),
        *_own_findings(recorded.findings, votes),
        *_other_votes(same),
    ]
    if problems:
        raise InputError(problems)
    cast = same["verdict"].ne(_LOST) & same["verdict_there"].eq(_LOST).fillna(False).astype(bool)
    fresh = same.loc[same["known"].eq("left_only") | cast, votes.columns].drop_duplicates(_VOTE)
    return _with_votes(recorded, fresh)


def _supplements(recorded: RunSet, more: Runs | Mapping[str, Runs]) -> tuple[RunSet, dict[str, str]]:
    """Return the supplementary runs, and the recorded run of each; InputError listing those without one."""
    ids = recorded.runs["run_id"].tolist()
    if isinstance(more, Mapping):
        sets = [_renamed(as_runs(runs, "more"), run_id) for run_id, runs in more.items()]
        named = {own: run_id for (runs, run_id) in zip(sets, more, strict=True) for own in runs.runs["run_id"]}
        added = concat(sets) if sets else RunSet()
    else:
        added = as_runs(more, "more")
        run_ids = added.runs["supplements"].fillna("") if len(ids) != 1 else [ids[0]] * len(added)
        named = dict(zip(added.runs["run_id"], run_ids, strict=True))
    problems = []
    modes = recorded.runs.set_index("run_id")["mode"].astype("object").dropna()
    for own, mode in zip(added.runs["run_id"], added.runs["mode"], strict=True):
        run_id = named[own]
        if run_id not in ids:
            message = f"{own!r} supplements run {run_id!r}, which is not here" if run_id else f"{own!r} names no run"
            fix = "give a mapping of the recorded run's id to the supplementary run"
            problems.append(Problem("more", message, fix))
        elif modes.get(run_id, mode) != mode:
            message = f"{own!r} was asked in {mode} mode, and run {run_id!r} in {modes[run_id]}"
            problems.append(Problem("more", message, "ask in the mode of the recorded run"))
    if problems:
        raise InputError(problems)
    return added, named


def _renamed(runs: RunSet, run_id: str) -> RunSet:
    """Return runs under ids that no other recorded run's supplements have: without logs, all are named alike."""
    tables = {name: getattr(runs, name) for name in TABLE_NAMES}
    return replace(
        runs, **{name: table.assign(run_id=f"{run_id}: " + table["run_id"]) for name, table in tables.items()}
    )


def _other_findings(recorded: pd.DataFrame, findings: pd.DataFrame) -> Iterator[Problem]:
    """Yield findings that the recorded run lacks, or has with another text; a text that it lacks is not compared."""
    both = findings.merge(
        recorded[[*FINDING, *_TEXTS]], on=FINDING, how="left", suffixes=("", "_there"), indicator=True
    )
    for row in both[both["_merge"].eq("left_only")].head(MAX_PROBLEMS).itertuples():
        fix = "supplement the run by its own findings"
        yield Problem("more", f"{row.finding_id!r} is not a finding of run {row.run_id!r}", fix)
    for name in _TEXTS:
        there = both[f"{name}_there"]
        differs = there.notna() & both[name].fillna("").ne(there.fillna(""))
        for row in both[differs].head(MAX_PROBLEMS).itertuples():
            message = f"{row.finding_id!r} has another {name} in run {row.run_id!r}"
            yield Problem("more", message, "ask about the text that the recorded run asked about")


def _own_findings(recorded: pd.DataFrame, votes: pd.DataFrame) -> Iterator[Problem]:
    """Yield votes by those who found the finding in the recorded run."""
    finders = recorded[[*FINDING, "discoverers"]].explode("discoverers").rename(columns={"discoverers": "worker"})
    for row in votes.merge(finders.dropna(), on=[*FINDING, "worker"]).head(MAX_PROBLEMS).itertuples():
        message = f"{row.worker!r} found {row.finding_id!r} in run {row.run_id!r}, and so does not vote on it"
        yield Problem("more", message, "leave the vote out")


def _other_votes(same: pd.DataFrame) -> Iterator[Problem]:
    """Yield votes that are there already, recorded or from another supplementary run, and say something else."""
    cast = same[same["verdict"].ne(_LOST)]
    there = cast[cast["verdict_there"].notna() & cast["verdict_there"].ne(_LOST)]
    differs = there["verdict"].ne(there["verdict_there"]) | (
        there["disagree_basis"]
        .astype("object")
        .fillna("")
        .ne(there["disagree_basis_there"].astype("object").fillna(""))
    )
    twice = cast.drop_duplicates([*_VOTE, "verdict", "disagree_basis"]).duplicated(_VOTE, keep=False)
    again = cast.loc[twice[twice].index].drop_duplicates(_VOTE)
    for row in [*there[differs].head(MAX_PROBLEMS).itertuples(), *again.head(MAX_PROBLEMS).itertuples()]:
        known = f"{row.verdict_there} is recorded" if isinstance(row.verdict_there, str) else _ELSEWHERE
        message = (
            f"{row.worker!r} says {row.verdict} on {row.finding_id!r} of run {row.run_id!r} in round {row.round}, "
            f"where {known}"
        )
        yield Problem("more", message, "keep one of the two: a vote is cast once")


def _with_votes(recorded: RunSet, fresh: pd.DataFrame) -> RunSet:
    """Return the runs with these votes, in place of lost ones where there were such."""
    kept = recorded.votes.merge(fresh[_VOTE].assign(replaced=True), on=_VOTE, how="left")["replaced"].isna().to_numpy()
    votes = pd.concat([recorded.votes[kept], fresh], ignore_index=True)
    place = votes["run_id"].map({run_id: place for place, run_id in enumerate(recorded.runs["run_id"])})
    votes = typed("votes", votes.iloc[place.argsort(kind="stable")].reset_index(drop=True))
    last = fresh.groupby(FINDING, sort=False, observed=True)["round"].max().rename("last").reset_index()
    last_round = recorded.findings[FINDING].merge(last, on=FINDING, how="left")["last"].fillna(0).astype("Int64")
    n_rounds = recorded.findings["n_rounds"].fillna(0)
    findings = recorded.findings.assign(n_rounds=n_rounds.clip(lower=last_round.set_axis(n_rounds.index)))
    counts = recorded.runs["run_id"].map(fresh["run_id"].value_counts()).fillna(0).astype("Int64")
    runs = recorded.runs.assign(added_votes=recorded.runs["added_votes"].fillna(0) + counts)
    return replace(recorded, runs=runs, votes=votes, findings=with_losses(runs, findings, votes))
