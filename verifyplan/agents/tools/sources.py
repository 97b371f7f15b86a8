"""What the tools look into: a repository, the documents of a task, a memory; budgets stand in `kit` (rule G4)."""

from __future__ import annotations

from collections.abc import Mapping

from verifyplan.agents.tools import answers
from verifyplan.agents.tools.answers import LookupResult
from verifyplan.agents.tools.arguments import Arguments, GitLogArguments, GrepArguments, MemoryArguments, ReadArguments
from verifyplan.agents.tools.memory import Memory
from verifyplan.agents.tools.places import NotOpenedError, files_below, read_listed, relative_path, resolve_listed
from verifyplan.agents.tools.search import search
from verifyplan.errors import InputError
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository

MAX_HITS = 200
"""Hits of one search that a model is given."""
MAX_COMMITS = 20
"""Commits of one question about the history."""
MAX_PASSAGES = 5
"""Passages that one memory search gives."""


class ToolSources:
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

    def answer(self, asked: Arguments) -> LookupResult:
        """What is found; a search whose pattern is none, or takes too long, is a failed answer."""
        if isinstance(asked, ReadArguments):
            return self._lines(asked)
        if isinstance(asked, GrepArguments):
            return self._hits(asked)
        if isinstance(asked, GitLogArguments):
            paths = [relative_path(self._repository, path) for path in asked.paths]
            return answers.commit_list(self._repository.history(paths, MAX_COMMITS))
        if isinstance(asked, MemoryArguments) and self._memory is not None:
            return answers.note_passages(self._memory.search(asked.query, MAX_PASSAGES), len(self._memory))
        raise NotOpenedError("there is nothing to ask")

    def _lines(self, asked: ReadArguments) -> LookupResult:
        if asked.path in self._documents:
            return answers.file_lines(asked.path, self._documents[asked.path], asked)
        path = relative_path(self._repository, asked.path)
        return answers.file_lines(path, redact(read_listed(self._repository, path)), asked)

    def _hits(self, asked: GrepArguments) -> LookupResult:
        documents, paths = self._where(asked.path)
        try:
            return answers.search_hits(search(self._repository, documents, paths, asked.pattern, MAX_HITS), MAX_HITS)
        except InputError as error:
            return LookupResult(str(error), failed=True)

    def _where(self, path: str) -> tuple[Mapping[str, str], list[str]]:
        """The documents and files to look in; NotOpenedError where there are none of this name."""
        if path in self._documents:
            return {path: self._documents[path]}, []
        place = relative_path(self._repository, path) if path else "."
        if place == ".":
            return self._documents, files_below(self._repository, place)
        files = files_below(self._repository, place)
        if not files:
            read_listed(self._repository, place)  # says why, unless it is a file that can be read
            files = [resolve_listed(self._repository, place).relative_to(self._repository.root).as_posix()]
        return {}, files
