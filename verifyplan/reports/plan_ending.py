"""How a plan run ended or why it waits, and what to do next: the words that a report begins with (rules A3, A4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from verifyplan.protocol.event_run import EndedBy, PlanOutcome
from verifyplan.protocol.records import ConvergenceStatus, PlanVerdict
from verifyplan.reports.blocks import Said, Tone, Words
from verifyplan.reports.plan_parts import overflowed, standing, tally
from verifyplan.reports.plan_scores import nothing_seen
from verifyplan.reports.plan_silence import lines_of, unread
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

Kind = Literal["proceed", "trivial", "revise", "strong", "rethink", "none", "paused", "unfinished"]

TONE: dict[Kind, Tone] = {
    "proceed": "good",
    "trivial": "good",
    "revise": "fair",
    "strong": "fair",
    "rethink": "bad",
    "none": "none",
    "paused": "none",
    "unfinished": "none",
}

_KIND: dict[PlanVerdict, Kind] = {"PROCEED": "proceed", "REVISE": "revise", "RETHINK": "rethink"}

REASON = 600
"""Longest reason that is shown in a headline."""

STRONGLY = "Strongly recommended: address these before proceeding"
"""What document 000 has a strong REVISE say."""

_RULES: dict[tuple[ConvergenceStatus, PlanVerdict | None, bool], str] = {
    ("CONVERGED", "PROCEED", False): "nothing BLOCKING or SIGNIFICANT is left, which is PROCEED",
    ("CONVERGED", "REVISE", False): "one or two SIGNIFICANT and nothing BLOCKING are left, which is REVISE",
    ("CONVERGED", "REVISE", True): "three or more SIGNIFICANT are left, each with a mitigation: REVISE (strong)",
    ("FORCED_EXIT", "REVISE", True): (
        "at the last iteration three or more SIGNIFICANT are left, not all with a mitigation: REVISE (strong)"
    ),
    ("FORCED_EXIT", "RETHINK", False): "something BLOCKING is left at the last iteration, which is RETHINK",
    ("BLOCKED", None, False): "something BLOCKING is left, so there is no verdict yet",
    ("CONTINUE", None, False): "there is more to look into, so there is no verdict yet",
}
"""What the counts lead to, in words (rule A3)."""


@dataclass(frozen=True)
class Ending:
    """Where a run stands, in words."""

    kind: Kind
    headline: Words
    next_step: str
    """Empty where the run waits: its question says what to do."""

    @property
    def tone(self) -> Tone:
        """The colour of the headline."""
        return TONE[self.kind]


def ending_of(state: PlanState) -> Ending:
    """The verdict, or why there is none, and the next step; of any prefix of a run."""
    outcome = state.outcome
    if outcome is None:
        if state.waiting is not None:
            return Ending("paused", (f"Paused in iteration {state.waiting.iteration}: a question waits",), "")
        resume = "The log ends before the run does. Go on with it: verifyplan resume RUN."
        return Ending("unfinished", ("No verdict yet: the run has not ended",), resume)
    if outcome.ended_by == "sizing":
        return Ending(
            "trivial",
            ("PROCEED (trivial)",),
            "The plan is too small for a team, so nothing was checked: read it yourself, then carry it out, or have a "
            "team look at it (team='base').",
        )
    if outcome.verdict is None:
        again = _AGAIN.get(outcome.ended_by, "Verify the plan again.")
        return Ending("none", ("No verdict: ", *_reason(outcome)), again)
    kind: Kind = "strong" if outcome.strong else _KIND[outcome.verdict]
    word = "REVISE (strong)" if outcome.strong else outcome.verdict
    overridden = outcome.overridden
    left_out: Words = (" (overridden: a person left out ", Said(overridden), ")") if overridden else ()
    return Ending(kind, (word, *left_out), _step(state, kind))


_AGAIN: dict[EndedBy, str] = {
    "user": "A person ended the run. Verify the plan again when the question can be answered.",
    "budget": "Verify the plan again with a larger budget (max_tokens, max_cost), or without one.",
    "failures": "See which agents failed and why; then verify the plan again. Nothing recorded is lost.",
}
"""What to do where a run ended without a verdict, by what ended it."""


def _step(state: PlanState, kind: Kind) -> str:
    left = len(standing(state, "MINOR")) + len(overflowed(state, "SIGNIFICANT")) + len(overflowed(state, "MINOR"))
    minor = f" {counted(left, 'more challenge')} stayed open, MINOR or in overflow: see the report." if left else ""
    match kind:
        case "proceed":
            return _step_of_proceed(state, minor)
        case "revise":
            return f"Work what is listed here into the plan, then carry it out, or verify it once more.{minor}"
        case "strong":
            return f"Address what is listed here, then verify the revised plan.{minor}"
        case _:
            blocking = ", ".join(challenge.id for challenge in standing(state, "BLOCKING"))
            return f"Meet what blocks the plan ({blocking}), then verify the new plan.{minor}"


def _step_of_proceed(state: PlanState, minor: str) -> str:
    """What to do with a plan that got PROCEED; where agents were silent for want of a look, a person reads it first."""
    if not state.raised and nothing_seen(state):
        return "Nothing was looked up, and nothing was raised against the plan: before you carry it out, read it."
    if words := unread(state):
        silent = "" if state.raised else "Nothing was raised against the plan. "
        return f"{silent}{f'{minor.strip()} ' if minor else ''}Before you carry it out, read {lines_of(words)}."
    if not state.raised:
        return "Nothing was raised against the plan: see what that rests on, then carry it out."
    return f"Carry the plan out.{minor}"


def _reason(outcome: PlanOutcome) -> Words:
    reason = one_line(outcome.exit_reason, REASON)
    return (Said(reason),) if reason else ("no reason is recorded",)


def counts(state: PlanState) -> str:
    """What stands against the plan at the end of the last iteration that was counted; empty before the first."""
    counted_in = [(number, one) for number in range(1, state.iteration + 1) if (one := tally(state, number))]
    if not counted_in:
        return ""
    (number, last), settings = counted_in[-1], state.inputs.settings
    open_ = counted(last.significant_open, "SIGNIFICANT challenge")
    told = f"{last.blocking_open} BLOCKING and {open_} unsettled after iteration {number} of {settings.max_iterations}"
    left_out = f", {state.outcome.overridden} counted in" if state.outcome and state.outcome.overridden else ""
    return f"{told} (policy {settings.policy}{left_out})"


def rule(state: PlanState) -> str:
    """What these counts lead to; empty where the run did not end, and does not wait, by its counts alone."""
    outcome = state.outcome
    if not state.rulings or (outcome is not None and outcome.ended_by != "ruling"):
        return ""
    last = state.rulings[-1]
    same = last.iteration == state.iteration
    return _RULES.get((last.status, last.verdict, last.strong), "") if same else ""
