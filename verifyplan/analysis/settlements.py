"""Measure settlements against labels: right challenges withdrawn, or resolved though nothing answers them (A2, A9)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.challenge_matching import OWN_WORDS, matching_pairs
from verifyplan.analysis.plan_shares import Share, clustered_share
from verifyplan.analysis.result_columns_plans import PANEL_CLASSES, PLAN_RESULT_TABLES, WEIGHTY
from verifyplan.columns import fitted
from verifyplan.datasets.labels import SOUND
from verifyplan.protocol.records import SETTLED, UNSETTLED
from verifyplan.text import counted, is_or_are

_CHALLENGE = ["run_id", "challenge_id"]


class Settlements(NamedTuple):
    """The settled challenges of labelled plans, whether each was settled rightly, and the shares that were not."""

    table: pd.DataFrame
    """One row a settled challenge; `documentation("detection.settlements")`."""
    rates: pd.DataFrame
    """Shares of wrong settlements, by status and by the panel's class."""
    notes: tuple[str, ...]
    """What could not be judged."""


def judge_settlements(
    challenges: pd.DataFrame,
    history: pd.DataFrame,
    plans: pd.DataFrame,
    labels: pd.DataFrame,
    challenge_labels: pd.DataFrame,
) -> Settlements:
    """Return every settled challenge of labelled plans with its truth, and the shares that were settled wrongly.

    `challenges` have `plan` and `plan_path`, `plans` are `run_id, plan`. The truth of a challenge is that of a label of
    challenges that it matches by its own words (quotes aside); else it is right if it matches a labelled defect, and
    wrong if it is BLOCKING or SIGNIFICANT on a sound plan, with which nothing so bad is wrong. Of all others, and where
    labels disagree, it is not known. A right challenge
    is settled wrongly by WITHDRAWN, by RESOLVED unless the label names the place that answers it (a run changes no
    line of its plan), and by DEFERRED if it matches a BLOCKING or SIGNIFICANT defect. A wrong one is settled rightly by
    WITHDRAWN and RESOLVED, and wrongly by DEFERRED, which keeps it. What a person settled is not judged.
    """
    challenges = challenges[challenges["admitted_in"].notna()].reset_index(drop=True)
    known = _with_truth(challenges, plans, labels, challenge_labels)
    moves = history[history["event"].eq("changed").fillna(False)].drop_duplicates(_CHALLENGE, keep="last")
    known = known.drop(columns="uncited").merge(moves[[*_CHALLENGE, "uncited", "by"]], on=_CHALLENGE, how="left")
    known["panel"] = known["classification"].astype("object").where(known["classification"].notna(), "no vote")
    known["is_settled"] = ~known["status"].isin(UNSETTLED)
    known["settled_rightly"] = _settled_rightly(known)
    settled = known[known["is_settled"]].reset_index(drop=True)
    columns = PLAN_RESULT_TABLES["detection.settlements"]
    table = fitted(columns, settled[[column.name for column in columns]], "detection.settlements")
    return Settlements(table, _rates(known), tuple(_notes(settled)))


