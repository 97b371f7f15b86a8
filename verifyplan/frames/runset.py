"""Sets of runs as tables that belong together: selected, joined, indexed, saved (rule E4)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, partial
from html import escape
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from verifyplan.errors import InputError, Problem, one_of
from verifyplan.field_docs import with_field_docs
from verifyplan.frames.columns import FIRST_TABLES, TABLES, as_text, empty, typed
from verifyplan.frames.csv_tables import write_csv
from verifyplan.frames.cut_notes import note_cut_rounds
from verifyplan.frames.cut_rounds import cut_findings
from verifyplan.frames.few_votes import notes_on_few_votes
from verifyplan.frames.own_words import as_truth
from verifyplan.frames.reply_flags import with_flags
from verifyplan.frames.run_notes import (
    failure_counts,
    note_added,
    note_supplementary,
    note_unnamed_mode,
    notes_broken_off,
)
from verifyplan.frames.saved_tables import write_tables
from verifyplan.frames.table_files import TRUTH_COLUMNS, Truth, truth_table
from verifyplan.frames.vote_losses import note_absent_votes, with_losses
from verifyplan.rules.failed_calls import failed_words
from verifyplan.text import counted, did_you_mean

TABLE_NAMES = tuple(TABLES)
_OVERVIEW_COLUMNS = {
    "every": ("run_id", "kind"),
    "cross": ("mode", "verification_mode", "n_findings", "total_rounds", "final_state"),
    "votes": ("mode", "n_findings", "total_rounds"),
    "plan": ("plan_name", "policy", "n_iterations", "plan_status", "plan_verdict", "strong", "score"),
    "debate": ("debate_turns", "debate_status", "debate_reason"),
    "last": ("backend", "finished", "synthetic"),
}
"""The columns of `.runs` that say what a run is and how it ended, by its kind."""


@cache
def _no_errors() -> pd.DataFrame:
    return pd.DataFrame({"source": [], "place": [], "message": [], "fix": []}, dtype="str")


def no_errors() -> pd.DataFrame:
    """Return an empty table of problems of loading."""
    return _no_errors().copy(deep=False)


def table_sizes(counts: Mapping[str, int], rounds_of_votes: int = 0) -> str:
    """Return how many rows each table has: the first five, and others that have some; or in how many rounds votes are.

    >>> table_sizes({"runs": 1, "findings": 1200, "votes": 2400, "rounds": 0, "dispatches": 1, "scores": 0})
    '1 run, 1,200 findings, 2,400 votes, 0 rounds, 1 dispatch'
    >>> table_sizes({"runs": 1, "findings": 1200, "votes": 2400, "rounds": 0, "dispatches": 0}, rounds_of_votes=2)
    '1 run, 1,200 findings, 2,400 votes in 2 rounds'
    """
    sizes = {
        name: f"{n:,} {_SINGULAR.get(name, name.removesuffix('s')) if n == 1 else name}"
        for name, n in counts.items()
        if n or (name in FIRST_TABLES and not rounds_of_votes)
    }
    if rounds_of_votes:
        sizes["votes"] += f" in {counted(rounds_of_votes, 'round')}"
    return ", ".join(sizes.values())


_SINGULAR = {"dispatches": "dispatch"}


@with_field_docs
@dataclass(frozen=True, eq=False)
class RunSet:
    """Any number of runs as tables, and what `load` left out in `.errors`; `documentation(name)` explains a table.

    `.runs .findings .votes .rounds .dispatches` are filled by runs of every kind, `.calls .turns .attempts .tools` by
    those that were read from their logs, `.iterations .challenges .challenge_history .unknowns .contexts .risks .scores
    .sections .budgets` by plan runs, `.messages` by debates. `.overview()` has a line a run. The tables are yours
    to look at; functions that take a RunSet never change them. Rows may share a list: change none in place.
    """

    runs: pd.DataFrame = field(default_factory=partial(empty, "runs"))
    """One row a run: its kind, settings, outcome and size."""
    findings: pd.DataFrame = field(default_factory=partial(empty, "findings"))
    """One row a finding: its claim, evidence, discoverers, class and, where known, truth."""
    votes: pd.DataFrame = field(default_factory=partial(empty, "votes"))
    """One row a vote: its verdict, basis and explanation."""
    rounds: pd.DataFrame = field(default_factory=partial(empty, "rounds"))
    """One row a round of votes: its queue, and why it was skipped."""
    dispatches: pd.DataFrame = field(default_factory=partial(empty, "dispatches"))
    """One row a worker and round: whether it answered, and how long it took."""
    iterations: pd.DataFrame = field(default_factory=partial(empty, "iterations"))
    """One row an iteration of a plan run: the counts that decide, and the ruling."""
    challenges: pd.DataFrame = field(default_factory=partial(empty, "challenges"))
    """One row a challenge as it ended: severity, status, evidence, resolution."""
    challenge_history: pd.DataFrame = field(default_factory=partial(empty, "challenge_history"))
    """One row a change of a challenge: raised, admitted, merged, settled, refused."""
    unknowns: pd.DataFrame = field(default_factory=partial(empty, "unknowns"))
    """One row an open question of a plan, and its answer."""
    contexts: pd.DataFrame = field(default_factory=partial(empty, "contexts"))
    """One row a piece of context that research surfaced."""
    risks: pd.DataFrame = field(default_factory=partial(empty, "risks"))
    """One row a risk that was probed."""
    scores: pd.DataFrame = field(default_factory=partial(empty, "scores"))
    """One row a score of a plan: dimension, who gave it, whether it was refused."""
    sections: pd.DataFrame = field(default_factory=partial(empty, "sections"))
    """One row a section of a plan, and the challenges that cite it."""
    budgets: pd.DataFrame = field(default_factory=partial(empty, "budgets"))
    """One row an agent, iteration and tool: calls used, and the ceiling."""
    calls: pd.DataFrame = field(default_factory=partial(empty, "calls"))
    """One row a call of an agent: time, tokens, cost, failure."""
    turns: pd.DataFrame = field(default_factory=partial(empty, "turns"))
    """One row an exchange with a model within a call."""
    attempts: pd.DataFrame = field(default_factory=partial(empty, "attempts"))
    """One row an HTTP request of a turn: status, waits, bytes, what a lost answer may have cost."""
    tools: pd.DataFrame = field(default_factory=partial(empty, "tools"))
    """One row a tool call: what was looked up, what was refused."""
    messages: pd.DataFrame = field(default_factory=partial(empty, "messages"))
    """One row a message of a debate."""
    errors: pd.DataFrame = field(default_factory=no_errors)
    """One row a problem of a lenient load: source, place, message, fix."""

    def __len__(self) -> int:
        """Return the number of runs."""
        return len(self.runs)

    def __repr__(self) -> str:
        """Return the sizes of the tables; of those that not every run fills, only the ones that have rows.

        Where votes came as a table, rounds are those of the votes: what else happened in them is not known.
        """
        counts = {name: len(getattr(self, name)) for name in TABLE_NAMES}
        is_table = counts["votes"] and not counts["rounds"]
        sizes = table_sizes(counts, self.votes["round"].nunique() if is_table else 0)
        errors = f", {counted(len(self.errors), 'error')}" if len(self.errors) else ""
        return f"RunSet({sizes}{errors})"

    def __str__(self) -> str:
        """Return the sizes, and notes: failed calls, rounds cut off, few votes, supplementary runs, and more."""
        failed = failed_words(*failure_counts(self.calls))
        cut = cut_findings(self.runs, self.findings, self.votes)
        notes = (
            failed and f"{failed}.",
            *notes_broken_off(self.runs, self.calls),
            note_cut_rounds(self.findings, cut),
            *notes_on_few_votes(self.runs, self.findings[cut.isna()]),
            note_unnamed_mode(self.runs),
            note_absent_votes(self.runs, self.findings, self.votes),
            note_supplementary(self.runs),
            note_added(self.runs),
        )
        return "\n".join([repr(self), *(f"note: {note}" for note in notes if note)])

    def _repr_html_(self) -> str:
        """Return the sizes, and the first runs; every text is shown as text."""
        return f"<p>{escape(str(self))}</p>{self.overview().to_html(index=False, max_rows=8)}"

    def overview(self) -> pd.DataFrame:
        """Return the columns of `.runs` that say what the runs are and how they ended.

        Columns of other kinds of runs, and those without a value, are left out; `.runs` has them all.

        >>> RunSet().overview().columns.tolist()
        ['run_id']
        """
        kinds = {"every", "last", *self.runs["kind"].dropna()}
        names = dict.fromkeys(name for kind, columns in _OVERVIEW_COLUMNS.items() if kind in kinds for name in columns)
        return self.runs[[name for name in names if name == "run_id" or self.runs[name].notna().any()]]

    def votes_by_part(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield columns of the votes, part by part where these are parts of a dataset; names can be categoricals.

        >>> [len(votes) for votes in RunSet().votes_by_part(["worker"])]
        [0]
        """
        yield self.votes[list(columns)]

    def explanations(self) -> pd.Series[Any]:
        """Return the words of the votes, discoverers' own left out."""
        cast = ~self.votes["is_origin"].fillna(False).to_numpy(dtype=bool)
        return self.votes["explanation"][cast].reset_index(drop=True)

    def select(self, chosen: Callable[[pd.DataFrame], Any] | str | Iterable[str]) -> RunSet:
        """Return only some runs, in all tables: by run ids, or by a function from `.runs` to a boolean column.

        `runs.select(lambda r: r["mode"] == "adversarial")`. Raises InputError for ids that are not there, and for
        a function that does not say true or false of each run.
        """
        wanted = self.wanted_runs(chosen)
        tables: dict[str, pd.DataFrame] = {name: getattr(self, name) for name in TABLE_NAMES}
        rows = {name: table["run_id"].isin(wanted) for name, table in tables.items()}
        return replace(self, **{name: table[rows[name]].reset_index(drop=True) for name, table in tables.items()})

    def wanted_runs(self, chosen: Callable[[pd.DataFrame], Any] | str | Iterable[str]) -> set[str]:
        """Return the ids of the runs that `select` keeps; raises as it does."""
        if callable(chosen):
            return set(self.runs.loc[self._mask(chosen(self.runs)), "run_id"])
        wanted = {chosen} if isinstance(chosen, str) else set(chosen)
        absent = sorted(map(str, wanted - set(self.runs["run_id"])))
        if absent:
            have = ", ".join(self.runs["run_id"].head(8)) or "none"
            fix = f"use one of: {have}"
            known = self.runs["run_id"].head(1000).tolist()
            raise InputError(
                Problem("run_id", f"{name!r} is not in this set{did_you_mean(name, known)}", fix) for name in absent
            )
        return wanted

    def _mask(self, answer: Any) -> pd.Series[bool]:
        """Return the answer of a function of `.runs` as a boolean for each run; InputError if it is none."""
        try:
            mask = pd.Series(answer, dtype=None if hasattr(answer, "dtype") else "object").astype("boolean")
        except (TypeError, ValueError):
            mask = pd.Series(dtype="boolean")
        misplaced = isinstance(answer, pd.Series) and not answer.index.equals(self.runs.index)
        if len(mask) != len(self.runs) or misplaced:
            fix = "give a boolean for each row of .runs, as r['mode'] == 'adversarial' does"
            raise InputError(Problem("select", "the function does not say true or false of each run", fix))
        return mask.fillna(False).astype(bool).set_axis(self.runs.index)

    def with_truth(self, truth: Truth, truths: Mapping[Any, bool | None] | None = None) -> RunSet:
        """Return the same runs with `findings.truth` filled by finding id; findings not named keep theirs.

        `truth` maps finding ids to booleans, or is a table with `finding_id` and `truth`, in which a finding may
        be in several rows if they agree; with a `run_id`, a row is about that run's finding alone. It may be the path
        of a file that holds either: CSV, Parquet or JSON. `truths` are words of your own for truth, as in
        `from_votes`. Raises InputError where rows do not agree, or none is about these runs.
        """
        table = truth_table(truth)
        absent = [name for name in TRUTH_COLUMNS if name not in table]
        if absent:
            fix = f"give a table with the columns finding_id and truth; this has {one_of(table.columns[:12])}"
            raise InputError(Problem("truth", f"there is no column {name!r}", fix) for name in absent)
        if "run_id" in table:
            return self._with_truth_by_run(table, truths)
        pairs = pd.DataFrame(
            {"finding_id": as_text(table["finding_id"]), "truth": as_truth(table["truth"], "truth", truths)}
        )
        pairs = pairs.dropna().drop_duplicates()
        twice = pairs.loc[pairs["finding_id"].duplicated(), "finding_id"]
        if len(twice):
            message = f"{twice.iloc[0]!r} is both true and false"
            raise InputError(Problem("truth", message, "keep one truth for each finding"))
        if len(pairs) and not self.findings["finding_id"].isin(pairs["finding_id"]).any():
            first = pairs["finding_id"].iloc[0]
            message = f"no id of its {counted(len(pairs), 'finding')} is in these runs; the first is {first!r}"
            fix = f"use the ids of the runs, such as {', '.join(self.findings['finding_id'].head(3)) or 'none'}"
            raise InputError(Problem("truth", message, fix))
        filled = self.findings["finding_id"].map(pairs.set_index("finding_id")["truth"]).astype("boolean")
        return replace(self, findings=self.findings.assign(truth=filled.fillna(self.findings["truth"])))

    def _with_truth_by_run(self, table: pd.DataFrame, truths: Mapping[Any, bool | None] | None) -> RunSet:
        """Return the same runs with the truth of each run's rows; runs that the table does not name keep theirs."""
        named = as_text(table["run_id"])
        parts = []
        for run_id in self.runs["run_id"]:
            run = self.select([run_id])
            rows = table[named.eq(run_id).to_numpy(dtype=bool)].drop(columns="run_id")
            parts.append((run.with_truth(rows, truths) if len(rows) else run).findings)
        if not named.isin(self.runs["run_id"]).any():
            fix = f"use the run ids of these runs, such as {', '.join(self.runs['run_id'].head(3)) or 'none'}"
            raise InputError(Problem("truth", "no run_id in it is one of these runs", fix))
        return replace(self, findings=pd.concat(parts, ignore_index=True))

    def save(self, folder: str | Path) -> Path:
        """Write the tables as Parquet into a folder, one file each; `load` reads the folder again.

        Each file is written whole or not at all. To read some columns of one, use
        `pandas.read_parquet(folder / "votes.parquet", columns=[...])`. Raises InputError for the name of a file.
        """
        write_tables({name: getattr(self, name) for name in TABLE_NAMES}, Path(folder))
        return Path(folder)

    def save_csv(self, folder: str | Path, *, raw: bool = False) -> Path:
        """Write the tables as CSV into a folder, one file each; lists are joined by semicolons.

        Texts that a spreadsheet would run as formulas (`=`, `+`, `-`, `@`) get an apostrophe in front, and escape codes
        are spelled out; the command line, `with_truth` and `crossverify` undo both where they read a CSV file. With
        `raw`, texts are written as they are.
        """
        for name in TABLE_NAMES:
            frame: pd.DataFrame = getattr(self, name)
            lists = [column.name for column in TABLES[name] if column.kind == "names"]
            joined = {column: frame[column].map("; ".join, na_action="ignore") for column in lists}
            write_csv(frame.assign(**joined), Path(folder) / f"{name}.csv", raw=raw)
        return Path(folder)


