"""Say what voting rules do to one finding: what its votes count as, and which field of the rules decides (rule R2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.judgement import counts_suffice
from verifyplan.analysis.replay import ReplayPart, last_iteration, replay_parts, replay_under
from verifyplan.analysis.vote_cube import with_unseen
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import (
    AGREE,
    BURDEN,
    COUNTER,
    LOST,
    NOT_ASKED,
    SUPPLEMENT,
    UNSEEN,
    asked_until_stop,
    counted_codes,
    read_codes,
)

_COUNTS_AS = {
    LOST: "is lost",
    AGREE: "counts as agree",
    SUPPLEMENT: "counts as supplement",
    BURDEN: "counts as burden-not-met",
    COUNTER: "counts as counter-evidence",
    UNSEEN: "would be asked, and never was",
}


def own_part(run: RunSet, finding_id: str, rules: VotingRules) -> ReplayPart | None:
    """Return the votes that judge a finding of a run, under the rules that hold for it; None where it has none."""
    parts = replay_parts(run, rules)
    return next((part for part in parts if part.cast.findings["finding_id"].eq(finding_id).any()), None)


def row_under(run: RunSet, finding_id: str, rules: VotingRules) -> dict[str, Any]:
    """Return the row of a finding in a replay: of the last iteration that `run` has of it."""
    table = replay_under(run, rules)
    own = table[table["finding_id"].eq(finding_id)]
    row = own[own["iteration"].eq(last_iteration(own))].iloc[0]
    return {str(name): value for name, value in row.items()}


def judged_runs(run: RunSet, alone: RunSet, rules: VotingRules) -> RunSet:
    """Return what must be judged to judge a finding: itself, or its run where workers are estimated from all."""
    return run if rules.aggregate == "dawid-skene" else alone


def deciding_fields(run: RunSet, row: dict[str, Any], rules: VotingRules) -> Iterator[str]:
    """Yield a line for each field without which the finding would have another class, others left as they are.

    Each field that is not neutral is set to its neutral value, one at a time. Where none decides by itself, a line says
    what all neutral rules would give, if that is another class.
    """
    now, neutral = row["classification"], VotingRules()
    decides = False
    for name in rules.changed:
        other = _class_under(run, row, rules.model_copy(update={name: getattr(neutral, name)}))
        if other != now:
            decides = True
            was = neutral.in_words[name]
            yield f"  {name}={rules.in_words[name]} decides: with {name}={was} it would be {other}."
    kept = {name: getattr(rules, name) for name in ("mode", "max_rounds", "missing_basis")}
    other = _class_under(run, row, neutral.model_copy(update=kept))
    if not decides and set(rules.changed) - kept.keys() and other != now:
        yield f"  No field of these rules decides by itself; with all of them neutral it would be {other}."


def _class_under(run: RunSet, row: dict[str, Any], rules: VotingRules) -> str:
    return str(row_under(run, row["finding_id"], _pinned(run, rules))["classification"])


def _pinned(run: RunSet, rules: VotingRules) -> VotingRules:
    """Return rules that name the run's mode, so that they are not taken for those that it recorded."""
    mode = run.runs["mode"].iloc[0]
    own: Mode = "adversarial" if mode == "adversarial" else "collaborative"
    return rules if rules.mode is not None else rules.model_copy(update={"mode": own})


def counted_lines(part: ReplayPart, row: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each round whose votes count otherwise than they read by themselves under neutral rules."""
    if counts_suffice(part.rules):
        return
    at = np.flatnonzero(_is_row(part.cast.findings, row))
    cube = part.cube(citations=True).take(at)
    seen = with_unseen(cube, part.rules, np.minimum(part.max_rounds[at], cube.last_round))
    counted = counted_codes(seen.codes, part.rules, part.mode, seen.workers)
    neutral = VotingRules(missing_basis=part.rules.missing_basis)
    plain = read_codes(cube.codes, neutral, part.mode)
    for place in range(min(int(row["decided_round"]), len(plain))):
        before = np.full(len(seen.workers), NOT_ASKED, dtype=np.int8)
        before[: len(cube.workers)] = plain[place, :, 0]
        after = counted[place, :, 0]
        otherwise = [
            f"{worker} {_COUNTS_AS[int(now)]}"
            for worker, was, now in zip(seen.workers, before, after, strict=True)
            if was != now and now != NOT_ASKED  # which is said beside the vote
        ]
        if otherwise:
            yield f"  Under these rules, in round {place + 1}: {'; '.join(otherwise)}."


def _is_row(findings: pd.DataFrame, row: dict[str, Any]) -> Any:
    return (findings["finding_id"].eq(row["finding_id"]) & findings["iteration"].eq(row["iteration"])).to_numpy(bool)


def asked_votes(part: ReplayPart, row: dict[str, Any], votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes on a finding that the rules ask for: of their workers, in their rounds, before a round stops."""
    at = np.flatnonzero(_is_row(part.cast.findings, row))
    cube = part.cube(citations=True).take(at)
    counts = np.array([part.rules.workers is None or name in part.rules.workers for name in cube.workers], dtype=bool)
    asked = set[tuple[int, str]]()
    for number, codes in enumerate(cube.codes[: int(part.max_rounds[at[0]])], 1):
        read = read_codes(np.where(counts[:, None], codes, np.int8(NOT_ASKED)), part.rules, part.mode)
        of_round = counts & asked_until_stop(read, part.rules, cube.workers)[:, 0]
        asked |= {(number, cube.workers[place]) for place in np.flatnonzero(of_round)}
    is_asked = [key in asked for key in zip(votes["round"], votes["worker"].astype("object"), strict=True)]
    return votes[np.array(is_asked, dtype=bool)]


def range_words(row: dict[str, Any]) -> str:
    """Return a sentence on the classes that votes never cast could give."""
    if row["low"] == row["high"]:
        return " Whatever they would have been, its class is the same."
    return f" They could make it anything from {row['high']} to {row['low']}."


def rules_words(rules: VotingRules) -> str:
    """Return the fields of rules that are set, the mode aside, as words after a mode; nothing where there are none."""
    fields = [f"{name}={rules.in_words[name]}" for name in rules.changed if name != "mode"]
    return f", with {', '.join(fields)}" if fields else ""
