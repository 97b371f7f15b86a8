"""Any long table of votes as a RunSet (rules E4, B7)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from verifyplan.errors import Problem, TableError, expect, one_of
from verifyplan.frames.columns import as_text, typed
from verifyplan.frames.runset import RunSet
from verifyplan.frames.support import with_losses
from verifyplan.frames.vote_checks import FINDING, NEEDED, finding_facts, run_modes, vote_problems
from verifyplan.protocol.vote import MODES, VERDICTS, Verdict, read_basis, read_mode, read_verdict
from verifyplan.rules.citations import cites_location
from verifyplan.text import did_you_mean


def from_votes(
    frame: pd.DataFrame,
    *,
    item: str,
    worker: str,
    verdict: str,
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
) -> RunSet:
    """Any long table of votes, one row a vote, as a RunSet; each argument but the last two names a column.

    Verdicts and bases are read in any case, with space, hyphen or underscore; verdicts may be labels, too (SURVIVES,
    REFUTED ...). A basis on a vote that is no disagree is dropped, and spaces around ids and names do not count.
    Without `round` all votes are of round 1, without `run` of one run named `votes`; without `basis` none is known,
    which replays read by `missing_basis`. Columns that are not named are left out.

    Args:
        frame: the table; it is not changed.
        item: the finding that is voted on.
        worker: who votes.
        verdict: agree, supplement, disagree, verification-error, or a label of one.
        basis: counter-evidence or burden-not-met, or empty.
        round: the round, from 1.
        run: the run.
        truth: whether the finding is true: booleans, 0 and 1, or true and false; empty where it is not known.
        explanation: the worker's words.
        mode: `collaborative` or `adversarial`, of the whole table; or the column that says it of each run.
        summary: the claim.
        category: the kind of finding.
        discoverers: who found it, as a list or a text with semicolons or commas; their own votes are not tallied.
        max_rounds: rounds that the runs allowed; by default the highest that each has.
        verdicts: words of your own and the verdicts they stand for, such as `{"yes": "agree", "no": "disagree"}`;
            `""` is an empty cell, such as that of a lost call: `{"": "verification-error"}`.

    What a table says of a finding (truth, summary, category, discoverers) and of a run (mode) must be the same in all
    its rows, empty ones aside. Raises TableError listing every column that is absent and every value that does not fit.

    >>> table = pd.DataFrame({"claim": [1, 1], "judge": ["a", "b"], "says": ["yes", "REFUTED"]})
    >>> runs = from_votes(table, item="claim", worker="judge", verdict="says", mode="adversarial",
    ...     verdicts={"yes": "agree"})
    >>> runs.votes["verdict"].tolist(), runs.findings["finding_id"].tolist(), runs.runs["mode"].tolist()
    (['agree', 'disagree'], ['1'], ['adversarial'])
    """
    expect(frame, pd.DataFrame, "votes", "read the file first, by pandas.read_csv or pandas.read_parquet")
    whole_table = None if mode is None else read_mode(mode)
    named = {
        "finding_id": item, "worker": worker, "verdict": verdict, "disagree_basis": basis, "round": round,
        "run_id": run, "truth": truth, "explanation": explanation, "summary": summary, "category": category,
        "discoverers": discoverers, "mode": None if whole_table else mode,
    }  # fmt: skip
    words, problems = _own_words(verdicts)
    problems += [*_absent_columns(frame, named), *_no_limit(max_rounds)]
    if problems:
        raise TableError(problems)
    columns = {standard: frame[name] for standard, name in named.items() if name is not None}
    votes = _filled(pd.DataFrame(columns).reset_index(drop=True), words)
    problems = vote_problems(votes)
    facts, more = finding_facts(votes)
    modes, odd_modes = run_modes(votes, whole_table)
    problems += [*more, *odd_modes, *([] if problems else _beyond(votes, max_rounds))]
    if problems:
        raise TableError(problems)
    bases = votes["disagree_basis"].where(votes["verdict"].eq("disagree"), None)  # as in a live run: none elsewhere
    votes = votes.assign(round=pd.to_numeric(votes["round"]).astype("Int64"), disagree_basis=bases)
    return _runset(votes, facts, modes, max_rounds)


_ARGUMENTS = {"finding_id": "item", "disagree_basis": "basis", "run_id": "run"}


def _absent_columns(frame: pd.DataFrame, named: Mapping[str, str | None]) -> Iterator[Problem]:
    counts = frame.columns.value_counts()
    for standard, name in named.items():
        count = 1 if name is None else counts.get(name, 0)
        if count == 1:
            continue
        argument = _ARGUMENTS.get(standard, standard)
        near = did_you_mean(name, [*frame.columns, *(MODES if argument == "mode" else ())])
        message = f"there are {count} columns {name!r}" if count else f"there is no column {name!r}{near}"
        modes = f"write {one_of(MODES)}, or " if argument == "mode" else ""
        yield Problem(f"votes: {argument}", message, f"{modes}name one of its columns: {one_of(frame.columns)}")


def _own_words(verdicts: Mapping[Any, str] | None) -> tuple[dict[str, Verdict], list[Problem]]:
    """The verdict that each of the caller's words stands for, and what is wrong with them."""
    words: dict[str, Verdict] = {}
    problems: list[Problem] = []
    if verdicts is not None and not isinstance(verdicts, Mapping):
        message = f"is a {type(verdicts).__name__}, not a mapping"
        return words, [Problem("votes: verdicts", message, "write each word and its verdict, as {'yes': 'agree'}")]
    for word, name in (verdicts or {}).items():
        place, verdict = f"votes: verdicts[{word!r}]", read_verdict(name)
        if verdict is None:
            near = did_you_mean(name, VERDICTS)
            problems.append(Problem(place, f"{name!r} is not a verdict{near}", f"use {one_of(VERDICTS)}"))
        elif words.setdefault(_plain(word), verdict) != verdict:
            message = f"stands for {verdict!r} and, in another spelling, for {words[_plain(word)]!r}"
            problems.append(Problem(place, message, "give each word one verdict; case and spaces do not matter"))
    return words, problems


