"""Run the benchmarks, and fail where a ratio fell by more than a fifth against `figures.csv`, which is committed.

`make bench` takes the usual sizes, `make bench-large` those that take minutes each; `make bench-table` writes the table
anew, and those of README.md from it. By hand: `python -m benchmarks.guard [--large] [--write] [BENCHMARK ...]`. A
benchmark with a fallen ratio runs once more; the better of both counts. All that fell, failed or is missing is listed.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import FIELDS, ROOT, TIME_AIMED_AT, VARIABLE, Figure, figure_of, read_figures

TABLE, README = ROOT / "benchmarks" / "figures.csv", ROOT / "benchmarks" / "README.md"
USUAL: dict[str, tuple[str, ...]] = {
    "classify": (),
    "datasets": ("--votes", "20000000", "--parts", "8", "--runs", "1000"),
    "loading": (),
    "inspect_logs": (),
    "start": (),
    "search_rules": (),
    "aggregate": (),
    "sweeps": (),
    "large_plan": (),
    "widgets": (),
    "live": ("1000",),
}
LARGE: dict[str, tuple[str, ...]] = {
    "classify": ("10000000",),
    "datasets": (),
    "search_rules": ("1000000",),
    "live": (),
}
"""Benchmarks and their arguments."""
MAX_FALL = 0.2
PACKAGES = ("numpy", "pandas", "pyarrow", "polars", "duckdb", "crowd-kit", "msgspec", "dask", "anthropic")


class Row(NamedTuple):
    """A figure of the committed table, and where it was measured."""

    figure: Figure
    sizes: str
    """`usual` or `large`."""
    date: str
    machine: str
    versions: str


def run(name: str, arguments: Sequence[str]) -> tuple[list[Figure], str]:
    """Return the figures of a benchmark, and how it failed, if it did."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "figures.csv"
        file.touch()
        command = [sys.executable, "-m", f"benchmarks.{name}", *arguments]
        code = subprocess.run(command, cwd=ROOT, env=os.environ | {VARIABLE: str(file)}, check=False).returncode
        return read_figures(file), f"{' '.join(command[1:])} ended with {code}" if code else ""


def better(first: Iterable[Figure], second: Iterable[Figure]) -> list[Figure]:
    """Return the better of two runs, figure by figure."""
    best = {figure.key: figure for figure in first}
    for figure in second:
        if figure.key not in best or figure.ratio > best[figure.key].ratio:
            best[figure.key] = figure
    return list(best.values())


def fallen(figures: Iterable[Figure], table: Iterable[Row]) -> list[str]:
    """Return a sentence for each figure of the table whose ratio is now more than a fifth less, or not measured."""
    found, sentences = {figure.key: figure for figure in figures}, []
    for was, _, date, *_ in table:
        if was.peer == TIME_AIMED_AT:  # which another machine may miss
            continue
        now = found.get(was.key)
        words = f"{was.name}, {was.n:,} {was.unit}, beside {was.peer}: ratio {was.ratio:.3g} on {date}"
        if now is None:
            sentences.append(f"{words}, not measured now")
        elif now.ratio < (1 - MAX_FALL) * was.ratio:
            sentences.append(f"{words}, {now.ratio:.3g} now")
    return sentences


def read_table(path: Path = TABLE) -> list[Row]:
    """Return the committed figures; none if there is no table yet."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return [Row(figure_of(row), *(row[name] for name in Row._fields[1:])) for row in csv.DictReader(file)]


def write_table(rows: Iterable[Row], path: Path = TABLE) -> None:
    """Write the figures, those of a benchmark together."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*FIELDS, *Row._fields[1:]])
        for row in sorted(rows, key=lambda row: (row.figure.benchmark, row.figure.n)):
            values = asdict(row.figure).values()
            writer.writerow([*(f"{v:.4g}" if isinstance(v, float) else v for v in values), *row[1:]])


