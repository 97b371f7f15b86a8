"""What a model may write when it calls a tool: one closed model for each, from which the API's schema comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, ValidationError, model_validator

from verifyplan.protocol.base import Model
from verifyplan.protocol.call import Tool

MAX_ARGUMENT_CHARACTERS = 1_000
"""Characters of a path, a pattern, a query or an address."""
MAX_PATHS = 20
"""Paths of one question about the history."""

_LAST_LINE = 10_000_000
_SHOWN_PROBLEMS = 5


_Text = Annotated[
    str, Field(min_length=1, max_length=MAX_ARGUMENT_CHARACTERS)
]  # a text with a limit is checked to be Unicode, too
_Serves = Annotated[str, Field(max_length=100)]


class Arguments(Model):
    """The arguments of any tool: `argument` is what the log keeps of them, `purpose` what the call is for."""

    model_config = ConfigDict(strict=True)

    @property
    def argument(self) -> str:
        """The arguments as one line of the log."""
        raise NotImplementedError

    @property
    def purpose(self) -> str:
        """The unknown or risk that the call names; empty where it names none."""
        return str(getattr(self, "serves", "")).strip()


class ReadArguments(Arguments):
    """Read takes a path and, for a part of a file, its first and last line."""

    path: _Text = Field(description="Path of the file, relative to the repository's root.")
    first: int = Field(default=1, ge=1, le=_LAST_LINE, description="First line to show, from 1.")
    last: int | None = Field(default=None, ge=1, le=_LAST_LINE, description="Last line to show.")

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
        """The pattern, and where it was looked for."""
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

    @property
    def argument(self) -> str:
        """The query."""
        return self.query


class WebSearchArguments(Arguments):
    """WebSearch takes a query, and must name what it serves."""

    query: _Text = Field(description="Words to look for.")
    serves: _Serves = Field(description="Id of the unknown that this serves, such as U1, or the risk.")

    @property
    def argument(self) -> str:
        """The query."""
        return self.query


class WebFetchArguments(Arguments):
    """WebFetch takes an address, and must name what it serves."""

    url: _Text = Field(pattern=r"^https?://[^\s]+$", description="Address of the page, from https:// on.")
    serves: _Serves = Field(description="Id of the unknown that this serves, such as U1, or the risk.")

    @property
    def argument(self) -> str:
        """The address."""
        return self.url


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
    """The arguments of a call, whatever JSON a model wrote; ArgumentsError names all that is wrong with them.

    >>> parse_arguments("Read", {"file": "a.py"})
    Traceback (most recent call last):
    verifyplan.agents.tools.arguments.ArgumentsError: Read was not run: path: Field required; file: Extra inputs are
    not permitted. It takes path, first (optional), last (optional).
    """
    model = ARGUMENTS[tool]
    problems = [] if isinstance(arguments, dict) else ["the arguments are no JSON object"]
    try:
        return model.model_validate(arguments)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
    problems = problems or [_problem(one["loc"], one["msg"]) for one in found]
    shown = "; ".join(problems[:_SHOWN_PROBLEMS])
    fields = (name if field.is_required() else f"{name} (optional)" for name, field in model.model_fields.items())
    raise ArgumentsError(f"{tool} was not run: {shown}. It takes {', '.join(fields)}.")


def _problem(place: tuple[int | str, ...], message: str) -> str:
    where = ".".join(str(part)[:40] for part in place)
    what = message.removeprefix("Value error, ")[:200]
    return f"{where}: {what}" if where else what
