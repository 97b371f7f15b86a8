"""The result of a search over rules: quality against cost of each, with intervals and bounds (rule R5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

import pandas as pd

from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes
from verifyplan.field_docs import with_field_docs
from verifyplan.protocol.voting_rules import VotingRules


@with_field_docs
@dataclass(frozen=True, eq=False)
class RuleSearch:
    """Many rules judged on the same recorded votes: what each is worth, and what it would have cost."""

    table: pd.DataFrame
    """One row a rule, see `documentation("search_rules")`: the fields that vary, `digest`, quality with interval and
    bounds, `n`, `censored`, cost, `on_frontier`, `is_today`."""
    quality: str
    """What `value` of the table measures, such as `f1`."""
    cost: str
    """What the frontier is cheap in: `votes`, `calls`, `tokens` or `dollars`."""
    rules: tuple[VotingRules, ...]
    """The rules, in the order of the table."""
    notes: tuple[str, ...] = ()
    """What a reader must know: censored findings, missing usage, rules that were merged."""
    synthetic: bool = False
    """True where findings or votes were generated, not observed."""
    _outcomes: RuleOutcomes | None = field(default=None, repr=False, compare=False)
    """What each rule made of every finding."""

    @property
    def frontier(self) -> pd.DataFrame:
        """The rules that no other beats: none is at least as good and cheaper, from cheap to dear."""
        return self.table[self.table["on_frontier"]].sort_values(self.cost, kind="stable", ignore_index=True)

    def __str__(self) -> str:
        """Return the frontier and today's rules in a few lines."""
        return "\n".join([f"{len(self.table)} rules", *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the search for a notebook; every text is shown as text."""
        words = escape(str(self)).replace("\n", "<br>")
        return f"<p>{words}</p>{self.frontier.to_html(index=False)}"
