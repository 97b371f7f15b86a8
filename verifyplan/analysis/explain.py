"""Explain why a finding ended in its class: the rule, the tally and the votes of each round, in words (rule F2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.explain_rules import (
    asked_votes,
    counted_lines,
    deciding_fields,
    judged_runs,
    own_part,
    range_words,
    row_under,
    rules_words,
)
from verifyplan.analysis.replay import ReplayMode, at_iteration, recorded_rules
from verifyplan.analysis.treatments.idle_fields import idle_words
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.cut_notes import how_to_finish
from verifyplan.frames.cut_rounds import cut_findings, held_back
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_losses import absent_votes, lost_refutes
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import HELD, MissingBasis
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import HALF, Rule, basis_if_missing
from verifyplan.text import counted, did_you_mean, filled_words, listed, visible

RULE_MEANINGS: dict[Rule, str] = {
    "round-0": "nobody had to vote: every analyser found it, or votes were switched off",
    "no-votes": "no vote counts besides those of its discoverers",
    "all-agree": "nobody whose vote counts disagreed",
    "survived": "no vote that counts refutes it",
    "survived-with-caveat": "no vote that counts refutes it, but somebody found a limit",
    "majority-agree": "somebody disagreed, but more than half agreed, with a supplement or without",
    "lone-doubt": "one or several disagreed, but without counter-evidence, and no more than half did",
    "burden-majority": "more than half, but not all, found that the claim was not proved",
    "hard-refute": "somebody cited counter-evidence, and not everybody disagreed",
    "no-majority": "not everybody disagreed, but no more than half agreed, with a supplement or without",
    "all-others-disagree": "everybody whose vote counts disagreed, so at most its discoverers hold it",
    "no-quorum": "the round has too few votes to decide anything",
    "majority-disagree": "more than half, but not all, disagreed",
    "any-disagree": "somebody disagreed, and these rules need no more to reject a claim",
    "no-unanimity": "votes that count were given for the claim and against it, and these rules need all on one side",
    "estimated-true": "somebody disagreed, but by the estimated reliability of the workers the claim is likely true",
    "estimated-false": "by the estimated reliability of the workers the claim is likely false",
    "estimate-undecided": "by the estimated reliability of the workers neither side is likely enough",
}
"""The meaning of each rule of classification (rule B6), in words that are true of every tally that leads to it."""


def meaning_of(rule: Rule, rules: VotingRules) -> str:
    """Return the meaning of a rule where a majority is more than another share, or votes are weighed.

    >>> meaning_of("majority-agree", VotingRules(majority="2/3"))
    'somebody disagreed, but more than 2/3 agreed, with a supplement or without'
    """
    share = "half" if rules.majority == HALF else str(rules.majority)
    weighed = f"{share} of the weight" if rules.weights else share
    return RULE_MEANINGS[rule].replace("more than half", f"more than {weighed}")


@with_field_docs
@dataclass(frozen=True)
class Explanation:
    """One finding's way to its class, as data and as words."""

    finding: dict[str, Any]
    """The finding's row of the replay: class, rule, round, censoring, filled bases."""
    votes: pd.DataFrame
    """The votes on it, by round and worker."""
    text: str
    """The explanation in words, as `print` shows it."""

    def __str__(self) -> str:
        """Return the words."""
        return self.text

    def __repr__(self) -> str:
        """Return the words, so that a bare expression in a console reads well."""
        return self.text

    def _repr_html_(self) -> str:
        """Return the words, with any markup in them shown as text."""
        style = "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere"
        return f'<pre style="{style}">{escape(self.text)}</pre>'


