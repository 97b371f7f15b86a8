"""Read a run from its log, and resume a run that was broken off or waits (rules A4, E2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import Any

from verifyplan import agents
from verifyplan.agents.anthropic.changed_prompts import changed_prompts
from verifyplan.agents.base import Backend
from verifyplan.agents.functions import changed_functions
from verifyplan.errors import InputError, LogError, Problem, SettingsError, without_keys_in_tracebacks
from verifyplan.progress import say
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import CrossInputs, DebateInputs, PlanInputs, RunReopened, RunStarted
from verifyplan.rules.going_on import FUNCTIONS
from verifyplan.rules.grouping import Matcher
from verifyplan.runlog.chain import Record
from verifyplan.runlog.reader import Log, read_log
from verifyplan.runlog.recorder import Past, Recorder
from verifyplan.runlog.writer import LogWriter
from verifyplan.runs.arguments import bind_backend, check_affordable
from verifyplan.runs.batch.journal import turns_in_batches, was_in_batches
from verifyplan.runs.cross.loop import drive_cross
from verifyplan.runs.cross.run import CrossRun, write_artifact_of
from verifyplan.runs.debate.loop import drive_debate
from verifyplan.runs.debate.pair import NAME as PAIR
from verifyplan.runs.debate.pair import backend_of_roles
from verifyplan.runs.debate.run import Debate
from verifyplan.runs.merges import matcher_of
from verifyplan.runs.plan.loop import drive_plan
from verifyplan.runs.plan.pauses import Answer, PauseHandler, read_answer
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.reopen import Retryable, Terms, check_unused, resumption, retry_words, retryable
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present, limits_of, resume_hint
from verifyplan.version import VERSION

IN_BATCHES = (
    "this run went in message batches: its failed calls are asked one by one here, at the full price; the "
    "`verifyplan batch` that began it asks them in batches with --retry-failed"
)

FUNCTIONS_DIFFER = (
    "Warning: the source of the function of {names} is not the source that the log records. Recorded answers are kept; "
    "only calls without an answer use the new function. If it must answer everything, begin a new run."
)

PROMPTS_DIFFER = (
    "Warning: the prompts of {names} are not those that the log records (version {then} of verifyplan, now {now}). "
    "Recorded answers are kept; only calls without an answer use the new prompts. If all calls must use the same "
    "prompts, resume with the version that began the run, or begin a new run."
)


def read_run(path: str | Path) -> Run:
    """Return the run that a log holds, ended or not; nothing is called and nothing is written.

    Raises LogError for a log that cannot be read or is damaged.

    >>> import verifyplan as vp
    >>> log = next(vp.datasets.path("live-example/plan").rglob("*.jsonl"))
    >>> print(read_run(log).verdict)
    RETHINK
    """
    return run_of(read_log(path).records, Path(path), Path(path).stem)


def run_of(records: Sequence[Record], path: Path | None, run_id: str) -> Run:
    """Return the records of a log as a run of its kind."""
    first = records[0].event
    if isinstance(first, RunStarted) and first.inputs.kind == "cross":
        artifact = path.with_suffix(".json") if path else None
        return CrossRun(records, path, run_id, path=artifact if artifact and artifact.exists() else None)
    if isinstance(first, RunStarted) and first.inputs.kind == "debate":
        return Debate(records, path, run_id)
    return PlanRun(records, path, run_id)


@without_keys_in_tracebacks
def resume(
    path: str | Path | Run,
    answer: Answer | str | None = None,
    *,
    note: str = "",
    backend: str | Backend | None = None,
    repo: str | Path | None = None,
    base_url: str | None = None,
    matcher: str | Matcher | None = None,
    on_blocked: PauseHandler | None = None,
    retry_failed: bool = False,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    timeout: float | None = None,
    max_retries: int | None = None,
    sink: Sink | None = None,
    progress: bool | None = None,
) -> Run:
    """Go on with a run that was broken off or waits: recorded replies are used, the rest is called.

    No call whose reply is on disk is made again; calls that were in flight are, and the log says so. A run that has
    ended is returned unchanged, unless `retry_failed` asks its failed calls again, and those that a limit kept back.
    What followed from their failure is then decided again, replies to requests that stay equal still count, and the log
    contains both decisions (rule E6).

    Args:
        path: the run log, or a run that has one.
        answer: the answer to the question that the run waits with: `"acknowledge:C3"`, `"override:C3"`, `"context"`,
            `"abort"`, or an `Answer`.
        note: the person's words, with an answer that is a text.
        backend: the backend that answers from here on, in a debate for both roles; by default the one that the log
            describes, if that is a model or `"static"`.
        repo: the folder of the repository, if it was moved.
        base_url: the endpoint to use, if it is not that of this environment; the endpoint that the log names is not
            used by itself, since your key would be sent to it.
        matcher: your own matcher, if the findings were grouped by one.
        on_blocked: a function that answers later pauses; by default the run waits again if its settings say so.
        retry_failed: whether to ask failed calls again: those that raised an error, timed out, or were not sent as a
            limit was reached. For a run in message batches, they are asked one by one, at the full price; to ask them
            in batches, use the `retry_failed` of `batch_verify` and `batch_crossverify`.
        max_tokens: the new limit, which includes what was used before; None keeps the old one.
        max_cost: the new limit in US dollars, likewise.
        timeout: the seconds that one call may take from here on, and one request of the log's models; None keeps the
            old value.
        max_retries: how often one request of the log's models may be repeated from here on; None keeps the old value.
        sink: a function that is called with each new event as it happens.
        progress: whether to show progress; by default in a terminal or a notebook.

    Raises:
        LogError: for a log that is damaged, in use, or does not follow from its own replies.
        InputError: for an answer that does not fit, or if the run does not wait; for limits that are used up already.

    >>> import verifyplan as vp
    >>> vp.resume(
    ...     "runs/purge-hour-001.jsonl", answer="acknowledge:C1", note="seen by the team"
    ... )  # doctest: +SKIP
    >>> vp.resume("runs/purge-hour-001.jsonl", retry_failed=True, max_cost=5)  # doctest: +SKIP
    """
    path = _log_of(path)
    if retry_failed and answer is not None:
        fix = "retry first: the question may then be another, or none"
        raise InputError(Problem("answer", "cannot be given with retry_failed", fix))
    writer, log = LogWriter.resume(path)
    with writer, resume_hint(path, " --retry-failed" if retry_failed else ""):
        run = run_of(log.records, path, path.stem)
        handler = _pause_handler(run, answer, note, on_blocked)
        past = Past(log.records)
        before = limits_of(at_present(run.started, past))
        changed = Terms.read(before, max_tokens=max_tokens, max_cost=max_cost, timeout=timeout, max_retries=max_retries)
        found = retryable(log.records, before) if retry_failed else Retryable()
        if found.superseded_from is None:
            if words := words_before_resuming(run, retry_failed=retry_failed):
                say(words, progress)
            if run.has_ended:
                return write_artifact_of(run)
            if isinstance(run, PlanRun) and run.waiting is not None and handler is None:
                return run
        _check_max_retries(max_retries, run, backend)
        past.note_terms(changed)
        started = at_present(run.started, past)
        bound = _backend(started, backend, repo, base_url, past)
        _warn_of_changes(started, bound.describe())
        _expect_no_replies_in_batches(path, log, past)
        resumed = resumption(log, found, changed, bound, past.in_flight)
        if isinstance(resumed, RunReopened):
            check_unused(limits_of(started), past)
            if was_in_batches(path, log.records):
                say(IN_BATCHES, progress)
        recorder = Recorder(writer, past, resumed, sink)
        drive(started, bound, recorder, matcher=matcher, on_blocked=handler, progress=progress)
    return write_artifact_of(read_run(path))


def _log_of(run: str | Path | Run) -> Path:
    """Return the path of a run's log; InputError for a run that has none."""
    if not isinstance(run, Run):
        return Path(run)
    if run.log_path is None:
        raise InputError(Problem("path", "is a run without a log", "run it with log_dir to be able to resume it"))
    return run.log_path


