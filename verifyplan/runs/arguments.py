"""What a cross run needs before its first call: roster, backend, config, grouped findings (rules B1, B2, B10)."""

from __future__ import annotations

import platform
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from verifyplan.agents.base import Backend, ConversingBackend
from verifyplan.agents.static import StaticBackend
from verifyplan.errors import InputError, Problem, SettingsError, one_of
from verifyplan.files import try_to_write
from verifyplan.protocol.event_cross import FindingGrouped
from verifyplan.protocol.settings import ConvergenceBlock, Limits
from verifyplan.protocol.vote import MISSING_BASES, Finding, PlanItem
from verifyplan.redaction import redact
from verifyplan.repository.repository import Repository
from verifyplan.rules.grouping import Matcher, group
from verifyplan.rules.settings import PLAN_BODY_TASK_TYPE, TASK_TYPES
from verifyplan.runs.read_findings import PLAN_BODY, RowSource, read_plan_items
from verifyplan.text import did_you_mean
from verifyplan.version import VERSION

Workers = Sequence[str] | Mapping[str, str]
"""The roster, in order; or each worker's name with the checker of the backend that it plays."""

FOLDER_NAME = re.compile(r"(?!\.)[\w.-]{1,100}")
"""Names of task types: they name a folder and a part of a file's name."""

SKIPPED_SHOWN = 50
"""Files that could not be read and are named in the log; all are counted."""

_A_KEY = "holds what looks like a key, which no log shows: what is told apart by it would become the same"


def check_destination(out: str | Path | None, task_type: str | None, task_key: str | None) -> None:
    """InputError if the artifact could not be written: found out before any agent is paid, not after."""
    problems = []
    if task_type is not None and not (isinstance(task_type, str) and FOLDER_NAME.fullmatch(task_type)):
        fix = "use letters, digits, dot, dash and underscore, at most 100: it names a folder"
        problems.append(Problem("task_type", f"{task_type!r} cannot name a folder", fix))
    elif task_type is not None and redact(task_type) != task_type:
        problems.append(Problem("task_type", _A_KEY, "name the kind of task"))
    elif task_type not in TASK_TYPES and (near := did_you_mean(task_type, TASK_TYPES)):
        fix = f"use {one_of(TASK_TYPES)}, or a name of your own that is like none of them"
        problems.append(Problem("task_type", f"{task_type!r} is unknown{near}", fix))
    if task_key is not None and not _is_name(task_key):
        problems.append(Problem("task_key", f"{task_key!r} is no text", "say what the run is about, or leave it out"))
    if out is not None and Path(out).exists() and not Path(out).is_dir():
        problems.append(Problem("out", f"{str(out)!r} is no folder", "name a folder, or None to write nothing"))
    if problems:
        raise InputError(problems)


def check_timeout(timeout: float | None) -> None:
    """SettingsError unless `timeout` is None or a number above 0."""
    number = isinstance(timeout, int | float) and not isinstance(timeout, bool)
    if timeout is not None and not (number and timeout > 0):
        fix = "give the seconds that one dispatch may take, or None to wait for ever"
        raise SettingsError(Problem("timeout", f"{timeout!r} is no number above 0", fix))


def limits_of(**given: object) -> Limits:
    """What a run may use, `max_tokens` and `max_cost`; SettingsError listing what is no limit."""
    given = {name: str(value) if isinstance(value, float) else value for name, value in given.items()}
    try:
        return Limits.model_validate(given)
    except ValidationError as error:
        fix = "give tokens as a whole number, dollars as a number, above 0, or None for no limit"
        raise SettingsError(
            Problem(str(one["loc"][0]), f"{one['input']!r} is no limit ({one['msg']})", fix)
            for one in error.errors(include_url=False)
        ) from None


def check_counts(**given: object) -> None:
    """SettingsError for what is neither None nor a whole number from 1."""
    wrong = {
        name: value
        for name, value in given.items()
        if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 1)
    }
    if wrong:
        fix = "give a whole number from 1"
        raise SettingsError(Problem(name, f"{value!r} is no such number", fix) for name, value in wrong.items())


