"""Two settings of rules as HTML: differences, classes, metrics with bounds, charts; every text is escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pandas as pd

from verifyplan.charts.figure import Figure
from verifyplan.charts.theme import CLASS_COLORS
from verifyplan.charts.transitions import transitions
from verifyplan.charts.truth_metrics import METRICS, truth_metrics
from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import CLASSIFICATIONS
from verifyplan.text import counted
from verifyplan.widgets.comparison.view import NO_TRUTH
from verifyplan.widgets.html import DASH, Html, paragraph, table, text, whole_parts
from verifyplan.widgets.rule_studio.form import OF_THE_RUN, SIDES, Side, label
from verifyplan.widgets.rule_studio.model import StudioResult


def not_valid(errors: Mapping[Side, SettingsError]) -> str:
    """Return the errors of settings, and that the last valid result is shown."""
    problems = (f"{side}, {problem}" for side, error in errors.items() for problem in error.problems)
    words = text("; ".join(problems), 2000)
    kept = "<b>The last valid rules are shown, since these are not valid:</b>"
    return f'<div role="alert" class="vp-box vp-alert">{kept} {words}</div>'


def differences(result: StudioResult) -> str:
    """Return how the right setting differs from the left, in words."""
    left, right = (result.rules[side].model_dump(mode="json") for side in SIDES)
    changes = [
        f"{label(name)}: {_words(name, left[name])} \u2192 {_words(name, right[name])}"
        for name in left
        if left[name] != right[name]
    ]
    if not changes:
        return paragraph("Both settings are the same.")
    return paragraph(f"From left to right: {'; '.join(changes)}.")


def _words(field: str, value: object) -> str:
    """Return the value of a field as the form shows it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {part}" for name, part in value.items())
    if value is None:
        return {"workers": "all", "weights": "equal"}.get(field, OF_THE_RUN)
    return ", ".join(value) if isinstance(value, list) else str(value)


def classes(result: StudioResult) -> str:
    """Return the number and share of findings in each class under both settings."""
    rows = []
    for place, name in enumerate(CLASSIFICATIONS):
        cells: list[object] = [name]
        for side in SIDES:
            n = int((result.outcomes[side].classes == place).sum())
            bar = _bar(result.metrics[name][result.names[side]], CLASS_COLORS[name])
            cells += [f"{n:,}", _cell(result, side, name, bar)]
        rows.append([*cells, _difference(result.metrics[name])])
    heads = ["Class", *(head for side in SIDES for head in ("n", result.names[side])), "Difference, points"]
    caption = f"Classes of {counted(result.comparison.n_findings, 'finding')}, with 95 % intervals"
    return table(caption, heads, rows, numbers=frozenset({1, 3}))


def _bar(share: float, color: str) -> str:
    width = 0 if pd.isna(share) else 100 * share
    return f'<span class="vp-bar"><span style="width: {width:.1f}%; background: {color}"></span></span>'


def metrics(result: StudioResult) -> str:
    """Return the held share and, where truth is known, the quality under both settings, with intervals and bounds."""
    titles = {"held": "Held", **METRICS}
    rows = []
    for name in (name for name in titles if name in result.metrics):
        cells: list[object] = [titles[name]]
        for side in SIDES:
            cells += [_cell(result, side, name), f"{result.metrics[name][f'{result.names[side]}_n']:,}"]
        rows.append([*cells, _difference(result.metrics[name])])
    heads = ["Metric", *(head for side in SIDES for head in (result.names[side], "n")), "Difference, points"]
    shown = table(
        "Metrics with 95 % intervals; ↑ more is better, ↓ less is better", heads, rows, numbers=frozenset({2, 4})
    )
    return shown + ("" if result.comparison.truth is not None else paragraph(NO_TRUTH))


def _cell(result: StudioResult, side: Side, metric: str, bar: str = "") -> Html:
    """Return a share with its interval and, below it, the bounds that uncast votes leave."""
    row, name = result.metrics[metric], result.names[side]
    value: str = DASH
    if pd.notna(row[name]):
        value = _parts(f"{_percent(row[name])} %", row[f"{name}_low"], row[f"{name}_high"], _percent)
    within = ""
    if side in result.bounds and (ends := result.bounds[side][metric])["n_censored"]:
        words = f"bounds {_percent(ends['low_bound'])} to {_percent(ends['high_bound'])} %"
        within = f'<span class="vp-bounds">{_parts(words, ends["low"], ends["high"], _percent)}</span>'
    return Html(f"{bar}{value}{within}")


def _parts(words: str, low: float, high: float, number: Callable[[float], str]) -> Html:
    """Return a figure and its interval."""
    return whole_parts(words, f"[{number(low)}, {number(high)}]")


def _percent(value: float) -> str:
    return DASH if pd.isna(value) else f"{100 * value:.1f}"


def _points(value: float) -> str:
    return f"{100 * value:+.1f}"


def _difference(row: Mapping[str, float]) -> str:
    value, low, high = (row[f"difference{end}"] for end in ("", "_low", "_high"))
    return DASH if pd.isna(value) else _parts(_points(value), low, high, _points)


def notes(result: StudioResult, n_left_out: int) -> str:
    """Return notes on findings that are censored or left out."""
    counts = {result.names[side]: int(result.outcomes[side].censored.sum()) for side in SIDES}
    lines = [
        f"Under {name}, the class of {counted(n, 'finding')} depends on votes that were never cast. The class shown is "
        "that of the votes cast; bounds give what uncast votes could change, with an interval around both ends."
        for name, n in counts.items()
        if n
    ]
    if n_left_out:
        lines.append(f"{counted(n_left_out, 'finding')} with neither votes nor a recorded class: left out.")
    return "".join(paragraph(line) for line in lines)


def figures(result: StudioResult) -> dict[str, Figure]:
    """Return the charts of a result by the names of their files."""
    drawn = {"transitions": transitions(result.comparison)}
    if result.comparison.truth is not None:
        drawn["truth-metrics"] = truth_metrics(result.comparison)
    return drawn
