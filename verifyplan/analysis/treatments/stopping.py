"""Measure what stopping a round early would have saved, and what it would have changed (rules R2, R5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.analysis.chosen_rules import chosen_rules
from verifyplan.analysis.cluster_intervals import difference_interval, share_interval
from verifyplan.analysis.clusters import Clusters, clusters_of_findings
from verifyplan.analysis.metrics import IS_HELD, metrics_of_classes
from verifyplan.analysis.replay import recorded_rules
from verifyplan.analysis.result_columns_treatments import TREATMENT_TABLES
from verifyplan.analysis.result_words import share_words, words_and_tables
from verifyplan.analysis.treatments.rule_costs import Cost, RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import NO_CLASS, RuleOutcomes, Walk, rule_outcomes
from verifyplan.analysis.treatments.rule_space import rules_of_runs
from verifyplan.analysis.treatments.rule_walk import GOES_ON, STATE_BITS
from verifyplan.errors import Problem, SettingsError
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.load import Runs, as_runs
from verifyplan.frames.run_notes import note_unnamed_mode
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.rules_value import read_rules
from verifyplan.protocol.voting_rules import MarginStop, SequentialStop, VotingRules
from verifyplan.rules.vote_codes import Bools, Ints, stop_leads
from verifyplan.text import counted, listed, short_repr


@with_field_docs
@dataclass(frozen=True, eq=False)
class Stopping:
    """The savings of rules that stop early, on recorded votes, and the findings that they change."""

    table: pd.DataFrame
    """One row a stop, `all votes` first: votes and calls, the share saved, findings whose class, or whether they are
    held, differs; `documentation("stopping")` has every column."""
    metrics: pd.DataFrame
    """`stop, metric, value, low, high, difference, difference_low, difference_high, n`: every metric under each stop,
    and its difference from all votes."""
    rules: dict[str, VotingRules]
    """The rules of each row, by its name."""
    n_findings: int
    """The findings that were judged."""
    n_runs: int
    """Their runs."""
    synthetic: bool
    """True where findings or votes were generated, not observed."""
    has_calls: bool = False
    """True where runs recorded their calls; a table of votes has none, and one is counted a run, round and worker."""
    notes: tuple[str, ...] = ()
    """What a reader must know: asking one worker after the other, classes that votes never cast leave open."""

    def __str__(self) -> str:
        """Return a line a stop: what it saves, and what it changes."""
        made = " (synthetic)" if self.synthetic else ""
        votes, calls = (int(self.table[column].iloc[0]) for column in ("votes", "calls"))
        size = f"{counted(self.n_findings, 'finding')}{made} of {counted(self.n_runs, 'run')}"
        in_calls = f" in {counted(calls, 'call')}" if self.has_calls else ""
        head = f"{size}, {counted(votes, 'vote')}{in_calls}; saved and changed against these:"
        return "\n".join([head, *self._lines(), *(f"note: {note}" for note in self.notes)])

    __repr__ = __str__  # a console shows the words, not every table

    def _repr_html_(self) -> str:
        return words_and_tables(str(self), self.table)

    def _lines(self) -> Iterator[str]:
        """Yield a line for each lead and limit that saves votes, then one for those that save none."""
        stops = self.table.iloc[1:]
        alike = stops["lead_for"].astype("str").where(stops["lead_for"].notna(), stops["stop"])
        names = stops.groupby([alike, "lead_against"], sort=False, dropna=False)["stop"].transform(" = ".join)
        rows: Any = stops.assign(names=names)[stops["saved"].gt(0) & ~names.duplicated()].itertuples()
        metrics = self.metrics.set_index(["stop", "metric"])
        name = "f1" if "f1" in self.metrics["metric"].to_numpy() else "held"
        for row in rows:
            of: Any = metrics.loc[(row.stop, name)]
            ends = f"[{100 * of['difference_low']:+.1f}, {100 * of['difference_high']:+.1f}]"
            yield (
                f"{row.names}: {share_words(row.saved, row.saved_low, row.saved_high)} of votes saved; "
                f"{row.n_class_changed:,} of {counted(self.n_findings, 'finding')} in another class, "
                f"{row.n_held_changed:,} change between held and not held; {'F1' if name == 'f1' else 'share held'} "
                f"{100 * of['difference']:+.1f} points {ends}"
            )
        if idle := stops.loc[~stops["saved"].gt(0), "stop"].tolist():
            yield f"{listed(idle, len(idle))}: no vote saved"


ALL_VOTES = "all votes"
"""The name of the row of the rules without a stop."""

DEFAULT_STOPS: dict[str, dict[str, object]] = {
    "one round": {"max_rounds": 1},
    **{f"margin {margin}": {"stop": MarginStop(margin=margin)} for margin in (1, 2, 3)},
    **{
        f"Wald's test, {percent} % right": {"stop": SequentialStop(accuracy=Fraction(percent, 100))}
        for percent in (60, 70, 80, 90)
    },
}
"""The stops that are judged by default: one round, margins, and Wald's test for votes that are right so often."""


