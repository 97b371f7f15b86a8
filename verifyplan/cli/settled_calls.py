"""The calls that `rules search --settle` plans: files of them, and the commands that ask for them and search again."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from verifyplan.analysis.voters import roster_of
from verifyplan.files import replacing
from verifyplan.frames.bundled import is_bundled, path
from verifyplan.frames.csv_tables import write_csv
from verifyplan.frames.runset import RunSet
from verifyplan.frames.table_files import read_table
from verifyplan.protocol.vote import MODES
from verifyplan.text import counted

PLANS = ("csv", "json")
"""Formats of a plan of calls, which `crossverify --only` reads."""

_UNKNOWN = "FINDINGS.csv"
"""Stands in a command for the file of findings, where that is not known."""


@dataclass(frozen=True)
class SearchedRuns:
    """The options that the searched runs were read by, for the commands that follow."""

    runs: list[str]
    truth: Path | None
    added: str
    """The folder of supplementary runs."""
    same: Sequence[tuple[str, object]]
    """Other options of the search, which hold for the next one."""

    @property
    def findings(self) -> str:
        """The file of the findings that were voted on: of a bundled set, that of the truth, or an unknown one."""
        claims = [path(name.partition("/")[0]) / "claims.csv" for name in self.runs if is_bundled(name)]
        if self.truth is not None and "summary" in read_table(self.truth):
            claims.append(self.truth)
        return next((str(each) for each in claims if each.is_file()), _UNKNOWN)

    @property
    def next_search(self) -> str:
        """The command that searches with the votes of supplementary runs beside the recorded ones."""
        options = [("--add", self.added), ("--truth", self.truth), *self.same]
        words = [word for name, value in options if value is not None for word in (name, str(value))]
        return _command("rules", "search", *self.runs, *words)


def settled_lines(plan: pd.DataFrame, runs: RunSet, searched: SearchedRuns, path: Path, quality: str) -> Iterator[str]:
    """Write a plan of votes, a file for each mode, and yield what was written and which commands come next."""
    if plan.empty:
        yield "no call to plan: votes that were never cast leave no bound of the frontier open"
        return
    narrows = f"{100 * plan['narrows'].sum():.1f} points of {quality}"
    yield f"{counted(len(plan), 'vote')} to ask for, expected to narrow the bounds of the frontier by {narrows}"
    modes = runs.runs.set_index("run_id")["mode"].astype("object").fillna(MODES[0])
    by_mode = plan.groupby(plan["run_id"].map(modes).to_numpy(), sort=False)
    for mode, votes in by_mode:
        target = path if by_mode.ngroups == 1 else path.with_stem(f"{path.stem}-{mode}")
        yield f"calls: {write_table(votes, target)} ({_size(votes)})"
        asked = ["--workers", ",".join(roster_of(runs)), "--mode", str(mode), "--max-rounds", str(votes["round"].max())]
        yield _command("crossverify", searched.findings, *asked, "--only", str(target), "--log-dir", searched.added)
    yield searched.next_search
    yield (
        "add --repo DIR where cited evidence lies in another folder; --model MODEL where workers are models; "
        "write NAME=CHECKER for a worker that plays a checker of another name"
    )
    if searched.findings == _UNKNOWN:
        yield f"{_UNKNOWN}: the findings that were voted on (finding_id, summary, evidence, worker)"


def _size(votes: pd.DataFrame) -> str:
    return f"{counted(len(votes), 'vote')} of {counted(votes['run_id'].nunique(), 'run')}"


def _command(*words: str) -> str:
    return f"  {shlex.join(['verifyplan', *words])}"


def write_table(table: pd.DataFrame, path: Path) -> Path:
    """Write a table in the format that the suffix of the path names, and return the path."""
    if suffix_of(path) not in ("parquet", "json"):
        return write_csv(table, path)
    with replacing(path) as temporary:
        if suffix_of(path) == "parquet":
            table.to_parquet(temporary, index=False)
        else:
            table.to_json(temporary, orient="records", indent=2, force_ascii=False)
    return path


def suffix_of(path: Path) -> str:
    """Return the suffix of a path in small letters, without its dot."""
    return path.suffix.lower().removeprefix(".")