def concat(sets: Iterable[RunSet]) -> RunSet:
    """Return several RunSets as one, in the order given.

    Raises TableError if two hold a run of the same id, InputError if there is none to join.

    >>> import verifyplan as vp
    >>> sets = ("contract", "stdlib-claims/adversarial")
    >>> len(vp.concat([vp.datasets.runs(name) for name in sets]))
    27
    """
    every = list(sets)
    if not every:
        raise InputError(Problem("concat", "there is nothing to join", "give at least one RunSet"))
    names = [f.name for f in fields(RunSet)]
    joined = {name: pd.concat([getattr(runs, name) for runs in every], ignore_index=True) for name in names}
    tables = {name: typed(name, joined[name]) for name in TABLE_NAMES}
    tables["calls"] = with_flags(tables["calls"], tables["turns"], tables["votes"])
    return RunSet(**tables, errors=joined["errors"])


ColumnLists = Mapping[str, Sequence[Any]]
"""Columns of a table, all of the same length; none if it has no rows."""
TableLists = Mapping[str, ColumnLists]
"""The columns of one run, by table; a table that is not named has no rows."""


def assemble(parts: Iterable[TableLists]) -> RunSet:
    """Return the tables of several runs as one RunSet, in the order given; raises TableError if two share a run id."""
    gathered: dict[str, list[ColumnLists]] = defaultdict(list)
    for part in parts:
        for name, lists in part.items():
            gathered[name] += [lists] if any(lists.values()) else []
    runs = RunSet(**{name: typed(name, _columns(name, parts)) for name, parts in gathered.items()})
    calls = with_flags(runs.calls, runs.turns, runs.votes)
    return replace(runs, calls=calls, findings=with_losses(runs.runs, runs.findings, runs.votes))


def _columns(table: str, parts: Sequence[ColumnLists]) -> dict[str, list[Any]]:
    """Return the declared columns of several runs; a run that lacks one that another has, has its default."""
    named = set[str]().union(*parts)
    sizes = [len(next(iter(part.values()))) for part in parts]
    made: dict[str, list[Any]] = {}
    for column in TABLES[table]:
        if column.name in named:
            absent = [None if column.default is pd.NA else column.default]
            lists = (part.get(column.name, absent * size) for part, size in zip(parts, sizes, strict=True))
            made[column.name] = list(chain.from_iterable(lists))
    return made


def mark_synthetic(table: pd.DataFrame, runs: RunSet) -> pd.DataFrame:
    """Return the table with `attrs["synthetic"]`: whether any of its runs had generated findings or votes."""
    table.attrs["synthetic"] = bool(runs.runs["synthetic"].fillna(False).any())
    return table
