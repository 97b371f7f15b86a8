"""Progress is seen where somebody looks, and is silent elsewhere."""

from __future__ import annotations

import builtins
import io
from contextlib import redirect_stderr

import pytest
from IPython.core.interactiveshell import InteractiveShell

from verifyplan.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(where: io.StringIO, asked: bool | None, total: int | None = 3) -> str:
    with redirect_stderr(where), progress("verifying [b]x", total, asked) as step:
        step()
        step()
    return where.getvalue()


@pytest.fixture(autouse=True)
def _plain_terminal(monkeypatch):
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


def test_a_pipe_stays_silent():
    assert shown(io.StringIO(), None) == ""


def test_a_terminal_shows_title_and_count():
    text = shown(Terminal(), None)
    assert "verifying" in text
    assert "2/3" in text


def test_what_is_asked_for_beats_what_is_found():
    assert shown(Terminal(), False) == ""
    assert "2/3" in shown(io.StringIO(), True)


def test_an_unknown_total_counts_all_the_same():
    assert "2/?" in shown(Terminal(), None, total=None)


def test_standard_output_is_left_alone(capsys):
    with progress("x", 1, shown=True) as step:
        step()
    assert capsys.readouterr().out == ""


def test_an_error_passes_through_and_the_bar_ends():
    with pytest.raises(KeyError, match="inside"), progress("x", 1, shown=True):
        raise KeyError("inside")
    with progress("again", 1, shown=True) as step:  # a second live bar would be refused if the first went on
        step()


class ZMQInteractiveShell(InteractiveShell):
    """A notebook's kernel, by the name that rich looks for, which keeps what it displays."""


@pytest.fixture
def displayed(monkeypatch):
    """What a notebook was asked to display, in order, and whether it is a new output of the cell."""
    shell, sent = ZMQInteractiveShell.instance(), list[tuple[bool, dict[str, str]]]()
    publish = lambda data, update=False, **_: sent.append((not update, data))  # noqa: E731
    monkeypatch.setattr(shell.display_pub, "publish", publish)
    monkeypatch.setattr(builtins, "get_ipython", lambda: shell, raising=False)  # as in a cell
    yield sent
    ZMQInteractiveShell.clear_instance()


def test_a_notebook_shows_one_output_that_is_empty_at_the_end(displayed, monkeypatch):
    monkeypatch.setattr("verifyplan.progress.SECONDS_BETWEEN_UPDATES", 0.0)
    with progress("a < b", 2) as step:
        step()
    new, data = zip(*displayed, strict=True)
    assert new == (True, False, False)
    assert [one["text/plain"] for one in data] == ["a < b 0/2", "a < b 1/2", ""]
    assert data[1]["text/html"] == '<label>a &lt; b 1/2 <progress value="1" max="2"></progress></label>'
    assert data[2]["text/html"] == ""


def test_a_notebook_is_not_told_of_every_step_and_of_none_where_nobody_asked(displayed):
    with progress("many", None) as step:
        for _ in range(1000):
            step()
    assert len(displayed) < 100
    assert displayed[0][1]["text/html"] == "<label>many 0/? <progress></progress></label>"
    displayed.clear()
    with progress("many", 1000, shown=False) as step:
        step()
    assert displayed == []
