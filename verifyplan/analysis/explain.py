"""Why a finding ended in its class: the rule, the tally and the votes of each round, in words (rule F2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.explain_words import gate_words, words_of
from verifyplan.analysis.iterations import at_iteration
from verifyplan.analysis.replay import Reading, replay
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.frames.support import absent_votes
from verifyplan.frames.vote_facts import PLAN_BODY
from verifyplan.protocol.vote import MODES, MissingBasis
from verifyplan.text import counted, did_you_mean, listed


@dataclass(frozen=True)
class Explanation:
    """One finding's way to its class, as data and as words."""

    finding: dict[str, Any]
    """The finding's row of the replay: class, rule, round, censoring, filled bases."""
    votes: pd.DataFrame
    """The votes on it, by round and worker."""
    text: str

    def __str__(self) -> str:
        """The words."""
        return self.text

    def __repr__(self) -> str:
        """The words, so that a bare expression in a console reads well."""
        return self.text

    def _repr_html_(self) -> str:
        """The words, with any markup in them shown as text."""
        return f'<pre style="white-space: pre-wrap">{escape(self.text)}</pre>'


def explain(
    runs: RunSet,
    finding_id: str,
    run_id: str | None = None,
    mode: Reading | None = None,
    *,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    iteration: int | None = None,
) -> Explanation:
    """Say which rule gave a finding its class, on which tally and which votes, under a mode.

    Args:
        runs: what `load` or `from_votes` gave.
        finding_id: the finding.
        run_id: its run; may be left out where only one run has that finding.
        mode: `collaborative`, `adversarial`, or None for the run's own.
        max_rounds: as in `replay`.
        missing_basis: as in `replay`.
        iteration: of a plan run, the iteration whose votes are explained; by default the last in which the
            challenge was voted on.

    The items of a plan body are read by their own rules: collaboratively, in one round. What the class does without is
    said (votes lost to failed calls, counter-evidences lost between rounds), and so is a recorded class that the votes
    do not give.

    Raises:
        InputError: for a finding that is in no run or in several; names what there is.
        SettingsError: for a mode or rounds that a plan item cannot be read in, and as `replay`.
    """
    expect_runs(runs)
    one = runs.select([_run_of(runs, finding_id, run_id)])
    findings = one.findings[one.findings["finding_id"] == finding_id]
    votes = one.votes[one.votes["finding_id"] == finding_id].reset_index(drop=True)
    alone = at_iteration(replace(one, findings=findings, votes=votes), iteration)
    if findings["category"].iloc[0] == PLAN_BODY:
        _refuse_other_rules(finding_id, mode, max_rounds)
        alone = replace(alone, findings=alone.findings.assign(category=None))  # else a replay leaves it out
        row = _row(replay(alone, "collaborative", max_rounds=1))
        text = words_of(row, alone.votes, findings.iloc[0], "collaborative", "collaborative")
        return Explanation(row, alone.votes, f"{text}\n{gate_words(row['classification'])}{_recorded(row)}")
    row = _row(replay(alone, mode or "recorded", max_rounds=max_rounds, missing_basis=missing_basis))
    own = _row(replay(alone, "recorded"))
    recorded = one.runs["mode"].iloc[0]
    told = mode if mode in MODES else recorded if isinstance(recorded, str) else None
    read_as = told or "collaborative"
    named = f"{read_as}{'' if told else ' (its mode is not recorded)'}"
    text = words_of(row, alone.votes, findings.iloc[0], read_as, named, missing_basis)
    return Explanation(row, alone.votes, f"{text}{_absent(one, finding_id)}{_recorded(own)}")


def _row(table: pd.DataFrame) -> dict[str, Any]:
    return {str(name): value for name, value in table.iloc[0].items()}


def _absent(one: RunSet, finding_id: str) -> str:
    """A line for each round in which the finding has fewer votes than its run has judges."""
    fewer = absent_votes(one.runs, one.findings, one.votes)
    rows = fewer[fewer["finding_id"].eq(finding_id)].to_dict("records")
    return "".join(
        f"\n  Round {row['round']} has {row['voters']} of {counted(row['judges'], 'vote')}: the table has no row for "
        "the others, not even one of a lost vote."
        for row in rows
    )


def _recorded(own: dict[str, Any]) -> str:
    """A line where a run recorded another class than its votes give under its own rules (rule B9)."""
    recorded, given = own["recorded"], own["classification"]
    if not isinstance(recorded, str) or recorded == given:
        return ""
    return f"\n  The run recorded {recorded}; under its own rules its votes give {given}."


def _refuse_other_rules(finding_id: str, mode: Reading | None, max_rounds: int | None) -> None:
    what = f"{finding_id!r} is an item of a plan body, which is read collaboratively, in one round"
    problems = [
        Problem(name, f"{what}, got {value!r}", "leave it out")
        for name, value, allowed in (
            ("mode", mode, (None, "collaborative", "recorded")),
            ("max_rounds", max_rounds, (None, 1)),
        )
        if value not in allowed
    ]
    if problems:
        raise SettingsError(problems)


def _run_of(runs: RunSet, finding_id: str, run_id: str | None) -> str:
    having = runs.findings.loc[runs.findings["finding_id"] == finding_id, "run_id"].tolist()
    if run_id is not None and run_id in having:
        return run_id
    if run_id is None and len(having) == 1:
        return str(having[0])
    if not having:
        known = runs.findings["finding_id"].unique()
        some = listed(known) or "there are none"
        message = f"{finding_id!r} is in no run{did_you_mean(finding_id, known)}"
        raise InputError(Problem("finding_id", message, f"use one of {counted(len(known), 'finding')}: {some}"))
    where = f"is in {len(having)} runs" if run_id is None else f"is not in run {run_id!r}"
    raise InputError(Problem("run_id", f"{finding_id!r} {where}", f"name its run: {', '.join(having[:5])}"))
