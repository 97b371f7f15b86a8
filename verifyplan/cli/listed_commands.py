"""Groups of commands that are listed as data: a command is imported from its module when it is chosen."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from importlib import import_module
from typing import Any, ClassVar, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from verifyplan.cli import exit_on_interrupt


class ListedCommand(NamedTuple):
    """One line of the list of commands."""

    module: str
    """The module of `verifyplan.cli` that holds the function, named as the command, or the Typer `app` of a group."""
    summary: str
    """The first line of the function's docstring, or the help of the group."""
    no_args_is_help: bool = True


class ListedGroup(TyperGroup):
    """A group of commands: listed from their summaries, each loaded when it is chosen."""

    LISTED: ClassVar[Mapping[str, ListedCommand]] = {}
    """The listed commands by name; a group may have others, which were imported with it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update({name: TyperCommand(name, help=each.summary) for name, each in self.LISTED.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Find the command that the first word names, and load it; suggest the nearest where there is none."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.loaded(name), rest

    def loaded(self, name: str) -> Any:
        """Return a command of the group as click's command; import one that is listed."""
        if name not in self.LISTED:
            return self.commands[name]
        listed = self.LISTED[name]
        with exit_on_interrupt():
            module = import_module(f"verifyplan.cli.{listed.module}")
        gc.freeze()  # to look through what was imported for garbage is a quarter of the time of a short command
        command = getattr(module, name.replace("-", "_"))
        if not isinstance(command, typer.Typer):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(name, no_args_is_help=listed.no_args_is_help)(command)
            command = single
        return typer.main.get_command(command)
