"""Cross-verification: workers vote on each other's findings until rules settle them (part B of the rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.errors import Problem, Problems, SettingsError
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import CrossInputs, RunStarted
from verifyplan.protocol.settings import ConvergenceBlock, Limits
from verifyplan.protocol.vote import Finding, MissingBasis, Mode, PlanItem, VerificationMode
from verifyplan.protocol.voting_rules import VotingRules
from verifyplan.rules.grouping import Matcher
from verifyplan.rules.settings import PLAN_BODY_TASK_TYPE
from verifyplan.runs.arguments import (
    Workers,
    bind_backend,
    check_booleans,
    check_counts,
    check_log_dir,
    check_timeout,
    read_limits,
    read_roster,
    read_task_type,
)
from verifyplan.runs.cross.fitted_calls import with_fitted_calls
from verifyplan.runs.cross.listed_calls import with_listed_calls
from verifyplan.runs.cross.loop import drive_cross
from verifyplan.runs.cross.run import CrossRun, write_artifact_of
from verifyplan.runs.cross.run_rules import Rules, check_workers_of_rules, read_run_settings
from verifyplan.runs.merges import DEFAULT_MATCHER, matcher_name, matcher_of, read_merges
from verifyplan.runs.read_findings import RowSource, check_ids, read_findings, read_plan_items
from verifyplan.runs.start import driven, open_log, start_event

UNNAMED = "ad-hoc"
"""The task type in paths and keys where none was named."""


@dataclass(frozen=True)
class PreparedCrossRun:
    """A cross run whose arguments were read; nothing is written and no agent is called before it is driven."""

    started: RunStarted
    """Its first event, with its settings and inputs."""
    backend: Backend
    """Who answers, made for the folder of the run."""
    matcher: Matcher | None
    """Which findings are the same."""
    log_dir: str | Path | None
    """The folder that its id is relative to; None writes nothing."""
    sink: Sink | None
    progress: bool | None

    @property
    def folder(self) -> Path | None:
        """The folder of its log and its artifact: `<log_dir>/<task-type>/state` (rule B9)."""
        return None if self.log_dir is None else Path(self.log_dir) / self._task_type / "state"

    @property
    def log_stem(self) -> str:
        """The name of its log, before the number."""
        return f"convergence-{self._task_type}"

    @property
    def _task_type(self) -> str:
        return self.started.cross.task_type or UNNAMED

    def drive(self) -> CrossRun:
        """Drive the run to its end, and write its log and its artifact."""
        with open_log(self.folder, self.log_stem, self.sink, top=self.log_dir) as log:
            drive_cross(self.started, self.backend, self.matcher, log.recorder, self.progress)
        return write_artifact_of(CrossRun(log.recorder.finished(), log.path, log.run_id))


# `driven` drives what this body prepares: callers get a CrossRun, as the docstring says.
@driven(CrossRun)
def crossverify(
    findings: RowSource,
    workers: Workers,
    *,
    mode: Mode | None = None,
    max_rounds: int | None = None,
    verification: VerificationMode | None = None,
    gating: bool | None = None,
    task_type: str | None = None,
    settings: Mapping[str, Any] | None = None,
    backend: str | Backend = "static",
    repo: str | Path = ".",
    plan_items: RowSource | None = None,
    matcher: str | Matcher | None = DEFAULT_MATCHER,
    merges: RowSource | None = None,
    timeout: float | None = 600.0,
    items_per_call: int | None = None,
    missing_basis: MissingBasis = "infer",
    rules: Rules | None = None,
    only: RowSource | None = None,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    repetition: int = 1,
    sink: Sink | None = None,
    log_dir: str | Path | None = "runs",
    task_key: str | None = None,
    synthetic: bool | None = None,
    progress: bool | None = None,
) -> PreparedCrossRun:
    """Let workers vote on each other's findings, round by round, and give each finding a class.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        findings: models, dictionaries, a DataFrame, or a CSV or JSON file with `finding_id, summary` and optionally
            `evidence, worker, category, truth, ticket_ids`. Truth is never shown to a worker. Without a `worker`,
            who found it and does not vote on it, everybody votes.
        workers: the roster, in order; or a mapping of each worker's name to the static checker it plays.
        mode: `"adversarial"` (workers try to break each claim) or `"collaborative"`; None takes the task type's.
        max_rounds: how many rounds of votes there may be, 1 to 3; None takes the task type's.
        verification: `"full-reanalysis"` (workers open the cited evidence) or `"lightweight"` (they see what is quoted
            of it); None takes the mode's, and an adversarial run is never lightweight.
        gating: whether a failed gate of the plan body stops the plan, or only advises (rule B10); None: it stops it.
        task_type: chooses all settings that are None (rule B1), and names the artifact's folder.
        settings: the same settings under the keys of an artifact, such as `{"adversarial": True, "maxRounds": 3}`;
            where it says something else than a parameter above, the call is refused.
        backend: `"static"`, or any object with the methods of `verifyplan.agents.base.Backend`.
        repo: the folder that cited evidence is opened in; nothing outside it is read.
        plan_items: items of a plan body for the gate of rule B10; only for implementation-planning.
        matcher: which findings are the same: `"claim"` joins the same places and claims, spaces and case aside;
            `"likeness"` those that like words claim of nearby lines; your own is an object with `key` and `same`; None
            joins by id alone. `group_findings` shows who is joined with whom, before a vote.
        merges: that table, edited; it is followed in place of a matcher.
        timeout: seconds that one call may take; None waits for ever.
        items_per_call: findings that one call asks about; None asks a worker about all of a round at once (rule B3), or
            about as many as fit into the `context` that the backend names for its models.
        missing_basis: the basis of an adversarial disagree that has none, even where the worker could
            be asked for it: `"infer"` (counter-evidence if its explanation cites a place, else burden-not-met),
            `"counter-evidence"` or `"burden-not-met"`; such a vote is marked `basis_filled`.
        rules: all that decides, and who is asked when: a `VotingRules`, the name of a preset, a mapping of fields, or a
            JSON file; `mode`, `max_rounds` and `missing_basis` are its short form. The gate of a plan body keeps rules
            of its own (B10). None: rules B4 to B7.
        only: the only calls to make, a table of `finding_id, round, worker` and, if you like, the `run_id` of the
            recorded run that they supplement. This run is about these findings alone, its classes rest on these votes
            alone, and `add_votes` puts them beside the recorded ones. None makes the calls that the rules ask for.
        max_tokens: tokens, in and out, after which no call is sent.
        max_cost: US dollars after which no call is sent; only with a backend that knows its prices.
        repetition: which run of the same inputs and settings this is, from 1.
        sink: called with each event as it happens; what it raises ends the run.
        log_dir: the folder under which the run log and the artifact are written; None writes nothing.
        task_key: what the run is about, for the artifact; by default the task type.
        synthetic: marks generated findings; by default what a DataFrame's `attrs["synthetic"]` says.
        progress: whether to show a bar; by default where somebody can see it.

    Returns:
        A `CrossRun`: `.artifact`, `.status`, `.frames` (tables), `.path`, `.log_path`, `.gate_passed`.

    Raises:
        InputError: listing every argument that cannot be used and every problem of the findings, before any agent is
            called; a SettingsError where settings alone are wrong.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> script = {1: {"bob": {"F-1": {"verdict": "agree"}}, "cy": {"F-1": {"verdict": "disagree"}}}}
    >>> finding = {"finding_id": "F-1", "summary": "f has no check", "evidence": "m.py:3", "worker": "ann"}
    >>> run = crossverify([finding], ["ann", "bob", "cy"], mode="collaborative", max_rounds=1,
    ...     backend=ScriptedBackend(script), log_dir=None)
    >>> run.artifact.findings[0].classification
    'contested'
    """
    problems = Problems()
    problems.of(lambda: check_log_dir(log_dir))
    problems.of(lambda: check_timeout(timeout))
    problems.of(lambda: check_counts(repetition=repetition))
    if items_per_call is not None:
        problems.of(lambda: check_counts(items_per_call=items_per_call))
    if synthetic is not None:
        problems.of(lambda: check_booleans(synthetic=synthetic))
    limits = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost))
    matched_by = problems.of(lambda: matcher_name(matcher))
    task = problems.of(lambda: read_task_type(task_type, task_key))
    effective = problems.of(
        lambda: read_run_settings(
            rules, task or "", settings, mode=mode, max_rounds=max_rounds, missing_basis=missing_basis,
            verification=verification, gating=gating,
        )
    )  # fmt: skip
    items: list[PlanItem] | None = None
    if task is not None and effective is not None:
        enabled = effective.block["planBodyVerification"]["enabled"]
        items = problems.of(lambda: _read_gate_items(plan_items, task, gating, enabled=enabled))
    roster = problems.of(lambda: read_roster(workers))
    rows: list[Finding] | None = None
    bound: Backend | None = None
    if roster is not None:
        bound = problems.of(lambda: bind_backend(backend, workers, repo, limits or Limits(), repetition))
        rows = problems.of(lambda: read_findings(findings, roster))
        problems.of(lambda: check_ids(rows or (), items or ()))
        problems.of(lambda: check_workers_of_rules(effective.rules if effective else VotingRules(), roster))
    joined: dict[str, str] | None = {}
    if merges is not None and rows is not None:
        joined = problems.of(lambda: read_merges(merges, rows))
    if (
        problems or limits is None or matched_by is None or task is None or effective is None or items is None
        or roster is None or rows is None or bound is None or joined is None
    ):  # fmt: skip
        raise problems.error()
    generated = bool(getattr(findings, "attrs", {}).get("synthetic", False) if synthetic is None else synthetic)
    inputs = CrossInputs(
        task_type=task,
        settings=_recorded_settings(effective.block, roster, synthetic=generated),
        analysers=tuple(roster),
        findings=tuple(rows),
        matcher=matched_by,
        merges=joined,
        plan_items=tuple(items),
        plan_settings=dict(effective.block["planBodyVerification"]) if items else None,
        timeout=timeout,
        items_per_call=items_per_call,
        limits=limits,
        rules=effective.rules,
        root=str(Path(repo).absolute()),
    )
    if only is not None:
        inputs = with_listed_calls(inputs, only, matcher_of(inputs, matcher))
    inputs = with_fitted_calls(inputs, matcher_of(inputs, matcher), bound)
    about = task_key or task or UNNAMED
    started = start_event(about, inputs, bound, synthetic=generated, repetition=repetition)
    return PreparedCrossRun(started, bound, matcher_of(inputs, matcher), log_dir, sink, progress)


def _recorded_settings(effective: ConvergenceBlock, roster: Sequence[str], *, synthetic: bool) -> dict[str, Any]:
    """Return the settings as log and artifact record them: those of the plan body apart, what is switched off."""
    recorded: dict[str, Any] = {key: value for key, value in effective.items() if key != "planBodyVerification"}
    recorded |= {"enabled": False, "autoDisabled": "fewer-than-two-analysers"} if len(roster) < 2 else {}
    return recorded | ({"synthetic": True} if synthetic else {})


def _read_gate_items(source: RowSource | None, task_type: str, gating: bool | None, *, enabled: bool) -> list[PlanItem]:
    """Return the plan body's items, none where its verification is off.

    Raises SettingsError for items in a run of another type, and for a gate without items.
    """
    if source is None:
        if gating is not None:
            fix = f"give plan_items, and set task_type to {PLAN_BODY_TASK_TYPE!r}; or leave gating out"
            raise SettingsError(Problem("gating", "needs a plan body, and there are no plan_items", fix))
        return []
    if task_type != PLAN_BODY_TASK_TYPE:
        fix = f"set task_type to {PLAN_BODY_TASK_TYPE!r}, or leave plan_items out"
        raise SettingsError(Problem("plan_items", f"have no place in a run of type {task_type or None!r}", fix))
    return read_plan_items(source) if enabled else []
