"""Look at one run step by step: its items, votes and calls at a step, and what the step changed (rules E4, F2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from verifyplan.analysis.challenges import state_after
from verifyplan.analysis.cost import TOKENS, failed
from verifyplan.analysis.explain import RULE_MEANINGS, explain
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.step_changes import cross_changes, plan_changes, turn_changes
from verifyplan.analysis.steps import PANEL, PHASES, call_places, call_turns, history_places, steps_of
from verifyplan.frames.run_notes import counted_calls
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.event_run import call_of
from verifyplan.rules.classification import CLASS_OF_RULE

NEVER = -1
"""The step of a class that was never given: the run was broken off before."""

WAITING = "waiting"
"""The standing of a finding that has no class yet."""

DIFFERENCES = ("finding_id", "iteration", "old", "new", "rule", "meaning", "censored", "filled_bases")

CALL_COLUMNS = ["call_id", "reopening", "superseded", "worker", "role", "status", *TOKENS]
CALL_COLUMNS += ["cost", "duration_ms", "n_tools", "n_opened", "reason"]

OWN_RULES = Setting()
"""Each run read in its own way."""

_BY_DEFAULT = [rule for rule, given in CLASS_OF_RULE.items() if given is None and rule != "round-0"]
"""Rules that give a class only because no round is left."""


@dataclass(frozen=True, eq=False)
class RunSteps:
    """The tables of one run by its steps; whatever is derived is derived once."""

    tables: RunSet

    @cached_property
    def kind(self) -> str:
        """The kind of run: cross, votes, plan or debate."""
        return str(self.tables.runs["kind"].iloc[0])

    @cached_property
    def steps(self) -> pd.DataFrame:
        """The run's steps; see `verifyplan.analysis.steps.steps`."""
        return steps_of(self.tables)

    @cached_property
    def _judged(self) -> dict[Setting, pd.DataFrame]:
        return {}

    @cached_property
    def _texts(self) -> dict[tuple[str, Setting], str]:
        return {}

    def judged(self, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """Return each item's class under the rules, with the `step` at which it is given (-1: never).

        A class that a round gives is given in that round; one that is only given because no round is left, at the end
        of a cross run, and in the panel's last round of a plan run.
        """
        if rules not in self._judged:
            table = rules.replay(self.tables)
            ends = self.steps.loc[self.steps["phase"].eq("end"), ["step", "title"]]
            end = int(ends["step"].iloc[0]) if len(ends) and ends["title"].iloc[0] == "the end" else NEVER
            by_default = table["rule"].isin(_BY_DEFAULT) & table["iteration"].eq(0)
            steps = self._voting_step(table["iteration"], table["decided_round"])
            self._judged[rules] = table.assign(step=steps.mask(by_default, end))
        return self._judged[rules]

    def _voting_step(self, iterations: pd.Series[int], rounds: pd.Series[int]) -> pd.Series[int]:
        """Return the step of each round of votes, or of round 0, by iteration and number; -1 where there is none."""
        phases = self.steps["phase"].isin(("found", "round", PHASES[PANEL]))
        voting = self.steps.loc[phases, ["step", "iteration", "round"]]
        places = pd.DataFrame({"iteration": iterations.astype("int64"), "round": rounds.astype("int64")})
        steps = places.merge(voting, on=["iteration", "round"], how="left")
        return steps["step"].fillna(NEVER).astype("int64").set_axis(places.index)

    def differences(self, rules: Setting) -> pd.DataFrame:
        """Return the items whose class differs under the rules from the recorded one, or the own one if none is.

        Columns: `finding_id, iteration, old, new, rule, meaning, censored, filled_bases`; `censored` where the votes
        that would decide were never cast.
        """
        new, own = self.judged(rules), self.judged()
        old = new["recorded"].astype("object").fillna(own["classification"].astype("object"))
        table = new.assign(old=old, new=new["classification"].astype("object"), meaning=new["rule"].map(RULE_MEANINGS))
        moved = table["old"].notna() & table["old"].ne(table["new"])
        return table.loc[moved, list(DIFFERENCES)].reset_index(drop=True)

    def explained(self, name: str, rules: Setting = OWN_RULES) -> str:
        """Return the words for why an item has its class under the rules (`explain`); "" where nobody judged it."""
        if not self.judged(rules)["finding_id"].eq(name).any():
            return ""
        if (name, rules) not in self._texts:
            mode, max_rounds, missing_basis = rules.mode, rules.max_rounds, rules.missing_basis
            explanation = explain(self.tables, name, mode=mode, max_rounds=max_rounds, missing_basis=missing_basis)
            self._texts[name, rules] = explanation.text
        return self._texts[name, rules]

    def classes(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """Return the last class that each item has by a step: `classification` and `rule`, by `finding_id`."""
        table = self.judged(rules)
        last = table[table["step"].between(0, step)].drop_duplicates("finding_id", keep="last")
        return last.set_index("finding_id")[["classification", "rule"]].astype("object")

    def items(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """Return the pool at a step: challenges that have been raised, or all findings.

        Columns: `item, severity, standing, classification, rule, summary`. `standing` is a challenge's status or
        `overflow`; of a finding its class, or `waiting`. Items of a plan body have the class that was recorded.
        """
        classes = self.classes(step, rules)
        if self.kind == "plan":
            past = self.history[self.history["step_of_run"].le(step)]
            past = past.assign(state=state_after(past, raised=True))
            last = past.dropna(subset="state").drop_duplicates("challenge_id", keep="last")
            raised = past.loc[past["event"].eq("raised"), "challenge_id"]
            known = self.tables.challenges[self.tables.challenges["challenge_id"].isin(raised)].reset_index(drop=True)
            item, severity, summary = known["challenge_id"], known["severity"], known["claim"]
            standing = item.map(last.set_index("challenge_id")["state"])
            given = item.map(classes["classification"]).astype("object")
        else:
            findings = self.tables.findings
            item, severity, summary = findings["finding_id"], None, findings["summary"]
            recorded = findings["classification"].astype("object")
            body = recorded.where(findings["category"].eq(PLAN_BODY).fillna(False).astype(bool))
            given = item.map(classes["classification"]).astype("object").fillna(body)
            standing = given.fillna(WAITING)
        columns = {"item": item, "severity": severity, "standing": standing, "classification": given}
        return pd.DataFrame(columns | {"rule": item.map(classes["rule"]).astype("object"), "summary": summary})

    @cached_property
    def history(self) -> pd.DataFrame:
        """The challenges' history in the order of the log, with the step of the run that each row belongs to."""
        table = self.tables.challenge_history.assign(step_of_run=self._steps_at(history_places(self.tables)))
        return table.sort_values("seq", kind="stable").reset_index(drop=True)

    def _steps_at(self, places: pd.DataFrame) -> list[int]:
        """Return the step of each place; of one that is no step, the last before it."""
        number = {name: i for i, name in enumerate(PHASES)}
        order = [(iteration, number.get(phase, 0), round_) for iteration, phase, round_ in self._keys]
        steps = {key: step for step, key in enumerate(order)}
        return [
            steps[key] if key in steps else max((step for step, at in enumerate(order) if at <= key), default=0)
            for key in places[["iteration", "phase", "round"]].itertuples(index=False, name=None)
        ]

    @cached_property
    def _keys(self) -> list[tuple[int, str, int]]:
        return list(self.steps[["iteration", "phase", "round"]].itertuples(index=False, name=None))

    @cached_property
    def discoverers(self) -> dict[str, list[str]]:
        """The discoverers of each finding, by its id."""
        findings = self.tables.findings
        return dict(zip(findings["finding_id"], findings["discoverers"], strict=True))

    @cached_property
    def _votes(self) -> pd.DataFrame:
        votes = self.tables.votes
        return votes.assign(step=self._voting_step(votes["iteration"], votes["round"]))

    def votes(self, step: int) -> pd.DataFrame:
        """Return the votes cast by a step, of each item those of the last iteration in which it had any."""
        cast = self._votes[self._votes["step"].between(0, step)]
        last = cast.groupby("finding_id", sort=False)["iteration"].transform("max")
        return cast[cast["iteration"].eq(last)]

    @cached_property
    def _calls(self) -> pd.DataFrame:
        if self.kind == "plan":
            return self.tables.calls.assign(step=self._steps_at(call_places(self.tables)))
        rounds = call_turns(self.tables) if self.kind == "debate" else call_places(self.tables)["round"]
        at = {number: step for step, (_, phase, number) in enumerate(self._keys) if phase in ("round", "turn")}
        return self.tables.calls.assign(step=[at.get(int(number), 0) for number in rounds])

    def calls(self, step: int) -> pd.DataFrame:
        """Return a step's calls, those that a reopening superseded among them.

        Columns: `call_id, reopening, superseded, worker, role, status`, token counts, `cost, duration_ms, n_tools,
        n_opened, reason`. A run that was read from an artifact has its dispatches; what those do not tell, tokens
        above all, is missing.
        """
        if len(self.tables.calls):
            return self._calls.loc[self._calls["step"].eq(step), CALL_COLUMNS].reset_index(drop=True)
        iteration, phase, number = self._keys[step]
        sent = self.tables.dispatches
        here = sent["iteration"].eq(iteration) & sent["round"].eq(number) & (phase in ("round", "panel"))
        made = (
            sent[here.to_numpy(dtype=bool)]
            .assign(role="worker", reopening=0, superseded=False)
            .rename(columns={"skipped_reason": "reason"})
        )
        return made.reindex(columns=CALL_COLUMNS).reset_index(drop=True)

    def step_of(self, row: Mapping[str, Any]) -> int:
        """Return the step that a row of a table belongs to, by its call or turn, else by its iteration and round.

        The last step that fits; that of the run's end where the row names none.
        """
        named = {name: row[name] for name in ("call_id", "turn_id", "iteration", "round") if pd.notna(row.get(name))}
        call = named.get("call_id", call_of(str(named.get("turn_id", ""))))
        made = self._calls.loc[self._calls["call_id"].eq(call).fillna(False).to_numpy(dtype=bool), "step"]
        if len(made):
            return int(made.iloc[-1])
        here = self.steps["step"].ge(0)
        for name in ("iteration", "round"):
            if name in named:
                here &= self.steps[name].eq(int(named[name]))
        if "round" in named:
            here &= self.steps["phase"].ne("end")
        return int(self.steps.loc[here, "step"].max()) if here.any() else len(self.steps) - 1

    @cached_property
    def call_counts(self) -> pd.DataFrame:
        """The calls of each step: how many there are (`n`) and how many of them failed (`failed`)."""
        if len(self.tables.calls):
            made = self._calls[counted_calls(self._calls)]
            groups = failed(made).groupby(made["step"])
        else:
            sent, places = self.tables.dispatches, self.steps[self.steps["phase"].isin(("round", "panel"))]
            made = sent.assign(failed=failed(sent)).merge(places, on=["iteration", "round"])
            groups = made["failed"].groupby(made["step"])
        table = pd.DataFrame({"n": groups.size(), "failed": groups.sum()})
        return table.reindex(self.steps["step"], fill_value=0).astype("int64")

    def changes(self, step: int, rules: Setting = OWN_RULES) -> pd.DataFrame:
        """Return what a step changed, and by which rule: `item, change, why, by`, in the order of the log."""
        iteration, phase, number = self._keys[step]
        if self.kind == "debate":
            return turn_changes(self.tables, number)
        if self.kind == "plan":
            here = self.history[self.history["step_of_run"].eq(step)]
            return plan_changes(self.tables, here, iteration, phase)
        judged = self.judged(rules)
        carried = self._carried(step, number, rules) if phase == "round" else None
        return cross_changes(judged[judged["step"].eq(step)], carried, phase, number)

    def _carried(self, step: int, number: int, rules: Setting) -> pd.Series[Any]:
        """Return the rule that a round's votes gave, for the findings that wait on after it."""
        voted = self._votes.loc[self._votes["step"].eq(step), "finding_id"].drop_duplicates().astype("object")
        after = self.judged(Setting(rules.mode, number, rules.missing_basis))
        given = pd.Series(after["rule"].astype("object").to_numpy(), index=after["finding_id"].astype("object"))
        settled = self.classes(step, rules).index.astype("object")
        return given.loc[voted[voted.isin(given.index) & ~voted.isin(settled)]]