def machine() -> str:
    """Return cores, processor and Python of this machine, and how busy others keep it."""
    info = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*: (.*)$", info.read_text(), re.MULTILINE) if info.exists() else []
    processor, python = models[0] if models else platform.machine(), platform.python_version()
    return f"{os.cpu_count()} cores of {processor}, load {os.getloadavg()[1]:.0f} before, Python {python}"


def versions() -> str:
    """Return the versions of those peers that are installed."""
    installed = {each.metadata["Name"]: each.version for each in importlib.metadata.distributions()}
    return ", ".join(f"{name} {installed[name]}" for name in PACKAGES if name in installed)


def markdown(rows: Sequence[Row]) -> str:
    """Return the figures of a benchmark as a table of Markdown, and where they were measured."""
    lines = [
        "| what | on | verifyplan | peer | its time | ratio | aim | memory, ours and theirs |",
        "|---|---|--:|---|--:|--:|---|--:|",
    ]
    for figure, *_ in rows:
        aim = "" if figure.aim is None else f"{figure.aim:.3g}, {'' if figure.ratio >= figure.aim else 'not '}reached"
        memory = " and ".join(f"{mb:,.0f}" for mb in (figure.peak_mb, figure.peer_peak_mb) if mb == mb)
        lines.append(
            f"| {figure.name} | {figure.n:,} {figure.unit} | {figure.seconds:.3g} s | {figure.peer} | "
            f"{figure.peer_seconds:.3g} s | {figure.ratio:.3g} | {aim} | {memory and memory + ' MB'} |"
        )
    where = sorted({(row.sizes, row.date, row.machine, row.versions) for row in rows}, reverse=True)
    lines += ["", *(f"The {sizes} sizes on {date}: {machine}; {packages}." for sizes, date, machine, packages in where)]
    return "\n".join(lines)


def with_tables(text: str, rows: Iterable[Row]) -> str:
    """Return the page with the tables made anew, each between `<!-- figures: BENCHMARK -->` and `<!-- end -->`."""
    by_benchmark: dict[str, list[Row]] = {}
    for row in rows:
        by_benchmark.setdefault(row.figure.benchmark, []).append(row)

    def table(found: re.Match[str]) -> str:
        own = by_benchmark.get(found[1], [])
        return f"<!-- figures: {found[1]} -->\n{markdown(own) if own else 'Not measured yet.'}\n<!-- end -->"

    return re.sub(r"<!-- figures: (\w+) -->\n.*?<!-- end -->", table, text, flags=re.DOTALL)


def main() -> None:
    """Run, compare or write, and end with 1 where something fell, failed or is missing."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument(
        "benchmarks",
        nargs="*",
        choices=[*USUAL, []],
        metavar="BENCHMARK",
        help=f"of {', '.join(USUAL)}; all unless named",
    )
    options.add_argument("--large", action="store_true", help="the sizes that take minutes")
    options.add_argument("--write", action="store_true", help="write figures.csv and the tables of README.md anew")
    options.add_argument("--tables", action="store_true", help="measure nothing: make the tables of README.md anew")
    chosen = options.parse_args()
    table, problems = read_table(), []
    sizes, wanted = ("large", LARGE) if chosen.large else ("usual", USUAL)
    for name in [] if chosen.tables else chosen.benchmarks or wanted:
        print(f"\n{name} {' '.join(wanted[name])}", flush=True)
        now = sizes, datetime.date.today().isoformat(), machine(), versions()
        figures, failure = run(name, wanted[name])
        own = [row for row in table if (row.figure.benchmark, row.sizes) == (name, sizes)]
        if failure:
            problems.append(failure)
        elif chosen.write:
            table = [row for row in table if row not in own] + [Row(figure, *now) for figure in figures]
            write_table(table)
        elif fallen(figures, own):
            print(f"\n{name} once more, as a ratio fell", flush=True)
            problems += fallen(better(figures, run(name, wanted[name])[0]), own)
    if chosen.write or chosen.tables:
        README.write_text(with_tables(README.read_text(), read_table()))
    if problems:
        raise SystemExit("\n".join(["", "Failed, or fell by more than a fifth:", *problems]))


if __name__ == "__main__":
    main()
