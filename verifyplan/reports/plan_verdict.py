"""Report the verdict of a plan run: how it ended or why it waits, what to change, and what to do next (A3, A4, A13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verifyplan.protocol.event_run import Checkpoint, EndedBy, PlanOutcome
from verifyplan.protocol.records import Challenge, ConvergenceStatus, PlanVerdict
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Code,
    Inline,
    Link,
    Paragraph,
    Quoted,
    Strong,
    Tone,
    Words,
    joined,
    titled_bullets,
)
from verifyplan.reports.plan_facts import (
    cited_places,
    convergence_of,
    id_link,
    nothing_looked_up,
    overflowed,
    unsettled,
)
from verifyplan.reports.plan_grounds import grounds, line_ranges, unchallenged_destruction, unread_notes
from verifyplan.reports.visible import one_line, sentence
from verifyplan.rules.going_on import CANNOT_BE_KEPT, NO_LOG, how_to_go_on
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

Kind = Literal["proceed", "trivial", "revise", "strong", "rethink", "none", "paused", "unfinished"]

TONES: dict[Kind, Tone] = {"proceed": "good", "trivial": "good", "revise": "fair", "strong": "fair", "rethink": "bad"}
"""The colours of headlines; the others have none."""
KINDS: dict[PlanVerdict, Kind] = {"PROCEED": "proceed", "REVISE": "revise", "RETHINK": "rethink"}
MAX_REASON_CHARACTERS = 600
"""Longest mitigation or reason at the head; the whole text is with its challenge."""
MAX_CLAIM_CHARACTERS = 300
"""Longest claim or concern there."""
UNNAMED_CHALLENGE = "ID"
"""The name in a command where a pause names no challenge."""
STRONGLY = "Strongly recommended: address these before proceeding"

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
"""The result of the counts, in words (rule A3)."""
_NEXT_STEPS: dict[EndedBy, str] = {
    "user": "A person ended the run. Verify the plan again when the question can be answered.",
    "failures": "See which agents failed and why; then verify the plan again. Nothing recorded is lost.",
}
"""The next step after a run without a verdict, by what ended it."""


@dataclass(frozen=True)
class Ending:
    """How a run ended, or why it has not, in words."""

    kind: Kind
    headline: Words
    next_step: str
    """Empty where the run waits: its question says what to do."""

    @property
    def tone(self) -> Tone:
        """The colour of the headline."""
        return TONES.get(self.kind, "none")


def ending_of(state: PlanState) -> Ending:
    """Return the verdict, or why there is none, and the next step; of any prefix of a run."""
    outcome = state.outcome
    if outcome is None:
        if state.waiting is not None:
            return Ending("paused", (f"Paused in iteration {state.waiting.iteration}: a question waits",), "")
        resume = f"The log ends before the run does. Go on with it: {_go_on(state)}"
        return Ending("unfinished", ("No verdict yet: the run has not ended",), resume)
    if outcome.ended_by == "sizing":
        step = (
            "The plan is too small for a team, so nothing was checked: read it yourself, then carry it out, or have a "
            "team look at it (team='base')."
        )
        return Ending("trivial", ("PROCEED (trivial)",), step)
    if outcome.verdict is None:
        reason = one_line(outcome.exit_reason, MAX_REASON_CHARACTERS)
        why = Quoted(reason) if reason else "no reason is recorded"
        return Ending("none", ("No verdict: ", why), _step_without_verdict(state, outcome))
    kind: Kind = "strong" if outcome.strong else KINDS[outcome.verdict]
    word = "REVISE (strong)" if outcome.strong else outcome.verdict
    left_out = outcome.overridden
    overridden: Words = (" (overridden: a person left out ", Quoted(left_out), ")") if left_out else ()
    return Ending(kind, (word, *overridden), _next_step(state, kind))


def _step_without_verdict(state: PlanState, outcome: PlanOutcome) -> str:
    if outcome.ended_by == "budget" and CANNOT_BE_KEPT in outcome.exit_reason:
        return (
            "No higher limit helps, as what was used is unknown: verify the plan again without max_cost and "
            "max_tokens, or at an endpoint that reports its usage."
        )
    if outcome.ended_by == "budget":
        again = _go_on(state, retry_failed=True, kept_back=[outcome.exit_reason])
        return f"Raise the limit, and ask for what it kept back; no reply on disk is paid for twice: {again}"
    if outcome.ended_by == "failures" and state.failure_kinds:
        return f"See which agents failed and why; then ask them again: {_go_on(state, retry_failed=True)}"
    return _NEXT_STEPS.get(outcome.ended_by, "Verify the plan again.")


def _go_on(state: PlanState, *, retry_failed: bool = False, kept_back: Sequence[str] = ()) -> str:
    backend = state.started.backend if state.started else None
    return how_to_go_on(state.log_place, backend, retry_failed=retry_failed, kept_back=kept_back)


def _next_step(state: PlanState, kind: Kind) -> str:
    left = len(unsettled(state, "MINOR")) + len(overflowed(state, "SIGNIFICANT")) + len(overflowed(state, "MINOR"))
    minor = f" {counted(left, 'more challenge')} stayed open, MINOR or in overflow: see the report." if left else ""
    match kind:
        case "proceed":
            return _step_after_proceed(state, minor)
        case "revise":
            return f"Change the plan as listed here, then carry it out, or verify it once more.{minor}"
        case "strong":
            return f"Address what is listed here, then verify the revised plan.{minor}"
        case _:
            blocking = ", ".join(challenge.id for challenge in unsettled(state, "BLOCKING"))
            return f"Resolve what blocks the plan ({blocking}), then verify the new plan.{minor}"


def _step_after_proceed(state: PlanState, minor: str) -> str:
    """Return what to do with a plan that got PROCEED; where agents looked at nothing, a person reads it first."""
    if not state.raised and nothing_looked_up(state):
        return "Nothing was looked up, and nothing was raised against the plan: before you carry it out, read it."
    if signs := unchallenged_destruction(state):
        silent = "" if state.raised else "Nothing was raised against the plan. "
        return f"{silent}{f'{minor.strip()} ' if minor else ''}Before you carry it out, read {line_ranges(signs)}."
    if not state.raised:
        return "Nothing was raised against the plan: see what that rests on, then carry it out."
    return f"Carry the plan out.{minor}"


def counts(state: PlanState) -> str:
    """Return what is unsettled at the end of the last iteration that was counted; empty before the first."""
    counted_in = [(number, left) for number in range(1, state.iteration + 1) if (left := convergence_of(state, number))]
    if not counted_in:
        return ""
    (number, last), settings = counted_in[-1], state.inputs.settings
    significant = counted(last.significant_open, "SIGNIFICANT challenge")
    when = f"unsettled after iteration {number} of {settings.max_iterations}"
    left_out = f", {state.outcome.overridden} counted in" if state.outcome and state.outcome.overridden else ""
    return f"{last.blocking_open} BLOCKING and {significant} {when} (policy {settings.policy}{left_out})"


def _rule(state: PlanState) -> str:
    """Return what these counts lead to; empty where the run did not end, and does not wait, by its counts alone."""
    outcome = state.outcome
    if not state.rulings or (outcome is not None and outcome.ended_by != "ruling"):
        return ""
    last = state.rulings[-1]
    return _RULES.get((last.status, last.verdict, last.strong), "") if last.iteration == state.iteration else ""


def lead(state: PlanState, ending: Ending) -> Iterator[Block]:
    """Yield what follows the headline, up to the next step."""
    if state.started is not None and state.started.synthetic:
        yield Paragraph((Strong("Synthetic"), ": inputs or replies of this run were generated, not observed."))
    yield from (Paragraph((Strong(f"{note[:1].upper()}{note[1:]}."),)) for note in unread_notes(state))
    yield from _basis(state)
    if state.waiting is not None:
        yield from _question(state, state.waiting)
    blocking, significant = unsettled(state, "BLOCKING"), unsettled(state, "SIGNIFICANT")
    match ending.kind:
        case "revise" | "strong":
            title = STRONGLY if ending.kind == "strong" else "Mitigations"
            yield from _listed(state, title, [*blocking, *significant])
        case "rethink":
            yield from _listed(state, "What blocks the plan", blocking)
            yield from _listed(state, "Also open", significant)
        case "none" | "paused" | "unfinished":
            yield from _listed(state, "Open so far", [*blocking, *significant])
    title = "BLOCKING, but beyond the caps, so that nobody looked into it; with it a run gets REVISE at best"
    yield from _listed(state, title, overflowed(state, "BLOCKING"))  # rule A5
    yield from grounds(state)
    cautions: list[Words] = []
    if state.assessed is not None and state.assessed.notes:
        cautions.append(("Not all of the plan could be read: see how it was sized.",))
    if accepted := dict.fromkeys(move.id for move in state.moves if move.by == "user"):
        cautions.append(("A person accepted the risk of ", *joined(id_link(state, name) for name in accepted), "."))
    yield from titled_bullets("Also note:", cautions)
    if ending.next_step:
        yield Paragraph((Strong("Next step:"), f" {ending.next_step}"))


def _basis(state: PlanState) -> Iterator[Block]:
    outcome = state.outcome
    if outcome is not None and outcome.ended_by == "sizing":
        yield Paragraph(("Sizing ended the run: the plan is too small to need a team, and no agent was called.",))
        return
    if left := counts(state):
        follows = _rule(state)
        yield Paragraph((f"{left}{f': {follows}' if follows else ''}.",))
    else:
        yield Paragraph(("No iteration was judged, so nothing was counted.",))
    if outcome is None or outcome.verdict is None:
        return
    if reason := one_line(outcome.exit_reason, MAX_REASON_CHARACTERS):
        yield Paragraph(("The verdict is not what the counts alone give: ", Quoted(reason), "."))


def _question(state: PlanState, waiting: Checkpoint) -> Iterator[Block]:
    """Yield the question of a pause, and each way to answer it (rule A4)."""
    yield Paragraph((Strong("The question:"), " ", Quoted(one_line(waiting.message, 4 * MAX_REASON_CHARACTERS))))
    known = [name for name in dict.fromkeys(waiting.items) if name in state.challenges]
    blocking = [name for name in known if state.challenges[name].severity == "BLOCKING"] or known
    place = "" if state.log_place != NO_LOG else ", with the run's log for RUN"
    yield Paragraph((f"Answer it in one of these ways{place}:",))
    yield Bullets(tuple(ways_to_answer(state, blocking, waiting.if_overridden)))


def ways_to_answer(
    state: PlanState, names: Iterable[str], if_overridden: Mapping[str, str] | None = None
) -> Iterator[Words]:
    """Yield the commands that answer a pause about these challenges, and what each does."""
    some = list(names) or [UNNAMED_CHALLENGE]
    does = ": say what the agents did not know; the next iteration gets it as context."
    yield answer_command(state, "context", needs_note=True), does
    for name in some:
        does = f": accept the risk of {name}; the counts are judged again."
        yield answer_command(state, f"acknowledge:{name}", needs_note=True), does
    for name in some:
        verdict = (if_overridden or {}).get(name)
        follows = f": {verdict}" if verdict else ""
        yield (
            answer_command(state, f"override:{name}"),
            f": end the run now, with {name} left out of the counts{follows}.",
        )
    yield answer_command(state, "abort"), ": end the run without a verdict."


def answer_command(state: PlanState, answer: str, *, needs_note: bool = False) -> Code:
    """Return the command that answers a pause, or the Python call where no command makes the run's backend."""
    command = _go_on(state)
    if command.startswith("vp."):
        return Code(f"{command.removesuffix(')')}, answer={answer!r}{', note=TEXT' if needs_note else ''})")
    return Code(f"{command} --answer {answer}{' --note TEXT' if needs_note else ''}")


def _listed(state: PlanState, title: str, challenges: Iterable[Challenge]) -> Iterator[Block]:
    return titled_bullets(f"{title}:", (_item(state, challenge) for challenge in challenges))


def _item(state: PlanState, challenge: Challenge) -> Words:
    """Return a challenge on a line: what is wrong, where, and what to do instead."""
    where = cited_places(state, challenge.id)
    at: tuple[Inline, ...] = (", ", Quoted(where)) if where else ()
    texts = (sentence(challenge.claim, MAX_CLAIM_CHARACTERS), sentence(challenge.concern, MAX_CLAIM_CHARACTERS))
    wrong = joined((Quoted(text) for text in texts if text), " ")
    item: Words = (Link(challenge.id), f" ({challenge.severity}, {challenge.status}", *at, "): ", *wrong, " ")
    if not challenge.alternative.strip():
        return (*item, Strong("No mitigation was given."))
    return (*item, Strong("Instead:"), " ", Quoted(one_line(challenge.alternative, MAX_REASON_CHARACTERS)))
