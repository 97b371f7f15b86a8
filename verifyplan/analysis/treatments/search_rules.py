"""Search rules: judge every protocol within reach on recorded votes, quality against cost, without a call (rule R5)."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from verifyplan.analysis.clusters import clusters_of_findings
from verifyplan.analysis.treatments.rule_costs import COSTS, CostRange, RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes, rule_outcomes
from verifyplan.analysis.treatments.rule_quality import (
    QualityFigure,
    QualityMeasure,
    changes_mode,
    check_quality,
    min_measured,
    n_changed,
    on_frontier,
    quality_cells,
)
from verifyplan.analysis.treatments.rule_search import RuleSearch
from verifyplan.analysis.treatments.rule_space import (
    asking_order,
    field_text,
    order_words,
    read_space,
    recorded_mode,
    rules_of_runs,
)
from verifyplan.analysis.voters import voters_of
from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.run_notes import note_mixed_modes, note_unnamed_mode
from verifyplan.frames.runset import RunSet
from verifyplan.frames.ties import ties_of_runs, ties_sentence
from verifyplan.progress import progress
from verifyplan.protocol.vote import Mode
from verifyplan.protocol.voting_rules import MODE_NOTE, VotingRules
from verifyplan.text import counted, did_you_mean, listed, short_repr

OUTCOMES_WITHOUT_PROGRESS = 50_000_000
"""A bar is shown where rules x findings are more: some two seconds."""


class _JudgedRule(NamedTuple):
    """The figures of a rule on the findings."""

    position: int
    figure: QualityFigure
    cost: CostRange
    n_same: int


def search_rules(runs: Runs, space: object = None, *, quality: str = "f1", cost: str | None = None) -> RuleSearch:
    """Return what each of many rules would have been worth on recorded votes, and what it would have cost.

    No call is made: every rule judges the votes that were cast. Where it would have asked for votes that never were,
    the quality has bounds. The best of many rules looks better than it is, since it was chosen on the same findings.
    Rules that judge every finding like others, at the same cost, are merged into that which differs from the runs'
    own in the fewest fields, if the space is the default one. Source: rule R5.

    Args:
        runs: a RunSet, a run, or a path; findings need `truth`.
        space: None for a few hundred rules that the votes allow (all subsets of up to five workers, rounds, quorums,
            stops, refutes, aggregates, modes); or a sequence of rules, names of presets or files; or a mapping of
            fields to values, such as `{"majority": ["1/2", "2/3"], "max_rounds": [1, 2]}`, in every combination. The
            runs' own rules are judged, too.
        quality: what is measured: `f1`, `precision`, `recall`, `accuracy`, `false-consensus-rate` or
            `false-demotion-rate`; of the last two, less is better.
        cost: what the frontier is cheap in: `votes`, `calls`, `tokens` or `dollars`; the last two need the logs. None
            counts calls where a run recorded some, else votes.

    Raises:
        SettingsError: for a quality or cost that is unknown, a space that holds no rules or too many, or no truth.

    >>> import pandas as pd
    >>> from verifyplan.frames.votes import from_votes
    >>> rows = [(item, who, "agree" if item % 3 or who == "c" else "disagree", item % 3 > 0)
    ...     for item in range(30) for who in "abc"]
    >>> votes = pd.DataFrame(rows, columns=["item", "who", "says", "true"])
    >>> names = {"item": "item", "worker": "who", "verdict": "says", "truth": "true"}
    >>> runs = from_votes(votes, **names, mode="collaborative")
    >>> search = search_rules(
    ...     runs, {"workers": [None, ["a"], ["c"]], "aggregate": ["majority"]}
    ... )
    >>> search.frontier[["workers", "value", "votes"]].values.tolist()
    [['a', 1.0, 30.0]]
    """
    runs = as_runs(runs)
    notes = []
    if cost is None:
        cost = "votes" if runs.dispatches.empty else "calls"
        notes = ["no run recorded its calls: costs are counted in votes"] if cost == "votes" else []
    _check_cost(cost)
    outcomes = rule_outcomes(runs, read_space(space, runs))
    check_quality(quality, outcomes.truth)
    recorded, mode = rules_of_runs(runs), recorded_mode(runs)
    distance = [n_changed(each, recorded, mode) for each in outcomes.rules]
    costs = RuleCosts(runs, outcomes)
    judged = list(_judged(outcomes, costs, quality, distance, merged=space is None))
    kept = [each.position for each in judged]
    rules = tuple(outcomes.rules[k] for k in kept)
    table = _table(rules, judged, cost, quality_cells(quality).sign, [distance[k] for k in kept])
    table["is_recorded"] = [each == recorded for each in rules]
    table.attrs["ties"] = ties_sentence(ties_of_runs(runs.runs))
    on_runs = tuple(note.removesuffix(".") for note in (table.attrs["ties"], note_mixed_modes(runs.runs)) if note)
    n_added = int(runs.runs["added_votes"].fillna(0).sum())
    return RuleSearch(
        table=table,
        quality=quality,
        cost=cost,
        rules=rules,
        n_findings=int((outcomes.truth < 2).sum()),
        n_runs=int(outcomes.findings["run_id"].nunique()),
        n_added=n_added,
        notes=(
            *notes,
            *on_runs,
            *_notes(runs, rules, table, len(outcomes.rules), cost),
            *_notes_on_frontier(rules, table, mode),
        ),
        synthetic=bool(runs.runs["synthetic"].eq(True).any()),
        mode=mode,
        _notes_on_runs=on_runs,
        _outcomes=outcomes.take(kept),
        _costs=costs,
    )


def _check_cost(cost: str) -> None:
    if cost not in COSTS:
        message = f"{short_repr(cost)} is unknown{did_you_mean(str(cost), COSTS)}"
        raise SettingsError(Problem("cost", message, f"use {one_of(COSTS)}"))


class _Judge(NamedTuple):
    """Judges rules by their positions."""

    outcomes: RuleOutcomes
    measure: QualityMeasure
    costs: RuleCosts
    figures: dict[bytes, QualityFigure]
    """The figures of outcomes that were measured already, by digest."""

    def judge(self, k: int) -> tuple[bytes, _JudgedRule]:
        """Return what the k-th rules made of the findings, and a digest of their outcomes."""
        walks = self.outcomes.walks(k)
        packed, cost = self.outcomes.packed(k, walks), self.costs.of(walks)
        digest = hashlib.sha256(packed.tobytes()).digest()
        if digest not in self.figures:
            self.figures[digest] = self.measure.figure(packed)
        return digest, _JudgedRule(k, self.figures[digest], cost, 1)


def _judged(
    outcomes: RuleOutcomes, costs: RuleCosts, quality: str, distance: list[int], *, merged: bool
) -> Iterator[_JudgedRule]:
    """Yield what each rule made of the findings; of those that are alike that of the least distance, if merged."""
    clusters = clusters_of_findings(outcomes.findings)
    measure = QualityMeasure(outcomes, quality_cells(quality), clusters)
    judge = _Judge(outcomes, measure, costs, {}).judge
    found: dict[object, _JudgedRule] = {}
    shown = None if len(outcomes.rules) * len(outcomes.findings) > OUTCOMES_WITHOUT_PROGRESS else False
    with progress("Judging rules", len(outcomes.rules), shown) as step:
        for k in range(len(outcomes.rules)):
            digest, each = judge(k)
            key = (digest, str(each.cost)) if merged else k
            same = found.get(key, each._replace(n_same=0))
            nearest = min(same.position, k, key=distance.__getitem__)
            found[key] = same._replace(position=nearest, n_same=same.n_same + 1)
            step()
    yield from found.values()


def _table(
    rules: tuple[VotingRules, ...], judged: list[_JudgedRule], cost: str, sign: int, distance: list[int]
) -> pd.DataFrame:
    """Return a row a rule: the fields that vary, the figure, the costs, and whether the frontier has it."""
    fields = [{name: field_text(value) for name, value in each.model_dump(mode="json").items()} for each in rules]
    texts = pd.DataFrame(fields, dtype="str")
    varying = [name for name in texts if texts[name].nunique(dropna=False) > 1]
    presets = {VotingRules.preset(name).digest: name for name in reversed(VotingRules.presets())}
    digests = [each.digest for each in rules]
    ends = [(getattr(each.cost.low, cost), getattr(each.cost.high, cost)) for each in judged]
    table = pd.concat(
        [
            texts[varying],
            pd.DataFrame({"preset": [presets.get(digest) for digest in digests], "digest": digests}, dtype="str"),
            pd.DataFrame([each.figure for each in judged], columns=list(QualityFigure._fields)),
            pd.DataFrame([each.cost.cost for each in judged], columns=list(COSTS)),
            pd.DataFrame(ends, columns=["cost_low", "cost_high"]),
        ],
        axis=1,
    )
    return table.assign(
        n_same=[each.n_same for each in judged],
        on_frontier=on_frontier(sign * table["value"], table[cost], distance),
    )


def _note_on_order(runs: RunSet, rules: tuple[VotingRules, ...]) -> Iterator[str]:
    """Yield in which order rules ask that stop within a round, and where it comes from."""
    stops = [each for each in rules if each.stop != "round"]
    if not stops:
        return
    order = asking_order(runs)
    if order is None:
        yield (
            "rules that stop within a round and name no order ask in the order of each run's roster; in a table "
            "of votes, the order in which workers first appear: another order of rows can give other figures"
        )
        return
    source = "the order of the roster" if runs.runs["roster"].notna().any() else "the order of the recorded calls"
    if runs.dispatches.empty:
        source = "the order in which the votes name them, so that another order of rows can give other figures"
    yield f"a round that can stop {order_words(order)}: {source}; `order` of the rules changes it"


def _notes(runs: RunSet, rules: tuple[VotingRules, ...], table: pd.DataFrame, n_rules: int, cost: str) -> Iterator[str]:
    """Yield what a reader of the table must know."""
    if bool(runs.runs["synthetic"].eq(True).any()):
        yield "synthetic: findings or votes were generated, not observed"
    if any(each.mode is None for each in rules) and (unnamed := note_unnamed_mode(runs.runs)):
        yield unnamed
    if n_rules > len(table):
        yield f"{counted(n_rules - len(table), 'rule')} merged: same classes and cost as another rule"
    censored = int(table["censored"].gt(0).sum())
    if censored:
        yield (
            f"for {counted(censored, 'rule')}, the quality depends on votes that were never cast, at most on "
            f"{counted(int(table['censored'].max()), 'finding')}: see low_bound and high_bound"
        )
    voters = set(voters_of(runs))
    if absent := sorted({name for each in rules for name in each.workers or ()} - voters):
        near = did_you_mean(absent[0], voters)
        yield f"no vote of {listed(absent)} is recorded{near}: rules that name them rest on votes that were never cast"
    if cost == "calls" and runs.dispatches.empty:
        yield (
            "no run recorded its calls: one is counted for each run, round and worker; where every vote was a call of "
            "its own, search by cost='votes'"
        )
    yield from _note_on_order(runs, rules)
    yield from _note_on_settled(runs, table)
    unknown = [name for name in ("tokens", "dollars") if table[name].isna().any()]
    if unknown:
        without = len(set(runs.runs["run_id"]) - set(runs.calls.loc[runs.calls["cost"].notna(), "run_id"]))
        yield f"{' and '.join(unknown)} are missing: for {counted(without, 'run')}, the usage of calls is not known"
    if not table["on_frontier"].any():
        yield f"no rule has both the quality and the cost in {cost}: there is no frontier"
    if len(table) > 1:
        best = f"the best of {counted(len(table), 'rule')}"
        yield f"{best} looks better than it is, as it was chosen on these findings"


def _notes_on_frontier(rules: tuple[VotingRules, ...], table: pd.DataFrame, mode: Mode | None) -> Iterator[str]:
    """Yield that rules of the frontier rest on few findings, or are of a mode that no worker was asked in."""
    is_few = table["on_frontier"] & (table["n"] < min_measured(table["n"]))
    if is_few.any():
        yield (
            f"for {counted(int(is_few.sum()), 'rule')} of the frontier, the quality rests on fewer than "
            f"{math.ceil(min_measured(table['n'])):,} findings: .recommend() leaves them out"
        )
    if any(changes_mode(rules[k], mode) for k in np.flatnonzero(table["on_frontier"])):
        yield f"rules of the frontier change the mode: {MODE_NOTE}"


def _note_on_settled(runs: RunSet, table: pd.DataFrame) -> Iterator[str]:
    """Yield why the rules of the runs cost fewer votes than were recorded: they do not ask about what is settled."""
    parts = list(runs.votes_by_part(["is_origin", "round"]))
    cast = sum(int((~part["is_origin"].fillna(False).astype(bool)).sum()) for part in parts)
    needed = table.loc[table["is_recorded"], "votes"]
    if len(needed) and any(part["round"].max() > 1 for part in parts) and needed.iloc[0] < cast:
        yield (
            f"{cast:,} votes are recorded, and the rules of the runs ask for {needed.iloc[0]:,.0f} of these: a finding "
            "that an earlier round settled is not asked about again; pruning='none' asks about every finding each round"
        )
