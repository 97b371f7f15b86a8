"""The votes of a panel as columns of codes: who gave which item which label, in which round (rules E4, F3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, TableError, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.codes import first_rows, row_numbers
from verifyplan.frames.runset import RunSet
from verifyplan.frames.ties import Ties, ties_of_runs
from verifyplan.frames.vote_checks import VoteNumbers
from verifyplan.protocol.vote import VERDICTS
from verifyplan.text import counted

Ints = npt.NDArray[Any]
Which: TypeAlias = Literal["first", "last"] | int
"""Which votes of a worker on an item count: its first, its last, or those of one round."""

CLAIM_LABELS = ("false", "true")
"""The labels of votes on claims, in runs: what a verdict says about the claim."""
VERDICT_LABELS: tuple[str, ...] = tuple(verdict for verdict in VERDICTS if verdict != "verification-error")
"""The verdicts that are opinions, in order: agree, supplement, disagree."""
_LABEL_OF_VERDICT = {"agree": 1, "supplement": 1, "disagree": 0}


@with_field_docs
@dataclass(frozen=True, eq=False)
class PanelVotes:
    """The votes of a panel, one entry a vote, as integer codes; `from_table` makes them of any long table.

    An item of a run is a *unit*: workers who vote on an item in two runs vote on two units of one item.
    """

    labels: tuple[str, ...]
    """The labels that votes and truth have, in order."""
    workers: tuple[str, ...]
    """The names of the workers, sorted."""
    units: pd.DataFrame
    """One row a unit, in order of appearance: `run`, `item`, `truth` (missing where it is not known)."""
    unit: Ints = field(repr=False)
    """The position in `units` of each vote."""
    worker: Ints = field(repr=False)
    """The position in `workers` of each vote."""
    label: Ints = field(repr=False)
    """The position in `labels` of each vote; -1 for a vote that was lost."""
    round: Ints = field(repr=False)
    """The round of each vote; 1 throughout where there are no rounds."""
    truth: Ints = field(repr=False)
    """The position in `labels` of the truth of each unit; -1 where it is not known."""
    toward: Ints | None = field(default=None, repr=False)
    """The position in `labels` of the answer that each vote was pushed toward, or None; -1 where none was given, -2 for
    one that is no label."""
    cost: npt.NDArray[np.float64] | None = field(default=None, repr=False)
    """The cost of each vote, in a unit of your own, or None; NaN where it is not known."""
    explanation: pd.Series[Any] | None = field(default=None, repr=False)
    """The words of each vote, or None."""
    runs: RunSet | None = field(default=None, repr=False)
    """The runs that the votes were read from, or None."""
    synthetic: bool = False
    """True where votes or items were generated, not observed."""
    ties: tuple[Ties, ...] = ()
    """How ties among the votes were read (see `from_votes`); empty where there were none."""

    def __len__(self) -> int:
        """Return the number of votes, lost ones included."""
        return len(self.unit)

    def __repr__(self) -> str:
        """Return the sizes and the labels."""
        sizes = (
            f"{counted(len(self.workers), 'worker')}, {counted(len(self.units), 'item')}, {counted(len(self), 'vote')}"
        )
        return f"PanelVotes({sizes}; labels {one_of(self.labels[:8])})"

    def at(self, which: Which) -> PanelVotes:
        """Return one vote a worker and unit: its first, its last, or that of one round.

        Where a table was read with `duplicates="all"`, it is all votes of that round. Raises TableError for a round
        without votes.
        """
        if which in ("first", "last") and (self.round == self.round[:1]).all():
            return self
        chosen = self.round == which
        if which in ("first", "last"):
            cell = self.unit * max(len(self.workers), 1) + self.worker
            chosen = self.round == pd.Series(self.round).groupby(cell).transform("min" if which == "first" else "max")
        elif isinstance(which, bool) or not chosen.any():
            rounds = one_of(np.unique(self.round).tolist()[:10])
            raise TableError(Problem("at", f"there is no round {which!r}", f"use 'first', 'last', or {rounds}"))
        return self.take(np.flatnonzero(chosen))

    def take(self, votes: npt.NDArray[Any]) -> PanelVotes:
        """Return only some votes, by position or mask; units, workers and labels keep their numbers."""
        chosen = {name: getattr(self, name)[votes] for name in ("unit", "worker", "label", "round")}
        words = None if self.explanation is None else self.explanation.iloc[votes].reset_index(drop=True)
        known = {name: getattr(self, name) for name in ("cost", "toward")}
        chosen |= {name: None if values is None else values[votes] for name, values in known.items()}
        return replace(self, **chosen, explanation=words)

    def matrix(self) -> Ints:
        """Return labels as an array (units, workers), -1 where a worker gave none; take votes by `at` first.

        Raises TableError where a worker has several votes on a unit.
        """
        table = np.full((len(self.workers), len(self.units)), -1, dtype=np.int64).T  # looked at worker by worker
        if _repeat(self.unit * len(self.workers) + self.worker, table.size):
            fix = "take those of one round, as by .at('first'), or read the table with duplicates='first'"
            raise TableError(Problem("votes", "a worker has several votes on an item", fix))
        table[self.unit, self.worker] = self.label
        return table


def _repeat(cells: Ints, n: int) -> bool:
    """Return whether any of some numbers below n is there twice; most often they rise."""
    if (cells[1:] > cells[:-1]).all():
        return False
    return bool(np.bincount(cells).max() > 1 if n <= 8 * len(cells) else pd.Series(cells).duplicated().any())


def refuse_all_lost(votes: PanelVotes) -> None:
    """Raise TableError where there are votes and each of them is empty."""
    if len(votes) and (votes.label < 0).all():
        fix = "name the column that holds the labels, or give votes that were not lost"
        raise TableError(Problem("votes: label", f"all votes are empty ({counted(len(votes), 'vote')})", fix))


def votes_of_runs(
    runs: RunSet, numbers: VoteNumbers | None = None, *, verdicts: bool = False, words: bool = False
) -> PanelVotes:
    """Return the votes of runs as labels: `true` where a worker upholds the claim (agree, supplement), else `false`.

    With `verdicts`, labels are verdicts, which no truth has. Discoverers' own votes are left out; a verification error
    is a lost vote. Votes of a dataset are read part by part; their explanations only with `words`. `numbers` are those
    of the votes, where they have got some.
    """
    places = {verdict: place for place, verdict in enumerate(VERDICT_LABELS)} if verdicts else _LABEL_OF_VERDICT
    parts = [_part_of_runs(votes, numbers, places) for votes in runs.votes_by_part(_COLUMNS)]
    keys = parts[0].keys if len(parts) == 1 else pd.concat([part.keys for part in parts], ignore_index=True)
    facts = keys.merge(runs.findings[["run_id", "finding_id", "truth", "summary"]], on=_FINDING, how="left")
    truth = facts["truth"].astype("Int8").fillna(-1).to_numpy(dtype=np.int64)
    truths = pd.array(CLAIM_LABELS, dtype="str").take(truth, allow_fill=True)
    names = sorted({name for part in parts for name in part.workers})
    start = np.cumsum([0, *(len(part.keys) for part in parts)])
    return PanelVotes(
        labels=VERDICT_LABELS if verdicts else CLAIM_LABELS,
        workers=tuple(names),
        units=pd.DataFrame({"run": facts["run_id"], "item": claim_keys(facts), "truth": truths}),
        unit=_together([part.unit + first if first else part.unit for part, first in zip(parts, start, strict=False)]),
        worker=_together([_among(names, part) for part in parts]),
        label=_together([part.label for part in parts]),
        round=_together([part.round for part in parts]),
        truth=truth,
        explanation=runs.explanations() if words else None,
        runs=runs,
        synthetic=bool(runs.runs["synthetic"].fillna(False).any()),
        ties=ties_of_runs(runs.runs),
    )


_FINDING = ["run_id", "finding_id"]
_KEY = ["run_id", "iteration", "finding_id"]
_COLUMNS = [*_KEY, "round", "worker", "verdict", "is_origin"]


class _PartOfRuns(NamedTuple):
    """The votes of some runs as codes, one entry a vote."""

    keys: pd.DataFrame
    """The findings with votes, in order of appearance."""
    unit: Ints
    workers: list[str]
    worker: Ints
    label: Ints
    round: Ints


def _together(parts: Sequence[Ints]) -> Ints:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _among(names: Sequence[str], part: _PartOfRuns) -> Ints:
    """Return the place of each vote's worker among some names."""
    place = {name: number for number, name in enumerate(names)}
    places = [place[name] for name in part.workers]
    return part.worker if places == list(range(len(places))) else np.array(places, dtype=np.int64)[part.worker]


