"""One run's votes read under chosen rules: which class each item gets, by which rule, at which step (rules B6, B7)."""

from __future__ import annotations

import pandas as pd

from verifyplan.analysis.explain_words import RULE_MEANINGS
from verifyplan.analysis.setting import Setting
from verifyplan.analysis.steps import PANEL, PHASES
from verifyplan.frames.runset import RunSet
from verifyplan.rules.classification import CLASS_OF_RULE

NEVER = -1
"""The step of a class that was never given: the run was broken off before."""
_BY_DEFAULT = [rule for rule, given in CLASS_OF_RULE.items() if given is None and rule != "round-0"]
DIFFERENCES = ("finding_id", "iteration", "old", "new", "rule", "meaning", "censored", "filled_bases")


OWN_RULES = Setting()
"""Each run in its own way."""


def judge_steps(one: RunSet, steps: pd.DataFrame, rules: Setting = OWN_RULES) -> pd.DataFrame:
    """One run read under the rules, with the `step` at which each class is given (-1: never).

    A class that a round gives is given in that round; one that is only given because no round is left, at the end of
    a cross run, and in the panel's last round of a plan run.
    """
    table = rules.read(one)
    ends = steps.loc[steps["phase"].eq("end"), ["step", "title"]]
    end = int(ends["step"].iloc[0]) if len(ends) and ends["title"].iloc[0] == "the end" else NEVER
    by_default = table["rule"].isin(_BY_DEFAULT) & table["iteration"].eq(0)
    return table.assign(step=voting_step(steps, table["iteration"], table["decided_round"]).mask(by_default, end))


def voting_step(steps: pd.DataFrame, iterations: pd.Series[int], rounds: pd.Series[int]) -> pd.Series[int]:
    """The step of each round of votes, or of round 0, that an iteration and a number name; -1 for one that is none."""
    voting = steps.loc[steps["phase"].isin(("found", "round", PHASES[PANEL])), ["step", "iteration", "round"]]
    places = pd.DataFrame({"iteration": iterations.astype("int64"), "round": rounds.astype("int64")})
    found = places.merge(voting, on=["iteration", "round"], how="left")["step"]
    return found.fillna(NEVER).astype("int64").set_axis(places.index)


def differences(one: RunSet, steps: pd.DataFrame, rules: Setting) -> pd.DataFrame:
    """The items whose class differs under the rules from the recorded one, or from the run's own reading if none is.

    Columns: `finding_id, iteration, old, new, rule, meaning, censored, filled_bases`; `censored` where the votes that
    would decide were never cast.
    """
    new = judge_steps(one, steps, rules)
    own = new if rules.own else judge_steps(one, steps)
    old = new["recorded"].astype("object").fillna(own["classification"].astype("object"))
    table = new.assign(old=old, new=new["classification"].astype("object"), meaning=new["rule"].map(RULE_MEANINGS))
    moved = table["old"].notna() & table["old"].ne(table["new"])
    return table.loc[moved, list(DIFFERENCES)].reset_index(drop=True)
