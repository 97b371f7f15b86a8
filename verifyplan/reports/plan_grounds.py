"""Report what a plan's verdict rests on: challenges and failures, and what nobody looked at or read (rule A13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from verifyplan.protocol.event_plan import EntryRefused, SectionRead, SignFound
from verifyplan.reports.blocks import (
    Block,
    Inline,
    Link,
    Paragraph,
    Quoted,
    Strong,
    Words,
    joined,
    plain_text,
    titled_bullets,
)
from verifyplan.reports.plan_facts import cited_lines, id_key, nothing_looked_up
from verifyplan.reports.plan_scores import missing_score_reason
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

MAX_SECTIONS, MAX_PARTS, MAX_WORDS, MAX_RANGES = 12, 5, 8, 8
"""Sections, parts of agents, words and ranges of lines that are listed."""
MAX_CHARACTERS = 300
"""Longest text of somebody else's in a line."""
NO_LOOK_UP = "no look-up was made: in no dimension was anything looked at"
EVERY_SECTION = "every section was challenged"
DESTRUCTIVE_WORDS = {
    *("annihilate", "delete", "demolish", "destroy", "drop", "erase", "expunge", "mkfs", "nuke", "obliterate"),
    *("overwrite", "purge", "revoke", "rm", "rmdir", "rmtree", "shred", "truncate", "unlink", "wipe"),
}
"""The orders after which something is gone; other signs of destruction only keep a plan from being trivial."""
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


def unread_notes(state: PlanState) -> Iterator[str]:
    """Yield what a report says first: that no look-up was made, and which destructive lines a person has to read."""
    if nothing_looked_up(state):
        yield NO_LOOK_UP
    if signs := unchallenged_destruction(state):
        kinds = list(dict.fromkeys(one_line(sign.word, 40) for sign in signs))
        more = f" and {len(kinds) - MAX_WORDS} more" if len(kinds) > MAX_WORDS else ""
        named = f"{line_ranges(signs)}: {', '.join(kinds[:MAX_WORDS])}{more}"
        words = f"{len(signs):,} {'word' if len(signs) == 1 else 'words'} of destruction"
        pronoun = ("it", "this line") if len({sign.line for sign in signs}) == 1 else ("them", "these lines")
        yield f"{words} ({named}) and no agent raised anything about {pronoun[0]}: read {pronoun[1]} yourself first"


def unchallenged_destruction(state: PlanState) -> list[SignFound]:
    """Return the `DESTRUCTIVE_WORDS` of a plan with PROCEED on lines that no challenge cites."""
    if state.assessed is None or state.outcome is None or state.outcome.verdict != "PROCEED":
        return []
    cited = {line for name in state.raised for line in cited_lines(state, name)}
    signs = state.assessed.found.get("destruction", ())
    return [sign for sign in signs if sign.word.lower() in DESTRUCTIVE_WORDS and sign.line not in cited]


def line_ranges(signs: Iterable[SignFound]) -> str:
    """Name the lines of words, adjacent ones as a range.

    >>> line_ranges([SignFound(word="rm", line=line) for line in (9, 3, 4, 4)])
    'lines 3-4, 9'
    """
    ranges: list[list[int]] = []
    for line in sorted({sign.line for sign in signs}):
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    named = [f"{first}" if first == last else f"{first}-{last}" for first, last in ranges[:MAX_RANGES]]
    more = f" and {counted(len(ranges) - MAX_RANGES, 'more place')}" if len(ranges) > MAX_RANGES else ""
    return f"line{'s' if len(ranges) > 1 or '-' in named[0] else ''} {', '.join(named)}{more}"


def warnings(state: PlanState) -> Iterator[str]:
    """Yield why checks of files found nothing."""
    repository = state.inputs.repository
    files, named, present = (repository.get(key) for key in ("files", "files_named", "files_found"))
    if files == 0:
        yield "The repository is empty: nothing that the plan says of files, names or commands could be looked up"
    elif named and present == 0:
        yield (
            f"None of the {counted(named, 'file')} that the plan names is in the repository, so that most look-ups had "
            "nothing to look at: is it the right folder?"
        )


class ChallengeGroups(NamedTuple):
    """Ids of challenges by what became of them; a challenge counts by its last change.

    A person's decision is a citation.
    """

    cited: list[str]
    uncited: list[str]
    disputed: list[str]
    again: list[str]
    overflow: list[str]


def challenge_groups(state: PlanState) -> ChallengeGroups:
    """Return the settled challenges, with and without a citation, the disputed ones, and those in overflow."""
    settled = state.settled
    contested = {judged.finding_id for judged in state.classes.values() if judged.classification == "contested"}
    return ChallengeGroups(
        cited=[name for name, cites in settled.items() if cites],
        uncited=[name for name, cites in settled.items() if not cites],
        disputed=[name for name in state.challenges if name in contested],
        again=sorted(state.disputing, key=id_key),
        overflow=sorted(state.overflow, key=id_key),
    )


