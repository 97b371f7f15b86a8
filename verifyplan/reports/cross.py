"""Report a cross run: its classes, and all that they rest on: votes, failed calls, cost, rules (rules A13, B8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from verifyplan.frames.few_votes import votes_behind
from verifyplan.frames.run_notes import counted_calls
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.event_cross import PLAN_BODY, FindingGrouped, Part
from verifyplan.protocol.vote import CLASSIFICATIONS, VERDICTS
from verifyplan.reports.blocks import (
    Block,
    Fields,
    Page,
    PageSection,
    Paragraph,
    Quotation,
    Subsection,
    TableBlock,
    Tone,
    Words,
    cell_text,
    strong_paragraphs,
    table_section,
)
from verifyplan.reports.circumstances import circumstances
from verifyplan.reports.visible import one_line
from verifyplan.runlog.cross_state import CrossState
from verifyplan.text import counted, is_or_are
from verifyplan.version import VERSION

MAX_FINDINGS = 500
"""So many findings have a row in the table of findings; the table of the run has all."""
MAX_FINDINGS_IN_FULL = 100
"""So many findings are reported vote by vote."""
MAX_CALLS = 100
"""So many failed calls are listed."""


def cross_page(
    state: CrossState,
    frames: RunSet,
    warnings: Sequence[str],
    notes: Sequence[str],
    shortfall: str | None,
    broken_off: str = "broken off",
) -> Page:
    """Return the report of a cross run, also of one that was broken off, as blocks.

    `warnings` come before the classes, `notes` behind them; `shortfall` says why the classes are not a result of the
    whole panel, `broken_off` how a run without an outcome goes on. Texts of findings, workers and endpoints are shown
    as text.
    """
    sections = (
        _findings(state, frames),
        _workers(frames),
        _failed_calls(frames.calls),
        _in_full(state),
        _rules(state),
        _circumstances(state),
    )
    outcome, started = state.outcome, state.started
    assert started is not None  # noqa: S101  (a run begins with its first event)
    rounds = counted(outcome.total_rounds, "round") if outcome else ""
    few = ", on too few votes" if shortfall else ""
    ending = f"{outcome.final_state} after {rounds}{few}" if outcome else broken_off
    tone: Tone = "bad" if shortfall else "none" if outcome is None else "fair" if warnings else "good"
    return Page(
        title=f"Cross-verification: {one_line(started.task_key, 200)}{' (synthetic)' if started.synthetic else ''}",
        headline=(f"{_sizes(state)}: {ending}",),
        tone=tone,
        lead=(
            *strong_paragraphs(warnings),
            *_classes(state, votes_behind(frames.findings)),
            *(Paragraph((note,)) for note in notes if note),
        ),
        sections=tuple(section for section in sections if section.blocks),
        foot=f"Written by verifyplan {VERSION}.",
    )


def _sizes(state: CrossState) -> str:
    assert state.started is not None  # noqa: S101
    inputs = state.started.cross
    items = f", {counted(len(state.groups[PLAN_BODY]), 'plan item')}" if state.groups[PLAN_BODY] else ""
    findings = counted(len(state.groups["findings"]), "finding")
    return f"{findings}{items}, {counted(len(inputs.analysers), 'worker')}, {inputs.mode}"


def _classes(state: CrossState, behind: Mapping[str, str]) -> Iterator[Block]:
    """Yield how many findings and plan items have each class, what lacks votes, and whether the gate was passed."""
    parts: list[Part] = ["findings", PLAN_BODY] if state.groups[PLAN_BODY] else ["findings"]
    counts = {part: Counter(c.classification for (of, _), c in state.classes.items() if of == part) for part in parts}
    rows = tuple(
        (
            (name,),
            *((f"{counts[part][name]:,}",) for part in parts),
            *([(behind.get(name, ""),)] if behind else []),
        )
        for name in CLASSIFICATIONS
        if any(counts[part][name] for part in parts)
    )
    if rows:
        head = ("class", *("findings" if part == "findings" else "plan items" for part in parts))
        head = (*head, "votes that are missing") if behind else head
        yield TableBlock(head, rows, "Findings by class")
    if state.outcome is not None and state.outcome.gate_passed is not None:
        advises = "" if state.outcome.gating else ", which only advises"
        yield Paragraph((f"The plan body {'passed' if state.outcome.gate_passed else 'failed'} its gate{advises}.",))


def _findings(state: CrossState, frames: RunSet) -> PageSection:
    """Report each finding in a row: its class, the rule that gave it, and how many of the votes asked for came."""
    counts = frames.findings.set_index("finding_id")[["votes_valid", "votes_asked", "n_rounds"]].astype("object")
    rows = [_finding_row(state, group, counts) for group in _groups(state)[:MAX_FINDINGS]]
    head = ("finding", "class", "rule", "round", "valid votes", "claim")
    return table_section("Findings", head, rows, "Findings", before=_left_out(state, MAX_FINDINGS, "findings"))


def _finding_row(state: CrossState, group: FindingGrouped, counts: pd.DataFrame) -> tuple[Words, ...]:
    found = state.classes.get((group.part, group.finding_id))
    valid, asked, _ = counts.loc[group.finding_id]
    votes = f"{valid} of {asked}" if asked else "none asked for"
    given = (found.classification, found.rule, str(found.round)) if found else ("none yet", "-", "-")
    return cell_text(group.finding_id), *((text,) for text in (*given, votes)), cell_text(group.summary)


def _groups(state: CrossState) -> list[FindingGrouped]:
    return [group for part in state.groups.values() for group in part.values()]


def _left_out(state: CrossState, limit: int, where: str) -> str:
    more = len(_groups(state)) - limit
    return f"The first {limit:,}; {more:,} more {is_or_are(more)} in the run's table {where}." if more > 0 else ""


def _workers(frames: RunSet) -> PageSection:
    """Report the votes of each worker by verdict, discoverers' own left out, and the calls of it that failed."""
    own = frames.votes["is_origin"].fillna(False).astype(bool)
    cast = Counter(frames.votes.loc[~own, ["worker", "verdict"]].itertuples(index=False, name=None))
    calls = frames.calls[counted_calls(frames.calls)]
    made, failed = Counter(calls["worker"]), Counter(calls.loc[calls["failure"].notna(), "worker"])
    rows: list[tuple[Words, ...]] = []
    for worker in dict.fromkeys([*made, *(worker for worker, _ in cast)]):
        verdicts = (f"{cast[worker, verdict]:,}" for verdict in VERDICTS)
        rows.append((cell_text(worker), *((text,) for text in verdicts), (f"{failed[worker]:,} of {made[worker]:,}",)))
    return table_section("Workers", ("worker", *VERDICTS, "failed calls"), rows, "Votes by worker")