def explain(
    runs: Runs,
    finding_id: str,
    run_id: str | None = None,
    mode: ReplayMode | None = None,
    *,
    rules: object = None,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
    iteration: int | None = None,
) -> Explanation:
    """Say which rule gave a finding its class, on which tally and which votes, under a mode or any voting rules.

    Args:
        runs: a RunSet, a run, or a path.
        finding_id: the finding.
        run_id: its run; may be left out where only one run has that finding.
        mode: `collaborative`, `adversarial`, or None for the run's own.
        rules: as in `replay`; what votes count as under them is said, and which fields decide: those without which
            the finding would have another class.
        max_rounds: as in `replay`.
        missing_basis: as in `replay`.
        iteration: of a plan run, the iteration whose votes are explained; by default the last in which the
            challenge was voted on.

    The items of a plan body are read by their own rules: collaboratively, in one round. What the class does without is
    said (votes lost to failed calls, counter-evidences lost between rounds), and so is a recorded class that the votes
    do not give, and that a limit cut off the round, which the run then did not judge.

    Raises:
        InputError: for a finding that is in no run or in several; names what there is.
        SettingsError: for a mode or rounds that a plan item cannot be read in, and as `replay`.

    >>> explained = explain("contract", "F-001", "1.2-max-rounds-reached")
    >>> explained.finding["classification"], explained.finding["rule"]
    ('contested', 'hard-refute')
    """
    chosen = chosen_rules(rules, mode, max_rounds, missing_basis)
    runs = as_runs(runs)
    run = runs.select([_run_of(runs, finding_id, run_id)])
    findings = run.findings[run.findings["finding_id"] == finding_id]
    votes = run.votes[run.votes["finding_id"] == finding_id].reset_index(drop=True)
    alone = at_iteration(replace(run, findings=findings, votes=votes), iteration)
    if findings["category"].iloc[0] == PLAN_BODY:
        _refuse_other_rules(finding_id, mode, max_rounds, rules)
        alone = replace(alone, findings=alone.findings.assign(category=None))  # else a replay leaves it out
        one_round = VotingRules(mode="collaborative", max_rounds=1)
        row = row_under(alone, finding_id, one_round)
        text = _words(row, alone.votes, findings.iloc[0], "collaborative", one_round)
        fate = "holds" if row["classification"] in HELD else "does not hold, and fails the gate where it is gating"
        gate = f"  An item of the plan body, on which every analyser votes once, collaboratively: it {fate}."
        return Explanation(row, alone.votes, _shown(f"{text}\n{gate}{_recorded_line(row, run)}"))
    part = own_part(alone, finding_id, chosen)
    held = chosen if part is None else part.rules
    judged = judged_runs(at_iteration(run, iteration), alone, held)
    row = row_under(judged, finding_id, chosen)
    known = chosen.mode or (mode_of if isinstance(mode_of := run.runs["mode"].iloc[0], str) else None)
    read_as = part.mode if part else known or "collaborative"
    set_rules = rules is not None or bool(recorded_rules(alone).any() and held != chosen)
    label = f"{read_as}{'' if known else ' (the table names no mode)'}{rules_words(held) if set_rules else ''}"
    asked = alone.votes if part is None else asked_votes(part, row, alone.votes)
    text = _words(row, alone.votes, findings.iloc[0], label, held.model_copy(update={"mode": read_as}), asked)
    if part is not None and set_rules:
        idle = idle_words(run, held, VotingRules(mode=read_as), unseen=bool(row["censored"]))
        lines = [f"  On the votes of this run, {idle}."] if idle else []
        text = "\n".join([text, *counted_lines(part, row), *deciding_fields(judged, row, held), *lines])
    own = row_under(judged_runs(at_iteration(run, iteration), alone, _recorded(alone)), finding_id, VotingRules())
    return Explanation(row, alone.votes, _shown(f"{text}{_absent_lines(run, finding_id)}{_recorded_line(own, run)}"))


def _shown(text: str) -> str:
    """Return the words with escape codes in names and votes as signs, which no terminal obeys."""
    return "\n".join(map(visible, text.split("\n")))


def _recorded(alone: RunSet) -> VotingRules:
    """Return the rules that a run recorded."""
    return VotingRules.from_json(recorded_rules(alone).iloc[0] or "{}")


