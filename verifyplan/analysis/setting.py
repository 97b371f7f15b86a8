"""How recorded votes are read: the mode, the rounds allowed, and what a missing basis stands for (rule B7)."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from verifyplan.analysis.replay import Reading, replay
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import MissingBasis
from verifyplan.text import counted

MIN_OFFERED_ROUNDS, MAX_OFFERED_ROUNDS = 3, 20
"""Rounds that a control offers at least, and one by one at most."""


@dataclass(frozen=True)
class Setting:
    """One way to read votes; `compare` takes one for each side. Values are checked where they are used.

    >>> Setting("adversarial", max_rounds=1)
    Setting(mode='adversarial', max_rounds=1, missing_basis='infer')
    """

    mode: Reading = "recorded"
    """`collaborative`, `adversarial`, or `recorded`: each run in its own mode."""
    max_rounds: int | None = None
    """Rounds allowed; None takes each run's own."""
    missing_basis: MissingBasis = "infer"
    """How an adversarial reading takes a disagree without a basis (see `classify`)."""

    @property
    def own(self) -> bool:
        """Whether each run is read in its own way: under its mode, with the rounds that it allowed.

        >>> Setting().own, Setting(max_rounds=1).own
        (True, False)
        """
        return self == Setting()

    def read(self, runs: RunSet) -> pd.DataFrame:
        """Every finding with its class under this setting (see `replay`, also for errors)."""
        return replay(runs, self.mode, max_rounds=self.max_rounds, missing_basis=self.missing_basis)


def as_setting(
    asked: Reading | Setting | None,
    usual: Reading,
    max_rounds: int | None = None,
    missing_basis: MissingBasis = "infer",
) -> Setting:
    """A Setting as it is; a mode, or the usual one if none is asked for, with the rounds and bases given."""
    return asked if isinstance(asked, Setting) else Setting(asked or usual, max_rounds, missing_basis)


def rounds_offered(runs: RunSet, asked: int | None = None) -> list[int]:
    """The numbers of rounds that a control offers for some runs: 1 to the highest that any run allowed or had.

    Never fewer than 1 to 3; above 20 only the highest, and what is `asked` for is always among them.

    >>> rounds_offered(RunSet()), rounds_offered(RunSet(), 30)
    ([1, 2, 3], [1, 2, 3, 30])
    """
    had = [runs.runs["effective_max_rounds"].max(), runs.votes["round"].max()]
    highest = max([MIN_OFFERED_ROUNDS, *(int(one) for one in had if pd.notna(one))])
    return sorted({*range(1, min(highest, MAX_OFFERED_ROUNDS) + 1), highest} | ({asked} if asked else set()))


def labels(settings: tuple[Setting, Setting], sets: tuple[RunSet, RunSet]) -> tuple[str, str]:
    """What two settings are called: their modes, and whatever else differs; if nothing does, `(a)` and `(b)`.

    The mode of `recorded` is that of the runs, if all have one mode; "own rounds" are those that each run allowed.

    >>> one = RunSet()
    >>> labels((Setting("adversarial", 1), Setting("adversarial")), (one, one))
    ('adversarial, 1 round', 'adversarial, own rounds')
    """
    a, b = settings
    named = [[_only_mode(one) if how.mode == "recorded" else how.mode] for how, one in zip(settings, sets, strict=True)]
    for how, words in zip(settings, named, strict=True):
        if a.max_rounds != b.max_rounds:
            words.append("own rounds" if how.max_rounds is None else counted(how.max_rounds, "round"))
        if a.missing_basis != b.missing_basis and how.mode != "collaborative":  # there no basis matters
            words.append(f"missing bases: {how.missing_basis}")
    first, second = (", ".join(words) for words in named)
    return (first, second) if first != second else (f"{first} (a)", f"{second} (b)")


def _only_mode(runs: RunSet) -> str:
    modes = runs.runs["mode"].dropna().unique()
    return str(modes[0]) if len(modes) == 1 else "recorded"
