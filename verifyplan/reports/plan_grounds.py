"""What a plan's verdict rests on: what was raised and settled, who failed, what nobody looked at (rule A13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from verifyplan.protocol.event_plan import EntryRefused, SectionRead
from verifyplan.reports.blocks import Block, Bullets, Inline, Link, Paragraph, Said, Strong, Words, joined
from verifyplan.reports.plan_parts import cited_lines, classes, number
from verifyplan.reports.plan_scores import why_none
from verifyplan.reports.plan_silence import silences
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

SETTLED = ("RESOLVED", "WITHDRAWN", "DEFERRED")
LISTED_SECTIONS, LISTED_PARTS = 12, 5
EVERY_SECTION = "every section was challenged"
TEXT = 300
"""Longest text of somebody else's in a line."""

CANNOT_SEE = {
    "static": "Static agents see what a look-up shows: files that a step changes and that are not there, names that "
    "others still use, commands, packages and imports that do not exist, what a rules file forbids by name. They do "
    "not see what needs judgment (prose, order, numbers, design): of 13 defects seeded into held-out plans they found "
    "1, and about 59 of 60 real plans they said nothing.",
    "scripted": "The answers of this run were written beforehand: the agents looked at nothing, and can see no flaw.",
    "anthropic": "Models see what they open with their tools or remember, and can overlook or make up any of it. They "
    "run nothing: they cannot see what only shows when the plan is carried out.",
}
"""By backend, the kind of flaw that its agents cannot see, for logs whose backend does not say it itself."""


class Settled(NamedTuple):
    """Ids of challenges by what became of them."""

    cited: list[str]
    uncited: list[str]
    disputed: list[str]
    again: list[str]
    overflow: list[str]


def grounds(state: PlanState) -> Iterator[Block]:
    """Yield what the verdict rests on; of a trivial plan nothing, since nobody looked at it."""
    yield from (Paragraph((Strong(f"{warning}."),)) for warning in warnings(state))
    if state.outcome is not None and state.outcome.ended_by == "sizing":
        return
    items = [*_challenges(state), *_panel(state), *_failed(state), *_unchallenged(state)]
    if state.outcome is not None and state.outcome.score is None:
        items.append(("No quality score: ", *why_none(state), "."))
    items.append(cannot_see(state))
    yield Paragraph((Strong("What this rests on:"),))
    yield Bullets(tuple(items))


def warnings(state: PlanState) -> Iterator[str]:
    """What silenced the checks of files, to be said aloud; older logs do not say which files of the plan were there."""
    repository = state.inputs.repository
    files, named, found = (repository.get(key) for key in ("files", "files_named", "files_found"))
    if files == 0:
        yield "The repository is empty: nothing that the plan says of files, names or commands could be looked up"
    elif named and found == 0:
        yield (
            f"None of the {counted(named, 'file')} that the plan names is in the repository, so that most look-ups had "
            "nothing to look at: is it the right folder?"
        )


def settled(state: PlanState) -> Settled:
    """The challenges that were settled, by a resolution that cites something or not; disputed ones; overflow.

    A person's decision is a citation. A challenge counts by its last change.
    """
    last = {move.id: move for move in state.moves}
    done = [name for name, challenge in state.challenges.items() if challenge.status in SETTLED]
    uncited = [name for name in done if name in last and last[name].uncited and last[name].by != "user"]
    disputed = [name for name in state.challenges if any(c.classification == "contested" for c in classes(state, name))]
    cited = [name for name in done if name not in uncited]
    return Settled(cited, uncited, disputed, sorted(state.disputing, key=number), sorted(state.overflow, key=number))


def in_short(state: PlanState) -> str:
    """The same in one line for a terminal."""
    told = settled(state)
    parts = [
        f"{len(told.cited)} settled with a citation",
        f"{len(told.uncited)} without",
        f"{len(set(told.disputed) | set(told.again))} disputed",
        f"{len(told.overflow)} in overflow",
    ]
    missed, sections = unchallenged(state)
    quiet = f"{len(missed)} of {sections} sections were challenged by nobody" if missed else EVERY_SECTION
    counts = f"{counted(len(state.raised), 'challenge')} raised: {', '.join(parts)}"
    return f"{counts}; {quiet}" if sections > 1 else counts


