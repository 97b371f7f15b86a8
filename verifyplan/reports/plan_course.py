"""How a plan run went: iterations and their trend, checkpoints, refusals, what was restated, who failed (rule A13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from verifyplan.protocol.event_plan import (
    ChallengeRefused,
    ConvergenceEvaluated,
    DirectiveRefused,
    EntryRefused,
    PromotionRefused,
    ScoreRefused,
    StatusRefused,
)
from verifyplan.protocol.event_run import AnswerGiven, Checkpoint
from verifyplan.reports.blocks import Block, Bullets, Paragraph, Said, Section, Strong, Table, Words, brief, joined
from verifyplan.reports.plan_parts import reference, tally
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState, Refusal

SETTLED = ("RESOLVED", "WITHDRAWN", "DEFERRED")
"""The statuses that settle a challenge for good (rule A6)."""


def iterations(state: PlanState) -> Section:
    """Every iteration in numbers, the trend, what the synthesizer asked, and where its word differed."""
    if not state.iteration:
        return Section("Iterations", ())
    head = ("iteration", "new", "settled", "BLOCKING open", "SIGNIFICANT open", "status", "degraded")
    rows = tuple(_row(state, number) for number in range(1, state.iteration + 1))
    blocks: list[Block] = [Table(head, rows, "Iterations in numbers"), *_trend(state)]
    return Section("Iterations", (*blocks, *_asked(state), *_words(state)))


def _row(state: PlanState, number: int) -> tuple[Words, ...]:
    moved = sum(move.iteration == number and move.new in SETTLED for move in state.moves)
    judged = tally(state, number)
    left = (str(judged.blocking_open), str(judged.significant_open), judged.status) if judged else ("-",) * 3
    degraded = any(point.iteration == number and point.kind == "degradation" for point in state.checkpoints)
    new = Counter(state.admitted.values())[number]
    cells = (str(number), str(new), str(moved), *left, "yes: the next was tightened" if degraded else "no")
    return tuple((cell,) for cell in cells)


def _trend(state: PlanState) -> Iterator[Block]:
    judged = [one for number in range(1, state.iteration + 1) if (one := tally(state, number))]
    if len(judged) < 2:
        return
    blocking = " to ".join(str(one.blocking_open) for one in judged)
    significant = " to ".join(str(one.significant_open) for one in judged)
    left = [(one.blocking_open, one.significant_open) for one in judged]
    word = "better than" if left[-1] < left[0] else "worse than" if left[-1] > left[0] else "as"
    told = f" {word} at first: BLOCKING open {blocking}, SIGNIFICANT open {significant}."
    yield Paragraph((Strong("Trend:"), told))


def _asked(state: PlanState) -> Iterator[Block]:
    directives = [(number, one) for number in sorted(state.directives) for one in state.directives[number]]
    if directives:
        yield Paragraph((Strong("What the synthesizer asked of the next iteration:"),))
        yield Bullets(tuple((f"Iteration {n}: ", Said(one_line(directive, 300))) for n, directive in directives))


def _words(state: PlanState) -> Iterator[Block]:
    """Where the synthesizer said something else than the counts, which decide."""
    differing = [ruling for ruling in state.rulings if ruling.differs]
    if differing:
        yield Paragraph((Strong("The synthesizer's own word differed from the counts, which decide:"),))
        yield Bullets(tuple(_word(ruling) for ruling in differing))


def _word(ruling: ConvergenceEvaluated) -> Words:
    said = " ".join(filter(None, (ruling.stated_status, ruling.stated_verdict))) or "nothing"
    strong = " (strong)" if ruling.strong else ""
    gave = " ".join(filter(None, (ruling.status, ruling.verdict))) + strong
    return (f"Iteration {ruling.iteration}: it said {said}; the counts gave {gave}.",)


def checkpoints(state: PlanState) -> Section:
    """Moments that a person should know of, and what people answered."""
    rows = tuple(
        ((str(point.iteration),), (point.kind,), brief(point.message, 300), _about(state, point), _answer(state, point))
        for point in state.checkpoints
    )
    head = ("iteration", "what", "message", "about", "answer")
    blocks = (Table(head, rows, "Checkpoints and answers"),) if rows else ()
    return Section("Checkpoints and answers", blocks)


def _about(state: PlanState, point: Checkpoint) -> Words:
    return joined(reference(state, name) for name in point.items)


def _answer(state: PlanState, point: Checkpoint) -> Words:
    if point.pause_id is None:
        return ("-",)
    given = state.answers.get(point.pause_id)
    if given is None:
        return ("waits",) if state.waiting is point else ("none",)
    return _given(given)


def _given(given: AnswerGiven) -> Words:
    about: Words = (" ", Said(given.challenge)) if given.challenge else ()
    note: Words = (": ", Said(one_line(given.note, 300))) if given.note.strip() else ()
    return (given.answer, *about, *note)


def refusals(state: PlanState) -> Section:
    """What agents wanted and did not get; refused scores stand with the scores."""
    rows = tuple(_refusal(state, one) for one in state.refusals if not isinstance(one, ScoreRefused))
    blocks = (Table(("iteration", "what was wanted", "why it was refused"), rows, "Refusals"),) if rows else ()
    return Section("Refusals", blocks)


def _refusal(state: PlanState, one: Refusal) -> tuple[Words, ...]:
    return (str(one.iteration),), _wanted(state, one), brief(one.reason, 300)


def _wanted(state: PlanState, one: Refusal) -> Words:
    match one:
        case ChallengeRefused():
            return (f"a challenge by {one.origin}: ", *brief(one.claim))
        case PromotionRefused():
            return ("to take ", reference(state, one.id), " out of overflow")
        case StatusRefused():
            return ("to make ", reference(state, one.id), f" {one.new}: ", *brief(one.resolution))
        case DirectiveRefused():
            return ("a directive: ", *brief(str(one.directive)))
        case EntryRefused():
            return (f"entry {one.position} of the {one.agent}'s {one.field}",)
        case ScoreRefused():
            return (f"a score by the {one.by}: ", *brief(one.dimension))


def restated(state: PlanState) -> Section:
    """What was said again and merged into what stood."""
    rows = tuple(
        ((str(one.iteration),), (one.what,), brief(one.role), brief(one.text), (reference(state, one.into),))
        for one in state.restated
    )
    told = Paragraph(("Said again, in these or other words, and merged into what stood.",))
    head = ("iteration", "what", "by", "how it was said", "merged into")
    return Section("Restated", (told, Table(head, rows, "What was said again")) if rows else ())


def failures(state: PlanState) -> Section:
    """The agents that gave nothing usable, and what the loop did without them (rule A11)."""
    rows: Sequence[tuple[Words, ...]] = [
        ((str(one.iteration),), (one.agent,), brief(one.call_id), brief(one.reason, 300), brief(one.consequence, 300))
        for one in state.failures
    ]
    head = ("iteration", "agent", "call", "what happened", "consequence")
    return Section("Agents that failed", (Table(head, tuple(rows), "Failures and consequences"),) if rows else ())
