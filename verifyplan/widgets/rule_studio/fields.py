"""The fields of voting rules as controls: in groups, with their help texts and what can be chosen (rule R2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from pydantic.fields import FieldInfo

from verifyplan.protocol.vote import MODES
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop, VotingRules
from verifyplan.text import counted

GROUPS: Mapping[str, tuple[str, ...]] = {
    "What counts": ("missing_basis", "uncited", "caveats", "lost_votes", "workers", "weights"),
    "What decides a round": ("mode", "aggregate", "majority", "quorum"),
    "What lasts": ("refutes", "max_rounds", "pruning"),
    "When to stop": ("stop", "order"),
}
"""Every field, by what it does."""

OF_THE_RUN = "as the run"
"""What a mode or a number of rounds that is not set says."""

MAX_WORKERS = 40
"""Workers that have a control of their own; of more, `studio.right = VotingRules(workers=...)` chooses."""

_SUGGESTED = {"majority": ("1/2", "3/5", "2/3", "3/4", "4/5"), "quorum": ("0", "2", "3", "1/2", "2/3", "1/1")}

_STOPS: Mapping[str, type[MarginStop] | type[SequentialStop]] = {"margin": MarginStop, "sequential": SequentialStop}
_FIRST_MARGIN = "2"


def schema(workers: Sequence[str], rounds: Sequence[int]) -> list[dict[str, Any]]:
    """Return the groups of controls, as the form draws them: the fields of each with label, help, kind and choices.

    `workers` are those of the votes, `rounds` the numbers of rounds that are offered.
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
    """Return why the fields that name workers have no controls, by field; empty for few workers."""
    if len(workers) <= MAX_WORKERS:
        return {}
    why = f"there are {counted(len(workers), 'worker')}; set them in Python, as studio.right = ..."
    return dict.fromkeys(("workers", "weights", "order"), why)


def _choice(values: Sequence[Any]) -> dict[str, Any]:
    """Return a list to choose from; its first value is neutral, and is not sent."""
    options = [{"value": value, "label": _choice_label(value)} for value in values]
    return {"kind": "choice", "options": options}


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
