"""Say which findings were left in a round that a limit of the run cut off, and that was not judged (rule B8)."""

from __future__ import annotations

import pandas as pd

from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.text import counted, is_or_are, joined

_LIMIT = r"^error: (max_cost|max_tokens)\b"
"""How the explanation of a vote begins whose call a limit held back (`engine/usage_limit.py`)."""


def cut_findings(runs: pd.DataFrame, findings: pd.DataFrame, votes: pd.DataFrame) -> pd.Series:
    """Return, for each finding whose last round a limit cut off, the name of the limit; missing for the others.

    A run does not judge such a round: its class of the finding is what is left where no round decided. Only cross runs
    have such rounds, and items of a plan body have their own.

    >>> runs = pd.DataFrame({"run_id": ["r"], "kind": "cross", "final_state": "aborted-non-result"})
    >>> findings = pd.DataFrame({"run_id": "r", "finding_id": ["F-1", "F-2"], "n_rounds": [1, 1], "category": None})
    >>> votes = pd.DataFrame({"run_id": "r", "finding_id": ["F-1", "F-2"], "round": 1,
    ...     "verdict": ["agree", "verification-error"],
    ...     "explanation": ["", "error: max_cost: 0.0050 dollars of 0.005 were spent before r1/cy was called"]})
    >>> cut_findings(runs, findings, votes).tolist()
    ['max_cost', 'max_cost']
    """
    cross = runs[runs["kind"].eq("cross").to_numpy(dtype=bool)]
    aborted = cross.loc[cross["final_state"].eq("aborted-non-result").to_numpy(dtype=bool), "run_id"]
    body = findings["category"].eq(PLAN_BODY).fillna(value=False).to_numpy(dtype=bool)
    may_be_cut = findings["run_id"].isin(aborted) | (body & findings["run_id"].isin(cross["run_id"]))
    cut = pd.Series(None, index=findings.index, dtype="object")
    if not may_be_cut.any():  # then no text of a vote is read
        return cut
    lost = votes["verdict"].eq("verification-error") & votes["run_id"].isin(findings.loc[may_be_cut, "run_id"])
    held = votes.loc[lost.to_numpy(dtype=bool), [*FINDING, "round", "explanation"]].astype("object")
    held["limit"] = held["explanation"].str.extract(_LIMIT, expand=False)
    placed = held.dropna(subset="limit").merge(findings[FINDING].astype("object").assign(body=body), on=FINDING)
    rounds = zip(placed["run_id"], placed["body"], placed["round"], strict=True)
    limits = dict(zip(rounds, placed["limit"], strict=True))
    left = findings.loc[may_be_cut, ["run_id", "n_rounds"]]
    places = zip(left["run_id"], body[may_be_cut.to_numpy(dtype=bool)], left["n_rounds"], strict=True)
    cut[may_be_cut] = [limits.get(place) for place in places]
    return cut


def note_cut_rounds(findings: pd.DataFrame, cut: pd.Series, how: str = "") -> str | None:
    """Say that a limit cut off the last round of runs, why their findings have their classes, and how to go on.

    None if no round was cut off. `cut` is what `cut_findings` returns, `how` a command that goes on.

    >>> findings = pd.DataFrame({"run_id": "r", "classification": ["worker-unique", "full-consensus"],
    ...     "category": None})
    >>> print(note_cut_rounds(findings, pd.Series(["max_cost", None])))  # doctest: +NORMALIZE_WHITESPACE
    max_cost cut off the last round, so it was not judged: 1 finding is worker-unique only because nothing classed it.
    To finish the round, resume the run with retry_failed=True and a higher max_cost.
    """
    left = findings[cut.notna()]
    if left.empty:
        return None
    classes = set(left["classification"].dropna())
    of = " or ".join(name for name in CLASSIFICATIONS if name in classes) or "without a class"
    it = "it" if len(left) == 1 else "them"
    noun = "plan item" if left["category"].eq(PLAN_BODY).all() else "finding"
    why = f"{counted(len(left), noun)} {is_or_are(len(left))} {of} only because nothing classed {it}"
    judged = "it was" if left["run_id"].nunique() == 1 else "they were"
    finish = f"To finish the round: {how}" if how else how_to_finish(cut)
    return f"{cut_words(findings, cut)}, so {judged} not judged: {why}. {finish}"


def cut_words(findings: pd.DataFrame, cut: pd.Series) -> str:
    """Return which limit cut off the last round, and of how many runs if there are several."""
    n_runs = findings.loc[cut.notna(), "run_id"].nunique()
    return f"{joined(_limits(cut))} cut off the last {'round' if n_runs == 1 else f'rounds of {n_runs:,} runs'}"


def how_to_finish(cut: pd.Series) -> str:
    """Return how a round that a limit cut off is finished, as a sentence."""
    return f"To finish the round, resume the run with retry_failed=True and a higher {joined(_limits(cut))}."


def _limits(cut: pd.Series) -> list[str]:
    return sorted(cut.dropna().unique())
