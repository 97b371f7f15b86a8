"""The rules that a search recommends, in words: what they cost, what they may lose, beside the best (rule R5)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.rule_costs import cost_words
from verifyplan.analysis.treatments.rule_quality import changes_mode
from verifyplan.analysis.treatments.rule_space import order_words, space_words
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import MODE_NOTE, VotingRules
from verifyplan.text import counted

Advice = Literal["acceptable", "better", "undecided"]

FIGURES = (
    *("rule", "cost", "cost_low", "cost_high", "value", "low", "high", "n"),
    *("loss", "loss_low", "loss_high", "gain", "gain_low", "gain_high", "halves"),
)
"""The columns of `Recommendation.figures`."""


@with_field_docs
@dataclass(frozen=True, eq=False)
class Recommendation:
    """The cheapest rules that are shown to lose at most `max_loss` against the best, or that nothing is decided.

    Give `.rules` to `crossverify(rules=)`, or save them as JSON: `.rules.save("rules.json")`.
    """

    rules: VotingRules
    """The recommended rules; where nothing is decided, those of the recorded runs."""
    advice: Advice
    """`acceptable`: the rules are the cheapest that are shown to lose at most `max_loss` against the best; `better`:
    that is not shown of any, but the rules are shown to be better than those of the recorded runs; `undecided`."""
    cheapest: VotingRules
    """The rules whose loss was tested: the cheapest that most halves of the findings put near the best."""
    best: VotingRules
    """The rules that are the best over all halves."""
    recorded: VotingRules
    """The rules of the recorded runs."""
    quality: str
    """The metric that rules are chosen by, such as `f1`."""
    measure: str
    """What costs are counted in: `votes`, `calls`, `tokens` or `dollars`."""
    max_loss: float
    """What rules may lose against the best: 0.03 is three points."""
    max_cost: float | None
    """What rules were allowed to cost on all findings, in `measure`; None for any cost."""
    figures: pd.DataFrame
    """A row for the cheapest, the best and the recorded rules, measured on halves of the findings that did not choose
    them: see `documentation("search_rules.recommend")`."""
    agreeing: float
    """The share of the halves that agree: those on which `rules` lose at most `max_loss`, if the advice is `better`;
    else those on which the cheapest lose at most half of it. Below 0.95 or 0.9, nothing is decided."""
    n_needed: float
    """The findings that would decide with a probability of 80 %, if the cheapest rules are as good as the best; NaN
    where it is decided, or the rules seem to lose too much for any number."""
    n_findings: int
    """The findings that were judged, and that `cost` is of."""
    n_rules: int
    """The rules that were compared: those within `max_cost` whose quality rests on enough findings."""
    cost: float
    """What `rules` would have cost on all findings."""
    cost_recorded: float
    """What the rules of the recorded runs would have cost; NaN where that is not known."""
    notes: tuple[str, ...] = ()
    """What a reader must know: votes never cast, rules that were not compared, few runs."""
    synthetic: bool = False
    """True where findings or votes were generated, not observed."""
    mode: Mode | None = None
    """The mode that all runs were recorded in; None where they differ."""

    @property
    def decided(self) -> bool:
        """Whether anything is recommended; if not, `rules` are those of the recorded runs."""
        return self.advice != "undecided"

    @property
    def saving(self) -> float:
        """The share of the cost of the recorded rules that is saved; negative where the rules cost more."""
        return 1 - self.cost / self.cost_recorded if self.cost_recorded else math.nan

    def __str__(self) -> str:
        """Return the advice, a table of three rules, and the notes: about eight lines."""
        return "\n".join(self._lines())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the words and the figures for a notebook; every text is shown as text."""
        header, *rows = self._cells()
        return words_and_tables("\n".join([self._headline(), *self._notes()]), pd.DataFrame(rows, columns=header))

    def in_short(self) -> str:
        """Return the advice in one sentence without a stop, such as for the caption of a chart."""
        if not self.decided:
            return f"Undecided: keep the rules of the recorded runs{self._needed()}"
        return f"Recommended: {self._changes()}{self._saved()}"

    def _lines(self) -> Iterator[str]:
        yield self._headline()
        cells = self._cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        yield from self._notes()

    def _headline(self) -> str:
        made = " (synthetic)" if self.synthetic else ""
        within = "" if self.max_cost is None else f" of at most {cost_words(self.max_cost, self.measure)}"
        of = f"{counted(self.n_rules, 'rule')}{within}{made}"
        if not self.decided:
            return f"undecided among {of}: keep the rules of the recorded runs{self._needed()}"
        best = "the best" if self.max_cost is None else "the best of these"
        shown = f"lose at most {100 * self.max_loss:.3g} points of {self.quality} against {best}"
        if self.advice == "better":
            shown = "be better than the rules of the recorded runs"
        return f"recommended of {of}: {self._changes()}{self._saved()}; shown to {shown}"

    def _needed(self) -> str:
        if math.isnan(self.n_needed):
            return "; more findings may not decide, another max_loss may"
        return f"; about {_rounded(self.n_needed):,} findings would decide"

    def _saved(self) -> str:
        if self.rules == self.recorded or math.isnan(self.saving):
            return ""
        return f" ({100 * abs(self.saving):.0f} % {'fewer' if self.saving >= 0 else 'more'} {self.measure})"

    def _changes(self) -> str:
        kept: dict[str, object] = {"order": self.rules.order} if self.rules.order is not None else {}
        if self.rules.mode == self.mode and self.recorded.mode is None:
            kept["mode"] = self.mode
        changes = self.recorded.model_copy(update=kept).diff(self.rules).splitlines()
        return "; ".join(changes) or "keep the rules of the recorded runs"

    def _cells(self) -> list[list[str]]:
        """Return a header and three rules as texts: cost, quality, loss against the best, gain, and the rules."""
        first = "cheapest acceptable" if self.advice == "acceptable" else "cheapest candidate"
        loss, gain = "points below the best", "points above the recorded"
        cells = [["", f"{self.measure} a finding", self.quality, loss, gain, "rules"]]
        named = zip((first, "best", "recorded"), (self.cheapest, self.best, self.recorded), strict=True)
        rows: Any = self.figures.to_dict("records")
        for (name, rules), row in zip(named, rows, strict=True):
            quality = share_words(row["value"], row["low"], row["high"], row["n"])
            points = _points(row, "loss", ""), "-" if rules == self.recorded else _points(row, "gain", "+")
            named_mode = rules.model_copy(update={"mode": None}) if rules.mode == self.mode else rules
            cells.append([name, _cost_words(row), quality, *points, space_words(named_mode)])
        return cells

    def _notes(self) -> Iterator[str]:
        if self.rules.stop != "round" and self.rules.order:
            order = order_words(self.rules.order)
            yield f"note: within a round it {order}, until one side leads; another order may differ"
        if changes_mode(self.rules, self.mode):
            yield f"note: {MODE_NOTE}: what was measured may not hold there"
        if not self.decided and self.max_cost is not None and self.cost_recorded > self.max_cost:
            yield f"note: the rules of the recorded runs cost {cost_words(self.cost_recorded, self.measure)}"
        yield from (f"note: {note}" for note in self.notes)


