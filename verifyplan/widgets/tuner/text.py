"""The texts of the weight tuner beside its sliders and charts; every text of a user is escaped."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from decimal import Decimal
from html import escape
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.analysis.weights.fitting import WeightFit
from verifyplan.charts.labels import percent, short
from verifyplan.protocol.records import DIMENSIONS
from verifyplan.protocol.weights_file import RangedWeights, Ranges, text_of
from verifyplan.rules.scoring import INFORMS
from verifyplan.text import counted

MAX_NAMED_PLANS = 20
"""Plans without a rank that are named; the others are counted."""

FRESH = "Up to date with the weights."
STALE = "<b>Out of date:</b> the weights have changed since. This follows when the sliders rest, or at the button."


def paragraph(text: str) -> str:
    """A paragraph of escaped text."""
    return f"<p>{text}</p>"


def about(plans: int, ranked: int, synthetic: bool) -> str:
    """Return the number of plans, and what a score is for."""
    counts = (
        f"{counted(plans, 'plan')}, of which {ranked:,} with all scores." if plans else "There are no plans to score."
    )
    made = " Synthetic data: scores were generated, not observed." if synthetic else ""
    return f"{counts}{made} {INFORMS}"


def begins(presets: Mapping[str, Mapping[str, Decimal]]) -> str:
    """Return the first weights of the sliders, and where to find the fitted ones."""
    names = {"fitted": "the fitted weights", "default": "the default weights", "equal": "equal weights"}
    kind = next((words for name, words in names.items() if presets.get(name) == presets["start"]), "the weights given")
    offered = "fitted" in presets and presets["fitted"] != presets["start"]
    return f"Starts at {kind}.{' A button above sets the fitted ones.' if offered else ''}"


def held_html(notes: Mapping[str, str]) -> str:
    """The sum of the weights, and which sliders cannot move and why."""
    stuck = [f"{escape(label[:1].upper() + label[1:])} {escape(why)}." for label, why in notes.items()]
    return paragraph(" ".join(["The weights sum to exactly 1: when one is moved, the others change.", *stuck]))


def weight_text(weight: Decimal) -> str:
    """A weight as it is read beside its slider.

    >>> weight_text(Decimal("0.4000")), weight_text(Decimal("0.1667")), weight_text(Decimal("0.123456"))
    ('0.40', '0.1667', 'about 0.1235')
    """
    text = f"{weight:.4f}"
    short_text = text[:-2] if text.endswith("00") else text
    return short_text if Decimal(text) == weight else f"about {text}"


def slider_text(weight: Decimal, held: str) -> str:
    """Return the text beside a slider: its weight, and whether it cannot move; `held_html` says why."""
    return f"{weight_text(weight)}, {held.partition(':')[0]}" if held else weight_text(weight)


def saved(path: Path, weights: Mapping[str, Decimal], labels: Mapping[str, str]) -> str:
    """Return what was saved, where, and which command takes it if it has the dimensions of plan runs."""
    use = f" <code>verifyplan verify PLAN.md --weights {escape(shlex.quote(str(path)))}</code> takes this file."
    where = escape(str(path.absolute()))
    return f"Saved in {where}: {in_digits(weights, labels)}.{use if set(weights) == set(DIMENSIONS) else ''}"


def loaded(path: str, weights: Mapping[str, Decimal], labels: Mapping[str, str]) -> str:
    """Return what was read, and from where; and whether the weights are of rescaled dimensions."""
    note = RESCALED if isinstance(weights, RangedWeights) and differ(weights.ranges) else ""
    return f"Loaded from {escape(str(Path(path).absolute()))}: {in_digits(weights, labels)}.{note}"


UNEXPLAINED = (
    " <b>Do not use these weights:</b> cross-validated R² is {:.3f} ({:.3f} to {:.3f}), so the fit may explain"
    " nothing of unseen scores."
)
FALLING = (
    " <b>The overall score falls as this weighted sum rises:</b> plans that rank first here have the lowest overall"
    " scores. Where a high overall score is a good one, this ranking is upside down."
)
RESCALED = " They were fitted to dimensions rescaled to 0 to 1 each; here they weigh the scores as given."


def fit_note(fit: WeightFit) -> str:
    """Return warnings about a fit: it may explain nothing, have a negative scale, or rescaled dimensions.

    Blank if none applies.
    """
    notes = [
        "" if fit.explains else UNEXPLAINED.format(fit.r2_cv, *fit.r2_cv_spread),
        FALLING if fit.scale < 0 else "",
        RESCALED if differ(fit.ranges) else "",
    ]
    return "".join(notes)


def differ(ranges: Ranges) -> bool:
    """Return whether dimensions of these ranges weigh otherwise where they are not rescaled."""
    return len({high - low for low, high in ranges.values()}) > 1


def in_digits(weights: Mapping[str, Decimal], labels: Mapping[str, str]) -> str:
    """The weights in one line."""
    return ", ".join(f"{escape(labels[name])} {text_of(weight)}" for name, weight in weights.items())


def unranked(ranking: pd.DataFrame) -> str:
    """Return which plans have no rank, and which scores they lack; blank if all have a rank."""
    without = ranking[ranking["rank"].isna()]
    if without.empty:
        return ""
    items = [
        f"<li>{escape(short(plan, 80))}: no {escape(short(lacks.replace('_', ' '), 200))}</li>"
        for plan, lacks in zip(without["plan"].head(MAX_NAMED_PLANS), without["missing"], strict=False)
    ]
    more = len(without) - len(items)
    items += [f"<li>and {more:,} more: <code>.ranking</code> has all</li>"] if more else []
    says = f"Without a rank, since a score is missing: {counted(len(without), 'plan')}."
    return f"{paragraph(says)}<ul>{''.join(items)}</ul>"


def stability(table: pd.DataFrame) -> str:
    """Return how stable a ranking is, in numbers and words, from what `weights.stability_measures` returns."""
    by = {row["measure"]: row for row in _rows(table)}
    pairs, draws = by["pairs-kept"], table.attrs.get("draws", 0)
    if pairs["value"] != pairs["value"]:
        return paragraph(_nothing_to_compare(by))
    how = f"weights drawn {draws:,} times around these (Dirichlet, concentration {table.attrs['concentration']:g})"
    first, ranks, tau = by["same-first"], by["ranks-kept"], by["kendall-tau-b"]
    lines = [
        f"{counted(pairs['n'], 'pair')} of plans with an order: {_share(pairs)} keep it.",
        f"{counted(ranks['n'], 'plan')}: {_share(ranks)} keep their rank.",
        f"{counted(first['n'], 'draw')}: in {percent(first['value'])} the first place stays as it is"
        f" (95 % interval {percent(first['low'])} to {percent(first['high'])}).",
        f"Rank correlation (Kendall's tau-b) with the ranking shown: {tau['value']:.2f} ({tau['low']:.2f} to"
        f" {tau['high']:.2f}).",
    ]
    if "above-kept" in by:
        limit = table.attrs["threshold"]
        lines.append(f"{_share(by['above-kept'])} of plans stay on their side of the threshold, {limit:g}.")
    items = "".join(f"<li>{line}</li>" for line in lines)
    kept = f"{percent(pairs['value'])} of pairs keep their order, {percent(ranks['value'])} of plans their rank."
    says = f"<b>{kept}</b> With {how}; in brackets the middle 95 % of draws:"
    return f"{paragraph(says)}<ul>{items}</ul>"


def _rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def _share(row: Mapping[str, float]) -> str:
    return f"{percent(row['value'])} ({percent(row['low'])} to {percent(row['high'])})"


def _nothing_to_compare(by: Mapping[str, Mapping[str, float]]) -> str:
    plans = int(by["ranks-kept"]["n"])
    if plans == 0:
        return "No plan has a rank, so there is no ranking to be stable."
    if plans == 1:
        return "One plan has a rank (n = 1): it is first under any weights."
    return f"All {plans:,} plans have the same score under these weights: no pair has an order to keep."
