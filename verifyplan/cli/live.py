"""The options of agents that are models, the same for every command that runs agents. The key is none of them.

A key that stood on the command line would be seen by everybody who lists the processes of the machine, and stay in the
history of the shell: it comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

MODEL_VARIABLE = "VERIFYPLAN_MODEL"
"""Names the model where anthropic is the backend and nothing else names one; it does not make it the backend."""


class BackendName(StrEnum):
    """Who plays the agents."""

    static = "static"
    anthropic = "anthropic"


class Effort(StrEnum):
    """How much a model is asked to do for an answer."""

    low = "low"
    medium = "medium"
    high = "high"
    xhigh = "xhigh"
    max = "max"


@dataclass(frozen=True)
class AgentOptions:
    """What a user says of the agents; any of these but `--backend static` makes models of them."""

    backend: Annotated[
        BackendName | None,
        typer.Option(
            help="static: offline and deterministic, the default; anthropic: models, implied by the options below. "
            "Their key comes from ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN or the keyring, never from an option."
        ),
    ] = None
    model: Annotated[
        str | None,
        typer.Option(help=f"The model of everybody; with --backend anthropic else that of {MODEL_VARIABLE}."),
    ] = None
    model_for: Annotated[
        list[str] | None,
        typer.Option(metavar="ROLE=MODEL", help="The model of a role (challenger, ..., audit, worker). Repeatable."),
    ] = None
    worker_model: Annotated[
        list[str] | None, typer.Option(metavar="NAME=MODEL", help="The model of one worker. Repeatable.")
    ] = None
    agents: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="TOML or JSON with arguments of agents.Anthropic, such as models, workers, thinking; no key.",
        ),
    ] = None
    base_url: Annotated[str | None, typer.Option(help="The endpoint; else that of ANTHROPIC_BASE_URL.")] = None
    effort: Annotated[Effort | None, typer.Option(help="How much the models do for an answer.")] = None
    web: Annotated[
        bool, typer.Option("--web", help="Let the research roles search the web; what they look for leaves here.")
    ] = False
    memory: Annotated[Path | None, typer.Option(metavar="DIR", help="A folder of notes that agents may search.")] = None
    prices: Annotated[Path | None, typer.Option(metavar="FILE", help="A price table of your own, in TOML.")] = None
    max_concurrency: Annotated[int | None, typer.Option(min=1, help="Calls under way at once.")] = None

    @property
    def given(self) -> dict[str, Any]:
        """What was given, by the name of the option, `--backend` left out."""
        values = {option_of(one.name): getattr(self, one.name) for one in fields(self) if one.name != "backend"}
        return {option: value for option, value in values.items() if value}


CALL_TIMEOUT = 600.0
"""Seconds that one call may take."""

NOBODY = AgentOptions()
"""No options: the command's own default plays the agents."""

Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that one call may take, retries and tools included.")]
MaxCost = Annotated[
    str | None,
    typer.Option(metavar="DOLLARS", help="US dollars of a run after which it sends no call, by the table of prices."),
]
Script = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="JSON with the answer to each call, by its id (t1/propose), instead of models; offline."
    ),
]
MaxTurns = Annotated[
    int, typer.Option(min=1, help="The last turn; more than 3 only if you say so here: longer debates drift.")
]
Repetition = Annotated[int, typer.Option(min=1, help="Which run of the same inputs and settings this is.")]
Repetitions = Annotated[int, typer.Option(min=1, help="So many runs, one after the other, each a run of its own.")]


def option_of(name: str) -> str:
    """The option of an argument.

    >>> option_of("base_url")
    '--base-url'
    """
    return f"--{name.replace('_', '-')}"


def with_agents(command: Callable[..., None]) -> Callable[..., None]:
    """A command that takes `agents: AgentOptions`, with each of these options as one of its own."""
    hints = get_type_hints(AgentOptions, include_extras=True)
    options = [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(AgentOptions)
    ]
    own = inspect.signature(command, eval_str=True)
    kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own.parameters.values() if one.name != "agents"]
    names = {one.name for one in options}

    @wraps(command)
    def call(**given: Any) -> None:
        asked = AgentOptions(**{name: given.pop(name) for name in names & given.keys()})
        command(**given, agents=asked)

    parameters = [*kept, *options]
    call.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]  # as inspect reads it
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    return call


def exit_with(code: int) -> None:
    """End the command with an exit code, unless it is 0."""
    if code:
        raise typer.Exit(code)


def repeated(first: int, times: int, run: Callable[[int], int], *, told: bool = True) -> int:
    """Make so many runs, each with its repetition, `told` before each; the first exit code that is not 0, else 0."""
    codes = []
    for repetition in range(first, first + times):
        if told and times > 1:
            typer.echo(f"repetition {repetition}:")
        codes.append(run(repetition))
    return next(filter(None, codes), 0)
