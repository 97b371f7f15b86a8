"""How fast run files become tables, and saved tables are loaded again, beside other readers of the same bytes.

`python -m benchmarks.loading [FILES] [PYTHON]`: FILES artifacts of the real shape (10,000 unless named), each reader in
a process of its own, one after another; the least of several times, by the clock and of CPU, and the peak of memory.
With PYTHON, an interpreter that has inspect_ai, its own dataframes are timed by benchmarks/inspect_logs.py, too.
"""

from __future__ import annotations

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import verifyplan as vp
from benchmarks.run_files import write_artifacts

FILES, REPEATS = 10_000, 3
LOG = Path(__file__).parents[1] / "data" / "live-example" / "adversarial" / "panel-001.jsonl"


def _paths(folder: Path) -> list[Path]:
    return sorted((folder / "runs").rglob("*.json"))


def by_msgspec(folder: Path) -> int:
    """Parse into dicts, no table, no check: what no reader of JSON in Python is faster than."""
    import msgspec

    return sum(bool(msgspec.json.decode(path.read_bytes())) for path in _paths(folder))


def by_json_normalize(folder: Path) -> int:
    """The votes alone as a table, without checks, as one would write it in pandas."""
    import pandas as pd

    rows = []
    for path in _paths(folder):
        for finding in json.loads(path.read_bytes())["findings"]:
            for entry in finding["rounds"]:
                for worker, vote in entry["votes"].items():
                    key = {"run_id": path.stem, "finding_id": finding["findingId"]}
                    rows.append({**key, "round": entry["round"], "worker": worker, "vote": vote})
    return len(pd.json_normalize(rows))


def by_duckdb(folder: Path) -> int:
    """The votes alone as a table, without checks, by SQL over the files."""
    import duckdb

    votes = "MAP(VARCHAR, STRUCT(verdict VARCHAR, disagreeBasis VARCHAR, explanation VARCHAR))"
    columns = f"{{findings: 'STRUCT(findingId VARCHAR, rounds STRUCT(round INT, votes {votes})[])[]'}}"
    query = f"""
        WITH f AS (SELECT filename, unnest(findings) AS f
                   FROM read_json('{folder}/runs/*/*.json', columns={columns}, filename=true)),
             r AS (SELECT filename, f.findingId AS finding_id, unnest(f.rounds) AS r FROM f)
        SELECT filename, finding_id, r.round AS round, unnest(map_entries(r.votes)) AS vote FROM r"""
    return len(duckdb.sql(query).arrow().read_all())


def by_us(folder: Path) -> int:
    """All tables, with every check of rule B9."""
    return len(vp.load(folder / "runs", progress=False).votes)


def saved_by_us(folder: Path) -> int:
    """All saved tables, checked; explanations are left until they are looked at."""
    return len(vp.load(folder / "saved").votes)


def saved_with_texts_by_us(folder: Path) -> int:
    """All saved tables, checked, and the explanations."""
    return int(vp.load(folder / "saved").votes["explanation"].notna().sum())


def saved_by_pandas(folder: Path) -> int:
    """The votes alone, without explanations, as they are in the file."""
    import pandas as pd

    return len(pd.read_parquet(folder / "saved" / "votes.parquet"))


def saved_by_polars(folder: Path) -> int:
    """The votes alone, without explanations, as they are in the file."""
    import polars as pl

    return len(pl.read_parquet(folder / "saved" / "votes.parquet"))


def logs_by_us(folder: Path) -> int:
    """All tables of run logs, digests checked."""
    return len(vp.load(folder / "logs", progress=False).runs)


READERS: Mapping[str, Callable[[Path], int]] = {
    reader.__name__: reader
    for reader in (
        by_us,
        by_msgspec,
        by_json_normalize,
        by_duckdb,
        saved_by_us,
        saved_with_texts_by_us,
        saved_by_pandas,
        saved_by_polars,
        logs_by_us,
    )
}


def measure(name: str, folder: Path) -> dict[str, Any]:
    """Return the least seconds of several readings, after one that does not count, and the peak of memory in MB."""
    rows, times = READERS[name](folder), []
    for _ in range(REPEATS):
        start = time.perf_counter(), time.process_time()
        READERS[name](folder)
        times.append((time.perf_counter() - start[0], time.process_time() - start[1]))
    clock, cpu = (min(column) for column in zip(*times, strict=True))
    return {"rows": rows, "clock": clock, "cpu": cpu, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3}


def _in_a_process(name: str, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.loading", "--reader", name, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def main(files: int, inspect_python: str | None) -> None:
    """Write the files, time every reader, and print what each took."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        size = write_artifacts(folder / "runs", files)
        vp.load(folder / "runs", progress=False).save(folder / "saved")
        logs = max(1, files // 100)
        for number in range(logs):
            (folder / "logs").mkdir(exist_ok=True)
            shutil.copy(LOG, folder / "logs" / f"{number:04d}.jsonl")
        log_size = logs * LOG.stat().st_size
        print(f"{files:,} artifacts, {size / 1e6:.0f} MB, 52 votes each; {logs} logs, {log_size / 1e6:.1f} MB")
        print(
            f"{'reader':<24}{'rows':>10}{'seconds':>9}{'of CPU':>8}{'MB/s of CPU':>13}{'peak MB':>9}{'times ours':>12}"
        )
        ours: dict[str, float] = {}
        for name in READERS:
            result = _in_a_process(name, folder)
            kind = name.split("_")[0]
            base = ours.setdefault(kind, result["cpu"])
            bytes_read = log_size if kind == "logs" else size
            rate = f"{bytes_read / 1e6 / result['cpu']:.0f}" if kind != "saved" else ""
            print(
                f"{name:<24}{result['rows']:>10,}{result['clock']:>9.2f}{result['cpu']:>8.2f}{rate:>13}"
                f"{result['peak']:>9.0f}{result['cpu'] / base:>12.2f}"
            )
    if inspect_python:
        subprocess.run([sys.executable, str(Path(__file__).with_name("inspect_logs.py")), inspect_python], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--reader"]:
        print(json.dumps(measure(sys.argv[2], Path(sys.argv[3]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else FILES, sys.argv[2] if len(sys.argv) > 2 else None)
