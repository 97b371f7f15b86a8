"""Runs whose rosters contradict each other, judged at once by rules that stop within rounds: each in its own order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from verifyplan.analysis.replay import ReplayPart
from verifyplan.analysis.treatments.vote_patterns import Patterns, VotePatterns
from verifyplan.analysis.vote_cube import VoteCube
from verifyplan.analysis.voters import Voters, in_order_of_runs, places_in_rosters


class Rosters:
    """The rosters of the runs of some findings, and their votes by the place of whoever cast them.

    For rules that know no worker by name.
    """

    def __init__(self, cube: VoteCube, orders: Mapping[str, str], max_rounds: int) -> None:
        """Number the patterns of up to `max_rounds` rounds; `orders` are the rosters as `order_of_runs` gives them."""
        run, names = pd.factorize(cube.findings["run_id"])
        self._orders, self._workers = orders, cube.workers
        self._place, roster = np.unique(places_in_rosters(cube.workers, names, orders), axis=0, return_inverse=True)
        self._roster = roster.ravel()[run]
        worker = self._place.argsort(axis=1)[self._roster].T
        by_place = replace(
            cube,
            workers=tuple(map(str, range(len(cube.workers)))),
            codes=np.take_along_axis(cube.codes, worker[None], axis=1),
            discovered=np.take_along_axis(cube.discovered, worker, axis=0),
            perhaps_left=np.take_along_axis(cube.perhaps_left, worker, axis=0),
        )
        self.votes = VotePatterns(by_place, max_rounds)

    def named(self, patterns: Patterns) -> Patterns:
        """Return the patterns of `votes` by the names of workers: one for each pattern and roster."""
        keys = np.array(patterns.number) * len(self._place) + self._roster
        pairs, number = np.unique(keys, return_inverse=True)
        pattern, roster = np.divmod(pairs, len(self._place))
        place = self._place[roster].T
        return patterns._replace(
            votes=patterns.votes[place, pattern],
            asked=patterns.asked[place, pattern],
            number=tuple(number.reshape(keys.shape)),
            workers=self._workers,
            loose=None if patterns.loose is None else patterns.loose[pattern],
        )

    def voters(self, part: ReplayPart) -> Voters:
        """Return the voters of a part, numbered by the rosters of their runs."""
        return in_order_of_runs(part.voters(), part.cast, part.cast.findings["run_id"], self._orders)