def check_missing_basis(value: object) -> None:
    """SettingsError unless `value` says what stands for a missing basis; a live run raises at none."""
    allowed = [name for name in MISSING_BASES if name != "raise"]
    if value not in allowed:
        fix = f"use {one_of(allowed)}; 'raise' is for reading recorded votes, by replay"
        raise SettingsError(Problem("missing_basis", f"must be one of these, got {value!r}", fix))


def check_affordable(backend: Backend, limits: Limits) -> None:
    """SettingsError where the run is to end at a cost, and the backend cannot tell what its calls cost."""
    if limits.max_cost is None:
        return
    told = backend.budget_problem("max_cost") if isinstance(backend, ConversingBackend) else "its calls have no price"
    if told:
        fix = "give the backend prices=, or end the run by max_tokens"
        raise SettingsError(Problem("max_cost", f"cannot be kept: {told}", fix))


def check_ids_apart(findings: Sequence[Finding], items: Sequence[PlanItem]) -> None:
    """InputError if a plan item has the id of a finding, or an id holds a key: the tables of a run tell both by ids."""
    taken = {finding.finding_id for finding in findings}
    fix = "give each plan item an id of its own, such as P-001"
    problems = [
        Problem(f"plan_items[{position}].finding_id", f"{item.finding_id!r} is the id of a finding, too", fix)
        for position, item in enumerate(items)
        if item.finding_id in taken
    ]
    ids = dict.fromkeys([*(finding.finding_id for finding in findings), *(item.finding_id for item in items)])
    problems += [Problem("finding_id", _A_KEY, "give an id such as F-001") for name in ids if redact(name) != name]
    if problems:
        raise InputError(problems)


def config(block: ConvergenceBlock, analysers: int, synthetic: bool) -> dict[str, Any]:
    """The artifact's `config`: the settings, why they were overruled if they were, and the synthetic mark."""
    config: dict[str, Any] = {key: value for key, value in block.items() if key != "planBodyVerification"}
    if analysers < 2:
        config |= {"enabled": False, "autoDisabled": "fewer-than-two-analysers"}
    return config | ({"synthetic": True} if synthetic else {})


def group_events(
    findings: Sequence[Finding], items: Sequence[PlanItem], roster: Sequence[str], matcher: Matcher | None
) -> list[FindingGrouped]:
    """The findings after grouping (rule B2), then the plan items, as the events that announce them."""
    announced = [
        FindingGrouped(
            part="findings",
            finding_id=g.origin.finding_id,
            summary=g.origin.summary,
            evidence=g.origin.evidence,
            category=g.origin.category,
            ticket_ids=tuple(dict.fromkeys(ticket for member in g.findings for ticket in member.ticket_ids)),
            discoverers=g.discoverers,
            merged_ids=tuple(dict.fromkeys(f.finding_id for f in g.findings if f.finding_id != g.origin.finding_id)),
            wordings=len({f.summary for f in g.findings}),
            truth=g.truth,
        )
        for g in group(findings, roster, matcher)
    ]
    return announced + [
        FindingGrouped(
            part="plan-body",
            finding_id=item.finding_id,
            summary=item.summary,
            evidence=item.evidence,
            category=PLAN_BODY,
            discoverers=(),
            truth=item.truth,
        )
        for item in items
    ]


def roster_of(workers: Workers) -> list[str]:
    """The names of the workers, in order; SettingsError if one is repeated or empty."""
    fix = "give a list of names, or a mapping of names to checkers"
    if isinstance(workers, str | set | frozenset) or not isinstance(workers, Iterable):
        raise SettingsError(Problem("workers", f"{workers!r} is no list, which has an order", fix))
    names = list(workers)
    bad = [name for name in names if not _is_name(name)]
    twice = [name for name, times in Counter(name for name in names if name not in bad).items() if times > 1]
    problems = [Problem("workers", f"{name!r} stands twice", "name each worker once") for name in twice]
    problems += [Problem("workers", f"{name!r} is no name", "name each worker by a text") for name in bad]
    problems += [
        Problem("workers", _A_KEY, "name the worker") for name in names if name not in bad and redact(name) != name
    ]
    if problems:
        raise SettingsError(problems)
    return names