def words_before_resuming(run: str | Path | Run, *, retry_failed: bool) -> str:
    """Return what `resume` says about a run for which it would make no call; blank if it says nothing."""
    run = run if isinstance(run, Run) else read_run(run)
    found = retryable(run.records, limits_of(at_present(run.started, Past(run.records))))
    if retry_failed and found.superseded_from is not None:
        return ""
    return retry_words(found, str(run.log_path), ended=run.has_ended, retry_failed=retry_failed)


def _check_max_retries(max_retries: int | None, run: Run, backend: str | Backend | None) -> None:
    """Raise SettingsError where retries cannot be set, as the log's models do not go on."""
    if max_retries is not None and (backend is not None or "anthropic" not in str(run.started.backend)):
        fix = "leave it out, or give the backend that goes on with it: agents.Anthropic(..., max_retries=...)"
        raise SettingsError(Problem("max_retries", "applies only to models that the log names", fix))


def _warn_of_changes(started: RunStarted, present: Mapping[str, Any]) -> None:
    """Say whose functions and prompts are not those that the log records; `present` describes the backend of now."""
    if names := changed_functions(started.backend, present):
        say(FUNCTIONS_DIFFER.format(names=", ".join(names)), shown=True)
    if names := changed_prompts(started.backend, present, started.inputs):
        then, now = started.versions.get("verifyplan", "unknown"), VERSION
        say(PROMPTS_DIFFER.format(names=", ".join(names), then=then, now=now), shown=True)


