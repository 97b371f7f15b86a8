"""The head of a plan's report: what the verdict rests on, what to change, which question waits (rules A4, A13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from verifyplan.protocol.event_run import Checkpoint
from verifyplan.protocol.records import Challenge
from verifyplan.reports import plan_grounds, plan_silence
from verifyplan.reports.blocks import Block, Bullets, Code, Inline, Link, Paragraph, Said, Strong, Words, joined
from verifyplan.reports.plan_ending import STRONGLY, Ending, counts, rule
from verifyplan.reports.plan_parts import overflowed, place, reference, standing
from verifyplan.reports.visible import one_line, sentence
from verifyplan.runlog.plan_state import PlanState

LISTED = 600
"""Longest text of a mitigation or reason at the head; in full it stands with its challenge."""
WRONG = 300
"""Longest text of a claim or concern there."""


def lead(state: PlanState, ending: Ending) -> tuple[Block, ...]:
    """What follows the headline, up to the next step."""
    return tuple(_lead(state, ending))


def _lead(state: PlanState, ending: Ending) -> Iterator[Block]:
    if state.started is not None and state.started.synthetic:
        yield Paragraph((Strong("Synthetic"), ": inputs or replies of this run were generated, not observed."))
    yield from (Paragraph((Strong(f"{told[:1].upper()}{told[1:]}."),)) for told in plan_silence.silences(state))
    yield from _basis(state)
    if state.waiting is not None:
        yield from _question(state, state.waiting)
    blocking, significant = standing(state, "BLOCKING"), standing(state, "SIGNIFICANT")
    match ending.kind:
        case "revise" | "strong":
            title = STRONGLY if ending.kind == "strong" else "Mitigations"
            yield from _listed(state, title, [*blocking, *significant])
        case "rethink":
            yield from _listed(state, "What blocks the plan", blocking)
            yield from _listed(state, "Also open", significant)
        case "none" | "paused" | "unfinished":
            yield from _listed(state, "Open so far", [*blocking, *significant])
    yield from _overflow(state)
    yield from plan_grounds.grounds(state)
    yield from _cautions(state)
    if ending.next_step:
        yield Paragraph((Strong("Next step:"), f" {ending.next_step}"))


def _basis(state: PlanState) -> Iterator[Block]:
    outcome = state.outcome
    if outcome is not None and outcome.ended_by == "sizing":
        yield Paragraph(("Sizing ended the run: the plan is too small to need a team, and no agent was called.",))
        return
    if told := counts(state):
        follows = rule(state)
        yield Paragraph((f"{told}{f': {follows}' if follows else ''}.",))
    else:
        yield Paragraph(("No iteration was judged, so nothing was counted.",))
    if outcome is None or outcome.verdict is None:
        return
    if reason := one_line(outcome.exit_reason, LISTED):
        yield Paragraph(("The verdict is not what the counts alone give: ", Said(reason), "."))


def _question(state: PlanState, waiting: Checkpoint) -> Iterator[Block]:
    """The question of a pause, and each way to answer it (rule A4)."""
    yield Paragraph((Strong("The question:"), " ", Said(one_line(waiting.message, 4 * LISTED))))
    known = [name for name in dict.fromkeys(waiting.items) if name in state.challenges]
    blocking = [name for name in known if state.challenges[name].severity == "BLOCKING"] or known
    yield Paragraph(("Answer it in one of these ways, with the run's log for RUN:",))
    yield Bullets(tuple(answers(blocking, waiting.if_overridden)))


def answers(names: Iterable[str], if_overridden: Mapping[str, str] | None = None) -> Iterator[Words]:
    """The commands that answer a pause about these challenges, and what each does."""
    some = list(names) or ["ID"]
    yield _answer("context", " --note TEXT"), ": say what the agents did not know; the next iteration is told."
    for name in some:
        does = f": accept the risk of {name}; the counts are judged again."
        yield _answer(f"acknowledge:{name}", " --note TEXT"), does
    for name in some:
        verdict = (if_overridden or {}).get(name)
        follows = f": {verdict}" if verdict else ""
        yield _answer(f"override:{name}", ""), f": end the run now, with {name} left out of the counts{follows}."
    yield _answer("abort", ""), ": end the run without a verdict."


def _answer(answer: str, note: str) -> Code:
    return Code(f"verifyplan resume RUN --answer {answer}{note}")


def _listed(state: PlanState, title: str, challenges: Iterable[Challenge]) -> Iterator[Block]:
    items = tuple(_item(state, challenge) for challenge in challenges)
    if items:
        yield Paragraph((Strong(f"{title}:"),))
        yield Bullets(items)


def _item(state: PlanState, challenge: Challenge) -> Words:
    """A challenge on a line: what is wrong, where, and what to do instead."""
    where = place(state, challenge.id)
    at: tuple[Inline, ...] = (", ", Said(where)) if where else ()
    head: Words = (Link(challenge.id), f" ({challenge.severity}, {challenge.status}", *at, "): ")
    both = (sentence(challenge.claim, WRONG), sentence(challenge.concern, WRONG))
    said: Words = (*head, *joined((Said(text) for text in both if text), " "))
    if not challenge.alternative.strip():
        return (*said, " ", Strong("No mitigation was given."))
    return (*said, " ", Strong("Instead:"), " ", Said(one_line(challenge.alternative, LISTED)))


def _overflow(state: PlanState) -> Iterator[Block]:
    """A BLOCKING challenge that no iteration took in allows at best REVISE (rule A5)."""
    blocking = overflowed(state, "BLOCKING")
    if blocking:
        title = "BLOCKING, but beyond the caps, so that nobody looked into it; with it a run gets at best REVISE"
        yield from _listed(state, title, blocking)


def _cautions(state: PlanState) -> Iterator[Block]:
    """What a reader of the verdict must know of how it came about."""
    items: list[Words] = []
    if state.assessed is not None and state.assessed.notes:
        items.append(("Not all of the plan could be read: see how it was sized.",))
    accepted = [move.id for move in state.moves if move.by == "user"]
    if accepted:
        references = joined(reference(state, name) for name in dict.fromkeys(accepted))
        items.append(("A person accepted the risk of ", *references, "."))
    if items:
        yield Paragraph((Strong("Know also:"),))
        yield Bullets(tuple(items))
