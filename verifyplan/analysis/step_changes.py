"""What a step of a run changed, and by which rule, in words (rules F2, A2, A3, A5, B6)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted

COLUMNS = ["item", "change", "why", "by"]
Change = tuple[str, str, str, str]
Row = Mapping[Any, Any]


def _table(rows: Iterable[Change]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=COLUMNS, dtype="object")


def cross_changes(given: pd.DataFrame, carried: pd.Series | None, phase: str, number: int) -> pd.DataFrame:
    """The classes that a step of a cross run gave, then the findings that it carried on, each with its rule."""
    by = {"found": "grouping", "round": f"votes of round {number}"}.get(phase, "no round is left")
    told = (given[name].astype("object") for name in ("finding_id", "classification", "rule", "censored"))
    rows = [
        (str(name), f"waiting → {new}", _rule(rule, bool(censored)), by)
        for name, new, rule, censored in zip(*told, strict=True)
    ]
    if carried is not None:
        rows += [(str(name), "waiting, carried on", _rule(rule), by) for name, rule in carried.items()]
    return _table(rows)


def _rule(rule: Any, censored: bool = False) -> str:
    told = f"{_text(rule)}: {RULE_MEANINGS[rule]}" if rule in RULE_MEANINGS else _text(rule)
    return f"{told}; censored: the votes that would decide were never cast" if censored else told


def turn_changes(one: RunSet, turn: int) -> pd.DataFrame:
    """The messages of a debate's turn."""
    said = one.messages[one.messages["turn"].eq(turn).fillna(False).to_numpy(dtype=bool)]
    return _table(
        (f"message {row['position']}", _text(row["type"]), _text(row["content"]), _text(row["role"]))
        for row in said.to_dict("records")
    )


def plan_changes(one: RunSet, history: pd.DataFrame, iteration: int, phase: str) -> pd.DataFrame:
    """What happened to challenges in a phase, and what was listed, answered, surfaced, probed or ruled in it."""
    known = one.challenges.set_index("challenge_id")
    rows = [_event(row, known) for row in history.to_dict("records")]
    if phase == "challenges":
        rows += _listed(one.unknowns, iteration)
    if phase == "research":
        rows = [
            *_answered(one.unknowns, iteration),
            *_surfaced(one.contexts, iteration),
            *_probed(one.risks, iteration),
            *rows,
        ]
    if phase == "ruling":
        rows += _ruled(one, iteration)
    return _table(rows)


def _text(value: Any) -> str:
    return "" if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)) else str(value)


def _event(row: Row, known: pd.DataFrame) -> Change:
    name, kind, reason = str(row["challenge_id"]), row["event"], _text(row["reason"])
    old, new, uncited = _text(row["old"]), _text(row["new"]), row["uncited"] is True
    unsure = " (cites no place)" if uncited else ""
    told = {
        "raised": (f"raised{_severity(name, known)}", f"{_raised(name, known)}{unsure}"),
        "admitted": ("taken into the pool as OPEN", "it fits under the caps"),
        "overflowed": ("put into overflow", reason),
        "promoted": ("overflow → OPEN", "promoted from overflow"),
        "classified": (f"the panel's class: {_text(row['classification'])}", _rule(row["reason"])),
        "changed": (f"{old} → {new}", f"{_text(row['resolution'])}{unsure}"),
        "refused": (_refused(old, new), reason),
        "restated": ("said again", reason),
    }
    change, why = told[kind]
    return name, change, why, _text(row["by"])


def _refused(old: str, new: str) -> str:
    if not new:
        return "refused: promotion from overflow"
    return f"refused: {old} → {new}" if old else f"refused: {new}"


def _severity(name: str, known: pd.DataFrame) -> str:
    return f" as {_text(known.at[name, 'severity'])}" if name in known.index else ""


def _raised(name: str, known: pd.DataFrame) -> str:
    if name not in known.index:
        return ""
    row = known.loc[name]
    source = _text(row["raised_by"])
    return f"{_text(row['concern'])}{f' (raised by {source})' if source else ''}"


def _at(table: pd.DataFrame, column: str, iteration: int) -> list[dict[Any, Any]]:
    return table[table[column].eq(iteration).fillna(False).to_numpy(dtype=bool)].to_dict("records")


def _listed(unknowns: pd.DataFrame, iteration: int) -> list[Change]:
    return [
        (row["unknown_id"], "listed as unknown", _text(row["description"]), "challenger")
        for row in _at(unknowns, "iteration", iteration)
    ]


def _answered(unknowns: pd.DataFrame, iteration: int) -> list[Change]:
    return [
        (
            row["unknown_id"],
            f"answered: {_text(row['resolution'])}",
            _text(row["finding"]) or "nothing was found",
            "resolver",
        )
        for row in _at(unknowns, "answered_in", iteration)
    ]


def _surfaced(contexts: pd.DataFrame, iteration: int) -> list[Change]:
    return [
        (
            row["context_id"],
            f"surfaced: {_text(row['impact'])}{_raises(row)}",
            f"{_text(row['relevance'])} ({_text(row['location'])})",
            "surface",
        )
        for row in _at(contexts, "iteration", iteration)
    ]


def _probed(risks: pd.DataFrame, iteration: int) -> list[Change]:
    return [
        (
            row["risk_id"],
            f"probed: {_text(row['severity'])}, {_text(row['probability'])}{_raises(row)}",
            f"{_text(row['risk'])}, if {_text(row['trigger'])}; then {_text(row['cascade'])}",
            "probe",
        )
        for row in _at(risks, "iteration", iteration)
    ]


def _raises(row: Row) -> str:
    name = _text(row["generates_challenge"])
    return f"; raises {name}" if name else ""


def _ruled(one: RunSet, iteration: int) -> list[Change]:
    """The ruling by counts, and the synthesizer's own word where it was another; scores decide nothing."""
    policy = _text(one.runs["policy"].iloc[0]) or "unknown"
    rows: list[Change] = []
    for row in _at(one.iterations, "iteration", iteration):
        verdict = _text(row["plan_verdict"])
        strong = " (strong)" if row["strong"] is True else ""
        left = f"{_text(row['blocking_open'])} BLOCKING and {_text(row['significant_open'])} SIGNIFICANT are unsettled"
        change = f"{_text(row['plan_status'])}{f': {verdict}{strong}' if verdict else ', no verdict yet'}"
        rows.append((f"iteration {iteration}", change, f"{left} (policy {policy})", "counts"))
        if row["differs"] is True and _text(row["stated_status"]):
            stated = f"{_text(row['stated_status'])}: {_text(row['stated_verdict']) or 'no verdict'}"
            rows.append((f"iteration {iteration}", f"stated: {stated}", "its word decides nothing", "synthesizer"))
        if row["degraded"] is True:
            made = f"it made {counted(int(row['n_new']), 'challenge')} and settled {_text(row['n_settled'])}"
            rows.append((f"iteration {iteration}", "degraded: the caps are tightened", made, "rule"))
        if pd.notna(row["quality_score"]):
            score = f"quality score {row['quality_score']} of 10"
            rows.append((f"iteration {iteration}", score, "it informs and decides nothing", "synthesizer"))
    return rows
