"""Report the course of a plan run and its circumstances: iterations, failures, cost, sizing, settings (rule A13)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from verifyplan.protocol.event_plan import (
    ChallengeRefused,
    DirectiveRefused,
    EntryRefused,
    PlanAssessed,
    PromotionRefused,
    ScoreRefused,
    StatusRefused,
)
from verifyplan.protocol.event_run import Checkpoint
from verifyplan.protocol.records import SETTLED
from verifyplan.protocol.settings import PlanSettings
from verifyplan.reports.blocks import (
    Block,
    Bullets,
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
from verifyplan.reports.circumstances import MAX_VALUE_CHARACTERS, from_here, known
from verifyplan.reports.circumstances import circumstances as run_circumstances
from verifyplan.reports.plan_facts import convergence_of, id_link
from verifyplan.reports.usage import dollars, expected_usage, max_expected_tokens
from verifyplan.reports.visible import one_line
from verifyplan.rules.failed_calls import failed_words
from verifyplan.rules.going_on import how_to_go_on, if_moved
from verifyplan.runlog.plan_state import PlanState, Refusal
from verifyplan.text import counted

MAX_WORDS = 20
"""So many words are listed of each sign."""


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
    word = "better than" if last < first else "worse than" if last > first else "the same as"
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
    yield from titled_bullets("The synthesizer stated something other than the counts, which decide:", items)


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
    """Report what was repeated and merged into an earlier entry."""
    text = "Repeated, in these or other words, and merged into the earlier entry."
    rows: list[tuple[Words, ...]] = [
        ((str(each.iteration),), (each.what,), cell_text(each.role), cell_text(each.text), (id_link(state, each.into),))
        for each in state.restated
    ]
    head = ("iteration", "what", "by", "in its words", "merged into")
    return table_section("Restated", head, rows, "What was repeated", before=text)


def failures(state: PlanState) -> PageSection:
    """Report the agents that gave nothing usable, and what the loop did without them (rule A11)."""
    rows: list[tuple[Words, ...]] = []
    for each in state.failures:
        texts = cell_text(each.call_id), cell_text(each.reason, 300), cell_text(each.consequence, 300)
        rows.append(((str(each.iteration),), (each.agent,), *texts))
    head = ("iteration", "agent", "call", "what happened", "consequence")
    return table_section("Agents that failed", head, rows, "Failures and consequences")


def failed_calls(state: PlanState) -> str:
    """Return how many calls failed, why, and how they are asked again; blank where none did."""
    failed = failed_words(state.failure_kinds, state.calls + state.failed_calls)
    if not failed:
        return ""
    backend = state.started.backend if state.started else None
    kept_back = state.unaffordable.values()
    again = how_to_go_on(state.log_place, backend, retry_failed=True, kept_back=kept_back)
    return f"{failed}; to ask them again: {again}{if_moved(state.failure_kinds, backend)}"


def used(state: PlanState) -> str:
    """Return the calls and tokens of a run, in words; failed calls are counted in."""
    usage = state.usage
    cached = f", {usage.cache_read_tokens:,} of them cached" if usage.cache_read_tokens else ""
    parts = f"{usage.total_input:,} in{cached}, {usage.output_tokens:,} out"
    held_back = f" ({len(state.unaffordable):,} of them held back by a limit)" if state.unaffordable else ""
    failed = f" and {state.failed_calls:,} that failed{held_back}" if state.failed_calls else ""
    return f"{counted(usage.total, 'token')} ({parts}) in {counted(state.calls, 'call')}{failed}"


def price(state: PlanState) -> Words:
    """Return the cost, behind a comma, or why it is unknown: models for which the backend says it has no price."""
    usage = state.usage
    if usage.cost is not None:
        return (f", {dollars(usage.cost)}",)
    if usage.uncounted:
        return (f", cost unknown: the usage of {counted(usage.uncounted, 'request')} is missing or cannot be read",)
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
        yield Paragraph((f"Written to a cache: {state.usage.cache_write_tokens:,} of the tokens in.",))
    if state.usage.web_searches:
        yield Paragraph((f"Searches of the web that the endpoint made: {state.usage.web_searches:,}.",))
    if state.assessed is not None:
        most = max_expected_tokens(state.assessed.team, state.iteration)
        over = " This run used more than the worst case." if most is not None and tokens > most else ""
        yield Paragraph((f"Expected: {expected_usage(state.assessed.team, state.iteration)}.{over}",))
    ends = [counted(limits.max_tokens, "token")] if limits.max_tokens is not None else []
    ends += [f"${limits.max_cost}"] if limits.max_cost is not None else []
    if ends:
        yield Paragraph((f"The limit of the run was {' or '.join(ends)}.",))
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
    inputs = state.inputs
    defaults = PlanSettings().model_dump(mode="json")
    settings = inputs.settings.model_dump(mode="json", exclude={"rules"}) | inputs.settings.rules.changed
    changed = [(f"setting {name}", value) for name, value in settings.items() if value != defaults.get(name)]
    plan = [("plan", from_here(inputs.plan_path)), ("plan sha256", inputs.plan_sha256)]
    repository = inputs.repository | {"root": from_here(str(inputs.repository.get("root", "")))}
    return run_circumstances(state.started, [*known("repository", repository), *changed], plan)
