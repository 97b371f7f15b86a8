"""A run and its steps as HTML: the headline, the changes, the detail of an item, the calls, the votes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

import pandas as pd

from verifyplan.analysis.cost import TOKENS, failed, failures_in_words, unsent
from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.charts.labels import plain
from verifyplan.frames.run_notes import counted_calls
from verifyplan.text import counted
from verifyplan.widgets.explorer.contents import ITEM_NOUNS
from verifyplan.widgets.explorer.recorded_lines import Lines, opened
from verifyplan.widgets.html import (
    NOT_RECORDED,
    Html,
    facts,
    heading,
    long_text,
    paragraph,
    table,
    text,
)

NO_TOKENS = f"tokens {NOT_RECORDED}"
MAX_CHANGES = 100
"""Changes of a step that are listed; the caption says how many there are."""
INPUT = tuple(name for name in TOKENS if name != "output_tokens")
"""Tokens in: those that went through a cache, and the others."""
_FINDING = {"evidence": "Evidence", "category": "Kind", "origin_worker": "First found by", "truth": "Truth"}
_CHALLENGE = {
    "concern": "Concern",
    "failure_scenario": "What then breaks",
    "evidence": "Evidence",
    "place": "Place",
    "plan_section": "Section of the plan",
    "alternative": "Instead",
    "raised_by": "Raised by",
    "origin": "Origin",
    "confidence": "Confidence",
}
_SYNTHETIC = "synthetic: generated, not observed"


def noun(course: RunSteps) -> str:
    """Return the name of an item of the run."""
    return ITEM_NOUNS.get(course.kind, "finding")


def headline(course: RunSteps) -> str:
    """Return the run in a few words, and what it lacks."""
    run = course.tables.runs.iloc[0]
    words = [text(fact, 200) for fact in _facts(run, course)]
    return heading(4, f"Run {run['run_id']}") + f"<p>{'; '.join(words)}.</p>" + "".join(map(paragraph, _lacks(course)))


def _facts(run: pd.Series[Any], course: RunSteps) -> Iterator[str]:
    yield {"votes": "an import of votes", "debate": "debate"}.get(run["kind"], f"{run['kind']} run")
    if pd.notna(run["task_key"]):
        yield str(run["task_key"])
    if pd.notna(run["mode"]):
        yield f"{run['mode']} mode"
    if pd.notna(run["plan_verdict"]):
        yield f"verdict {run['plan_verdict']}{' (strong)' if _yes(run['strong']) else ''}"
    if pd.notna(run["plan_status"]):
        yield f"{run['plan_status']} under policy {run['policy']}"
    if pd.notna(run["score"]):
        yield f"score {run['score']} of 10 (for information; it does not affect the verdict)"
    if pd.notna(run["final_state"]):
        yield f"ended: {run['final_state']}"
    if course.kind == "debate":
        yield from _debated(run, course)
        return
    yield counted(len(course.tables.challenges if course.kind == "plan" else course.tables.findings), noun(course))
    yield counted(len(course.tables.votes), "vote")
    if _yes(run["synthetic"]):
        yield _SYNTHETIC


def _yes(value: Any) -> bool:
    """Return whether a cell holds true; a cell of pandas is not a Python bool."""
    return bool(pd.notna(value) and value)


def _debated(run: pd.Series[Any], course: RunSteps) -> Iterator[str]:
    if pd.notna(run["debate_reason"]):
        status = run["debate_status"] if pd.notna(run["debate_status"]) else "no status"
        yield f"ended: {status} ({run['debate_reason']}) in turn {run['debate_turns']} of at most {run['max_turns']}"
    yield counted(len(course.tables.messages), "message")
    if _yes(run["synthetic"]):
        yield _SYNTHETIC


def _lacks(course: RunSteps) -> Iterator[str]:
    tables = course.tables
    run = tables.runs.iloc[0]
    if pd.notna(run["finished"]) and not run["finished"]:
        yield "This run has not ended; it is shown as far as it got."
    if course.kind == "plan" and pd.notna(run["log"]) and not run["log"]:
        yield "This run has no log: what became of its challenges on the way is not recorded."
    if course.kind == "debate":
        return
    if tables.findings.empty and tables.challenges.empty:
        yield f"This run has no {noun(course)}s."
    elif tables.votes.empty:
        yield "This run has no votes."
    if course.kind == "votes":
        yield "An import of votes records neither calls nor classes: its rules give the classes."


def pool_summary(items: pd.DataFrame, title: str, what: str) -> str:
    """Return the number of items in each status, in one sentence."""
    if items.empty:
        return heading(5, f"The pool: {title}") + paragraph(f"No {what} yet.")
    counts = items["standing"].astype("object").fillna("raised").value_counts(sort=False)
    by_class = ", ".join(f"{n:,} {name}" for name, n in counts.items())
    return heading(5, f"The pool: {title}") + paragraph(f"{counted(len(items), what)}: {by_class}.")


def changes(changed: pd.DataFrame, title: str) -> str:
    """Return what a step changed, with the rule and the reason."""
    title_html = heading(5, f"What changed: {title}")
    if changed.empty:
        return title_html + paragraph("Nothing changed in this step.")
    caption = counted(len(changed), "change")
    if len(changed) > MAX_CHANGES:
        caption += f"; the first {MAX_CHANGES} are listed"
    rows = changed.head(MAX_CHANGES)[["item", "change", "why", "by"]].to_numpy().tolist()
    return title_html + table(caption, ["What", "Change", "Why, and by which rule", "By"], rows, bounded=True)


def detail(course: RunSteps, name: str, items: pd.DataFrame, step: int, lines: Lines | None) -> str:
    """Return the record of one item: its status at a step, its evidence, and the cited lines that a log holds."""
    row = items[items["item"].eq(name)]
    if row.empty:
        return paragraph(f"{name} had not been raised by this step.")
    if course.kind == "debate":
        return _message(course, name)
    plan = course.kind == "plan"
    known = course.tables.challenges if plan else course.tables.findings
    record = known[known["challenge_id" if plan else "finding_id"].eq(name)].iloc[0]
    said = [("Status", row["standing"].iloc[0])]
    if plan:
        said += [("Severity", record["severity"]), ("The panel's class", row["classification"].iloc[0])]
        said += [("Resolution", _resolution(course, name, step))]
    rule = row["rule"].iloc[0]
    said += [("Rule", f"{rule}: {RULE_MEANINGS[rule]}" if rule in RULE_MEANINGS else None)]
    fields = _CHALLENGE if plan else _FINDING
    said += [(title, record[column]) for column, title in fields.items()]
    if not plan:
        said.insert(2, ("Found by", ", ".join(record["discoverers"]) or None))
    body = [(title, long_text(value)) for title, value in said if _has_value(value)]
    shown = table(f"What is recorded of {name}", ["About", "What is recorded"], body)
    return shown + opened(record["evidence"], lines)


def _message(course: RunSteps, name: str) -> str:
    messages = course.tables.messages
    row = messages[messages["position"].astype("str").eq(name)].iloc[0]
    said = [(title, row[column]) for column, title in (("role", "Speaker"), ("type", "Type"), ("content", "Content"))]
    said += [(title, "; ".join(row[title.lower()])) for title in ("Reasons", "Evidence", "Risks")]
    body = [(title, long_text(value)) for title, value in said if _has_value(value)]
    return heading(5, f"Message {name}") + table(f"Message {name}", ["About", "What is recorded"], body)


def why_fold(rules: Setting, explanation: str) -> str:
    """Return the place where an explanation unfolds."""
    under = "as it was recorded" if rules.own else "under these rules"
    summary = f"<summary>Why it ends in its class, {under}</summary>"
    return f'<details data-fold="why" data-ask="why">{summary}<div data-slot="why">{explanation}</div></details>'


def why(course: RunSteps, name: str, rules: Setting) -> str:
    """Return why an item ends in its class under the rules."""
    explanation = course.explained(name, rules)
    return long_text(explanation) if explanation else paragraph("Nobody voted on it, so no voting rule decided.")


def _has_value(value: Any) -> bool:
    return bool(pd.notna(value)) and str(value) != ""


def _resolution(course: RunSteps, name: str, step: int) -> Any:
    past = course.history[course.history["challenge_id"].eq(name) & course.history["step_of_run"].le(step)]
    resolutions = past.loc[past["event"].eq("changed"), "resolution"].dropna()
    return resolutions.iloc[-1] if len(resolutions) else None


def calls(made: pd.DataFrame, kind: str, transcripts: Mapping[str, str]) -> str:
    """Return the calls of a step, each folded, with a place for its transcript; unrecorded numbers are not 0."""
    title_html = heading(5, "Calls of this step")
    if made.empty:
        none = "An import of votes records no calls." if kind == "votes" else "No call is recorded in this step."
        return title_html + paragraph(none)
    rows = zip(made.to_dict("records"), _sum_of(made, INPUT), strict=True)
    return title_html + paragraph(_sums(made)) + "".join(_call(row, tokens, transcripts) for row, tokens in rows)


def _call(row: dict[Any, Any], tokens_in: float, transcripts: Mapping[str, str]) -> str:
    known = [("status", _status(row["status"]))]
    known += [("tokens in", _number(tokens_in)), ("tokens out", _number(row["output_tokens"]))]
    known += [("time", _number(row["duration_ms"], " ms")), ("tool calls", _number(row["n_tools"]))]
    if pd.notna(row["n_opened"]) and row["n_opened"]:
        known.append(("excerpts opened beforehand", _number(row["n_opened"])))
    if pd.notna(row["cost"]):
        known.append(("cost", f"${row['cost']:,.4f}"))
    if pd.notna(row["reason"]):
        known.append(("what was wrong", row["reason"]))
    wrong = _status(row["status"]) if row["status"] != "completed" else ""
    who = f"<b>{text(row['worker'])}</b> {text(row['role']) if row['role'] != row['worker'] else ''} {wrong}"
    sizes = f"{_number(tokens_in)} tokens in, {_number(row['output_tokens'])} out" if pd.notna(tokens_in) else NO_TOKENS
    call_id = escape(plain(row["call_id"])) if pd.notna(row["call_id"]) else ""
    if _yes(row["superseded"]):  # what the log replays by this id is the call that counts
        fold = f"{call_id} as it was asked in reopening {row['reopening']}"
        marked = f'{who} <span class="vp-small">superseded; {sizes}</span>'
        words = paragraph(
            "It no longer counts: a reopening of the run asked it again or took another course. Its cost counts."
        )
        return f'<details class="vp-call" data-fold="{fold}"><summary>{marked}</summary>{facts(known)}{words}</details>'
    transcript = f'<div data-slot="{call_id}">{transcripts.get(str(row["call_id"]), "")}</div>' if call_id else ""
    return (
        f'<details class="vp-call" data-call="{call_id}"><summary>{who} <span class="vp-small">{sizes}</span></summary>'
        f"{facts(known)}{transcript}</details>"
    )


def _sum_of(made: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series[float]:
    """Return the sum of these kinds of tokens by call; missing where none of them is recorded."""
    return made[list(columns)].astype("float64").sum(axis=1, min_count=1)


def _status(status: Any) -> Any:
    if pd.isna(status):
        return "not called"
    return status if status == "completed" else Html(f'<span class="vp-mark">✗ {text(status)}</span>')


def _number(value: Any, unit: str = "") -> str:
    return NOT_RECORDED if pd.isna(value) else f"{value:,.0f}{unit}"


def _sums(listed: pd.DataFrame) -> str:
    """Return the totals of the calls that count, and the number of superseded ones."""
    made = listed[counted_calls(listed)]
    wrong, superseded = int(failed(made).sum()), len(listed) - len(made)
    parts = [counted(len(made), "call"), failures_in_words(wrong, int(unsent(made).sum())) if wrong else "none failed"]
    parts += [f"{superseded} superseded"] if superseded else []
    tokens = _sum_of(made, TOKENS).dropna()
    parts.append(f"{int(tokens.sum()):,} tokens" if len(tokens) else NO_TOKENS)
    time = made["duration_ms"].dropna()
    parts.append(f"{time.sum():,.0f} ms in total" if len(time) else f"time {NOT_RECORDED}")
    return "; ".join(parts)
