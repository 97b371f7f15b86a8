"""The rules of a plan run as a value: admission, settlement, convergence, degradation, team, failures (rule R3)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.records import PlanVerdict
from verifyplan.protocol.rules_value import Count, RulesValue, plain_integer, read_rules

Policy = Literal["protocol", "deliberate"]
POLICIES: tuple[Policy, ...] = get_args(Policy)

AdmissionOrder = Literal["severity", "arrival"]
AdvocateBar = Literal["MINOR", "LOW"]
"""The challenges that a devil's advocate may not raise: those of severity MINOR, those of LOW confidence."""
Forbidden = Literal["withdrawal", "uncited-blocking", "uncited", "settlement"]
"""The changes that a panel's consensus can forbid."""


def _bars(words: tuple[AdvocateBar, ...]) -> tuple[AdvocateBar, ...]:
    """Return bars once each and in one order, so that equal rules are equal values."""
    return tuple(word for word in get_args(AdvocateBar) if word in words)


def _forbidden(words: tuple[Forbidden, ...]) -> tuple[Forbidden, ...]:
    """Return what is forbidden once each and in one order, without what is forbidden by a wider word already."""
    if "settlement" in words:
        return ("settlement",)
    narrower = ("uncited-blocking",) if "uncited" in words else ()
    return tuple(word for word in get_args(Forbidden) if word in words and word not in narrower)


Limit = Annotated[int, Field(ge=0, strict=True), BeforeValidator(plain_integer)]
Switch = Annotated[bool, Field(strict=True)]


