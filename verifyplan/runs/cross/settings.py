"""Read the settings, the rules and the plan body of a cross run from its arguments (rules B1, B10, R2)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.settings import ConvergenceBlock
from verifyplan.protocol.vote import MissingBasis, Mode, PlanItem, VerificationMode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.settings import PLAN_BODY_TASK_TYPE, cross_settings
from verifyplan.runs.arguments import check_missing_basis, read_task_type
from verifyplan.runs.read_findings import RowSource, read_plan_items

Rules = VotingRules | str | Path | Mapping[str, Any]
"""Rules as a value, the name of a preset, a JSON file, or a mapping of fields."""


def read_run_rules(
    rules: Rules | None, *, mode: object, max_rounds: object, missing_basis: MissingBasis
) -> VotingRules:
    """Return the rules that a run is asked for; mode and rounds are None where only a task type or a setting has them.

    Raises SettingsError, listing all problems, for rules that are none, a parameter that is not neutral and says
    something else than the rules, and `missing_basis="raise"`, which a live run cannot follow.
    """
    chosen, neutral = VotingRules() if rules is None else read_rules(VotingRules, rules), VotingRules()
    twice = [
        Problem(name, f"is {value!r}, but the rules have {getattr(chosen, name)!r}", "say it once")
        for name, value in (("mode", mode), ("max_rounds", max_rounds), ("missing_basis", missing_basis))
        if getattr(neutral, name) not in (value, getattr(chosen, name)) and getattr(chosen, name) != value
    ]
    if twice:
        raise SettingsError(twice)
    basis = missing_basis if chosen.missing_basis == neutral.missing_basis else chosen.missing_basis
    check_missing_basis(basis)
    return chosen.model_copy(update={"missing_basis": basis})


def check_workers_of_rules(rules: VotingRules, roster: Collection[str]) -> None:
    """Raise a SettingsError for each worker that the rules name and the roster lacks."""
    fix = f"name workers of the roster: {', '.join(roster) or 'there are none'}"
    problems = [
        Problem(f"rules.{field}", f"{worker!r} is not a worker of this run", fix)
        for field, workers in rules.not_in(roster).items()
        for worker in workers
    ]
    if problems:
        raise SettingsError(problems)


class CrossSettings(NamedTuple):
    """The settings of a cross run: what it votes on beside findings, in how many rounds, and by which rules."""

    task_type: str
    block: ConvergenceBlock
    """The settings, under the names that artifacts give them."""
    rules: VotingRules
    """The rules that decide, with the mode and the rounds of the settings."""
    plan_items: Sequence[PlanItem]

    def inputs(self, roster: Sequence[str], *, synthetic: bool) -> dict[str, Any]:
        """Return them as fields of the inputs: the settings of the plan body apart, and voting off where it is."""
        settings: dict[str, Any] = {key: value for key, value in self.block.items() if key != "planBodyVerification"}
        settings |= {"enabled": False, "autoDisabled": "fewer-than-two-analysers"} if len(roster) < 2 else {}
        settings |= {"synthetic": True} if synthetic else {}
        return {
            "task_type": self.task_type,
            "settings": settings,
            "rules": self.rules,
            "plan_items": tuple(self.plan_items),
            "plan_settings": dict(self.block["planBodyVerification"]) if self.plan_items else None,
        }


def read_settings(
    problems: Problems,
    roster: Collection[str] | None,
    rules: Rules | None,
    settings: Mapping[str, Any] | None,
    plan_items: RowSource | None,
    *,
    task_type: str | None,
    task_key: str | None,
    mode: Mode | None,
    max_rounds: int | None,
    missing_basis: MissingBasis,
    verification: VerificationMode | None,
    gating: bool | None,
) -> CrossSettings | None:
    """Return the settings of a run, from plain parameters, rules and keys of an artifact; note what is wrong.

    The workers that rules name are checked where the roster could be read.
    """
    task = problems.of(lambda: read_task_type(task_type, task_key))
    asked = problems.of(lambda: read_run_rules(rules, mode=mode, max_rounds=max_rounds, missing_basis=missing_basis))
    if asked is not None:
        mode, max_rounds = asked.mode or mode, asked.max_rounds or max_rounds
    block = problems.of(
        lambda: cross_settings(
            task or "", settings, mode=mode, max_rounds=max_rounds, verification=verification, gating=gating
        )
    )
    if asked is None or block is None:
        return None
    if roster is not None:
        problems.of(lambda: check_workers_of_rules(asked, roster))
    items = None if task is None else problems.of(lambda: read_gate_items(plan_items, task, gating, block))
    if task is None or items is None:
        return None
    run_mode: Mode = "adversarial" if block["adversarial"] else "collaborative"
    chosen = asked.model_copy(update={"mode": run_mode, "max_rounds": block["effectiveMaxRounds"]})
    return CrossSettings(task, block, chosen, items)


def read_gate_items(
    source: RowSource | None, task_type: str, gating: bool | None, block: ConvergenceBlock
) -> list[PlanItem]:
    """Return the items of the plan body; none where its verification is off.

    Raises SettingsError for items in a run of another type, and for a gate without items.
    """
    if source is None:
        if gating is not None:
            fix = f"give plan_items, and set task_type to {PLAN_BODY_TASK_TYPE!r}; or leave gating out"
            raise SettingsError(Problem("gating", "needs a plan body, and there are no plan_items", fix))
        return []
    if task_type != PLAN_BODY_TASK_TYPE:
        message = f"need task_type {PLAN_BODY_TASK_TYPE!r}, got {task_type or None!r}"
        fix = f"set task_type to {PLAN_BODY_TASK_TYPE!r}, or leave plan_items out"
        raise SettingsError(Problem("plan_items", message, fix))
    return read_plan_items(source) if block["planBodyVerification"]["enabled"] else []
