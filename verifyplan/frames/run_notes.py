"""Say of runs what a reader of their classes must know: no mode, listed calls alone, votes added (rules B7, R4, R5)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pandas as pd

from verifyplan.rules.failed_calls import FAILURE_KINDS, FailureKind
from verifyplan.text import counted, joined

MAX_NAMED_PLACES = 3
"""Cited places that were not opened and that a note names."""
MAX_NAMED_RUNS = 3
"""Runs that were broken off and have a note of their own."""


def counted_calls(calls: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each call counts: all but those that a reopening of their run superseded, whose cost counts."""
    if "superseded" not in calls:
        return pd.Series(data=True, index=calls.index)
    return ~calls["superseded"].fillna(value=False).astype(bool)


def failure_counts(calls: pd.DataFrame) -> tuple[dict[FailureKind, int], int]:
    """Return how many calls that count failed for which reason, and how many there are.

    >>> failure_counts(pd.DataFrame({"failure": ["timeout", None, "timeout"], "superseded": [False, False, True]}))
    ({'timeout': 1}, 2)
    """
    calls = calls[counted_calls(calls)]
    counts = calls["failure"].value_counts()
    return {kind: n for kind in FAILURE_KINDS if (n := int(counts.get(kind, 0)))}, len(calls)


def lost_words(runs: pd.DataFrame, attempts: pd.DataFrame) -> str:
    """Return what requests whose answer is lost may have cost, without a full stop; blank where nothing was lost.

    >>> runs = pd.DataFrame({"cost": [1.5], "cost_perhaps": [0.25]})
    >>> lost_words(runs, pd.DataFrame({"perhaps_billed": [True, False]}))
    'perhaps $0.2500 were billed for lost answers (1 request; table attempts)'
    """
    perhaps, number = float(runs["cost_perhaps"].sum()), int(attempts["perhaps_billed"].sum())
    if not perhaps and not number:
        return ""
    billed = f"${perhaps:.4f}" if runs["cost_perhaps"].notna().all() else "an unknown amount"
    requests = f" ({counted(number, 'request')}; table attempts)" if number else " (turns in flight)"
    return f"perhaps {billed} were billed for lost answers{requests}"


def note_not_opened(tools: pd.DataFrame) -> str | None:
    """Say which cited places were not opened for the workers, and why; None where all were.

    >>> refused = "c.env is not opened: it looks like settings of an environment"
    >>> uses = {"argument": ["c.env:1", "c.env:1"], "refused": refused, "opened": True}
    >>> note_not_opened(pd.DataFrame(uses))
    'Workers did not see c.env:1 (c.env is not opened: it looks like settings of an environment).'
    """
    closed = tools[tools["opened"].fillna(value=False).astype(bool) & tools["refused"].fillna("").ne("")]
    closed = closed.drop_duplicates("argument")
    if closed.empty:
        return None
    shown = closed.head(MAX_NAMED_PLACES)
    named = ", ".join(f"{place} ({why})" for place, why in zip(shown["argument"], shown["refused"], strict=True))
    more = f", and {len(closed) - len(shown):,} more (table tools)" if len(closed) > len(shown) else ""
    return f"Workers did not see {named}{more}."


def notes_broken_off(runs: pd.DataFrame, calls: pd.DataFrame) -> Iterator[str]:
    """Yield after which event runs were broken off, how they go on, and how many replies they have.

    Only the first runs have their own notes; one more counts the rest.

    >>> how = "after event 4 (call-replied): verifyplan resume r.jsonl"
    >>> calls = pd.DataFrame({"run_id": ["r", "r"], "status": ["completed", "in-flight"], "superseded": [False, False]})
    >>> for note in notes_broken_off(pd.DataFrame({"run_id": ["r", "s"], "broken_off": [how, None]}), calls):
    ...     print(note)
    Run r was broken off (unless it is still running) after event 4 (call-replied): verifyplan resume r.jsonl
    Run r has the replies of 1 call on disk: a resumption uses them.
    """
    if "broken_off" not in runs or runs["broken_off"].isna().all():  # tables of an older version, or nothing to say
        return
    replies = calls.loc[counted_calls(calls) & calls["status"].eq("completed"), "run_id"].value_counts()
    broken = runs.loc[runs["broken_off"].notna(), ["run_id", "broken_off"]]
    for run_id, how in broken.head(MAX_NAMED_RUNS).itertuples(index=False, name=None):
        yield f"Run {run_id} was broken off (unless it is still running) {how}"
        if n := int(replies.get(run_id, 0)):
            yield f"Run {run_id} has the replies of {counted(n, 'call')} on disk: a resumption uses them."
    if (more := len(broken) - MAX_NAMED_RUNS) > 0:
        yield f"{counted(more, 'more run')} did not end either (column broken_off of runs)."


def note_supplementary(runs: pd.DataFrame, where: str = "") -> str | None:
    """Say how many runs made listed calls alone; None for none."""
    number = int(runs["supplementary"].fillna(False).sum())
    if not number:
        return None
    made = "is supplementary: it" if number == 1 else "are supplementary: they"
    rest = "its classes rest" if number == 1 else "their classes rest"
    return (
        f"{counted(number, 'run')}{where} {made} made only listed calls, and {rest} on these votes alone; "
        "add_votes puts them beside the recorded ones."
    )


def note_added(runs: pd.DataFrame, where: str = "") -> str | None:
    """Say how many votes of supplementary runs were added, and to how many runs; None for none."""
    added = runs["added_votes"].fillna(0)
    number = int(added.sum())
    if not number:
        return None
    of = f"{counted(number, 'vote')} of supplementary runs {'was' if number == 1 else 'were'} added"
    return f"{of} to {counted(int(added.gt(0).sum()), 'run')}{where}."


def note_mixed_modes(runs: pd.DataFrame, where: str = "") -> str | None:
    """Say that runs of both modes are judged together, and how to tell them apart; None for runs of one mode.

    >>> note_mixed_modes(pd.DataFrame({"mode": ["adversarial", "adversarial", None]}))
    """
    if runs["mode"].dropna().astype("str").nunique() < 2:
        return None
    return (
        f"The runs{where} are of both modes and are judged together. To compare the modes as they ran, select one "
        "set for each: runs.select(lambda r: r['mode'] == 'adversarial')."
    )


def note_unnamed_mode(runs: pd.DataFrame, of: Sequence[str] = ()) -> str | None:
    """Say that votes of a table that names no mode are read as collaborative; None where every run has its mode.

    `of` names the sets, where there are several.

    >>> note_unnamed_mode(pd.DataFrame({"run_id": ["votes"], "kind": ["votes"], "mode": [None]}))
    'The table names no mode, so it is read as collaborative. If its workers were asked adversarially, name the mode.'
    """
    unnamed = runs["kind"].eq("votes") & runs["mode"].isna()
    if not unnamed.any():
        return None
    number = "" if unnamed.all() else f" for {counted(int(unnamed.sum()), 'run')}"
    where = f" of {joined(of)}" if of else ""
    if len(of) > 1:
        words = f"The tables{where} name no mode{number}, so they are read as collaborative. If their"
    else:
        words = f"The table{where} names no mode{number}, so it is read as collaborative. If its"
    return f"{words} workers were asked adversarially, name the mode."
