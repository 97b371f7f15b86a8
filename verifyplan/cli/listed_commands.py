"""Groups of commands; those that are listed as data are imported from their modules when they are chosen."""

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
    """The module of `verifyplan.cli` with the function of the command, or with its group, under the command's name."""
    summary: str
    """The first line of the function's docstring, or the help of the group."""
    no_args_is_help: bool = True


class ListedGroup(TyperGroup):
    """A group of commands that are listed by their summaries, each loaded when it is chosen."""

    LISTED: ClassVar[Mapping[str, ListedCommand]] = {}
    """The listed commands by name; a group may have others, which are imported with it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands.update({name: TyperCommand(name, help=each.summary) for name, each in self.LISTED.items()})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Load the command that the first word names; if there is none, the error suggests the nearest."""
        name, _, rest = super().resolve_command(ctx, args)
        return name, name and self.loaded(name), rest

    def loaded(self, name: str) -> Any:
        """Return a command of the group; one that is listed is imported."""
        if name not in self.LISTED:
            return self.commands[name]
        listed = self.LISTED[name]
        with exit_on_interrupt():
            module = import_module(f"verifyplan.cli.{listed.module}")
        gc.freeze()  # looking for garbage among what was imported takes a quarter of the time of a short command
        command = getattr(module, name.replace("-", "_"))
        if not isinstance(command, typer.Typer):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(name, no_args_is_help=listed.no_args_is_help)(command)
            command = single
        return typer.main.get_command(command)


def command_group(summary: str, kind: type[TyperGroup] = TyperGroup) -> typer.Typer:
    """Return an empty group of commands, which shows its help when it is called without one."""
    group = typer.Typer(cls=kind, no_args_is_help=True, add_completion=False, rich_markup_mode=None, help=summary)
    group.callback()(lambda: None)  # without it, a group of one command would be that command
    return group
