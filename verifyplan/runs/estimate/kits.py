"""The tools of a dry run: those of a run, but that a search is made at once, by the plain words of its pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from verifyplan.agents.tools import ModelToolkit
from verifyplan.agents.tools.sources import MAX_HITS, ToolSources
from verifyplan.repository.grep import literals
from verifyplan.repository.records import Match


class PlainSources(ToolSources):
    """Sources that are searched for the plain words that every match of a pattern holds; more lines may hold them."""

    def find(self, documents: Mapping[str, str], paths: Sequence[str], pattern: str) -> Sequence[Match]:
        """Return the first 200 lines that hold all plain words of a pattern."""
        return list(islice(self._holding(literals(pattern), documents, paths), MAX_HITS))

    def _holding(self, needed: list[str], documents: Mapping[str, str], paths: Sequence[str]) -> Iterator[Match]:
        texts = [*documents.items(), *((path, "") for path in paths)]
        for path, document in texts:
            text = document or self._repository.text(path) or ""
            for number, line in enumerate(text.split("\n"), 1):
                if all(word in line for word in needed):
                    yield Match(path, number, line)


class DryKit(ModelToolkit):
    """A tool kit whose searches take no process of their own, so that hundreds of them are made in no time."""

    sources_type = PlainSources