def _is_name(value: Any) -> bool:
    """Whether a value is text that says something and can be written down (no half of a surrogate pair)."""
    return isinstance(value, str) and bool(value.strip()) and value.encode(errors="replace").decode() == value


def backend_of(backend: str | Backend, workers: Workers, root: str | Path) -> Backend:
    """The backend that was named or given; SettingsError for an unknown name, InputError for a bad root."""
    if not isinstance(backend, Backend) or isinstance(backend, type):
        if backend != "static":
            fix = "use 'static', or pass a backend object: agents.Anthropic(model=...), ScriptedBackend(script)"
            raise SettingsError(Problem("backend", f"{backend!r} is unknown", fix))
    elif not isinstance(backend, ConversingBackend):
        return backend
    if not Path(root).is_dir():
        raise InputError(Problem("root", f"{str(root)!r} is no folder", "name the folder that evidence cites"))
    if isinstance(backend, ConversingBackend):
        return backend.at(root)
    return StaticBackend(root, workers if isinstance(workers, Mapping) else None)


def check_workers(backend: Backend, roster: Sequence[str]) -> None:
    """SettingsError that lists every worker the backend cannot play."""
    wrong = [(worker, message) for worker in roster if (message := backend.check_worker(worker))]
    if wrong:
        fix = "rename the worker, or map its name to one that the backend can play"
        raise SettingsError(Problem("workers", message, fix) for _, message in wrong)


def read_gate_items(source: RowSource | None, task_type: str | None, block: ConvergenceBlock) -> list[PlanItem]:
    """The plan body's items; none where its verification is off, SettingsError in a run of another type."""
    if source is None:
        return []
    if task_type != PLAN_BODY_TASK_TYPE:
        fix = f"set task_type to {PLAN_BODY_TASK_TYPE!r}, or leave plan_items out"
        raise SettingsError(Problem("plan_items", f"have no place in a run of type {task_type!r}", fix))
    return read_plan_items(source) if block["planBodyVerification"]["enabled"] else []


def versions() -> dict[str, str]:
    """What drives a run: the versions of verifyplan and Python."""
    return {"verifyplan": VERSION, "python": platform.python_version()}


def describe_repository(repository: Repository) -> dict[str, Any]:
    """The repository that a run is about, as far as a log can name it: root, commit, files, and what is unread."""
    return {
        "root": str(repository.root),
        "commit": repository.commit,
        "files": len(repository.files),
        "skipped": [f"{one.path}: {one.reason}" for one in repository.skipped[:SKIPPED_SHOWN]],
        "n_skipped": len(repository.skipped),
    }


@contextmanager
def resume_hint(log: Path) -> Iterator[None]:
    """Tell whoever interrupts a run, or whatever ends it, how it goes on; nothing of a run that has not begun."""
    try:
        yield
    except BaseException as error:
        if log.exists() and log.stat().st_size:
            error.add_note(f"The run goes on by: verifyplan resume {log}")
        raise


def check_output(place: str, path: str | Path | None) -> None:
    """InputError, at `place`, for a file that cannot be written; None is no file, and passes.

    >>> check_output("--diff", None)
    >>> try:
    ...     check_output("--diff", ".")
    ... except InputError as error:
    ...     print(error.problems[0].message)
    '.' cannot be written (is a folder)
    """
    if path is None:
        return
    try:
        if Path(path).is_dir():
            raise IsADirectoryError("is a folder")
        try_to_write(Path(path).parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "name a file in a folder that you may write to"
        raise InputError(Problem(place, f"{str(path)!r} cannot be written ({reason})", fix)) from None
