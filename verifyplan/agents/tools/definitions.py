"""Define the tools of a model and their schemas for the API, and decide which web calls it may make (rules A12, G4)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from verifyplan.agents.untrusted_text import one_line
from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool
from verifyplan.protocol.records import UnknownType
from verifyplan.redaction import redact
from verifyplan.rules.budgets import ResearchMode, web_refusal

MAX_ARGUMENT_CHARACTERS = 1_000
"""Characters of a path, a pattern, a query or an address."""
MAX_PATHS = 20
"""Paths of one question about the history."""

_MAX_LINE_NUMBER = 10_000_000
_MAX_SHOWN_PROBLEMS = 5

# A text with a limit is checked to be Unicode, too.
_Text = Annotated[str, Field(min_length=1, max_length=MAX_ARGUMENT_CHARACTERS)]
_Serves = Annotated[str, Field(max_length=100)]


class Arguments(Model):
    """The arguments of any tool: `argument` is what the log keeps of them, `purpose` what the call is for."""

    model_config = ConfigDict(strict=True)

    @property
    def argument(self) -> str:
        """The arguments as one line of the log: the first, unless a tool has more to say."""
        return str(next(iter(dict(self).values())))

    @property
    def purpose(self) -> str:
        """The unknown or risk that the call names; empty where it names none."""
        return str(getattr(self, "serves", "")).strip()


class ReadArguments(Arguments):
    """Read takes a path and, for a part of a file, its first and last line."""

    path: _Text = Field(description="Path of the file, relative to the repository's root.")
    first: int = Field(default=1, ge=1, le=_MAX_LINE_NUMBER, description="First line to show, from 1.")
    last: int | None = Field(default=None, ge=1, le=_MAX_LINE_NUMBER, description="Last line to show.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.last is not None and self.last < self.first:
            raise ValueError(f"last ({self.last}) is before first ({self.first})")
        return self

    @property
    def argument(self) -> str:
        """The path, with the lines behind it unless all were asked for.

        >>> ReadArguments(path="a.py").argument, ReadArguments(path="a.py", first=3).argument
        ('a.py', 'a.py:3-')
        """
        return self.path if self.first == 1 and self.last is None else f"{self.path}:{self.first}-{self.last or ''}"


class GrepArguments(Arguments):
    """Grep takes a pattern and, to look in one place only, a folder or file."""

    pattern: _Text = Field(description="Regular expression that is tried on each line.")
    path: str = Field(
        default="",
        max_length=MAX_ARGUMENT_CHARACTERS,
        description="Folder or file to look in; everything if it is left out.",
    )
    serves: _Serves = Field(default="", description="Id of the unknown or risk that this serves, such as U1.")

    @property
    def argument(self) -> str:
        """The pattern, and the place of the search."""
        return f"{self.pattern} in {self.path}" if self.path else self.pattern


class GitLogArguments(Arguments):
    """git_log takes the paths whose history is asked for."""

    paths: list[_Text] = Field(
        max_length=MAX_PATHS, description="Files or folders, deleted ones too; an empty list asks about everything."
    )
    serves: _Serves = Field(default="", description="Id of the unknown or risk that this serves, such as U1.")

    @property
    def argument(self) -> str:
        """The paths, with spaces between them."""
        return " ".join(self.paths)


class MemoryArguments(Arguments):
    """memory_search takes words to look for."""

    query: _Text = Field(description="Words to look for.")
    serves: _Serves = Field(default="", description="Id of the unknown or risk that this serves, such as U1.")


class WebSearchArguments(Arguments):
    """WebSearch takes a query, and must name what it serves."""

    query: _Text = Field(description="Words to look for.")
    serves: _Serves = Field(description="Id of the unknown that this serves, such as U1, or the risk.")


class WebFetchArguments(Arguments):
    """WebFetch takes an address, and must name what it serves."""

    url: _Text = Field(pattern=r"^https?://[^\s]+$", description="Address of the page, from https:// on.")
    serves: _Serves = Field(description="Id of the unknown that this serves, such as U1, or the risk.")


ARGUMENTS: Mapping[Tool, type[Arguments]] = {
    "Read": ReadArguments,
    "Grep": GrepArguments,
    "git_log": GitLogArguments,
    "memory_search": MemoryArguments,
    "WebSearch": WebSearchArguments,
    "WebFetch": WebFetchArguments,
}


class ArgumentsError(Exception):
    """A tool was called with arguments outside its schema; the text says what is wrong and what is allowed."""


def parse_arguments(tool: Tool, arguments: Any) -> Arguments:
    """Return the arguments of a call, whatever JSON a model wrote; ArgumentsError names all that is wrong with them.

    >>> parse_arguments("Read", {"file": "a.py"})
    Traceback (most recent call last):
    verifyplan.agents.tools.definitions.ArgumentsError: Read was not run: path: Field required; file: Extra inputs are
    not permitted. It takes path, first (optional), last (optional).
    """
    model = ARGUMENTS[tool]
    problems: list[str] = []
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
    for entry in errors if isinstance(arguments, dict) else ():
        place = ".".join(str(part)[:40] for part in entry["loc"])
        text = entry["msg"].removeprefix("Value error, ")[:200]
        problems.append(f"{place}: {text}" if place else text)
    shown = "; ".join(problems[:_MAX_SHOWN_PROBLEMS]) or "the arguments are no JSON object"
    fields = (name if field.is_required() else f"{name} (optional)" for name, field in model.model_fields.items())
    raise ArgumentsError(f"{tool} was not run: {shown}. It takes {', '.join(fields)}.")


DESCRIPTIONS: Mapping[Tool, str] = {
    "Read": (
        "Shows a text file of the repository, or a document of this task such as the plan, with line numbers in front:"
        " at most 400 lines unless last says more, and always at most 60,000 characters; it says how many lines there"
        " are. Use first and last to read further. Only files of the repository can be read: nothing outside it,"
        " nothing that git ignores, nothing that looks like keys or passwords, no binary file and none above 2 MB. Each"
        " call counts against your budget; to ask for exactly the same again, or for a document of this task, is free."
    ),
    "Grep": (
        "Looks for a regular expression in the files of the repository and in the documents of this task, line by line,"
        " and shows at most 200 lines as path:line: text. Keep the expression simple: letters, . [abc] * + ? | ( ) ^ $"
        " \\b \\w \\d \\s, and (?i) at its beginning for any case. Give path to look in one folder or file only. Each"
        " call counts against your budget, also one that finds nothing."
    ),
    "git_log": (
        "Shows the latest 20 commits that touched some files or folders, newest first: date, hash, subject and files."
        " Each call counts against your budget."
    ),
    "memory_search": (
        "Looks for words in the notes that earlier work left, and shows the 5 passages that fit best, each with its"
        " place. Each call counts against your budget, also one that finds nothing."
    ),
    "WebSearch": (
        "Searches the web. Allowed only for what the repository and the notes cannot answer; serves must name the"
        " unknown or the risk that it is for. Each call counts against your budget."
    ),
    "WebFetch": (
        "Fetches one page of the web. Allowed only for what the repository and the notes cannot answer; serves must"
        " name the unknown or the risk that it is for. Each call counts against your budget."
    ),
}
"""The description of each tool for a model; `tests/agents/tools` hold its numbers equal to the enforced ones."""

_BUDGET = " A call over your budget is refused, and the answer says so."


def tool_definitions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Return the definitions of some tools as `tools=` of a message takes them, in the order given.

    The schemas are those that `ModelToolkit.run` checks again, closed and without pydantic's titles. Nothing in them
    changes from call to call, so that a prompt's cache holds them. Source: rules A12, G4.

    >>> tool_definitions(["git_log"])[0]["input_schema"]["required"]
    ['paths']
    """
    schemas = {tool: ARGUMENTS[tool].model_json_schema() for tool in tools}
    return [
        {
            "name": tool,
            "description": DESCRIPTIONS[tool] + _BUDGET,
            "input_schema": {
                "type": "object",
                "properties": {
                    name: {key: value for key, value in about.items() if key != "title"}
                    for name, about in schema["properties"].items()
                },
                "required": schema.get("required", []),
                "additionalProperties": False,
            },
        }
        for tool, schema in schemas.items()
    ]


