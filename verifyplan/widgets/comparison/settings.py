"""The controls of one side of a mode comparison: mode, rounds, and what a missing basis stands for."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import cast

import ipywidgets as ipw

from verifyplan.analysis.replay import READINGS, Reading, Setting, rounds_offered
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import MissingBasis

OWN = 0
"""Stands for each run's own rounds; a list without a value, None, would look as if nothing was chosen."""
MODES_TOLD = {"recorded": "recorded: each run's own"}
BASES_TOLD: dict[MissingBasis, str] = {
    "infer": "infer from the words",
    "counter-evidence": "counter-evidence",
    "burden-not-met": "burden-not-met",
}
"""How a missing basis can be read here; `raise` is for scripts, which can repair the table."""


class SettingControls(ipw.VBox):
    """Three lists to choose from, named after their side (`a` or `b`), and the Setting that they make.

    Under the collaborative mode no basis matters, so its list is switched off.
    """

    def __init__(self, side: str, title: str, runs: RunSet, setting: Setting) -> None:
        self.mode = _list(f"Mode of {side}", [(MODES_TOLD.get(one, one), one) for one in READINGS], setting.mode)
        self.rounds = _list(f"Rounds of {side}", _rounds(runs, setting.max_rounds), setting.max_rounds or OWN)
        told = BASES_TOLD if setting.missing_basis in BASES_TOLD else {**BASES_TOLD, "raise": "refuse"}
        bases = [(words, basis) for basis, words in told.items()]
        self.missing_basis = _list(f"Missing bases of {side}", bases, setting.missing_basis)
        self.mode.observe(self._switch, "value")
        self._switch()
        heading = ipw.HTML(f"<b>{escape(title)}</b>")
        super().__init__([heading, self.mode, self.rounds, self.missing_basis])

    @property
    def setting(self) -> Setting:
        """What the lists say."""
        mode, basis = cast(Reading, self.mode.value), cast(MissingBasis, self.missing_basis.value)
        return Setting(mode, self.rounds.value or None, "infer" if mode == "collaborative" else basis)

    @property
    def lists(self) -> tuple[ipw.Dropdown, ...]:
        """The three lists, to listen to."""
        return self.mode, self.rounds, self.missing_basis

    def _switch(self, _: object = None) -> None:
        self.missing_basis.disabled = self.mode.value == "collaborative"


def _list(description: str, options: Sequence[tuple[str, object]], value: object) -> ipw.Dropdown:
    style, layout = {"description_width": "9.5em"}, {"width": "25em"}
    return ipw.Dropdown(description=description, options=options, value=value, style=style, layout=layout)


def _rounds(runs: RunSet, asked: int | None) -> list[tuple[str, int]]:
    """Each run's own, and the numbers that are offered for these runs."""
    return [("each run's own", OWN), *((str(one), one) for one in rounds_offered(runs, asked))]
