"""A run and its steps as HTML: the headline, the changes, the detail of an item, the calls, the votes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

import pandas as pd

from verifyplan.analysis.cost import TOKENS, failed
from verifyplan.analysis.explain import RULE_MEANINGS
from verifyplan.analysis.replay import Setting
from verifyplan.analysis.run_steps import RunSteps
from verifyplan.charts.theme import BLUE, MARK_COLORS, MARK_LETTERS, Mark
from verifyplan.text import counted
from verifyplan.widgets.html import (
    NOT_RECORDED,
    Html,
    heading,
    long_text,
    paragraph,
    table,
    text,
)

MAX_CHANGES = 100
"""Changes of a step that are listed; the caption says how many there are."""
INPUT = tuple(name for name in TOKENS if name != "output_tokens")
"""Tokens in: those that went through a cache, and the others."""
_NOUN = {"plan": "challenge", "debate": "message"}
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
MAX_ITEMS = 15
MAX_WORKERS = 16
NOT_ASKED = '<span class="vp-hidden">not asked</span>'


def noun(course: RunSteps) -> str:
    """Return the name of an item of the run."""
    return _NOUN.get(course.kind, "finding")


def headline(course: RunSteps) -> str:
    """Return the run in a few words, and what is missing in it."""
    run = course.tables.runs.iloc[0]
    facts = [text(fact, 200) for fact in _facts(run, course)]
    return heading(4, f"Run {run['run_id']}") + f"<p>{'; '.join(facts)}.</p>" + "".join(map(paragraph, _lacks(course)))


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
        yield f"score {run['score']} of 10, which informs and decides nothing"
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
        yield "An import of votes has neither calls nor recorded classes: classes are what its rules make of the votes."


def pool_summary(items: pd.DataFrame, title: str, what: str) -> str:
    """Return how many items have which status, in one sentence."""
    if items.empty:
        return heading(5, f"The pool: {title}") + paragraph(f"There is no {what} yet.")
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


def detail(course: RunSteps, name: str, items: pd.DataFrame, step: int) -> str:
    """Return the evidence behind one item, and its status by a step."""
    row = items[items["item"].eq(name)]
    if row.empty:
        return paragraph(f"{name} had not been raised by this step.")
    plan = course.kind == "plan"
    known = course.tables.challenges if plan else course.tables.findings
    record = known[known["challenge_id" if plan else "finding_id"].eq(name)].iloc[0]
    lines = [("Stands as", row["standing"].iloc[0])]
    if plan:
        lines += [("Severity", record["severity"]), ("The panel's class", row["classification"].iloc[0])]
        lines += [("Resolution", _resolution(course, name, step))]
    rule = row["rule"].iloc[0]
    lines += [("Rule", f"{rule}: {RULE_MEANINGS[rule]}" if rule in RULE_MEANINGS else None)]
    fields = _CHALLENGE if plan else _FINDING
    lines += [(title, record[column]) for column, title in fields.items()]
    if not plan:
        lines.insert(2, ("Found by", ", ".join(record["discoverers"]) or None))
    body = [(title, long_text(value)) for title, value in lines if _has_value(value)]
    return heading(5, f"{name}: {row['summary'].iloc[0]}") + table(
        f"What stands behind {name}", ["About", "What is recorded"], body
    )


def why(course: RunSteps, name: str, rules: Setting) -> str:
    """Return why an item ends in its class under the rules, to be unfolded."""
    explanation = course.explained(name, rules)
    under = "as it was recorded" if rules.own else "under these rules"
    return (
        f"<details><summary>Why it ends in its class, {under}</summary>{long_text(explanation)}</details>"
        if explanation
        else ""
    )


def _has_value(value: Any) -> bool:
    return bool(pd.notna(value)) and str(value) != ""


def _resolution(course: RunSteps, name: str, step: int) -> Any:
    past = course.history[course.history["challenge_id"].eq(name) & course.history["step_of_run"].le(step)]
    resolutions = past.loc[past["event"].eq("changed"), "resolution"].dropna()
    return resolutions.iloc[-1] if len(resolutions) else None


def calls(made: pd.DataFrame, kind: str) -> str:
    """Return who was called in a step, with tokens and time; what is not recorded is named so, and is never 0."""
    title_html = heading(5, "Calls of this step")
    if made.empty:
        none = "An import of votes records no calls." if kind == "votes" else "No call is recorded in this step."
        return title_html + paragraph(none)
    wrong, priced = bool(made["reason"].notna().any()), bool(made["cost"].notna().any())
    rows = [
        (
            row["worker"],
            row["role"],
            _status(row["status"]),
            _number(tokens_in),
            _number(row["output_tokens"]),
            _number(row["duration_ms"], " ms"),
            _number(row["n_tools"]),
            *([NOT_RECORDED if pd.isna(row["cost"]) else f"${row['cost']:,.4f}"] if priced else []),
            *([row["reason"] if pd.notna(row["reason"]) else ""] if wrong else []),
        )
        for row, tokens_in in zip(made.to_dict("records"), _sum_of(made, INPUT), strict=True)
    ]
    heads = [
        "Who",
        "As",
        "Status",
        "Tokens in",
        "Tokens out",
        "Time",
        "Tool calls",
        *(["Cost"] if priced else []),
        *(["What was wrong"] if wrong else []),
    ]
    return title_html + table(_sums(made), heads, rows, numbers=frozenset({3, 4, 5, 6, *([7] if priced else [])}))


def _sum_of(made: pd.DataFrame, columns: tuple[str, ...]) -> pd.Series[float]:
    """Return the tokens of these kinds by call; missing where none of them is recorded."""
    return made[list(columns)].astype("float64").sum(axis=1, min_count=1)


def _status(status: Any) -> Any:
    if pd.isna(status):
        return "not called"
    return status if status == "completed" else Html(f'<span class="vp-mark">✗ {text(status)}</span>')


def _number(value: Any, unit: str = "") -> str:
    return NOT_RECORDED if pd.isna(value) else f"{value:,.0f}{unit}"


def _sums(made: pd.DataFrame) -> str:
    wrong = int(failed(made).sum())
    parts = [counted(len(made), "call"), f"{wrong} failed" if wrong else "none failed"]
    tokens = _sum_of(made, TOKENS).dropna()
    parts.append(f"{int(tokens.sum()):,} tokens" if len(tokens) else f"tokens {NOT_RECORDED}")
    time = made["duration_ms"].dropna()
    parts.append(f"{time.sum():,.0f} ms, added up" if len(time) else f"time {NOT_RECORDED}")
    return "; ".join(parts)


def vote_marks(votes: pd.DataFrame) -> pd.Series[Any]:
    """Return each vote in one word: the basis of a disagree that has one, else the verdict."""
    return votes["disagree_basis"].astype("object").fillna(votes["verdict"].astype("object"))


def tile(mark: str, number: int | None = None, title: str = "") -> Html:
    """Return a letter on its colour, with the whole word for screen readers."""
    ground, ink = MARK_COLORS[cast(Mark, mark)], "#ffffff" if MARK_COLORS[cast(Mark, mark)] == BLUE else "#000000"
    label = mark if number is None else f"round {number}: {mark}"
    hover = f"{label}{f': {title}' if title else ''}"
    return Html(
        f'<span class="vp-tile" role="img" aria-label="{text(label)}" title="{text(hover, 400)}" '
        f'style="background: {ground}; color: {ink}">{MARK_LETTERS[cast(Mark, mark)]}</span>'
    )


def vote_matrix(
    votes: pd.DataFrame, items: pd.DataFrame, discoverers: dict[str, list[str]], first: Sequence[str]
) -> str:
    """Return the votes so far on at most 15 items, those of `first` before others; letters and colours as in charts."""
    title_html = heading(5, "Votes so far")
    shown = _shown_items(
        items["item"], set(votes["finding_id"]) | {name for name, by in discoverers.items() if by}, first
    )
    if not shown:
        return title_html + paragraph("Nobody has voted by this step.")
    cast_on = votes[votes["finding_id"].isin(shown)].assign(mark=vote_marks)
    everyone = sorted({*cast_on["worker"], *(worker for name in shown for worker in discoverers.get(name, []))})
    workers = everyone[:MAX_WORKERS]
    cells = _cells(cast_on)
    rows = items.set_index("item").loc[shown]
    body = [
        [name]
        + [_tiles_cell(cells.get((name, worker)), worker in discoverers.get(name, [])) for worker in workers]
        + [status, text(summary, 60)]
        for name, status, summary in zip(shown, rows["standing"], rows["summary"], strict=True)
    ]
    caption = _caption(len(shown), len(items), len(workers), len(everyone))
    return title_html + _legend() + table(caption, ["Item", *workers, "Stands as", "Claim"], body)


def _shown_items(names: pd.Series[Any], known: set[str], first: Sequence[str]) -> list[str]:
    ordered = [*dict.fromkeys(name for name in [*first, *names] if name in known)]
    present = set(names)
    return [name for name in ordered if name in present][:MAX_ITEMS]


def _cells(votes: pd.DataFrame) -> dict[tuple[str, str], list[Html]]:
    cells: dict[tuple[str, str], list[Html]] = {}
    columns = ["finding_id", "worker", "mark", "round", "explanation"]
    for name, worker, mark, number, explanation in votes[columns].itertuples(index=False, name=None):
        cells.setdefault((name, worker), []).append(
            tile(mark, int(number), explanation if isinstance(explanation, str) else "")
        )
    return cells


def _tiles_cell(tiles: list[Html] | None, discovered: bool) -> Html:
    first = tile("discovered") if discovered else ""
    cast_on = first + "".join(tiles or [])
    return Html(f'<span class="vp-tiles">{cast_on or NOT_ASKED}</span>')


def _caption(shown: int, items: int, workers: int, everyone: int) -> str:
    caption = f"{shown:,} of {items:,}, down, by worker, across; one letter a round, blank where nobody was asked."
    if shown < items:
        caption += " What changed in this step and what is chosen stands first."
    return caption if workers == everyone else f"{caption} The first {workers} of {everyone:,} workers."


def _legend() -> Html:
    pairs = (f'<span class="vp-tiles">{tile(mark)}{mark}</span>' for mark in MARK_LETTERS)
    return Html(f"<p>{' '.join(pairs)}</p>")


def item_votes(votes: pd.DataFrame, name: str) -> str:
    """Return the votes on one item so far, with the explanation of each worker."""
    own = votes[votes["finding_id"].eq(name)].assign(mark=vote_marks)
    if own.empty:
        return paragraph(f"Nobody has voted on {name} by this step.")
    rows = [
        (row["worker"], row["round"], Html(f"{tile(row['mark'])}{_vote_text(row)}"), row["explanation"])
        for row in own.to_dict("records")
    ]
    iteration = int(own["iteration"].iloc[0])
    where = f" in iteration {iteration}" if iteration else ""
    return table(f"Votes on {name}{where}", ["Worker", "Round", "Vote", "In its words"], rows)


def _vote_text(row: dict[Any, Any]) -> str:
    text = str(row["mark"])
    if row["verdict"] == "disagree" and row["mark"] != "disagree":
        text = f"disagree, {text}"
    if row["is_origin"] is True:
        text += " (its discoverer: not counted)"
    return f"{text} (cites no place)" if row["uncited"] is True else text