class PlanRules(RulesValue):
    """The rules of a plan run, as one value for live runs and replays; neutral fields are rules A2-A11.

    docs/plans.md says for each field what it changes, docs/rules.md where it comes from. Raises SettingsError, listing
    all that is wrong. Source: rule R3.

    >>> rules = PlanRules(max_iterations=2, consensus_forbids=[])
    >>> print(PlanRules.preset("no-panel-power").diff(rules))
    max_iterations: 3 -> 2
    >>> PlanRules.from_json(rules.to_json()) == rules
    True
    """

    policy: Policy = Field(
        default="protocol",
        description="`protocol`: an iteration is judged by its counts at once; `deliberate`: before the last iteration "
        "the run goes on while a BLOCKING or SIGNIFICANT challenge is OPEN, or a BLOCKING one UNRESOLVED.",
    )
    max_iterations: Count = Field(
        default=3, description="The iteration that ends the run with a verdict at the latest."
    )
    threshold: Limit = Field(default=7, description="The complexity, 0 to 16, from which on the team is scaled.")
    many_unknowns: Limit = Field(
        default=3, description="A plan with more unknown signals than this gets the scaled team, whatever its score."
    )
    trivial: Literal["skip", "never"] = Field(
        default="skip", description="A trivial plan: is PROCEED without any team, or gets a team like any other."
    )
    trivial_words: Limit = Field(
        default=60, description="Words outside headings and code that a trivial plan has at most."
    )
    trivial_actions: Limit = Field(default=2, description="Actions that a trivial plan has at most.")
    first_challenger_cap: Limit = Field(
        default=5, description="New challenges of the challenger that iteration 1 admits."
    )
    later_challenger_cap: Limit = Field(
        default=3, description="New challenges of the challenger that each later iteration admits."
    )
    expert_cap: Limit = Field(default=3, description="New challenges of the domain expert that an iteration admits.")
    advocate_cap: Limit = Field(
        default=2, description="New challenges of the devil's advocate that an iteration admits."
    )
    research_cap: Limit = Field(
        default=2, description="New challenges of both modes of research together that an iteration admits."
    )
    max_active: Limit = Field(
        default=8, description="Challenges that may be active at once: all but WITHDRAWN and DEFERRED ones."
    )
    admission: AdmissionOrder = Field(
        default="severity",
        description="Which arrivals of a source are admitted where not all fit: the worst (by severity, then "
        "probability, then arrival), or those that arrived first.",
    )
    displacement: Switch = Field(
        default=True,
        description="Whether an arrival of higher severity takes the place of a challenge of this iteration that "
        "nobody has voted on, answered or settled yet.",
    )
    advocate_bars: Annotated[tuple[AdvocateBar, ...], AfterValidator(_bars)] = Field(
        default=("MINOR", "LOW"),
        description="What a devil's advocate may not raise: challenges of severity MINOR, of LOW confidence.",
    )
    disputes: Literal["admit", "merge"] = Field(
        default="admit",
        description="A challenge that is raised again after it was RESOLVED or WITHDRAWN, and cites a place that it "
        "did not: is admitted as a dispute, or merged into the settled one.",
    )
    consensus_forbids: Annotated[tuple[Forbidden, ...], AfterValidator(_forbidden)] = Field(
        default=("withdrawal", "uncited-blocking"),
        description="What is refused in an iteration whose panel left the challenge at consensus: `withdrawal`; "
        "`uncited-blocking`, a BLOCKING challenge RESOLVED without a citation; `uncited`, any settlement without a "
        "citation; `settlement`, any settlement. An empty list forbids nothing.",
    )
    uncited_settlement: Literal["keep", "refuse"] = Field(
        default="keep",
        description="A challenge that is RESOLVED, DEFERRED or WITHDRAWN by a resolution that cites nothing: is "
        "settled and flagged, or stays as it was.",
    )
    revise_from: Count = Field(
        default=1, description="Unsettled SIGNIFICANT challenges from which on the verdict is REVISE, not PROCEED."
    )
    strong_from: Count = Field(
        default=3,
        description="Unsettled SIGNIFICANT challenges from which on a REVISE is REVISE (strong); it is never less than "
        "revise_from.",
    )
    needs_alternatives: Switch = Field(
        default=True,
        description="Whether the run goes on, before the last iteration, where a REVISE (strong) rests on a challenge "
        "without an alternative.",
    )
    degradation: Literal["tighten", "flag", "off"] = Field(
        default="tighten",
        description="An iteration, from the second on, that made more challenges than it settled: is flagged and "
        "tightens the next, is flagged alone, or passes unnoticed.",
    )
    tight_challenger_cap: Limit = Field(
        default=1, description="New challenges of the challenger that a tightened iteration admits."
    )
    tight_research_cap: Limit = Field(
        default=0, description="New challenges of research that a tightened iteration admits."
    )
    promote_blocking: Switch = Field(
        default=True,
        description="Whether BLOCKING challenges come out of overflow when the next iteration begins, as caps allow.",
    )
    overflow_continues: Switch = Field(
        default=True,
        description="Whether a BLOCKING challenge in overflow keeps the run going before the last iteration.",
    )
    overflow_verdict: PlanVerdict = Field(
        default="REVISE", description="The best verdict of a run that ends with a BLOCKING challenge in overflow."
    )
    later_research: Literal["directive", "always", "never"] = Field(
        default="directive",
        description="Whether research modes 2 and 3 run after iteration 1: on a directive, in each iteration, or "
        "never.",
    )
    later_consults: Literal["directive", "always", "never"] = Field(
        default="directive",
        description="Whether domain expert and devil's advocate speak after iteration 1: on a directive, in each "
        "iteration of a scaled team, or never.",
    )
    exit_failures: Count = Field(
        default=2, description="Agents that fail in one iteration and so end the run without a verdict."
    )
    synthesizer_failure: Literal["exit", "carry"] = Field(
        default="exit",
        description="A synthesizer that fails: ends the run without a verdict, or settles nothing and counts as any "
        "other failure.",
    )
    unchallenged: Literal["no-verdict", "as-counted"] = Field(
        default="no-verdict",
        description="A run in which no challenger ever gave a usable answer: has no verdict, or that of its counts.",
    )

    PRESETS: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "protocol": {},
        "deliberate": {"policy": "deliberate"},
        "one-pass": {"max_iterations": 1},
        "strict-settlement": {"uncited_settlement": "refuse"},
        "binding-panel": {"consensus_forbids": ["settlement"]},
        "no-panel-power": {"consensus_forbids": []},
        "first-come": {"admission": "arrival", "displacement": False},
        "no-caps": dict.fromkeys(
            ("first_challenger_cap", "later_challenger_cap", "expert_cap", "advocate_cap", "research_cap"), 100
        )
        | {"max_active": 100, "degradation": "flag"},
        "lenient": {
            "revise_from": 3,
            "strong_from": 6,
            "consensus_forbids": [],
            "overflow_continues": False,
            "overflow_verdict": "PROCEED",
        },
    }


NEUTRAL_RULES = PlanRules()
"""The rules of the protocol: every field neutral."""


def stated_rules(rules: object = None, **short: object) -> PlanRules:
    """Return rules as they are stated: as a whole, and some fields by arguments of their own, None where not stated.

    Raises SettingsError where the two state a field differently, listing all that is wrong.

    >>> stated_rules("no-panel-power", max_iterations=2).changed
    {'max_iterations': 2, 'consensus_forbids': []}
    """
    problems = Problems()
    whole = NEUTRAL_RULES if rules is None else problems.of(lambda: read_rules(PlanRules, rules))
    alone = problems.of(lambda: PlanRules(**{name: value for name, value in short.items() if value is not None}))
    if whole is None or alone is None:
        raise problems.error()
    given, stated = {name: getattr(alone, name) for name, value in short.items() if value is not None}, whole.changed
    if twice := [
        Problem(name, f"is {value!r}, and the rules say {stated[name]!r}", "state it once")
        for name, value in given.items()
        if stated.get(name, value) != value
    ]:
        raise SettingsError(twice)
    return whole.model_copy(update=given)
