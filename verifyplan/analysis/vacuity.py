"""Measure how much of a verdict on a plan rests on cited settlements, and how much on silence (rule A13)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.challenges import coverage
from verifyplan.analysis.plan_shares import Share, clustered_share
from verifyplan.analysis.reopened import reopened_verdicts
from verifyplan.analysis.result_columns_plans import PLAN_RESULT_TABLES, WEIGHTY
from verifyplan.analysis.result_words import words_and_tables
from verifyplan.columns import fitted
from verifyplan.datasets.labels import plan_name
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet, mark_synthetic
from verifyplan.frames.vote_checks import cite_places
from verifyplan.protocol.records import ANSWERED, SETTLED, UNSETTLED
from verifyplan.protocol.vote import NO_LOOK_BEGINNINGS
from verifyplan.rules.convergence import verdict_words
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
            shares = ((row["measure"], Share(*row[list(Share._fields)])) for _, row in self.shares.iterrows())
            lines = [f"{_MEASURES[measure]}: {share}" for measure, share in shares if share.n]
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
    "turned-by-uncited": "verdicts that would change if uncited settlements were open",
    "turned-by-withdrawn": "verdicts that would change if withdrawn challenges were open",
}
"""The shares over runs, in words."""


def in_words(row: dict[Any, Any]) -> str:
    """Return what a run's verdict rests on, in a sentence."""
    silent = "; ".join(_silence(row))
    match row["rests_on"]:
        case None:
            return f"no verdict{f': {silent}' if silent else ''}"
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


_CHALLENGE = ["run_id", "challenge_id"]


def vacuity(runs: Runs) -> Vacuity:
    """Count what the verdict of each plan run rests on, and what it would be if settlements were open again.

    A verdict rests on citations if a challenge was settled with one or, for REVISE and RETHINK, is open, BLOCKING or
    SIGNIFICANT, and cites a place. It rests on silence where nobody raised such a challenge: nothing was found, which
    does not say that nothing is there. A challenge counts by its last change; a person's decision is a citation. With
    settlements open again, the verdict is that of A3 at the last iteration under the run's own rules, as nobody would
    have said more. Runs of other kinds are left out; InputError where there is no plan run. Source: rules A3, A13.

    >>> found = vacuity("live-example/plan")
    >>> print(found.table["in_words"][0])
    RETHINK rests on citations: 1 challenge is open and cites a place
    >>> found.table[["raised", "settled_cited", "open_cited", "unchallenged"]].values.tolist()
    [[1, 0, 1, 0]]
    """
    runs = as_runs(runs)
    plans = runs.runs[runs.runs["kind"].eq("plan").fillna(False)].reset_index(drop=True)
    if plans.empty:
        fix = "give the log of a plan run, a folder of logs, or what verify returns"
        raise InputError(Problem("runs", "there is no plan run among them", fix))
    challenges = _with_groups(runs)
    parts = _parts(runs, challenges)
    table = pd.DataFrame({"run_id": plans["run_id"], "plan": [plan_name(path) for path in plans["plan_path"]]})
    strong = plans["strong"].fillna(False)
    given = [
        None if pd.isna(verdict) else verdict_words(verdict, bool(more))
        for verdict, more in zip(plans["plan_verdict"], strong, strict=True)
    ]
    table["verdict"] = given
    table = table.assign(**{name: _counts(table["run_id"], rows) for name, rows in parts.items()})
    table["failed_agents"] = table["run_id"].map(runs.iterations.groupby("run_id")["n_failed"].sum()).fillna(0)
    table["rests_on"] = _rests_on(table, plans["ended_by"].eq("sizing").fillna(False))
    for column, again in (("if_uncited_open", "uncited_settled"), ("if_withdrawn_open", "is_withdrawn")):
        table[column] = reopened_verdicts(plans, challenges, again, given)
    table["in_words"] = [in_words(row) for row in table.to_dict("records")]
    table = fitted(PLAN_RESULT_TABLES["vacuity"], table, "vacuity")
    return Vacuity(mark_synthetic(table, runs), _shares(table, parts), tuple(_notes(table, runs)))


def _with_groups(runs: RunSet) -> pd.DataFrame:
    """Return the challenges with what became of each, as columns of booleans."""
    moves = runs.challenge_history[runs.challenge_history["event"].eq("changed").fillna(False)]
    last = moves.drop_duplicates(_CHALLENGE, keep="last")
    bare = last["uncited"].fillna(False).astype(bool) & last["by"].ne("user").fillna(True)
    uncited = pd.MultiIndex.from_frame(last.loc[bare, _CHALLENGE])
    challenges = runs.challenges
    settled = challenges["status"].isin(SETTLED)
    in_overflow = challenges["overflow"].fillna(False).astype(bool)
    without = np.asarray(pd.MultiIndex.from_frame(challenges[_CHALLENGE]).isin(uncited))
    return challenges.assign(
        is_settled=settled,
        uncited_settled=settled & without,
        cited_settled=settled & ~without,
        is_withdrawn=challenges["status"].eq("WITHDRAWN"),
        in_overflow=in_overflow,
        is_unsettled=challenges["status"].isin(UNSETTLED) & ~in_overflow,
    )


