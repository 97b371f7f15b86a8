"""Report a plan run: its verdict, then all that it rests on; in Markdown, in HTML, in few lines (rule A13)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from verifyplan.errors import InputError, Problem
from verifyplan.protocol.event_run import PlanInputs
from verifyplan.protocol.records import Challenge
from verifyplan.reports import plan_challenges, plan_course, plan_grounds, plan_scores
from verifyplan.reports.blocks import Page, PageSection, plain_text, strong_paragraphs
from verifyplan.reports.plan_facts import cited_places, nothing_looked_up, overflowed, unsettled
from verifyplan.reports.plan_verdict import UNNAMED_CHALLENGE, answer_command, counts, ending_of, lead
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
    plan_challenges.all_in_full,
    plan_challenges.unknowns,
    plan_challenges.contexts,
    plan_challenges.risks,
    plan_course.refusals,
    plan_course.restated,
    plan_course.cost,
    plan_course.sizing,
    plan_course.circumstances,
)
"""The sections of a report, in this order; empty ones are left out."""
MAX_SUMMARY_CHALLENGES = 4
MAX_SUMMARY_CHARACTERS = 110
"""Longest claim or mitigation in a summary."""


def plan_summary(state: PlanState, notes: Sequence[str] = ()) -> str:
    """Return a run in four to fifteen lines for a terminal: verdict, counts, grounds, score, tokens, next step.

    Raises InputError if the state is not that of a plan run.
    """
    _expect_plan(state)
    failed = plan_course.failed_calls(state)
    head, *lines = [
        *([failed] if failed else []),
        *_verdict_lines(state),
        *notes,
        *_challenge_lines(state),
        *_score_lines(state),
        *_failure_lines(state),
        *_next_lines(state),
    ]
    return "\n".join([head, *(f"  {line}" for line in lines)])


def plan_page(state: PlanState, notes: Sequence[str] = ()) -> Page:
    """Return the report of a plan run as blocks, which `pages` writes; also of a run that waits or was broken off.

    `notes` say what a reader of its calls and votes must know, and come before the verdict's grounds. Texts of agents,
    plans and people are shown as text; long ones are cut in tables. Raises InputError if the state is not that of a
    plan run. Source: rule A13.
    """
    _expect_plan(state)
    ending = ending_of(state)
    inputs, assessed = state.inputs, state.assessed.title if state.assessed else ""
    titles = (assessed, inputs.plan_name, PurePath(inputs.plan_path).name)
    title = next((one_line(title, 200) for title in titles if title.strip()), "a plan without a name")
    sections: list[PageSection] = [section(state) for section in SECTIONS]
    return Page(
        title=f"Plan verification: {title}",
        headline=ending.headline,
        tone=ending.tone,
        lead=(*strong_paragraphs((plan_course.failed_calls(state), *notes)), *lead(state, ending)),
        sections=tuple(section for section in sections if section.blocks),
        foot=f"Written by verifyplan {VERSION}.",
    )


def _expect_plan(state: PlanState) -> None:
    if state.started is None or not isinstance(state.started.inputs, PlanInputs):
        kind = "nothing" if state.started is None else f"a {state.started.inputs.kind} run"
        raise InputError(Problem("state", f"is of {kind}, not of a plan run", "fold the events of a plan run"))


def _verdict_lines(state: PlanState) -> Iterator[str]:
    synthetic = " (synthetic)" if state.started is not None and state.started.synthetic else ""
    yield one_line(plain_text(ending_of(state).headline), 400) + synthetic
    yield from plan_grounds.unread_notes(state)
    yield counts(state) or "no iteration was judged"
    yield from (f"WARNING: {warning}" for warning in plan_grounds.warnings(state))
    if state.iteration:
        yield plan_grounds.short_grounds(state)
    if state.waiting is not None:
        yield f"Question: {one_line(state.waiting.message, 300)}"
        if follows := override_words(state.waiting.if_overridden):
            yield follows


def _challenge_lines(state: PlanState) -> Iterator[str]:
    named = [*unsettled(state, "BLOCKING"), *unsettled(state, "SIGNIFICANT"), *overflowed(state, "BLOCKING")]
    shown = MAX_SUMMARY_CHALLENGES if len(named) <= MAX_SUMMARY_CHALLENGES else MAX_SUMMARY_CHALLENGES - 1
    yield from (_challenge_line(state, challenge) for challenge in named[:shown])
    if len(named) > shown:
        yield f"... and {len(named) - shown} more"


def _challenge_line(state: PlanState, challenge: Challenge) -> str:
    where = one_line(cited_places(state, challenge.id), MAX_SUMMARY_CHARACTERS)
    claim, concern, alternative = (
        sentence(text, MAX_SUMMARY_CHARACTERS) for text in (challenge.claim, challenge.concern, challenge.alternative)
    )
    tag = "BLOCKING in overflow" if challenge.id in state.overflow else challenge.severity
    head = f"{challenge.id} {tag}{f', {where}' if where else ''}"
    return f"{head}: {claim or concern or '-'} Instead: {alternative or 'no mitigation was given.'}"


def _score_lines(state: PlanState) -> Iterator[str]:
    """Yield the score, or why there is none, and the tokens and their price."""
    final = state.outcome.score if state.outcome else None
    nothing = "which rests on nothing, " if nothing_looked_up(state) else ""
    if final is not None:
        yield f"quality score {final} of 10, {nothing}not used for the verdict"
    else:
        yield one_line(plain_text(("no score: ", *plan_scores.missing_score_reason(state))), 200)
    yield f"{plan_course.used(state)}{plain_text(plan_course.price(state))}"


def _failure_lines(state: PlanState) -> Iterator[str]:
    """Yield which agents failed, whole or in part."""
    if state.failures:
        first, more = state.failures[0], len(state.failures) - 1
        others = f"; {more} more failed" if more else ""
        consequence = one_line(first.consequence, MAX_SUMMARY_CHARACTERS)
        yield f"Failed: {one_line(first.call_id, 60)}: {consequence}{others}"
    if state.partial_failures:
        parts = one_line(", ".join(state.partial_failures), MAX_SUMMARY_CHARACTERS)
        yield f"Failed in part: {parts}; the report says what"


def _next_lines(state: PlanState) -> Iterator[str]:
    """Yield what the agents cannot see, and what to do next, or how to answer a pause."""
    if state.iteration:
        yield plain_text(plan_grounds.cannot_see(state))
    ending = ending_of(state)
    if ending.kind == "paused":
        waiting = state.waiting.items if state.waiting else ()
        name = next((name for name in waiting if name in state.challenges), UNNAMED_CHALLENGE)
        command = answer_command(state, f"acknowledge:{name}", needs_note=True)
        yield f"Answer: {plain_text((command,))}; or context, override, abort"
    else:
        yield f"Next: {ending.next_step}"
