"""Report the challenges of a plan run, in a table and in full, and the research behind them (rules A1, A13)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.protocol.event_cross import FindingClassified
from verifyplan.protocol.event_plan import StatusChanged
from verifyplan.protocol.records import Challenge
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    Fields,
    Inline,
    Link,
    PageSection,
    Paragraph,
    Quotation,
    Quoted,
    Strong,
    Subsection,
    TableBlock,
    Words,
    cell_text,
    table_section,
)
from verifyplan.reports.plan_facts import cited_places, id_key, id_link, panel_classes, worst_first
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
MIN_DEBT = 5
"""From so many DEFERRED challenges on a report warns of debt (rule A13); overflow tags are no status."""
MAX_RESEARCH_CHARACTERS = 400
"""Longest text in the tables of research, which is nowhere else in full."""


def debt(state: PlanState) -> PageSection:
    """Warn of the DEFERRED challenges, where there are five or more over the whole run."""
    deferred = worst_first(c for c in state.challenges.values() if c.status == "DEFERRED")
    if len(deferred) < MIN_DEBT:
        return PageSection("Technical Debt Warning", ())
    text = f"{counted(len(deferred), 'challenge')} were put off. The verdict does not count them, but they add up:"
    items = tuple(
        (Link(c.id), ": ", *cell_text(c.claim), " Put off because: ", *cell_text(c.resolution)) for c in deferred
    )
    return PageSection("Technical Debt Warning", (Paragraph((text,)), Bullets(items)))


def resolutions(state: PlanState) -> PageSection:
    """Report every admitted challenge and what became of it; worst first."""
    head = ("id", "severity", "status", "origin", "claim", "resolution", "place", "panel")
    sized = state.outcome is not None and state.outcome.ended_by == "sizing"
    rows = (_row(state, challenge) for challenge in worst_first([] if sized else state.pool))
    return table_section("Challenges", head, rows, "What became of each challenge")


def _row(state: PlanState, challenge: Challenge) -> tuple[Words, ...]:
    """Return a row; of the resolution its first sentence, since the whole text is with its challenge."""
    judged = panel_classes(state, challenge.id)
    return (
        (Link(challenge.id),),
        (challenge.severity,),
        (challenge.status,),
        (challenge.origin,),
        cell_text(challenge.claim),
        cell_text(_SENTENCE_END.split(challenge.resolution.strip(), maxsplit=1)[0]),
        cell_text(cited_places(state, challenge.id)),
        (judged[-1].classification if judged else "-",),
    )


def disputed(state: PlanState) -> PageSection:
    """Report the challenges that the panel contested, with every vote (rule A9)."""
    keys = sorted(state.classes, key=lambda key: (key[0], id_key(key[1])))
    contested = [state.classes[key] for key in keys if state.classes[key].classification == "contested"]
    blocks = tuple(block for judged in contested for block in _dispute(state, judged))
    return PageSection("Disputed challenges", blocks)


def _dispute(state: PlanState, judged: FindingClassified) -> Iterator[Block]:
    challenge = state.challenges.get(judged.finding_id)
    claim = cell_text(challenge.claim) if challenge else ("-",)
    when = f" was contested in iteration {judged.iteration} (rule {judged.rule}): "
    yield Paragraph((id_link(state, judged.finding_id), when, *claim))
    rows: tuple[tuple[Words, ...], ...] = tuple(
        (cell_text(vote.worker), (vote.verdict,), (vote.disagree_basis or "-",), cell_text(vote.explanation, 400))
        for vote in state.votes.get((judged.iteration, judged.finding_id), [])
    )
    yield TableBlock(("worker", "verdict", "basis", "explanation"), rows, "The votes on it")


def overflow(state: PlanState) -> PageSection:
    """Report what did not fit under the caps and was never promoted (rule A5)."""
    text = (
        "These did not fit under the caps of their iteration. They are not counted, but with a BLOCKING one a run "
        "gets REVISE at best. The tag is not the status DEFERRED."
    )
    rows: list[tuple[Words, ...]] = []
    for name in sorted(state.overflow, key=id_key):
        event, challenge = state.overflow[name], state.challenges[name]
        when: tuple[Words, ...] = (cell_text(event.tag), (str(event.iteration),))
        rows.append(((Link(name),), (challenge.severity,), *when, cell_text(challenge.claim), cell_text(event.reason)))
    head = ("id", "severity", "tag", "iteration", "claim", "why it did not fit")
    return table_section("Overflow", head, rows, "Challenges beyond the caps", before=text)


def all_in_full(state: PlanState) -> PageSection:
    """Report every challenge with all its texts, in the order of the ids, those in overflow included."""
    ordered = sorted(state.challenges.values(), key=lambda c: id_key(c.id))
    return PageSection("Challenges in full", tuple(_in_full(state, challenge) for challenge in ordered))


def _in_full(state: PlanState, challenge: Challenge) -> Subsection:
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
    return Subsection(challenge.id, title, tuple(blocks))


def _history(state: PlanState, challenge: Challenge) -> Iterator[Words]:
    """Yield what happened to a challenge, in order of iterations; each sentence once, with all its iterations."""
    yield tuple(_raising(state, challenge))
    steps: list[tuple[int, int, Words]] = []
    admitted, beyond = state.admitted.get(challenge.id), state.overflow.get(challenge.id)
    if admitted is not None and admitted != state.raised[challenge.id].iteration:
        steps.append((admitted, 0, ("promoted out of overflow",)))
    if beyond is not None:
        tag, reason = Quoted(one_line(beyond.tag, 80)), Quoted(one_line(beyond.reason, 300))
        steps.append((beyond.iteration, 0, ("put in overflow as ", tag, ": ", reason)))
    steps += [(each.iteration, 1, tuple(_judgement(state, each))) for each in panel_classes(state, challenge.id)]
    steps += [(move.iteration, 2, _move(move, challenge)) for move in state.moves if move.id == challenge.id]
    iterations: dict[Words, list[int]] = {}
    for iteration, _, words in sorted(steps, key=lambda step: step[:2]):
        iterations.setdefault(words, []).append(iteration)
    for words, numbers in iterations.items():
        yield (f"Iteration{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}: ", *words)


def _raising(state: PlanState, challenge: Challenge) -> Iterator[Inline]:
    raised = state.raised[challenge.id]
    by = f"research ({challenge.origin})" if challenge.origin in ("surfaced", "probed") else challenge.origin
    yield f"Iteration {raised.iteration}: raised by {by}"
    if raised.raised_by:
        yield " for "
        yield Quoted(one_line(raised.raised_by, 80))
    if raised.probability:
        yield f", probability {raised.probability}"
    if raised.disputes:
        yield ", against "
        yield id_link(state, raised.disputes)
        yield ", which was settled"
    if raised.owed:
        yield ", by the rules: what was found must raise a challenge"


def _judgement(state: PlanState, judged: FindingClassified) -> Iterator[Inline]:
    yield f"the panel found {judged.classification} (rule {judged.rule})"
    for position, vote in enumerate(state.votes.get((judged.iteration, judged.finding_id), [])):
        yield ", " if position else ": "
        yield Quoted(one_line(vote.worker, 80) or "-")
        yield f" {vote.verdict}" + (f" ({vote.disagree_basis})" if vote.disagree_basis else "")


def _move(move: StatusChanged, challenge: Challenge) -> Words:
    """Return a change of status; its resolution, unless it is the last one, which is shown above."""
    who = "a person" if move.by == "user" else "the synthesizer"
    flag = " (cites nothing)" if move.uncited else ""
    changed = f"{move.old} to {move.new} by {who}{flag}"
    if move.resolution == challenge.resolution:
        return (changed,)
    return (f"{changed}: ", Quoted(one_line(move.resolution, 300)))


def _long(text: str) -> Words:
    return cell_text(text, MAX_RESEARCH_CHARACTERS)


def _link_or_dash(state: PlanState, name: str | None) -> Words:
    return (id_link(state, name) if name else "-",)


def unknowns(state: PlanState) -> PageSection:
    """Report the challenger's questions, and the answers."""
    rows: list[tuple[Words, ...]] = []
    for each in (state.unknowns[name] for name in sorted(state.unknowns, key=id_key)):
        affects, answer = _link_or_dash(state, each.affects_challenge), each.resolution or "not answered"
        rows.append(((each.id,), (each.type,), _long(each.description), affects, (answer,), _long(each.finding or "")))
    return table_section("Unknowns", ("id", "type", "question", "affects", "answer", "finding"), rows, "Unknowns")


def contexts(state: PlanState) -> PageSection:
    """Report what memory, code and history hold on the plan."""
    rows: list[tuple[Words, ...]] = []
    for each in (state.contexts[name] for name in sorted(state.contexts, key=id_key)):
        where: tuple[Words, ...] = ((each.source,), cell_text(each.location))
        raised = _link_or_dash(state, each.generates_challenge)
        rows.append(((each.id,), *where, _long(each.relevance), (each.impact,), raised))
    head = ("id", "source", "where", "why it matters", "impact", "raised")
    return table_section("Surfaced contexts", head, rows, "Surfaced contexts")


def risks(state: PlanState) -> PageSection:
    """Report what could go wrong, when, and what follows."""
    rows: list[tuple[Words, ...]] = []
    for each in (state.risks[name] for name in sorted(state.risks, key=id_key)):
        texts = (_long(each.risk), _long(each.trigger), _long(each.cascade))
        raised = _link_or_dash(state, each.generates_challenge)
        rows.append(((each.id,), (each.severity,), (each.probability,), *texts, raised))
    head = ("id", "severity", "probability", "risk", "trigger", "what follows", "raised")
    return table_section("Probed risks", head, rows, "Probed risks")
