"""The form of two settings of voting rules (rule R2), and a text to copy; the page draws them, Python reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal, get_args

import anywidget
import traitlets
from pydantic.fields import FieldInfo

from verifyplan.errors import SettingsError
from verifyplan.protocol.vote import MODES
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop, VotingRules
from verifyplan.text import counted

GROUPS: Mapping[str, tuple[str, ...]] = {
    "What counts": ("missing_basis", "uncited", "caveats", "lost_votes", "workers", "weights"),
    "What decides a round": ("mode", "aggregate", "majority", "quorum"),
    "What lasts": ("refutes", "max_rounds", "pruning"),
    "When to stop": ("stop", "order"),
}
"""Every field, by its purpose."""

OF_THE_RUN = "as the run"
"""The label of a mode or a number of rounds that is not set."""

MAX_WORKERS = 40
"""Workers up to which each has a control; for more, set `studio.right = VotingRules(workers=...)`."""

_SUGGESTED = {"majority": ("1/2", "3/5", "2/3", "3/4", "4/5"), "quorum": ("0", "2", "3", "1/2", "2/3", "1/1")}

_STOPS: Mapping[str, type[MarginStop] | type[SequentialStop]] = {"margin": MarginStop, "sequential": SequentialStop}
_FIRST_MARGIN = "2"


def schema(workers: Sequence[str], rounds: Sequence[int]) -> list[dict[str, Any]]:
    """Return the groups of controls that the form draws: fields with label, help, kind and choices.

    `workers` are those of the votes, `rounds` the numbers of rounds to offer.
    """
    fields = VotingRules.model_fields
    return [
        {"title": title, "fields": [_control(name, fields[name], workers, rounds) for name in names]}
        for title, names in GROUPS.items()
    ]


def label(field: str) -> str:
    """Return the name of a field in words.

    >>> label("lost_votes")
    'Lost votes'
    """
    words = field.replace("_", " ")
    return words[:1].upper() + words[1:]


def _control(name: str, field: FieldInfo, workers: Sequence[str], rounds: Sequence[int]) -> dict[str, Any]:
    control = {"name": name, "label": label(name), "help": field.description or ""}
    match name:
        case "mode":
            return control | _choice([None, *MODES])
        case "max_rounds":
            return control | _choice([None, *rounds])
        case "missing_basis":
            return control | _choice([basis for basis in _literals(field) if basis != "raise"])
        case "majority" | "quorum":
            return control | {"kind": "number", "neutral": str(field.default), "suggested": list(_SUGGESTED[name])}
        case "workers" | "weights":
            return control | {"kind": name, "workers": list(workers)}
        case "order":
            return control | _choice([None, *([worker] for worker in workers)])
        case "stop":
            return control | {"kind": "stop", "stops": [_stop(kind, model) for kind, model in _STOPS.items()]}
        case _:
            return control | _choice(_literals(field))


def too_many_workers(workers: Sequence[str]) -> dict[str, str]:
    """Return why the fields that name workers have no controls, by field; empty for at most 40 workers."""
    if len(workers) <= MAX_WORKERS:
        return {}
    why = f"there are {counted(len(workers), 'worker')}; set them in Python, as studio.right = ..."
    return dict.fromkeys(("workers", "weights", "order"), why)


def _choice(values: Sequence[Any]) -> dict[str, Any]:
    """Return a list to choose from; its first value is neutral, and the page does not send it."""
    return {"kind": "choice", "options": [{"value": value, "label": _choice_label(value)} for value in values]}


def _choice_label(value: Any) -> str:
    if value is None:
        return OF_THE_RUN
    return f"{value[0]} first" if isinstance(value, list) else str(value)


def _literals(field: FieldInfo) -> list[str]:
    """Return the values of a field, the neutral one first."""
    values = [str(value) for value in get_args(field.annotation)]
    return sorted(values, key=lambda value: value != field.default)


def _stop(kind: str, model: type[MarginStop] | type[SequentialStop]) -> dict[str, Any]:
    parts = [
        {
            "name": name,
            "label": label(name),
            "help": field.description or "",
            "start": _FIRST_MARGIN if field.is_required() else str(field.default),
            "whole": field.is_required(),
        }
        for name, field in model.model_fields.items()
    ]
    return {"value": kind, "parts": parts}


Side = Literal["left", "right"]
SIDES: tuple[Side, ...] = get_args(Side)


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

    Their values may not be valid rules: `read` returns the errors, and `show_problems` shows them beside the controls.
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
        """Return the rules of each side whose controls hold valid ones, and the errors of the other sides."""
        rules: dict[Side, VotingRules] = {}
        errors: dict[Side, SettingsError] = {}
        for side in SIDES:
            try:
                rules[side] = VotingRules(**getattr(self, side))
            except SettingsError as error:
                errors[side] = error
        return rules, errors

    def show_problems(self, errors: Mapping[Side, SettingsError]) -> None:
        """Show the errors beside the controls."""
        self.problems = {side: _by_field(errors[side]) for side in SIDES if side in errors}

    def mark(self, rules: Mapping[Side, VotingRules]) -> None:
        """Mark which fields differ, and which preset each side is."""
        left, right = (rules[side].model_dump(mode="json") for side in SIDES)
        self.differing = [name for name in left if left[name] != right[name]]
        self.preset = {side: preset_of(rules[side]) for side in SIDES}


def preset_of(rules: VotingRules) -> str:
    """Return the name of the preset with these rules; empty if none has them.

    >>> preset_of(VotingRules(refutes="sticky", mode="adversarial"))
    'sticky-refutes'
    """
    return next((name for name in VotingRules.presets() if VotingRules.preset(name) == rules), "")


def _by_field(error: SettingsError) -> dict[str, str]:
    """Return the problems by the field beside whose control they are shown."""
    by_field: dict[str, list[str]] = {}
    for problem in error.problems:
        by_field.setdefault(problem.place.partition(".")[0], []).append(problem.message)
    return {name: "; ".join(messages) for name, messages in by_field.items()}