def _plain(word: object) -> str:
    """A word of the caller's as it is looked up: 1 and 1.0, Yes and yes are the same."""
    text = str(word).strip().lower()
    return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdigit() else text


def _no_limit(max_rounds: object) -> Iterator[Problem]:
    whole = isinstance(max_rounds, int | np.integer) and not isinstance(max_rounds, bool) and max_rounds >= 1
    if max_rounds is not None and not whole:
        message = f"must be an integer of at least 1, got {max_rounds!r}"
        yield Problem("votes: max_rounds", message, "give the rounds that the runs allowed, or leave it out")


def _beyond(votes: pd.DataFrame, max_rounds: int | None) -> Iterator[Problem]:
    highest = pd.to_numeric(votes["round"]).max()
    if max_rounds is not None and highest > max_rounds:
        message = f"is {max_rounds}, but the table has votes of round {int(highest)}"
        yield Problem("votes: max_rounds", message, f"give at least {int(highest)}; compare and replay take fewer")


def _filled(votes: pd.DataFrame, words: Mapping[str, Verdict]) -> pd.DataFrame:
    """The standard columns, with what a plain table leaves unsaid, names as text and words as verdicts and bases."""
    filled = votes.assign(**{str(name): _READ.get(str(name), as_text)(votes[name]) for name in votes})
    if "" in words:
        filled["verdict"] = filled["verdict"].fillna("")
    said = filled["verdict"].drop_duplicates().dropna()
    filled["verdict"] = filled["verdict"].map(
        {word: words.get(_plain(word)) or read_verdict(word) or (word if word.strip() else None) for word in said}
    )
    if "disagree_basis" in filled:
        bases = filled["disagree_basis"].drop_duplicates().dropna()
        read = {word: read_basis(word) or word for word in bases if word.strip()}
        filled["disagree_basis"] = filled["disagree_basis"].map(read)
    unsaid: dict[str, Any] = {"run_id": "votes", "round": 1, "disagree_basis": None, "explanation": None}
    return filled.assign(**{name: default for name, default in unsaid.items() if name not in filled})