def stopping(runs: Runs, stops: Mapping[str, object] | None = None, rules: object = None) -> Stopping:
    """Return what rules that stop early would have saved on recorded votes, and what they would have changed.

    Under a margin or a sequential test the workers of a round are asked one after the other, in roster order, until one
    side leads by so many votes; Wald's test with one accuracy for all workers is such a lead, too. Every stop is judged
    on the votes that were cast, against the same rules without a stop.

    Args:
        runs: a RunSet, a run, or a path.
        stops: by name what stops: `{"margin": 2}`, `{"accuracy": 0.8}`, a stop of rules, or rules (a value, a preset,
            or a mapping of fields such as `{"max_rounds": 1}`, which change `rules`); None takes one round, margins of
            1 to 3, and Wald's test at 60 to 90 % of right votes.
        rules: the voting rules without a stop, as `replay` takes them; None takes those of each run.

    Returns:
        A Stopping: `.table` (a row a stop: votes, calls and what is saved, findings that change), `.metrics`, `.notes`.

    Raises:
        SettingsError: for stops and rules that do not fit, listing all that is wrong.
        TableError: as `replay`.

    >>> from verifyplan.frames.votes import from_votes
    >>> votes = pd.DataFrame({"item": "F", "who": list("abcde"), "says": ["agree"] * 5})
    >>> found = stopping(
    ...     from_votes(votes, item="item", worker="who", verdict="says"),
    ...     {"margin 2": {"margin": 2}},
    ... )
    >>> found.table[["stop", "votes", "saved", "n_class_changed"]].values.tolist()
    [['all votes', 5, 0.0, 0], ['margin 2', 2, 0.6, 0]]
    """
    runs = as_runs(runs)
    base = rules_of_runs(runs) if rules is None else chosen_rules(rules)
    named = {ALL_VOTES: base, **_stopped(base, DEFAULT_STOPS if stops is None else stops)}
    outcomes = rule_outcomes(runs, list(named.values()))
    costs, walks = RuleCosts(runs, outcomes), [outcomes.walks(k) for k in range(len(named))]
    used = [costs.of(of_rules).cost for of_rules in walks]
    votes = [_votes_of_findings(outcomes, of_rules) for of_rules in walks]
    for k, of_rules in enumerate(walks):
        outcomes.packed(k, of_rules)  # kept, so that classes need no walk of their own
    known = outcomes.classes(0) != NO_CLASS
    classes = [outcomes.classes(k)[known].astype(np.int64) for k in range(len(named))]
    clusters = clusters_of_findings(outcomes.findings[known])
    censored = [int(outcomes.censored(k).sum()) for k in range(len(named))]
    table = _table(named, used, [of_rules[known] for of_rules in votes], classes, censored, clusters)
    return Stopping(
        table=table,
        metrics=_metrics(list(named), classes, outcomes.truth[known], clusters),
        rules=named,
        n_findings=int(known.sum()),
        n_runs=outcomes.findings["run_id"][known].nunique(),
        synthetic=bool(runs.runs["synthetic"].eq(True).any()),
        has_calls=not runs.dispatches.empty,
        notes=tuple(_notes(runs, table, base)),
    )


def _stopped(base: VotingRules, stops: Mapping[str, object]) -> dict[str, VotingRules]:
    """Return the rules with each stop in place; SettingsError lists all that is wrong."""
    found, problems = {}, list[Problem]()
    if not isinstance(stops, Mapping) or not stops:
        fix = 'give names with what stops, such as {"margin 2": {"margin": 2}}'
        raise SettingsError(Problem("stops", f"must be a mapping with at least one stop, got {short_repr(stops)}", fix))
    for name, stop in stops.items():
        try:
            found[str(name)] = _with_stop(base, stop, f"stops[{name!r}]")
        except SettingsError as error:
            problems += error.problems
        if name == ALL_VOTES:
            problems.append(Problem("stops", f"{name!r} names the rules without a stop", "choose another name"))
    if problems:
        raise SettingsError(problems)
    return found


