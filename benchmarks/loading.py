"""How fast run files become tables, and saved tables are loaded again, beside other readers of the same bytes.

`python -m benchmarks.loading [FILES]`: FILES artifacts (10,000 unless named) of the real shape, 52 votes each.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import verifyplan as vp
from benchmarks.figures import YARDSTICK, measured, report, serve_or, yardstick
from benchmarks.run_files import write_artifacts

FILES = 10_000
LOG = Path(__file__).parents[1] / "data" / "live-example" / "adversarial" / "panel-001.jsonl"


def _paths(folder: Path) -> list[Path]:
    return sorted((folder / "runs").rglob("*.json"))


def by_msgspec(folder: Path) -> None:
    """Parse into dicts, no table, no check: what no reader of JSON in Python is faster than."""
    import msgspec

    for path in _paths(folder):
        msgspec.json.decode(path.read_bytes())


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
    """All saved tables with their texts, checked."""
    return len(vp.load(folder / "saved").votes)


def saved_by_pandas(folder: Path) -> int:
    """The votes alone, unchecked, as they are in the file."""
    import pandas as pd

    return len(pd.read_parquet(folder / "saved" / "votes.parquet"))


def saved_by_polars(folder: Path) -> int:
    """The votes alone, unchecked, as they are in the file."""
    import polars as pl

    return len(pl.read_parquet(folder / "saved" / "votes.parquet"))


def logs_by_us(folder: Path) -> int:
    """All tables of run logs, digests checked."""
    return len(vp.load(folder / "logs", progress=False).runs)


def logs_by_msgspec(folder: Path) -> None:
    """Parse the lines into dicts, no table, no check."""
    import msgspec

    for path in (folder / "logs").iterdir():
        for line in path.read_bytes().splitlines():
            msgspec.json.decode(line)


READERS: tuple[tuple[str, Callable[[Path], int], dict[str, Callable[[Path], int | None]]], ...] = (
    (
        "artifacts to all tables, every check",
        by_us,
        {
            "msgspec, no table, no check": by_msgspec,
            "pandas json_normalize, votes alone": by_json_normalize,
            "DuckDB, votes alone": by_duckdb,
        },
    ),
    (
        "saved tables, every check",
        saved_by_us,
        {"pandas, votes alone": saved_by_pandas, "polars, votes alone": saved_by_polars},
    ),
    ("run logs to all tables, digests checked", logs_by_us, {"msgspec, no table, no check": logs_by_msgspec}),
)
"""What is read, by us and by others."""


def engine(name: str, folder: str) -> tuple[Callable[[], int | None], Callable[[object], object]]:
    """Return a reader, and the rows that it finds, where they are the same for all."""
    return (lambda: globals()[name](Path(folder))), lambda rows: None if name.startswith("logs") else rows


def make_files(folder: Path, files: int) -> None:
    """Write artifacts, the saved tables of them, and folders of a tenth and a hundredth as many logs."""
    size = write_artifacts(folder / "runs", files)
    vp.load(folder / "runs", progress=False).save(folder / "saved")
    for logs in log_counts(files):
        (folder / str(logs) / "logs").mkdir(parents=True)
        for number in range(logs):
            shutil.copy(LOG, folder / str(logs) / "logs" / f"{number:04d}.jsonl")
    counts, log_size = " and ".join(f"{logs:,}" for logs in log_counts(files)), LOG.stat().st_size / 1e3
    print(f"{files:,} artifacts, {size / 1e6:.0f} MB, 52 votes each; {counts} logs of {log_size:.0f} kB", flush=True)


def log_counts(files: int) -> list[int]:
    """Return how many logs are read at once: many, for the rate, and few, where a fixed cost counts."""
    return sorted({max(1, files // 100), max(1, files // 10)})


def main() -> None:
    """Write the files, and time every reader."""
    files, stick = int(sys.argv[1]) if len(sys.argv) > 1 else FILES, {YARDSTICK: yardstick()}
    with tempfile.TemporaryDirectory() as folder:
        make_files(Path(folder), files)
        for name, ours, peers in READERS:
            is_logs = name.startswith("run logs")
            for n in log_counts(files) if is_logs else [files]:
                readers = [each.__name__ for each in (ours, *peers.values())]
                place = Path(folder, str(n)) if is_logs else folder
                found = measured("benchmarks.loading", readers, place, repeats=3)
                theirs = {peer: found[reader.__name__] for peer, reader in peers.items()} or stick
                report("loading", name, n, "logs" if is_logs else "files", found[ours.__name__], theirs)


if __name__ == "__main__":
    serve_or(main, engine)
