"""How fast votes are classified, beside the same rule in pandas, polars and DuckDB on the same data, in one run.

Run it with `make bench`, or as `python -m benchmarks.classify 1000000`. All engines must give the same classes, or it
stops. Then other rules, as multiples of the neutral ones, and `from_votes`, `replay` and `compare`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pandas as pd

import verifyplan as vp
from benchmarks.figures import MET, YARDSTICK, measured, report, serve_or, timed, within, yardstick
from verifyplan.protocol.vote import BASES, VERDICTS

SIZE, WORKERS = 1_000_000, 5
SHAPES = ("sorted", "integers", "unsorted", "texts")
ENGINES = ("verifyplan", "pandas", "polars", "duckdb")
PEERS = {"pandas": "pandas groupby", "polars": "polars", "duckdb": "DuckDB"}
AIM_SECONDS = {"from_votes": 0.6, "from_votes, with truth": 0.6, "compare": 0.5}
OTHER_RULES: list[dict[str, object]] = [
    {"majority": "2/3"},
    {"aggregate": "unanimous"},
    {"refutes": "sticky"},
    {"quorum": 2},
    {"weights": {"a": 2}},
    {"stop": {"margin": 2}},
]
"""Rules that are timed beside the neutral ones; the first two are judged by counts, the others vote by vote."""
NAMES = ["run_id", "finding_id", "worker", "verdict", "disagree_basis"]


def make_votes(n: int, shape: str = "sorted") -> pd.DataFrame:
    """Seeded random votes, five workers a finding, two hundred findings a run; synthetic."""
    rng = np.random.default_rng(0)
    finding = np.arange(n) // WORKERS
    run = finding // 200
    verdict = rng.choice(4, n, p=[0.55, 0.1, 0.3, 0.05]).astype(np.int8)
    basis = np.where(verdict == VERDICTS.index("disagree"), rng.integers(0, 2, n), -1)
    runs, findings = (
        [f"{letter}-{i:08d}" for i in range(int(of[-1]) + 1)] for letter, of in (("run", run), ("F", finding))
    )
    votes = pd.DataFrame(
        {
            "run_id": run if shape == "integers" else pd.Categorical.from_codes(run, runs),
            "finding_id": finding if shape == "integers" else pd.Categorical.from_codes(finding, findings),
            "round": 1,
            "worker": pd.Categorical.from_codes(np.arange(n) % WORKERS, list("abcde")),
            "verdict": pd.Categorical.from_codes(verdict, VERDICTS),
            "disagree_basis": pd.Categorical.from_codes(basis, BASES),
        }
    )
    if shape == "unsorted":
        votes = votes.sample(frac=1, random_state=1).reset_index(drop=True)
    return votes.astype(dict.fromkeys(NAMES, "str")) if shape == "texts" else votes


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


def by_polars(votes: object) -> object:
    """The same in polars."""
    import polars as pl

    counts = votes.lazy().group_by("run_id", "finding_id", maintain_order=True).agg(
        agree=(pl.col("verdict") == "agree").sum(),
        supplement=(pl.col("verdict") == "supplement").sum(),
        counter=(pl.col("disagree_basis") == "counter-evidence").sum(),
        burden=(pl.col("disagree_basis") == "burden-not-met").sum(),
    )  # fmt: skip
    disagree = pl.col("counter") + pl.col("burden")
    n = disagree + pl.col("agree") + pl.col("supplement")
    return counts.with_columns(
        classification=pl.when(n == 0).then(pl.lit("worker-unique"))
        .when((disagree == 0) & (pl.col("supplement") == 0)).then(pl.lit("full-consensus"))
        .when(disagree == 0).then(pl.lit("partial-consensus"))
        .when(disagree == n).then(pl.lit("worker-unique"))
        .when(pl.col("counter") > 0).then(pl.lit("contested"))
        .when(2 * pl.col("burden") > n).then(pl.lit("contested"))
        .otherwise(pl.lit("partial-consensus"))
    ).collect()  # fmt: skip


DUCKDB = """
SELECT run_id, finding_id, CASE WHEN n = 0 THEN 'worker-unique' WHEN c + b = 0 AND s = 0 THEN 'full-consensus'
    WHEN c + b = 0 THEN 'partial-consensus' WHEN c + b = n THEN 'worker-unique' WHEN c > 0 THEN 'contested'
    WHEN 2 * b > n THEN 'contested' ELSE 'partial-consensus' END AS classification
