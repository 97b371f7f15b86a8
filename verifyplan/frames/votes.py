"""Read any long table of votes as a RunSet (rules E4, B7)."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.frames.codes import first_rows
from verifyplan.frames.columns import typed
from verifyplan.frames.own_words import own_truths, own_verdicts, told_of_pandas
from verifyplan.frames.runset import RunSet
from verifyplan.frames.scores import AgreesWhen, score_problems, verdicts_of_scores
from verifyplan.frames.table_shape import how_to_join, how_to_make_long, one_column_problem
from verifyplan.frames.ties import TIE, Ties, tied_sides, ties_problems
from verifyplan.frames.vote_checks import (
    FINDING,
    NEEDED,
    cite_places,
    finding_facts,
    row_name,
    run_modes,
    vote_problems,
)
from verifyplan.frames.vote_columns import standard_columns
from verifyplan.frames.vote_losses import with_losses_at
from verifyplan.protocol.vote import MODES
from verifyplan.rules.answers import read_mode, read_verdict
from verifyplan.text import counted, did_you_mean

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def from_votes(
    frame: pd.DataFrame,
    *,
    item: str,
    worker: str,
    verdict: str | None = None,
    score: str | None = None,
    threshold: float | None = None,
    agrees_when: AgreesWhen = "at-least",
    ties: Ties | None = None,
    basis: str | None = None,
    round: str | None = None,
    run: str | None = None,
    truth: str | None = None,
    explanation: str | None = None,
    mode: str | None = None,
    summary: str | None = None,
    category: str | None = None,
    discoverers: str | None = None,
    max_rounds: int | None = None,
    verdicts: Mapping[Any, str] | None = None,
    truths: Mapping[Any, bool | None] | None = None,
) -> RunSet:
    """Return any long table of votes, one row a vote, as a RunSet; arguments name columns, but for a few.

    Verdicts and bases are read in any case, with space, hyphen or underscore; verdicts may be labels, too (SURVIVES,
    REFUTED ...). A basis on a vote that is not a disagree is dropped, and spaces around ids and names do not count.
    Without `round` all votes are of round 1, without `run` of one run named `votes`; without `basis` none is known,
    which replays read by `missing_basis`. Columns that are not named are left out. A table has verdicts, or scores
    (probabilities, grades) that a threshold makes verdicts of.

    Args:
        frame: the table; it is not changed.
        item: the finding that is voted on.
        worker: who votes.
        verdict: agree, supplement, disagree, verification-error, a label of one, or `tie`, which `ties` reads.
        score: in place of `verdict`, a number, such as the probability that the finding is true; an empty cell is a
            verification error.
        threshold: with `score`, not a column: where agreeing begins. A score exactly there agrees. Refused
            outside 0 to 1 where all scores are inside.
        agrees_when: with `score`, not a column: scores agree that are `at-least` the threshold, or `at-most`, where
            low ones speak for the finding.
        ties: not a column: how a vote `tie` counts, and a score exactly at the threshold: `against` the finding, `for`
            it, `share` (for half of the ties, by a digest of the vote's key), `lost` (a verification error). Needed
            where a verdict is a tie; kept in `.runs` and named by every figure of these votes.
        basis: counter-evidence or burden-not-met, or empty.
        round: the round, from 1.
        run: the run.
        truth: whether the finding is true: booleans, 0 and 1, or true, yes, correct, right, valid and their opposites
            in any case; empty where it is not known.
        explanation: the worker's words.
        mode: `collaborative` or `adversarial`, of the whole table; or the column that says it of each run.
        summary: the claim.
        category: the kind of finding.
        discoverers: who found it, as a list or a text with semicolons or commas; their own votes are not tallied.
        max_rounds: rounds that the runs allowed; by default the highest that each has.
        verdicts: words of your own and their verdicts, such as `{"yes": "agree", "no": "disagree"}`;
            `""` is an empty cell, such as that of a lost call: `{"": "verification-error"}`.
        truths: words of your own in the column `truth` and what each says of the finding, such as
            `{"holds": True, "broken": False, "unclear": None}`.

    A table whose `attrs["synthetic"]` is true gives runs that are marked as synthetic.
    What a table says of a finding (truth, summary, category, discoverers) and of a run (mode) must be the same in all
    its rows, empty ones aside. Raises TableError listing every column that is absent and every value that does not fit.

    >>> table = pd.DataFrame(
    ...     {"claim": [1, 1], "judge": ["a", "b"], "says": ["yes", "REFUTED"]}
    ... )
    >>> runs = from_votes(table, item="claim", worker="judge", verdict="says", mode="adversarial",
    ...     verdicts={"yes": "agree"})
    >>> (
    ...     runs.votes["verdict"].tolist(),
    ...     runs.findings["finding_id"].tolist(),
    ...     runs.runs["mode"].tolist(),
    ... )
    (['agree', 'disagree'], ['1'], ['adversarial'])
    >>> table = pd.DataFrame(
    ...     {"claim": [1, 1, 2], "judge": ["a", "b", "a"], "p": [0.9, 0.2, None]}
    ... )
    >>> runs = from_votes(table, item="claim", worker="judge", score="p", threshold=0.5)
    >>> runs.votes["verdict"].tolist()
    ['agree', 'disagree', 'verification-error']
    """
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    whole_table = None if mode is None else read_mode(mode)
    named = {
        "finding_id": item, "worker": worker, "verdict": score if verdict is None else verdict,
        "disagree_basis": basis, "round": round,
        "run_id": run, "truth": truth, "explanation": explanation, "summary": summary, "category": category,
        "discoverers": discoverers, "mode": None if whole_table else mode,
    }  # fmt: skip
    words, problems = own_verdicts(verdicts)
    true_words, truth_problems = own_truths(truths, "votes: truths")
    problems += truth_problems
    problems += [
        *score_problems(verdict, score, threshold, agrees_when, verdicts), *ties_problems(ties),
        *_absent_columns(frame, named, "verdict" if score is None else "score"), *_round_limit_problems(max_rounds),
    ]  # fmt: skip
    columns = {standard: frame[name] for standard, name in named.items() if _is_column(name, frame)}
    if score is not None and threshold is not None and not problems:
        columns["verdict"], problems = verdicts_of_scores(frame[score], threshold, agrees_when, ties)
    if problems:
        raise TableError(problems)
    votes, reading = _with_ties(standard_columns(pd.DataFrame(columns).reset_index(drop=True), words), ties)
    problems = [*_wrong_workers(votes, item, worker), *vote_problems(votes, partial(row_name, frame))]
    finding, first = _findings(votes)
    facts, fact_problems = finding_facts(votes, finding, len(first), true_words)
    modes, mode_problems = run_modes(votes, whole_table, mode)
    late = [] if problems or max_rounds is None else [*_late_rounds(votes, max_rounds)]
    if problems := [*problems, *fact_problems, *mode_problems, *late]:
        raise TableError(_with_own_name(told_of_pandas(problem, verdicts), named) for problem in problems)
    if problems := [*_repeated_votes(votes, finding)]:
        raise TableError(problems)
    bases = votes["disagree_basis"].where(votes["verdict"].eq("disagree"), None)  # as in a live run: none elsewhere
    votes = votes.assign(round=pd.to_numeric(votes["round"]).astype("Int64"), disagree_basis=bases)
    synthetic, ties = bool(frame.attrs.get("synthetic", False)), reading or frame.attrs.get("ties")
    return _runset(votes, finding, first, facts, modes, max_rounds, synthetic=synthetic, ties=ties)


def _is_column(name: object, frame: pd.DataFrame) -> bool:
    return name is not None and isinstance(name, Hashable) and name in frame


_KEY = ["run_id", "finding_id", "round", "worker"]


def _with_ties(votes: pd.DataFrame, ties: Ties | None) -> tuple[pd.DataFrame, Ties | None]:
    """Return votes whose ties are read, and the reading where there were any; TableError where none is named."""
    if TIE not in votes["verdict"].cat.categories:
        return votes, None
    tied = votes["verdict"].eq(TIE).to_numpy(dtype=bool)
    if ties is None:
        raise TableError(ties_problems(ties, int(tied.sum())))
    verdicts = votes["verdict"].astype("object")
    keys = votes.loc[tied].rename(columns={"finding_id": "item"})
    verdicts[tied] = tied_sides(ties, keys, ("agree", "disagree", "verification-error"))
    return votes.assign(verdict=verdicts.astype("category")), ties


_ARGUMENTS = {"finding_id": "item", "disagree_basis": "basis", "run_id": "run"}


def _absent_columns(frame: pd.DataFrame, named: Mapping[str, str | None], verdict: str) -> Iterator[Problem]:
    if problem := one_column_problem(frame):
        yield problem
        return
    counts, used = frame.columns.value_counts(), [name for name in named.values() if isinstance(name, str)]
    for standard, name in named.items():
        argument = verdict if standard == "verdict" else _ARGUMENTS.get(standard, standard)
        if not isinstance(name, Hashable):
            fix = f"name one of its columns: {one_of(frame.columns)}{how_to_join(frame, name, verdict)}"
            yield Problem(f"votes: {argument}", f"must be the name of a column, got a {type(name).__name__}", fix)
            continue
        count = 1 if name is None else counts.get(name, 0)
        if count == 1:
            continue
        near = did_you_mean(name, [*frame.columns, *(MODES if argument == "mode" else ())])
        message = f"there are {count} columns {name!r}" if count else f"there is no column {name!r}{near}"
        modes = f"write {one_of(MODES)}, or " if argument == "mode" else ""
        long = how_to_make_long(frame, used, verdict) if argument == "worker" and not count else ""
        yield Problem(f"votes: {argument}", message, f"{modes}name one of its columns: {one_of(frame.columns)}{long}")


def _wrong_workers(votes: pd.DataFrame, item: str, worker: str) -> Iterator[Problem]:
    """Yield what cannot be who votes: the column of the items, or verdicts."""
    fix = "name the column of who votes; of a table with a column a worker, which has none, make a row a vote by melt"
    workers = list(votes["worker"].cat.categories)
    if item == worker:
        yield Problem("votes: worker", f"names {worker!r}, as item does", fix)
    elif workers and all(map(read_verdict, workers)):
        yield Problem("votes: worker", f"holds {one_of(workers[:4])}, which are verdicts", fix)


def _with_own_name(problem: Problem, named: Mapping[str, str | None]) -> Problem:
    """Return a problem with the name that its column has in the table, where no argument has that of the problem."""
    standard = problem.place.removeprefix("votes: column ")
    own = named.get(standard) if standard in _ARGUMENTS else None
    return problem if own in (None, standard) else replace(problem, message=f"{problem.message} (your column {own!r})")


def _round_limit_problems(max_rounds: object) -> Iterator[Problem]:
    whole = isinstance(max_rounds, int | np.integer) and not isinstance(max_rounds, bool) and max_rounds >= 1
    if max_rounds is not None and not whole:
        message = f"must be an integer of at least 1, got {max_rounds!r}"
        yield Problem("votes: max_rounds", message, "give the rounds that the runs allowed, or leave it out")


def _late_rounds(votes: pd.DataFrame, max_rounds: int) -> Iterator[Problem]:
    """Yield that there are votes of a round beyond those that were allowed."""
    highest = pd.to_numeric(votes["round"]).max()
    if highest > max_rounds:
        message = f"is {max_rounds}, but the table has votes of round {int(highest)}"
        yield Problem("votes: max_rounds", message, f"give at least {int(highest)}; compare and replay take fewer")


def _repeated_votes(votes: pd.DataFrame, finding: Ints) -> Iterator[Problem]:
    rounds, distinct = pd.factorize(pd.to_numeric(votes["round"]))
    worker = votes["worker"].cat
    cell = (finding * len(distinct) + rounds) * len(worker.categories) + worker.codes.to_numpy()
    if (cell[1:] > cell[:-1]).all():
        return
    again = pd.Series(cell).duplicated()
    if again.any():
        first = ", ".join(f"{name} {votes.loc[again, name].iloc[0]}" for name in _KEY)
        verb = "repeats" if again.sum() == 1 else "repeat"
        message = f"{counted(int(again.sum()), 'row')} {verb} the key of another, the first at {first}"
        fix = (
            "name the column of the round or run, as round='round' or run='run'; if the table holds several conditions "
            "(modes, prompts), make runs of each: "
            "{name: from_votes(rows, ...) for name, rows in table.groupby('condition')}; "
            "only if a vote really is there twice, drop one"
        )
        yield Problem("votes: worker", message, fix)


def _runset(
    votes: pd.DataFrame,
    finding: Ints,
    first: Ints,
    facts: Mapping[str, Any],
    modes: pd.Series[Any],
    max_rounds: int | None,
    *,
    synthetic: bool,
    ties: Ties | None,
) -> RunSet:
    """Return the tables of checked votes, of which `finding` numbers the finding and `first` is its first row."""
    n_rounds = np.zeros(len(first), dtype=np.int64)
    np.maximum.at(n_rounds, finding, votes["round"].to_numpy(dtype=np.int64))
    findings = votes[FINDING].iloc[first].reset_index(drop=True).assign(n_rounds=n_rounds)
    runs = _runs(findings, modes, max_rounds, synthetic=synthetic).assign(ties=ties)
    findings = findings.assign(**facts)
    known = "discoverers" in findings and bool(findings["discoverers"].notna().any())
    if known:
        named = [names if isinstance(names, tuple) else () for names in findings["discoverers"]]
        findings["origin_worker"] = [names[0] if names else None for names in named]
        findings["discoverers"] = [list(names) for names in named]
    for name in ("ticket_ids", "consensus_workers", "dissenting_workers", *(() if known else ("discoverers",))):
        findings[name] = _empty_lists(len(findings))
    votes, findings = (table.astype(dict.fromkeys(FINDING, "str")) for table in (votes, findings))
    own = _own_votes(findings["discoverers"], finding, votes["worker"]) if known else False
    uncited = votes["disagree_basis"].eq("counter-evidence").to_numpy(dtype=bool, copy=True)
    uncited[uncited] = ~cite_places(votes.loc[uncited, "explanation"])
    votes = votes[[*NEEDED, "explanation"]].assign(
        worker=votes["worker"].astype("str"), iteration=0, uncited=uncited, is_origin=own
    )
    values = {"runs": runs, "findings": findings, "votes": votes}
    tables = {name: typed(name, table, keys_checked=True) for name, table in values.items()}
    return RunSet(**tables | {"findings": with_losses_at(**tables, finding=finding)})


def _own_votes(discoverers: pd.Series[Any], finding: Ints, workers: pd.Series[Any]) -> Bools:
    """Return whether each vote is of a worker who is among the discoverers of its finding."""
    lists, names = discoverers.tolist(), workers.cat.categories
    worker = names.get_indexer(pd.Index([name for found in lists for name in found], dtype="str"))
    pairs = np.repeat(np.arange(len(lists)), [len(found) for found in lists]) * len(names) + worker
    return np.isin(finding * len(names) + workers.cat.codes.to_numpy(), pairs[worker >= 0])


def _runs(findings: pd.DataFrame, modes: pd.Series[Any], max_rounds: int | None, *, synthetic: bool) -> pd.DataFrame:
    """Return the runs of findings with `run_id`, as categories in order of appearance, and `n_rounds`."""
    codes, names = findings["run_id"].cat.codes.to_numpy(), findings["run_id"].cat.categories
    rounds = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(rounds, codes, findings["n_rounds"].to_numpy())
    runs = pd.DataFrame({"run_id": names, "kind": "votes", "total_rounds": rounds})
    return runs.assign(
        mode=runs["run_id"].map(modes),
        max_rounds=max_rounds,
        effective_max_rounds=rounds if max_rounds is None else max_rounds,
        n_findings=np.bincount(codes, minlength=len(names)),
        log=False,
        synthetic=synthetic or None,
    )


def _empty_lists(n: int) -> npt.NDArray[Any]:
    """Return a column of empty lists, which are one list, as equal lists are in tables that are loaded.

    Put another list in place of it, and do not append to it: that would change all rows. A list for each of 200,000
    rows would take 44 ms of CPU and 13 MB a column; one list takes 0.4 ms and 1.6 MB.
    """
    lists = np.empty(1, dtype="object")
    lists[0] = []
    return lists.repeat(n)


def _findings(votes: pd.DataFrame) -> tuple[Ints, Ints]:
    """Return the number of each vote's finding, in order of appearance, -1 for none, and each finding's first row."""
    run, item = (votes[name].cat for name in FINDING)
    runs, items = run.codes.to_numpy(dtype=np.int64), item.codes.to_numpy(dtype=np.int64)
    cell, known = pd.Series(runs * len(item.categories) + items), (runs >= 0) & (items >= 0)
    number = np.asarray(pd.factorize(cell.astype("Int64").where(known))[0], dtype=np.int64)
    return number, first_rows(number)
