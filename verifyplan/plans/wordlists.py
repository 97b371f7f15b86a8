"""The words that reading and assessment go by; they are data, in the folder `words`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> Mapping[str, Any]:
    """One file of words as it stands: names, and what is kept under each."""
    text = files("verifyplan.plans").joinpath("words", f"{name}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


@cache
def words(name: str, key: str) -> frozenset[str]:
    """The single words kept under one name.

    >>> "Makefile" in words("paths", "names")
    True
    """
    listed: str = table(name)[key]
    return frozenset(listed.split())