def _run_of(runs: RunSet, finding_id: str, run_id: str | None) -> str:
    having = runs.findings.loc[runs.findings["finding_id"] == finding_id, "run_id"].tolist()
    if run_id is not None and run_id in having:
        return run_id
    if run_id is None and len(having) == 1:
        return str(having[0])
    if not having:
        known = runs.findings["finding_id"].unique()
        message = f"{finding_id!r} is in no run{did_you_mean(finding_id, known)}"
        fix = f"use one of {counted(len(known), 'finding')}: {listed(known) or 'there are none'}"
        raise InputError(Problem("finding_id", message, fix))
    where = f"is in {len(having)} runs" if run_id is None else f"is not in run {run_id!r}"
    raise InputError(Problem("run_id", f"{finding_id!r} {where}", f"name its run: {', '.join(having[:5])}"))


def _refuse_other_rules(finding_id: str, mode: ReplayMode | None, max_rounds: int | None, rules: object) -> None:
    what = f"{finding_id!r} is an item of a plan body, which is read collaboratively, in one round"
    limits = (
        ("mode", mode, (None, "collaborative", "recorded")),
        ("max_rounds", max_rounds, (None, 1)),
        ("rules", rules, (None,)),
    )
    problems = [
        Problem(name, f"{what}, got {value!r}", "leave it out")
        for name, value, allowed in limits
        if value not in allowed
    ]
    if problems:
        raise SettingsError(problems)


def _absent_lines(run: RunSet, finding_id: str) -> str:
    """Return a line for each round in which the finding has fewer votes than its run has judges."""
    fewer = absent_votes(run.runs, run.findings, run.votes)
    return "".join(
        f"\n  Round {row['round']} has {row['voters']} of {counted(row['judges'], 'vote')}: the table has no row for "
        "the others, not even one of a lost vote."
        for row in fewer[fewer["finding_id"].eq(finding_id)].to_dict("records")
    )


def _recorded_line(own: dict[str, Any], run: RunSet) -> str:
    """Return a line where a run recorded another class than its votes give under its own rules, or cut off a round.

    A round that a limit cut off was not judged (rules B8, B9).
    """
    recorded, derived = own["recorded"], own["classification"]
    of_run = cut_findings(run.runs, run.findings, run.votes)
    cut = of_run[run.findings["finding_id"].eq(own["finding_id"]).to_numpy(dtype=bool)].dropna()
    if len(cut):
        return (
            f"\n  {cut.iloc[0]} cut off the last round, so the run did not judge it, and recorded {recorded} only "
            f"because nothing classed the finding. Under its own rules, the votes that were cast give {derived}. "
            f"{how_to_finish(cut)}"
        )
    if not isinstance(recorded, str) or recorded == derived:
        return ""
    return f"\n  The run recorded {recorded}; under its own rules its votes give {derived}."


def _words(
    row: dict[str, Any],
    votes: pd.DataFrame,
    finding: pd.Series[Any],
    label: str,
    rules: VotingRules,
    asked: pd.DataFrame | None = None,
) -> str:
    """Return the row of a replay, the finding's votes and its row in `findings` as lines; `label` names the rules.

    `asked` are the votes that the rules ask for; None for all.
    """
    asked = votes if asked is None else asked
    missing, mode = rules.missing_basis, rules.mode or "collaborative"
    lines = [f"{row['finding_id']} in run {row['run_id']}, read as {label}: {row['classification']}"]
    if isinstance(row["summary"], str):
        lines.append(f"  Claim: {_one_line(row['summary'])}")
    if row["iteration"]:
        lines.append(f"  Votes of iteration {row['iteration']}.")
    if finding["discoverers"]:
        lines.append(f"  Found by: {', '.join(finding['discoverers'])}")
    when = f" in round {row['decided_round']}" if row["decided_round"] else ""
    lines.append(f"  Decided{when} by the rule {row['rule']}: {meaning_of(row['rule'], rules)}.")
    lines += _loss_lines(row, asked, missing)
    for number, cast in votes.groupby("round", sort=True):
        lines += _round_lines(int(str(number)), cast.assign(is_asked=cast.index.isin(asked.index)), row, mode, missing)
    if row["censored"]:
        lines.append(f"  Censored: {_never_cast(votes, rules)} were never cast.{range_words(row)}")
    if row["filled_bases"]:
        bases = filled_words(row["filled_bases"], row["filled_counter"], row["disagreements"])
        lines.append(f"  Filled in: {bases}.")
    return "\n".join(lines)


