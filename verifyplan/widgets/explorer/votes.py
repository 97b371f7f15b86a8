"""Votes as a table of letters, items down and workers across, and the words behind the votes on one item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pandas as pd

from verifyplan.charts.theme import BLUE, MARK_COLORS, MARK_LETTERS, Mark
from verifyplan.widgets.explorer.html import Html, heading, paragraph, table, text

MOST_ITEMS = 15
MOST_WORKERS = 16
NOT_ASKED = '<span class="vp-hidden">not asked</span>'


def marks(votes: pd.DataFrame) -> pd.Series[Any]:
    """What each vote is in one word: the basis of a disagree that has one, else the verdict."""
    return votes["disagree_basis"].astype("object").fillna(votes["verdict"].astype("object"))


def tile(mark: str, number: int | None = None, title: str = "") -> Html:
    """A letter on its colour; the whole word is there for those who hear the page."""
    ground, ink = MARK_COLORS[cast(Mark, mark)], "#ffffff" if MARK_COLORS[cast(Mark, mark)] == BLUE else "#000000"
    said = mark if number is None else f"round {number}: {mark}"
    hover = f"{said}{f': {title}' if title else ''}"
    return Html(
        f'<span class="vp-tile" role="img" aria-label="{text(said)}" title="{text(hover, 400)}" '
        f'style="background: {ground}; color: {ink}">{MARK_LETTERS[cast(Mark, mark)]}</span>'
    )


def matrix(votes: pd.DataFrame, items: pd.DataFrame, found: dict[str, list[str]], first: Sequence[str]) -> str:
    """The votes cast so far on at most 15 items, those of `first` before others; letters and colours as in charts."""
    told = heading(5, "Votes so far")
    shown = _shown(items["item"], set(votes["finding_id"]) | {name for name, by in found.items() if by}, first)
    if not shown:
        return told + paragraph("Nobody has voted by this step.")
    cast_on = votes[votes["finding_id"].isin(shown)].assign(mark=marks)
    everyone = sorted({*cast_on["worker"], *(worker for name in shown for worker in found.get(name, []))})
    workers = everyone[:MOST_WORKERS]
    cells = _cells(cast_on)
    rows = items.set_index("item").loc[shown]
    body = [
        [name, *(_cell(cells.get((name, worker)), worker in found.get(name, [])) for worker in workers), *ending]
        for name, ending in zip(shown, rows[["standing", "summary"]].to_numpy().tolist(), strict=True)
    ]
    caption = _caption(len(shown), len(items), len(workers), len(everyone))
    return told + _key() + table(caption, ["Item", *workers, "Stands as", "Claim"], [_cut(row) for row in body])


def _shown(names: pd.Series[Any], known: set[str], first: Sequence[str]) -> list[str]:
    ordered = [*dict.fromkeys(name for name in [*first, *names] if name in known)]
    present = set(names)
    return [name for name in ordered if name in present][:MOST_ITEMS]


def _cut(row: list[Any]) -> list[Any]:
    return [*row[:-1], text(row[-1], 60)]


def _cells(votes: pd.DataFrame) -> dict[tuple[str, str], list[Html]]:
    cells: dict[tuple[str, str], list[Html]] = {}
    columns = ["finding_id", "worker", "mark", "round", "explanation"]
    for name, worker, mark, number, said in votes[columns].itertuples(index=False, name=None):
        cells.setdefault((name, worker), []).append(tile(mark, int(number), said if isinstance(said, str) else ""))
    return cells


def _cell(tiles: list[Html] | None, discovered: bool) -> Html:
    found = tile("discovered") if discovered else ""
    cast_on = found + "".join(tiles or [])
    return Html(f'<span class="vp-tiles">{cast_on or NOT_ASKED}</span>')


def _caption(shown: int, items: int, workers: int, everyone: int) -> str:
    told = f"{shown} of {items:,}, down, by worker, across; one letter a round, blank where nobody was asked."
    if shown < items:
        told += " What changed in this step and what is chosen stands first."
    return told if workers == everyone else f"{told} The first {workers} of {everyone:,} workers."


def _key() -> Html:
    pairs = (f'<span class="vp-tiles">{tile(mark)}{mark}</span>' for mark in MARK_LETTERS)
    return Html(f"<p>{' '.join(pairs)}</p>")


def ballots(votes: pd.DataFrame, name: str) -> str:
    """The votes on one item so far, with what each worker said."""
    own = votes[votes["finding_id"].eq(name)].assign(mark=marks)
    if own.empty:
        return paragraph(f"Nobody has voted on {name} by this step.")
    rows = [
        (row["worker"], row["round"], Html(f"{tile(row['mark'])}{_told(row)}"), row["explanation"])
        for row in own.to_dict("records")
    ]
    iteration = int(own["iteration"].iloc[0])
    where = f" in iteration {iteration}" if iteration else ""
    return table(f"Votes on {name}{where}", ["Worker", "Round", "Vote", "In its words"], rows)


def _told(row: dict[Any, Any]) -> str:
    told = str(row["mark"])
    if row["verdict"] == "disagree" and row["mark"] != "disagree":
        told = f"disagree, {told}"
    if row["is_origin"] is True:
        told += " (its discoverer: not counted)"
    return f"{told} (cites no place)" if row["uncited"] is True else told