def _with_stop(base: VotingRules, stop: object, place: str) -> VotingRules:
    if isinstance(stop, MarginStop | SequentialStop) or (
        isinstance(stop, Mapping) and set(stop) <= set(MarginStop.model_fields) | set(SequentialStop.model_fields)
    ):
        stop = {"stop": stop}
    changes = read_rules(VotingRules, stop, place)
    return base.model_copy(update={name: getattr(changes, name) for name in changes.changed})


def _votes_of_findings(outcomes: RuleOutcomes, walks: list[Walk]) -> Ints:
    """Return how many votes rules would have asked for on each finding, by the votes that were cast."""
    votes = np.zeros(len(outcomes.findings), dtype=np.int64)
    for part, walk in zip(outcomes.parts, walks, strict=True):
        _, goes_on, _ = GOES_ON[walk.order]
        asked = walk.patterns.asked.sum(axis=0)
        for position, number in enumerate(walk.patterns.number):
            held = asked[number]
            if position:
                held = held * goes_on[walk.states[position - 1] >> STATE_BITS]
            votes[part.rows] += held
    return votes


def _table(
    named: Mapping[str, VotingRules],
    used: list[Cost],
    votes: list[Ints],
    classes: list[Ints],
    censored: list[int],
    clusters: Clusters,
) -> pd.DataFrame:
    rows = []
    for k, (name, rules) in enumerate(named.items()):
        lead_for, lead_against = (np.nan, np.nan) if rules.stop == "round" else stop_leads(rules.stop)
        saved = share_interval(votes[0] - votes[k], votes[0], clusters)
        changed = classes[k] != classes[0]
        held_changed: Bools = IS_HELD[classes[k]] != IS_HELD[classes[0]]
        share = share_interval(held_changed, np.ones(len(changed)), clusters)
        rows.append(
            {
                "stop": name,
                "lead_for": lead_for,
                "lead_against": lead_against,
                "votes": int(used[k].votes),
                "calls": int(used[k].calls),
                "saved": saved.value,
                "saved_low": saved.low,
                "saved_high": saved.high,
                "calls_saved": 1 - used[k].calls / used[0].calls if used[0].calls else np.nan,
                "n_class_changed": int(changed.sum()),
                "n_held_changed": int(held_changed.sum()),
                "held_share": share.value,
                "held_low": share.low,
                "held_high": share.high,
                "n": len(changed),
                "n_censored": censored[k],
            }
        )
    return pd.DataFrame(rows, columns=[column.name for column in TREATMENT_TABLES["stopping"]])


def _metrics(names: list[str], classes: list[Ints], truth: Ints, clusters: Clusters) -> pd.DataFrame:
    """Return every metric under each stop, and its difference from all votes."""
    of_rules = [metrics_of_classes(each, truth) for each in classes]
    rows = []
    for name, metrics in zip(names, of_rules, strict=True):
        for metric, of in metrics.items():
            difference = difference_interval(*of_rules[0][metric][:2], *of[:2], clusters)
            rows.append((name, metric, *share_interval(of.part, of.whole, clusters)[:3], *difference[:3], of.n))
    return pd.DataFrame(rows, columns=[column.name for column in TREATMENT_TABLES["stopping.metrics"]])


def _notes(runs: RunSet, table: pd.DataFrame, base: VotingRules) -> Iterator[str]:
    if table["n"].iloc[0] == 0:
        yield "There are no findings: nothing was judged."
        return
    if base.mode is None and (unnamed := note_unnamed_mode(runs.runs)):
        yield unnamed
    if table["lead_for"].notna().any():
        yield "A stop within a round asks one worker after the other: it needs fewer votes, but more time."
    for n, stops in table[table["n_censored"].gt(0)].groupby("n_censored")["stop"]:
        findings = counted(int(str(n)), "finding")
        yield f"Votes that were never cast leave the class of {findings} open under {listed(stops, 3)}."
    own = recorded_rules(runs).ne("")
    if own.any() and not base.changed:
        yield (
            f"{counted(int(own.sum()), 'run')} recorded voting rules: the row '{ALL_VOTES}' is judged by these, the "
            "stops by the neutral rules."
        )
    if base.stop != "round":
        yield f"The rules themselves stop within rounds: '{ALL_VOTES}' means the votes that they ask for."