def _with_truth(
    challenges: pd.DataFrame, plans: pd.DataFrame, labels: pd.DataFrame, challenge_labels: pd.DataFrame
) -> pd.DataFrame:
    """Return the challenges with `truth_from, right, answer, reason, defect_severity`; missing where not known."""
    runs = plans[["run_id", "plan"]]
    said = matching_pairs(challenge_labels.merge(runs, on="plan"), challenges, OWN_WORDS)
    truths = said.groupby(_CHALLENGE, sort=False)["right"]
    disagree = truths.nunique().gt(1)
    said = said.drop_duplicates(_CHALLENGE).set_index(_CHALLENGE)[["right", "answer", "reason"]]
    defects = labels[labels["severity"].notna()].merge(runs, on="plan")
    hits = matching_pairs(defects, challenges)
    worst = hits.sort_values("severity", key=lambda c: c.map({name: at for at, name in enumerate(WEIGHTY)}))
    worst = worst.drop_duplicates(_CHALLENGE).set_index(_CHALLENGE)[["severity", "kind"]]
    table = challenges.join(said, on=_CHALLENGE)
    table = table.join(worst.rename(columns={"severity": "defect_severity", "kind": "defect_kind"}), on=_CHALLENGE)
    sound = table["plan"].isin(labels.loc[labels["kind"] == SOUND, "plan"]) & table["severity"].isin(WEIGHTY)
    labelled, defect = table["right"].notna(), table["defect_severity"].notna()
    clash = np.asarray(pd.MultiIndex.from_frame(table[_CHALLENGE]).isin(disagree.index[disagree]))
    clash |= (defect & table["right"].eq(False).fillna(False)).to_numpy(dtype=bool)
    source = np.select(
        [clash, labelled, defect, sound], ["labels disagree", "challenge label", "defect", "sound plan"], ""
    )
    right = table["right"].astype("boolean").mask(clash)
    right = right.mask(~labelled & defect, True).mask(~labelled & ~defect & sound, False)
    reason = table["reason"].astype("object").mask(clash, "labels that it matches disagree")
    reason = reason.mask(~labelled & defect, "it is the labelled defect " + table["defect_kind"].astype("object"))
    reason = reason.mask(~labelled & ~defect & sound, "nothing so bad is wrong with a sound plan")
    return table.assign(truth_from=pd.Series(source, table.index).replace("", None), right=right, reason=reason)


def _settled_rightly(known: pd.DataFrame) -> pd.Series[bool]:
    """Return whether each settlement was right; missing where the truth is not known, or a person settled."""
    status, right = known["status"].astype("object"), known["right"].fillna(False).astype(bool)
    weighty = known["defect_severity"].isin(WEIGHTY)
    rightly = np.select(
        [status.eq("WITHDRAWN"), status.eq("RESOLVED"), status.eq("DEFERRED")],
        [~right, ~right | known["answer"].notna(), right & ~weighty],
        default=False,
    )
    judged = known["is_settled"] & known["right"].notna() & known["by"].ne("user").fillna(True)
    return pd.Series(rightly.astype(bool), known.index, dtype="boolean").where(judged)


def _rates(known: pd.DataFrame) -> pd.DataFrame:
    """Return shares of wrong settlements by status, and of right challenges that were lost, by panel class."""
    judged = known[known["settled_rightly"].notna()]
    wrong = judged.assign(wrong=~judged["settled_rightly"].astype(bool))
    right = known[known["right"].fillna(False) & known["by"].ne("user").fillna(True)]
    lost = right.assign(wrong=right["settled_rightly"].eq(False).fillna(False).astype(bool))
    groups = {f"wrong {name}": wrong[wrong["status"].eq(name)] for name in SETTLED}
    rows = [
        (measure, panel, *clustered_share(part, "wrong"))
        for measure, rows in {**groups, "right and lost": lost}.items()
        for panel, part in _by_panel(rows)
    ]
    table = pd.DataFrame(rows, columns=["measure", "panel", *Share._fields])
    return fitted(PLAN_RESULT_TABLES["detection.settlement_rates"], table, "detection.settlement_rates")


def _by_panel(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield all rows as `any`, and those of each class that the panel gave."""
    yield PANEL_CLASSES[0], rows
    for panel in PANEL_CLASSES[1:]:
        if len(part := rows[rows["panel"].eq(panel)]):
            yield panel, part


def _notes(settled: pd.DataFrame) -> Iterator[str]:
    if unknown := int(settled["truth_from"].isna().sum()):
        yield f"{unknown:,} of {counted(len(settled), 'settled challenge')} match no label: whether right is not known"
    if clash := int(settled["truth_from"].eq("labels disagree").sum()):
        yield f"{counted(clash, 'settled challenge')} {is_or_are(clash)} right by one label and wrong by another"
    if people := int(settled["by"].eq("user").sum()):
        yield f"{counted(people, 'challenge')} {is_or_are(people)} settled by a person, which is not judged"
