"""The chosen findings of a mode comparison: the votes of each, and why it has its class, under both settings."""

from __future__ import annotations

from typing import Any

import pandas as pd

from verifyplan.analysis.compare import Comparer
from verifyplan.analysis.explain import explain
from verifyplan.analysis.replay import Setting
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted
from verifyplan.widgets.comparison.view import INK, text

MOST = 6
"""Findings that are told at once: so many can be read side by side."""
MOST_LINES, MOST_LETTERS = 200, 1_000
"""Lines of one explanation, and letters of one line, that are shown."""
_KEPT = 256

_SIDES = "display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 28em), 1fr)); gap: 0 1.5em"
_WORDS = (
    "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; margin: 0; padding: 4px 0; "
    "color: inherit; background: none; font: 12px/1.5 var(--jp-code-font-family, monospace)"
)
_CARD = f"{INK}; border-top: 1px solid var(--jp-border-color1, #c4cad0); padding: 6px 0"


class Details:
    """Explanations of single findings; those told lately, and the runs they stand in, are kept."""

    def __init__(self, comparer: Comparer) -> None:
        self._comparer = comparer
        self._told: dict[tuple[int, Setting, str, int, str], str] = {}
        self._runs: dict[tuple[int, str], RunSet] = {}

    def html(self, chosen: pd.DataFrame, settings: tuple[Setting, Setting], labels: tuple[str, str]) -> str:
        """The first six of the chosen findings, each with its words under both settings; how to choose, if none is."""
        if chosen.empty:
            return f'<p style="{INK}">Choose findings in the list to see their votes and why their classes differ.</p>'
        cards = [self._card(row, settings, labels) for row in chosen.head(MOST).to_dict("records")]
        more = f"; the first {MOST} are shown" if len(chosen) > MOST else ""
        return f'<p style="{INK}"><b>{counted(len(chosen), "finding")} chosen{more}</b></p>{"".join(cards)}'

    def _card(self, row: dict[Any, Any], settings: tuple[Setting, Setting], labels: tuple[str, str]) -> str:
        sides = [
            f"<div><b>Under {text(label)}: {row[f'classification_{name}']}</b>"
            f'<pre style="{_WORDS}">{self._words(side, setting, row)}</pre></div>'
            for side, (name, setting, label) in enumerate(zip("ab", settings, labels, strict=True))
        ]
        name = text(row["key"])
        return f'<article style="{_CARD}" aria-label="{name}"><div style="{_SIDES}">{"".join(sides)}</div></article>'

    def _words(self, side: int, setting: Setting, row: dict[Any, Any]) -> str:
        own = side if self._comparer.paired else 0
        key = (own, setting, row["run_id"], row["iteration"], row["finding_id"])
        if key not in self._told:
            if len(self._told) >= _KEPT:
                self._told.clear()
            runs = self._run(own, row["run_id"], row["finding_id"])
            self._told[key] = _cut(_explained(runs, setting, row))
        return self._told[key]

    def _run(self, side: int, run_id: str, finding_id: str) -> RunSet:
        """The one run in which a finding of a row stands; in a second set, runs may have other ids."""
        runs = self._comparer.sets[side]
        if side and not runs.runs["run_id"].eq(run_id).any():
            run_id = str(runs.findings.loc[runs.findings["finding_id"].eq(finding_id), "run_id"].iloc[0])
        if (side, run_id) not in self._runs:
            if len(self._runs) >= _KEPT:
                self._runs.clear()
            self._runs[side, run_id] = runs.select([run_id])
        return self._runs[side, run_id]


def _explained(runs: RunSet, setting: Setting, row: dict[Any, Any]) -> str:
    told = explain(
        runs,
        row["finding_id"],
        mode=setting.mode,
        max_rounds=setting.max_rounds,
        missing_basis=setting.missing_basis,
        iteration=row["iteration"] or None,
    )
    return told.text


def _cut(words: str) -> str:
    """The words as HTML, with what is left out of long lines and of many lines told."""
    lines = words.split("\n")
    shown = [
        line if len(line) <= MOST_LETTERS else f"{line[:MOST_LETTERS]}… ({len(line):,} characters)"
        for line in lines[:MOST_LINES]
    ]
    if len(lines) > MOST_LINES:
        shown.append(f"… and {counted(len(lines) - MOST_LINES, 'line')} more: see verifyplan.explain")
    return text("\n".join(shown))
