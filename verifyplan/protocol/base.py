"""The base of all protocol models: frozen, and closed unless a model says otherwise."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """A value that never changes and refuses unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
