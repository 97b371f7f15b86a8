"""What is shown of batches while they are under way."""

from __future__ import annotations

from verifyplan.runs.batch import drive as board
from verifyplan.runs.batch.drive import BatchProgress


class Bars:
    """Stands for the bars: what was opened, and how far each came."""

    def __init__(self):
        self.opened, self.open = [], 0

    def __call__(self, title, total, _):
        self.opened.append([title, total, 0])
        return self

    def __enter__(self):
        self.open += 1
        assert self.open == 1, "two bars at once"

        def step():
            self.opened[-1][2] += 1

        return step

    def __exit__(self, *_):
        self.open -= 1


def test_the_oldest_batch_that_is_under_way_is_shown(monkeypatch):
    bars = Bars()
    monkeypatch.setattr(board, "progress_bar", bars)
    with BatchProgress() as shown:
        shown.show("a", 0, 40)
        shown.show("b", 1, 3)
        shown.show("a", 14, 40)
        shown.show("a", 9, 40)
        shown.show("b", 2, 3)
        assert bars.opened == [["batch 1: requests done", 40, 14]]
        shown.show("a", 40, 40)
        assert bars.opened[1:] == [["batch 2: requests done", 3, 2]]
        shown.show("b", 3, 3)
        shown.show("c", 0, 1)
        assert bars.opened[2:] == [["batch 3: requests done", 1, 0]]
    assert bars.open == 0


def test_it_is_shown_where_somebody_looks_and_nowhere_else(capsys):
    for shown in (False, None, True):
        with BatchProgress(shown) as batches:
            batches.show("a", 14, 40)
        words = capsys.readouterr()
        assert words.out == ""
        assert ("batch 1" in words.err and "14/40" in words.err) is (shown is True)


def test_a_batch_that_is_over_when_it_is_first_looked_at(capsys):
    with BatchProgress(True) as shown:
        shown.show("a", 4, 4)
    assert capsys.readouterr().err == ""
