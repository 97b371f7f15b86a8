"""One run's votes read under chosen rules: which class each item gets, by which rule, at which step (SPEC B6, B7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from verifyplan.analysis.explain import MEANING
from verifyplan.analysis.replay import Reading, replay
from verifyplan.analysis.steps import PANEL, PHASES
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import MissingBasis
from verifyplan.rules.classification import CLASS_OF_RULE

NEVER = -1
"""The step of a class that was never given: the run was broken off before."""
DIFFERENCES = ("finding_id", "iteration", "old", "new", "rule", "meaning", "censored", "filled_bases")


@dataclass(frozen=True)
class Rules:
    """How votes are read: see `replay`; as they stand here, each run in its own way."""

    mode: Reading = "recorded"
    max_rounds: int | None = None
    missing_basis: MissingBasis = "infer"

    @property
    def own(self) -> bool:
        """Whether these are the run's own rules."""
        return self == Rules()


OWN = Rules()


def judged(one: RunSet, steps: pd.DataFrame, rules: Rules = OWN) -> pd.DataFrame:
    """`replay` of one run, with the `step` at which each class is given (-1: never).

    A class that a round gives is given in that round; one that is only given because no round is left, at the end of
    a cross run, and in the panel's last round of a plan run.
    """
    table = replay(one, rules.mode, max_rounds=rules.max_rounds, missing_basis=rules.missing_basis)
    at = {(int(i), int(r)): int(s) for s, i, r in _voting(steps)}
    ends = steps.loc[steps["phase"].eq("end"), ["step", "title"]]
    end = int(ends["step"].iloc[0]) if len(ends) and ends["title"].iloc[0] == "the end" else NEVER
    return table.assign(step=[_step(row, at, end) for row in _rows(table)])


def _voting(steps: pd.DataFrame) -> list[tuple[Any, ...]]:
    rows = steps[steps["phase"].isin(("found", "round", PHASES[PANEL]))]
    return list(rows[["step", "iteration", "round"]].itertuples(index=False, name=None))


def _rows(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    return list(table[["iteration", "decided_round", "rule"]].itertuples(index=False, name=None))


def _step(row: tuple[Any, ...], at: dict[tuple[int, int], int], end: int) -> int:
    iteration, decided, rule = row
    by_default = rule != "round-0" and CLASS_OF_RULE[rule] is None
    return end if by_default and iteration == 0 else at.get((int(iteration), int(decided)), NEVER)


def differences(one: RunSet, steps: pd.DataFrame, rules: Rules) -> pd.DataFrame:
    """The items whose class differs under the rules from the recorded one, or from the run's own reading if none is.

    Columns: `finding_id, iteration, old, new, rule, meaning, censored, filled_bases`; `censored` where the votes that
    would decide were never cast.
    """
    new = judged(one, steps, rules)
    own = new if rules.own else judged(one, steps)
    old = new["recorded"].astype("object").fillna(own["classification"].astype("object"))
    table = new.assign(old=old, new=new["classification"].astype("object"), meaning=new["rule"].map(MEANING))
    moved = table["old"].notna() & table["old"].ne(table["new"])
    return table.loc[moved, list(DIFFERENCES)].reset_index(drop=True)
