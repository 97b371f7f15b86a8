"""Progress is seen where somebody looks, and is silent elsewhere."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

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
