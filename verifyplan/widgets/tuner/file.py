"""Saving weights from a notebook: under a name that was typed, over a weights file but over nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.protocol.weights_file import load, save


def save_over(weights: Mapping[str, Decimal], path: str) -> Path:
    """Write a weights file as `weights.save` does; a file that is there and is none is refused, not overwritten."""
    if not path.strip():
        raise InputError(Problem("Weights file", "is blank", "name a file, such as weights.json"))
    if _other(path):
        raise InputError(Problem(path, "is there already and is no weights file", "name another"))
    return save(weights, path)


def _other(path: str) -> bool:
    """Whether there is a file that no one would call a weights file; what cannot be looked at is for `save` to tell."""
    try:
        if not Path(path).is_file():
            return False
        load(path)
    except InputError:
        return True
    except (OSError, ValueError):
        return False
    return False
