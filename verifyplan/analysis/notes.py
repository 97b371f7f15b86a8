"""What a reader must know beside the figures of a comparison: who is in it, and what was guessed or lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from verifyplan.frames.runset import RunSet
from verifyplan.words import counted

FEW = 20
"""A metric of fewer findings than this has an interval that says little."""


def notes_on_findings(findings: pd.DataFrame, labels: tuple[str, str]) -> Iterator[str]:
    """Notes on the table of a comparison: nothing in it, censored findings, filled bases (SPEC B7)."""
    if findings.empty:
        yield "There are no findings: nothing was compared."
    for label, side in zip(labels, "ab", strict=True):
        censored = int(findings[f"censored_{side}"].sum())
        if censored:
            told = f"{censored} of {counted(len(findings), 'finding')} {'is' if censored == 1 else 'are'} censored"
            yield (
                f"Under {label}, {told}: the votes that would have decided were never cast, and they count as "
                "contested or worker-unique."
            )
        unjudged = int(findings[f"rule_{side}"].eq("no-votes").sum())
        if unjudged:
            yield f"Under {label}, {counted(unjudged, 'finding')} got no vote that counts, and count as not held."
        filled = int(findings[f"filled_bases_{side}"].sum())
        if filled:
            yield f"Under {label}, {counted(filled, 'missing basis')} of disagree votes had to be filled in."


def notes_on_sets(sets: Sequence[RunSet]) -> Iterator[str]:
    """Notes on the runs themselves: failed calls, mixed modes, findings that stand in several runs."""
    votes = pd.concat([one.votes["verdict"] for one in sets])
    errors = int((votes == "verification-error").sum())
    if errors:
        yield f"{errors} of {counted(len(votes), 'recorded vote')} are verification errors and count for nothing."
    for one in sets:
        modes = one.runs["mode"].dropna().astype("str").unique()
        if len(modes) > 1:
            yield "Runs of both modes are pooled in one set; to compare real runs, give two sets."
        claims = one.findings[["finding_id", "summary"]]
        again = int(claims.duplicated().sum()) if one.findings["summary"].notna().any() else 0
        if again:
            yield f"{counted(again, 'finding')} stand again, by id and claim, in other runs of the set; each counts."


def notes_on_intervals(summary: pd.DataFrame, resampled: str) -> Iterator[str]:
    """Notes on how far the intervals can be trusted."""
    if resampled == "findings":
        yield "There are fewer than 10 runs: the intervals resample findings, and may be too narrow."
    sizes = summary[["n_a", "n_b"]].min(axis=1)
    few = summary.loc[(sizes > 0) & (sizes < FEW), "metric"]
    flat = summary.loc[(sizes >= FEW) & (summary["low"] == summary["high"]), "metric"]
    if len(flat):
        yield f"Without width, which is no certainty, are the intervals of the difference in {', '.join(flat)}."
    if len(few):
        yield (
            f"Fewer than {FEW} findings stand behind {', '.join(few)}: a bootstrap of so few is no guide, and an "
            "interval without width is no certainty."
        )
