"""One run, step by step: what stood at a step, what it changed, who voted and who was called in it (rules E4, F2)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.cost import TOKENS
from verifyplan.analysis.explain import RULE_MEANINGS, explain
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.step_changes import cross_changes, plan_changes, turn_changes
from verifyplan.analysis.steps import PANEL, PHASES, call_places, call_turns, history_places, steps_of
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


_ARRIVED = {"admitted": "OPEN", "promoted": "OPEN", "overflowed": "overflow"}
WAITING = "waiting"
"""Where a finding stands that has no class yet."""


@dataclass(frozen=True, eq=False)
class RunSteps:
    """A set of one run, to be looked at by its steps; whatever is derived is derived once."""

    one: RunSet

    @cached_property
    def kind(self) -> str:
        """What was run: cross, votes, plan or debate."""
        return str(self.one.runs["kind"].iloc[0])

    @cached_property
    def steps(self) -> pd.DataFrame:
        """The run's steps; see `verifyplan.analysis.steps.steps`."""
        return steps_of(self.one)

    @cached_property
    def _read(self) -> dict[Setting, pd.DataFrame]:
        return {}

    def judged(self, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """Each item's class under the rules and the step at which it is given, computed once for each rules."""
        if rules not in self._read:
            self._read[rules] = judge_steps(self.one, self.steps, rules)
        return self._read[rules]

    def differences(self, rules: Setting) -> pd.DataFrame:
        """The items whose class differs from the recorded one under the rules."""
        return differences(self.one, self.steps, rules)

    def explained(self, name: str, rules: Setting = OWN_RULES) -> str:
        """The words for why an item has its class under the rules (`explain`), made once; "" where nobody judged it."""
        if not self.judged(rules)["finding_id"].eq(name).any():
            return ""
        if (name, rules) not in self._words:
            told = explain(
                self.one, name, mode=rules.mode, max_rounds=rules.max_rounds, missing_basis=rules.missing_basis
            )
            self._words[name, rules] = told.text
        return self._words[name, rules]

    @cached_property
    def _words(self) -> dict[tuple[str, Setting], str]:
        return {}

    def classes(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """The last class that each item has been given by a step: `classification` and `rule`, by `finding_id`."""
        table = self.judged(rules)
        given = table[table["step"].between(0, step)].drop_duplicates("finding_id", keep="last")
        return given.set_index("finding_id")[["classification", "rule"]].astype("object")

    def items(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """The pool at a step: challenges that have been raised, or all findings.

        Columns: `item, severity, standing, classification, rule, summary`. `standing` is a challenge's status or
        `overflow`; of a finding its class, or `waiting`. Items of a plan body stand as they were recorded.
        """
        table = self._challenges(step) if self.kind == "plan" else self._findings()
        classes = self.classes(step, rules)
        given = {name: table["item"].map(classes[name]).astype("object") for name in ("classification", "rule")}
        table = table.assign(**given)
        if self.kind != "plan":
            body = table.pop("recorded").where(table.pop("category").eq("plan-body").fillna(False).astype(bool))
            table["classification"] = table["classification"].fillna(body)
            table["standing"] = table["classification"].fillna(WAITING)
        return table[["item", "severity", "standing", "classification", "rule", "summary"]]

    def _findings(self) -> pd.DataFrame:
        findings = self.one.findings
        return pd.DataFrame(
            {
                "item": findings["finding_id"],
                "severity": None,
                "summary": findings["summary"],
                "category": findings["category"],
                "recorded": findings["classification"].astype("object"),
            }
        )

    def _challenges(self, step: int) -> pd.DataFrame:
        past = self.history[self.history["step_of_run"].le(step)]
        state = past["event"].astype("object").map(_ARRIVED)
        state = state.where(~past["event"].isin(("raised", "changed")), past["new"].astype("object"))
        last = past.assign(state=state).dropna(subset="state").drop_duplicates("challenge_id", keep="last")
        raised = past.loc[past["event"].eq("raised"), "challenge_id"]
        known = self.one.challenges[self.one.challenges["challenge_id"].isin(raised)]
        return pd.DataFrame(
            {
                "item": known["challenge_id"],
                "severity": known["severity"],
                "standing": known["challenge_id"].map(last.set_index("challenge_id")["state"]),
                "summary": known["claim"],
            }
        ).reset_index(drop=True)

    @cached_property
    def history(self) -> pd.DataFrame:
        """The challenges' history in the order of the log, with the step of the run that each row belongs to."""
        placed = self._placed(history_places(self.one))
        table = self.one.challenge_history.assign(step_of_run=placed)
        return table.sort_values("seq", kind="stable").reset_index(drop=True)

    def _placed(self, places: pd.DataFrame) -> list[int]:
        """The step of each place; of one that is no step, the last before it."""
        number = {name: i for i, name in enumerate(PHASES)}
        order = [(i, number.get(p, 0), r) for i, p, r in self._keys]
        found = {key: n for n, key in enumerate(order)}
        return [
            found[key] if key in found else max((n for n, one in enumerate(order) if one <= key), default=0)
            for key in places[["iteration", "phase", "round"]].itertuples(index=False, name=None)
        ]

    @cached_property
    def _keys(self) -> list[tuple[int, str, int]]:
        return list(self.steps[["iteration", "phase", "round"]].itertuples(index=False, name=None))

    @cached_property
    def _votes(self) -> pd.DataFrame:
        votes = self.one.votes
        return votes.assign(step=voting_step(self.steps, votes["iteration"], votes["round"]))

    @cached_property
    def found(self) -> dict[str, list[str]]:
        """Who found each finding."""
        findings = self.one.findings
        return dict(zip(findings["finding_id"], findings["discoverers"], strict=True))

    def votes(self, step: int) -> pd.DataFrame:
        """The votes that had been cast by a step, of each item those of the last iteration in which it had any."""
        cast = self._votes[self._votes["step"].between(0, step)]
        last = cast.groupby("finding_id", sort=False)["iteration"].transform("max")
        return cast[cast["iteration"].eq(last)]

    @cached_property
    def _calls(self) -> pd.DataFrame:
        if self.kind != "plan":
            rounds = call_turns(self.one) if self.kind == "debate" else call_places(self.one)["round"]
            at = {r: n for n, (_, p, r) in enumerate(self._keys) if p in ("round", "turn")}
            return self.one.calls.assign(step=[at.get(int(r), 0) for r in rounds])
        return self.one.calls.assign(step=self._placed(call_places(self.one)))

    def calls(self, step: int) -> pd.DataFrame:
        """The calls of a step: `worker, role, status`, the four kinds of tokens, `cost, duration_ms, n_tools, reason`.

        A run that was read from an artifact has its dispatches; what those do not tell, tokens above all, is missing.
        """
        columns = ["worker", "role", "status", *TOKENS, "cost", "duration_ms", "n_tools", "reason"]
        if len(self.one.calls):
            return self._calls.loc[self._calls["step"].eq(step), columns].reset_index(drop=True)
        iteration, phase, number = self._keys[step]
        sent = self.one.dispatches
        here = sent["iteration"].eq(iteration) & sent["round"].eq(number) & (phase in ("round", "panel"))
        made = sent[here.to_numpy(dtype=bool)].assign(role="worker").rename(columns={"skipped_reason": "reason"})
        return made.reindex(columns=columns).reset_index(drop=True)

    def changes(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """What a step changed, and by which rule: `item, change, why, by`, in the order of the log."""
        iteration, phase, number = self._keys[step]
        if self.kind == "debate":
            return turn_changes(self.one, number)
        if self.kind == "plan":
            here = self.history[self.history["step_of_run"].eq(step)]
            return plan_changes(self.one, here, iteration, phase)
        given = self.judged(rules)
        carried = self._carried(step, number, rules) if phase == "round" else None
        return cross_changes(given[given["step"].eq(step)], carried, phase, number)

    def _carried(self, step: int, number: int, rules: Setting) -> pd.Series[Any]:
        """The findings that wait on after a round in which they were voted on, with the rule that its votes gave."""
        asked = self._votes.loc[self._votes["step"].eq(step), "finding_id"].drop_duplicates().astype("object")
        after = self.judged(Setting(rules.mode, number, rules.missing_basis))
        given = pd.Series(after["rule"].astype("object").to_numpy(), index=after["finding_id"].astype("object"))
        settled = self.classes(step, rules).index.astype("object")
        return given.loc[asked[asked.isin(given.index) & ~asked.isin(settled)]]
