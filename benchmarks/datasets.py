"""Datasets: 100 million votes in 40 parts, classified in both modes in bounded memory; and compiles of what is new.

Run it with `make bench`, or smaller: `python -m benchmarks.datasets --votes 10000000 --parts 4 --runs 1000`. Polars
(streaming) and DuckDB classify the same Parquet files by the same rules, one round and one pass, each in a process of
its own and one after another; all must count the same classes, or it stops. The memory is that of all processes of an
engine, added up.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil

import verifyplan as vp
from benchmarks.figures import YARDSTICK, Measurement, least, once, report, yardstick
from verifyplan.analysis.out_of_core.class_counts import classify_dataset
from verifyplan.frames.artifact import write_artifact
from verifyplan.frames.dataset.compile import compile_dataset
from verifyplan.frames.dataset.manifest import Manifest, Part, write_manifest
from verifyplan.frames.dataset.part_files import write_part
from verifyplan.frames.dataset.storage import Storage
from verifyplan.frames.runset import RunSet
from verifyplan.protocol.vote import BASES, CLASSIFICATIONS, MODES, VERDICTS

WORKERS, FINDINGS = 5, 50
REPEATS = 2
PEERS = ("polars, streaming", "DuckDB")

Counts = dict[str, dict[str, int]]
"""How many findings have each class, by mode."""


def make_part(n: int, number: int, storage: Storage) -> Part:
    """Write a part of seeded random votes: five workers a finding, fifty findings a run, one round; synthetic."""
    rng = np.random.default_rng(number)
    finding = np.arange(n) // WORKERS
    run = finding // FINDINGS
    runs = np.array([f"run-{number:03d}-{i:05d}" for i in range(run[-1] + 1)])
    verdict = rng.choice(4, n, p=[0.6, 0.1, 0.27, 0.03])
    disagree = verdict == VERDICTS.index("disagree")
    votes = pd.DataFrame(
        {
            "run_id": pd.Categorical.from_codes(run, runs),
            "iteration": np.zeros(n, dtype=np.int32),
            "finding_id": pd.Categorical.from_codes(finding % FINDINGS, [f"F-{i:03d}" for i in range(FINDINGS)]),
            "round": np.ones(n, dtype=np.int32),
            "worker": pd.Categorical.from_codes(np.arange(n) % WORKERS, list("abcde")),
            "verdict": pd.Categorical.from_codes(verdict, VERDICTS, ordered=True),
            "disagree_basis": pd.Categorical.from_codes(np.where(disagree, rng.integers(0, 2, n), -1), BASES),
            "is_origin": np.zeros(n, dtype=bool),
        }
    )
    table = pd.DataFrame({"run_id": runs, "mode": "adversarial", "synthetic": True})
    return write_part(storage, RunSet(runs=table, votes=votes))


def by_verifyplan(folder: str, client: Any = None) -> Counts:
    found = classify_dataset(folder, list(MODES), max_rounds=1, client=client)
    return {mode: {name: int(each.classes[name]) for name in CLASSIFICATIONS} for mode, each in found.items()}


def on_cluster(folder: str) -> Counts:
    """Classify on two processes of a Dask cluster, limited to 1 GB each."""
    from distributed import Client, LocalCluster

    limits = {"n_workers": 2, "threads_per_worker": 1, "memory_limit": "1GB", "dashboard_address": None}
    with LocalCluster(**limits) as cluster, Client(cluster) as client:
        return by_verifyplan(folder, client)


def by_polars(folder: str) -> Counts:
    import polars as pl

    votes = pl.scan_parquet(f"{folder}/parts/*/votes.parquet")
    is_counter = pl.col("disagree_basis").cast(pl.String) == "counter-evidence"
    verdict = pl.col("verdict").cast(pl.String)
    tallies = votes.group_by("run_id", "finding_id").agg(
        (verdict == "agree").sum().alias("a"),
        (verdict == "supplement").sum().alias("s"),
        ((verdict == "disagree") & is_counter).sum().alias("c"),
        ((verdict == "disagree") & ~is_counter).sum().alias("b"),
    )
    a, s, c, b = (pl.col(name).cast(pl.Int32) for name in "ascb")
    n, d = a + s + c + b, c + b
    unique, full, partial, contested = "worker-unique", "full-consensus", "partial-consensus", "contested"
    one = pl.when(n == 0).then(pl.lit(unique))
    rules = {
        "collaborative": one.when(d == 0).then(pl.lit(full)).when(d == n).then(pl.lit(unique))
        .when(2 * (a + s) > n).then(pl.lit(partial)).otherwise(pl.lit(contested)),
        "adversarial": one.when((d == 0) & (s == 0)).then(pl.lit(full)).when(d == 0).then(pl.lit(partial))
        .when(d == n).then(pl.lit(unique)).when(c > 0).then(pl.lit(contested))
        .when(2 * b > n).then(pl.lit(contested)).otherwise(pl.lit(partial)),
    }  # fmt: skip
    classes = tallies.select(rule.alias(mode) for mode, rule in rules.items())
    table = classes.group_by(*MODES).agg(pl.len().alias("n")).collect(engine="streaming")
    return _by_mode(table.select(*MODES, "n").rows())


DUCKDB_RULES = {
    "collaborative": """when n = 0 then 'worker-unique' when c + b = 0 then 'full-consensus'
        when c + b = n then 'worker-unique' when 2 * (a + s) > n then 'partial-consensus' else 'contested'""",
    "adversarial": """when n = 0 then 'worker-unique' when c + b = 0 and s = 0 then 'full-consensus'
        when c + b = 0 then 'partial-consensus' when c + b = n then 'worker-unique' when c > 0 then 'contested'
        when 2 * b > n then 'contested' else 'partial-consensus'""",
}


def by_duckdb(folder: str) -> Counts:
    import duckdb

    classes = ", ".join(f"case {DUCKDB_RULES[mode]} end as {mode}" for mode in MODES)
    query = f"""select {", ".join(MODES)}, count(*) from (select {classes} from (
            select a, s, c, b, a + s + c + b as n from (
                select count(*) filter (verdict = 'agree') as a, count(*) filter (verdict = 'supplement') as s,
                    count(*) filter (verdict = 'disagree' and disagree_basis = 'counter-evidence') as c,
                    count(*) filter (verdict = 'disagree' and disagree_basis <> 'counter-evidence') as b
                from read_parquet('{folder}/parts/*/votes.parquet') group by run_id, finding_id)))
        group by all"""
    return _by_mode(duckdb.sql(query).fetchall())


def _by_mode(rows: list[tuple[Any, ...]]) -> Counts:
    """Return the counts of each mode, from rows that count the findings of a class in each."""
    counts: Counts = {mode: Counter() for mode in MODES}
    for *classes, n in rows:
        for mode, name in zip(MODES, classes, strict=True):
            counts[mode][name] += n
    return counts


ENGINES: dict[str, Callable[[str], Counts]] = {
    "verifyplan": by_verifyplan,
    "polars": by_polars,
    "duckdb": by_duckdb,
}


def seen(engine: str, folder: Path) -> tuple[Measurement, object]:
    """Return what an engine takes in a process of its own, those that it starts included, and what it counts."""
    command = [sys.executable, "-m", "benchmarks.datasets", "--engine", engine, "--folder", str(folder)]
    process, peak = subprocess.Popen(command, stdout=subprocess.PIPE, text=True), 0
    cpu: dict[int, float] = {}
    while process.poll() is None:
        try:
            own = psutil.Process(process.pid)
            every = [own, *own.children(recursive=True)]
            peak = max(peak, sum(each.memory_info().rss for each in every))
            cpu |= {each.pid: sum(each.cpu_times()[:2]) for each in every}
        except psutil.NoSuchProcess:
            pass
        time.sleep(0.05)
    if process.returncode or process.stdout is None:
        raise SystemExit(f"{engine} failed")
    found = json.loads(process.stdout.read())
    return Measurement(found["seconds"], sum(cpu.values()), peak / 1e6), found["counts"]


def classifying(folder: Path, n_votes: int, n_parts: int) -> None:
    storage = Storage.at(folder)
    parts = tuple(make_part(n_votes // n_parts, number, storage) for number in range(n_parts))
    write_manifest(storage, Manifest(source="generated", parts=parts, files=""))
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"{n_votes:,} votes in {n_parts} parts, {size / 1e6:,.0f} MB")
    turns = [{engine: seen(engine, folder) for engine in ENGINES} for _ in range(REPEATS)]
    if any(counts != turns[0]["verifyplan"][1] for turn in turns for _, counts in turn.values()):
        raise SystemExit(f"the engines count other classes: {turns}")
    ours, *peers = (least([turn[engine][0] for turn in turns]) for engine in ENGINES)
    named = dict(zip(PEERS, peers, strict=True))
    on_dask, counts = seen("cluster", folder)
    if counts != turns[0]["verifyplan"][1]:
        raise SystemExit(f"the cluster counts other classes: {counts}")
    report("datasets", "classify in both modes, from Parquet", n_votes, "votes", ours, named)
    report("datasets", "the same on a Dask cluster of two processes", n_votes, "votes", on_dask, named)


def compiling(folder: Path, n_runs: int) -> None:
    """Time a first compile, one of nothing new, and one of a hundredth more runs."""
    examples = sorted(vp.datasets.path("stdlib-claims/adversarial").rglob("*.json"))
    artifacts = [vp.read_artifact(path) for path in examples[:3]]
    (folder / "runs").mkdir(parents=True)
    peers = {YARDSTICK: yardstick()}
    for name, numbers in (
        ("compile", range(n_runs)),
        ("compile again, nothing new", range(0)),
        ("compile again, a hundredth more", range(n_runs, n_runs + n_runs // 100)),
    ):
        for number in numbers:
            write_artifact(artifacts[number % 3], folder / f"runs/{number:05d}.json")
        spent, _ = once(lambda: compile_dataset(folder / "runs", folder / "set", progress=False))
        report("datasets", name, n_runs, "runs", spent, peers)
        peers.setdefault("the first compile", spent)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--votes", type=int, default=100_000_000)
    options.add_argument("--parts", type=int, default=40)
    options.add_argument("--runs", type=int, default=10_000)
    options.add_argument("--engine", choices=[*ENGINES, "cluster"])
    options.add_argument("--folder")
    chosen = options.parse_args()
    if chosen.engine:
        began = time.perf_counter()
        counts = {**ENGINES, "cluster": on_cluster}[chosen.engine](chosen.folder)
        print(json.dumps({"seconds": time.perf_counter() - began, "counts": counts}))
        return
    with tempfile.TemporaryDirectory() as folder:
        if shutil.disk_usage(folder).free < 20 * chosen.votes + 50_000 * chosen.runs:
            raise SystemExit(f"{folder} has too little room: choose fewer --votes")
        classifying(Path(folder) / "votes", chosen.votes, chosen.parts)
        compiling(Path(folder) / "compiled", chosen.runs)


if __name__ == "__main__":
    main()
