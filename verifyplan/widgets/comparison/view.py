"""What a mode comparison shows of a whole comparison, as HTML: headline, charts, metrics, notes."""

from __future__ import annotations

from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.comparison import Comparison
from verifyplan.charts.figure import Figure
from verifyplan.charts.labels import plain
from verifyplan.charts.transitions import transitions
from verifyplan.charts.truth_metrics import truth_metrics
from verifyplan.text import counted

INK = "color: var(--jp-content-font-color1, inherit); line-height: 1.45; margin: 2px 0"
"""In the theme's colour, and with lines as close as those of a text; a widget's are as high as a button."""
CELL = "padding: 1px 10px; text-align: left; vertical-align: top"
LINE = "border-bottom: 1px solid var(--jp-border-color1, #c4cad0)"
NO_TRUTH = (
    "No finding's truth is known, so precision, recall and false consensus cannot be told; "
    "runs.with_truth({finding id: True or False}) adds it."
)


def text(value: object) -> str:
    """A text of somebody else's as HTML: markup shown as text, control characters replaced."""
    return escape(plain(value))


def headline(comparison: Comparison) -> str:
    """What is compared, of how many findings, and how many change class."""
    n, changed = comparison.n_findings, int(comparison.findings["changed"].sum())
    made = " (synthetic)" if comparison.synthetic else ""
    told = "nothing to compare" if not n else "nothing changes class" if not changed else _changed(comparison, changed)
    over = f"{counted(n, 'finding')}{made} of {counted(comparison.n_runs, 'run')}"
    return (
        f'<p role="status" style="{INK}"><b>{text(comparison.a)}</b> against <b>{text(comparison.b)}</b>: '
        f"{over}; {told}.</p>"
    )


def _changed(comparison: Comparison, n: int) -> str:
    return f"{counted(n, 'finding')} change{'s' if n == 1 else ''} class: {comparison.in_words('changed')}"


def computing(findings: int) -> str:
    """What stands in the place of the headline while a comparison is worked out."""
    return f'<p role="status" style="{INK}">Computing: reading {counted(findings, "finding")} anew …</p>'


def moves(comparison: Comparison) -> str:
    """The chart of transitions."""
    return _drawn(transitions(comparison))


def truths(comparison: Comparison) -> str:
    """The chart of truth metrics; words where no truth is known."""
    if comparison.truth is None:
        return f'<p style="{INK}">{escape(NO_TRUTH)}</p>'
    return _drawn(truth_metrics(comparison))


def _drawn(figure: Figure) -> str:
    return f'<div style="{INK}">{figure._repr_html_()}</div>'


def metrics(comparison: Comparison) -> str:
    """Every metric under both settings and their difference, each with its 95 % interval and n; then the tests."""
    heads = ("Metric", f"a: {comparison.a}", "n", f"b: {comparison.b}", "n", "b less a")
    head = "".join(f'<th scope="col" style="{CELL}; {LINE}">{text(one)}</th>' for one in heads)
    rows = [_row(row) for _, row in comparison.summary.iterrows()]
    caption = '<caption style="text-align: left">Every metric, with its 95 % interval</caption>'
    table = f'<table style="border-collapse: collapse">{caption}<tr>{head}</tr>{"".join(rows)}</table>'
    region = 'tabindex="0" role="region" aria-label="Metrics"'
    return f'<div style="{INK}; overflow-x: auto" {region}>{table}{_tests(comparison)}</div>'


def _row(row: pd.Series[Any]) -> str:
    cells = [
        _share(row["a"], row["a_low"], row["a_high"]),
        f"{row['n_a']:,}",
        _share(row["b"], row["b_low"], row["b_high"]),
        f"{row['n_b']:,}",
        _share(row["difference"], row["low"], row["high"], sign="" if row["metric"] == "changed" else "+"),
    ]
    look = f"{CELL}; white-space: nowrap; font-variant-numeric: tabular-nums"
    tds = "".join(f'<td style="{look}">{cell}</td>' for cell in cells)
    return f'<tr><th scope="row" style="{CELL}; font-weight: normal">{text(row["metric"])}</th>{tds}</tr>'


def _share(value: float, low: float, high: float, sign: str = "") -> str:
    """A share in per cent with its interval; a dash where it is not defined."""
    if pd.isna(value):
        return "\N{EN DASH}"
    between = "" if pd.isna(low) else f" [{100 * low:{sign}.1f}, {100 * high:{sign}.1f}]"
    return f"{100 * value:{sign}.1f} %{between}"


def _tests(comparison: Comparison) -> str:
    told = [
        f"{text(row['test'])}: p {_p(row['p_value'])} (n = {int(row['n']):,})"
        for row in comparison.tests.to_dict("records")
        if not pd.isna(row["p_value"])
    ]
    return f"<p>Tests of no change: {'; '.join(told)}.</p>" if told else ""


def _p(value: float) -> str:
    return "&lt; 0.001" if value < 0.001 else f"= {value:.3f}"


def notes(comparison: Comparison) -> str:
    """What a reader must know: censored findings, filled bases, and how far the intervals go."""
    lines = "".join(f"<li>{text(note)}</li>" for note in comparison.notes)
    return f'<div style="{INK}"><b>Notes</b><ul style="margin: 0">{lines}</ul></div>' if lines else ""
