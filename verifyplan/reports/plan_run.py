"""Report the circumstances of a plan run: cost, how the plan was sized, settings and versions (A8, A12, A13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from verifyplan.protocol.event_plan import PlanAssessed
from verifyplan.protocol.settings import PlanSettings
from verifyplan.reports.blocks import (
    Block,
    Bullets,
    PageSection,
    Paragraph,
    Quoted,
    TableBlock,
    Words,
    cell_text,
    table_section,
)
from verifyplan.reports.usage import dollars, expected_usage, max_expected_tokens
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

MAX_WORDS = 20
"""So many words are listed of each sign."""
MAX_VALUE_CHARACTERS = 400
"""Longest value of a setting that is shown."""


def used(state: PlanState) -> str:
    """Return the calls and tokens of a run, in words; failed calls are counted in."""
    usage = state.usage
    cached = f", {usage.cache_read_tokens:,} of them cached" if usage.cache_read_tokens else ""
    parts = f"{usage.total_input:,} in{cached}, {usage.output_tokens:,} out"
    failed = f" and {state.failed_calls:,} that failed" if state.failed_calls else ""
    return f"{counted(usage.total, 'token')} ({parts}) in {counted(state.calls, 'call')}{failed}"


def price(state: PlanState) -> Words:
    """Return the cost, behind a comma, or why it is unknown: models for which the backend says it has no price."""
    usage = state.usage
    if usage.cost is not None:
        return (f", {dollars(usage.cost)}",)
    prices = state.started.backend.get("prices") if state.started else None
    unpriced = [str(model) for model, known in prices.items() if known is None] if isinstance(prices, Mapping) else []
    models = one_line(", ".join(unpriced), MAX_VALUE_CHARACTERS)
    why: Words = ("no price for ", Quoted(models)) if models else ("no price is known",)
    return (", cost unknown: ", *why) if usage.total else ()


def cost(state: PlanState) -> PageSection:
    """Report what the run used beside what such a run is expected to use, and its tools."""
    return PageSection("Tokens and calls", tuple(_cost(state)))


def _cost(state: PlanState) -> Iterator[Block]:
    tokens, limits = state.usage.total, state.inputs.settings
    yield Paragraph((f"Used: {used(state)}", *price(state), "."))
    if state.calls and not tokens:
        yield Paragraph(("The backend counted no tokens.",))
    if state.usage.cache_write_tokens:
        yield Paragraph((f"Put in a cache: {counted(state.usage.cache_write_tokens, 'token')} of those in.",))
    if state.usage.web_searches:
        yield Paragraph((f"Searches of the web that the endpoint made: {state.usage.web_searches:,}.",))
    if state.assessed is not None:
        most = max_expected_tokens(state.assessed.team, state.iteration)
        over = " This run used more than the worst case." if most is not None and tokens > most else ""
        yield Paragraph((f"Expected: {expected_usage(state.assessed.team, state.iteration)}.{over}",))
    ends = [counted(limits.max_tokens, "token")] if limits.max_tokens is not None else []
    ends += [f"${limits.max_cost}"] if limits.max_cost is not None else []
    if ends:
        yield Paragraph((f"The run was to end at {' or '.join(ends)}.",))
    yield from _tools(state)


def _tools(state: PlanState) -> Iterator[Block]:
    if state.tools:
        rows = tuple(((tool,), (f"{calls:,}",)) for tool, calls in sorted(state.tools.items()))
        yield TableBlock(("tool", "calls"), rows, "Tools used, refused calls left out")
    if state.ceilings_passed:
        yield Paragraph(("The backend reports more tool calls than these agents had:",))
        passed = (
            f"{each.call_id}: {each.used} calls of {each.tool}, of {each.ceiling}" for each in state.ceilings_passed
        )
        yield Bullets(tuple((Quoted(text),) for text in passed))


def sizing(state: PlanState) -> PageSection:
    """Report how the plan was read and sized, and what could not be read."""
    return PageSection("How the plan was sized", tuple(_sizing(state, state.assessed)) if state.assessed else ())


def _sizing(state: PlanState, assessed: PlanAssessed) -> Iterator[Block]:
    requested = state.inputs.settings.team
    why = " (asked for)" if requested and requested == assessed.team else ""
    team = f"{assessed.team} team{why}" if assessed.team else "no team: the plan is trivial"
    size = f"Complexity {assessed.complexity} of 16, scaled from {assessed.threshold} on"
    yield Paragraph((f"{size}; quality {assessed.quality}; {counted(assessed.steps, 'action')}; {team}.",))
    lines = {"Domains": ", ".join(assessed.domains)}
    for title, numbers in (("complexity counts", assessed.signs), ("quality rests on", assessed.traits)):
        lines[f"What the {title}"] = ", ".join(f"{key.replace('_', ' ')} {n}" for key, n in numbers.items())
    for title, text in lines.items():
        if text:
            yield Paragraph((f"{title}: ", Quoted(one_line(text, MAX_VALUE_CHARACTERS)), "."))
    rows: list[tuple[Words, ...]] = []
    for sign, words in assessed.found.items():
        shown = ", ".join(f"{word.word} ({word.line})" for word in words[:MAX_WORDS])
        more = f" and {len(words) - MAX_WORDS} more" if len(words) > MAX_WORDS else ""
        cell = (Quoted(one_line(shown, MAX_VALUE_CHARACTERS)), more)
        rows += [(cell_text(sign.replace("_", " ")), cell)] if words else []
    if rows:
        yield TableBlock(("sign", "words that counted, with their lines"), tuple(rows), "Words found in the plan")
    if assessed.notes:
        yield Paragraph(("What could not be read:",))
        yield Bullets(tuple((Quoted(one_line(note, MAX_VALUE_CHARACTERS)),) for note in assessed.notes))


def circumstances(state: PlanState) -> PageSection:
    """Report the plan by its digest, the repository by its commit, backend, versions, and changed settings."""
    started, inputs = state.started, state.inputs
    rows: list[tuple[str, Any]] = [("plan", inputs.plan_path), ("plan sha256", inputs.plan_sha256)]
    if started is not None:
        rows += [("about", started.task_key)] if started.task_key.strip() else []
        rows += [("repetition", str(started.repetition))] if started.repetition > 1 else []
        rows += [("synthetic", "inputs or replies were generated, not observed")] if started.synthetic else []
        rows += _known("backend", started.backend)
    rows += _known("repository", inputs.repository)
    defaults = PlanSettings().model_dump(mode="json")
    settings = inputs.settings.model_dump(mode="json").items()
    rows += [(f"setting {name}", value) for name, value in settings if value != defaults[name]]
    if started is not None:
        rows += [(f"version of {name}", version) for name, version in started.versions.items()]
        rows.append(("version of the rules", f"{started.rules_version}"))
    cells = ((cell_text(name), cell_text(_value(value), MAX_VALUE_CHARACTERS)) for name, value in rows)
    return table_section("The run", ("what", "value"), cells, "Circumstances of the run")


def _known(prefix: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the values that are neither missing nor empty, with prefixed names."""
    filled = {key: value for key, value in values.items() if value not in (None, [], {})}
    blank = {key for key, value in filled.items() if isinstance(value, str) and not value.strip()}
    return [(f"{prefix} {key}", value) for key, value in filled.items() if key not in blank]


def _value(value: Any) -> str:
    """Return a setting as text; as JSON unless it is a text."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else to_json(value, fallback=repr).decode()
