"""Detection: how well plan runs find labelled defects; false alarms, verdicts and cost, run by run (rule G2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath, PurePosixPath
from typing import Any

import pandas as pd

from verifyplan.analysis.cost import failed, tokens
from verifyplan.analysis.plan_shares import Share, clustered_share
from verifyplan.datasets.labels import SOUND, Labels, label_table, plan_name
from verifyplan.errors import InputError, Problem
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.records import PLAN_VERDICTS
from verifyplan.rules.citations import Place, places
from verifyplan.text import counted

ALL = "all kinds"
"""The row of all defects together."""

ALARMS = ("BLOCKING", "SIGNIFICANT")
"""The severities that are a false alarm on a sound plan."""

EITHER = "BLOCKING or SIGNIFICANT"
"""The row of false alarms of any severity."""

NEAR_LINES = 3
"""A challenge that cites a line so near to a defect's, or nearer, looks at it."""

PLAN = "plan"
"""The name by which a label may cite the plan itself."""

_TEXTS = ["claim", "concern", "failure_scenario", "alternative", "evidence"]
_LABELLED_PLACE = re.compile(r"(.+):(\d+)(?:-(\d+))?")


@with_field_docs
@dataclass(frozen=True)
class Detection:
    """The labelled defects that plan runs found, each run by itself; every share comes with its n and its interval."""

    defects: pd.DataFrame
    """One row per run and labelled defect: run_id, plan, kind, severity, held_out, found, and by which challenge."""
    by_kind: pd.DataFrame
    """Detection by kind of defect and held_out: n_plans, n_runs, n, found, rate, low, high; all kinds come last."""
    alarms: pd.DataFrame
    """BLOCKING and SIGNIFICANT challenges that are unsettled on sound plans."""
    on_sound: pd.DataFrame
    """Share of the runs of sound plans with a false alarm, by its severity: the columns of `by_kind`, with `alarm`."""
    verdicts: pd.DataFrame
    """One row per run: expected and given verdict, whether they agree, why there is none, whether it was trivial."""
    cost: pd.DataFrame
    """One row per run: calls, failed calls, tokens, seconds, and dollars where a price is known."""

    def __str__(self) -> str:
        """Return the figures in words."""
        overall = self.by_kind[self.by_kind["kind"] == ALL]
        without = int(self.verdicts["given"].isna().sum())
        dollars = self.cost["dollars"].sum(min_count=1)
        lines = [
            *(
                f"defects found{' in held-out plans' if row['held_out'] else ''}: {_share_of(row)}"
                for _, row in overall.iterrows()
            ),
            *(f"sound plans with a false {row['alarm']}: {_share_of(row)}" for _, row in self.on_sound.iterrows()),
            f"verdicts as expected: {clustered_share(self.verdicts, 'agrees')}"
            + (f"; {without} runs gave none" if without else ""),
            *self.notes,
            f"calls: {int(self.cost['calls'].sum())} ({int(self.cost['failed'].sum())} failed), "
            f"tokens: {int(self.cost['tokens'].sum())}, time: {self.cost['seconds'].sum():.1f} s"
            + (f", known cost: {dollars:,.2f} dollars" if pd.notna(dollars) else ""),
        ]
        return "\n".join(lines)

    __repr__ = __str__  # a console shows the words, not every table

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on plans too small for a team, whose defects count as not found."""
        n = self.verdicts.loc[self.verdicts["trivial"], "plan"].nunique()
        return (f"{counted(n, 'plan')} {'was' if n == 1 else 'were'} trivial: no agent was asked",) if n else ()


def _share_of(row: pd.Series[Any]) -> Share:
    return Share(*(row[name] for name in Share._fields))


def detection(runs: Runs, labels: Labels) -> Detection:
    """Score plan runs against labels: which defects were found, what was said of sound plans, which verdicts hold.

    A challenge finds a defect if it was admitted and not WITHDRAWN, cites a line within 3 of one that the label
    cites (in the plan or the repository), and mentions one of the label's needles. Several runs of a plan each count by
    themselves; a share is the mean over runs, its interval clustered by plan. `labels` are a JSON file, a mapping or a
    table, as `datasets.read_labels` says. Plans without a label are left out; labels without a run are
    an InputError, as a share over fewer plans would not be what it says.

    >>> from verifyplan.datasets.plans import labelled_plans
    >>> found = detection("live-example/plan", [label for label in labelled_plans() if label.plan == "purge-hour"])
    >>> found.verdicts[["plan", "expected", "given"]]
             plan expected    given
    0  purge-hour   REVISE  RETHINK
    """
    runs = as_runs(runs)
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
    return Detection(defects, _by_kind(defects), alarms, _on_sound(alarms, verdicts), verdicts, _cost(runs, plans))


def _defects(challenges: pd.DataFrame, plans: pd.DataFrame, labels: pd.DataFrame) -> pd.DataFrame:
    """Return each defect in each run of its plan, with the first challenge of that run that finds it."""
    runs = plans[["run_id", "plan"]]
    seeded = labels[labels["kind"] != SOUND].merge(runs, on="plan").rename_axis("row").reset_index()
    standing = challenges[challenges["admitted_in"].notna() & (challenges["status"] != "WITHDRAWN")]
    text = standing[_TEXTS[0]].str.cat(standing[_TEXTS[1:]], sep=" ", na_rep="").str.lower()
    columns = ["run_id", "plan_path", "challenge_id", "severity", "status", "text", "evidence"]
    pairs = seeded.merge(standing.assign(text=text)[columns], on="run_id", suffixes=("", "_given"))
    pairs = _citing(_mentioning(pairs))
    first = pairs.drop_duplicates("row").set_index("row")
    table = seeded[["run_id", "plan", "kind", "severity", "held_out"]].assign(found=seeded["row"].isin(first.index))
    for column in ("challenge_id", "severity_given", "status"):
        table[column] = seeded["row"].map(first[column].astype("str")) if len(first) else None
    return table


def _mentioning(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a defect and a challenge whose text mentions one of the label's needles."""
    needles = pairs[["text", "needles"]].explode("needles").dropna(subset="needles")
    hits = needles.groupby("needles", group_keys=False)["text"].apply(
        lambda texts: texts.str.contains(str(texts.name).lower(), regex=False)
    )
    return pairs[pairs.index.isin(hits.index[hits.to_numpy(dtype=bool)])]


