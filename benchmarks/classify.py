"""How fast votes are classified, beside the same rule in pandas, polars and DuckDB on the same data, in one run.

Run it with `make bench`, or as `python benchmarks/classify.py 1000000`. Each engine has a process of its own; these
work one after the other, in turns, so that a busy machine slows all of them alike. All must give the same classes, or
it stops. A row has median times, their ratios, and the highest memory beyond that of the process with the input.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import verifyplan as vp
from verifyplan.analysis import compiled_tallies
from verifyplan.protocol.vote import BASES, VERDICTS

SIZES, WORKERS, REPEATS = (1_000_000, 10_000_000), 5, 5
SHAPES = ("sorted", "integers", "unsorted", "texts")
ENGINES = ("verifyplan", "compiled", "pandas", "polars", "duckdb")
GROWTH = (100_000, 1_000_000, 10_000_000)
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
    if engine in ("verifyplan", "compiled"):
        least = 0 if engine == "compiled" else 2**62
        compiled_tallies.MIN_VOTES = compiled_tallies.MIN_VOTES_LOADED = least
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


def memory(name: str) -> int:
    """Return a figure of this process in bytes, of those that Linux gives."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


def serve(engine: str, n: int, shape: str) -> None:
    """Make the votes, and work each time that a line comes; print the time, the memory and the classes."""
    work = work_of(engine, make_votes(n, shape))
    work()
    print("ready", flush=True)
    for _ in sys.stdin:
        Path("/proc/self/clear_refs").write_text("5")  # the highest memory begins anew
        before, began = memory("VmRSS"), time.perf_counter()
        classes = work()
        seconds = time.perf_counter() - began
        counts = pd.Series(classes).astype("str").value_counts().sort_index().to_dict()
        print(seconds, memory("VmHWM") - before, counts, sep="\t", flush=True)


def compared(
    n: int, shape: str, engines: tuple[str, ...] = ENGINES, repeats: int = REPEATS
) -> dict[str, tuple[float, float]]:
    """Return the median seconds and the bytes a vote of each engine, each in its process, in turns."""
    processes = {
        engine: subprocess.Popen(
            [sys.executable, __file__, "serve", engine, str(n), shape],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for engine in engines
    }  # fmt: skip
    for process in processes.values():
        process.stdout.readline()
    results: dict[str, list[tuple[float, float]]] = {engine: [] for engine in engines}
    classes = set()
    for _ in range(repeats):
        for engine, process in processes.items():
            process.stdin.write("\n")
            process.stdin.flush()
            seconds, most, counts = process.stdout.readline().rstrip().split("\t")
            results[engine].append((float(seconds), int(most) / n))
            classes.add(counts)
    for process in processes.values():
        process.stdin.close()
        process.wait()
    if len(classes) > 1:
        raise SystemExit(f"the engines give different classes: {classes}")
    return {
        engine: (statistics.median(seconds for seconds, _ in rows), max(most for _, most in rows))
        for engine, rows in results.items()
    }


def print_further(n: int) -> None:
    """Print the time of other rules as a multiple of the neutral ones, and of import, replay and comparison."""
    votes = make_votes(n)
    neutral = median_seconds(lambda: vp.classify(votes, mode="adversarial", max_rounds=1))
    for rules in OTHER_RULES:
        a = median_seconds(lambda rules=rules: vp.classify(votes, mode="adversarial", max_rounds=1, rules=rules))
        print(f"{', '.join(f'{field} {value}' for field, value in rules.items()):>40}: {a / neutral:.1f}")
    rounds = median_seconds(lambda: vp.classify(votes, mode="adversarial", max_rounds=3))
    print(f"{'three rounds, two of them never cast':>40}: {rounds / neutral:.1f}")
    named = {"item": "finding_id", "worker": "worker", "verdict": "verdict", "basis": "disagree_basis", "run": "run_id"}
    runs = vp.from_votes(votes, **named)
    for name, work in (
        ("from_votes", lambda: vp.from_votes(votes, **named)),
        ("replay", lambda: vp.replay(runs, "adversarial")),
        ("compare", lambda: vp.compare(runs)),
    ):
        print(f"{name} of {n:,} votes: {median_seconds(work):.2f} s", flush=True)


def median_seconds(work: Callable[[], object]) -> float:
    """Return the median time of three repeats, after one that does not count."""
    work()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def main(sizes: tuple[int, ...] = SIZES) -> None:
    """Print the table of all sizes and shapes, then how the time grows with the votes."""
    print(
        "| votes | shape | "
        + " | ".join(f"{engine}, s" for engine in ENGINES)
        + " | pandas / ours | pandas / compiled | polars / ours | bytes a vote, ours |"
    )
    print("|" + "---|" * (len(ENGINES) + 6))
    for n in sizes:
        for shape in SHAPES:
            found = compared(n, shape)
            own, compiled, pandas, polars = (found[engine][0] for engine in ENGINES[:4])
            times = " | ".join(f"{found[engine][0]:.3f}" for engine in ENGINES)
            ratios = f"{pandas / own:.1f} | {pandas / compiled:.1f} | {polars / own:.1f}"
            print(f"| {n:,} | {shape} | {times} | {ratios} | {found['verifyplan'][1]:.1f} |", flush=True)
    grown = [compared(n, "sorted", ("verifyplan",), 3)["verifyplan"][0] for n in GROWTH if n <= max(sizes)]
    slopes = np.diff(np.log10(grown)) / np.diff(np.log10(GROWTH[: len(grown)]))
    print("seconds for", ", ".join(f"{n:,} votes: {s:.4f}" for n, s in zip(GROWTH, grown, strict=False)))
    print("slopes of the logarithms:", ", ".join(f"{slope:.2f}" for slope in slopes))
    print_further(min(sizes))


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(tuple(map(int, sys.argv[1:])) or SIZES)