WebTool = Literal["WebSearch", "WebFetch"]

WEB_OFF = "web search is off: Anthropic(web=True)"
"""The refusal where the web is not enabled."""

TEMPORAL_WORDS = (
    *("deprecat", "obsolete", "outdated", "legacy", "end of life", "end of support", "eol", "lts", "sunset"),
    *("retire", "discontinu", "removed in", "will be removed", "removal", "breaking change", "changelog"),
    *("version", "upgrade", "migration guide", "successor", "superseded", "latest", "expir"),
)
"""Beginnings of words that show that a call of research mode 3 asks about time."""

_TEMPORAL = re.compile(rf"\b(?:{'|'.join(re.escape(word) for word in TEMPORAL_WORDS)})")


@dataclass(frozen=True)
class WebRules:
    """The settings that decide on web calls: the research mode, the unknowns by id, and whether the web is on."""

    mode: ResearchMode
    unknowns: Mapping[str, UnknownType] = field(default_factory=dict)
    """Types of the unknowns that this call is about, by id."""
    enabled: bool = False


@dataclass(frozen=True)
class WebCall:
    """A web call that is allowed, for the conversation to make; `argument` is the query or the address."""

    tool: WebTool
    argument: str
    serves: str


def web_call_refusal(call: Arguments, rules: WebRules | None) -> str:
    """Return why a web call is refused; empty if its purpose allows it. Budgets are not checked here.

    In mode 1, `serves` is the id of one unknown. In mode 3 its words, or those of the call, must speak of time.
    Source: rule A12.
    """
    if rules is None or not rules.enabled:
        return WEB_OFF
    serves = call.purpose
    if rules.mode == "resolve" and serves and serves not in rules.unknowns:
        known = ", ".join(f"{name} ({kind})" for name, kind in sorted(rules.unknowns.items())) or "none"
        return f"{one_line(serves)} is no unknown of this task: {known}"
    unknown = rules.unknowns.get(serves)
    refused = web_refusal(rules.mode, serves, unknown, is_temporal(f"{call.argument} {serves}"))
    if refused:
        return refused
    return "" if redact(call.argument) == call.argument else "it holds what looks like a key, which goes nowhere"


def is_temporal(text: str) -> bool:
    """Return whether a text speaks of deprecation, versions, end of life and the like.

    >>> is_temporal("is boto2 deprecated?"), is_temporal("how does boto3 retry?")
    (True, False)
    """
    return bool(_TEMPORAL.search(re.sub(r"[\W_]+", " ", text.casefold())))
