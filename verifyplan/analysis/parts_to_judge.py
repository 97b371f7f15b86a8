"""Say in which parts recorded votes are judged, and which need the words of their votes (rules B7, B8, E5)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.cut_rounds import cut_findings, may_be_cut
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.voting_rules import VotingRules


def parts_to_judge(runs: RunSet, *rules: VotingRules) -> tuple[RunSet, ...]:
    """Return the parts of a dataset, or runs that are in memory as their only part, to be judged one by one.

    Rules that stop within a round ask workers in an order that depends on all runs, which are then one part.

    >>> len(parts_to_judge(RunSet(), VotingRules()))
    1
    """
    if not isinstance(runs, Dataset) or len(runs.parts) < 2 or any(_stop(runs, each) for each in rules):
        return (runs,)
    return tuple(
        part if any(needs_texts(part, each) for each in rules) else part.without_texts() for part in runs.parts
    )


def cut_rows(runs: RunSet) -> pd.DataFrame:
    """Return `run_id, finding_id, category, limit` of findings whose last round a limit of their run cut off (rule B8).

    A dataset is read part by part, votes only where a limit may have cut off a round.

    >>> len(cut_rows(RunSet()))
    0
    """
    rows = [_cut_rows(part) for part in (runs.parts if isinstance(runs, Dataset) and runs.parts else (runs,))]
    return rows[0] if len(rows) == 1 else pd.concat(rows, ignore_index=True)


def _cut_rows(runs: RunSet) -> pd.DataFrame:
    if not (runs.may_be_cut if isinstance(runs, Dataset) else may_be_cut(runs.runs).any()):
        return pd.DataFrame({name: pd.Series(dtype="object") for name in [*FINDING, "category", "limit"]})
    cut = cut_findings(runs.runs, runs.findings, runs.votes)
    return runs.findings.loc[cut.notna(), [*FINDING, "category"]].astype("object").assign(limit=cut.dropna())


def needs_texts(part: Dataset, rules: VotingRules) -> bool:
    """Return whether the explanations of votes decide: what they cite makes a basis, or makes one count.

    They also say which votes a limit of the run held back.
    """
    if _recorded(part, rules) or part.may_be_cut:
        return True
    infers = rules.missing_basis == "infer" and rules.mode != "collaborative"
    return rules.uncited != "keep" or (infers and any(each.missing_bases for each in part.statistics))


def _stop(runs: Dataset, rules: VotingRules) -> bool:
    return rules.stop != "round" or any('"stop"' in text for text in _recorded(runs, rules))


def _recorded(runs: Dataset, rules: VotingRules) -> list[str]:
    """Return the rules that runs recorded, as JSON, where these can decide; neutral ones aside."""
    if set(rules.changed) - {"max_rounds", "missing_basis"}:
        return []
    return [text for text in runs.runs["rules"].dropna().unique() if text != "{}"]
