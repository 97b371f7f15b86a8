"""The votes of a run as matrices: items by workers, and for one item workers by rounds; colours as in charts."""

from __future__ import annotations

from html import escape
from typing import Any, cast

import pandas as pd

from verifyplan.analysis.run_steps import RunSteps
from verifyplan.charts.labels import plain
from verifyplan.charts.theme import BLUE, MARK_COLORS, MARK_LETTERS, PAPER, Mark
from verifyplan.widgets.html import DASH, MAX_TEXT_CHARACTERS, Html, heading, paragraph, table, text

MAX_ITEMS = 15
MAX_WORKERS = 16
NOT_ASKED = '<span class="vp-hidden">not asked</span>'


def vote_marks(votes: pd.DataFrame) -> pd.Series[Any]:
    """Return each vote in one word: its basis if it has one, else its verdict."""
    return votes["disagree_basis"].astype("object").fillna(votes["verdict"].astype("object"))


def tile(mark: str, number: int | None = None, title: str = "") -> Html:
    """Return a letter on its colour, with the whole word for screen readers and an explanation on hover."""
    ground = MARK_COLORS[cast(Mark, mark)]
    ink = "#ffffff" if ground == BLUE else "#000000"
    if ground == PAPER:
        ground, ink = "var(--vp-paper)", "var(--vp-ink)"
    label = mark if number is None else f"round {number}: {mark}"
    hover = f"{label}{f': {title}' if title else ''}"
    return Html(
        f'<span class="vp-tile" role="img" aria-label="{text(label)}" title="{text(hover, 400)}" '
        f'style="background: {ground}; color: {ink}">{MARK_LETTERS[cast(Mark, mark)]}</span>'
    )


def vote_matrix(
    votes: pd.DataFrame, items: pd.DataFrame, discoverers: dict[str, list[str]], first: pd.Series[Any]
) -> str:
    """Return the votes so far on at most 15 items, those of `first` before others."""
    title_html = heading(5, "Votes so far")
    names = items["item"].astype("object")
    voted_on = names.isin(votes["finding_id"].astype("object"))
    discovered = names.map(discoverers).astype("object").str.len().gt(0)
    shown = _shown_items(names[voted_on | discovered], first.astype("object"))
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
    return title_html + _legend() + table(caption, ["Item", *workers, "Status", "Claim"], body)


def _shown_items(names: pd.Series[Any], first: pd.Series[Any]) -> list[str]:
    """Return 15 of the names at most, those of `first` before others, each once."""
    before = first[first.isin(names)].drop_duplicates().head(MAX_ITEMS)
    return list(pd.concat([before, names.head(MAX_ITEMS)]).drop_duplicates().head(MAX_ITEMS))


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
    caption = f"{shown:,} of {items:,} items in rows, workers in columns; one letter a round."
    if shown < items:
        caption += " The chosen item and those that changed in this step come first."
    return caption if workers == everyone else f"{caption} The first {workers} of {everyone:,} workers."


def _legend() -> Html:
    pairs = (f'<span class="vp-tiles">{tile(mark)}{mark}</span>' for mark in MARK_LETTERS)
    return Html(f"<p>{' '.join(pairs)}</p>")


def item_matrix(course: RunSteps, votes: pd.DataFrame, name: str, controls: bool) -> str:
    """Return the votes on one item, workers in rows and rounds in columns; choosing a vote shows its words below.

    Without `controls`, a table has the words of all votes instead.
    """
    own = votes[votes["finding_id"].eq(name)].assign(mark=vote_marks)
    discovered = course.discoverers.get(name, [])
    if own.empty and not discovered:
        return paragraph(f"Nobody has voted on {name} by this step.")
    rounds = _rounds_of(course, own)
    cells = {(row["worker"], row["round"]): row for row in own.to_dict("records")}
    workers = list(dict.fromkeys([*discovered, *own["worker"]]))
    cast_in = set(own["round"])
    body = [
        [worker, *([tile("discovered") if worker in discovered else ""] if discovered else [])]
        + [_vote_cell(cells.get((worker, number)), number in cast_in, controls) for number in rounds]
        for worker in workers
    ]
    heads = ["Worker", *(["Found it"] if discovered else []), *(f"Round {number}" for number in rounds)]
    iteration = int(own["iteration"].iloc[0]) if len(own) else 0
    where = f" in iteration {iteration}" if iteration else ""
    html = f'<div class="vp-matrix">{table(f"Votes on {name}{where}", heads, body)}</div>'
    if controls:
        hint = "Choose a vote to read its words." if len(own) else ""
        return html + _legend() + f'<div class="vp-vote-words" role="status" data-hint="{hint}">{hint}</div>'
    return html + _legend() + _vote_words(own)


def _rounds_of(course: RunSteps, own: pd.DataFrame) -> list[int]:
    """Return the rounds of the item's iteration, including those without a vote on it."""
    votes = course.tables.votes
    same = votes["iteration"].eq(own["iteration"].iloc[0] if len(own) else 0)
    return sorted({int(number) for number in votes.loc[same.to_numpy(dtype=bool), "round"].unique()})


def _vote_cell(row: dict[Any, Any] | None, was_held: bool, controls: bool) -> Html:
    if row is None:
        return Html(NOT_ASKED) if was_held else Html(f'<span class="vp-small">{DASH}</span>')
    words = row["explanation"] if isinstance(row["explanation"], str) else ""
    mark, number = row["mark"], int(row["round"])
    shown = tile(mark, number, words)
    if not controls:
        return shown
    whole = plain(words)[:MAX_TEXT_CHARACTERS] or "(no words)"
    head = f"{row['worker']}, round {number}: {_vote_text(row)}"
    attributes = f'data-head="{text(head)}" data-words="{escape(whole)}" aria-label="{text(head)}"'
    return Html(f'<button type="button" class="vp-vote" {attributes}>{shown}</button>')


def _vote_words(own: pd.DataFrame) -> str:
    rows = [
        (row["worker"], row["round"], Html(f"{tile(row['mark'])}{text(_vote_text(row))}"), row["explanation"])
        for row in own.to_dict("records")
    ]
    return table("Their words", ["Worker", "Round", "Vote", "In its words"], rows) if rows else ""


def _vote_text(row: dict[Any, Any]) -> str:
    text = str(row["mark"])
    if row["verdict"] == "disagree" and row["mark"] != "disagree":
        text = f"disagree, {text}"
    if row["is_origin"] is True:
        text += " (its discoverer: not counted)"
    return f"{text} (cites no place)" if row["uncited"] is True else text
