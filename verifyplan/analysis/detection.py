"""How well plan runs found what is known to be wrong: detection, false alarms, verdicts, cost, run by run (rule G2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pandas as pd

from verifyplan.analysis.cost import failed, tokens
from verifyplan.analysis.places import near
from verifyplan.analysis.shares import Share, share
from verifyplan.datasets.labels import SOUND, plan_name
from verifyplan.datasets.labels_read import Labels, label_table
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.iteration import PLAN_VERDICTS
from verifyplan.text import counted

ALL = "all kinds"
"""The row of all defects together."""

ALARMS = ("BLOCKING", "SIGNIFICANT")
"""The severities that are a false alarm on a sound plan."""

EITHER = "BLOCKING or SIGNIFICANT"
"""The row of false alarms of any severity."""

_SAID = ["claim", "concern", "failure_scenario", "alternative", "evidence"]


@dataclass(frozen=True)
class Detection:
    """What plan runs found of labelled defects, each run by itself; every share comes with its n and its interval."""

    defects: pd.DataFrame
    """One row per run and labelled defect: run_id, plan, kind, severity, held_out, found, and by which challenge."""
    by_kind: pd.DataFrame
    """Detection by kind of defect and held_out: n_plans, n_runs, n, found, rate, low, high; all kinds come last."""
    alarms: pd.DataFrame
    """BLOCKING and SIGNIFICANT challenges that stand unsettled on sound plans."""
    on_sound: pd.DataFrame
    """Share of the runs of sound plans with a false alarm, by its severity: the columns of `by_kind`, with `alarm`."""
    verdicts: pd.DataFrame
    """One row per run: expected and given verdict, whether they agree, why there is none, whether it was trivial."""
    cost: pd.DataFrame
    """One row per run: calls, failed calls, tokens, seconds, and dollars where a price is known."""

    def __str__(self) -> str:
        """The figures in words."""
        found = self.by_kind[self.by_kind["kind"] == ALL]
        without = int(self.verdicts["given"].isna().sum())
        agree = share(self.verdicts, "agrees")
        dollars = self.cost["dollars"].sum(min_count=1)
        return "\n".join(
            [
                *(f"defects found{_held_out(row)}: {_share(row)}" for _, row in found.iterrows()),
                *(f"sound plans with a false {row['alarm']}: {_share(row)}" for _, row in self.on_sound.iterrows()),
                f"verdicts as expected: {agree}" + (f"; {without} runs gave none" if without else ""),
                *self.notes,
                f"calls: {int(self.cost['calls'].sum())} ({int(self.cost['failed'].sum())} failed), "
                f"tokens: {int(self.cost['tokens'].sum())}, time: {self.cost['seconds'].sum():.1f} s"
                + (f", known cost: {dollars:,.2f} dollars" if pd.notna(dollars) else ""),
            ]
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the figures count without a word: plans too small for a team, whose defects count as not found."""
        n = self.verdicts.loc[self.verdicts["trivial"], "plan"].nunique()
        return (f"{counted(n, 'plan')} {'was' if n == 1 else 'were'} trivial: no agent was asked",) if n else ()


def _held_out(row: pd.Series[Any]) -> str:
    return " in held-out plans" if row["held_out"] else ""


def _share(row: pd.Series[Any]) -> str:
    return str(Share(*(row[name] for name in Share._fields)))


def detection(runs: RunSet, labels: Labels) -> Detection:
    """Score plan runs against labels: which defects were found, what was said of sound plans, which verdicts hold.

    A challenge finds a defect if it was admitted and not WITHDRAWN, cites a line within 3 of one that the label
    cites (in the plan or the repository), and mentions one of the label's needles. Several runs of a plan each count by
    themselves; a share is the mean over runs, its interval clustered by plan. `labels` are a JSON file, a mapping or a
    table, as `datasets.read_labels` says. Plans without a label are left out; labels without a run are
    an InputError, as a share over fewer plans would not be what it says.
    """
    expect_runs(runs)
    table = label_table(labels)
    plans = runs.runs[runs.runs["kind"] == "plan"]
    plans = plans.assign(plan=[plan_name(path) for path in plans["plan_path"]])
    plans = plans.loc[plans["plan"].isin(table["plan"])]
    absent = sorted(set(table["plan"]) - set(plans["plan"]))
    if absent:
        fix = "run every labelled plan, or give the labels of those that ran"
        raise InputError(Problem("labels", f"{len(absent)} plans have no run, the first is {absent[0]!r}", fix))
    challenges = runs.challenges.merge(plans[["run_id", "plan", "plan_path"]], on="run_id")
    defects = _defects(challenges, plans, table)
    alarms = _alarms(challenges, table)
    verdicts = _verdicts(plans, table)
    on_sound = _on_sound(alarms, verdicts)
    return Detection(defects, _by_kind(defects), alarms, on_sound, verdicts, _cost(runs, plans))


