"""The recorded votes of runs, made into arrays once, with the findings that they are on (rules B7, R4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.metrics import truth_codes
from verifyplan.analysis.replay import ReplayPart, recorded_rules, replay_parts
from verifyplan.analysis.vote_cube import VoteCube, joined_cubes
from verifyplan.analysis.voters import order_of_runs, roster_order, voters_of
from verifyplan.frames.dataset.dataset import Dataset
from verifyplan.frames.runset import RunSet
from verifyplan.frames.vote_checks import FINDING
from verifyplan.protocol.event_cross import PLAN_BODY
from verifyplan.protocol.vote import CLASSIFICATIONS, MODES, Mode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.vote_codes import Ints


class RecordedPart(NamedTuple):
    """The findings that one mode and the same rules judge."""

    mode: Mode
    rules: VotingRules
    cube: VoteCube
    allowed: Ints
    """The rounds that are allowed to each finding."""
    rows: Ints
    """The position of each finding in the table of findings."""
    source: Callable[[], ReplayPart]
    """Returns the votes as a table, which may have findings that are left out here; those of a dataset are read."""
    at: Ints
    """The position of each finding in `source`."""


class RecordedVotes(NamedTuple):
    """The findings of runs, and their votes as arrays."""

    findings: pd.DataFrame
    """One row a finding and iteration, as `replay` returns them: `run_id, iteration, finding_id, summary, truth`."""
    truth: Ints
    """FALSE, TRUE or UNKNOWN of each finding."""
    unvoted: Ints
    """The class of findings that nobody was asked about, by position in CLASSIFICATIONS; -1 of all others."""
    parts: tuple[RecordedPart, ...]
    """The findings that were voted on, in the order of their runs."""

    @property
    def clusters(self) -> Clusters:
        """Which findings are not independent."""
        return clusters_of_findings(self.findings)


def recorded_votes(runs: RunSet, rules: VotingRules, *, apart: bool | None = None) -> RecordedVotes:
    """Return the recorded votes of runs, by the mode and the rules that judge them (see `replay_parts`).

    The items of a plan body are left out. The tables of a dataset are read part by part, unless votes are to be in the
    order of rosters that contradict each other; `apart` says whether they are, whatever the rules.
    """
    if not isinstance(runs, Dataset) or len(runs.parts) < 2:
        return _of_runs(runs, rules, apart)
    stops = rules.stop != "round" or any('"stop"' in text for text in recorded_rules(runs).unique())
    if (stops if apart is None else apart) and order_of_runs(runs):
        return _of_runs(runs, rules, apart)
    pieces = [_piece(part, rules, apart) for part in runs.parts]
    return _joined(pieces, partial(replay_parts, runs, rules, apart=apart), roster_order(runs))


def _of_runs(runs: RunSet, rules: VotingRules, apart: bool | None) -> RecordedVotes:
    own = runs.findings[runs.findings["category"].ne(PLAN_BODY).fillna(True).astype(bool)]
    own = own[["run_id", "finding_id", "summary", "truth", "classification"]]
    parts = replay_parts(runs, rules, apart=apart)
    keys = [part.cast.findings.assign(part=i, at=range(len(part.cast.findings))) for i, part in enumerate(parts)]
    voted = pd.concat(keys) if keys else pd.DataFrame(columns=[*FINDING, "iteration", "part", "at"])
    table = own.merge(voted, on=FINDING, how="left")
    classes = pd.Categorical(table["classification"].astype("object"), categories=CLASSIFICATIONS).codes
    in_part, at = (table[name].astype("float64").fillna(-1).to_numpy().astype(np.int64) for name in ("part", "at"))
    run = table.groupby(["run_id", "iteration"], sort=False, observed=True, dropna=False).ngroup().to_numpy()
    made = []
    for i, part in enumerate(parts):
        rows = np.flatnonzero(in_part == i)
        rows = rows[np.argsort(run[rows], kind="stable")]
        if len(rows):
            own_at = at[rows]
            cube, allowed = part.cube(citations=True).take(own_at), part.max_rounds[own_at]
            made.append(RecordedPart(part.mode, part.rules, cube, allowed, rows, partial(_same, part), own_at))
    table["iteration"] = table["iteration"].fillna(0).astype("int64")
    findings = table[["run_id", "iteration", "finding_id", "summary", "truth"]]
    unvoted = np.where(in_part < 0, classes, -1).astype(np.int64)
    return RecordedVotes(findings, truth_codes(findings), unvoted, tuple(made))


def _same(part: ReplayPart) -> ReplayPart:
    return part


class _Piece(NamedTuple):
    """The recorded votes of a part of a dataset."""

    votes: RecordedVotes
    sizes: tuple[int, ...]
    """How many findings the source of each of its parts has."""
    voters: list[str]


def _piece(runs: Dataset, rules: VotingRules, apart: bool | None) -> _Piece:
    votes = _of_runs(runs, rules, apart)
    sizes = tuple(len(part.source().cast.findings) for part in votes.parts)
    read = partial(replay_parts, runs, rules, apart=apart)
    parts = tuple(part._replace(source=partial(_source_of, read, part.mode, part.rules)) for part in votes.parts)
    return _Piece(votes._replace(parts=parts), sizes, voters_of(runs))


def _joined(pieces: Sequence[_Piece], read: Callable[[], list[ReplayPart]], roster: Sequence[str]) -> RecordedVotes:
    """Return the votes of the parts of a dataset as those of one set; `read` returns its votes as tables."""
    start = np.cumsum([0, *(len(piece.votes.findings) for piece in pieces)])
    names = dict.fromkeys([*roster, *(name for piece in pieces for name in piece.voters)])
    groups: dict[tuple[Mode, VotingRules], list[tuple[RecordedPart, int, int]]] = {}
    for piece, first in zip(pieces, start, strict=False):
        for part, size in zip(piece.votes.parts, piece.sizes, strict=True):
            groups.setdefault((part.mode, part.rules), []).append((part, int(first), size))
    keys = sorted(groups, key=lambda key: (MODES.index(key[0]), key[1].model_dump_json()))
    return RecordedVotes(
        findings=pd.concat([piece.votes.findings for piece in pieces], ignore_index=True),
        truth=np.concatenate([piece.votes.truth for piece in pieces]),
        unvoted=np.concatenate([piece.votes.unvoted for piece in pieces]),
        parts=tuple(_joined_part(groups[key], partial(_source_of, read, *key), list(names)) for key in keys),
    )


def _source_of(read: Callable[[], list[ReplayPart]], mode: Mode, rules: VotingRules) -> ReplayPart:
    return next(part for part in read() if (part.mode, part.rules) == (mode, rules))


def _joined_part(
    found: Sequence[tuple[RecordedPart, int, int]], source: Callable[[], ReplayPart], roster: Sequence[str]
) -> RecordedPart:
    """Return parts of one mode and rules as one, each with the number of findings before it, and that of its source."""
    parts = [part for part, _, _ in found]
    before = np.cumsum([0, *(size for _, _, size in found)])
    cube = joined_cubes([part.cube for part in parts], roster)
    return RecordedPart(
        mode=parts[0].mode,
        rules=parts[0].rules,
        cube=cube,
        allowed=np.concatenate([part.allowed for part in parts]),
        rows=np.concatenate([part.rows + first for part, first, _ in found]),
        source=source,
        at=np.concatenate([part.at + first for part, first in zip(parts, before, strict=False)]),
    )
