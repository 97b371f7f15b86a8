"""Ctrl-C in a shell: what is said, and the exit code."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import typer

INTERRUPTED = 130

P = ParamSpec("P")


def interruptible(command: Callable[P, None]) -> Callable[P, None]:
    """The command, telling how a run goes on where Ctrl-C ends it; typer itself ends in silence."""

    @wraps(command)
    def call(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            command(*args, **kwargs)
        except KeyboardInterrupt as stopped:
            hints = getattr(stopped, "__notes__", [])
            typer.echo("\n".join(["Interrupted; nothing is half-written.", *hints]), err=True)
            raise typer.Exit(INTERRUPTED) from None

    return call