def notes(state: PlanState) -> list[str]:
    """Return what the verdict of a run rests on, in short; of a trivial plan, that nobody looked at it."""
    if state.outcome is not None and state.outcome.ended_by == "sizing":
        return ["the plan is too small for a team, so no agent was asked: read it yourself"]
    seen = cannot_see(state)
    return [*silences(state), *warnings(state), "".join(word if isinstance(word, str) else word.text for word in seen)]


def _challenges(state: PlanState) -> Iterator[Words]:
    told = settled(state)
    if not state.raised:
        yield ("No challenge was raised.",)
        return
    yield (f"Raised: {counted(len(state.raised), 'challenge')}.",)
    named = (
        ("Settled with a citation", told.cited),
        ("Settled without a citation", told.uncited),
        ("Disputed by the panel", told.disputed),
        ("Raised again, against a settled one", told.again),
        ("In overflow, so that nobody looked into it", told.overflow),
    )
    for what, names in named:
        if names:
            yield (f"{what}: {len(names)} (", *joined(Link(name) for name in names), ").")


def _panel(state: PlanState) -> Iterator[Words]:
    """That nobody voted on what was raised, which is news."""
    if state.raised and not state.votes:
        why = "it was switched off" if state.inputs.settings.panel is None else "no iteration came that far"
        yield (f"No panel voted: {why}.",)


def _failed(state: PlanState) -> Iterator[Words]:
    if state.failures:
        agents = joined(dict.fromkeys(failure.agent for failure in state.failures))
        yield ("Agents that failed: ", *agents, ". What that cost stands below.")
    parts = [(call, reason) for call, reasons in state.partial_failures.items() for reason in reasons]
    for call, reason in parts[:LISTED_PARTS]:
        yield ("A part of an agent failed while the rest answered: ", Said(one_line(f"{call}: {reason}", TEXT)), ".")
    if len(parts) > LISTED_PARTS:
        yield (f"{len(parts) - LISTED_PARTS:,} more parts of agents failed.",)
    refused = sum(isinstance(one, EntryRefused) for one in state.refusals)
    if refused:
        yield (f"Entries of answers that could not be read: {refused:,}. The others counted; see the refusals.",)


def unchallenged(state: PlanState) -> tuple[list[SectionRead], int]:
    """The sections of the plan that no challenge cites a line of, and how many sections with a text there are."""
    read = [one for one in (state.assessed.sections if state.assessed else ()) if one.last > one.first]
    cited = {line for name in state.raised for line in cited_lines(state, name)}
    return [one for one in read if not any(one.first <= line <= one.last for line in cited)], len(read)


def _unchallenged(state: PlanState) -> Iterator[Words]:
    missed, sections = unchallenged(state)
    if sections < 2:
        return
    if not missed:
        yield (f"{EVERY_SECTION.capitalize()}.",)
        return
    if len(missed) == sections:
        yield (f"Nobody challenged any of the {counted(sections, 'section')}.",)
        return
    titles: Sequence[Inline] = [Said(one_line(one.title, 80) or f"line {one.first}") for one in missed]
    more = len(titles) - LISTED_SECTIONS
    told = (*joined(titles[:LISTED_SECTIONS]), f" and {more} more" if more > 0 else "")
    yield (f"Sections that nobody challenged, {len(missed)} of {sections}: ", *told, ".")


def cannot_see(state: PlanState) -> Words:
    """What kind of flaw the agents of this run cannot see: the backend's own words, else what is known of its kind."""
    backend = state.started.backend if state.started else {}
    own, name = backend.get("cannot_see"), backend.get("name")
    if isinstance(own, str) and own.strip():
        return ("What these agents cannot see: ", Said(one_line(own, 2 * TEXT)))
    known = CANNOT_SEE.get(name) if isinstance(name, str) else None
    return (known or "What the agents of this backend cannot see is not known: it does not say.",)