def _parts(runs: RunSet, challenges: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows that each count of a run counts."""
    sections = coverage(runs)
    sections = sections[sections["last"] > sections["first"]]  # a heading alone has nothing to be challenged
    answered = runs.unknowns["resolution"].isin(ANSWERED)
    votes = runs.votes[runs.votes["run_id"].isin(runs.runs.loc[runs.runs["kind"].eq("plan"), "run_id"])]
    lost = votes["verdict"].eq("verification-error").fillna(False).astype(bool)
    cast = votes[~lost]
    weighty = challenges["severity"].isin(WEIGHTY) & challenges["is_unsettled"]
    status = challenges["status"].astype("object")
    return {
        "raised": challenges,
        "settled_cited": challenges[challenges["cited_settled"]],
        "settled_uncited": challenges[challenges["uncited_settled"]],
        **{name.lower(): challenges[status.eq(name) & challenges["is_settled"]] for name in SETTLED},
        "unsettled": challenges[challenges["is_unsettled"]],
        "overflow": challenges[challenges["in_overflow"]],
        "disputed": challenges[challenges["disputed"].fillna(False).astype(bool)],
        "raised_again": challenges[challenges["disputes"].notna()],
        "sections": sections,
        "unchallenged": sections[sections["n"].eq(0)],
        "unknowns": runs.unknowns,
        "unanswered": runs.unknowns[~answered],
        "votes": cast,
        "blind_votes": cast[cast["explanation"].str.startswith(NO_LOOK_BEGINNINGS).eq(True)],
        "uncited_votes": cast[~cite_places(cast["explanation"])],
        "lost_votes": votes[lost],
        "open_cited": challenges[weighty & ~challenges["uncited"].fillna(True).astype(bool)],
        "open_uncited": challenges[weighty & challenges["uncited"].fillna(True).astype(bool)],
    }


def _counts(run_ids: pd.Series[Any], rows: pd.DataFrame) -> pd.Series[Any]:
    return run_ids.map(rows.groupby("run_id").size()).fillna(0).astype("int64")


def _rests_on(table: pd.DataFrame, sized: pd.Series[bool]) -> pd.Series[Any]:
    """Return what each verdict rests on; adds the column `supports` to the table."""
    against = table["verdict"].ne("PROCEED")
    table["supports"] = table["settled_cited"] + table["open_cited"].where(against, 0)
    words = table["settled_uncited"] + table["open_uncited"].where(against, 0)
    rests = np.select(
        [table["verdict"].isna(), sized, table["supports"].gt(0), words.gt(0)],
        ["", "sizing", "citations", "uncited words"],
        "silence",
    )
    return pd.Series(rests, table.index, dtype="object").replace("", None)


def _shares(table: pd.DataFrame, parts: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the shares over all runs, of which the plans are the clusters."""
    decided = table[table["verdict"].notna()]
    verdict = decided["verdict"].astype("object")

    def of(whole: pd.DataFrame, part: pd.DataFrame) -> Share:
        rows = whole[["run_id"]].assign(hit=whole.index.isin(part.index))
        return clustered_share(rows.merge(table[["run_id", "plan"]], on="run_id"), "hit")

    settled = pd.concat([parts["settled_cited"], parts["settled_uncited"]])
    shares = {
        "silence": clustered_share(decided.assign(hit=decided["rests_on"].isin(("silence", "sizing"))), "hit"),
        "uncited-words": clustered_share(decided.assign(hit=decided["rests_on"].eq("uncited words")), "hit"),
        "settled-uncited": of(settled, parts["settled_uncited"]),
        "unchallenged": of(parts["sections"], parts["unchallenged"]),
        "unanswered": of(parts["unknowns"], parts["unanswered"]),
        "blind-votes": of(parts["votes"], parts["blind_votes"]),
        **{
            f"turned-by-{name}": clustered_share(
                decided.assign(hit=decided[f"if_{name}_open"].astype("object").ne(verdict)), "hit"
            )
            for name in ("uncited", "withdrawn")
        },
    }
    rows = pd.DataFrame([(name, *share) for name, share in shares.items()], columns=["measure", *Share._fields])
    return fitted(PLAN_RESULT_TABLES["vacuity.shares"], rows, "vacuity.shares")


def _notes(table: pd.DataFrame, runs: RunSet) -> Iterator[str]:
    if runs.runs["synthetic"].fillna(False).any():
        yield "The runs are synthetic: the figures say nothing about any model."
    if without := int(table["verdict"].isna().sum()):
        counts = "counts" if without == 1 else "count"
        yield f"{counted(without, 'run')} of {len(table):,} gave no verdict, and {counts} in no share of verdicts."
    if other := int((~runs.runs["kind"].eq("plan").fillna(False)).sum()):
        yield f"{counted(other, 'run')} of other kinds {'is' if other == 1 else 'are'} left out."
    if sized := int(table["rests_on"].eq("sizing").sum()):
        yield f"{counted(sized, 'plan run')} ended by sizing: no agent was called, which counts as silence."
