"""Count who takes the majority's side, with and without new evidence, and what of it is capitulation (rule F3b)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters
from verifyplan.analysis.panels.round_answers import Bools, RoundAnswers, majority
from verifyplan.analysis.panels.round_changes import Share, share_row, whole_numbers
from verifyplan.frames.panel_votes import Ints
from verifyplan.rules.citations import citations

ALL_STEPS = "all"


class Reconsidered(NamedTuple):
    """Answers that a worker could reconsider: given in a round in which the panel had a majority, and asked again."""

    step: Ints
    """The column of the round after."""
    unit: Ints
    minority: Bools
    """Whether the answer before was another than the majority's."""
    switched: Bools
    """Of a minority's answer, whether it became the majority's; of a majority's, whether it became another."""
    right: Bools
    """Whether the majority was right."""
    new: Bools
    """Whether the worker cites what it had not cited on this unit before."""
    evidence_known: Bools
    """Whether the worker's words are known."""


def reconsidered(answers: RoundAnswers, explanation: pd.Series[Any] | None) -> Reconsidered:
    """Return the answers of one round that were asked for in the next, by side; no answers are carried forward here.

    The majority is that of the whole panel in the round before; where several answers tie, nobody is on its side.
    """
    panel = majority(answers, "none")
    new, known = new_citations(answers, explanation)
    parts = []
    for column in range(1, len(answers.rounds)):
        before, after = answers.answer[:, column - 1], answers.answer[:, column]
        side = panel.leader[answers.unit, column - 1]
        row = np.flatnonzero((side >= 0) & (before >= 0) & (after >= 0) & (panel.n[answers.unit, column - 1] > 1))
        before, after, side = before[row], after[row], side[row]
        minority = before != side
        switched = np.where(minority, after == side, after != side)
        step, unit, right = np.full(len(row), column), answers.unit[row], side == answers.truth[answers.unit[row]]
        parts.append((step, unit, minority, switched, right, new[row, column], known[row, column]))
    return Reconsidered(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def new_citations(answers: RoundAnswers, explanation: pd.Series[Any] | None) -> tuple[Bools, Bools]:
    """Return, by worker, unit and round, whether the answer cites a new place, and whether that is known.

    New is a place that the worker had not cited on the unit before. It is known where the words of this answer and of
    all before it are there.
    """
    shape = answers.vote.shape
    if explanation is None:
        return np.zeros(shape, dtype=bool), np.zeros(shape, dtype=bool)
    codes, texts = pd.factorize(explanation)
    code = np.where(answers.vote >= 0, codes[answers.vote], -1)
    known = np.logical_and.accumulate((code >= 0) | (answers.answer < 0), axis=1)
    cited = pd.Series([citations(text) for text in texts.astype(str)], dtype="object").explode().dropna()
    pair, column = np.nonzero(code >= 0)
    places = pd.DataFrame({"code": cited.index, "place": cited.to_numpy()})
    given = pd.DataFrame({"code": code[pair, column], "pair": pair, "column": column}).merge(places, on="code")
    given = given.sort_values("column", kind="stable").drop_duplicates(["pair", "place"])
    new = np.zeros(shape, dtype=bool)
    new[given["pair"], given["column"]] = True
    return new, known


_SIDES = ("minority", "majority")
_EVIDENCE = ("any", "none", "new")


def adoption_table(rows: Reconsidered, answers: RoundAnswers, clusters: Clusters) -> pd.DataFrame:
    """Return the table `adoption` of Flips."""
    names = {column: f"{answers.rounds[column - 1]} → {answers.rounds[column]}" for column in np.unique(rows.step)}
    judged = answers.known[rows.unit]
    by_truth = {"any": np.ones(len(judged), dtype=bool), "right": judged & rows.right, "wrong": judged & ~rows.right}
    table = []
    for column, name in [*names.items(), (None, ALL_STEPS)]:
        for majority_is, chosen in by_truth.items():
            for side in _SIDES:
                for evidence in _EVIDENCE:
                    mask = chosen & _cell(rows, side, evidence) & (rows.step == column if column is not None else True)
                    part, whole = _of_units(rows, mask, answers)
                    keys = {"step": name, "majority_was": majority_is, "side": side, "evidence": evidence}
                    table.append({**keys, **share_row(part, whole, clusters)})
    return whole_numbers(table)


def _cell(rows: Reconsidered, side: str, evidence: str) -> Bools:
    """Return which answers are of a side, and came with new evidence, without, or either."""
    own = rows.minority if side == "minority" else ~rows.minority
    if evidence == "any":
        return own
    return own & rows.evidence_known & (rows.new if evidence == "new" else ~rows.new)


def excesses(rows: Reconsidered, answers: RoundAnswers) -> dict[str, tuple[Share, Share]]:
    """Return conformity, capitulation and persuasion: how often one sort of answers switches, and another sort."""
    cells = {
        "conformity": (("majority", "any"), ("minority", "any")),
        "capitulation": (("majority", "none"), ("minority", "none")),
        "persuasion": (("minority", "none"), ("minority", "new")),
    }
    return {
        name: (_of_units(rows, _cell(rows, *first), answers), _of_units(rows, _cell(rows, *second), answers))
        for name, (first, second) in cells.items()
    }


def _of_units(rows: Reconsidered, chosen: Bools, answers: RoundAnswers) -> Share:
    """Return how many of the chosen answers switched, and how many there are, by unit."""
    return answers.per_unit(chosen & rows.switched, rows.unit), answers.per_unit(chosen, rows.unit)
