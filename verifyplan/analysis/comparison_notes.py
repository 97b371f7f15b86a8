"""Notes that a reader of a comparison needs: who is in it, what was guessed or lost, what else differs (rule F1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from verifyplan.analysis.replay import Setting
from verifyplan.frames.runset import RunSet
from verifyplan.frames.support import note_absent_votes, note_blind_classes
from verifyplan.protocol.vote import NO_LOOK_BEGINNINGS, NOTHING_LOOKED_AT
from verifyplan.text import counted, filled_words, listed

MIN_FINDINGS = 20
"""A metric of fewer findings than this has an interval that says little."""

ROUNDS = "rounds allowed"


def notes_on_findings(findings: pd.DataFrame, labels: tuple[str, str]) -> Iterator[str]:
    """Yield notes on the table of a comparison: nothing in it, censored findings, filled bases, losses (rule B7)."""
    if findings.empty:
        yield "There are no findings: nothing was compared."
    for label, side in zip(labels, "ab", strict=True):
        censored = int(findings[f"censored_{side}"].sum())
        if censored:
            are_censored = f"of {counted(len(findings), 'finding')} {'is' if censored == 1 else 'are'} censored"
            yield (
                f"Under {label}, {censored} {are_censored}: the votes that would have decided were never cast, and "
                "they count as contested or worker-unique."
            )
        unjudged = int(findings[f"rule_{side}"].eq("no-votes").sum())
        if unjudged:
            yield f"Under {label}, {counted(unjudged, 'finding')} got no vote that counts, and count as not held."
        filled = int(findings[f"filled_bases_{side}"].sum())
        if filled:
            counter, disagrees = (int(findings[f"{name}_{side}"].sum()) for name in ("filled_counter", "disagreements"))
            yield f"Under {label}, {filled_words(filled, counter, disagrees)}."
        yield from _notes_on_losses(findings, label, side)


def _notes_on_losses(findings: pd.DataFrame, label: str, side: str) -> Iterator[str]:
    """Yield notes on classes that rest on less than was asked for (rule B8)."""
    votes, refutes = findings[f"lost_votes_{side}"], findings[f"lost_refutes_{side}"]
    fewer = int(votes.gt(0).sum())
    if fewer:
        rest = "rests" if fewer == 1 else "rest"
        yield (
            f"Under {label}, the class of {counted(fewer, 'finding')} {rest} on fewer votes than were asked for: "
            f"{counted(int(votes.sum()), 'vote')} of the deciding rounds {'was' if votes.sum() == 1 else 'were'} lost."
        )
    if refutes.any():
        first = findings.loc[refutes.gt(0), "finding_id"].iloc[0]
        yield (
            f"Under {label}, a counter-evidence of an earlier round was lost to an error before the round that decided "
            f"in {counted(int(refutes.gt(0).sum()), 'finding')}, the first is {first}."
        )


def notes_on_sets(sets: Sequence[RunSet]) -> Iterator[str]:
    """Yield notes on the runs themselves: failed calls, mixed modes, findings that several runs have."""
    votes = pd.concat([runs.votes["verdict"] for runs in sets])
    errors = int((votes == "verification-error").sum())
    if errors:
        yield f"{errors} of {counted(len(votes), 'recorded vote')} are verification errors and count for nothing."
    for runs, name in zip(sets, _set_names(sets), strict=True):
        explanations = runs.votes.loc[runs.votes["verdict"].ne("verification-error"), "explanation"]
        blind = int(explanations.str.startswith(NO_LOOK_BEGINNINGS).fillna(False).sum())
        if 2 * blind > len(explanations):
            votes_say = f"{blind} of {counted(len(explanations), 'vote')} say {NOTHING_LOOKED_AT!r}"
            yield f"Most votes{name} rest on no look: {votes_say}."
        thin = (
            note_blind_classes(runs.votes, name),
            note_absent_votes(runs.runs, runs.findings, runs.votes, name),
        )
        yield from (note for note in thin if note)
        if runs.runs["mode"].dropna().astype("str").nunique() > 1:
            yield (
                "Runs of both modes are pooled in one set; to compare real runs, give two sets, each as "
                "runs.select(lambda r: r['mode'] == 'adversarial')."
            )
        claims = runs.findings[["finding_id", "summary"]]
        again = int(claims.duplicated().sum()) if runs.findings["summary"].notna().any() else 0
        if again:
            yield f"{counted(again, 'finding')} stand again, by id and claim, in other runs of the set; each counts."


def notes_on_classes(readings: Sequence[pd.DataFrame | None]) -> Iterator[str]:
    """Yield notes on recorded classes that the votes do not give under the run's own rules (rule B9).

    A reading is None where its set recorded no class.
    """
    for reading, name in zip(readings, _set_names(readings), strict=True):
        if reading is None:
            continue
        recorded, derived = reading["recorded"].astype("object"), reading["classification"].astype("object")
        other = recorded.notna() & recorded.ne(derived)
        if other.any():
            row = reading[other].iloc[0]
            yield (
                f"The votes{name} do not give the recorded class of {counted(int(other.sum()), 'finding')}, the first "
                f"is {row['finding_id']} of run {row['run_id']}: {row['recorded']}, not {row['classification']}."
            )


def notes_on_modes(sets: Sequence[RunSet], recorded: Sequence[bool]) -> Iterator[str]:
    """Yield notes on runs that are read in the mode in which they were recorded, which is not known."""
    for runs, as_recorded, name in zip(sets, recorded, _set_names(sets), strict=True):
        unknown = int(runs.runs["mode"].isna().sum())
        if as_recorded and unknown:
            yield (
                f"The mode of {counted(unknown, 'run')}{name} is not recorded: read as collaborative; say it by "
                "from_votes(..., mode=), or by the readings a and b."
            )


def _set_names(sides: Sequence[object]) -> Sequence[str]:
    return (" of the first set", " of the second set") if len(sides) == 2 else ("",)


def notes_on_intervals(summary: pd.DataFrame, resampled: str) -> Iterator[str]:
    """Yield notes on how far the intervals can be trusted."""
    if resampled == "findings":
        yield "There are fewer than 10 runs: the intervals resample findings, and may be too narrow."
    sizes = summary[["n_a", "n_b"]].min(axis=1)
    few = summary.loc[(sizes > 0) & (sizes < MIN_FINDINGS), "metric"]
    flat = summary.loc[(sizes >= MIN_FINDINGS) & (summary["low"] == summary["high"]), "metric"]
    if len(flat):
        yield f"Without width, which is no certainty, are the intervals of the difference in {', '.join(flat)}."
    if len(few):
        yield (
            f"Fewer than {MIN_FINDINGS} findings stand behind {', '.join(few)}: a bootstrap of so few is no guide, and "
            "an interval without width is no certainty."
        )


def recorded_facts(runs: RunSet) -> dict[str, set[Any]]:
    """Return, by the name of each possible confound, the values that a set recorded; none where it recorded nothing."""
    workers = pd.concat([runs.votes["worker"].drop_duplicates(), runs.dispatches["worker"].drop_duplicates()])
    return {
        "workers": set(workers),
        ROUNDS: set(runs.runs["effective_max_rounds"].dropna().astype("int64")),
        "evidence access": set(runs.runs["verification_mode"].dropna()),
        "backends": set(runs.runs["backend"].dropna()),
        "models": set(runs.calls["model"].dropna()),
        "prompts": set(runs.runs["prompts"].dropna().str.split("; ").explode()),
    }


def confounds(a: dict[str, set[Any]], b: dict[str, set[Any]], settings: tuple[Setting, Setting]) -> Iterator[str]:
    """Yield a note for each fact in which two sets are recorded to differ beside the mode of their votes.

    A fact that one side did not record is passed over. Rounds are no confound where both settings say how many are
    read.
    """
    same_rounds = all(setting.max_rounds is not None for setting in settings)
    for name, first in a.items():
        second = b[name]
        if first and second and first != second and not (name == ROUNDS and same_rounds):
            only = ((first - second, "first"), (second - first, "second"))
            sides = [f"{listed(sorted(values))} only in the {side} set" for values, side in only if values]
            yield f"Confound, {name}: {'; '.join(sides)}."
