"""Say that a limit of the run cut off rounds, why their findings have their classes, and how to go on (rule B8)."""

from __future__ import annotations

import pandas as pd

from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.text import counted, is_or_are, joined


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


def note_replayed_cut_rounds(findings: pd.DataFrame, cut: pd.Series) -> str | None:
    """Say that a limit cut off the last round of runs, which a replay judges by the votes that were cast.

    None if no round was cut off; items of a plan body, which no replay judges, are left out. `cut` is what
    `cut_findings` returns.

    >>> findings = pd.DataFrame({"run_id": ["r", "r"], "category": None})
    >>> print(note_replayed_cut_rounds(findings, pd.Series(["max_cost", None])))  # doctest: +NORMALIZE_WHITESPACE
    max_cost cut off the last round, so the run did not judge it. Here its 1 finding is judged by the votes that were
    cast, and may have other classes than the recorded ones. To finish the round, resume the run with retry_failed=True
    and a higher max_cost.
    """
    is_left = cut.notna() & ~findings["category"].eq(PLAN_BODY).fillna(value=False).to_numpy(dtype=bool)
    left, cut = findings[is_left], cut[is_left]
    if left.empty:
        return None
    run, it, its = ("run", "it", "its") if left["run_id"].nunique() == 1 else ("runs", "them", "their")
    return (
        f"{cut_words(left, cut)}, so the {run} did not judge {it}. Here {its} {counted(len(left), 'finding')} "
        f"{is_or_are(len(left))} judged by the votes that were cast, and may have other classes than the recorded "
        f"ones. {how_to_finish(cut)}"
    )


def cut_words(findings: pd.DataFrame, cut: pd.Series) -> str:
    """Return which limit cut off the last round, and of how many runs if there are several."""
    n_runs = findings.loc[cut.notna(), "run_id"].nunique()
    return f"{joined(_limits(cut))} cut off the last {'round' if n_runs == 1 else f'rounds of {n_runs:,} runs'}"


def how_to_finish(cut: pd.Series) -> str:
    """Return how a round that a limit cut off is finished, as a sentence."""
    return f"To finish the round, resume the run with retry_failed=True and a higher {joined(_limits(cut))}."


def _limits(cut: pd.Series) -> list[str]:
    return sorted(cut.dropna().unique())