def unchallenged_sections(state: PlanState) -> tuple[list[SectionRead], int]:
    """Return the sections of the plan of which no challenge cites a line, and how many sections have a text."""
    read = [each for each in (state.assessed.sections if state.assessed else ()) if each.last > each.first]
    cited = {line for name in state.raised for line in cited_lines(state, name)}
    return [each for each in read if not any(each.first <= line <= each.last for line in cited)], len(read)


def cannot_see(state: PlanState) -> Words:
    """Say what kind of flaw the agents cannot see: in the backend's own words, else what is known of its kind."""
    backend = state.started.backend if state.started else {}
    own, name = backend.get("cannot_see"), backend.get("name")
    if isinstance(own, str) and own.strip():
        return ("What these agents cannot see: ", Quoted(one_line(own, 2 * MAX_CHARACTERS)))
    known = CANNOT_SEE.get(name) if isinstance(name, str) else None
    return (known or "What the agents of this backend cannot see is not known: it does not say.",)


def grounds(state: PlanState) -> Iterator[Block]:
    """Yield the blocks on what the verdict rests on; of a trivial plan only warnings, since nobody looked at it."""
    yield from (Paragraph((Strong(f"{warning}."),)) for warning in warnings(state))
    if state.outcome is not None and state.outcome.ended_by == "sizing":
        return
    items = [*_challenge_items(state), *_failure_items(state), *_section_items(state)]
    if state.outcome is not None and state.outcome.score is None:
        items.append(("No quality score: ", *missing_score_reason(state), "."))
    yield from titled_bullets("What this rests on:", [*items, cannot_see(state)])


def short_grounds(state: PlanState) -> str:
    """Return the counts of challenges and unchallenged sections in one line for a terminal."""
    groups = challenge_groups(state)
    parts = [
        f"{len(groups.cited)} settled with a citation",
        f"{len(groups.uncited)} without",
        f"{len(set(groups.disputed) | set(groups.again))} disputed",
        f"{len(groups.overflow)} in overflow",
    ]
    missed, sections = unchallenged_sections(state)
    quiet = f"{len(missed)} of {sections} sections were not challenged" if missed else EVERY_SECTION
    counts = f"{counted(len(state.raised), 'challenge')} raised: {', '.join(parts)}"
    return f"{counts}; {quiet}" if sections > 1 else counts


def notes(state: PlanState) -> list[str]:
    """Return what the verdict of a run rests on, in short; of a trivial plan, that nobody looked at it."""
    if state.outcome is not None and state.outcome.ended_by == "sizing":
        return ["the plan is too small for a team, so no agent was asked: read it yourself"]
    return [*unread_notes(state), *warnings(state), plain_text(cannot_see(state))]


def _challenge_items(state: PlanState) -> Iterator[Words]:
    if not state.raised:
        yield ("No challenge was raised.",)
        return
    yield (f"Raised: {counted(len(state.raised), 'challenge')}.",)
    titles = (
        "Settled with a citation",
        "Settled without a citation",
        "Disputed by the panel",
        "Raised again, against a settled one",
        "In overflow, so that nobody looked into it",
    )
    for title, names in zip(titles, challenge_groups(state), strict=True):
        if names:
            yield (f"{title}: {len(names)} (", *joined(Link(name) for name in names), ").")
    if not state.votes:
        why = "it was switched off" if state.inputs.settings.panel is None else "no iteration got that far"
        yield (f"No panel voted: {why}.",)


def _failure_items(state: PlanState) -> Iterator[Words]:
    if state.failures:
        agents = joined(dict.fromkeys(failure.agent for failure in state.failures))
        yield ("Agents that failed: ", *agents, ". What that cost is listed below.")
    parts = [f"{call}: {reason}" for call, reasons in state.partial_failures.items() for reason in reasons]
    for part in parts[:MAX_PARTS]:
        yield ("A part of an agent failed while the rest answered: ", Quoted(one_line(part, MAX_CHARACTERS)), ".")
    if len(parts) > MAX_PARTS:
        yield (f"{len(parts) - MAX_PARTS:,} more parts of agents failed.",)
    refused = sum(isinstance(refusal, EntryRefused) for refusal in state.refusals)
    if refused:
        yield (f"Entries of answers that could not be read: {refused:,}. The others counted; see the refusals.",)


def _section_items(state: PlanState) -> Iterator[Words]:
    missed, sections = unchallenged_sections(state)
    if sections < 2:
        return
    if not missed:
        yield (f"{EVERY_SECTION.capitalize()}.",)
    elif len(missed) == sections:
        yield (f"Nobody challenged any of the {counted(sections, 'section')}.",)
    else:
        titles: list[Inline] = [Quoted(one_line(each.title, 80) or f"line {each.first}") for each in missed]
        more = f" and {len(titles) - MAX_SECTIONS} more" if len(titles) > MAX_SECTIONS else ""
        named = (*joined(titles[:MAX_SECTIONS]), more)
        yield (f"Sections that nobody challenged, {len(missed)} of {sections}: ", *named, ".")
