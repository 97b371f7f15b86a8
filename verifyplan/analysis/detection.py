"""Detection: how well plan runs find labelled defects; false alarms, verdicts and cost, run by run (rule G2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from verifyplan.analysis.challenge_matching import matching_pairs
from verifyplan.analysis.cost import failed, failures_in_words, tokens, unsent
from verifyplan.analysis.plan_shares import Share, clustered_share
from verifyplan.analysis.result_columns_plans import PLAN_RESULT_TABLES, WEIGHTY
from verifyplan.analysis.settlements import judge_settlements
from verifyplan.datasets.labels import (
    SOUND,
    UNSOUND,
    Labels,
    challenge_label_table,
    label_table,
    plan_name,
    read_labels,
)
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import PLAN_VERDICTS
from verifyplan.text import counted

ALL = "all kinds"
"""The row of all defects together."""

ALARMS = WEIGHTY
"""The severities that are a false alarm on a sound plan."""

EITHER = "BLOCKING or SIGNIFICANT"
"""The row of false alarms of any severity."""


@with_field_docs
@dataclass(frozen=True)
class Detection:
    """The labelled defects that plan runs found, each run by itself; every share comes with its n and its interval."""

    defects: pd.DataFrame
    """One row per run and labelled defect: run_id, plan, kind, severity, held_out, whether its plan was trivial, found,
    and by which challenge."""
    by_kind: pd.DataFrame
    """Detection by kind of defect and held_out, also without trivial plans; all kinds come last.
    `documentation("detection.by_kind")` describes the columns."""
    alarms: pd.DataFrame
    """BLOCKING and SIGNIFICANT challenges that are unsettled on sound plans."""
    on_sound: pd.DataFrame
    """Share of the runs of sound plans, trivial ones aside, with a false alarm, by its severity: alarm, n_plans,
    n_runs, n, found, rate, low, high."""
    precision: pd.DataFrame
    """Share of the challenges, admitted and not WITHDRAWN, that find a labelled defect, by held_out: held_out, n_plans,
    n_runs, n, found, rate, low, high. A lower bound of the share that is right: labels may be incomplete."""
    verdicts: pd.DataFrame
    """One row per run: expected and given verdict, whether they agree, why there is none, whether it was trivial.
    `documentation("detection.verdicts")` describes the columns."""
    cost: pd.DataFrame
    """One row per run: calls, those that failed, those of these that a limit held back unsent, tokens, seconds, and
    dollars where a price is known."""
    settlements: pd.DataFrame | None = None
    """One row per settled challenge: whether it was right, and settled rightly; None unless asked for
    (`settlements=True`)."""
    settlement_rates: pd.DataFrame | None = None
    """Shares of wrong settlements, by status and the panel's class: measure, panel, n_plans, n_runs, n, found, rate,
    low, high."""
    settlement_notes: tuple[str, ...] = ()
    """What of the settlements could not be judged."""

    def __str__(self) -> str:
        """Return the figures in words."""
        overall = self.by_kind[self.by_kind["kind"] == ALL]
        without = int(self.verdicts["given"].isna().sum())
        dollars = self.cost["dollars"].sum(min_count=1)
        lines = [
            *(
                f"defects found{' in held-out plans' if row['held_out'] else ''}: {_share_of(row)}"
                + self._seen_words(held_out=bool(row["held_out"]))
                for _, row in overall.iterrows()
            ),
            *(
                f"challenges that find a labelled defect{' in held-out plans' if row['held_out'] else ''}: "
                f"{_share_of(row)}; others may be right, too"
                for _, row in self.precision.iterrows()
            ),
            *(f"sound plans with a false {row['alarm']}: {_share_of(row)}" for _, row in self.on_sound.iterrows()),
            f"verdicts as expected: {clustered_share(self.verdicts.dropna(subset='agrees'), 'agrees')}"
            + (f"; {counted(without, 'run')} gave no verdict" if without else ""),
            *self._settlement_words(),
            *self.notes,
            f"calls: {int(self.cost['calls'].sum())} "
            f"({failures_in_words(int(self.cost['failed'].sum()), int(self.cost['unsent'].sum()))}), "
            f"tokens: {int(self.cost['tokens'].sum())}, time: {self.cost['seconds'].sum():.1f} s"
            + (f", known cost: {dollars:,.2f} dollars" if pd.notna(dollars) else ""),
        ]
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on plans too small for a team, on plans without labelled defects, and on settlements not judged."""
        n = self.verdicts.loc[self.verdicts["trivial"], "plan"].nunique()
        unseen = self.verdicts.loc[unseen_sound(self.verdicts), "plan"].nunique()
        count = "is sound and counts" if unseen == 1 else "are sound and count"
        apart = f"; {unseen} {count} neither as free of false alarms nor as a verdict as expected" if unseen else ""
        were = "was" if n == 1 else "were"
        asks = 'team="base" (in the shell --team base) asks a team about every plan'
        trivial = (f"{counted(n, 'plan')} {were} trivial: no agent was asked{apart}; {asks}",) if n else ()
        n = self.verdicts.loc[self.verdicts["kind"] == UNSOUND, "plan"].nunique()
        label = "labelled REVISE or RETHINK without a defect and"
        words = f"is {label} counts" if n == 1 else f"are {label} count"
        unsound = (f"{counted(n, 'plan')} {words} in verdicts alone",) if n else ()
        return (*trivial, *unsound, *self.settlement_notes)

    def _seen_words(self, *, held_out: bool) -> str:
        """Return the share of the defects in plans that agents looked at; blank if they looked at every plan."""
        defects = self.defects[self.defects["held_out"] == held_out]
        if not defects["trivial"].any():
            return ""
        seen = clustered_share(defects[~defects["trivial"]], "found")
        others = f"; in the others {seen}" if seen.n else ""
        return f"; {defects['trivial'].sum()} in trivial plans, which no agent looked at{others}"

    def _settlement_words(self) -> list[str]:
        """Return the shares of wrong settlements, those by a panel's class indented."""
        if self.settlement_rates is None:
            return []
        return [
            f"{row['measure']}: {_share_of(row)}" if row["panel"] == "any" else f"  {row['panel']}: {_share_of(row)}"
            for _, row in self.settlement_rates.iterrows()
        ]


