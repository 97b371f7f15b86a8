"""What a panel worker is given of one challenge: its words, its evidence, the plan, and means to look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from verifyplan.agents.static.roles.challenges import Cited, read_cited
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.phrases import Statement, read_statement
from verifyplan.agents.static.roles.reading import Reading
from verifyplan.agents.toolbox import Toolbox
from verifyplan.protocol.call import Item


@dataclass(frozen=True)
class Case:
    """One challenge before one worker. `readings` are the documents by name; without `known` no file is opened."""

    item: Item
    readings: Mapping[str, Reading]
    known: Known
    tools: Toolbox

    @cached_property
    def statement(self) -> Statement | None:
        """What the challenge states, where it is worded as the static agents word it."""
        return read_statement(self.item.summary)

    @cached_property
    def cited(self) -> list[Cited]:
        """The cited places with their quotations."""
        return read_cited(self.item.evidence)

    def document(self, path: str) -> tuple[str, Reading] | None:
        """The document that a cited path means: of that name, or of one that ends in it."""
        if path in self.readings:
            return path, self.readings[path]
        ends = [name for name in self.readings if name.endswith((f"/{path}", f" {path}", path))]
        return (ends[0], self.readings[ends[0]]) if len(ends) == 1 else None

    @cached_property
    def plan_places(self) -> list[Cited]:
        """The cited places that lie in a document."""
        return [place for place in self.cited if self.document(place.path)]

    @cached_property
    def code_places(self) -> list[Cited]:
        """The cited places that lie in the repository."""
        return [place for place in self.cited if not self.document(place.path)]

    def quote_at(self, place: Cited, lines: tuple[str, ...]) -> int | None:
        """The line of a place's first quotation, nearest to where it should be; 0 if nowhere, None without one."""
        if not place.quotes:
            return None
        found = [at for at, line in enumerate(lines, 1) if same_line(place.quotes[0], line)]
        return min(found, key=lambda at: (abs(at - place.first), at)) if found else 0


def same_line(quote: str, line: str) -> bool:
    """Whether a quotation is a line, spaces around it aside; one that ends in " ..." may be its beginning."""
    quote, line = quote.strip(), line.strip()
    start = quote.removesuffix("...").rstrip()
    return quote == line or (quote.endswith("...") and len(start) > 3 and line.startswith(start))
