"""What the tools look into: a repository, the documents of a task, a memory; budgets stand in `kit` (rule G4)."""

from __future__ import annotations

from collections.abc import Mapping

from verifyplan.agents.tools import answers
from verifyplan.agents.tools.answers import Answer
from verifyplan.agents.tools.arguments import Arguments, GitLogArguments, GrepArguments, MemoryArguments, ReadArguments
from verifyplan.agents.tools.memory import Memory
from verifyplan.agents.tools.places import NotOpenedError, below, located, relative, text_at
from verifyplan.agents.tools.search import search
from verifyplan.errors import InputError
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository

MOST_HITS = 200
"""Hits of one search that a model is given."""
MOST_COMMITS = 20
"""Commits of one question about the history."""
MOST_NOTES = 5
"""Passages that one memory search gives."""


class Sources:
    """Answers a call whose arguments fit; NotOpenedError says why it does not.

    Keys are taken out of every text before it is numbered, searched or shown.
    """

    def __init__(self, repository: Repository, documents: Mapping[str, str], memory: Memory | None) -> None:
        self._repository = repository
        self._documents = {name: redact(text) for name, text in documents.items()}
        self._memory = memory

    def is_document(self, name: str) -> bool:
        """Whether this is the name of a text that the model was handed."""
        return name in self._documents

    def answer(self, asked: Arguments) -> Answer:
        """What is found; a search whose pattern is none, or takes too long, is a failed answer."""
        if isinstance(asked, ReadArguments):
            return self._lines(asked)
        if isinstance(asked, GrepArguments):
            return self._hits(asked)
        if isinstance(asked, GitLogArguments):
            paths = [relative(self._repository, path) for path in asked.paths]
            return answers.history(self._repository.history(paths, MOST_COMMITS))
        if isinstance(asked, MemoryArguments) and self._memory is not None:
            return answers.notes(self._memory.search(asked.query, MOST_NOTES), len(self._memory))
        raise NotOpenedError("there is nothing to ask")

    def _lines(self, asked: ReadArguments) -> Answer:
        if asked.path in self._documents:
            return answers.numbered(asked.path, self._documents[asked.path], asked)
        path = relative(self._repository, asked.path)
        return answers.numbered(path, redact(text_at(self._repository, path)), asked)

    def _hits(self, asked: GrepArguments) -> Answer:
        documents, paths = self._where(asked.path)
        try:
            return answers.hits(search(self._repository, documents, paths, asked.pattern, MOST_HITS), MOST_HITS)
        except InputError as error:
            return Answer(str(error), failed=True)

    def _where(self, path: str) -> tuple[Mapping[str, str], list[str]]:
        """The documents and files to look in; NotOpenedError where there are none of this name."""
        if path in self._documents:
            return {path: self._documents[path]}, []
        place = relative(self._repository, path) if path else "."
        if place == ".":
            return self._documents, below(self._repository, place)
        files = below(self._repository, place)
        if not files:
            text_at(self._repository, place)  # says why, unless it is a file that can be read
            files = [located(self._repository, place).relative_to(self._repository.root).as_posix()]
        return {}, files
