"""Judge a run's recorded votes, and a single item, under presets of voting rules (rules R1, R4)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.replay import replay
from verifyplan.errors import VerifyplanError
from verifyplan.frames.runset import RunSet
from verifyplan.widgets.html import DASH, Html, paragraph, table, text

PRESETS = ("collaborative", "adversarial", "majority", "two-thirds", "unanimous", "any-refute", "sticky-refutes")
"""The presets that are tried; `vp.widgets.RuleStudio` has every field."""


class OtherRules:
    """The classes of a run's items under presets, replayed when somebody first asks for them."""

    def __init__(self, run: RunSet) -> None:
        self._run = run

    @cached_property
    def _replayed(self) -> dict[str, pd.DataFrame | str]:
        """The last class of each item by the name of the rules; why there is none, where the rules refuse the votes."""
        return {name: self._last(name) for name in PRESETS}

    def _last(self, rules: str) -> pd.DataFrame | str:
        try:
            judged = replay(self._run, rules=rules)
        except VerifyplanError as error:
            return str(error)
        return judged.drop_duplicates("finding_id", keep="last").set_index("finding_id")

    def html(self, name: str | None) -> str:
        """Return what each preset makes of the run, and of an item where one is chosen."""
        if self._run.votes.empty:
            return paragraph("Without votes, no rules can come to anything else.")
        rows = [self._row(rules, judged, name) for rules, judged in self._replayed.items()]
        own = [] if name is None else [f"{name} would be", "By the rule"]
        return table(
            "The same recorded votes under other rules", ["Rules", *own, "Items that change class"], rows
        ) + paragraph("Votes that other rules would ask for and that were never cast are marked as censored.")

    def _row(self, rules: str, judged: pd.DataFrame | str, name: str | None) -> list[Any]:
        if isinstance(judged, str):
            return [rules, *([DASH, judged] if name is not None else []), DASH if name is not None else judged]
        recorded = judged["recorded"].astype("object")
        changed = recorded.notna() & recorded.ne(judged["classification"].astype("object"))
        total = f"{int(changed.sum()):,} of {int(recorded.notna().sum()):,}" if recorded.notna().any() else DASH
        if name is None:
            return [rules, total]
        if name not in judged.index:
            return [rules, "not voted on", DASH, total]
        row = judged.loc[name]
        new, rule = str(row["classification"]), str(row["rule"])
        censored = f" (censored: {row['low']} to {row['high']})" if row["censored"] else ""
        moved = Html(f'<span class="vp-mark">{text(new)}</span>') if changed[name] else text(new)
        return [rules, Html(f"{moved}{text(censored) if censored else ''}"), f"{rule}: {RULE_MEANINGS[rule]}", total]  # type: ignore[index]