FROM (SELECT *, a + s + c + b AS n FROM (SELECT run_id, finding_id,
    count(*) FILTER (verdict = 'agree') AS a, count(*) FILTER (verdict = 'supplement') AS s,
    count(*) FILTER (disagree_basis = 'counter-evidence') AS c, count(*) FILTER (disagree_basis = 'burden-not-met') AS b
    FROM votes GROUP BY run_id, finding_id))
"""


def work_of(engine: str, votes: pd.DataFrame) -> Callable[[], dict[str, int]]:
    """Return the work of an engine, on votes as it holds them, that returns how many findings have each class."""
    if engine == "verifyplan":
        return lambda: vp.classify(votes, mode="adversarial", max_rounds=1)["classification"]
    if engine == "pandas":
        return lambda: by_groupby(votes)
    if engine == "polars":
        import polars

        own = polars.from_pandas(votes)
        return lambda: by_polars(own)["classification"].to_pandas()
    import duckdb

    database = duckdb.connect()
    database.register("frame", votes)
    database.execute("CREATE TABLE votes AS SELECT * FROM frame")
    return lambda: database.sql(DUCKDB).df()["classification"]


def engine(name: str, n: str, shape: str) -> tuple[Callable[[], object], Callable[[object], object]]:
    """Return the work of an engine, and how many findings of its result have each class."""
    return work_of(name, make_votes(int(n), shape)), counts


def counts(classes: object) -> dict[str, int]:
    return pd.Series(classes).astype("str").value_counts().sort_index().to_dict()


def print_further(n: int) -> None:
    """Print the time of other rules as a multiple of the neutral ones, and of import, replay and comparison."""
    votes = make_votes(n)
    neutral = timed(lambda: vp.classify(votes, mode="adversarial", max_rounds=1)).cpu
    for rules in OTHER_RULES:
        a = timed(lambda rules=rules: vp.classify(votes, mode="adversarial", max_rounds=1, rules=rules)).cpu
        print(f"{', '.join(f'{field} {value}' for field, value in rules.items()):>40}: {a / neutral:.1f}")
    rounds = timed(lambda: vp.classify(votes, mode="adversarial", max_rounds=3)).cpu
    print(f"{'three rounds, two of them never cast':>40}: {rounds / neutral:.1f}")
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis", "run": "run_id"}
    runs, stick = vp.from_votes(votes, **named), yardstick()
    labelled = votes.assign(truth=(np.random.default_rng(1).random(n) < 0.5)[np.arange(n) // WORKERS])
    works = {
        "from_votes": lambda: vp.from_votes(votes, **named),
        "from_votes, with truth": lambda: vp.from_votes(labelled, **named, truth="truth"),
        "replay": lambda: vp.replay(runs, "adversarial"),
        "compare": lambda: vp.compare(runs),
    }
    for name, work in works.items():
        report("classify", name, n, "votes", timed(work, 3), {YARDSTICK: stick} | within(AIM_SECONDS.get(name)), MET)


def main() -> None:
    """Measure every shape at the sizes that were named, then imports and comparisons at the first."""
    sizes = [int(n) for n in sys.argv[1:]] or [SIZE]
    for n in sizes:
        for shape in SHAPES:
            found = measured("benchmarks.classify", ENGINES, n, shape)
            peers = {PEERS[name]: found[name] for name in PEERS}
            report("classify", f"classify, {shape}", n, "votes", found["verifyplan"], peers)
    if sizes[0] <= SIZE:
        print_further(sizes[0])


if __name__ == "__main__":
    serve_or(main, engine)
