"""Cross-verification: workers vote on each other's findings until rules settle them (part B of the rules)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend, BoundedBackend
from verifyplan.errors import Problems
from verifyplan.protocol.call import Item, WorkerRequest
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import CrossInputs, RunStarted
from verifyplan.protocol.settings import Limits
from verifyplan.protocol.vote import Finding, MissingBasis, Mode, PlanItem, VerificationMode
from verifyplan.rules.grouping import Matcher
from verifyplan.runs.arguments import (
    Workers,
    bind_backend,
    check_booleans,
    check_counts,
    check_log_dir,
    check_timeout,
    read_limits,
    read_roster,
)
from verifyplan.runs.call_use import VOTE_TOKENS, prompt_tokens
from verifyplan.runs.cross.listed_calls import with_listed_calls
from verifyplan.runs.cross.loop import drive_cross, group_events
from verifyplan.runs.cross.run import CrossRun, write_artifact_of
from verifyplan.runs.cross.settings import Rules, read_settings
from verifyplan.runs.merges import DEFAULT_MATCHER, matcher_name, matcher_of, read_merges
from verifyplan.runs.read_findings import RowSource, check_ids, read_findings
from verifyplan.runs.start import driven, open_log, start_event

UNNAMED = "ad-hoc"
"""The task type in paths and keys where none was named."""

CAUTION = 1.3
"""The tokens of a prompt, in those that a rule of thumb counts: tokenizers of models differ by up to a third."""


@dataclass(frozen=True)
class PreparedCrossRun:
    """A cross run whose arguments were read; nothing is written and no agent is called before it is driven."""

    started: RunStarted
    """Its first event, with its settings and inputs."""
    backend: Backend
    """Who answers, made for the folder of the run."""
    matcher: Matcher | None
    """Decides which findings are the same."""
    log_dir: str | Path | None
    """The folder that its id is relative to; None to write nothing."""
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
            who found it and does not vote on it, all workers vote.
        workers: the roster, in order; or a mapping of each worker's name to the static checker it plays.
        mode: `"adversarial"` (workers try to break each claim) or `"collaborative"`; None for that of the task type.
        max_rounds: the largest number of rounds of votes, 1 to 3; None for that of the task type.
        verification: `"full-reanalysis"` (workers open the cited evidence) or `"lightweight"` (they see what is quoted
            of it); None for that of the mode. An adversarial run is never lightweight.
        gating: whether a failed gate of the plan body stops the plan or only advises (rule B10); None for stops.
        task_type: chooses all settings that are None (rule B1), and names the artifact's folder.
        settings: the same settings under the keys of an artifact, such as `{"adversarial": True, "maxRounds": 3}`; it
            must not contradict a parameter above.
        backend: `"static"`, or any object with the methods of `verifyplan.agents.base.Backend`.
        repo: the folder that cited evidence is opened in; nothing outside it is read.
        plan_items: items of a plan body for the gate of rule B10; only for implementation-planning.
        matcher: which findings are the same: `"claim"` joins the same places and claims, spaces and case aside;
            `"likeness"` joins claims of similar words about nearby lines; an object with `key` and `same` is your own
            matcher; None joins by id alone. `group_findings` shows which findings are joined, before any vote.
        merges: the table of `group_findings`, edited; it replaces the matcher.
        timeout: seconds that one call may take; None for no limit.
        items_per_call: the number of findings that one call asks about; None for all of a round at once (rule B3), or
            for as many as fit into the `context` that the backend names for its models.
        missing_basis: the basis of an adversarial disagree that has none, even where the worker could
            be asked for it: `"infer"` (counter-evidence if its explanation cites a place, else burden-not-met),
            `"counter-evidence"` or `"burden-not-met"`; such a vote is marked `basis_filled`.
        rules: the voting rules: a `VotingRules`, the name of a preset, a mapping of fields, or a JSON file. `mode`,
            `max_rounds` and `missing_basis` are short forms of its fields. The gate of a plan body has its own rules
            (B10). None for rules B4 to B7.
        only: the only calls to make, a table of `finding_id, round, worker` and, if you like, the `run_id` of the
            recorded run that they supplement. This run is then only about these findings, its classes rest only on
            these votes, and `add_votes` adds them to the recorded ones. None for the calls that the rules ask for.
        max_tokens: the number of tokens, in and out, after which no call is sent; None for no limit.
        max_cost: the US dollars after which no call is sent, for a backend with prices; None for no limit.
        repetition: the number of this run among runs of the same inputs and settings, from 1.
        sink: a function that is called with each event as it happens; an error that it raises ends the run.
        log_dir: the folder that the run log and the artifact are written to; None to write nothing.
        task_key: the subject of the run, for the artifact; by default the task type.
        synthetic: whether the findings were generated; by default `attrs["synthetic"]` of a DataFrame.
        progress: whether to show progress; by default in a terminal or a notebook.

    Returns:
        A `CrossRun`: `.artifact`, `.status`, `.frames` (tables), `.path`, `.log_path`, `.gate_passed`.

    Raises:
        InputError: lists every argument that cannot be used and every problem of the findings, before any agent is
            called; a SettingsError if only settings are wrong.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> script = {
    ...     1: {
    ...         "bob": {"F-1": {"verdict": "agree"}},
    ...         "cy": {"F-1": {"verdict": "disagree"}},
    ...     }
    ... }
    >>> finding = {
    ...     "finding_id": "F-1",
    ...     "summary": "f has no check",
    ...     "evidence": "m.py:3",
    ...     "worker": "ann",
    ... }
    >>> run = crossverify([finding], ["ann", "bob", "cy"], mode="collaborative", max_rounds=1,
    ...     backend=ScriptedBackend(script), log_dir=None)
    >>> run.artifact.findings[0].classification
    'contested'
    """
    problems = Problems()
    _check_options(problems, log_dir, timeout, repetition, items_per_call, synthetic)
    limits = problems.of(lambda: read_limits(max_tokens=max_tokens, max_cost=max_cost)) or Limits()
    matched_by = problems.of(lambda: matcher_name(matcher)) or ""
    roster = problems.of(lambda: read_roster(workers))
    chosen = read_settings(
        problems, roster, rules, settings, plan_items, task_type=task_type, task_key=task_key, mode=mode,
        max_rounds=max_rounds, missing_basis=missing_basis, verification=verification, gating=gating,
    )  # fmt: skip
    bound = None if roster is None else problems.of(lambda: bind_backend(backend, workers, repo, limits, repetition))
    rows, joined = _read_findings(problems, findings, roster, merges, chosen.plan_items if chosen else ())
    if problems or chosen is None or roster is None or bound is None:
        raise problems.error()
    generated = bool(getattr(findings, "attrs", {}).get("synthetic", False) if synthetic is None else synthetic)
    inputs = CrossInputs(
        **chosen.inputs(roster, synthetic=generated),
        analysers=tuple(roster),
        findings=rows,
        matcher=matched_by,
        merges=joined,
        timeout=timeout,
        items_per_call=items_per_call,
        limits=limits,
        root=str(Path(repo).absolute()),
    )
    found_same = matcher_of(inputs, matcher)
    inputs = with_fitted_calls(with_listed_calls(inputs, only, found_same), found_same, bound)
    about = task_key or chosen.task_type or UNNAMED
    started = start_event(about, inputs, bound, synthetic=generated, repetition=repetition)
    return PreparedCrossRun(started, bound, found_same, log_dir, sink, progress)


