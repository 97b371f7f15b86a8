"""`WeightTuner`: sliders of weights that sum to 1, the ranking under these weights, and how stable it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as ipw
import pandas as pd

from verifyplan.analysis.weights.fitting import WeightFit
from verifyplan.analysis.weights.simplex import Weights, checked, presets
from verifyplan.charts.score_table import dimension_words, short_words
from verifyplan.errors import InputError, Problem
from verifyplan.frames.load import Runs
from verifyplan.protocol.weights_file import load, save, text_of
from verifyplan.widgets.controls import Slider
from verifyplan.widgets.html import heading, table
from verifyplan.widgets.panel import Panel, group, guarded
from verifyplan.widgets.repaint import Debouncer
from verifyplan.widgets.tuner import text
from verifyplan.widgets.tuner.model import TunedScores, TunedWeights, decimals

STEP = 0.01

BUTTONS = {
    "default": ("Default weights", "The default weights of the six dimensions: 25, 20, 15, 15, 15 and 10 %"),
    "equal": ("Equal weights", "The same weight for every dimension"),
    "fitted": ("Fitted weights", "The fitted weights that were given"),
    "start": ("Reset", "The first weights"),
}
"""Label and tooltip of the button of each preset."""


class WeightTuner(Panel):
    """A slider for the weight of each dimension, the ranking of plans under these weights, and how stable it is.

    The weights always sum to exactly 1: when one is moved, those that are not locked change in proportion. Scores and
    ranking follow each move at once; how stable the ranking is, and which weight matters, follow when the sliders
    rest. The score informs and never decides a verdict (rules A10, F4).

    Args:
        scores: runs, their table `scores`, or a table of one row a plan and one column a dimension.
        weights: the first weights; None for the default ones, or equal ones for other dimensions than the default six.
        fitted: weights offered as a preset: what `weights.fit` returns, or a mapping of dimensions to weights.
        threshold: a score; how many plans stay on their side of it is shown.

    Raises:
        InputError: listing what is wrong with scores, weights or threshold.

    >>> table = pd.DataFrame({"wit": [7, 5], "depth": [4, 6]}, index=["a", "b"])
    >>> tuner = WeightTuner(table)
    >>> tuner.sliders["depth"].value = 0.75
    >>> tuner.weights, list(tuner.ranking["plan"])
    ({'wit': Decimal('0.2500'), 'depth': Decimal('0.7500')}, ['b', 'a'])
    """

    def __init__(
        self,
        scores: Runs | pd.DataFrame,
        weights: Weights | None = None,
        *,
        fitted: WeightFit | Weights | None = None,
        threshold: float | None = None,
    ) -> None:
        super().__init__("Weight tuner")
        self._scores = TunedScores(scores, threshold)
        dimensions = list(self._scores.table.columns)
        self._tuned = TunedWeights(_start(dimensions, weights))
        self._presets = _offered(self._tuned, fitted)
        self._fit_note = text.fit_note(fitted) if isinstance(fitted, WeightFit) else ""
        self._scores.begin(self._tuned.start)
        self._showing = False
        self._make_controls(dimensions)
        self._lay_out()
        self._note.value = text.paragraph(text.begins(self._presets))
        self._show()
        self.refresh()

    def _make_controls(self, dimensions: list[str]) -> None:
        self.labels = labels_of(dimensions)
        self.sliders = {name: _slider(self.labels[name]) for name in dimensions}
        self.locks = {name: _lock(self.labels[name]) for name in dimensions}
        for name in dimensions:
            self.sliders[name].observe(partial(self._slid, name), "value")
            self.locks[name].observe(partial(self._locked, name), "value")
        self.buttons = {name: _button(*labels) for name, labels in BUTTONS.items() if name in self._presets}
        for name, one in self.buttons.items():
            one.on_click(partial(self._preset, name))
        self.updating = _button("Update now", "Compute the stability for these weights without waiting")
        self.updating.on_click(self._refreshed)
        self.path = ipw.Text("weights.json", description="Weights file")
        self.saving = _button("Save weights", "Write the weights as a file")
        self.loading = _button("Load weights", "Read the weights of a file")
        self.saving.on_click(self._save)
        self.loading.on_click(self._load)

    def _lay_out(self) -> None:
        self._held, self._note, self._ranking = (ipw.HTML() for _ in range(3))
        self._state, self._stability, self._ranks, self._matters = (ipw.HTML() for _ in range(4))
        steps = (self._show_stability, self._show_ranks, self._show_matters)
        self._debouncer = Debouncer(steps, changed=self._show_state, failed=self.fail)
        start = self._scores.start
        self.header.show(text.about(len(start), self._scores.n_ranked, bool(start.attrs.get("synthetic"))))
        self.header.act(*self.buttons.values())
        self._unranked = ipw.HTML(text.unranked(start))
        file = group("vp-row", self.path, self.saving, self.loading)
        sliders = group(
            "vp-sliders", *(each for name in self.sliders for each in (self.sliders[name], self.locks[name]))
        )
        weights = [sliders, self._held, file, self._note]
        self.fill(
            group("vp-beside", ipw.VBox(weights), self._ranking),
            self._unranked,
            ipw.HTML(heading(4, "How stable this is, and which weight matters")),
            group("vp-row", self.updating, self._state),
            self._stability,
            group("vp-beside", self._ranks, self._matters),
        )

    @property
    def weights(self) -> dict[str, Decimal]:
        """The weights as decimals that sum to exactly 1; set them to move all sliders, which unlocks them."""
        return dict(self._tuned.weights)

    @weights.setter
    def weights(self, weights: Weights) -> None:
        self._tuned.set(weights)
        self._note.value = ""
        self._changed()

    @property
    def ranking(self) -> pd.DataFrame:
        """The plans by rank: `plan, score, final, rank, was, missing`; `was` is the rank under the first weights."""
        return self._scores.ranked(self._tuned.weights)

    @property
    def stability(self) -> pd.DataFrame:
        """How stable the ranking is under the present weights: `weights.stability_measures`, of 200 draws."""
        return self._scores.stability(self._tuned.weights)

    def refresh(self) -> None:
        """Bring texts and charts of the stability up to date with the weights, without waiting."""
        self._debouncer.now()

    def close(self) -> None:
        """Close the widget and stop its pending updates."""
        if hasattr(self, "_debouncer"):
            self._debouncer.stop()
        super().close()

    def static(self) -> str:
        """Return the weights, the ranking and its stability as HTML without scripts."""
        rows = [(self.labels[name], text_of(weight)) for name, weight in self._tuned.weights.items()]
        weights = table("Weights", ("Dimension", "Weight"), rows, numbers=frozenset({1}))
        below = (self._ranking, self._unranked, self._state, self._stability, self._ranks, self._matters)
        return f"{weights}{''.join(part.value for part in below)}"

    @guarded
    def _slid(self, name: str, change: Mapping[str, Any]) -> None:
        if self._showing:
            return
        before = self._tuned.weights
        self._tuned.move(name, change["new"])
        if self._tuned.weights == before:
            self._show_weights()  # puts the slider back to where it must stay
        else:
            self._note.value = ""
            self._changed()

    @guarded
    def _locked(self, name: str, change: Mapping[str, Any]) -> None:
        if not self._showing:
            self._tuned.lock(name, change["new"])
            self._show_weights()

    @guarded
    def _preset(self, name: str, _: ipw.Button) -> None:
        note = self._fit_note if name == "fitted" else ""
        self._take(self._presets[name], f"{BUTTONS[name][1]}.{note}")

    @guarded
    def _save(self, _: ipw.Button) -> None:
        path = save_over(self.weights, self.path.value)
        self._note.value = text.paragraph(text.saved(path, self.weights, self.labels))

    @guarded
    def _load(self, _: ipw.Button) -> None:
        weights = load(self.path.value, list(self.weights))
        self._take(weights, text.loaded(self.path.value, weights, self.labels))

    @guarded
    def _refreshed(self, _: ipw.Button) -> None:
        self.refresh()

    def _take(self, weights: Weights, note: str) -> None:
        """Set all weights, and show a note."""
        unlocked = " All are unlocked." if self._tuned.locked else ""
        self.weights = weights
        self._note.value = text.paragraph(note + unlocked)

    def _changed(self) -> None:
        self._show()
        self._debouncer.later()

    def _show(self) -> None:
        """Show the weights, then the ranking."""
        self._show_weights()
        self._ranking.value = self._scores.picture(self._tuned.weights)._repr_html_()

    def _show_weights(self) -> None:
        self._showing = True
        try:
            notes = {name: self._tuned.held(name) for name in self.sliders}
            for name, weight in self._tuned.weights.items():
                slider = self.sliders[name]
                with slider.hold_sync():
                    slider.value, slider.text = float(weight), text.slider_text(weight, notes[name])
                    slider.disabled = bool(notes[name])
                self.locks[name].value = name in self._tuned.locked
        finally:
            self._showing = False
        stuck = {self.labels[name]: why for name, why in notes.items() if why and why != "locked"}
        self._held.value = text.held_html(stuck)

    def _show_stability(self) -> None:
        self._stability.value = text.stability(self.stability)

    def _show_ranks(self) -> None:
        self._ranks.value = self._scores.rank_picture(self._tuned.weights)._repr_html_()

    def _show_matters(self) -> None:
        self._matters.value = self._scores.weight_picture(self._tuned.weights)._repr_html_()

    def _show_state(self) -> None:
        self._state.value = text.paragraph(text.STALE if self._debouncer.stale else text.FRESH)


def _start(dimensions: list[str], weights: Weights | None) -> Weights:
    """Return the first weights, for exactly these dimensions."""
    if weights is None:
        known = presets(dimensions)
        return known.get("default", known["equal"])
    return dict(checked(weights, dimensions))


def _offered(tuned: TunedWeights, fitted: WeightFit | Weights | None) -> dict[str, dict[str, Decimal]]:
    """Return the presets that the buttons offer, by their names."""
    names = list(tuned.start)
    offered = presets(names)
    if fitted is not None:
        weights = fitted.exact() if isinstance(fitted, WeightFit) else fitted
        offered["fitted"] = decimals(checked(weights, names))
    return offered | {"start": tuned.start}


def labels_of(dimensions: Iterable[str]) -> dict[str, str]:
    """Return each dimension with its name in words, or as it is written where two would have the same words.

    >>> labels_of(["risk_coverage", "tone"]), labels_of(["a_b", "a b"])
    ({'risk_coverage': 'risk coverage', 'tone': 'tone'}, {'a_b': 'a_b', 'a b': 'a b'})
    """
    words = short_words(dimension_words(dimensions))
    return words if len(set(words.values())) == len(words) else {name: name for name in words}


def _slider(label: str) -> Slider:
    return Slider(label=label[:1].upper() + label[1:], low=0.0, high=1.0, step=STEP)


def _lock(label: str) -> ipw.Checkbox:
    """Return the box that keeps a weight as it is while others are moved."""
    words = f'Lock <span class="vp-hidden">{escape(label)}</span>'
    return ipw.Checkbox(description=words, description_allow_html=True, indent=False)


def _button(label: str, tooltip: str) -> ipw.Button:
    return ipw.Button(description=label, tooltip=tooltip)


def save_over(weights: Mapping[str, Decimal], path: str) -> Path:
    """Write a weights file as `weights.save` does; InputError for a file that exists and is not a weights file."""
    if not path.strip():
        raise InputError(Problem("Weights file", "is blank", "name a file, such as weights.json"))
    if _is_other_file(path):
        raise InputError(Problem(path, "exists already and is not a weights file", "name another"))
    return save(weights, path)


def _is_other_file(path: str) -> bool:
    """Return whether the path is a file, but not a weights file; `save` reports a path that cannot be read."""
    try:
        if Path(path).is_file():
            load(path)
    except InputError:
        return True
    except (OSError, ValueError):
        pass
    return False
