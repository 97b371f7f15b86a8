"""Join findings before a run: by a matcher, or by a table of merges that a person can edit (rule B2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.protocol.event_run import CrossInputs
from verifyplan.protocol.vote import Finding
from verifyplan.rules.grouping import MATCHERS, Matcher, group
from verifyplan.rules.likeness import likeness
from verifyplan.runs.arguments import Workers, read_roster
from verifyplan.runs.read_findings import RowSource, read_findings, read_rows
from verifyplan.text import did_you_mean

DEFAULT_MATCHER = "claim"


class TableMatcher:
    """Joins the findings that a table of merges joins."""

    def __init__(self, merged_into: Mapping[str, str]) -> None:
        self.merged_into = merged_into

    def key(self, finding: Finding) -> Hashable:
        """Return the finding that it is merged into."""
        return self.merged_into.get(finding.finding_id, finding.finding_id)

    def same(self, a: Finding, b: Finding) -> bool:  # noqa: ARG002  (the key says it all)
        """Return True: findings with one key are merged."""
        return True


def group_findings(
    findings: RowSource, workers: Workers, *, matcher: str | Matcher | None = DEFAULT_MATCHER
) -> pd.DataFrame:
    """Show which findings a run would join, without a vote: one row a finding and worker.

    `merged_into` is the id under which the finding would be voted on, its own if it is joined with none; `likeness`
    (0-100, 0 below 80) compares its words with those of the claim that it is merged into, and is empty for that claim
    itself. Findings of nobody named are joined like those of different workers. Edit `merged_into`, and give the table
    to `crossverify(merges=table)`. Raises InputError for findings, workers or a matcher that cannot be used. Source:
    rule B2.

    >>> rows = [{"finding_id": "F-1", "summary": "`f` lacks a check", "worker": "ann"},
    ...     {"finding_id": "F-2", "summary": "A check `f` lacks", "worker": "bob"}]
    >>> merges = group_findings(rows, ["ann", "bob"], matcher="likeness")
    >>> merges[["finding_id", "merged_into"]].values.tolist()
    [['F-1', 'F-1'], ['F-2', 'F-1']]
    """
    roster = read_roster(workers)
    return merges_of(read_findings(findings, roster), roster, find_matcher(matcher))


def merges_of(findings: Sequence[Finding], roster: Sequence[str], matcher: Matcher | None) -> pd.DataFrame:
    """Return the table of `group_findings`, from findings that were read."""
    names = ("finding_id", "worker", "merged_into", "likeness", "summary", "merged_summary")
    rows = [
        (
            finding.finding_id,
            finding.worker,
            joined.origin.finding_id,
            None if finding is joined.origin else likeness(finding.summary, joined.origin.summary),
            finding.summary,
            joined.origin.summary,
        )
        for joined in group(findings, roster, matcher)
        for finding in joined.findings
    ]
    return pd.DataFrame(rows, columns=list(names)).astype({"likeness": "float64"})


def read_merges(source: RowSource, findings: Sequence[Finding]) -> dict[str, str]:
    """Return the finding that each one is merged into, from a table with `finding_id` and `merged_into`.

    One that is merged into none, or that the table leaves out, is merged into itself. Raises InputError listing every
    unknown id, finding that is merged into two or into one that is itself merged, and two findings of one worker that
    would become one.
    """
    place, rows = read_rows(source, "merges", ("finding_id", "merged_into"))
    workers: dict[str, set[str | None]] = {}
    for finding in findings:
        workers.setdefault(finding.finding_id, set()).add(finding.worker)
    merged: dict[str, str] = {}
    problems: list[Problem] = []
    for position, row in enumerate(rows):
        pair = [str(row.get(name) or "") for name in ("finding_id", "merged_into")] if isinstance(row, Mapping) else []
        if unknown := [name for name in pair if name not in workers]:
            message = f"{unknown[0]!r} is not a finding of this run{did_you_mean(unknown[0], list(workers))}"
            problems.append(Problem(f"{place}[{position}]", message, "write ids of findings, as group_findings does"))
        elif not pair or merged.setdefault(pair[0], pair[1]) != pair[1]:
            message = f"{pair[0]!r} is merged into two findings" if pair else "is not a row with two ids"
            problems.append(Problem(f"{place}[{position}]", message, "give each finding_id one merged_into"))
    merged = {name: into for name, into in merged.items() if name != into}
    if problems := problems or _merge_problems(place, merged, workers):
        raise InputError(problems)
    return {name: merged.get(name, name) for name in workers}


def _merge_problems(place: str, merged: Mapping[str, str], workers: Mapping[str, set[str | None]]) -> list[Problem]:
    problems = []
    joined = {name: set(own) for name, own in workers.items()}
    for name, into in merged.items():
        if into in merged:
            message = f"{name!r} is merged into {into!r}, which is itself merged into {merged[into]!r}"
            problems.append(Problem(place, message, f"merge {name!r} into {merged[into]!r}"))
        elif both := (joined[into] & workers[name]) - {None}:
            message = f"{name!r} and {into!r} were both found by {sorted(map(str, both))[0]!r}, under two ids"
            problems.append(Problem(place, message, "merge findings of different workers"))
        else:
            joined[into] |= workers[name]
    return problems


def find_matcher(matcher: str | Matcher | None) -> Matcher | None:
    """Return the matcher of a name, or the matcher itself; SettingsError for an unknown name."""
    if not isinstance(matcher, str):
        return matcher
    if matcher not in MATCHERS:
        fix = f"use {one_of(list(MATCHERS))}, an object with `key` and `same`, or None to group by id"
        raise SettingsError(Problem("matcher", f"{matcher!r} is unknown{did_you_mean(matcher, list(MATCHERS))}", fix))
    return MATCHERS[matcher]


def matcher_name(matcher: str | Matcher | None) -> str:
    """Return the name of a matcher in a log, empty for none; SettingsError for an unknown name."""
    find_matcher(matcher)
    return matcher if isinstance(matcher, str) else "" if matcher is None else type(matcher).__name__


def matcher_of(inputs: CrossInputs, own: str | Matcher | None = None, *, strict: bool = True) -> Matcher | None:
    """Return the matcher of a run, new or recorded: its table of merges, the matcher of its name, or `own`.

    SettingsError if the run has a matcher that cannot be made from its name and `own` is not that one; with
    `strict=False` the default is used instead.
    """
    if inputs.merges:
        return TableMatcher(inputs.merges)
    if not inputs.matcher:
        return None
    if inputs.matcher in MATCHERS:
        return MATCHERS[inputs.matcher]
    if matcher_name(own) == inputs.matcher:
        return find_matcher(own)
    if not strict:
        return MATCHERS[DEFAULT_MATCHER]
    fix = "pass matcher=, the one that the run was started with"
    raise SettingsError(Problem("matcher", f"the findings were grouped by {inputs.matcher!r}", fix))
