"""Why a finding ended in its class: the rule, the tally and the votes of each round, in words (SPEC F2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.iterations import at_iteration
from verifyplan.analysis.replay import Reading, replay
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.vote import MODES, MissingBasis
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import Rule
from verifyplan.words import counted, did_you_mean

MEANING: dict[Rule, str] = {
    "round-0": "nobody had to vote: every analyser found it, or votes were switched off",
    "no-votes": "nobody but its discoverers ever gave a vote that counts",
    "all-agree": "nobody disagreed",
    "survived": "every attempt to break it failed",
    "survived-with-caveat": "nobody broke it, but somebody found a limit",
    "majority-agree": "more than half agreed, some with a supplement",
    "lone-doubt": "the doubters cited no counter-evidence and were no majority",
    "burden-majority": "more than half found that the claim did not prove itself",
    "hard-refute": "somebody cited counter-evidence, and not everybody disagreed",
    "no-majority": "neither side had more than half",
    "all-others-disagree": "everybody who voted disagreed, so only its discoverers hold it",
}
"""What each rule of SPEC B6 says, in words."""


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

    Raises:
        InputError: for a finding that is in no run or in several; names what there is.
    """
    expect_runs(runs)
    one = runs.select([_run_of(runs, finding_id, run_id)])
    findings = one.findings[one.findings["finding_id"] == finding_id]
    votes = one.votes[one.votes["finding_id"] == finding_id].reset_index(drop=True)
    alone = at_iteration(replace(one, findings=findings, votes=votes), iteration)
    votes = alone.votes
    table = replay(alone, mode or "recorded", max_rounds=max_rounds, missing_basis=missing_basis)
    if table.empty:
        fix = "read its class in the table `findings`; plan items have rules of their own (SPEC B10)"
        raise InputError(Problem("finding_id", f"{finding_id!r} is an item of a plan body", fix))
    row = {str(name): value for name, value in table.iloc[0].items()}
    recorded = one.runs["mode"].iloc[0]
    told = mode if mode in MODES else recorded if isinstance(recorded, str) else None
    read_as = told or "collaborative"
    return Explanation(
        row,
        votes,
        _words(row, votes, findings.iloc[0], read_as, f"{read_as}{'' if told else ' (its mode is not recorded)'}"),
    )


def _run_of(runs: RunSet, finding_id: str, run_id: str | None) -> str:
    having = runs.findings.loc[runs.findings["finding_id"] == finding_id, "run_id"].tolist()
    if run_id is not None and run_id in having:
        return run_id
    if run_id is None and len(having) == 1:
        return str(having[0])
    if not having:
        known = runs.findings["finding_id"].unique()
        some = ", ".join(known[:5]) or "there are none"
        message = f"{finding_id!r} is in no run{did_you_mean(finding_id, known)}"
        raise InputError(Problem("finding_id", message, f"use one of {counted(len(known), 'finding')}: {some}"))
    where = f"is in {len(having)} runs" if run_id is None else f"is not in run {run_id!r}"
    raise InputError(Problem("run_id", f"{finding_id!r} {where}", f"name its run: {', '.join(having[:5])}"))


def _words(row: dict[str, Any], votes: pd.DataFrame, finding: pd.Series[Any], mode: str, told: str) -> str:
    lines = [f"{row['finding_id']} in run {row['run_id']}, read as {told}: {row['classification']}"]
    if isinstance(row["summary"], str):
        lines.append(f"  Claim: {_one_line(row['summary'])}")
    if row["iteration"]:
        lines.append(f"  Votes of iteration {row['iteration']}.")
    if finding["discoverers"]:
        lines.append(f"  Found by: {', '.join(finding['discoverers'])}")
    when = f" in round {row['decided_round']}" if row["decided_round"] else ""
    lines.append(f"  Decided{when} by the rule {row['rule']}: {MEANING[row['rule']]}.")
    for number, cast in votes.groupby("round", sort=True):
        lines += _round(int(str(number)), cast, row, mode)
    if row["censored"]:
        lines.append("  Censored: more rounds were allowed than recorded; the votes that would decide were never cast.")
    if row["filled_bases"]:
        filled = counted(row["filled_bases"], "missing basis")
        lines.append(f"  Filled in by the reading: {filled}.")
    return "\n".join(lines)


def _round(number: int, cast: pd.DataFrame, row: dict[str, Any], mode: str) -> list[str]:
    """One round: what was counted, then each vote; rounds after the deciding one are marked as unread."""
    counted = cast[(cast["verdict"] != "verification-error") & ~cast["is_origin"].fillna(False).astype(bool)]
    kinds = counted["disagree_basis"].astype("object").fillna(counted["verdict"].astype("object"))
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.value_counts(sort=False).items())
    told = told or "no vote that counts"
    unread = "" if number <= row["decided_round"] else " (not read: the finding had its class)"
    lines = [f"  Round {number}: {told} (n = {len(counted)}){unread}"]
    return lines + [f"    {vote['worker']}: {_vote(vote, mode)}" for vote in cast.to_dict("records")]


def _vote(vote: dict[Any, Any], mode: str) -> str:
    basis, said = vote["disagree_basis"], vote["explanation"]
    words = str(vote["verdict"])
    if isinstance(basis, str):
        words += f" ({basis})"
    elif vote["verdict"] == "disagree" and mode == "adversarial":
        cited = isinstance(said, str) and cites_location(said)
        words += f" (no basis recorded; the explanation cites {'a' if cited else 'no'} place)"
    if vote["is_origin"] is True:
        words += " (its discoverer: not counted)"
    return f"{words}: {_one_line(said)}" if isinstance(said, str) and said else words


def _one_line(text: str) -> str:
    """A text of somebody else's on one line, without control characters: it cannot pass for words of ours."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