def _defects(challenges: pd.DataFrame, plans: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Each defect in each run of its plan, with the first challenge of that run that finds it."""
    seeded = (
        labels[labels["kind"] != SOUND].merge(plans[["run_id", "plan"]], on="plan").rename_axis("row").reset_index()
    )
    standing = challenges[challenges["admitted_in"].notna() & (challenges["status"] != "WITHDRAWN")]
    said = standing[_SAID[0]].str.cat(standing[_SAID[1:]], sep=" ", na_rep="")
    columns = ["run_id", "plan_path", "challenge_id", "severity", "status", "said", "evidence"]
    pairs = seeded.merge(standing.assign(said=said)[columns], on="run_id", suffixes=("", "_given"))
    finds = [
        _mentions(said, needles) and near(evidence, cited, PurePath(path))
        for said, needles, evidence, cited, path in zip(
            pairs["said"],
            pairs["needles"],
            pairs["evidence"].fillna(""),
            pairs["places"],
            pairs["plan_path"],
            strict=True,
        )
    ]
    first = pairs[pd.Series(finds, index=pairs.index, dtype=bool)].drop_duplicates("row").set_index("row")
    found = seeded[["run_id", "plan", "kind", "severity", "held_out"]].assign(found=seeded["row"].isin(first.index))
    for column in ("challenge_id", "severity_given", "status"):
        found[column] = seeded["row"].map(first[column].astype("str")) if len(first) else None
    return found


def _mentions(said: str, needles: Sequence[str]) -> bool:
    return any(needle.lower() in said.lower() for needle in needles)


def _by_kind(defects: pd.DataFrame) -> pd.DataFrame:
    together = pd.concat([defects, defects.assign(kind=ALL)])
    rows = [
        {"kind": kind, "held_out": held_out, **share(part, "found")._asdict()}
        for (kind, held_out), part in together.groupby(["kind", "held_out"], sort=True)
    ]
    table = pd.DataFrame(rows, columns=["kind", "held_out", *Share._fields])
    return table.sort_values(["kind", "held_out"], key=lambda c: c if c.name != "kind" else c.replace(ALL, "~"))


def _alarms(challenges: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    sound = challenges["plan"].isin(labels.loc[labels["kind"] == SOUND, "plan"])
    standing = challenges["status"].isin(["OPEN", "UNRESOLVED"]) & challenges["admitted_in"].notna()
    columns = ["run_id", "plan", "challenge_id", "severity", "status", "origin", "claim", "concern", "place"]
    return challenges.loc[sound & standing & challenges["severity"].isin(ALARMS), columns].reset_index(drop=True)


def _on_sound(alarms: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """Share of the runs of sound plans that raise a false alarm, by severity and together."""
    sound = verdicts.loc[verdicts["kind"] == SOUND, ["run_id", "plan"]]
    rows = []
    for alarm, severities in ((ALARMS[0], ALARMS[:1]), (ALARMS[1], ALARMS[1:]), (EITHER, ALARMS)):
        raised = alarms.loc[alarms["severity"].isin(severities), "run_id"]
        rows.append({"alarm": alarm, **share(sound.assign(raised=sound["run_id"].isin(raised)), "raised")._asdict()})
    return pd.DataFrame(rows, columns=["alarm", *Share._fields])


def _verdicts(plans: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    expected = labels.drop_duplicates("plan")[["plan", "kind", "held_out", "verdict"]]
    ended = plans[["plan", "run_id", "plan_verdict", "strong", "exit_reason", "score", "trivial"]]
    table = expected.merge(ended.assign(trivial=ended["trivial"].fillna(False).astype(bool)), on="plan")
    table = table.rename(columns={"verdict": "expected", "plan_verdict": "given"})
    for column in ("expected", "given"):
        table[column] = pd.Categorical(table[column].astype("str"), categories=PLAN_VERDICTS, ordered=True)
    return table.assign(agrees=(table["expected"] == table["given"]).fillna(False).astype(bool))


def _cost(runs: RunSet, plans: pd.DataFrame) -> pd.DataFrame:
    calls = runs.calls.assign(
        failed=failed(runs.calls) | runs.calls["status"].eq("in-flight"),
        tokens=tokens(runs.calls),
        seconds=runs.calls["duration_ms"] / 1000,
    )
    by_run = calls.groupby("run_id")
    cost = by_run.agg(
        calls=("call_id", "size"), failed=("failed", "sum"), tokens=("tokens", "sum"), seconds=("seconds", "sum")
    )
    cost = cost.reindex(plans["run_id"], fill_value=0).assign(
        dollars=by_run["cost"].sum(min_count=1).reindex(plans["run_id"])
    )
    return plans[["run_id", "plan"]].merge(cost.reset_index(), on="run_id")
