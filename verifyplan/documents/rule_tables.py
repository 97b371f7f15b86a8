"""Read rules from their tables, and fill in what a broken rule says."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from importlib.resources import files
from string import Formatter
from typing import Any

MAX_VALUE_CHARACTERS, MAX_WORDS_CHARACTERS = 80, 100
"""Characters of a value, and of a plan's own words, that are quoted: a report is read line by line."""


def rule_rows(package: str, name: str) -> list[dict[str, Any]]:
    """Return the rows of a table of rules beside the code, each as its cells by column."""
    text = files(package).joinpath(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def quoted(text: str) -> str:
    """Return a plan's own words on one line, in quotation marks, truncated where they are long.

    >>> quoted("the  login works")
    '"the login works"'
    """
    line = " ".join(text.split())
    return f'"{line if len(line) <= MAX_WORDS_CHARACTERS else line[: MAX_WORDS_CHARACTERS - 1].rstrip() + "…"}"'


class _Template(Formatter):
    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "w":
            return quoted(value)
        return repr(value[:MAX_VALUE_CHARACTERS]) if conversion == "q" else super().convert_field(value, conversion)


_TEMPLATE = _Template()


def filled(rule: Any, name: str, values: Mapping[str, Any]) -> str:
    """Return a text of a rule ("message", "fix") with its values filled in, or the value of that name in its place.

    {name!q} is a value in quotation marks, {name!w} a plan's own words.
    """
    return str(values[name]) if name in values else _TEMPLATE.vformat(getattr(rule, name), (), values)
