"""The controls of the weight tuner: a slider and a lock for each dimension, buttons, and a file's name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from html import escape
from pathlib import Path

import ipywidgets as ipw

from verifyplan.charts.score_table import dimension_words, short_words
from verifyplan.errors import InputError, Problem
from verifyplan.protocol.weights_file import load, save
from verifyplan.widgets.controls import Slider
from verifyplan.widgets.panel import group

STEP = 0.01

BUTTONS = {
    "default": ("Default weights", "The default weights of the six dimensions: 25, 20, 15, 15, 15 and 10 %"),
    "equal": ("Equal weights", "The same weight for every dimension"),
    "fitted": ("Fitted weights", "The fitted weights that were given"),
    "start": ("Reset", "The weights that this began with"),
}
"""The presets, with what their buttons say and what they do."""


def labels_of(dimensions: Iterable[str]) -> dict[str, str]:
    """Each dimension with its name in words; as it is written where the words are another's, too.

    >>> labels_of(["risk_coverage", "tone"]), labels_of(["a_b", "a b"])
    ({'risk_coverage': 'risk coverage', 'tone': 'tone'}, {'a_b': 'a_b', 'a b': 'a b'})
    """
    words = short_words(dimension_words(dimensions))
    return words if len(set(words.values())) == len(words) else {name: name for name in words}


def slider(label: str) -> Slider:
    """The slider of one weight, from 0 to 1."""
    return Slider(label=label[:1].upper() + label[1:], low=0.0, high=1.0, step=STEP)


def lock(label: str) -> ipw.Checkbox:
    """The box that keeps a weight as it is while others are moved."""
    words = f'Lock <span class="vp-hidden">{escape(label)}</span>'
    return ipw.Checkbox(description=words, description_allow_html=True, indent=False)


def button(label: str, tooltip: str) -> ipw.Button:
    """A button with words for what it does."""
    return ipw.Button(description=label, tooltip=tooltip)


def slider_rows(sliders: dict[str, Slider], locks: dict[str, ipw.Checkbox]) -> ipw.Box:
    """Each slider with its lock beside it."""
    return group("vp-sliders", *(each for name in sliders for each in (sliders[name], locks[name])))


def file_name() -> ipw.Text:
    """The field for the name of a weights file."""
    return ipw.Text("weights.json", description="Weights file")


def save_over(weights: Mapping[str, Decimal], path: str) -> Path:
    """Write a weights file as `weights.save` does; a file that is there and is none is refused, not overwritten."""
    if not path.strip():
        raise InputError(Problem("Weights file", "is blank", "name a file, such as weights.json"))
    if _other(path):
        raise InputError(Problem(path, "is there already and is not a weights file", "name another"))
    return save(weights, path)


def _other(path: str) -> bool:
    """Return whether the path is a file, but not a weights file; `save` reports a path that cannot be read."""
    try:
        if not Path(path).is_file():
            return False
        load(path)
    except InputError:
        return True
    except (OSError, ValueError):
        return False
    return False