def _check_options(
    problems: Problems, log_dir: object, timeout: object, repetition: object, items_per_call: object, synthetic: object
) -> None:
    problems.of(lambda: check_log_dir(log_dir))
    problems.of(lambda: check_timeout(timeout))
    problems.of(lambda: check_counts(repetition=repetition))
    if items_per_call is not None:
        problems.of(lambda: check_counts(items_per_call=items_per_call))
    if synthetic is not None:
        problems.of(lambda: check_booleans(synthetic=synthetic))


def _read_findings(
    problems: Problems,
    source: RowSource,
    roster: Sequence[str] | None,
    merges: RowSource | None,
    plan_items: Sequence[PlanItem],
) -> tuple[tuple[Finding, ...], dict[str, str]]:
    """Return the findings, none without a roster, and which are merged into which by a table; note what is wrong."""
    findings = None if roster is None else problems.of(lambda: read_findings(source, roster))
    problems.of(lambda: check_ids(findings or (), plan_items))
    if findings is None or merges is None:
        return tuple(findings or ()), {}
    return tuple(findings), problems.of(lambda: read_merges(merges, findings)) or {}


def with_fitted_calls(inputs: CrossInputs, matcher: Matcher | None, backend: Backend) -> CrossInputs:
    """Return the inputs of a run whose calls ask about as many findings at once as fit, however long these are.

    Inputs that state a number stay as they are, and so do those for models whose context is unknown or has room for all
    findings. The context with the least room decides for all workers. A call asks about at least one finding, even if
    that does not fit.
    """
    if inputs.items_per_call is not None or not isinstance(backend, BoundedBackend):
        return inputs
    items = [
        Item(finding_id=event.finding_id, summary=event.summary, evidence=event.evidence)
        for events in group_events(inputs, matcher)
        for event in events
    ]
    rooms = [
        (room, worker) for worker in inputs.analysers if (room := backend.room(_request(inputs, worker))) is not None
    ]
    if not rooms or not items:
        return inputs
    room, worker = min(rooms)
    asked = [(), *((item,) for item in items)]
    fixed, *sizes = (prompt_tokens(backend.first_request(_request(inputs, worker, one)))[0] for one in asked)
    longest_first = accumulate(sorted((size - fixed for size in sizes), reverse=True))
    fitting = sum(CAUTION * (fixed + total) <= room.prompt for total in longest_first)
    size = max(1, min(fitting, room.answer // VOTE_TOKENS))
    return inputs if size >= len(items) else inputs.model_copy(update={"items_per_call": size})


def _request(inputs: CrossInputs, worker: str, items: tuple[Item, ...] = ()) -> WorkerRequest:
    return WorkerRequest(
        call_id=f"r1/{worker}",
        worker=worker,
        round=1,
        mode=inputs.mode,
        verification_mode=inputs.settings["verificationMode"],
        items=items,
    )
