"""Cost rules on recorded votes, from the runs' own usage: votes, calls, tokens, dollars (rule R5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.analysis.cost import tokens, unsent
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes, Walk
from verifyplan.analysis.treatments.rule_walk import GOES_ON, STATE_BITS
from verifyplan.frames.run_notes import counted_calls
from verifyplan.frames.runset import RunSet
from verifyplan.rules.vote_codes import Bools, Ints

Floats = npt.NDArray[np.float64]

COSTS = ("votes", "calls", "tokens", "dollars")
"""What the cost of rules is counted in."""

_PLACE = r"(?:^|/)r(?P<round>\d+)/"
_WORD_BITS = 63
_GROUP = ["run_id", "iteration"]
_MEASURES = ("tokens", "dollars")


def cost_words(cost: float, measure: str) -> str:
    """Return a cost with its unit.

    >>> cost_words(1234, "votes"), cost_words(1, "calls"), cost_words(0.5, "dollars")
    ('1,234 votes', '1 call', '0.5 dollars')
    """
    return f"{cost:,.10g} {measure.removesuffix('s') if cost == 1 else measure}"


class Cost(NamedTuple):
    """The usage that rules would have had; tokens and dollars are NaN where a run's usage is not known."""

    votes: float
    calls: float
    tokens: float
    dollars: float


class CostRange(NamedTuple):
    """The costs of rules, where unseen votes decide whether a further round is held."""

    low: Cost
    """If no finding goes on that need not."""
    cost: Cost
    """By the votes that were cast: a finding goes on until these give it a class."""
    high: Cost
    """If every finding goes on that may."""


class RuleCosts:
    """The costs of any rules on the findings of some outcomes.

    A vote is a finding that the rules ask a worker about in a round, lost or not; a call is a run, round and worker
    with at least one such finding, or several where the run asked about so many findings a call. What a recorded call
    used is spread over its findings; a call that was never made is taken at the mean of that round and worker, else of
    the run.
    """

    def __init__(self, runs: RunSet, outcomes: RuleOutcomes) -> None:
        """Read the usage of the runs."""
        self._outcomes = outcomes
        usage = _usage_by_call(runs)
        self._parts = [
            _PartCosts(_starts(keys := outcomes.findings.iloc[part.rows]), keys, usage) for part in outcomes.parts
        ]

    def of(self, walks: list[Walk]) -> CostRange:
        """Return what rules would have used, from how findings go through their rounds."""
        sums = sum(each.of(walk) for each, walk in zip(self._parts, walks, strict=True))
        low, cost, high = np.zeros((3, 4)) + sums
        return CostRange(Cost(*low.tolist()), Cost(*cost.tolist()), Cost(*high.tolist()))

    def by_finding(self, walks: list[Walk], measure: str) -> Floats:
        """Return the part of each finding in what rules would have used, by the votes that were cast.

        A call is spread over the findings that it asks about. The sum over the findings is that of `of`.
        """
        out = np.zeros(len(self._outcomes.findings))
        for part, costs, walk in zip(self._outcomes.parts, self._parts, walks, strict=True):
            out[part.rows] = costs.by_finding(walk, COSTS.index(measure))
        return out


def _starts(findings: pd.DataFrame) -> Ints:
    """Return where each run and iteration begins, in findings in the order of their runs."""
    group = findings.groupby(_GROUP, sort=False, observed=True).ngroup().to_numpy()
    return np.flatnonzero(np.diff(group, prepend=-1))


def _usage_by_call(runs: RunSet) -> pd.DataFrame:
    """Return what each call of a worker asked and used: `run_id, iteration, round, worker, items, tokens, dollars`.

    `a_call` is how many findings a call asked about at most where a run limits this; missing elsewhere.
    """
    calls = runs.calls[runs.calls["role"].eq("worker") | runs.calls["call_id"].str.contains("panel/")]
    calls = calls[calls["status"].ne("in-flight") & counted_calls(calls) & ~unsent(calls)]
    rounds = calls["call_id"].str.extract(_PLACE)["round"]
    items = calls["items"].map(len).astype("float64")
    known = calls["input_tokens"].notna()
    table = calls[["run_id", "iteration", "worker"]].assign(
        round=rounds.astype("float64"),
        items=items,
        tokens=tokens(calls).where(known),
        dollars=calls["cost"].astype("float64"),
        a_call=items.where(calls["call_id"].str.contains(r"/p\d+$")),
    )
    return table[table["round"].notna() & table["items"].gt(0)].astype({"run_id": "object", "worker": "object"})


