"""Replay the recorded votes of runs under a mode, a number of rounds and a way to fill in missing bases (rule B7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE, RULE_TYPE, check_settings, judge
from verifyplan.analysis.tally import CodedVotes, Ints, code_votes
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.frames.vote_losses import LOST
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import MODES, MissingBasis, Mode

ReplayMode = Literal["collaborative", "adversarial", "recorded"]
REPLAY_MODES: tuple[str, ...] = (*MODES, "recorded")

BASIS_COUNTS = ["filled_bases", "filled_counter", "disagreements"]
"""The columns that count bases filled in, those of them filled in as counter-evidence, and disagrees."""

DECIDING_VOTES = "deciding_votes"
"""The column that counts the votes behind a class: those of the round that decided, errors left out."""

_KEY = ["run_id", "iteration", "finding_id"]
_COUNTS = [*BASIS_COUNTS, DECIDING_VOTES, *LOST]
_JUDGED = ["classification", "decided_round", "rule", "censored", *_COUNTS]


@with_field_docs
@dataclass(frozen=True)
class Setting:
    """How votes are judged; `compare` takes one for each condition. Values are checked where they are used.

    >>> Setting("adversarial", max_rounds=1)
    Setting(mode='adversarial', max_rounds=1, missing_basis='infer')
    """

    mode: ReplayMode = "recorded"
    """`collaborative`, `adversarial`, or `recorded`: each run in its own mode."""
    max_rounds: int | None = None
    """Rounds allowed; None takes each run's own."""
    missing_basis: MissingBasis = "infer"
    """How an adversarial mode fills in the basis of a disagree that has none (see `classify`)."""

    @property
    def own(self) -> bool:
        """Whether each run is judged as it was: under its mode, with the rounds that it allowed.

        >>> Setting().own, Setting(max_rounds=1).own
        (True, False)
        """
        return self == Setting()

    def replay(self, runs: RunSet) -> pd.DataFrame:
        """Return every finding with its class under this setting (see `replay`, also for errors)."""
        return replay(runs, self.mode, max_rounds=self.max_rounds, missing_basis=self.missing_basis)


def replay(
    runs: Runs, mode: ReplayMode, *, max_rounds: int | None = None, missing_basis: MissingBasis = "infer"
) -> pd.DataFrame:
    """Return every finding of some runs with the class that its recorded votes give under `mode`.

    A finding that nobody was asked about (found by all, or with votes switched off) keeps its class, by the rule
    `round-0`. The items of a plan body are left out: they have rules of their own (rule B10). A replay isolates the
    effect of the rule; the effect of the prompt needs two real runs (`compare`, paired). A challenge on which a panel
    voted in several iterations is judged, and has a row, in each.

    Args:
        runs: a RunSet, a run, or a path.
        mode: `collaborative`, `adversarial`, or `recorded`: each run in its own mode, as it was.
        max_rounds: rounds allowed; None takes each run's own `effective_max_rounds`.
        missing_basis: see `classify`.

    Returns:
        One row a finding and iteration (0 in cross runs), in the order of `runs.findings`: `run_id, iteration,
        finding_id, summary, category, truth, recorded` (the class that the run gave), `classification,
        decided_round, rule, censored, filled_bases, filled_counter` (of these, as counter-evidence), `disagreements`
        (of the executed rounds; both 0 where no basis matters), `deciding_votes` (of the deciding round, those that
        count), `lost_votes` (of that round, errors) and `lost_refutes` (counter-evidences of earlier rounds whose
        author has no vote in it; rule B8).

    Raises:
        SettingsError, TableError: as `classify`.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"]})
    >>> runs = from_votes(votes, item="item", worker="who", verdict="says")
    >>> replay(runs, "adversarial")[["classification", "rule"]].values.tolist()
    [['partial-consensus', 'lone-doubt']]
    """
    runs = as_runs(runs)
    check_settings(mode, max_rounds, missing_basis, REPLAY_MODES)
    judged = [
        judge(part.votes, part.cast, part.mode, part.max_rounds, missing_basis, losses=True)
        for part in replay_parts(runs, mode, max_rounds)
    ]
    table = pd.concat(judged) if judged else pd.DataFrame(columns=[*_KEY, *_JUDGED])
    own = _replayed(runs)[["run_id", "finding_id", "summary", "category", "truth", "classification"]]
    out = own.rename(columns={"classification": "recorded"}).merge(table[[*_KEY, *_JUDGED]], on=FINDING, how="left")
    out.insert(1, "iteration", out.pop("iteration").fillna(0).astype("int64"))
    return _keep_unvoted(out.assign(recorded=_recorded_classes(out, runs)))


class ReplayPart(NamedTuple):
    """The votes of a set that are judged in one mode, as `judge` takes them."""

    mode: Mode
    votes: pd.DataFrame
    cast: CodedVotes
    max_rounds: Ints
    """The rounds allowed to each finding."""