def _failed_calls(calls: pd.DataFrame) -> PageSection:
    """Report the calls that failed and count, with their reason as it was recorded."""
    failed = calls[counted_calls(calls) & calls["failure"].notna()]
    rows: list[tuple[Words, ...]] = [
        (cell_text(row["call_id"]), cell_text(row["worker"]), (row["failure"],), cell_text(row["reason"] or "", 300))
        for row in failed.head(MAX_CALLS).to_dict("records")
    ]
    more = len(failed) - MAX_CALLS
    before = f"The first {MAX_CALLS}; {more:,} more {is_or_are(more)} in the run's table calls." if more > 0 else ""
    return table_section("Calls that failed", ("call", "worker", "kind", "reason"), rows, "Failed calls", before=before)


def _in_full(state: CrossState) -> PageSection:
    """Report findings vote by vote."""
    groups = _groups(state)
    left_out = _left_out(state, MAX_FINDINGS_IN_FULL, "votes")
    before: list[Block] = [Paragraph((left_out,))] if left_out else []
    full = (_finding(state, group, number) for number, group in enumerate(groups[:MAX_FINDINGS_IN_FULL], start=1))
    return PageSection("Findings vote by vote", (*before, *full))


def _finding(state: CrossState, group: FindingGrouped, number: int) -> Subsection:
    found = state.classes.get((group.part, group.finding_id))
    pairs = [("Claim", group.summary), ("Found by", ", ".join(group.discoverers))]
    pairs += [("Joined with", ", ".join(group.merged_ids))]
    filled = tuple(pair for pair in pairs if pair[1].strip())
    blocks: list[Block] = [Fields(filled)] if filled else []
    blocks += [Quotation("Evidence", group.evidence)] if group.evidence.strip() else []
    rounds = state.votes.get((group.part, group.finding_id), {})
    rows: list[tuple[Words, ...]] = [
        (
            (str(vote.round),),
            cell_text(vote.worker),
            (vote.disagree_basis or vote.verdict,),
            cell_text(vote.explanation, 600),
        )
        for votes in rounds.values()
        for vote in votes.values()
    ]
    blocks += [TableBlock(("round", "worker", "vote", "explanation"), tuple(rows), "Votes")] if rows else []
    title = f"{one_line(group.finding_id, 120)}: {found.classification if found else 'no class yet'}"
    return Subsection(f"finding-{number}", title, tuple(blocks))


def _rules(state: CrossState) -> PageSection:
    """Report the rules that decided, field by field in words, those that are not neutral first."""
    assert state.started is not None  # noqa: S101
    rules = state.started.cross.rules
    changed = rules.treatment
    fields = sorted(rules.in_words.items(), key=lambda field: field[0] not in changed)
    rows = ((cell_text(name), cell_text(text, 300), ("yes" if name in changed else "",)) for name, text in fields)
    before = f"{rules}" if changed else "The rules of the mode, with nothing changed (rules B4 to B7)."
    return table_section("Rules", ("field", "value", "changed"), rows, "Rules of the run", before=before)


def _circumstances(state: CrossState) -> PageSection:
    assert state.started is not None  # noqa: S101
    inputs = state.started.cross
    rows = [(f"setting {name}", value) for name, value in inputs.settings.items()]
    limits = inputs.limits.model_dump(mode="json", exclude_none=True)
    rows += [("task type", inputs.task_type), ("matcher", inputs.matcher), ("timeout", inputs.timeout)]
    rows += [("findings a call", inputs.items_per_call), *limits.items(), ("evidence in", inputs.root)]
    return circumstances(state.started, [row for row in rows if row[1] not in (None, "")])
