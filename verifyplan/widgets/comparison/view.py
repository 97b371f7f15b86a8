"""A comparison as HTML: headline, charts, metrics, notes, and explanations of the chosen findings."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.analysis.conditions import ReplayedSet
from verifyplan.analysis.explain import explain
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.result_words import share_words
from verifyplan.charts.labels import plain
from verifyplan.charts.transitions import transitions
from verifyplan.charts.truth_metrics import truth_metrics
from verifyplan.frames.runset import RunSet
from verifyplan.text import counted
from verifyplan.widgets.html import DASH, Html, paragraph, status, table, text, whole_parts

NO_TRUTH = (
    "No finding's truth is known, so precision, recall and false consensus cannot be measured; "
    "runs.with_truth({finding id: True or False}) adds it."
)


def headline(comparison: Comparison) -> Html:
    """Return what is compared, of how many findings, and how many change class."""
    n, changed = comparison.n_findings, int(comparison.findings["changed"].sum())
    made = " (synthetic)" if comparison.synthetic else ""
    if not n:
        words = "nothing to compare"
    elif not changed:
        words = "no finding changes class"
    else:
        verb = "changes" if changed == 1 else "change"
        row = comparison.summary.set_index("metric").loc[["changed"]].iloc[0]
        share = share_words(row["difference"], row["difference_low"], row["difference_high"], n)
        words = f"{counted(changed, 'finding')} {verb} class: {share}"
    over = f"{counted(n, 'finding')}{made} of {counted(comparison.n_runs, 'run')}"
    against = " against ".join(f"<b>{text(name)}</b>" for name in comparison.conditions)
    return status(Html(f"{against}: {over}; {words}."))


def computing(findings: int) -> Html:
    """Return the headline while a comparison is computed."""
    return status(f"Computing: judging {counted(findings, 'finding')} again …")


def transitions_html(comparison: Comparison) -> str:
    """Return the chart of transitions."""
    return transitions(comparison)._repr_html_()


def truth_html(comparison: Comparison) -> str:
    """Return the chart of truth metrics; a sentence where no truth is known."""
    if comparison.truth is None:
        return paragraph(NO_TRUTH)
    return truth_metrics(comparison)._repr_html_()


def metrics(comparison: Comparison) -> str:
    """Return every metric under both conditions with its difference, 95 % intervals and n; then the conclusion."""
    first, second = comparison.conditions
    heads = ("Metric", first, "n", second, "n", "Difference, points")
    rows = [_row(row, comparison.conditions) for _, row in comparison.summary.iterrows()]
    caption = "Every metric, with its 95 % interval"
    return table(caption, heads, rows, numbers=frozenset({2, 4})) + _conclusion(comparison)


def _row(row: pd.Series[Any], conditions: tuple[str, ...]) -> list[str]:
    cells = [
        cell
        for name in conditions
        for cell in (_share(row[name], row[f"{name}_low"], row[f"{name}_high"]), f"{row[f'{name}_n']:,}")
    ]
    difference = (row["difference"], row["difference_low"], row["difference_high"])
    share = row["metric"] == "changed"  # the share of findings that change: not a difference of two shares
    return [row["metric"], *cells, _share(*difference) if share else _share(*difference, sign="+", unit="")]


def _share(value: float, low: float, high: float, sign: str = "", unit: str = " %") -> str:
    """Return a share in per cent or a difference in points, with its interval; a dash where it is not defined."""
    if pd.isna(value):
        return DASH
    between = [] if pd.isna(low) else [f"[{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"]
    return whole_parts(f"{100 * value:{sign}.1f}{unit}", *between)


def _conclusion(comparison: Comparison) -> str:
    """Return the conclusion on the metric that was named beforehand."""
    lines = [f"<p>{text(line, 1000)}.</p>" for line in comparison.conclusions]
    return "".join([*lines, "<p>All other metrics are exploratory.</p>"]) if lines else ""


def notes(comparison: Comparison) -> str:
    """Return the notes: censored findings, inferred bases, and what the intervals cover."""
    lines = "".join(f"<li>{text(note)}</li>" for note in comparison.notes)
    return f"<h5>Notes</h5><ul>{lines}</ul>" if lines else ""


MAX_SHOWN_FINDINGS = 6
"""Findings that are explained at once."""
MAX_LINES, MAX_LINE_CHARACTERS = 200, 1_000
"""Lines of one explanation, and letters of one line, that are shown."""
_MAX_CACHED = 256


class Details:
    """Explanations of single findings, cached with the runs of the findings."""

    def __init__(self, sets: tuple[ReplayedSet, ReplayedSet]) -> None:
        self._sets = sets
        self._explanations: dict[tuple[int, Setting, str, int, str], str] = {}
        self._runs: dict[tuple[int, str], RunSet] = {}

    def html(self, chosen: pd.DataFrame, settings: tuple[Setting, Setting], conditions: tuple[str, ...]) -> str:
        """Return the first six chosen findings, each explained under both settings; without a choice, how to choose."""
        if chosen.empty:
            return paragraph("Choose findings in the list to see their votes and why their classes differ.")
        cards = [self._card(row, settings, conditions) for row in chosen.head(MAX_SHOWN_FINDINGS).to_dict("records")]
        more = f"; the first {MAX_SHOWN_FINDINGS} are shown" if len(chosen) > MAX_SHOWN_FINDINGS else ""
        return f"<h5>{counted(len(chosen), 'finding')} chosen{more}</h5>{''.join(cards)}"

    def _card(self, row: dict[Any, Any], settings: tuple[Setting, Setting], conditions: tuple[str, ...]) -> str:
        sides = [
            f"<div><b>Under {text(name)}: {row[f'classification_{name}']}</b>"
            f"<pre>{self._words(place, setting, row)}</pre></div>"
            for place, (name, setting) in enumerate(zip(conditions, settings, strict=True))
        ]
        return f'<article class="vp-card vp-sides" aria-label="{text(row["key"])}">{"".join(sides)}</article>'

    def _words(self, place: int, setting: Setting, row: dict[Any, Any]) -> str:
        own = place if self._sets[0] is not self._sets[1] else 0
        key = (own, setting, row["run_id"], row["iteration"], row["finding_id"])
        if key not in self._explanations:
            if len(self._explanations) >= _MAX_CACHED:
                self._explanations.clear()
            runs = self._run(own, row["run_id"], row["finding_id"])
            self._explanations[key] = _truncated(_explained(runs, setting, row))
        return self._explanations[key]

    def _run(self, place: int, run_id: str, finding_id: str) -> RunSet:
        """Return the run with the finding of a row; runs of the second set may have other ids."""
        runs = self._sets[place].frames
        if place and not runs.runs["run_id"].eq(run_id).any():
            run_id = str(runs.findings.loc[runs.findings["finding_id"].eq(finding_id), "run_id"].iloc[0])
        if (place, run_id) not in self._runs:
            if len(self._runs) >= _MAX_CACHED:
                self._runs.clear()
            self._runs[place, run_id] = runs.select([run_id])
        return self._runs[place, run_id]


def _explained(runs: RunSet, setting: Setting, row: dict[Any, Any]) -> str:
    explanation = explain(
        runs,
        row["finding_id"],
        mode=setting.mode,
        max_rounds=setting.max_rounds,
        missing_basis=setting.missing_basis,
        iteration=row["iteration"] or None,
    )
    return explanation.text


def _truncated(words: str) -> str:
    """Return the words as HTML; long lines and many lines are cut, with a note of what is left out."""
    lines = words.split("\n")
    shown = [
        line if len(line) <= MAX_LINE_CHARACTERS else f"{line[:MAX_LINE_CHARACTERS]}… ({len(line):,} characters)"
        for line in lines[:MAX_LINES]
    ]
    if len(lines) > MAX_LINES:
        shown.append(f"… and {counted(len(lines) - MAX_LINES, 'line')} more: see verifyplan.explain")
    return escape(plain("\n".join(shown)))
