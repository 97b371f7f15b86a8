"""The circumstances of a plan run: what it cost, how the plan was sized, settings and versions (rules A8, A12, A13)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import to_json

from verifyplan.protocol.event_plan import PlanAssessed, SignFound
from verifyplan.protocol.settings import Limits, PlanSettings
from verifyplan.reports.blocks import Block, Bullets, Paragraph, Said, Section, Table, Words, brief
from verifyplan.reports.plan_costs import expected, worst
from verifyplan.reports.usage import dollars
from verifyplan.reports.visible import one_line
from verifyplan.runlog.plan_state import PlanState
from verifyplan.text import counted

SHOWN_WORDS = 20
"""So many words are listed of each sign."""
VALUE = 400
"""Longest value of a setting that is shown."""


def used(state: PlanState) -> str:
    """Calls and tokens of a run, in words; what failed calls used is counted in."""
    usage = state.usage
    cached = f", {usage.cache_read_tokens:,} of them cached" if usage.cache_read_tokens else ""
    parts = f"{usage.total_input:,} in{cached}, {usage.output_tokens:,} out"
    failed = f" and {state.failed_calls:,} that failed" if state.failed_calls else ""
    return f"{counted(usage.total, 'token')} ({parts}) in {counted(state.calls, 'call')}{failed}"


def price(state: PlanState) -> Words:
    """What that cost, behind a comma, or why it is not known; nothing where no tokens were used."""
    usage = state.usage
    if usage.cost is not None:
        return (f", {dollars(usage.cost)}",)
    models = one_line(", ".join(unpriced(state)), VALUE)
    why: Words = ("no price for ", Said(models)) if models else ("no price is known",)
    return (", cost unknown: ", *why) if usage.total else ()


def unpriced(state: PlanState) -> list[str]:
    """The models that the backend has no price for, as it says itself; none if it says nothing of prices."""
    prices = state.started.backend.get("prices") if state.started else None
    return [str(model) for model, known in prices.items() if known is None] if isinstance(prices, Mapping) else []


def cost(state: PlanState) -> Section:
    """What the run used beside what its scenario is expected to use, and its tools."""
    return Section("Tokens and calls", tuple(_cost(state)))


def _cost(state: PlanState) -> Iterator[Block]:
    tokens = state.usage.total
    yield Paragraph((f"Used: {used(state)}", *price(state), "."))
    if state.calls and not tokens:
        yield Paragraph(("The backend counted no tokens.",))
    if state.usage.cache_write_tokens:
        yield Paragraph((f"Put in a cache: {counted(state.usage.cache_write_tokens, 'token')} of those in.",))
    if state.usage.web_searches:
        yield Paragraph((f"Searches of the web that the endpoint made: {state.usage.web_searches:,}.",))
    if state.assessed is not None:
        team = state.assessed.team
        most = worst(team, state.iteration)
        over = " This run used more than the worst case." if most is not None and tokens > most else ""
        yield Paragraph((f"Expected: {expected(team, state.iteration)}.{over}",))
    if limits := _limits(state.inputs.settings):
        yield Paragraph((f"The run was to end at {limits}.",))
    if state.tools:
        rows = tuple(((tool,), (f"{calls:,}",)) for tool, calls in sorted(state.tools.items()))
        yield Table(("tool", "calls"), rows, "Tools used, refused calls left out")
    if state.ceilings_passed:
        passed = tuple(
            (Said(f"{one.call_id}: {one.used} calls of {one.tool}, of {one.ceiling}"),) for one in state.ceilings_passed
        )
        yield Paragraph(("The backend reports more tool calls than these agents had:",))
        yield Bullets(passed)


def _limits(limits: Limits) -> str:
    """What ends the run, in words; empty for nothing."""
    tokens = counted(limits.max_tokens, "token") if limits.max_tokens is not None else ""
    cost = f"${limits.max_cost}" if limits.max_cost is not None else ""
    return " or ".join(filter(None, (tokens, cost)))


def sizing(state: PlanState) -> Section:
    """How the plan was read and sized, and what could not be read."""
    return Section("How the plan was sized", tuple(_sizing(state, state.assessed)) if state.assessed else ())


def _sizing(state: PlanState, assessed: PlanAssessed) -> Iterator[Block]:
    asked = state.inputs.settings.team
    why = " (asked for)" if asked and asked == assessed.team else ""
    team = f"{assessed.team} team{why}" if assessed.team else "no team: the plan is trivial"
    size = f"Complexity {assessed.complexity} of 16, scaled from {assessed.threshold} on"
    yield Paragraph((f"{size}; quality {assessed.quality}; {counted(assessed.steps, 'action')}; {team}.",))
    if assessed.domains:
        yield Paragraph(("Domains: ", Said(one_line(", ".join(assessed.domains), VALUE)), "."))
    for what, numbers in (("complexity counts", assessed.signs), ("quality rests on", assessed.traits)):
        if numbers:
            told = ", ".join(f"{key.replace('_', ' ')} {number}" for key, number in numbers.items())
            yield Paragraph((f"What the {what}: ", Said(one_line(told, VALUE)), "."))
    found = [(sign, words) for sign, words in assessed.found.items() if words]
    if found:
        rows = tuple((brief(sign.replace("_", " ")), _found(words)) for sign, words in found)
        yield Table(("sign", "words that counted, with their lines"), rows, "Words found in the plan")
    if assessed.notes:
        yield Paragraph(("What could not be read:",))
        yield Bullets(tuple((Said(one_line(note, VALUE)),) for note in assessed.notes))


def _found(words: tuple[SignFound, ...]) -> Words:
    shown = ", ".join(f"{sign.word} ({sign.line})" for sign in words[:SHOWN_WORDS])
    more = len(words) - SHOWN_WORDS
    return (Said(one_line(shown, VALUE)), f" and {more} more" if more > 0 else "")


def circumstances(state: PlanState) -> Section:
    """The plan by its digest, the repository by its commit, backend, versions, and settings other than the defaults."""
    started, inputs = state.started, state.inputs
    rows: list[tuple[str, Any]] = [("plan", inputs.plan_path), ("plan sha256", inputs.plan_sha256)]
    if started is not None:
        rows += [("about", started.task_key)] if started.task_key.strip() else []
        rows += [("repetition", str(started.repetition))] if started.repetition > 1 else []
        rows += [("synthetic", "inputs or replies were generated, not observed")] if started.synthetic else []
        rows += _prefixed("backend", started.backend)
    rows += _prefixed("repository", inputs.repository)
    rows += [(f"setting {name}", value) for name, value in _changed(inputs.settings)]
    if started is not None:
        rows += [(f"version of {name}", version) for name, version in started.versions.items()]
        rows.append(("version of the rules", f"{started.rules_version}"))
    told = tuple((brief(name), brief(_value(value), VALUE)) for name, value in rows)
    return Section("The run", (Table(("what", "value"), told, "Circumstances of the run"),))


def _prefixed(name: str, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return what is known of something: values that are missing or empty are left out."""
    return [(f"{name} {key}", value) for key, value in values.items() if not _is_empty(value)]


def _is_empty(value: Any) -> bool:
    return value in (None, [], {}) or (isinstance(value, str) and not value.strip())


def _changed(settings: PlanSettings) -> Iterator[tuple[str, Any]]:
    """The settings that are not the default, in the order of the model."""
    defaults = PlanSettings().model_dump(mode="json")
    return ((name, value) for name, value in settings.model_dump(mode="json").items() if value != defaults[name])


def _value(value: Any) -> str:
    """A setting as text; what is no text, as JSON."""
    if value is None:
        return "none"
    return value if isinstance(value, str) else to_json(value, fallback=repr).decode()
