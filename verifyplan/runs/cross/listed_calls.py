"""Read the table of the only calls that a supplementary run makes, with all its problems (rule R5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from verifyplan.errors import InputError, Problem
from verifyplan.protocol.event_run import CrossInputs, ListedCall
from verifyplan.rules.grouping import Matcher, group
from verifyplan.runs.read_findings import RowSource, read_rows
from verifyplan.text import counted, did_you_mean, short_repr

COLUMNS = ("finding_id", "round", "worker")


def with_listed_calls(inputs: CrossInputs, source: RowSource | None, matcher: Matcher | None) -> CrossInputs:
    """Return the inputs of a run that makes only the calls of a table with `finding_id, round, worker`.

    Without a table the inputs stay as they are. No rule stops a round of such a run. A finding that was joined to
    another one is asked about under the other's id. A column `run_id` names the run whose votes they add to. Raises
    InputError listing every row with an unknown finding or worker, a worker who found the finding, a round beyond those
    allowed, or a cell missing, and every repeated row; and refuses a table of several runs or without a row, and a run
    that has a plan body or in which nobody votes.
    """
    if source is None:
        return inputs
    place, rows = read_rows(source, "only", COLUMNS)
    known = _Known.of(inputs, matcher)
    problems = _problems_of_run(inputs, place)
    calls: dict[ListedCall, list[str]] = {}
    for position, row in enumerate(rows):
        found = known.problems(row)
        problems += [Problem(f"{place}[{position}]{where}", message, fix) for where, message, fix in found]
        if not found:
            number = int(float(str(row["round"])))
            call = ListedCall(finding_id=known.ids[str(row["finding_id"])], round=number, worker=row["worker"])
            calls.setdefault(call, []).append(str(row["finding_id"]))
    problems += [_repeated(place, call, ids) for call, ids in calls.items() if len(ids) > 1]
    runs = list(dict.fromkeys(str(row["run_id"]) for row in rows if isinstance(row, Mapping) and _has(row, "run_id")))
    if len(runs) > 1:
        fix = "make a run of each: for run_id, rows in table.groupby('run_id')"
        problems.append(Problem(f"{place}.run_id", f"names {len(runs)} runs, such as {runs[0]!r} and {runs[1]!r}", fix))
    if not rows:
        fix = "list calls, or leave it out; settle(n) plans no calls if every bound of the frontier is closed"
        problems.append(Problem(place, "has no rows, so nothing would be asked", fix))
    if problems:
        raise InputError(problems)
    rules = inputs.rules.model_copy(update={"stop": "round"})  # the list says who is asked
    return inputs.model_copy(update={"rules": rules, "only": tuple(calls), "supplements": runs[0] if runs else None})


def _repeated(place: str, call: ListedCall, ids: Sequence[str]) -> Problem:
    """Return why a call is listed several times: rows are repeated, or findings were joined (rule B2)."""
    joined = list(dict.fromkeys(ids))
    if len(joined) > 1:
        message = (
            f"lists {counted(len(joined), 'finding')} that are joined as one, such as {joined[0]!r} and {joined[1]!r}"
        )
        return Problem(place, message, "give each finding its own summary, or matcher=None to join none")
    message = f"asks {call.worker!r} about {call.finding_id!r} in round {call.round} {len(ids)} times"
    return Problem(place, message, "keep one of these rows")


def _problems_of_run(inputs: CrossInputs, place: str) -> list[Problem]:
    """Return why a run as a whole cannot make listed calls alone."""
    problems = []
    if inputs.plan_items:
        message = "lists calls about findings, and the plan body would be voted on, too"
        problems.append(Problem(place, message, "leave plan_items out"))
    if not inputs.settings["enabled"]:
        fix = "give the whole roster, and enable votes; workers that are not listed are not asked"
        problems.append(Problem(place, "lists calls of a run in which nobody votes", fix))
    return problems


class _Known(NamedTuple):
    """The names that rows of the table may have."""

    ids: Mapping[str, str]
    """The id under which each finding is voted on."""
    discoverers: Mapping[str, Sequence[str]]
    workers: Sequence[str]
    max_rounds: int

    @classmethod
    def of(cls, inputs: CrossInputs, matcher: Matcher | None) -> _Known:
        """Return what the table of a run may name."""
        joined = group(inputs.findings, inputs.analysers, matcher)
        ids = {name: each.origin.finding_id for each in joined for name in (each.origin.finding_id, *each.merged_ids)}
        discoverers = {each.origin.finding_id: each.discoverers for each in joined}
        return cls(ids, discoverers, inputs.rules.asked_of(inputs.analysers), inputs.settings["effectiveMaxRounds"])

    def problems(self, row: Any) -> list[tuple[str, str, str]]:
        """Return what is wrong with a row: where in it, what, and what to do."""
        if not isinstance(row, Mapping):
            return [("", f"is {short_repr(row)}, not a row", f"give {', '.join(COLUMNS)}")]
        absent = [(f".{name}", "is missing", f"give {', '.join(COLUMNS)}") for name in COLUMNS if not _has(row, name)]
        if absent:
            return absent
        found = []
        finding_id, worker = str(row["finding_id"]), row["worker"]
        if finding_id not in self.ids:
            message = f"{finding_id!r} is not a finding of this run{did_you_mean(finding_id, list(self.ids))}"
            found.append((".finding_id", message, "write ids of findings, as the run has them"))
        if worker not in self.workers:
            fix = f"name one of the workers that are asked: {', '.join(self.workers)}"
            found.append((".worker", f"{short_repr(worker)} is not a worker of this run", fix))
        elif worker in self.discoverers.get(self.ids.get(finding_id, ""), ()):
            found.append((".worker", f"{worker!r} found {finding_id!r}, and so does not vote on it", "drop the row"))
        if not _is_round(row["round"], self.max_rounds):
            message = f"must be an integer from 1 to {self.max_rounds}, got {short_repr(row['round'])}"
            found.append((".round", message, "drop the row, or allow more by max_rounds"))
        return found


def _has(row: Mapping[Any, Any], name: str) -> bool:
    value = row.get(name)
    return value is not None and str(value) not in ("", "nan", "<NA>")


def _is_round(value: object, max_rounds: int) -> bool:
    """Return whether a value is a round that is allowed; a file of CSV has texts."""
    try:
        return float(str(value)) in range(1, max_rounds + 1)
    except ValueError:
        return False
