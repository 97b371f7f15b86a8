"""The challenges of a plan run: what became of each, in a table and in full; debt, disputes, overflow (rule A13)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.protocol.event_cross import FindingClassified, VoteCast
from verifyplan.protocol.event_plan import ChallengeOverflowed, StatusChanged
from verifyplan.protocol.records import Challenge
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Entry,
    Fields,
    Inline,
    Link,
    Paragraph,
    Quotation,
    Said,
    Section,
    Strong,
    Table,
    Words,
    brief,
)
from verifyplan.reports.plan_parts import classes, number, place, reference, worst_first
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")

DEBT_FROM = 5
"""From so many DEFERRED challenges on a report warns of debt (rule A13); overflow tags are no status."""


def debt(state: PlanState) -> Section:
    """The DEFERRED challenges, where there are five or more over the whole run."""
    deferred = worst_first(c for c in state.challenges.values() if c.status == "DEFERRED")
    if len(deferred) < DEBT_FROM:
        return Section("Technical Debt Warning", ())
    told = f"{counted(len(deferred), 'challenge')} were put off. The verdict does not count them, but they add up:"
    items = tuple((Link(c.id), ": ", *brief(c.claim), " Put off because: ", *brief(c.resolution)) for c in deferred)
    return Section("Technical Debt Warning", (Paragraph((told,)), Bullets(items)))


def resolutions(state: PlanState) -> Section:
    """Every admitted challenge and what became of it; worst first."""
    if state.outcome is not None and state.outcome.ended_by == "sizing":
        return Section("Challenges", ())
    if not state.pool:
        return Section("Challenges", ())
    head = ("id", "severity", "status", "origin", "claim", "resolution", "place", "panel")
    rows = tuple(_row(state, challenge) for challenge in worst_first(state.pool))
    return Section("Challenges", (Table(head, rows, "What became of each challenge"),))


def _row(state: PlanState, challenge: Challenge) -> tuple[Words, ...]:
    judged = classes(state, challenge.id)
    return (
        (Link(challenge.id),),
        (challenge.severity,),
        (challenge.status,),
        (challenge.origin,),
        brief(challenge.claim),
        _settlement(challenge),
        brief(place(state, challenge.id)),
        (judged[-1].classification if judged else "-",),
    )


def _settlement(challenge: Challenge) -> Words:
    """The first sentence of a resolution; all of it stands with its challenge."""
    return brief(_SENTENCE_END.split(challenge.resolution.strip(), maxsplit=1)[0])


def disputed(state: PlanState) -> Section:
    """The challenges that the panel contested, with every vote (rule A9)."""
    contested = [key for key in sorted(state.classes, key=_when) if state.classes[key].classification == "contested"]
    tables = [block for key in contested for block in _dispute(state, state.classes[key])]
    return Section("Disputed challenges", tuple(tables))


def _when(key: tuple[int, str]) -> tuple[int, tuple[int, str]]:
    return key[0], number(key[1])


def _dispute(state: PlanState, judged: FindingClassified) -> Iterator[Block]:
    challenge = state.challenges.get(judged.finding_id)
    claim = brief(challenge.claim) if challenge else ("-",)
    when = f" was contested in iteration {judged.iteration} (rule {judged.rule}): "
    yield Paragraph((reference(state, judged.finding_id), when, *claim))
    rows = tuple(_vote(vote) for vote in state.votes.get((judged.iteration, judged.finding_id), []))
    yield Table(("worker", "verdict", "basis", "explanation"), rows, "The votes on it")


def _vote(vote: VoteCast) -> tuple[Words, ...]:
    return brief(vote.worker), (vote.verdict,), (vote.disagree_basis or "-",), brief(vote.explanation, 400)


def overflow(state: PlanState) -> Section:
    """What did not fit under the caps and was never promoted (rule A5)."""
    if not state.overflow:
        return Section("Overflow", ())
    told = (
        "These did not fit under the caps of their iteration. They count for nothing, but a BLOCKING one allows a run "
        "at best REVISE. The tag is not the status DEFERRED."
    )
    rows = tuple(_beyond(state, state.overflow[name]) for name in sorted(state.overflow, key=number))
    head = ("id", "severity", "tag", "iteration", "claim", "why it did not fit")
    return Section("Overflow", (Paragraph((told,)), Table(head, rows, "Challenges beyond the caps")))


def _beyond(state: PlanState, event: ChallengeOverflowed) -> tuple[Words, ...]:
    challenge = state.challenges[event.id]
    head: tuple[Words, ...] = ((Link(event.id),), (challenge.severity,), brief(event.tag), (str(event.iteration),))
    return (*head, brief(challenge.claim), brief(event.reason))


def in_full(state: PlanState) -> Section:
    """Every challenge with all that was said of it, in the order of the ids, those in overflow included."""
    ordered = sorted(state.challenges.values(), key=lambda c: number(c.id))
    return Section("Challenges in full", tuple(_entry(state, challenge) for challenge in ordered))


def _entry(state: PlanState, challenge: Challenge) -> Entry:
    status = "in overflow" if challenge.id in state.overflow else challenge.status
    title = f"{challenge.id}: {challenge.severity}, {challenge.confidence} confidence, {status}"
    pairs = (
        ("Claim", challenge.claim),
        ("Concern", challenge.concern),
        ("Failure scenario", challenge.failure_scenario),
        ("Instead", challenge.alternative),
        ("Resolution", challenge.resolution),
    )
    filled = tuple(pair for pair in pairs if pair[1].strip())
    blocks: list[Block] = [Fields(filled)] if filled else []
    raised = state.raised[challenge.id]
    if raised.evidence.strip():
        label = "Evidence, which cites no place that could be opened" if raised.uncited else "Evidence"
        blocks.append(Quotation(label, raised.evidence))
    blocks += [Paragraph((Strong("History:"),)), Bullets(tuple(_history(state, challenge)))]
    return Entry(challenge.id, title, tuple(blocks))


def _history(state: PlanState, challenge: Challenge) -> Iterator[Words]:
    """What happened to a challenge, in order of iterations: raised, taken in, judged by the panel, moved."""
    raised = state.raised[challenge.id]
    yield tuple(_raising(state, challenge))
    told: list[tuple[int, int, Words]] = []
    admitted, beyond = state.admitted.get(challenge.id), state.overflow.get(challenge.id)
    if admitted is not None and admitted != raised.iteration:
        told.append((admitted, 0, ("promoted out of overflow",)))
    if beyond is not None:
        words: Words = ("put in overflow as ", Said(one_line(beyond.tag, 80)), ": ", Said(one_line(beyond.reason, 300)))
        told.append((beyond.iteration, 0, words))
    told += [(one.iteration, 1, tuple(_judgement(state, one))) for one in classes(state, challenge.id)]
    told += [(move.iteration, 2, _move(move, challenge)) for move in state.moves if move.id == challenge.id]
    for words, numbers in _together(told):
        several = "s" if len(numbers) > 1 else ""
        yield (f"Iteration{several} {', '.join(map(str, numbers))}: ", *words)


def _together(told: list[tuple[int, int, Words]]) -> Iterator[tuple[Words, list[int]]]:
    """Yield what happened in order of iterations, each sentence once, with all the iterations in which it is true."""
    when: dict[Words, list[int]] = {}
    for iteration, _, words in sorted(told, key=lambda one: one[:2]):
        when.setdefault(words, []).append(iteration)
    yield from when.items()


def _move(move: StatusChanged, challenge: Challenge) -> Words:
    """A change of status; its resolution, unless it is the last one, which stands above."""
    who = "a person" if move.by == "user" else "the synthesizer"
    flag = " (cites nothing)" if move.uncited else ""
    changed = f"{move.old} to {move.new} by {who}{flag}"
    if move.resolution == challenge.resolution:
        return (changed,)
    return (f"{changed}: ", Said(one_line(move.resolution, 300)))


def _raising(state: PlanState, challenge: Challenge) -> Iterator[Inline]:
    raised = state.raised[challenge.id]
    by = f"research ({challenge.origin})" if challenge.origin in ("surfaced", "probed") else challenge.origin
    yield f"Iteration {raised.iteration}: raised by {by}"
    if raised.raised_by:
        yield " for "
        yield Said(one_line(raised.raised_by, 80))
    if raised.probability:
        yield f", probability {raised.probability}"
    if raised.disputes:
        yield ", against "
        yield reference(state, raised.disputes)
        yield ", which was settled"
    if raised.owed:
        yield ", by the rules: what was found must raise a challenge"


def _judgement(state: PlanState, judged: FindingClassified) -> Iterator[str | Said]:
    yield f"the panel found {judged.classification} (rule {judged.rule})"
    for position, vote in enumerate(state.votes.get((judged.iteration, judged.finding_id), [])):
        yield ", " if position else ": "
        yield Said(one_line(vote.worker, 80) or "-")
        yield f" {vote.verdict}" + (f" ({vote.disagree_basis})" if vote.disagree_basis else "")
