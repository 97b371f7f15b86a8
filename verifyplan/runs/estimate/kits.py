"""The tools of a dry run: those of a run, but that a search is made at once, by the plain words of its pattern."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice

from verifyplan.agents.tools import Memory, ToolKit, WebRules, answers
from verifyplan.agents.tools.arguments import GrepArguments
from verifyplan.agents.tools.sources import MAX_HITS, ToolSources
from verifyplan.repository.grep import literals
from verifyplan.repository.records import Match
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget


class DryKit(ToolKit):
    """A tool kit whose searches take no process of their own, so that hundreds of them are made in no time."""

    def __init__(
        self,
        repository: Repository,
        documents: Mapping[str, str],
        budget: Budget,
        memory: Memory | None = None,
        web: WebRules | None = None,
    ) -> None:
        super().__init__(repository, documents, budget, memory, web)
        self._sources = PlainSources(repository, documents, memory)


class PlainSources(ToolSources):
    """Sources that are searched for the plain words that every match of a pattern holds; more lines may hold them."""

    def _hits(self, asked: GrepArguments) -> answers.LookupResult:
        needed = literals(asked.pattern)
        documents, paths = self._where(asked.path)
        found = islice(self._holding(needed, documents, paths), MAX_HITS)
        return answers.search_hits(list(found), MAX_HITS)

    def _holding(self, needed: list[str], documents: Mapping[str, str], paths: list[str]) -> Iterator[Match]:
        texts = [*documents.items(), *((path, "") for path in paths)]
        for path, document in texts:
            text = document or self._repository.text(path) or ""
            for number, line in enumerate(text.split("\n"), 1):
                if all(word in line for word in needed):
                    yield Match(path, number, line)
