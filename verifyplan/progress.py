"""Progress of long work, in terminals and in notebooks alike; silent where nobody looks."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

SECONDS_BETWEEN_UPDATES = 0.1
"""How often a bar in a notebook is drawn again, at most: each time is a message to the page."""


@dataclass(frozen=True)
class ProgressBar:
    """A bar to move: call it once for each step done; `say` writes a line above the bar."""

    advance: Callable[[], None]
    say: Callable[[str], None]

    def __call__(self) -> None:
        """Count one step."""
        self.advance()


@contextmanager
def progress(title: str, total: int | None, shown: bool | None = None) -> Iterator[ProgressBar]:
    """Show a bar with `title`; call what this yields once for each of `total` steps done (None: unknown).

    `shown=None` shows it in a terminal or notebook and not in a pipe or log; it goes to standard error. It is gone
    when the block ends, also from the notebook's outputs.
    """
    console = Console(stderr=True, force_terminal=shown or None)
    hidden = not (shown if shown is not None else console.is_terminal or console.is_jupyter)
    if hidden:
        yield ProgressBar(lambda: None, lambda _: None)
        return
    if console.is_jupyter:
        with _notebook_bar(title, total) as step:
            yield ProgressBar(step, lambda text: console.print(text, markup=False, highlight=False, soft_wrap=True))
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield ProgressBar(
            lambda: bar.advance(task),
            lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True),
        )


@contextmanager
def _notebook_bar(title: str, total: int | None) -> Iterator[Callable[[], None]]:
    """Show a bar as an output of the cell, and empty this output at the end.

    rich shows a widget there and closes it at the end: pages that show the notebook later, as Voila does, then say
    "Error displaying widget: model not found".
    """
    from IPython.display import display  # a notebook has loaded it; commands need not

    done, drawn = 0, time.monotonic()
    output = display(_bar(title, done, total), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def step() -> None:
        nonlocal done, drawn
        done += 1
        if time.monotonic() - drawn >= SECONDS_BETWEEN_UPDATES:
            drawn = time.monotonic()
            output.update(_bar(title, done, total), raw=True)

    try:
        yield step
    finally:
        output.update({"text/plain": "", "text/html": ""}, raw=True)


def _bar(title: str, done: int, total: int | None) -> dict[str, str]:
    """Return a bar as plain text and as HTML; of an unknown total only the count is shown."""
    words = f"{title} {done}/{'?' if total is None else total}"
    ends = "" if total is None else f' value="{done}" max="{total}"'
    return {"text/plain": words, "text/html": f"<label>{html.escape(words)} <progress{ends}></progress></label>"}


def say(line: str, shown: bool | None = None) -> None:
    """Show a line on standard error, or in a notebook; `shown=None` where somebody can see it, as `progress` does."""
    console = Console(stderr=True, force_terminal=shown or None)
    if shown if shown is not None else console.is_terminal or console.is_jupyter:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
