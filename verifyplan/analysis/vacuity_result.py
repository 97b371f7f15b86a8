"""The result of `vacuity`: what verdicts rest on, as tables and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.plan_shares import Share
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.field_docs import with_field_docs
from verifyplan.text import counted, listed

MAX_RUNS_IN_WORDS = 3
"""So many runs are printed one by one; of more, the shares and the runs that rest on silence."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Vacuity:
    """The support of the verdicts of plan runs: challenges that somebody raised and answered, or silence."""

    table: pd.DataFrame
    """One row a plan run: counts, what the verdict rests on, and what it would be with settlements open again;
    `documentation("vacuity")` has every column."""
    shares: pd.DataFrame
    """`measure, n_plans, n_runs, n, found, rate, low, high`: the same over all runs, clustered by plan."""
    notes: tuple[str, ...] = ()
    """What a reader must know: synthetic runs, runs without a verdict, plans too small for a team."""

    def __str__(self) -> str:
        """Return what the verdicts rest on, run by run or, of more than three runs, as shares."""
        if len(self.table) <= MAX_RUNS_IN_WORDS:
            name = len(self.table) > 1
            lines = [f"{row.run_id}: {row.in_words}" if name else row.in_words for row in self.table.itertuples()]
        else:
            lines = [f"{_MEASURES[str(row.measure)]}: {_share(row)}" for row in self.shares.itertuples() if row.n]
            if silent := self.table.loc[self.table["rests_on"].isin(("silence", "sizing")), "run_id"].tolist():
                lines.append(f"rest on silence: {listed(silent)}")
        return "\n".join([*map(str, lines), *self.notes])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.table.drop(columns="in_words"))


_MEASURES = {
    "silence": "verdicts that rest on silence",
    "uncited-words": "verdicts that rest on words that cite nothing",
    "settled-uncited": "challenges settled without a citation",
    "unchallenged": "sections that nobody challenged",
    "unanswered": "unknowns without an answer",
    "blind-votes": "votes that looked at nothing",
    "turned-by-uncited": "verdicts that would be others if uncited settlements were open",
    "turned-by-withdrawn": "verdicts that would be others if withdrawn challenges were open",
}
"""The shares over runs, in words."""


def _share(row: Any) -> Share:
    return Share(*(getattr(row, name) for name in Share._fields))


def in_words(row: dict[Any, Any]) -> str:
    """Return what a run's verdict rests on, in a sentence."""
    silent = "; ".join(_silence(row))
    match row["rests_on"]:
        case None:
            return f"no verdict, so nothing rests on anything{f': {silent}' if silent else ''}"
        case "sizing":
            return f"{row['verdict']} rests on silence: the plan was too small for a team, so no agent was called"
        case "citations":
            said = "; ".join(part for part in (*_support(row), silent) if part)
            return f"{row['verdict']} rests on citations: {said}"
        case "uncited words":
            number = row["settled_uncited"] + (row["open_uncited"] if row["verdict"] != "PROCEED" else 0)
            said = "; ".join(part for part in (f"{counted(number, 'challenge')} and no citation", silent) if part)
            return f"{row['verdict']} rests on words that cite nothing: {said}"
        case _:
            return f"{row['verdict']} rests on silence: {silent}"


def _support(row: dict[Any, Any]) -> Iterator[str]:
    """Yield what supports a verdict."""
    if n := row["settled_cited"]:
        yield f"{counted(n, 'challenge')} {'was' if n == 1 else 'were'} settled with a citation"
    if row["verdict"] != "PROCEED" and (n := row["open_cited"]):
        yield f"{counted(n, 'challenge')} {'is open and cites' if n == 1 else 'are open and cite'} a place"


def _silence(row: dict[Any, Any]) -> Iterator[str]:
    """Yield what was not said, and the verdicts if settlements were open again."""
    if not row["raised"]:
        yield "no challenge was raised"
    if row["rests_on"] == "citations" and (n := row["settled_uncited"]):
        yield f"{n:,} of {counted(n + row['settled_cited'], 'challenge')} settled without one"
    if row["rests_on"] == "silence" and row["raised"]:
        yield f"none of {counted(row['raised'], 'challenge')} raised was settled, or open and weighty"
    for part, whole, noun, verb in (
        ("unchallenged", "sections", "section", "unchallenged"),
        ("unanswered", "unknowns", "unknown", "unanswered"),
        ("blind_votes", "votes", "vote", "looked at nothing"),
    ):
        if row[part]:
            yield f"{row[part]} of {counted(row[whole], noun)} {verb}"
    for part, noun in (("overflow", "challenge"), ("failed_agents", "call"), ("lost_votes", "vote")):
        if n := int(row[part]):
            after = "in overflow" if part == "overflow" else "failed"
            yield f"{counted(n, noun)} {after}"
    for column, words in (("if_uncited_open", "uncited settlements"), ("if_withdrawn_open", "withdrawn challenges")):
        if row["verdict"] is not None and row[column] != row["verdict"]:
            yield f"with {words} open again it would be {row[column]}"
