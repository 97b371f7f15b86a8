"""What rules speak of, such as routes, flags or logging, and lines of a plan that do it; data in `concepts.toml`."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from verifyplan.agents.static.roles.reading import Reading, denied

_LONGEST = 500
_NONE = re.compile(r"\b(?:no|not|without|never)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Concept:
    """One thing that rules speak of: how they name it, and how code and prose of a plan do it."""

    key: str
    named: re.Pattern[str]
    code: re.Pattern[str]
    prose: re.Pattern[str]

    def done_in(self, text: str, is_code: bool) -> re.Match[str] | None:
        """Where a line does it and does not deny it."""
        if is_code:
            return self.code.search(text[:_LONGEST])
        found = self.prose.search(text[:_LONGEST])
        if found is None or denied(text, found.start()) or _NONE.search(found.group()):
            return None
        return found


@cache
def concepts() -> tuple[Concept, ...]:
    """All concepts, in the order of the file."""
    text = files(__package__ or "").joinpath("concepts.toml").read_text("utf-8")
    return tuple(
        Concept(
            key,
            re.compile(rf"\b(?:{table['named']})\b", re.IGNORECASE),
            re.compile(table["code"]),
            re.compile(table["prose"], re.IGNORECASE),
        )
        for key, table in tomllib.loads(text).items()
    )


def named_in(text: str) -> list[Concept]:
    """The concepts that a text names."""
    return [concept for concept in concepts() if concept.named.search(text)]


def doing(reading: Reading, concept: Concept) -> Iterator[tuple[int, str]]:
    """The lines of what is to be done that do it, with what in them does."""
    for at, line in reading.to_do:
        found = concept.done_in(line, reading.block(at) is not None)
        if found is not None:
            yield at, found.group()
