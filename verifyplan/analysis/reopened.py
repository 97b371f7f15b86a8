"""Judge plan runs again with some settled challenges open (rule A3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.records import Challenge
from verifyplan.rules.convergence import evaluate, verdict_words
from verifyplan.rules.guards import capped_verdict


def reopened_verdicts(
    plans: pd.DataFrame, challenges: pd.DataFrame, again: str, recorded: Sequence[str | None]
) -> list[str | None]:
    """Return the verdict of each run, in words, with the challenges open of which the column `again` is true.

    Judged by A3 at the last iteration that the run was allowed, under its own rules: before that one an open BLOCKING
    challenge would be a question to a person or a reason to go on, and what agents would have said is not known. What a
    person overrode stays out; BLOCKING in overflow allows at best REVISE, or what the rules say (A5). The recorded
    verdict where nothing would be open again, and None where there was none. Tables that were saved without
    `plan_rules` hold policy and iterations alone: the other rules are then neutral.
    """
    pool = challenges[challenges["admitted_in"].notna() & ~challenges["in_overflow"]]
    opened = set(pool.loc[pool[again], "run_id"])
    overflow = challenges[challenges["in_overflow"]].groupby("run_id")["severity"].agg(list).to_dict()
    groups = dict(tuple(pool[pool["run_id"].isin(opened)].groupby("run_id", sort=False)))
    verdicts: list[str | None] = []
    for run, verdict in zip(plans.to_dict("records"), recorded, strict=True):
        run_id = run["run_id"]
        if verdict is None or run_id not in opened:
            verdicts.append(verdict)
            continue
        rows = groups[run_id]
        rows = rows[rows["challenge_id"].ne(run["overridden"]).fillna(True)]
        looked_at: dict[str, list[str]] = {
            "severity": rows["severity"].tolist(),
            "alternative": rows["alternative"].fillna("").tolist(),
            "status": rows["status"].astype("object").mask(rows[again], "OPEN").tolist(),
        }
        values = zip(*looked_at.values(), strict=True)
        judged = [Challenge.model_construct(**dict(zip(looked_at, each, strict=True))) for each in values]
        rules = _rules_of(run)
        ruling = evaluate(judged, rules.max_iterations, rules=rules)
        verdicts.append(verdict_words(capped_verdict(ruling.verdict, overflow.get(run_id, ()), rules), ruling.strong))
    return verdicts


def _rules_of(run: Mapping[Any, Any]) -> PlanRules:
    if pd.isna(run["plan_rules"]):
        return PlanRules(policy=run["policy"], max_iterations=int(run["max_iterations"]))
    return PlanRules.from_json(run["plan_rules"])
