"""Which findings are joined before a run, as a table to be looked at and edited; the matcher of a run (rule B2)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence

import pandas as pd

from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.protocol.event_run import CrossInputs
from verifyplan.protocol.vote import Finding
from verifyplan.rules.grouping import MATCHERS, Matcher, group
from verifyplan.rules.likeness import likeness
from verifyplan.runs.arguments import Workers, roster_of
from verifyplan.runs.read_findings import RowSource, read_findings, read_rows
from verifyplan.text import did_you_mean

DEFAULT_MATCHER = "claim"
FORMER_NAMES = {"PlaceAndText": "likeness"}
"""Matchers as older logs name them."""


class ByTable:
    """Joins what a table of merges joins."""

    def __init__(self, merged_into: Mapping[str, str]) -> None:
        self.merged_into = merged_into

    def key(self, finding: Finding) -> Hashable:
        """The finding that it is merged into."""
        return self.merged_into.get(finding.finding_id, finding.finding_id)

    def same(self, a: Finding, b: Finding) -> bool:  # noqa: ARG002  (the key says it all)
        """Findings with one key are merged."""
        return True


def group_findings(
    findings: RowSource, workers: Workers, *, matcher: str | Matcher | None = DEFAULT_MATCHER
) -> pd.DataFrame:
    """Show which findings a run would join, without a vote: one row a finding and worker.

    `merged_into` is the id under which the finding would be voted on, its own if it stands alone; `likeness` (0-100, 0
    below 80) compares its words with those of the claim that it is merged into, and is empty for that claim itself.
    Findings of nobody named are joined like those of different workers. Edit `merged_into`, and give the table
    to `crossverify(merges=table)`. Raises InputError for findings, workers or a matcher that cannot be used. Source:
    rule B2.

    >>> rows = [{"finding_id": "F-1", "summary": "`f` lacks a check", "worker": "ann"},
    ...     {"finding_id": "F-2", "summary": "A check `f` lacks", "worker": "bob"}]
    >>> group_findings(rows, ["ann", "bob"], matcher="likeness")[["finding_id", "merged_into"]].values.tolist()
    [['F-1', 'F-1'], ['F-2', 'F-1']]
    """
    roster = roster_of(workers)
    return merges_of(read_findings(findings, roster), roster, find_matcher(matcher))


def merges_of(findings: Sequence[Finding], roster: Sequence[str], matcher: Matcher | None) -> pd.DataFrame:
    """The table of `group_findings`, from findings that were read."""
    rows = [
        {
            "finding_id": finding.finding_id,
            "worker": finding.worker,
            "merged_into": joined.origin.finding_id,
            "likeness": None if finding is joined.origin else likeness(finding.summary, joined.origin.summary),
            "summary": finding.summary,
            "merged_summary": joined.origin.summary,
        }
        for joined in group(findings, roster, matcher)
        for finding in joined.findings
    ]
    names = ("finding_id", "worker", "merged_into", "likeness", "summary", "merged_summary")
    return pd.DataFrame(rows, columns=list(names)).astype({"likeness": "float64"})


def read_merges(source: RowSource, findings: Sequence[Finding]) -> dict[str, str]:
    """Which finding each is merged into, from a table with `finding_id` and `merged_into`, for those that are merged.

    Raises InputError listing every id that is none, finding that is merged into two or into one that is itself merged,
    and two findings of one worker that would become one.
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
            message = f"{unknown[0]!r} is no finding of this run{did_you_mean(unknown[0], list(workers))}"
            problems.append(Problem(f"{place}[{position}]", message, "write ids of findings, as group_findings does"))
        elif not pair or merged.setdefault(pair[0], pair[1]) != pair[1]:
            message = f"{pair[0]!r} is merged into two findings" if pair else "is no row with two ids"
            problems.append(Problem(f"{place}[{position}]", message, "give each finding_id one merged_into"))
    merged = {name: into for name, into in merged.items() if name != into}
    if problems := problems or _misjoined(place, merged, workers):
        raise InputError(problems)
    return merged


def _misjoined(place: str, merged: Mapping[str, str], workers: Mapping[str, set[str | None]]) -> list[Problem]:
    problems = []
    taken = {name: set(brought) for name, brought in workers.items()}
    for name, into in merged.items():
        if into in merged:
            message = f"{name!r} is merged into {into!r}, which is itself merged into {merged[into]!r}"
            problems.append(Problem(place, message, f"merge {name!r} into {merged[into]!r}"))
        elif both := (taken[into] & workers[name]) - {None}:
            message = f"{name!r} and {into!r} are both of {sorted(map(str, both))[0]!r}, who gave them two ids"
            problems.append(Problem(place, message, "merge findings of different workers"))
        else:
            taken[into] |= workers[name]
    return problems


def find_matcher(matcher: str | Matcher | None) -> Matcher | None:
    """The matcher of a name, or one's own; SettingsError for a name that there is not."""
    if not isinstance(matcher, str):
        return matcher
    name = FORMER_NAMES.get(matcher, matcher)
    if name not in MATCHERS:
        fix = f"use {one_of(list(MATCHERS))}, an object with `key` and `same`, or None to group by id"
        raise SettingsError(Problem("matcher", f"{matcher!r} is unknown{did_you_mean(matcher, list(MATCHERS))}", fix))
    return MATCHERS[name]


def matcher_name(matcher: str | Matcher | None) -> str:
    """Return what a log calls a matcher, empty for none; SettingsError for a name that there is not."""
    find_matcher(matcher)
    return matcher if isinstance(matcher, str) else "" if matcher is None else type(matcher).__name__


def matcher_of(inputs: CrossInputs, own: str | Matcher | None = None, *, strict: bool = True) -> Matcher | None:
    """The matcher that groups a recorded run's findings again; SettingsError where it is one's own and not given.

    With `strict=False` the default stands in for it.
    """
    if inputs.merges:
        return ByTable(inputs.merges)
    if not inputs.matcher:
        return None
    name = FORMER_NAMES.get(inputs.matcher, inputs.matcher)
    if name in MATCHERS:
        return MATCHERS[name]
    if matcher_name(own) != inputs.matcher and not strict:
        return MATCHERS[DEFAULT_MATCHER]
    if matcher_name(own) != inputs.matcher:
        fix = "pass matcher=, the one that the run was started with"
        raise SettingsError(Problem("matcher", f"the findings were grouped by {inputs.matcher!r}", fix))
    return find_matcher(own)
