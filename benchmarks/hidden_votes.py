"""How often bounds hold what hidden votes would have said, and how wide they are, as in docs/statistics.md.

Run it with `make bench-statistics`. Of recordings that are full under random rules, rounds, workers or single votes are
hidden; the class and the metrics that the full votes give must lie within the bounds, always.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from verifyplan import datasets
from verifyplan.analysis.clusters import clusters_of_findings
from verifyplan.analysis.metrics import metrics_of_classes, truth_codes
from verifyplan.analysis.replay import replay
from verifyplan.analysis.treatments.bounds import ClassBounds, metric_bounds
from verifyplan.frames.votes import from_votes
from verifyplan.protocol.vote import BASES, VERDICTS
from verifyplan.protocol.voting_rules import VotingRules

TRIALS, SEED, FINDINGS = 300, 0, 60
SETS = ("stdlib-claims", "example-votes", "llmbar/plain", "random")
KEY = ["run_id", "finding_id"]
ROSTER = "roster"

VALUES: dict[str, list[Any]] = {
    "mode": ["collaborative", "adversarial"],
    "majority": ["1/2", "1/3", "2/3"],
    "refutes": ["round", "sticky"],
    "lost_votes": ["leave-out", "last-vote", "as-agree", "as-disagree"],
    "quorum": [0, 2, "1/2", "2/3"],
    "missing_basis": ["infer", "counter-evidence", "burden-not-met"],
    "uncited": ["keep", "as-burden"],
    "caveats": ["partial", "as-agree"],
    "pruning": ["queue", "none"],
    "aggregate": ["rules", "majority", "unanimous", "any-refute", "first-round", "dawid-skene"],
    "stop": ["round", {"margin": 1}, {"margin": 2}],
}


@dataclass(frozen=True)
class Trial:
    """What one trial found."""

    hidden: str
    n_findings: int
    n_open: int
    """Findings whose class the votes that are left do not settle."""
    n_within: int
    n_metrics: int
    n_metrics_within: int
    f1_width: float


def random_rules(random: np.random.Generator, workers: list[str]) -> VotingRules:
    """Return rules with about a third of their fields changed, that ask all workers."""
    fields = {name: values[random.integers(len(values))] for name, values in VALUES.items() if random.random() < 0.35}
    return VotingRules(**fields, workers=workers)


def recording(name: str, random: np.random.Generator) -> pd.DataFrame:
    """Return votes on some findings, a row a vote, in which every worker who is asked votes in every round."""
    if name == "random":
        return _random_votes(random)
    if name == "example-votes":
        votes = datasets.example_votes(n=FINDINGS, seed=int(random.integers(2**31)))
        votes = votes.rename(columns={"claim": "finding_id", "judge": "worker"})
        votes["run_id"] = votes["mode"]
        votes["verdict"] = votes["answer"].map({"yes": "agree", "no": "disagree"})
        return votes.assign(disagree_basis=None, explanation="", discoverers="", truth=votes["truth"].eq("yes"))
    runs = datasets.runs(name)
    own = runs.findings[[*KEY, "truth", "discoverers"]].sample(FINDINGS, random_state=int(random.integers(2**31)))
    own["discoverers"] = own["discoverers"].map(lambda names: ";".join(names) if isinstance(names, list) else "")
    votes = runs.votes[~runs.votes["is_origin"].eq(True)].merge(own, on=KEY)
    modes = runs.runs.set_index("run_id")["mode"]
    return votes.assign(mode=votes["run_id"].map(modes).fillna("collaborative"))


def _random_votes(random: np.random.Generator) -> pd.DataFrame:
    rounds, workers = random.integers(1, 4), random.integers(2, 6)
    cells = np.stack(np.unravel_index(np.arange(FINDINGS * rounds * workers), (FINDINGS, rounds, workers)))
    votes = pd.DataFrame(
        {"finding_id": cells[0].astype(str), "round": cells[1] + 1, "worker": [f"w{i}" for i in cells[2]]}
    )
    n = len(votes)
    truth = random.random(FINDINGS) < 0.5
    shares = random.dirichlet([5, 1, 4, 0.5])
    return votes.assign(
        run_id="r",
        mode="adversarial",
        verdict=random.choice(VERDICTS, n, p=shares),
        disagree_basis=random.choice([*BASES, None], n),
        explanation=random.choice(["m.py:4 checks it", "no"], n),
        truth=truth[cells[0]],
        discoverers="",
    )


def with_roster(votes: pd.DataFrame) -> pd.DataFrame:
    """Return the votes behind a finding on which every worker votes in one round, so that order is roster order."""
    roster = votes.drop_duplicates("worker").assign(
        run_id=votes["run_id"].iloc[0],
        mode=votes["mode"].iloc[0],
        finding_id=ROSTER,
        round=1,
        verdict="agree",
        disagree_basis=None,
        truth=True,
        discoverers="",
    )
    return pd.concat([roster, votes], ignore_index=True)


def hide(votes: pd.DataFrame, random: np.random.Generator) -> tuple[str, pd.DataFrame]:
    """Return what is hidden, and the votes that are left: at least one of every round that is left."""
    hidden = ("rounds", "workers", "votes")[random.integers(3)]
    if hidden == "rounds":
        finding = votes.groupby(KEY, sort=False).ngroup().to_numpy()
        kept = votes["round"].to_numpy() <= random.integers(1, 4, finding.max() + 1)[finding]
    elif hidden == "workers":
        names = votes["worker"].unique()
        kept = ~votes["worker"].isin(names[random.random(len(names)) < 0.4]).to_numpy()
    else:
        kept = random.random(len(votes)) > random.random()
    first = ~votes.duplicated([*KEY, "round"]).to_numpy()
    if hidden != "rounds":
        kept |= first
    kept |= votes["finding_id"].eq(ROSTER).to_numpy()
    return hidden, votes[kept]


def classes(votes: pd.DataFrame, rules: VotingRules, max_rounds: int) -> pd.DataFrame:
    """Return each finding with its class and bounds; votes begin with the roster, which stops go by."""
    columns = {"item": "finding_id", "run": "run_id", "basis": "disagree_basis"}
    same = ("worker", "verdict", "round", "truth", "explanation", "mode", "discoverers")
    runs = from_votes(votes, **columns, **{name: name for name in same}, max_rounds=max_rounds)
    return replay(runs, rules=rules).set_index(KEY).sort_index()


def trial(name: str, random: np.random.Generator) -> Trial:
    """Hide votes of a recording, and hold the bounds against what all of its votes give."""
    votes = with_roster(recording(name, random))
    rules = random_rules(random, list(votes["worker"].unique()))
    hidden, left = hide(votes, random)
    full, bounded = (classes(part, rules, int(votes["round"].max())) for part in (votes, left))
    known = (full["low"].eq(full["classification"]) & full["high"].eq(full["classification"])).to_numpy()
    if rules.aggregate == "dawid-skene":
        known = known & (not full["censored"].any())
    full, bounded = full[known], bounded[known]
    codes = {column: table[column].cat.codes.to_numpy(dtype=np.int64) for table, column in _columns(full, bounded)}
    bounds, truth = ClassBounds(codes["low"], codes["high"]), truth_codes(full)
    within = (bounds.high <= codes["full"]) & (codes["full"] <= bounds.low)
    table = metric_bounds(codes["classification"], bounds, truth, clusters_of_findings(full.reset_index()))
    table = table.set_index("metric")
    sums = {
        metric: (float(np.sum(of.part)), float(np.sum(of.whole)))
        for metric, of in metrics_of_classes(codes["full"], truth).items()
    }
    values = {metric: part / whole for metric, (part, whole) in sums.items() if whole}
    held = [
        table.loc[metric, "low_bound"] - 1e-12 <= value <= table.loc[metric, "high_bound"] + 1e-12
        for metric, value in values.items()
    ]
    width = table.loc["f1", "high_bound"] - table.loc["f1", "low_bound"] if "f1" in table.index else np.nan
    n_open = int((bounds.low != bounds.high).sum())
    return Trial(hidden, len(full), n_open, int(within.sum()), len(held), int(np.sum(held)), width)


def _columns(full: pd.DataFrame, bounded: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, str]]:
    yield full.assign(full=full["classification"]), "full"
    for column in ("classification", "low", "high"):
        yield bounded, column


def main(trials: int = TRIALS) -> None:
    rows = []
    for name in SETS:
        random = np.random.default_rng(SEED)
        found = pd.DataFrame([trial(name, random) for _ in range(trials)]).assign(set=name)
        rows.append(found)
        print(name, file=sys.stderr)
    results = pd.concat(rows)
    print(f"Classes and metrics of all votes within the bounds of those that are left; {trials:,} trials a set\n")
    print("| votes | hidden | trials | classes | within | metrics | within | open | width of F1 |")
    print("|---|---|" + "--:|" * 7)
    for (name, hidden), group in results.groupby(["set", "hidden"], sort=False):
        total = group.sum(numeric_only=True)
        within = 100 * total["n_within"] / total["n_findings"], 100 * total["n_metrics_within"] / total["n_metrics"]
        n_open = 100 * total["n_open"] / total["n_findings"]
        print(
            f"| {name} | {hidden} | {len(group)} | {total['n_findings']:,.0f} | {within[0]:.6g} % | "
            f"{total['n_metrics']:,.0f} | {within[1]:.6g} % | {n_open:.0f} % | "
            f"{100 * group['f1_width'].mean():.0f} % |"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else TRIALS)
