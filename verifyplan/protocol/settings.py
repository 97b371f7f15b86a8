"""How a run is to be run: the `convergence` block of a cross run, the settings of a plan run (rules B1, A3-A12)."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self, TypedDict, get_args

from pydantic import Field, ValidationError, model_validator

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.protocol.base import Model, validation_problems
from verifyplan.protocol.plan_rules import PlanRules, Policy
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.vote import Mode, VerificationMode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.text import did_you_mean

BlockedWord = Literal["pause", "continue"]
OnBlocked = Literal[BlockedWord, "ask"]
"""What a plan run does where it is blocked; "ask" has a function answer, as `verify` records it."""

BLOCKED_WORDS: tuple[BlockedWord, ...] = get_args(BlockedWord)


class PlanBodyVerification(TypedDict):
    """How the items of a plan body are verified."""

    enabled: bool
    maxRounds: int
    gating: bool


class ConvergenceBlock(TypedDict):
    """The settings of a cross run, under the names that artifacts give them."""

    enabled: bool
    adversarial: bool
    maxRounds: int
    effectiveMaxRounds: int
    verificationMode: VerificationMode
    planBodyVerification: PlanBodyVerification


class Limits(Model):
    """The limits of a run; they are checked before a call is sent (rule A12)."""

    max_tokens: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Tokens, in and out, that end the run once they are used."
    )
    max_cost: Annotated[Decimal, Field(gt=0, allow_inf_nan=False)] | None = Field(
        default=None, description="US dollars that end the run once they are spent."
    )


class PanelSettings(Model):
    """The panel that votes on challenges after research (rule A9).

    Raises SettingsError, listing all that is wrong.
    """

    if not TYPE_CHECKING:  # type checkers take the fields as the arguments

        def __init__(self, /, **fields: Any) -> None:
            try:
                super().__init__(**fields)
            except ValidationError as error:
                fix = "change it, or leave it out"
                raise SettingsError(
                    validation_problems(error, type(self).model_fields, "a panel's settings", fix)
                ) from None

    workers: tuple[str, ...] = Field(default=("panel-1", "panel-2", "panel-3"), description="The roster, in order.")
    mode: Mode = Field(default="adversarial", description="Whether workers are to confirm or to break a challenge.")
    max_rounds: Annotated[int, Field(ge=1, le=3)] = Field(default=1, description="The rounds of votes allowed.")
    items_per_call: Annotated[int, Field(ge=1)] | None = Field(
        default=None, description="Challenges that one call asks about; None for all."
    )
    rules: VotingRules = Field(
        default=VotingRules(),
        description="All other rules that decide; a mode and rounds that they name become those above.",
    )

    @model_validator(mode="before")
    @classmethod
    def _state_once(cls, values: Any) -> Any:
        """Take the mode and the rounds of the rules; ValueError where a field says something else."""
        if not isinstance(values, Mapping) or "rules" not in values:
            return values
        rules = values["rules"]  # a text is a preset, never a file: settings are read from logs, too
        if isinstance(rules, str) and rules not in VotingRules.PRESETS:
            message = f"{rules!r} is not a preset{did_you_mean(rules, VotingRules.PRESETS)}"
            fix = f"use {one_of(VotingRules.PRESETS)}; read a file by VotingRules.load"
            raise SettingsError(Problem("rules", message, fix))
        rules = read_rules(VotingRules, rules)
        stated = {name: value for name in ("mode", "max_rounds") if (value := getattr(rules, name)) is not None}
        if twice := [
            Problem(name, f"is {values[name]!r}, but the rules have {value!r}", "say it once")
            for name, value in stated.items()
            if values.get(name, value) != value
        ]:
            raise SettingsError(twice)
        return {**values, **stated, "rules": rules.model_copy(update=dict.fromkeys(stated))}

    @model_validator(mode="after")
    def _can_follow(self) -> Self:
        """Check that the rules name workers of this panel alone, and do not refuse votes that come in."""
        fix = f"name workers of the panel: {', '.join(self.workers) or 'there are none'}"
        problems = [
            Problem(f"rules.{field}", f"{name!r} is not a worker of this panel", fix)
            for field, names in self.rules.not_in(self.workers).items()
            for name in names
        ]
        if self.rules.missing_basis == "raise":
            message = "a run cannot refuse votes without a basis, got 'raise'"
            problems.append(Problem("rules.missing_basis", message, "use 'infer', or one of the two bases"))
        if problems:
            raise SettingsError(problems)
        return self

    @property
    def all_rules(self) -> VotingRules:
        """The rules of the panel, with its mode and rounds."""
        return self.rules.model_copy(update={"mode": self.mode, "max_rounds": self.max_rounds})


class PlanSettings(Limits):
    """The settings of a plan run; a replay may change its rules."""

    rules: PlanRules = Field(default=PlanRules(), description="The rules that decide the run.")
    on_blocked: OnBlocked = "continue"
    team: TeamMode | None = Field(default=None, description="The team asked for; None to let it be sized.")
    weights: dict[str, str] | None = Field(default=None, description="Weights as decimal texts; None: the default.")
    panel: PanelSettings | None = PanelSettings()
    timeout: float | None = Field(default=600.0, description="Seconds that one call may take; None for no limit.")
    plan_check: bool = Field(
        default=False, description="Whether the blockers of the plan check are challenges of iteration 1."
    )

    @property
    def policy(self) -> Policy:
        """The policy of the rules."""
        return self.rules.policy

    @property
    def max_iterations(self) -> int:
        """The last iteration that the rules allow."""
        return self.rules.max_iterations

    @property
    def threshold(self) -> int:
        """The complexity from which on the rules scale the team."""
        return self.rules.threshold
