"""The folder of the labelled plans, and its JSON files read with a check."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from verifyplan.datasets.bundled import path as bundled_path
from verifyplan.errors import InputError, Problem
from verifyplan.files import decode
from verifyplan.protocol.base import Model

M = TypeVar("M", bound=Model)


def plans_folder() -> Path:
    """Where labels, plans, repository and history lie, beside the sets of recorded runs, installed or not."""
    return bundled_path("contract").parent / "plans"


def read_data(model: type[M], name: str) -> M:
    """One of the JSON files as the model that it must fit; InputError that says what does not."""
    text = decode((plans_folder() / name).read_bytes(), name)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise InputError(
            Problem(f"{name}: {'.'.join(map(str, one['loc']))}", one["msg"], "install verifyplan again")
            for one in error.errors()
        ) from None
