"""Progress of long work, in terminals and in notebooks alike; silent where nobody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@contextmanager
def progress(title: str, total: int | None, shown: bool | None = None) -> Iterator[Callable[[], None]]:
    """Show a bar with `title`; call what this yields once for each of `total` steps done (None: unknown).

    `shown=None` shows it in a terminal or notebook and not in a pipe or log; it goes to standard error.
    """
    console = Console(stderr=True, force_terminal=shown or None)
    hidden = not (shown if shown is not None else console.is_terminal or console.is_jupyter)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(title, total=total)
        yield lambda: bar.advance(task)