def _expect_no_replies_in_batches(path: Path, log: Log, past: Past) -> None:
    """Raise LogError for exchanges that wait for a message batch: asking here would pay for them twice."""
    if turns := turns_in_batches(path, log.records, past):
        fix = "run the `verifyplan batch` that began it again, which collects them"
        raise LogError(Problem(str(path), f"waits for {', '.join(turns[:3])} from a message batch", fix))


def drive(
    started: RunStarted,
    backend: Backend | None,
    recorder: Recorder,
    *,
    matcher: str | Matcher | None = None,
    strict: bool = True,
    on_blocked: PauseHandler | None = None,
    progress: bool | None = None,
) -> None:
    """Drive a run of any kind from what `recorder` holds of it; `matcher` and `strict` are those of `matcher_of`."""
    if isinstance(started.inputs, CrossInputs):
        drive_cross(started, backend, matcher_of(started.inputs, matcher, strict=strict), recorder, progress)
    elif isinstance(started.inputs, DebateInputs):
        drive_debate(started, backend, recorder, progress)
    else:
        drive_plan(started, backend, recorder, on_blocked, progress)


def _pause_handler(
    run: Run, answer: Answer | str | None, note: str, on_blocked: PauseHandler | None
) -> PauseHandler | None:
    """Return what answers pauses: `answer` the first, `on_blocked` the later ones."""
    if note and not isinstance(answer, str):
        fix = "give it with an answer such as 'context', or within the Answer"
        raise InputError(Problem("note", "needs an answer that is a text, and there is none", fix))
    if answer is None:
        return on_blocked
    if not isinstance(run, PlanRun) or run.waiting is None:
        fix = f"resume without an answer; `verifyplan log {quote(str(run.log_path))}` shows how far the run is"
        raise LogError(Problem(str(run.log_path), "does not wait for an answer", fix))
    answers: list[Answer] = [read_answer(answer, note) if isinstance(answer, str) else answer]
    return lambda pause: answers.pop() if answers else on_blocked(pause) if on_blocked else None


def _backend(
    started: RunStarted, backend: str | Backend | None, repo: str | Path | None, base_url: str | None, past: Past
) -> Backend:
    """Return the backend that answers from here on; SettingsError if the log's cannot be made from its name."""
    inputs, recorded = started.inputs, started.backend
    if isinstance(inputs, DebateInputs):
        if backend is None and recorded.get("name") == PAIR:
            roles = [_recorded_backend(recorded.get(role) or {}, base_url, past) for role in ("architect", "builder")]
        else:
            roles = [_recorded_backend(recorded, base_url, past) if backend is None else backend] * 2
        pair = backend_of_roles(roles[0], roles[1], repo or inputs.repository["root"], started.repetition)
        check_affordable(pair, inputs.limits)
        return pair
    backend = _recorded_backend(recorded, base_url, past) if backend is None else backend
    if isinstance(inputs, PlanInputs):
        panel = inputs.settings.panel.workers if inputs.settings.panel else ()
        root = repo or inputs.repository["root"]
        return bind_backend(backend, panel, root, inputs.settings, started.repetition)
    roster = recorded.get("workers") or inputs.analysers
    return bind_backend(backend, roster, repo or inputs.root, inputs.limits, started.repetition)


def _recorded_backend(description: dict[str, Any], base_url: str | None, past: Past) -> str | Backend:
    """Return the backend that a log describes; SettingsError if it cannot be made from its name."""
    name = description.get("name")
    if name == "anthropic":
        changed: dict[str, Any] = {} if past.max_retries is None else {"max_retries": past.max_retries}
        if past.timeout is not None:
            changed["timeout"] = max(past.timeout, description.get("timeout") or 0.0)
        return agents.Anthropic.described(description | changed, base_url)
    if name != "static":
        fix = "pass backend=, an object that answers as the first one did"
        if name == FUNCTIONS:
            fix = (
                "functions are not in the log, and no shell command makes them: in Python give those that answered "
                "first, vp.resume(path, backend=vp.agents.from_function(...))"
            )
        raise SettingsError(
            Problem("backend", f"the log was written with {name!r}, which cannot be made from its name", fix)
        )
    return "static"
