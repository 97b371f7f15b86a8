"""The report of a plan run: its verdict, then all that it rests on; in Markdown, in HTML, in few lines (rule A13)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from verifyplan.errors import InputError, Problem
from verifyplan.protocol.event_run import PlanInputs
from verifyplan.reports import (
    plan_challenges,
    plan_course,
    plan_grounds,
    plan_research,
    plan_run,
    plan_scores,
    plan_silence,
    plan_verdict,
)
from verifyplan.reports.blocks import Page, Section, Words
from verifyplan.reports.page_html import framed, page_html
from verifyplan.reports.page_markdown import page_markdown
from verifyplan.reports.plan_ending import counts, ending_of
from verifyplan.reports.plan_parts import overflowed, place, standing
from verifyplan.reports.visible import one_line, sentence
from verifyplan.rules.convergence import override_words
from verifyplan.runlog.plan_state import PlanState
from verifyplan.version import VERSION

SECTIONS = (
    plan_course.failures,
    plan_challenges.debt,
    plan_challenges.resolutions,
    plan_challenges.disputed,
    plan_challenges.overflow,
    plan_course.iterations,
    plan_course.checkpoints,
    plan_scores.scores,
    plan_challenges.in_full,
    plan_research.unknowns,
    plan_research.contexts,
    plan_research.risks,
    plan_course.refusals,
    plan_course.restated,
    plan_run.cost,
    plan_run.sizing,
    plan_run.circumstances,
)
"""What a report has, in this order; sections that have nothing to say are left out."""

SUMMED_UP = 4
"""So many open challenges are named in a summary."""
SHORT = 110
"""Longest claim or mitigation in a summary."""


def plan_report(state: PlanState) -> str:
    """The report of a plan run as Markdown; of a run that waits or was cut off, too.

    Texts of agents, plans and people are shown as text; long ones are cut in tables. Raises InputError if the state
    is not that of a plan run. Source: rule A13, document 000 §7.
    """
    return page_markdown(_page(state))


def plan_report_html(state: PlanState) -> str:
    """The same as one HTML page that needs no other file, in light and dark, with long texts folded."""
    return page_html(_page(state))


def plan_report_frame(state: PlanState) -> str:
    """The page in a frame of its own, for notebooks: its style changes nothing around it, and nothing in it can run."""
    return framed(_page(state))


def plan_summary(state: PlanState) -> str:
    """A run in four to fifteen lines for a terminal: verdict, counts, what they rest on, score, tokens, next step.

    Raises InputError as `plan_report` does.
    """
    _expect_plan(state)
    return "\n".join(_summary(state))


def _page(state: PlanState) -> Page:
    _expect_plan(state)
    ending = ending_of(state)
    sections: list[Section] = [section(state) for section in SECTIONS]
    return Page(
        title=f"Plan verification: {_title(state)}",
        headline=ending.headline,
        tone=ending.tone,
        lead=plan_verdict.lead(state, ending),
        sections=tuple(section for section in sections if section.blocks),
        foot=f"Written by verifyplan {VERSION}.",
    )


def _title(state: PlanState) -> str:
    inputs, title = state.inputs, state.assessed.title if state.assessed else ""
    titles = (title, inputs.plan_name, PurePath(inputs.plan_path).name)
    return next((one_line(title, 200) for title in titles if title.strip()), "a plan without a name")


def _expect_plan(state: PlanState) -> None:
    if state.started is None or not isinstance(state.started.inputs, PlanInputs):
        kind = "nothing" if state.started is None else f"a {state.started.inputs.kind} run"
        raise InputError(Problem("state", f"is of {kind}, not of a plan run", "fold the events of a plan run"))


def _summary(state: PlanState) -> Iterator[str]:
    ending = ending_of(state)
    synthetic = " (synthetic)" if state.started is not None and state.started.synthetic else ""
    yield one_line(_plain(ending.headline), 400) + synthetic
    yield from (f"  {one}" for one in plan_silence.silences(state))
    yield f"  {counts(state) or 'no iteration was judged'}"
    yield from (f"  WARNING: {one}" for one in plan_grounds.warnings(state))
    if state.iteration:
        yield f"  {plan_grounds.in_short(state)}"
    if state.waiting is not None:
        yield f"  Question: {one_line(state.waiting.message, 300)}"
        if follows := override_words(state.waiting.if_overridden):
            yield f"  {follows}"
    named = [c for severity in ("BLOCKING", "SIGNIFICANT") for c in standing(state, severity)]
    named += overflowed(state, "BLOCKING")
    shown = SUMMED_UP if len(named) <= SUMMED_UP else SUMMED_UP - 1
    for challenge in named[:shown]:
        where = place(state, challenge.id)
        claim = sentence(challenge.claim, SHORT) or sentence(challenge.concern, SHORT) or "-"
        instead = sentence(challenge.alternative, SHORT) or "no mitigation was given."
        tag = "BLOCKING in overflow" if challenge.id in state.overflow else challenge.severity
        yield f"  {challenge.id} {tag}{f', {one_line(where, SHORT)}' if where else ''}: {claim} Instead: {instead}"
    if len(named) > shown:
        yield f"  ... and {len(named) - shown} more"
    final = state.outcome.score if state.outcome else None
    none = _plain(("no score: ", *plan_scores.why_none(state)))
    nothing = "which rests on nothing, " if plan_scores.nothing_seen(state) else ""
    scored = f"quality score {final} of 10, {nothing}not used for the verdict"
    yield f"  {scored if final is not None else one_line(none, 200)}"
    yield f"  {plan_run.used(state)}{_plain(plan_run.price(state))}"
    if state.failures:
        yield f"  Failed: {_failed(state)}"
    if state.partial_failures:
        yield f"  Failed in part: {one_line(', '.join(state.partial_failures), SHORT)}; the report says what"
    if state.iteration:
        yield f"  {_plain(plan_grounds.cannot_see(state))}"
    if ending.kind == "paused":
        waiting = state.waiting.items if state.waiting else ()
        commands = [_plain(answer[:1]) for answer in plan_verdict.answers(n for n in waiting if n in state.challenges)]
        yield f"  Answer: {commands[1]}; or context, override, abort"
    else:
        yield f"  Next: {ending.next_step}"


def _failed(state: PlanState) -> str:
    """The first agent that gave nothing usable and what the loop did without it: a verdict may rest on that."""
    first, more = state.failures[0], len(state.failures) - 1
    others = f"; {more} more failed" if more else ""
    return f"{one_line(first.call_id, 60)}: {one_line(first.consequence, SHORT)}{others}"


def _plain(words: Words) -> str:
    return "".join(word if isinstance(word, str) else word.text for word in words)
