"""Say in words what a step of a run changed, and by which rule (rules F2, A2, A3, A5, B6)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
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


def _text(value: Any) -> str:
    return "" if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)) else str(value)


def _rule(rule: Any, censored: bool = False) -> str:
    words = f"{_text(rule)}: {RULE_MEANINGS[rule]}" if rule in RULE_MEANINGS else _text(rule)
    return f"{words}; censored: the votes that would decide were never cast" if censored else words


def _at(table: pd.DataFrame, column: str, number: int) -> list[dict[Any, Any]]:
    return table[table[column].eq(number).fillna(False).to_numpy(dtype=bool)].to_dict("records")


def cross_changes(judged: pd.DataFrame, carried: pd.Series | None, phase: str, number: int) -> pd.DataFrame:
    """Return the classes that a step of a cross run gave, then the findings that it carried on, each with its rule."""
    by = {"found": "grouping", "round": f"votes of round {number}"}.get(phase, "no round is left")
    columns = (judged[name].astype("object") for name in ("finding_id", "classification", "rule", "censored"))
    rows = [
        (str(name), f"waiting → {new}", _rule(rule, bool(censored)), by)
        for name, new, rule, censored in zip(*columns, strict=True)
    ]
    if carried is not None:
        rows += [(str(name), "waiting, carried on", _rule(rule), by) for name, rule in carried.items()]
    return _table(rows)


def turn_changes(run: RunSet, turn: int) -> pd.DataFrame:
    """Return the messages of a debate's turn."""
    return _table(
        (f"message {row['position']}", _text(row["type"]), _text(row["content"]), _text(row["role"]))
        for row in _at(run.messages, "turn", turn)
    )


def plan_changes(run: RunSet, history: pd.DataFrame, iteration: int, phase: str) -> pd.DataFrame:
    """Return what happened to challenges in a phase, and what was listed, answered, surfaced, probed or ruled in it."""
    known = run.challenges.set_index("challenge_id")
    rows = [_event(row, known) for row in history.to_dict("records")]
    if phase == "challenges":
        rows += [
            (row["unknown_id"], "listed as unknown", _text(row["description"]), "challenger")
            for row in _at(run.unknowns, "iteration", iteration)
        ]
    if phase == "research":
        rows = [*_researched(run, iteration), *rows]
    if phase == "ruling":
        rows += _ruled(run, iteration)
    return _table(rows)


def _event(row: Row, known: pd.DataFrame) -> Change:
    name, kind, reason = str(row["challenge_id"]), row["event"], _text(row["reason"])
    old, new = _text(row["old"]), _text(row["new"])
    unsure = " (cites no place)" if row["uncited"] is True else ""
    severity, concern = "", ""
    if name in known.index:
        challenge = known.loc[name]
        source = _text(challenge["raised_by"])
        severity = f" as {_text(challenge['severity'])}"
        concern = f"{_text(challenge['concern'])}{f' (raised by {source})' if source else ''}"
    refused = (f"{old} → {new}" if old else new) if new else "promotion from overflow"
    changes = {
        "raised": (f"raised{severity}", f"{concern}{unsure}"),
        "admitted": ("taken into the pool as OPEN", "it fits under the caps"),
        "overflowed": ("put into overflow", reason),
        "promoted": ("overflow → OPEN", "promoted from overflow"),
        "classified": (f"the panel's class: {_text(row['classification'])}", _rule(row["reason"])),
        "changed": (f"{old} → {new}", f"{_text(row['resolution'])}{unsure}"),
        "refused": (f"refused: {refused}", reason),
        "restated": ("said again", reason),
    }
    return name, *changes[kind], _text(row["by"])


def _researched(run: RunSet, iteration: int) -> Iterator[Change]:
    """Yield what was answered, surfaced and probed in an iteration."""
    for row in _at(run.unknowns, "answered_in", iteration):
        why = _text(row["finding"]) or "nothing was found"
        yield row["unknown_id"], f"answered: {_text(row['resolution'])}", why, "resolver"
    for row in _at(run.contexts, "iteration", iteration):
        why = f"{_text(row['relevance'])} ({_text(row['location'])})"
        yield row["context_id"], f"surfaced: {_text(row['impact'])}{_raises(row)}", why, "surface"
    for row in _at(run.risks, "iteration", iteration):
        change = f"probed: {_text(row['severity'])}, {_text(row['probability'])}{_raises(row)}"
        why = f"{_text(row['risk'])}, if {_text(row['trigger'])}; then {_text(row['cascade'])}"
        yield row["risk_id"], change, why, "probe"


def _raises(row: Row) -> str:
    name = _text(row["generates_challenge"])
    return f"; raises {name}" if name else ""


def _ruled(run: RunSet, iteration: int) -> Iterator[Change]:
    """Yield the ruling by counts, and the synthesizer's own word where it was another; scores decide nothing."""
    policy = _text(run.runs["policy"].iloc[0]) or "unknown"
    item = f"iteration {iteration}"
    for row in _at(run.iterations, "iteration", iteration):
        verdict = _text(row["plan_verdict"])
        strong = " (strong)" if row["strong"] is True else ""
        left = f"{_text(row['blocking_open'])} BLOCKING and {_text(row['significant_open'])} SIGNIFICANT are unsettled"
        change = f"{_text(row['plan_status'])}{f': {verdict}{strong}' if verdict else ', no verdict yet'}"
        yield item, change, f"{left} (policy {policy})", "counts"
        if row["differs"] is True and _text(row["stated_status"]):
            stated = f"{_text(row['stated_status'])}: {_text(row['stated_verdict']) or 'no verdict'}"
            yield item, f"stated: {stated}", "not used: the counts decide", "synthesizer"
        if row["degraded"] is True:
            made = f"it made {counted(int(row['n_new']), 'challenge')} and settled {_text(row['n_settled'])}"
            yield item, "degraded: the caps are tightened", made, "rule"
        if pd.notna(row["quality_score"]):
            score = f"quality score {row['quality_score']} of 10"
            yield item, score, "not used for the verdict", "synthesizer"
