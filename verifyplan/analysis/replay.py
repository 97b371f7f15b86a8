"""A whole set of runs read under a mode: findings settled before any vote included (rule B7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pandas as pd

from verifyplan.analysis.classify import CLASS_TYPE, RULE_TYPE, check_settings, judge
from verifyplan.analysis.iterations import FINDING, last_iteration
from verifyplan.analysis.tally import ballots
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.lost import LOST
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.vote import MODES, MissingBasis
from verifyplan.text import did_you_mean

Reading = Literal["collaborative", "adversarial", "recorded"]
READINGS: tuple[str, ...] = (*MODES, "recorded")

_KEY = ["run_id", "iteration", "finding_id"]
_TOLD = ["run_id", "finding_id", "summary", "category", "truth"]
BASES_READ = ["filled_bases", "filled_counter", "disagreements"]
"""How many bases were filled in, how many of these as counter-evidence, and of how many disagrees."""
_COUNTED = [*BASES_READ, *LOST]
_JUDGED = ["classification", "decided_round", "rule", "censored", *_COUNTED]


def replay(
    runs: RunSet, mode: Reading, *, max_rounds: int | None = None, missing_basis: MissingBasis = "infer"
) -> pd.DataFrame:
    """Every finding of some runs with the class that its recorded votes give under `mode`.

    A finding that nobody was asked about (found by all, or with votes switched off) keeps its class, by the
    rule `round-0`. The items of a plan body are left out: they have rules of their own (rule B10). A replay
    isolates the effect of the rule; the effect of the prompt needs two real runs (`compare`, paired). A challenge on
    which a panel voted in several iterations is judged, and has a row, in each.

    Args:
        runs: what `load` or `from_votes` gave.
        mode: `collaborative`, `adversarial`, or `recorded`: each run in its own mode, as it was.
        max_rounds: rounds allowed; None takes each run's own `effective_max_rounds`.
        missing_basis: see `classify`.

    Returns:
        One row a finding and iteration (0 in cross runs), in the order of `runs.findings`: `run_id, iteration,
        finding_id, summary, category, truth, recorded` (the class that the run gave), `classification,
        decided_round, rule, censored, filled_bases, filled_counter` (of these, as counter-evidence), `disagreements`
        (of the executed rounds; both 0 where no basis is read), `lost_votes` (of the deciding round, errors) and
        `lost_refutes` (counter-evidences of earlier rounds whose author has no vote in it; rule B8).

    Raises:
        SettingsError, TableError: as `classify`.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": "F", "who": ["a", "b"], "says": ["agree", "disagree"]})
    >>> runs = from_votes(votes, item="item", worker="who", verdict="says")
    >>> replay(runs, "adversarial")[["classification", "rule"]].values.tolist()
    [['partial-consensus', 'lone-doubt']]
    """
    expect_runs(runs)
    if mode not in READINGS:
        raise SettingsError(
            Problem("mode", f"{mode!r} is unknown{did_you_mean(mode, READINGS)}", f"use {one_of(READINGS)}")
        )
    check_settings(MODES[0] if mode == "recorded" else mode, max_rounds, missing_basis)
    findings = runs.findings[runs.findings["category"].ne("plan-body").fillna(True).astype(bool)]
    findings = findings.merge(runs.runs[["run_id", "mode", "effective_max_rounds"]], on="run_id", how="left")
    judged = [
        _judge_in_mode(runs, findings[rows], one_mode, max_rounds, missing_basis)
        for one_mode, rows in _by_mode(findings, mode)
        if rows.any()
    ]
    table = pd.concat(judged) if judged else pd.DataFrame(columns=[*_KEY, *_JUDGED])
    told = findings[[*_TOLD, "classification"]].rename(columns={"classification": "recorded"})
    out = told.merge(table[[*_KEY, *_JUDGED]], on=FINDING, how="left")
    out.insert(1, "iteration", out.pop("iteration").fillna(0).astype("int64"))
    return _settled_at_once(out.assign(recorded=_recorded(out, runs)))


def _recorded(table: pd.DataFrame, runs: RunSet) -> pd.Series:
    """The class that each run gave in each iteration; `findings` tells that of the last, the history all."""
    own = table["recorded"].astype(CLASS_TYPE)
    if not table["iteration"].any():
        return own
    last = table.groupby(FINDING, sort=False)["iteration"].transform("max")
    given = runs.challenge_history[runs.challenge_history["event"].eq("classified").to_numpy(dtype=bool)]
    given = given.rename(columns={"challenge_id": "finding_id", "classification": "given"})
    classes = table[_KEY].merge(given[[*_KEY, "given"]].drop_duplicates(_KEY, keep="last"), on=_KEY, how="left")
    return classes["given"].astype("object").fillna(own.astype("object").where(table["iteration"].eq(last)))


def _by_mode(findings: pd.DataFrame, mode: Reading) -> list[tuple[Literal["collaborative", "adversarial"], pd.Series]]:
    """Which findings to judge in which mode; a run of unknown mode is recorded as collaborative."""
    adversarial = findings["mode"].eq("adversarial").fillna(False).astype(bool)
    if mode != "recorded":
        adversarial[:] = mode == "adversarial"
    return [("collaborative", ~adversarial), ("adversarial", adversarial)]


def _judge_in_mode(
    runs: RunSet,
    findings: pd.DataFrame,
    mode: Literal["collaborative", "adversarial"],
    max_rounds: int | None,
    missing_basis: MissingBasis,
) -> pd.DataFrame:
    keys = findings[FINDING]
    votes = runs.votes.merge(keys, on=FINDING) if len(keys) < len(runs.findings) else runs.votes
    imported = bool(runs.runs["kind"].eq("votes").any())  # only an artifact says that a round had no votes
    cast = ballots(votes, gaps_allowed=not imported)
    told = cast.findings[_KEY].merge(findings, on=FINDING, how="left")
    known = told["n_rounds"].where(told["iteration"].eq(last_iteration(cast.findings)))  # it is of the last one alone
    recorded = known.to_numpy(dtype="float64", na_value=0).astype(np.int64)
    cast = replace(cast, recorded=np.maximum(cast.recorded, recorded))
    own = told["effective_max_rounds"]
    allowed = own.to_numpy(dtype="float64", na_value=np.nan) if max_rounds is None else np.full(len(own), max_rounds)
    allowed = np.where(np.isnan(allowed), cast.recorded, allowed).astype(np.int64)
    return judge(votes, cast, mode, allowed, missing_basis, losses=True)


def _settled_at_once(table: pd.DataFrame) -> pd.DataFrame:
    """Findings without votes keep the recorded class, by the rule `round-0`."""
    without = table["rule"].isna().to_numpy()
    recorded, classes = table["recorded"].astype(CLASS_TYPE), table["classification"].astype(CLASS_TYPE)
    classes[without] = recorded.to_numpy()[without]
    return table.assign(
        recorded=recorded,
        classification=classes,
        decided_round=table["decided_round"].fillna(0).astype("int64"),
        rule=table["rule"].astype(RULE_TYPE).fillna("round-0"),
        censored=table["censored"].eq(True),
        **{name: table[name].fillna(0).astype("int64") for name in _COUNTED},
    )