class _PartCosts:
    """The costs of the findings of one part, by run, round and worker."""

    def __init__(self, starts: Ints, findings: pd.DataFrame, usage: pd.DataFrame) -> None:
        sizes = np.diff(np.append(starts, len(findings)))
        self._starts = starts
        self._bits = max(int(sizes.max(initial=1)).bit_length(), 1)
        self._groups = findings.iloc[starts][_GROUP].reset_index(drop=True).astype({"run_id": "object"})
        self._usage = usage.merge(self._groups.drop_duplicates(), on=_GROUP)
        limits = self._usage.groupby("run_id", observed=True)["a_call"].max()
        self._a_call = self._groups["run_id"].map(limits).fillna(np.inf).to_numpy(dtype=np.float64)
        self._prices: dict[tuple[str, int], Floats] = {}

    def of(self, walk: Walk) -> Floats:
        """Return the costs, of shape (low, by votes, high; votes, calls, tokens, dollars)."""
        patterns = walk.patterns
        words = self._words(patterns.asked)
        out = np.zeros((3, len(COSTS)))
        for position, number in enumerate(patterns.number):
            price = self._price(patterns.workers, position + 1)
            masks = self._goes_on(walk, position)
            seen: dict[int, Floats] = {}
            for case, mask in enumerate(masks):
                if id(mask) not in seen:
                    counts = self._counts(words, number, mask, len(patterns.workers))
                    seen[id(mask)] = self._used(counts, price).sum(axis=(1, 2))
                out[case] += seen[id(mask)]
        return out

    def by_finding(self, walk: Walk, measure: int) -> Floats:
        """Return a cost of each finding, by position in COSTS."""
        patterns = walk.patterns
        words, out = self._words(patterns.asked), np.zeros(len(patterns.number[0]))
        sizes = np.diff(np.append(self._starts, len(out)))
        for position, number in enumerate(patterns.number):
            mask = self._goes_on(walk, position)[1]
            counts = self._counts(words, number, mask, len(patterns.workers))
            asked = patterns.asked.take(number, axis=1) & (True if mask is None else mask != 0)
            used = np.repeat(self._used(counts, self._price(patterns.workers, position + 1))[measure], sizes, axis=0)
            each = np.repeat(np.maximum(counts, 1), sizes, axis=0)
            out += np.where(asked.T, used / each, 0.0).sum(axis=1)
        return out

    def _goes_on(self, walk: Walk, position: int) -> list[Ints | None]:
        """Return which findings are voted on in a round, all bits set, in each of three cases; None are all."""
        if position == 0 or walk.order == "last":
            return [None] * 3
        states = walk.states[position - 1] >> STATE_BITS
        surely, by_votes, perhaps = (-table.astype(np.int64) for table in GOES_ON[walk.order])
        at_least, at_most = surely.take(states), perhaps.take(states)
        if np.array_equal(at_least, at_most):
            return [at_least] * 3
        return [at_least, by_votes.take(states), at_most]

    def _words(self, asked: Bools) -> list[Ints]:
        """Return the workers that each pattern asks, as fields of words that are wide enough for the largest run."""
        fields = np.array(self._shifts)[:, None]
        words = [asked[first : first + len(fields)].astype(np.int64) for first in range(0, len(asked), len(fields))]
        return [(word << fields[: len(word)]).sum(axis=0) for word in words]

    def _counts(self, words: list[Ints], number: Ints, mask: Ints | None, n_workers: int) -> Ints:
        """Return how many findings each run asks each worker about, of shape (runs, workers)."""
        columns = []
        for word in words:
            fields = word.take(number)
            if mask is not None:
                fields &= mask
            summed = np.add.reduceat(fields, self._starts) if len(fields) else fields
            columns += [(summed >> shift) & ((1 << self._bits) - 1) for shift in self._shifts]
        return np.array(columns[:n_workers], dtype=np.int64).reshape(n_workers, -1).T

    @property
    def _shifts(self) -> list[int]:
        """The places of the fields in a word."""
        return [field * self._bits for field in range(_WORD_BITS // self._bits)]

    def _used(self, counts: Ints, price: Floats) -> Floats:
        """Return votes, calls, tokens and dollars of a round, of shape (costs, runs, workers).

        `counts` are the findings by run and worker, `price` what one of them uses.
        """
        calls = np.ceil(counts / self._a_call[:, None])
        calls = np.where(np.isinf(self._a_call)[:, None], counts > 0, calls)
        return np.stack([counts, calls, *(counts * np.where(counts > 0, price, 0))]).astype(np.float64)

    def _price(self, workers: tuple[str, ...], number: int) -> Floats:
        """Return the tokens and dollars of a finding, by run and worker, of shape (2, runs, workers)."""
        if self._usage.empty:  # as of votes that were brought, of many workers
            return np.full((len(_MEASURES), len(self._groups), len(workers)), np.nan)
        for worker in workers:
            if (worker, number) not in self._prices:
                self._prices[worker, number] = np.array([self._price_of(name, worker, number) for name in _MEASURES])
        return np.stack([self._prices[worker, number] for worker in workers], axis=-1)

    def _price_of(self, measure: str, worker: str, number: int) -> Floats:
        """Return what a finding used of a measure in each run, as asked of one worker in one round."""
        by_run = _per_item(self._usage, ["run_id"], measure).reindex(self._groups["run_id"])
        of_run: Floats = np.asarray(by_run, dtype=np.float64)
        here = self._usage[self._usage["round"].eq(number) & self._usage["worker"].eq(worker)]
        if here.empty:
            return of_run
        at = pd.MultiIndex.from_frame(self._groups)
        called = here.groupby(_GROUP, observed=True).size().reindex(at).notna()
        mean = here[measure].sum(skipna=False) / here["items"].sum()
        elsewhere = of_run if np.isnan(mean) else np.where(np.isnan(of_run), np.nan, mean)
        return np.asarray(np.where(called, _per_item(here, _GROUP, measure).reindex(at), elsewhere))


def _per_item(usage: pd.DataFrame, by: list[str], measure: str) -> pd.Series[float]:
    """Return what an item used on average; missing where a call's usage is."""
    sums = usage.groupby(by, observed=True)[["items", measure]].sum(skipna=False)
    return sums[measure] / sums["items"]