def _as_name(values: pd.Series[Any]) -> pd.Series[Any]:
    """Ids and names as text, by which other tables know them: 1.0 is 1, spaces around them are none of theirs."""
    if pd.api.types.is_float_dtype(values.dtype) and (values.dropna() % 1 == 0).all():
        return as_text(values.astype("Int64"))
    distinct = as_text(values.drop_duplicates()).dropna()
    if distinct.str.strip().eq(distinct).all() and distinct.ne("").all():
        return as_text(values)
    names = as_text(values).str.strip()
    return names.mask(names.eq("").fillna(False).astype(bool), None)


def _as_it_is(values: pd.Series[Any]) -> pd.Series[Any]:
    return values


_READ = {
    **dict.fromkeys(("run_id", "finding_id", "worker"), _as_name),
    **dict.fromkeys(("round", "truth", "discoverers"), _as_it_is),
}
"""How a column is read; the others as text."""


def _runset(votes: pd.DataFrame, facts: pd.DataFrame, modes: pd.Series[Any], max_rounds: int | None) -> RunSet:
    findings = votes.groupby(FINDING, sort=False, observed=True)["round"].max().reset_index(name="n_rounds")
    if len(facts):
        findings = findings.merge(facts, on=FINDING, how="left")
    findings["origin_worker"] = None
    if "discoverers" in findings and findings["discoverers"].notna().any():
        names = findings["discoverers"].where(findings["discoverers"].notna(), None)
        findings["origin_worker"] = names.str[0]
        findings["discoverers"] = [list(found or ()) for found in names]
    else:
        findings["discoverers"] = [[] for _ in range(len(findings))]
    for name in ("ticket_ids", "consensus_workers", "dissenting_workers"):
        findings[name] = [[] for _ in range(len(findings))]
    rounds = findings.groupby("run_id", sort=False)["n_rounds"].max()
    sizes = findings.groupby("run_id", sort=False).size()
    runs = pd.DataFrame({"run_id": rounds.index, "kind": "votes", "total_rounds": rounds.to_numpy()})
    runs = runs.assign(
        mode=runs["run_id"].map(modes),
        max_rounds=max_rounds,
        effective_max_rounds=runs["total_rounds"] if max_rounds is None else max_rounds,
        n_findings=sizes.to_numpy(),
        log=False,
    )
    counter = votes["disagree_basis"].eq("counter-evidence")
    cited = votes.loc[counter, "explanation"].map(cites_location, na_action="ignore").eq(True)
    votes = votes.assign(iteration=0, uncited=(counter & ~cited.reindex(votes.index, fill_value=False)))
    kept = [*NEEDED, "explanation", "iteration", "uncited"]
    tables = {
        "runs": typed("runs", runs),
        "findings": typed("findings", findings),
        "votes": typed("votes", votes[kept].assign(is_origin=_own_votes(votes, findings))),
    }
    return RunSet(**tables | {"findings": with_losses(**tables)})


def _own_votes(votes: pd.DataFrame, findings: pd.DataFrame) -> Any:
    """Whether each vote is a discoverer's on its own finding."""
    if findings["origin_worker"].isna().all():
        return False
    pairs = findings[[*FINDING, "discoverers"]].explode("discoverers").dropna()
    pairs = pairs.rename(columns={"discoverers": "worker"}).drop_duplicates().assign(own=True)
    return votes[[*FINDING, "worker"]].merge(pairs, on=[*FINDING, "worker"], how="left")["own"].eq(True).to_numpy()
