"""How fast 500 rules are judged on the same votes, beside a replay of each, in one run.

Run it with `make bench`, or `python -m benchmarks.search_rules FINDINGS`. Votes are synthetic: 5 workers, 2 rounds, 200
findings a run; a quarter of the findings have no second round. The classes, bounds and counts by run of every rule are
taken, the metric with its intervals and the costs by themselves. A sample of the rules is replayed; both must give the
same classes and bounds, or it stops.
"""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pandas as pd

import verifyplan as vp
from benchmarks.classify import by_groupby
from benchmarks.figures import MET, YARDSTICK, Measurement, once, report, within, yardstick
from verifyplan.analysis.clusters import clusters_of_findings
from verifyplan.analysis.treatments.rule_costs import RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes, rule_outcomes
from verifyplan.analysis.treatments.rule_quality import QualityMeasure, quality_cells
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import BASES, VERDICTS

SIZE, AIM_SECONDS = 100_000, 4
RULES, FINDINGS_A_RUN, WORKERS, REPLAYED = 500, 200, "abcde", 5


def make_runs(n_findings: int) -> RunSet:
    """Return seeded random votes; one worker found each finding, and of a quarter the second round was not held."""
    rng = np.random.default_rng(0)
    finding, round_, worker = (axis.ravel() for axis in np.indices((n_findings, 2, len(WORKERS))))
    finder, held_again = rng.integers(0, len(WORKERS), n_findings), rng.random(n_findings) < 0.75
    kept = (worker != finder[finding]) & ((round_ == 0) | held_again[finding])
    finding, round_, worker = finding[kept], round_[kept], worker[kept]
    verdict = rng.choice(4, len(finding), p=[0.55, 0.1, 0.3, 0.05])
    basis = np.where(verdict == VERDICTS.index("disagree"), rng.integers(0, 2, len(finding)), -1)
    ids = pd.Categorical.from_codes(finding, categories=pd.Index(np.char.add("F-", np.arange(n_findings).astype(str))))
    n_runs = -(-n_findings // FINDINGS_A_RUN)
    names = pd.Index(np.char.add("run-", np.arange(n_runs).astype(str)))
    run_of = pd.Categorical.from_codes(np.arange(n_findings) // FINDINGS_A_RUN, categories=names)
    votes = pd.DataFrame(
        {
            "run_id": pd.Categorical.from_codes(finding // FINDINGS_A_RUN, categories=names),
            "iteration": 0,
            "finding_id": ids,
            "round": round_ + 1,
            "worker": pd.Categorical.from_codes(worker, categories=list(WORKERS)),
            "verdict": pd.Categorical.from_codes(verdict, categories=VERDICTS),
            "disagree_basis": pd.Categorical.from_codes(basis, categories=BASES),
            "is_origin": False,
            "basis_filled": False,
        }
    )
    findings = pd.DataFrame(
        {
            "run_id": run_of,
            "finding_id": pd.Categorical.from_codes(np.arange(n_findings), categories=ids.categories),
            "summary": None,
            "category": None,
            "truth": pd.array(rng.random(n_findings) < 0.5, dtype="boolean"),
            "classification": None,
            "n_rounds": 1 + held_again,
            "discoverers": np.array([(name,) for name in WORKERS] + [None], dtype="object")[finder],
        }
    )
    runs = pd.DataFrame(
        {"run_id": names, "mode": "adversarial", "effective_max_rounds": 2, "kind": "cross", "synthetic": True}
    )
    empty = RunSet()
    tables = {
        name: pd.concat([getattr(empty, name), table], ignore_index=True)
        for name, table in (("runs", runs), ("findings", findings))
    }
    return RunSet(**tables, votes=votes)


def make_rules() -> list[vp.VotingRules]:
    """Return 500 different rules: subsets, rounds, quorums, stops, majorities, aggregates, sticky refutations."""
    subsets = [None, *(chosen for size in range(1, 5) for chosen in combinations(WORKERS, size))]
    judges = [{"mode": "collaborative"}, {"mode": "adversarial"}, {"aggregate": "majority"},
              {"mode": "adversarial", "refutes": "sticky"}]  # fmt: skip
    rules = [
        vp.VotingRules(workers=workers, max_rounds=rounds, **judge)
        for workers in subsets
        for rounds in (1, 2)
        for judge in judges
    ]
    rules += [
        vp.VotingRules(max_rounds=rounds, quorum=quorum, stop=stop, majority=majority, aggregate=aggregate)
        for rounds in (1, 2)
        for quorum in (0, 2, "1/2", "2/3")
        for stop in ("round", {"margin": 1}, {"margin": 2})
        for majority in ("1/2", "3/5", "2/3")
        for aggregate in ("rules", "majority", "unanimous", "any-refute")
    ]
    return list({rule.digest: rule for rule in rules}.values())[:RULES]


def count_by_run(outcomes: RuleOutcomes) -> None:
    """Take the counts by run, and the bounds of each class, of every rule."""
    run = pd.factorize(outcomes.findings["run_id"])[0].astype(np.int64)
    outcomes.counts(run, int(run.max()) + 1)
    for k in range(len(outcomes.rules)):
        outcomes.low(k), outcomes.high(k)


def measure(runs: RunSet, outcomes: RuleOutcomes) -> None:
    """Take the metric with intervals and bounds, and the costs, of every rule."""
    quality = QualityMeasure(outcomes, quality_cells("f1"), clusters_of_findings(outcomes.findings))
    costs = RuleCosts(runs, outcomes)
    for k in range(len(outcomes.rules)):
        walks = outcomes.walks(k)
        quality.figure(outcomes.packed(k, walks))
        costs.of(walks)


def check(runs: RunSet, outcomes: RuleOutcomes, rules: list[int]) -> Measurement:
    """Return what a replay of each rule would take, by a sample; stop unless classes and bounds are the same."""
    spent = []
    for k in rules:
        seconds, replayed = once(lambda k=k: vp.replay(runs, rules=outcomes.rules[k]))
        spent.append(seconds)
        ours = {"classification": outcomes.classes(k), "low": outcomes.low(k), "high": outcomes.high(k)}
        for name, codes in ours.items():
            if not (replayed[name].cat.codes.to_numpy() == codes).all():
                raise SystemExit(f"{outcomes.rules[k]}: a replay gives another {name}; a figure would mean nothing")
    factor = len(outcomes.rules) / len(rules)
    seconds, cpu, peaks = zip(*spent, strict=True)
    return Measurement(factor * sum(seconds), factor * sum(cpu), max(peaks))


def searched(runs: RunSet, rules: list[vp.VotingRules]) -> RuleOutcomes:
    """Read the votes once, and take classes, bounds and counts by run of every rule."""
    outcomes = rule_outcomes(runs, rules)
    count_by_run(outcomes)
    return outcomes


def main() -> None:
    """Time every size that is named; replay some rules where that does not take long."""
    rules = make_rules()
    for n_findings in [int(size) for size in sys.argv[1:]] or [SIZE]:
        runs = make_runs(n_findings)
        spent, outcomes = once(lambda runs=runs: searched(runs, rules))
        peers = {YARDSTICK: yardstick()} | within(AIM_SECONDS if n_findings == SIZE else None)
        if n_findings <= SIZE:
            peers["vp.replay of each rule"] = check(runs, outcomes, list(range(0, len(rules), len(rules) // REPLAYED)))
            grouped, _ = once(lambda runs=runs: by_groupby(runs.votes[runs.votes["round"].eq(1)]))
            peers["pandas groupby of each rule, one round, no bounds"] = Measurement(len(rules) * grouped.seconds)
        report("search_rules", "search of 500 rules, two rounds", n_findings, "findings", spent, peers, MET)
        fresh = rule_outcomes(runs, rules)
        spent, _ = once(lambda runs=runs, fresh=fresh: measure(runs, fresh))
        name = "F1 with intervals, and costs, of 500 rules"
        report("search_rules", name, n_findings, "findings", spent, {YARDSTICK: peers[YARDSTICK]})


if __name__ == "__main__":
    main()
