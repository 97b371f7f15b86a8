"""A free task over the files of a repository, and over the documents that were handed in beside them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from verifyplan.agents.repository.reading import UnreadableError, read_bytes
from verifyplan.agents.static.debate.errands.clauses import README
from verifyplan.agents.static.debate.errands.reading import Errand, read_task
from verifyplan.agents.static.debate.errands.sections import Written
from verifyplan.agents.static.debate.errands.wanted import Authored, Kept, Replaced, Wanted, is_code
from verifyplan.agents.static.debate.matter import Draft, Files, Unmet
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.toolbox import Toolbox
from verifyplan.agents.tools.secret_files import looks_secret
from verifyplan.protocol.call import ToolUse


class Task:
    """What a task asks for; files are opened through the tools alone, and those that look secret not at all."""

    def __init__(self, task: str, documents: Mapping[str, str], known: Known, tools: Toolbox) -> None:
        self._task, self._documents, self._known, self._tools = task, dict(documents), known, tools
        self._texts: dict[str, str | None] = {}

    @property
    def uses(self) -> tuple[ToolUse, ...]:
        """The tool calls made so far."""
        return tuple(self._tools.uses)

    def read(self, path: str) -> str | None:
        """The exact text of a document or of a file; None where there is none that may be read."""
        if path in self._documents:
            return self._documents[path]
        if path not in self._texts:
            self._texts[path] = self._opened(path)
        return self._texts[path]

    def _opened(self, path: str) -> str | None:
        repository = self._known.repository
        if path not in repository.files or looks_secret(path) or self._tools.read(path, "the diff").refused:
            return None
        try:
            return read_bytes(repository.root, path).decode()  # as it is, line ends and all: the diff has to apply
        except (UnreadableError, UnicodeDecodeError):
            return None

    @cached_property
    def _errand(self) -> Errand:
        default = next((name for name in self._documents if not is_code(name)), README)
        return read_task(self._task, self._path, self._defined, default)

    def _path(self, name: str) -> str | None:
        return name if name in self._documents else self._known.file(name)

    def _defined(self, name: str) -> str | None:
        return next((one.path for one in self._known.symbols(name)), None) if "_" in name or "." in name else None

    def checklist(self) -> tuple[str, ...]:
        """A criterion for each thing that is asked for."""
        return tuple(one.says for one in self._errand.wanted) or ("The task says what is to be changed.",)

    def places(self) -> tuple[str, ...]:
        """The files that it is about."""
        return self._errand.paths

    def unjudged(self) -> tuple[str, ...]:
        """What new sections say, whether a change does what it should, and what is to be kept that is no file."""
        wanted = self._errand.wanted
        texts = any(isinstance(one, Written) for one in wanted)
        changes = any(isinstance(one, Authored) or (isinstance(one, Replaced) and one.code) for one in wanted)
        return (
            *(["What the new text says is not judged; an author writes it."] if texts else []),
            *(["Whether the change does what is asked is not judged."] if changes else []),
            *(one.says for one in wanted if isinstance(one, Kept) and not one.path),
        )

    def unmet(self, files: Files) -> tuple[Unmet, ...]:
        """The criteria that the changed files do not meet."""
        if all(isinstance(one, Kept) for one in self._errand.wanted):
            return (Unmet("The task says what is to be changed", "it names nothing", ""),)
        before = {path: self.read(path) for path in (*self.places(), *files)}
        after = {**before, **files}
        found = ((one, one.missing(before, after)) for one in self._errand.wanted)
        return tuple(Unmet(one.says.rstrip("."), why, one.path) for one, why in found if why)

    def draft(self, files: Files, critique: str) -> Draft:
        """The files with one criterion of each met; after a critique with all, but for what takes an author."""
        texts = {path: text for path, text in files.items() if text is not None}
        done, left, begun = list[str](), list[str](), set[str]()
        for one in self._errand.wanted:
            before = self._before(texts)
            if not one.missing(before, {**before, **texts}) or (one.path in begun and not critique):
                continue
            made = self._made(one, texts.get(one.path, self.read(one.path)))
            if made is None:
                left.append(f"{one.says} This takes an author, or cannot be done.")
            else:
                texts[one.path] = made
                begun.add(one.path)
                done.append(f"{one.path}: {one.says}")
                left += [f"What the section on {one.title!r} says takes an author."] if isinstance(one, Written) else []
        return Draft(texts, tuple(done), tuple(left))

    def _made(self, one: Wanted, text: str | None) -> str | None:
        """The text of a file with a criterion met; a file that is not there is begun, not one that cannot be read."""
        if text is None and (not one.path or looks_secret(one.path) or self._known.repository.has(one.path)):
            return None
        return one.made(text or "", "\r\n" if text and "\r\n" in text else "\n")

    def _before(self, texts: Mapping[str, str]) -> dict[str, str | None]:
        return {path: self.read(path) for path in dict.fromkeys((*self.places(), *texts))}
