"""How well plan runs found what is known to be wrong: detection, false alarms, verdicts, cost (SPEC G2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from verifyplan.analysis.cost import failed, tokens
from verifyplan.errors import InputError, Problem
from verifyplan.frames.runset import RunSet, expect_runs
from verifyplan.protocol.iteration import PLAN_VERDICTS
from verifyplan.rules.citations import places

NEAR = 3
"""A challenge that cites a line so near to a defect's, or nearer, looks at it."""

ALL = "all kinds"
"""The row of all defects together."""

_SAID = ["claim", "concern", "failure_scenario", "alternative", "evidence"]
_LABELS = ("plan", "kind", "verdict", "held_out", "severity", "needles", "places")


@dataclass(frozen=True)
class Detection:
    """What plan runs found of labelled defects; every share comes with its n and its interval."""

    defects: pd.DataFrame
    """One row per labelled defect: plan, kind, severity, held_out, found, and the challenge that found it."""
    by_kind: pd.DataFrame
    """Detection by kind of defect and held_out: n, found, rate, low, high (Wilson, 95 %); all kinds come last."""
    alarms: pd.DataFrame
    """BLOCKING and SIGNIFICANT challenges that stand unsettled on sound plans."""
    verdicts: pd.DataFrame
    """One row per plan: expected and given verdict, whether they agree, why there is none."""
    cost: pd.DataFrame
    """One row per plan: calls, failed calls, tokens, seconds, and dollars where a price is known."""

    def __str__(self) -> str:
        """The figures in words."""
        told = [f"defects found: {_share(row)}" for _, row in self.by_kind[self.by_kind["kind"] == ALL].iterrows()]
        sound = self.verdicts[self.verdicts["kind"] == "sound"]
        blocking = self.alarms[self.alarms["severity"] == "BLOCKING"]
        agreed, n = int(self.verdicts["agrees"].sum()), len(self.verdicts)
        without = int(self.verdicts["given"].isna().sum())
        dollars = self.cost["dollars"].sum(min_count=1)
        return "\n".join(
            [
                *told,
                f"sound plans: {len(sound)}, of which {self.alarms['plan'].nunique()} with a false alarm: "
                f"{len(blocking)} BLOCKING, {len(self.alarms) - len(blocking)} SIGNIFICANT",
                f"verdicts as expected: {agreed} of {n}" + (f"; {without} runs gave none" if without else ""),
                f"calls: {int(self.cost['calls'].sum())} ({int(self.cost['failed'].sum())} failed), "
                f"tokens: {int(self.cost['tokens'].sum())}, time: {self.cost['seconds'].sum():.1f} s"
                + (f", known cost: {dollars:,.2f} dollars" if pd.notna(dollars) else ""),
            ]
        )


def _share(row: pd.Series[Any]) -> str:
    which = "held out" if row["held_out"] else "not held out"
    return f"{row['found']} of {row['n']} ({which}): {row['rate']:.0%} [{row['low']:.0%}, {row['high']:.0%}]"


def detection(runs: RunSet, labels: pd.DataFrame) -> Detection:
    """Score plan runs against labels: which defects were found, what was said of sound plans, which verdicts hold.

    A challenge finds a defect if it was admitted and not WITHDRAWN, cites a line within 3 of one that the label
    cites (in the plan or the repository), and mentions one of the label's needles. `labels` has a row per defect,
    and one per sound plan: `plan` (the name of the plan's file, without suffix), `kind`, `verdict`, `held_out`,
    `severity`, `needles`, `places` (lists). Plans without a label are left out; labels without a run are an
    InputError, as a share over fewer plans would not be what it says.
    """
    expect_runs(runs)
    missing = [name for name in _LABELS if name not in labels]
    if missing:
        fix = f"give a table with {', '.join(_LABELS)}, as datasets.plan_labels does"
        raise InputError(Problem("labels", f"has no column {missing[0]!r}", fix))
    plans = runs.runs[runs.runs["kind"] == "plan"]
    plans = plans.assign(plan=[PurePath(path).stem for path in plans["plan_path"]])
    absent = sorted(set(labels["plan"]) - set(plans["plan"]))
    if absent:
        fix = "run every labelled plan, or give the labels of those that ran"
        raise InputError(Problem("labels", f"{len(absent)} plans have no run, the first is {absent[0]!r}", fix))
    challenges = runs.challenges.merge(plans[["run_id", "plan", "plan_path"]], on="run_id")
    defects = _defects(challenges, labels)
    return Detection(
        defects, _by_kind(defects), _alarms(challenges, labels), _verdicts(plans, labels), _cost(runs, plans)
    )