def replay_parts(runs: RunSet, mode: ReplayMode, max_rounds: int | None) -> list[ReplayPart]:
    """Return the votes of runs by the mode that judges them: one part, or with `recorded` one of each mode."""
    findings = _replayed(runs).merge(runs.runs[["run_id", "mode", "effective_max_rounds"]], on="run_id", how="left")
    adversarial = findings["mode"].eq("adversarial").fillna(False).astype(bool)  # an unknown mode: collaborative
    if mode != "recorded":
        adversarial[:] = mode == "adversarial"
    sides: tuple[tuple[Mode, pd.Series[bool]], ...] = (("collaborative", ~adversarial), ("adversarial", adversarial))
    return [_part(runs, findings[rows], side, max_rounds) for side, rows in sides if rows.any()]


def _replayed(runs: RunSet) -> pd.DataFrame:
    """Return the findings that a replay judges: all but the items of a plan body."""
    return runs.findings[runs.findings["category"].ne(PLAN_BODY).fillna(True).astype(bool)]


def _recorded_classes(table: pd.DataFrame, runs: RunSet) -> pd.Series:
    """Return the class that each run gave in each iteration; `findings` has that of the last, the history has all."""
    own = table["recorded"].astype(CLASS_TYPE)
    if not table["iteration"].any():
        return own
    last = table.groupby(FINDING, sort=False)["iteration"].transform("max")
    history = runs.challenge_history[runs.challenge_history["event"].eq("classified").to_numpy(dtype=bool)]
    history = history.rename(columns={"challenge_id": "finding_id", "classification": "class"})
    classes = table[_KEY].merge(history[[*_KEY, "class"]].drop_duplicates(_KEY, keep="last"), on=_KEY, how="left")
    return classes["class"].astype("object").fillna(own.astype("object").where(table["iteration"].eq(last)))


def _part(runs: RunSet, findings: pd.DataFrame, mode: Mode, max_rounds: int | None) -> ReplayPart:
    keys = findings[FINDING]
    votes = runs.votes.merge(keys, on=FINDING) if len(keys) < len(runs.findings) else runs.votes
    imported = bool(runs.runs["kind"].eq("votes").any())  # only an artifact says that a round had no votes
    cast = code_votes(votes, gaps_allowed=not imported)
    rows = cast.findings[_KEY].merge(findings, on=FINDING, how="left")
    known = rows["n_rounds"].where(rows["iteration"].eq(last_iteration(cast.findings)))  # it is of the last one alone
    run_rounds = known.to_numpy(dtype="float64", na_value=0).astype(np.int64)
    cast = replace(cast, last_round=np.maximum(cast.last_round, run_rounds))
    own = rows["effective_max_rounds"]
    allowed = own.to_numpy(dtype="float64", na_value=np.nan) if max_rounds is None else np.full(len(own), max_rounds)
    allowed = np.where(np.isnan(allowed), cast.last_round, allowed).astype(np.int64)
    return ReplayPart(mode, votes, cast, allowed)


def _keep_unvoted(table: pd.DataFrame) -> pd.DataFrame:
    """Return the table in which findings without votes keep the recorded class, by the rule `round-0`."""
    without = table["rule"].isna().to_numpy()
    recorded, classes = table["recorded"].astype(CLASS_TYPE), table["classification"].astype(CLASS_TYPE)
    classes[without] = recorded.to_numpy()[without]
    return table.assign(
        recorded=recorded,
        classification=classes,
        decided_round=table["decided_round"].fillna(0).astype("int64"),
        rule=table["rule"].astype(RULE_TYPE).fillna("round-0"),
        censored=table["censored"].eq(True),
        **{name: table[name].fillna(0).astype("int64") for name in _COUNTS},
    )


def last_iteration(votes: pd.DataFrame) -> pd.Series[Any]:
    """Return, for each vote, the last iteration in which its finding was voted on; 0 in cross runs.

    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["C1", "C1", "C2"], "iteration": [1, 2, 1]})
    >>> last_iteration(votes).tolist()
    [2, 2, 1]
    """
    if not votes["iteration"].any():
        return votes["iteration"]
    return votes.groupby(FINDING, sort=False, observed=True)["iteration"].transform("max")


def at_iteration(runs: RunSet, iteration: int | None = None) -> RunSet:
    """Return the runs with the votes of one iteration alone; None takes, of each finding, those of its last one.

    Raises InputError where nobody voted in that iteration.
    """
    last = last_iteration(runs.votes)
    wanted = runs.votes["iteration"].eq(last if iteration is None else iteration)
    votes = runs.votes[wanted.to_numpy(dtype=bool)].reset_index(drop=True)
    if iteration is None:
        return replace(runs, votes=votes)
    if votes.empty:
        have = ", ".join(map(str, sorted(runs.votes["iteration"].unique()))) or "none"
        raise InputError(Problem("iteration", f"there are no votes of iteration {iteration}", f"use one of: {have}"))
    later = runs.votes.loc[last.gt(iteration).to_numpy(dtype=bool), FINDING].drop_duplicates().assign(later=True)
    known = runs.findings[FINDING].merge(later, on=FINDING, how="left")["later"].isna().to_numpy()
    findings = runs.findings.assign(n_rounds=runs.findings["n_rounds"].where(known))  # it is of the last one alone
    return replace(runs, votes=votes, findings=findings)