def unseen_sound(verdicts: pd.DataFrame) -> pd.Series[bool]:
    """Return which runs of sound plans ended before anybody looked: their silence and their PROCEED say nothing."""
    return verdicts["trivial"] & (verdicts["kind"] == SOUND)


def _share_of(row: pd.Series[Any]) -> Share:
    return Share(*(row[name] for name in Share._fields))


def detection(runs: Runs, labels: Labels, *, settlements: bool = False) -> Detection:
    """Score plan runs against labels: which defects were found, what was said of sound plans, which verdicts hold.

    A challenge finds a defect if it was admitted and not WITHDRAWN, cites a line within 3 of one that the label cites
    (in the plan or the repository), and mentions one of the label's needles. A plan is sound if its label has no defect
    and no verdict but PROCEED; with another verdict and no defect it counts in verdicts alone. `precision` is a lower
    bound: a challenge that finds no labelled defect may be right about one that no label names. Several runs of a plan
    each count by themselves; a share is the mean over runs, its interval clustered by plan. `labels` are a JSON file, a
    mapping or a table, as `datasets.read_labels` says. Plans without a label are left out; labels without a run are an
    InputError, as a share over fewer plans would not be what it says.

    With `settlements`, each settled challenge is held against the labels, too: a right one WITHDRAWN, or RESOLVED
    though nothing answers it, was settled wrongly. Whether a challenge is right is known from the labels' own
    `challenges`, from defects, and on sound plans; `documentation("detection.settlements")` has the rules.

    >>> from verifyplan.datasets.plans import labelled_plans
    >>> found = detection(
    ...     "live-example/plan",
    ...     [label for label in labelled_plans() if label.plan == "purge-hour"],
    ... )
    >>> found.verdicts[["plan", "expected", "given"]]
             plan expected    given
    0  purge-hour   REVISE  RETHINK
    """
    runs = as_runs(runs)
    read = read_labels(labels)
    table = label_table(read)
    plans = runs.runs[runs.runs["kind"] == "plan"]
    plans = plans.assign(plan=[plan_name(path) for path in plans["plan_path"]])
    plans = plans.loc[plans["plan"].isin(table["plan"])]
    absent = sorted(set(table["plan"]) - set(plans["plan"]))
    if absent:
        fix = "run every labelled plan, or give the labels of those that ran"
        raise InputError(Problem("labels", f"{counted(len(absent), 'plan')} without a run, first {absent[0]!r}", fix))
    challenges = runs.challenges.merge(plans[["run_id", "plan", "plan_path"]], on="run_id")
    verdicts = _verdicts(plans, table)
    standing = challenges[challenges["admitted_in"].notna() & (challenges["status"] != "WITHDRAWN")]
    seeded = table[table["severity"].notna()].merge(verdicts[["run_id", "plan", "trivial"]], on="plan")
    seeded = seeded.rename_axis("row").reset_index()
    pairs = matching_pairs(seeded, standing)
    defects = _defects(seeded, pairs)
    alarms = _alarms(challenges, table)
    found = Detection(
        defects=defects,
        by_kind=_by_kind(defects),
        alarms=alarms,
        on_sound=_on_sound(alarms, verdicts),
        precision=_precision(standing, pairs, verdicts),
        verdicts=verdicts,
        cost=_cost(runs, plans),
    )
    if not settlements:
        return found
    judged = judge_settlements(challenges, runs.challenge_history, plans, table, challenge_label_table(read))
    return replace(found, settlements=judged.table, settlement_rates=judged.rates, settlement_notes=judged.notes)


