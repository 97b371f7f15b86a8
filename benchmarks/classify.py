"""How fast a million votes are classified, beside the same rule as an idiomatic pandas groupby, in one run.

Run it with `make bench`. It prints medians and their ratio; both must give the same classes, or it stops.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

import verifyplan as vp
from verifyplan.protocol.vote import BASES, VERDICTS

VOTES, WORKERS, REPEATS = 1_000_000, 5, 5
OTHER_RULES: list[dict[str, object]] = [
    {"majority": "2/3"},
    {"aggregate": "unanimous"},
    {"refutes": "sticky"},
    {"quorum": 2},
    {"weights": {"a": 2}},
    {"stop": {"margin": 2}},
]
"""Rules that are timed beside the neutral ones; the first two are judged by counts, the others vote by vote."""


def make_votes(n: int) -> pd.DataFrame:
    """Seeded random votes, five workers a finding, two hundred findings a run; synthetic."""
    rng = np.random.default_rng(0)
    finding = np.arange(n) // WORKERS
    verdict = pd.Categorical.from_codes(rng.choice(4, n, p=[0.55, 0.1, 0.3, 0.05]), categories=VERDICTS)
    basis = np.where(verdict == "disagree", rng.integers(0, 2, n), -1)
    return pd.DataFrame(
        {
            "run_id": pd.Categorical("run-" + pd.Series(finding // 200).astype("str")),
            "finding_id": pd.Categorical("F-" + pd.Series(finding).astype("str")),
            "round": 1,
            "worker": pd.Categorical(np.array(list("abcde"))[np.arange(n) % WORKERS]),
            "verdict": verdict,
            "disagree_basis": pd.Categorical.from_codes(basis, categories=BASES),
        }
    )


def by_groupby(votes: pd.DataFrame) -> pd.Series:
    """Rule B6, adversarial, one round, as one would write it in pandas: a groupby and masks."""
    flags = pd.DataFrame(
        {
            "agree": votes["verdict"] == "agree",
            "supplement": votes["verdict"] == "supplement",
            "counter": votes["disagree_basis"] == "counter-evidence",
            "burden": votes["disagree_basis"] == "burden-not-met",
        }
    )
    keys = [votes["run_id"], votes["finding_id"]]
    c = flags.groupby(keys, observed=True, sort=False).sum()
    disagree = c["counter"] + c["burden"]
    n = disagree + c["agree"] + c["supplement"]
    conditions = [n == 0, (disagree == 0) & (c["supplement"] == 0), disagree == 0, disagree == n,
                  c["counter"] > 0, 2 * c["burden"] > n]  # fmt: skip
    classes = ["worker-unique", "full-consensus", "partial-consensus", "worker-unique", "contested", "contested"]
    return pd.Series(np.select(conditions, classes, "partial-consensus"), index=c.index)


def median_seconds(work: Callable[[], object]) -> float:
    """Median wall time of some repeats, after one that does not count."""
    work()
    times = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main() -> None:
    """Check that both agree, then time both; once with categorical keys, once with plain texts."""
    coded = make_votes(VOTES)
    plain = coded.astype(dict.fromkeys(["run_id", "finding_id", "worker", "verdict", "disagree_basis"], "str"))
    plain["disagree_basis"] = plain["disagree_basis"].where(plain["disagree_basis"] != "nan", None)
    ours = vp.classify(coded, mode="adversarial", max_rounds=1)
    theirs = by_groupby(coded)
    expected = theirs.loc[pd.MultiIndex.from_frame(ours[["run_id", "finding_id"]])].to_numpy()
    if not (ours["classification"].astype("str").to_numpy() == expected).all():
        raise SystemExit("the two give different classes: a figure would mean nothing")
    print(f"{VOTES:,} votes on {len(ours):,} findings, adversarial, one round; median of {REPEATS} runs")
    for name, votes in (("categorical keys", coded), ("text keys", plain)):
        a = median_seconds(lambda votes=votes: vp.classify(votes, mode="adversarial", max_rounds=1))
        b = median_seconds(lambda votes=votes: by_groupby(votes))
        print(f"{name:>17}: verifyplan {a:.3f} s, pandas groupby {b:.3f} s, ratio {b / a:.1f}")
    print("other rules, as a multiple of the neutral ones in this run")
    neutral = median_seconds(lambda: vp.classify(coded, mode="adversarial", max_rounds=1))
    for rules in OTHER_RULES:
        a = median_seconds(lambda rules=rules: vp.classify(coded, mode="adversarial", max_rounds=1, rules=rules))
        print(f"{', '.join(f'{field} {value}' for field, value in rules.items()):>40}: {a / neutral:.1f}")
    a = median_seconds(lambda: vp.classify(coded, mode="adversarial", max_rounds=3))
    print(f"{'three rounds, two of them never cast':>40}: {a / neutral:.1f}")


if __name__ == "__main__":
    main()