def _part_of_runs(votes: pd.DataFrame, numbers: VoteNumbers | None, places: Mapping[Any, int]) -> _PartOfRuns:
    own = votes["is_origin"].fillna(False).to_numpy(dtype=bool)
    votes = votes[~own] if own.any() else votes
    if numbers is None or len(numbers.finding) != len(votes):
        worker, names = pd.factorize(votes["worker"])
        numbers = VoteNumbers(row_numbers(*(votes[name] for name in _KEY)), worker, tuple(map(str, names)))
    finding = numbers.finding
    keys = votes[_KEY].iloc[first_rows(finding)] if numbers.findings is None else numbers.findings[_KEY]
    keys = keys.astype({"run_id": "str", "iteration": "int64", "finding_id": "str"})
    verdict = pd.Categorical(votes["verdict"], categories=VERDICTS).codes
    label = np.array([*(places.get(each, -1) for each in VERDICTS), -1], dtype=np.int64)[verdict]
    rounds = votes["round"].to_numpy(dtype=np.int64)
    return _PartOfRuns(keys, finding, list(numbers.workers), numbers.worker, label, rounds)


def claim_keys(findings: pd.DataFrame) -> pd.Series[Any]:
    """Return what names the claim of each finding over runs: its id, and its summary where there is one.

    Findings of one id in several runs are one claim if they say the same; where no summary is known the id decides.
    """
    ids = findings["finding_id"].astype("str")
    if (
        not findings["summary"].notna().any()
        or findings.groupby("finding_id", observed=True)["summary"].nunique().le(1).all()
    ):
        return ids
    return ids.where(findings["summary"].isna(), ids + ": " + findings["summary"].astype("str"))
