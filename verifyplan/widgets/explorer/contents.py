"""The contents of the viewer's lists: runs, and findings, challenges or messages of one run or of all (rule E4)."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.analysis.run_steps import RunSteps
from verifyplan.charts.theme import BLUE, CLASS_COLORS, ORANGE, STATE_COLORS, VERMILLION
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.text import counted
from verifyplan.widgets.explorer.lists import Cells, Kind, Row

_VERDICT_COLORS = {"PROCEED": BLUE, "REVISE": ORANGE, "RETHINK": VERMILLION, "CONVERGED": BLUE, "FAILED": VERMILLION}
_COLORS: dict[Any, str] = {**CLASS_COLORS, **STATE_COLORS, **_VERDICT_COLORS}
ITEM_NOUNS = {"plan": "challenge", "debate": "message"}
"""The name of an item by the kind of its run; items of other runs are findings."""
_STANDINGS = pd.CategoricalDtype(
    [*CLASSIFICATIONS, "waiting", "OPEN", "UNRESOLVED", "RESOLVED", "DEFERRED", "WITHDRAWN", "overflow"], ordered=True
)


def _words(value: Any) -> str:
    return "" if value is None or pd.isna(value) else str(value)


def _run_cells(row: Row) -> Cells:
    verdict = _words(row["plan_verdict"]) or _words(row["debate_status"])
    kind, mode = _words(row["kind"]), _words(row["mode"])
    items = "challenge" if kind == "plan" else "finding"
    counts = [(row["n_findings"], items), (row["n_iterations"], "iteration"), (row["total_rounds"], "round")]
    sizes = [counted(int(n), noun) for n, noun in counts if pd.notna(n) and n]
    about = [_words(row["task_key"])] if _words(row["task_key"]) != _words(row["run_id"]) else []
    unfinished: list[str] = ["not ended"] if pd.notna(row["finished"]) and not row["finished"] else []
    kinds = ", ".join(filter(None, (kind, mode)))
    return _words(row["run_id"]), verdict, _COLORS.get(verdict, ""), "", "; ".join([*unfinished, kinds, *sizes, *about])


RUNS = Kind(
    noun="run",
    searched=("run_id", "task_key", "plan_name"),
    filters={"Kind": "kind", "Verdict": "plan_verdict", "Mode": "mode"},
    sorts={
        "run": "run_id",
        "kind": "kind",
        "verdict": "plan_verdict",
        "mode": "mode",
        "findings": "n_findings",
        "rounds": "total_rounds",
        "iterations": "n_iterations",
        "about": "task_key",
    },
    cells=_run_cells,
    key=lambda row: [str(row["run_id"])],
)


def _item_cells(row: Row) -> Cells:
    standing, under = _words(row["standing"]), _words(row.get("replayed"))
    beside = under if under.startswith("≠") else _words(row.get("run_id") or row["severity"])
    return _words(row["item"]), standing, _COLORS.get(standing, ""), beside, _words(row["summary"])


_FILTERS = {"Class": "standing", "Severity": "severity"}
_SORTS = {"number": "item", "class": "standing", "severity": "severity", "claim": "summary"}


def items_kind(noun: str, run_id: str | None = None) -> Kind:
    """Return how the items of one run are listed, or those of all runs, which can be sorted by run, too."""
    return Kind(
        noun=noun,
        searched=("item", "summary"),
        filters=_FILTERS,
        sorts=_SORTS | ({"run": "run_id"} if run_id is None else {}),
        cells=_item_cells,
        key=lambda row: [str(row["run_id"] if run_id is None else run_id), str(row["item"])],
    )


def items_at(course: RunSteps, step: int) -> pd.DataFrame:
    """Return the items of a run at a step: `item, severity, standing, classification, rule, summary`."""
    if course.kind != "debate":
        return course.items(step)
    messages = course.tables.messages
    until = messages[messages["turn"].le(int(course.steps["round"].iloc[step])).fillna(False).to_numpy(dtype=bool)]
    speaker = until["role"].astype("str") + ", " + until["type"].astype("str")
    names = ("severity", "classification", "rule")
    table = {"item": until["position"].astype("str"), "standing": speaker, "summary": until["content"]}
    return pd.DataFrame(table | dict.fromkeys(names))[
        ["item", "severity", "standing", "classification", "rule", "summary"]
    ]


def ordered_standings(items: pd.DataFrame) -> pd.DataFrame:
    """Return items that sort by class or status from best to worst; others as they are."""
    known = items["standing"].isin(_STANDINGS.categories).all()
    return items.assign(standing=items["standing"].astype(_STANDINGS)) if known else items


def items_of_all(runs: RunSet) -> pd.DataFrame:
    """Return the items of all runs at their end: findings with their class, challenges with their status."""
    plans = runs.runs.loc[runs.runs["kind"].eq("plan"), "run_id"]
    findings, challenges = runs.findings, runs.challenges
    if len(plans):
        findings = findings[~findings["run_id"].isin(plans)]
    tables = [
        pd.DataFrame(
            {
                "run_id": findings["run_id"],
                "item": findings["finding_id"],
                "severity": None,
                "standing": findings["classification"].astype(_STANDINGS),
                "summary": findings["summary"],
            }
        ),
        pd.DataFrame(
            {
                "run_id": challenges["run_id"],
                "item": challenges["challenge_id"],
                "severity": challenges["severity"],
                "standing": challenges["status"].astype("object").astype(_STANDINGS),
                "summary": challenges["claim"],
            }
        ),
    ]
    filled = [table for table in tables if len(table)] or tables[:1]
    return filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)
