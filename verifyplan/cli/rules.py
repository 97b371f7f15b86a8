"""`rules`: show presets and rules, compare two of them, and search for better ones on recorded votes (rules R1-R5)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar

import typer

from verifyplan.cli.listed_commands import ListedCommand, ListedGroup, command_group
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.plan_rules import PlanRules
from verifyplan.protocol.rules_value import RulesValue, read_rules
from verifyplan.protocol.voting_rules import MODE_NOTE, VotingRules
from verifyplan.text import did_you_mean

KINDS: dict[str, type[RulesValue]] = {"voting": VotingRules, "plan": PlanRules}
"""The kinds of rules by name."""


class RulesCommands(ListedGroup):
    """The commands about rules; the search, which reads runs, is imported when it is chosen."""

    LISTED: ClassVar = {
        "search": ListedCommand("rules_search", "Search for rules that are worth their cost on recorded votes.")
    }


rules = command_group("Show, compare and search rules.", RulesCommands)


@rules.command()
def show(
    name: Annotated[
        str | None, typer.Argument(help="A preset, or a JSON file of rules. Default: list all presets.")
    ] = None,
) -> None:
    """List the presets, or explain every field of one.

    A field is shown with its value and what it does; * marks a value that is not neutral.

    \b
    Examples:
    verifyplan rules show
    verifyplan rules show sticky-refutes
    """
    if name is None:
        for word, kind in KINDS.items():
            typer.echo(f"{kind.__name__} ({word} rules)")
            for preset in kind.presets():
                chosen = kind.preset(preset)
                changed = ", ".join(f"{field}={chosen.in_words[field]}" for field in chosen.changed)
                typer.echo(f"  {preset:<20} {changed or 'neutral'}")
        return
    chosen = _read(name)
    typer.echo(f"{type(chosen).__name__}, digest {chosen.digest}")
    words = chosen.in_words
    for field, info in type(chosen).model_fields.items():
        mark = "*" if field in chosen.changed else " "
        typer.echo(f"{mark} {field} = {words[field]}\n      {info.description}")
    typer.echo("* differs from the neutral value")


@rules.command()
def diff(
    first: Annotated[str, typer.Argument(help="A preset, or a JSON file of rules.")],
    second: Annotated[str, typer.Argument(help="Another preset or file of the same kind.")],
) -> None:
    """Show field by field how two rules differ.

    \b
    Examples:
    verifyplan rules diff adversarial sticky-refutes
    verifyplan rules diff as-recorded my-rules.json
    """
    one = _read(first)
    other = _read(second, type(one))
    typer.echo(one.diff(other) or "the same rules")
    if isinstance(one, VotingRules) and isinstance(other, VotingRules) and one.mode != other.mode:
        typer.echo(f"note: {MODE_NOTE}")


def _read(name: str, kind: type[RulesValue] | None = None) -> RulesValue:
    """Return the rules of a preset or a file, of any kind unless one is given; SettingsError listing what is wrong."""
    kinds = [kind] if kind else list(KINDS.values())
    having = [each for each in kinds if name in each.PRESETS]
    if having:
        return having[0].preset(name)
    if not Path(name).is_file():
        presets = [preset for each in kinds for preset in each.presets()]
        message = f"{name!r} is neither a preset nor a file{did_you_mean(name, presets)}"
        raise SettingsError(Problem("rules", message, f"use {one_of(presets)}, or a JSON file"))
    return _of_file(name, kinds)


def _of_file(path: str, kinds: list[type[RulesValue]]) -> RulesValue:
    """Return the rules in a file, as the first kind that has its fields; SettingsError of the nearest kind."""
    errors = []
    for kind in kinds:
        try:
            return read_rules(kind, Path(path))
        except SettingsError as error:
            errors.append(error)
    raise min(errors, key=lambda error: len(error.problems))