def _points(row: dict[str, Any], name: str, sign: str) -> str:
    """Return a difference in points with its interval; a dash where it is not defined.

    >>> _points({"gain": 0.1, "gain_low": -0.025, "gain_high": 0.225}, "gain", "+")
    '+10.0 [-2.5, +22.5]'
    """
    if math.isnan(row[name]):
        return "-"
    value, low, high = (round(100 * row[each], 1) + 0.0 for each in (name, f"{name}_low", f"{name}_high"))
    return f"{value:{sign}.1f} [{low:{sign}.1f}, {high:{sign}.1f}]"


def _cost_words(row: dict[str, Any]) -> str:
    """Return the cost of a finding with its interval, if it has one; a dash where it is not known."""
    if math.isnan(row["cost"]):
        return "-"
    has_ends = row["cost_high"] - row["cost_low"] > 1e-9
    return f"{row['cost']:.3g}" + (f" [{row['cost_low']:.3g}, {row['cost_high']:.3g}]" if has_ends else "")


def _rounded(n: float) -> int:
    """Return a number rounded up to two digits.

    >>> _rounded(1234), _rounded(87.2)
    (1300, 88)
    """
    unit: int = 10 ** max(int(math.log10(max(n, 1))) - 1, 0)
    return math.ceil(n / unit) * unit