def _defects(challenges: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Each defect with the first challenge that finds it."""
    seeded = labels[labels["kind"] != "sound"].reset_index(drop=True).rename_axis("defect").reset_index()
    standing = challenges[challenges["admitted_in"].notna() & (challenges["status"] != "WITHDRAWN")]
    said = standing[_SAID[0]].str.cat(standing[_SAID[1:]], sep=" ", na_rep="")
    standing = standing.assign(said=said)[
        ["plan", "plan_path", "challenge_id", "severity", "status", "said", "evidence"]
    ]
    pairs = seeded.merge(standing, on="plan", suffixes=("", "_given"))
    finds = [
        _mentions(said, needles) and _near(evidence, cited, PurePath(path).name)
        for said, needles, evidence, cited, path in zip(
            pairs["said"],
            pairs["needles"],
            pairs["evidence"].fillna(""),
            pairs["places"],
            pairs["plan_path"],
            strict=True,
        )
    ]
    first = pairs[pd.Series(finds, index=pairs.index, dtype=bool)].drop_duplicates("defect").set_index("defect")
    found = seeded[["plan", "kind", "severity", "held_out"]].assign(found=seeded["defect"].isin(first.index))
    for column, name in (("challenge_id", "challenge_id"), ("severity_given", "severity_given"), ("status", "status")):
        found[name] = seeded["defect"].map(first[column].astype("str")) if len(first) else None
    return found


def _mentions(said: str, needles: Sequence[str]) -> bool:
    return any(needle.lower() in said.lower() for needle in needles)


def _near(evidence: str, cited: Sequence[str], plan_name: str) -> bool:
    """Whether a challenge's evidence cites a line near one that the label cites; `plan` is the plan itself there."""
    wanted = [(path, int(line)) for path, _, line in (place.rpartition(":") for place in cited)]
    given = [("plan" if place.path == plan_name else place.path, place) for place in places(evidence)]
    return any(
        path == other and place.first - NEAR <= line <= place.last + NEAR
        for path, line in wanted
        for other, place in given
    )


def _by_kind(defects: pd.DataFrame) -> pd.DataFrame:
    together = pd.concat([defects, defects.assign(kind=ALL)])
    table = together.groupby(["kind", "held_out"], sort=True)["found"].agg(n="size", found="sum").reset_index()
    low, high = proportion_confint(table["found"], table["n"], method="wilson")
    table = table.assign(rate=table["found"] / table["n"], low=low, high=high)
    return table.sort_values(["kind", "held_out"], key=lambda c: c if c.name != "kind" else c.replace(ALL, "~"))


def _alarms(challenges: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    sound = challenges["plan"].isin(labels.loc[labels["kind"] == "sound", "plan"])
    standing = challenges["status"].isin(["OPEN", "UNRESOLVED"]) & challenges["admitted_in"].notna()
    heavy = challenges["severity"].isin(["BLOCKING", "SIGNIFICANT"])
    columns = ["plan", "challenge_id", "severity", "status", "origin", "claim", "concern", "place"]
    return challenges.loc[sound & standing & heavy, columns].reset_index(drop=True)


def _verdicts(plans: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    expected = labels.drop_duplicates("plan")[["plan", "kind", "held_out", "verdict"]]
    table = expected.merge(plans[["plan", "plan_verdict", "strong", "exit_reason", "score"]], on="plan")
    table = table.rename(columns={"verdict": "expected", "plan_verdict": "given"})
    for column in ("expected", "given"):
        table[column] = pd.Categorical(table[column].astype("str"), categories=PLAN_VERDICTS, ordered=True)
    return table.assign(agrees=(table["expected"] == table["given"]).fillna(False).astype(bool))


def _cost(runs: RunSet, plans: pd.DataFrame) -> pd.DataFrame:
    calls = runs.calls.merge(plans[["run_id", "plan"]], on="run_id")
    calls = calls.assign(
        failed=failed(calls) | calls["status"].eq("in-flight"),
        tokens=tokens(calls),
        seconds=calls["duration_ms"] / 1000,
    )
    by_plan = calls.groupby("plan")
    cost = by_plan.agg(
        calls=("call_id", "size"), failed=("failed", "sum"), tokens=("tokens", "sum"), seconds=("seconds", "sum")
    )
    dollars = by_plan["cost"].sum(min_count=1).reindex(plans["plan"])
    return cost.reindex(plans["plan"], fill_value=0).assign(dollars=dollars).reset_index()
