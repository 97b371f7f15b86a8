"""Run an agent's tool calls within its budget, and record each for the log (rules A12, G4, H3)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from verifyplan.agents.tools.definitions import (
    MAX_ARGUMENT_CHARACTERS,
    WEB_OFF,
    Arguments,
    ArgumentsError,
    ReadArguments,
    WebCall,
    WebFetchArguments,
    WebRules,
    WebSearchArguments,
    WebTool,
    parse_arguments,
    web_call_refusal,
)
from verifyplan.agents.tools.file_access import NotOpenedError
from verifyplan.agents.tools.memory import Memory
from verifyplan.agents.tools.sources import MAX_HITS, LookupResult, ToolSources
from verifyplan.agents.untrusted_text import bounded_answer, one_line
from verifyplan.errors import InputError
from verifyplan.protocol.call import TOOLS, Tool, ToolUse
from verifyplan.repository.records import Match
from verifyplan.repository.repository import Repository
from verifyplan.rules.budgets import Budget, refusal

MAX_UNCOUNTED_CALLS = 20
"""Calls that were refused or free after which the tools are closed, so that no model can call for ever."""

_CLOSED = f"no more tools in this call: {MAX_UNCOUNTED_CALLS} calls were refused or free"
_ELSEWHERE = "a web call is not made here: ask check_web"


class BudgetedCalls:
    """Counts the tool calls of one agent; `uses` are the recorded ones in their order, refused ones among them."""

    def __init__(self, budget: Budget) -> None:
        self.uses: list[ToolUse] = []
        self._budget = budget
        self._used: Counter[Tool] = Counter()

    def _refusal(self, tool: Tool) -> str:
        """Return why one more call of a tool is refused; empty where it is allowed."""
        return refusal(tool, self._used, self._budget)

    def _record(self, use: ToolUse) -> ToolUse:
        self.uses.append(use)
        self._used[use.tool] += not use.refused
        return use


class FileLines(NamedTuple):
    """The lines of a file, or why there are none."""

    lines: tuple[str, ...]
    refused: str = ""


class SearchHits(NamedTuple):
    """The lines that a search found, or why it was not made."""

    matches: tuple[Match, ...]
    refused: str = ""


class StaticToolkit(BudgetedCalls):
    """Reads and searches for one static agent in one iteration; what is over budget is refused, with the reason.

    `documents` are texts that the agent has already, by name: reading one costs nothing, nor does reading a file
    again. Source: rule A12.
    """

    def __init__(self, repository: Repository, documents: Mapping[str, str], budget: Budget) -> None:
        super().__init__(budget)
        self._repository = repository
        self._documents = dict(documents)
        self._files: dict[str, tuple[str, ...]] = {}

    def read(self, path: str, serves: str = "") -> FileLines:
        """Return the lines of a document or of a file of the repository; none, with the reason, if unreadable."""
        if path in self._documents:
            text = self._documents[path].replace("\r\n", "\n").replace("\r", "\n")
            return FileLines(tuple(text.split("\n")))
        if path in self._files:
            return FileLines(self._files[path])
        refused = self._refusal("Read")
        lines = None if refused else self._repository.lines(path)
        results = len(lines or ())
        self._record(ToolUse(tool="Read", argument=path, serves=serves, refused=refused, results=results))
        if lines is None:
            return FileLines((), refused or f"{path} is no file of the repository that can be read")
        self._files[path] = lines
        return FileLines(lines)

    def grep(self, pattern: str, serves: str = "") -> SearchHits:
        """Return the lines of the repository that match a pattern, at most 200, in order of path and line."""
        refused = self._refusal("Grep")
        matches: tuple[Match, ...] = ()
        invalid = ""
        if not refused:
            try:
                matches = tuple(self._repository.grep(pattern, limit=MAX_HITS))
            except InputError as error:
                invalid = str(error)
        self._record(ToolUse(tool="Grep", argument=pattern, serves=serves, refused=refused, results=len(matches)))
        return SearchHits(matches, refused or invalid)


class ToolResult(NamedTuple):
    """The outcome of a call: the text for the model, the record for the log, and whether it failed.

    `use` is None where the log needs none: for a tool that does not exist, and for what the model had already.
    """

    text: str
    use: ToolUse | None
    failed: bool = False


class ModelToolkit(BudgetedCalls):
    """Runs the tool calls of one model in one call of an agent: whatever it writes, one text comes back.

    `documents` are texts that the model has already, by name: to read them is free, as is to ask for the same lines
    of a file again. All other calls count, also those that find nothing; refused ones do not. After 20 calls that were
    free or refused all tools are closed. Without a memory its share of the budget lapses.
    Not safe to use from several threads at once. Source: rules A12, G4, H3.
    """

    def __init__(
        self,
        repository: Repository,
        documents: Mapping[str, str],
        budget: Budget,
        memory: Memory | None = None,
        web: WebRules | None = None,
    ) -> None:
        super().__init__(replace(budget, memory=memory is not None))
        self._sources = ToolSources(repository, documents, memory)
        self._web = web
        self._uncounted = 0
        self._read: set[str] = set()

    def run(self, name: str, arguments: Any) -> ToolResult:
        """Run one call as a model wrote it; never raises, whatever the name and the arguments are.

        Web calls are refused: the conversation makes them, see `check_web`.
        """
        tool = next((tool for tool in TOOLS if tool == name), None)
        if tool is None:
            self._uncounted += 1
            available = ", ".join(self._granted()) or "none"
            text = f"There is no tool {one_line(name)!r}. The tools here: {available}."
            return ToolResult(bounded_answer(text), None, failed=True)
        try:
            call = parse_arguments(tool, arguments)
        except ArgumentsError as error:
            return self._refuse(tool, _unparsed(arguments), "", str(error))
        if isinstance(call, WebSearchArguments | WebFetchArguments):
            return self._refuse(tool, call.argument, call.purpose, self._web_refusal(tool, call) or _ELSEWHERE)
        return self._run(tool, call)

    def count(self, uses: Iterable[ToolUse]) -> None:
        """Count calls that a log holds already, as if they had been made here; they are not run again."""
        for use in uses:
            self._record(use)

    def allowed(self) -> tuple[Tool, ...]:
        """Return the tools that have a call left; none once 20 calls were free or refused."""
        return tuple(tool for tool in self._granted() if not self._refusal(tool))

    def check_web(self, tool: WebTool, arguments: Any) -> str | WebCall:
        """Return the web call that the conversation is to make, or why it is refused; `uses` then ends with it."""
        try:
            call = parse_arguments(tool, arguments)
        except ArgumentsError as error:
            return self._refuse(tool, _unparsed(arguments), "", str(error)).text
        refused = self._web_refusal(tool, call)
        if refused:
            return self._refuse(tool, call.argument, call.purpose, refused).text
        return WebCall(tool, call.argument, call.purpose)

    def record_web(self, call: WebCall, results: int, refused: str = "") -> ToolUse:
        """Count and record a web call that was made; `refused` says why the endpoint did not make it."""
        return self._record(_use(call.tool, call.argument, call.serves, refused=refused, results=results))

    def _run(self, tool: Tool, call: Arguments) -> ToolResult:
        """Run a call whose arguments fit: it is free, counted, or refused."""
        free = isinstance(call, ReadArguments) and (
            self._sources.is_document(call.path) or _logged(call.argument) in self._read
        )
        refused = self._closed() if free else self._refusal(tool)
        if refused:
            return self._refuse(tool, call.argument, call.purpose, refused)
        try:
            result = self._sources.answer(call)
        except NotOpenedError as error:
            if not error.answers:
                return self._refuse(tool, call.argument, call.purpose, str(error))
            result = LookupResult(str(error), error.results, failed=True)
        self._uncounted += free
        use = None if free else self._record(_use(tool, call.argument, call.purpose, results=result.results))
        return ToolResult(bounded_answer(result.text), use, result.failed)

    def _granted(self) -> list[Tool]:
        """Return the tools that this agent has at all, whether they are used up or not."""
        web = self._web is not None and self._web.enabled
        tools = [tool for tool in TOOLS if web or tool not in ("WebSearch", "WebFetch")]
        return [tool for tool in tools if not refusal(tool, {}, self._budget)]

    def _closed(self) -> str:
        return _CLOSED if self._uncounted >= MAX_UNCOUNTED_CALLS else ""

    def _refusal(self, tool: Tool) -> str:
        return self._closed() or super()._refusal(tool)

    def _web_refusal(self, tool: Tool, call: Arguments) -> str:
        refused = web_call_refusal(call, self._web)
        return refused if refused == WEB_OFF else self._refusal(tool) or refused

    def _refuse(self, tool: Tool, argument: str, serves: str, reason: str) -> ToolResult:
        text = bounded_answer(reason)
        return ToolResult(text, self._record(_use(tool, argument, serves, refused=text)), failed=True)

    def _record(self, use: ToolUse) -> ToolUse:
        if use.refused:
            self._uncounted += 1
        elif use.tool == "Read":
            self._read.add(use.argument)
        return super()._record(use)


def _use(tool: Tool, argument: str, serves: str, refused: str = "", results: int = 0) -> ToolUse:
    return ToolUse(tool=tool, argument=_logged(argument), serves=one_line(serves), refused=refused, results=results)


def _logged(argument: str) -> str:
    """Return an argument as the log holds it: a path is never cut, or two of them could look the same."""
    return one_line(argument, limit=2 * MAX_ARGUMENT_CHARACTERS)


def _unparsed(arguments: Any) -> str:
    """Return arguments that do not fit as the log holds them."""
    try:
        return json.dumps(arguments, ensure_ascii=False, sort_keys=True)[:MAX_ARGUMENT_CHARACTERS]
    except (TypeError, ValueError, RecursionError):
        return type(arguments).__name__
