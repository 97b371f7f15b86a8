"""Why a finding ended in its class: the rule, the tally and the votes of each round, in words (rule F2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.replay import Reading, at_iteration, replay
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.frames.support import absent_votes
from verifyplan.frames.vote_checks import PLAN_BODY
from verifyplan.protocol.vote import HELD, MODES, MissingBasis
from verifyplan.rules.ballots import basis_if_missing
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import Rule
from verifyplan.text import counted, did_you_mean, filled_words, listed

RULE_MEANINGS: dict[Rule, str] = {
    "round-0": "nobody had to vote: every analyser found it, or votes were switched off",
    "no-votes": "nobody but its discoverers ever gave a vote that counts",
    "all-agree": "nobody whose vote counts disagreed",
    "survived": "nobody whose vote counts broke it",
    "survived-with-caveat": "nobody whose vote counts broke it, but somebody found a limit",
    "majority-agree": "more than half agreed, some with a supplement",
    "lone-doubt": "the doubters cited no counter-evidence and were no majority",
    "burden-majority": "more than half found that the claim did not prove itself",
    "hard-refute": "somebody cited counter-evidence, and not everybody disagreed",
    "no-majority": "neither side had more than half",
    "all-others-disagree": "everybody who voted disagreed, so at most its discoverers hold it",
}
"""What each rule of rule B6 says, in words."""


def words_of(
    row: dict[str, Any],
    votes: pd.DataFrame,
    finding: pd.Series[Any],
    mode: str,
    read_as: str,
    missing_basis: MissingBasis = "infer",
) -> str:
    """The row of a replay, the finding's votes and its row in `findings` as lines of text; `read_as` names the mode."""
    lines = [f"{row['finding_id']} in run {row['run_id']}, read as {read_as}: {row['classification']}"]
    if isinstance(row["summary"], str):
        lines.append(f"  Claim: {_one_line(row['summary'])}")
    if row["iteration"]:
        lines.append(f"  Votes of iteration {row['iteration']}.")
    if finding["discoverers"]:
        lines.append(f"  Found by: {', '.join(finding['discoverers'])}")
    when = f" in round {row['decided_round']}" if row["decided_round"] else ""
    lines.append(f"  Decided{when} by the rule {row['rule']}: {RULE_MEANINGS[row['rule']]}.")
    lines += _loss_lines(row, votes, missing_basis)
    for number, cast in votes.groupby("round", sort=True):
        lines += _round_lines(int(str(number)), cast, row, mode, missing_basis)
    if row["censored"]:
        lines.append("  Censored: more rounds were allowed than recorded; the votes that would decide were never cast.")
    if row["filled_bases"]:
        bases = filled_words(row["filled_bases"], row["filled_counter"], row["disagreements"])
        lines.append(f"  Filled in by the reading: {bases}.")
    return "\n".join(lines)


def gate_words(classification: str) -> str:
    """Return what the class of a plan item means for the gate (rule B10)."""
    fate = "holds" if classification in HELD else "does not hold, and fails the gate where it is gating"
    return f"  An item of the plan body, on which every analyser votes once, collaboratively: it {fate}."


def _loss_lines(row: dict[str, Any], votes: pd.DataFrame, missing_basis: MissingBasis) -> Iterator[str]:
    """Yield what the class does without: votes of the deciding round, counter-evidences of earlier ones (rule B8)."""
    number = row["decided_round"]
    deciding, own = votes["round"].eq(number), votes["is_origin"].fillna(False).astype(bool)
    failed = votes["verdict"].eq("verification-error")
    if row["lost_votes"]:
        cast = int((deciding & ~own).sum())
        yield (
            f"  This class rests on {cast - row['lost_votes']} of {counted(cast, 'vote')} asked for: "
            f"{counted(row['lost_votes'], 'call')} failed."
        )
    if not row["lost_refutes"]:
        return
    counts = votes[~failed & ~own & votes["round"].le(number)].sort_values("round")
    last = counts.drop_duplicates("worker", keep="last")
    for vote in last[last["round"].lt(number) & last["verdict"].eq("disagree")].to_dict("records"):
        basis, said = vote["disagree_basis"], vote["explanation"]
        if not isinstance(basis, str):
            basis = basis_if_missing(said if isinstance(said, str) else None, missing_basis)
        if basis != "counter-evidence":
            continue
        error = bool((deciding & failed & votes["worker"].eq(vote["worker"])).any())
        how = f"to an error in round {number}" if error else f"as {vote['worker']} has no vote in round {number}"
        yield f"  A counter-evidence of round {vote['round']} ({vote['worker']}) was lost {how}."


def _round_lines(
    number: int, cast: pd.DataFrame, row: dict[str, Any], mode: str, missing_basis: MissingBasis
) -> list[str]:
    """One round: what was counted, then each vote; rounds after the deciding one are marked as unread."""
    counted = cast[(cast["verdict"] != "verification-error") & ~cast["is_origin"].fillna(False).astype(bool)]
    kinds = counted["disagree_basis"].astype("object").fillna(counted["verdict"].astype("object"))
    told = ", ".join(f"{count} {kind}" for kind, count in kinds.value_counts(sort=False).items())
    told = told or "no vote that counts"
    unread = "" if number <= row["decided_round"] else " (not read: the finding had its class)"
    lines = [f"  Round {number}: {told} (n = {len(counted)}){unread}"]
    return lines + [
        f"    {vote['worker']}: {_vote_text(vote, mode, missing_basis)}" for vote in cast.to_dict("records")
    ]


def _vote_text(vote: dict[Any, Any], mode: str, missing_basis: MissingBasis) -> str:
    basis, said = vote["disagree_basis"], vote["explanation"]
    words = str(vote["verdict"])
    if isinstance(basis, str):
        words += f" ({basis}{', filled in: the worker named none' if vote['basis_filled'] is True else ''})"
    elif vote["verdict"] == "disagree" and mode == "adversarial":
        cited = isinstance(said, str) and cites_location(said)
        read = basis_if_missing(said if isinstance(said, str) else None, missing_basis)
        words += f" (no basis recorded; the explanation cites {'a' if cited else 'no'} place; filled in as {read})"
    if vote["is_origin"] is True:
        words += " (its discoverer: not counted)"
    return f"{words}: {_one_line(said)}" if isinstance(said, str) and said else words


def _one_line(text: str) -> str:
    """A text of somebody else's on one line, without control characters: it cannot pass for words of ours."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())


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