def _defects(seeded: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return each defect in each run of its plan, with the first challenge of that run that finds it."""
    first = pairs.drop_duplicates("row").set_index("row")
    table = seeded[["run_id", "plan", "kind", "severity", "held_out", "trivial"]].assign(
        found=seeded["row"].isin(first.index)
    )
    for column in ("challenge_id", "severity_given", "status"):
        table[column] = seeded["row"].map(first[column].astype("str")) if len(first) else None
    return table


def _precision(standing: pd.DataFrame, pairs: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the share of challenges that find a labelled defect; plans labelled by a verdict alone do not count."""
    judged = verdicts.loc[verdicts["kind"] != UNSOUND, ["run_id", "held_out"]]
    raised = standing[["run_id", "plan", "challenge_id"]].merge(judged, on="run_id")
    hits = pairs[["run_id", "challenge_id"]].drop_duplicates().assign(hit=True)
    raised = raised.merge(hits, on=["run_id", "challenge_id"], how="left")
    raised["hit"] = raised["hit"].notna()
    rows = [(held_out, *clustered_share(part, "hit")) for held_out, part in raised.groupby("held_out")]
    return pd.DataFrame(rows, columns=["held_out", *Share._fields])


def _by_kind(defects: pd.DataFrame) -> pd.DataFrame:
    together = pd.concat([defects, defects.assign(kind=ALL)])
    rows = []
    for (kind, held_out), part in together.groupby(["kind", "held_out"], sort=True):
        seen = clustered_share(part[~part["trivial"]], "found")
        in_trivial = int(part["trivial"].sum())
        rows.append(
            (kind, held_out, *clustered_share(part, "found"), in_trivial, seen.found, seen.rate, seen.low, seen.high)
        )
    table = pd.DataFrame(rows, columns=[column.name for column in PLAN_RESULT_TABLES["detection.by_kind"]])
    return table.sort_values(["kind", "held_out"], key=lambda c: c if c.name != "kind" else c.replace(ALL, "~"))


def _alarms(challenges: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    sound = challenges["plan"].isin(labels.loc[labels["kind"] == SOUND, "plan"])
    standing = challenges["status"].isin(["OPEN", "UNRESOLVED"]) & challenges["admitted_in"].notna()
    columns = ["run_id", "plan", "challenge_id", "severity", "status", "origin", "claim", "concern", "place"]
    return challenges.loc[sound & standing & challenges["severity"].isin(ALARMS), columns].reset_index(drop=True)


def _on_sound(alarms: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Return the share of the runs of sound plans, trivial ones aside, with a false alarm, by severity and together."""
    sound = verdicts.loc[(verdicts["kind"] == SOUND) & ~verdicts["trivial"], ["run_id", "plan"]]
    rows = []
    for alarm, severities in ((ALARMS[0], ALARMS[:1]), (ALARMS[1], ALARMS[1:]), (EITHER, ALARMS)):
        raised = sound["run_id"].isin(alarms.loc[alarms["severity"].isin(severities), "run_id"])
        rows.append((alarm, *clustered_share(sound.assign(raised=raised), "raised")))
    return pd.DataFrame(rows, columns=["alarm", *Share._fields])


def _verdicts(plans: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    expected = labels.drop_duplicates("plan")[["plan", "kind", "held_out", "verdict"]]
    ended = plans[["plan", "run_id", "plan_verdict", "strong", "exit_reason", "score", "trivial"]]
    table = expected.merge(ended.assign(trivial=ended["trivial"].fillna(False).astype(bool)), on="plan")
    table = table.rename(columns={"verdict": "expected", "plan_verdict": "given"})
    for column in ("expected", "given"):
        table[column] = pd.Categorical(table[column].astype("str"), categories=PLAN_VERDICTS, ordered=True)
    agrees = (table["expected"] == table["given"]).astype("boolean")
    return table.assign(agrees=agrees.mask(unseen_sound(table)))


def _cost(runs: RunSet, plans: pd.DataFrame) -> pd.DataFrame:
    calls = runs.calls.assign(
        failed=failed(runs.calls) | runs.calls["status"].eq("in-flight"),
        unsent=unsent(runs.calls),
        tokens=tokens(runs.calls),
        seconds=runs.calls["duration_ms"] / 1000,
    )
    by_run = calls.groupby("run_id")
    sums = by_run[["failed", "unsent", "tokens", "seconds"]].sum()
    sums.insert(0, "calls", by_run.size())
    sums = sums.reindex(plans["run_id"], fill_value=0)
    sums = sums.assign(dollars=by_run["cost"].sum(min_count=1).reindex(plans["run_id"]))
    return plans[["run_id", "plan"]].merge(sums.reset_index(), on="run_id")
