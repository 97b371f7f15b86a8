"""How fast 500 rules are judged on the same votes, beside a replay of each, in one run.

Run it with `make bench`, or `python -m benchmarks.search_rules FINDINGS`. Votes are synthetic: 5 workers, 2 rounds, 200
findings a run; a quarter of the findings have no second round. The classes, bounds and counts by run of every rule are
taken, the metric with its intervals and the costs by themselves. A sample of the rules is replayed; both must give the
same classes and bounds, or it stops.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable
from itertools import combinations

import numpy as np
import pandas as pd

import verifyplan as vp
from benchmarks.classify import by_groupby
from verifyplan.analysis.clusters import clusters_of_findings
from verifyplan.analysis.treatments.rule_costs import RuleCosts
from verifyplan.analysis.treatments.rule_outcomes import RuleOutcomes, rule_outcomes
from verifyplan.analysis.treatments.rule_quality import QualityMeasure, quality_cells
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import BASES, VERDICTS

SIZES = (100_000, 1_000_000)
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


def seconds(work: Callable[[], object]) -> float:
    """Return the wall time of some work."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


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


def check(runs: RunSet, outcomes: RuleOutcomes, rules: list[int]) -> float:
    """Return the seconds of a replay of each of some rules; stop unless it gives the same classes and bounds."""
    total = 0.0
    for k in rules:
        began = time.perf_counter()
        replayed = vp.replay(runs, rules=outcomes.rules[k])
        total += time.perf_counter() - began
        ours = {"classification": outcomes.classes(k), "low": outcomes.low(k), "high": outcomes.high(k)}
        for name, codes in ours.items():
            if not (replayed[name].cat.codes.to_numpy() == codes).all():
                raise SystemExit(f"{outcomes.rules[k]}: a replay gives another {name}; a figure would mean nothing")
    return total / len(rules)


def main() -> None:
    """Time every size; replay some rules at the first."""
    rules = make_rules()
    for n_findings in [int(size) for size in sys.argv[1:]] or SIZES:
        runs = make_runs(n_findings)
        began = time.perf_counter()
        outcomes = rule_outcomes(runs, rules)
        reading = time.perf_counter() - began
        counting = seconds(lambda outcomes=outcomes: count_by_run(outcomes))
        fresh = rule_outcomes(runs, rules)
        measuring = seconds(lambda runs=runs, fresh=fresh: measure(runs, fresh))
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        print(
            f"{len(rules)} rules x {n_findings:,} findings x 2 rounds x {len(WORKERS)} workers: votes read once "
            f"{reading:.2f} s, classes, bounds and counts by run {counting:.2f} s; with metric, intervals and costs "
            f"instead of counts {measuring:.2f} s; peak {memory:.1f} GB"
        )
        if n_findings <= SIZES[0]:
            ours = (reading + counting) / len(rules)
            replayed = check(runs, outcomes, list(range(0, len(rules), len(rules) // REPLAYED)))
            grouped = seconds(lambda runs=runs: by_groupby(runs.votes[runs.votes["round"].eq(1)]))
            print(f"  a rule: {1000 * ours:.1f} ms; vp.replay {1000 * replayed:.0f} ms, ratio {replayed / ours:.0f}")
            print(f"  pandas groupby, one round, no bounds: {1000 * grouped:.0f} ms, ratio {grouped / ours:.0f}")


if __name__ == "__main__":
    main()
