"""Report the course of a plan run: iterations and trend, checkpoints, refusals, restatements, failures (rule A13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from verifyplan.protocol.event_plan import (
    ChallengeRefused,
    DirectiveRefused,
    EntryRefused,
    PromotionRefused,
    ScoreRefused,
    StatusRefused,
)
from verifyplan.protocol.event_run import Checkpoint
from verifyplan.reports.blocks import (
    Block,
    PageSection,
    Paragraph,
    Quoted,
    Strong,
    TableBlock,
    Words,
    cell_text,
    joined,
    table_section,
    titled_bullets,
)
from verifyplan.reports.plan_facts import SETTLED, convergence_of, id_link
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState, Refusal


def iterations(state: PlanState) -> PageSection:
    """Report every iteration in numbers, the trend, the directives, and where the synthesizer's word differed."""
    if not state.iteration:
        return PageSection("Iterations", ())
    head = ("iteration", "new", "settled", "BLOCKING open", "SIGNIFICANT open", "status", "degraded")
    rows = tuple(_row(state, number) for number in range(1, state.iteration + 1))
    table = TableBlock(head, rows, "Iterations in numbers")
    return PageSection("Iterations", (table, *_trend(state), *_directives(state), *_differences(state)))


def _row(state: PlanState, number: int) -> tuple[Words, ...]:
    moved = sum(move.iteration == number and move.new in SETTLED for move in state.moves)
    judged = convergence_of(state, number)
    left = (str(judged.blocking_open), str(judged.significant_open), judged.status) if judged else ("-",) * 3
    degraded = any(point.iteration == number and point.kind == "degradation" for point in state.checkpoints)
    new = Counter(state.admitted.values())[number]
    cells = (str(number), str(new), str(moved), *left, "yes: the next was tightened" if degraded else "no")
    return tuple((cell,) for cell in cells)


def _trend(state: PlanState) -> Iterator[Block]:
    judged = [left for number in range(1, state.iteration + 1) if (left := convergence_of(state, number))]
    if len(judged) < 2:
        return
    blocking = " to ".join(str(left.blocking_open) for left in judged)
    significant = " to ".join(str(left.significant_open) for left in judged)
    first, last = ((left.blocking_open, left.significant_open) for left in (judged[0], judged[-1]))
    word = "better than" if last < first else "worse than" if last > first else "as"
    text = f" {word} at first: BLOCKING open {blocking}, SIGNIFICANT open {significant}."
    yield Paragraph((Strong("Trend:"), text))


def _directives(state: PlanState) -> Iterator[Block]:
    issued = [(number, directive) for number in sorted(state.directives) for directive in state.directives[number]]
    items = ((f"Iteration {number}: ", Quoted(one_line(directive, 300))) for number, directive in issued)
    yield from titled_bullets("What the synthesizer asked of the next iteration:", items)


def _differences(state: PlanState) -> Iterator[Block]:
    """Yield where the synthesizer's stated verdict is not that of the counts, which decide."""
    items: list[Words] = []
    for ruling in state.rulings:
        if ruling.differs:
            stated = " ".join(filter(None, (ruling.stated_status, ruling.stated_verdict))) or "nothing"
            gave = " ".join(filter(None, (ruling.status, ruling.verdict))) + (" (strong)" if ruling.strong else "")
            items.append((f"Iteration {ruling.iteration}: it said {stated}; the counts gave {gave}.",))
    yield from titled_bullets("The synthesizer's own word differed from the counts, which decide:", items)


def checkpoints(state: PlanState) -> PageSection:
    """Report moments that a person should know of, and what people answered."""
    title, head = "Checkpoints and answers", ("iteration", "what", "message", "about", "answer")
    rows: list[tuple[Words, ...]] = []
    for point in state.checkpoints:
        about = joined(id_link(state, name) for name in point.items)
        message = cell_text(point.message, 300)
        rows.append(((str(point.iteration),), (point.kind,), message, about, _answer(state, point)))
    return table_section(title, head, rows, title)


def _answer(state: PlanState, point: Checkpoint) -> Words:
    if point.pause_id is None:
        return ("-",)
    answer = state.answers.get(point.pause_id)
    if answer is None:
        return ("waits",) if state.waiting is point else ("none",)
    about: Words = (" ", Quoted(answer.challenge)) if answer.challenge else ()
    note: Words = (": ", Quoted(one_line(answer.note, 300))) if answer.note.strip() else ()
    return (answer.answer, *about, *note)


def refusals(state: PlanState) -> PageSection:
    """Report what agents wanted and did not get; refused scores are reported with the scores."""
    refused = [each for each in state.refusals if not isinstance(each, ScoreRefused)]
    rows = (((str(each.iteration),), _wanted(state, each), cell_text(each.reason, 300)) for each in refused)
    return table_section("Refusals", ("iteration", "what was wanted", "why it was refused"), rows, "Refusals")


def _wanted(state: PlanState, refusal: Refusal) -> Words:
    match refusal:
        case ChallengeRefused():
            return (f"a challenge by {refusal.origin}: ", *cell_text(refusal.claim))
        case PromotionRefused():
            return ("to take ", id_link(state, refusal.id), " out of overflow")
        case StatusRefused():
            return ("to make ", id_link(state, refusal.id), f" {refusal.new}: ", *cell_text(refusal.resolution))
        case DirectiveRefused():
            return ("a directive: ", *cell_text(str(refusal.directive)))
        case EntryRefused():
            return (f"entry {refusal.position} of the {refusal.agent}'s {refusal.field}",)
        case ScoreRefused():
            return (f"a score by the {refusal.by}: ", *cell_text(refusal.dimension))


def restated(state: PlanState) -> PageSection:
    """Report what was said again and merged with what was there."""
    text = "Said again, in these or other words, and merged into what stood."
    rows: list[tuple[Words, ...]] = [
        ((str(each.iteration),), (each.what,), cell_text(each.role), cell_text(each.text), (id_link(state, each.into),))
        for each in state.restated
    ]
    head = ("iteration", "what", "by", "how it was said", "merged into")
    return table_section("Restated", head, rows, "What was said again", before=text)


def failures(state: PlanState) -> PageSection:
    """Report the agents that gave nothing usable, and what the loop did without them (rule A11)."""
    rows: list[tuple[Words, ...]] = []
    for each in state.failures:
        texts = cell_text(each.call_id), cell_text(each.reason, 300), cell_text(each.consequence, 300)
        rows.append(((str(each.iteration),), (each.agent,), *texts))
    head = ("iteration", "agent", "call", "what happened", "consequence")
    return table_section("Agents that failed", head, rows, "Failures and consequences")
