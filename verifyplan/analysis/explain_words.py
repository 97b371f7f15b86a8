"""A finding's way to its class in words: the rule, the tally and the votes of each round, what was lost (rule F2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from verifyplan.protocol.vote import HELD, MissingBasis
from verifyplan.rules.ballots import basis_if_missing
from verifyplan.rules.citations import cites_location
from verifyplan.rules.classification import Rule
from verifyplan.text import counted, filled_words

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
