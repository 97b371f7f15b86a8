"""The form of two settings of voting rules, and a text to copy; the page draws them, Python reads them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from pathlib import Path
from typing import Any

import anywidget
import traitlets

from verifyplan.errors import SettingsError
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.widgets.rule_studio.fields import SIDES, Side

_HERE = Path(__file__).parent


class CopyText(anywidget.AnyWidget):
    """A text with a name and a button that copies it; markup in it is shown as text."""

    _esm = _HERE / "copy.js"
    _css = _HERE / "form.css"
    label = traitlets.Unicode("").tag(sync=True)
    text = traitlets.Unicode("").tag(sync=True)

    def html(self) -> str:
        """The name and the text, for a page without a kernel."""
        return f'<p>{escape(self.label)}</p><pre style="white-space: pre-wrap">{escape(self.text)}</pre>'


class RulesForm(anywidget.AnyWidget):
    """Every field of two VotingRules as a control; `left` and `right` hold the fields that are not neutral.

    What is written there may be no rules: `read` says what is wrong, and `show_problems` shows it beside the control.
    """

    _esm = _HERE / "form.js"
    _css = _HERE / "form.css"
    schema = traitlets.List(traitlets.Dict()).tag(sync=True)
    presets = traitlets.Dict().tag(sync=True)
    left = traitlets.Dict().tag(sync=True)
    right = traitlets.Dict().tag(sync=True)
    preset = traitlets.Dict().tag(sync=True)
    differing = traitlets.List(traitlets.Unicode()).tag(sync=True)
    reasons = traitlets.Dict().tag(sync=True)
    problems = traitlets.Dict().tag(sync=True)

    def __init__(self, groups: list[dict[str, Any]]) -> None:
        presets = {name: VotingRules.preset(name).changed for name in VotingRules.presets()}
        super().__init__(schema=groups, presets=presets)

    def read(self) -> tuple[dict[Side, VotingRules], dict[Side, SettingsError]]:
        """Return the rules that the controls of each side say, and of sides where these are none, what is wrong."""
        rules: dict[Side, VotingRules] = {}
        errors: dict[Side, SettingsError] = {}
        for side in SIDES:
            try:
                rules[side] = VotingRules(**getattr(self, side))
            except SettingsError as error:
                errors[side] = error
        return rules, errors

    def show_problems(self, errors: Mapping[Side, SettingsError]) -> None:
        """Show what is wrong beside the controls."""
        self.problems = {side: _by_field(errors[side]) for side in SIDES if side in errors}

    def mark(self, rules: Mapping[Side, VotingRules]) -> None:
        """Mark which fields differ, and say which presets the sides are."""
        left, right = (rules[side].model_dump(mode="json") for side in SIDES)
        self.differing = [name for name in left if left[name] != right[name]]
        self.preset = {side: preset_of(rules[side]) for side in SIDES}


def preset_of(rules: VotingRules) -> str:
    """Return the name of the preset that has these rules; empty where none has.

    >>> preset_of(VotingRules(refutes="sticky", mode="adversarial"))
    'sticky-refutes'
    """
    return next((name for name in VotingRules.presets() if VotingRules.preset(name) == rules), "")


def _by_field(error: SettingsError) -> dict[str, str]:
    """Return the problems by the field whose control they stand beside."""
    by_field: dict[str, list[str]] = {}
    for problem in error.problems:
        by_field.setdefault(problem.place.partition(".")[0], []).append(problem.message)
    return {name: "; ".join(messages) for name, messages in by_field.items()}