def _citing(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a defect and a challenge that cites a line within 3 of a place that the label names."""
    cited = _place_rows(pairs["evidence"].fillna("").map(places))
    labelled = _place_rows(pairs["places"].map(lambda texts: [_labelled_place(text) for text in texts]))
    both = cited.add_suffix("_cited").join(labelled, how="inner").join(pairs["plan_path"])
    both = both[(both["first_cited"] - NEAR_LINES <= both["last"]) & (both["first"] <= both["last_cited"] + NEAR_LINES)]
    files = both[["path_cited", "path", "plan_path"]].itertuples(name=None)
    return pairs[pairs.index.isin([row for row, *paths in files if _same_file(*paths)])]


def _place_rows(column: pd.Series[Any]) -> pd.DataFrame:
    """Return one row a place of a column of lists of places, under the index of the column."""
    each = column.explode().dropna()
    return pd.DataFrame(each.tolist(), columns=["path", "first", "last"], index=each.index)


def _labelled_place(text: str) -> Place:
    match = _LABELLED_PLACE.fullmatch(text)
    if match is None:  # labels are checked where they are read
        raise ValueError(f"{text!r} is no place")
    first, last = sorted((int(match[2]), int(match[3] or match[2])))
    return Place(match[1], first, last)


def _same_file(cited: str, labelled: str, plan_path: str) -> bool:
    """Return whether a cited path and that of a label name one file, whatever folder they are written from.

    The plan is `plan`, its file's name or its path. An absolute path is that of a relative one if it ends with it.

    >>> _same_file("/repo/src/db.py", "src/db.py", "plans/move.md"), _same_file("move.md", "plan", "plans/move.md")
    (True, True)
    """
    plan = PurePath(plan_path).as_posix()
    if labelled == PLAN or _ends_alike(labelled, plan):
        return _ends_alike(cited, plan)
    if cited.startswith("/") == labelled.startswith("/"):
        return _parts(cited) == _parts(labelled)
    absolute, relative = sorted((cited, labelled), key=lambda path: not path.startswith("/"))
    return _ends_with(_parts(absolute), _parts(relative))


def _ends_alike(path: str, other: str) -> bool:
    """Return whether two paths name one file as far as both are written out."""
    return _ends_with(*sorted((_parts(path), _parts(other)), key=len, reverse=True))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in ("/", "."))


def _ends_with(path: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return bool(end) and path[-len(end) :] == end


def _by_kind(defects: pd.DataFrame) -> pd.DataFrame:
    together = pd.concat([defects, defects.assign(kind=ALL)])
    rows = [
        (kind, held_out, *clustered_share(part, "found"))
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
    """Return the share of the runs of sound plans that raise a false alarm, by severity and together."""
    sound = verdicts.loc[verdicts["kind"] == SOUND, ["run_id", "plan"]]
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
    return table.assign(agrees=(table["expected"] == table["given"]).fillna(False).astype(bool))


def _cost(runs: RunSet, plans: pd.DataFrame) -> pd.DataFrame:
    calls = runs.calls.assign(
        failed=failed(runs.calls) | runs.calls["status"].eq("in-flight"),
        tokens=tokens(runs.calls),
        seconds=runs.calls["duration_ms"] / 1000,
    )
    by_run = calls.groupby("run_id")
    sums = by_run[["failed", "tokens", "seconds"]].sum()
    sums.insert(0, "calls", by_run.size())
    sums = sums.reindex(plans["run_id"], fill_value=0)
    sums = sums.assign(dollars=by_run["cost"].sum(min_count=1).reindex(plans["run_id"]))
    return plans[["run_id", "plan"]].merge(sums.reset_index(), on="run_id")