def _never_cast(votes: pd.DataFrame, rules: VotingRules) -> str:
    """Return which votes were never cast that a class would need, as words."""
    if len(held_back(votes)):
        return "votes that a limit of the run held back"
    if _is_neutral(rules):
        return "more rounds were allowed than recorded; the votes that would decide"
    return "votes that these rules ask for"


def _is_neutral(rules: VotingRules) -> bool:
    return set(rules.changed) <= {"mode", "max_rounds", "missing_basis"}


def _loss_lines(row: dict[str, Any], votes: pd.DataFrame, missing: MissingBasis) -> Iterator[str]:
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
    counter = [_basis_read(vote, missing) == "counter-evidence" for vote in votes.to_dict("records")]
    rounds, counts = votes["round"].to_numpy(dtype=np.int64), (~failed & ~own).to_numpy(dtype=bool)
    only = np.zeros(len(votes), dtype=np.int64)
    lost = lost_refutes(only, rounds, votes["worker"].to_numpy(), counts, np.array(counter), np.array([number]))
    for vote in votes.iloc[lost].to_dict("records"):
        error = bool((deciding & failed & votes["worker"].eq(vote["worker"])).any())
        how = f"its vote failed in round {number}" if error else f"it has no vote in round {number}"
        yield f"  The counter-evidence of {vote['worker']} in round {vote['round']} was lost: {how}."


def _basis_read(vote: dict[Any, Any], missing: MissingBasis) -> str | None:
    """Return the basis of a disagree, as it is read where none was recorded; None for another verdict."""
    if vote["verdict"] != "disagree" or isinstance(vote["disagree_basis"], str):
        return vote["disagree_basis"] if isinstance(vote["disagree_basis"], str) else None
    return basis_if_missing(vote["explanation"] if isinstance(vote["explanation"], str) else None, missing)


def _round_lines(number: int, cast: pd.DataFrame, row: dict[str, Any], mode: str, missing: MissingBasis) -> list[str]:
    """Return one round: the tally of what the rules read, then each vote; what they do not read is marked."""
    read = False
    if not cast["is_asked"].any():
        head = f"  Round {number}: not asked under these rules; {counted(len(cast), 'vote')} recorded"
    elif number > row["decided_round"]:
        head = f"  Round {number}: not read, as the finding had its class; {counted(len(cast), 'vote')} recorded"
    else:
        read, head = True, f"  Round {number}: {_tally_words(cast[cast['is_asked']])}"
    cast = cast.assign(is_asked=cast["is_asked"] | (not read))  # of a round that is not read, its first line says so
    return [head, *(f"    {vote['worker']}: {_vote_text(vote, mode, missing)}" for vote in cast.to_dict("records"))]


def _tally_words(asked: pd.DataFrame) -> str:
    counts = asked[(asked["verdict"] != "verification-error") & ~asked["is_origin"].fillna(False).astype(bool)]
    kinds = counts["disagree_basis"].astype("object").fillna(counts["verdict"].astype("object"))
    tally = ", ".join(f"{count} {kind}" for kind, count in kinds.value_counts(sort=False).items())
    return f"{tally or 'no vote that counts'} (n = {len(counts):,})"


def _vote_text(vote: dict[Any, Any], mode: str, missing: MissingBasis) -> str:
    basis, explanation = vote["disagree_basis"], vote["explanation"]
    words = str(vote["verdict"])
    if isinstance(basis, str):
        words += f" ({basis}{', filled in: the worker named none' if vote['basis_filled'] is True else ''})"
    elif vote["verdict"] == "disagree" and mode == "adversarial":
        cited = "a" if isinstance(explanation, str) and cites_location(explanation) else "no"
        read = _basis_read(vote, missing)
        words += f" (no basis recorded; the explanation cites {cited} place; filled in as {read})"
    if vote["is_origin"] is True:
        words += " (its discoverer: not counted)"
    elif not vote["is_asked"]:
        words += " (recorded, not asked under these rules)"
    return f"{words}: {_one_line(explanation)}" if isinstance(explanation, str) and explanation else words


def _one_line(text: str) -> str:
    """Return a text of somebody else on one line, without control characters: it cannot pass for words of ours."""
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
