"""`verify`: may this plan be executed? From the arguments to the run (part A of the rules)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

from verifyplan.agents.base import Backend
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.engine.calls import Caller, Emitter, UsageBudget
from verifyplan.engine.run_async import in_session, run_async
from verifyplan.plans.assessment import assess
from verifyplan.plans.plan import Plan, parse_plan
from verifyplan.progress import progress as progress_bar
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunStarted
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.settings import OnBlocked, PanelSettings, PlanSettings, Policy
from verifyplan.repository.repository import Repository
from verifyplan.rules.sizing import THRESHOLD
from verifyplan.runlog.plan_state import PlanState
from verifyplan.runlog.recorder import Recorder
from verifyplan.runs.arguments import check_counts
from verifyplan.runs.plan.active_run import ActiveRun
from verifyplan.runs.plan.arguments import read_plan_arguments
from verifyplan.runs.plan.loop import run_iterations
from verifyplan.runs.plan.ruling import Ask, WaitingError
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.run import describe_repository, open_log, start_event

DEFAULT_PANEL = PanelSettings()


def verify(
    plan: str | Path | Plan | PlanDocument,
    repo: str | Path = ".",
    *,
    backend: str | Backend = "static",
    panel: PanelSettings | Sequence[str] | None = DEFAULT_PANEL,
    policy: Policy = "protocol",
    on_blocked: OnBlocked | Ask = "continue",
    team: TeamMode | None = None,
    threshold: int = THRESHOLD,
    max_iterations: int = 3,
    weights: Mapping[str, Decimal | str] | str | Path | None = None,
    plan_check: bool = False,
    timeout: float | None = 600.0,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    repetition: int = 1,
    log_dir: str | Path | None = "runs",
    sink: Sink | None = None,
    progress: bool | None = None,
    synthetic: bool = False,
) -> PlanRun:
    r"""Let a team challenge a plan, research it and settle the challenges, and judge by counts whether to execute it.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        plan: a Markdown file, a `Plan` that `parse_plan` read from a text, or a `PlanDocument`.
        repo: the folder that the plan is about; nothing outside it is read, nothing in it is changed.
        backend: `"static"` (offline, deterministic), or any object with the methods of `agents.base.Backend`.
        panel: who votes on the challenges: settings, or names of workers; None for no panel.
        policy: `"protocol"`, or `"deliberate"`, which keeps looking while evidence is pending (rule A3).
        on_blocked: `"continue"`, `"pause"` (the run stops and waits; `resume` goes on with an answer), or a
            function that takes a `Pause` and gives an `Answer`, its text such as "acknowledge:C3", or None to wait.
        team: `"base"` or `"scaled"`, for a trivial plan, too; None lets the plan's complexity decide.
        threshold: the complexity, 0-16, from which on the team is scaled.
        max_iterations: the last iteration, at which the counts give a verdict.
        weights: of the six dimensions of the score, decimals that sum to exactly 1, or the path of a weights file
            (`weights.save`). The score informs and never decides the verdict.
        plan_check: whether the blockers that a plan check finds in the plan's text alone (rule D4) are challenges of
            the first iteration; for PLAN documents.
        timeout: seconds that one call may take; None waits for ever.
        max_tokens: tokens, in and out, after which no call is made and the run ends without a verdict.
        max_cost: US dollars after which no call is sent; only with a backend that knows its prices.
        repetition: which run of the same plan and settings this is, from 1.
        log_dir: the folder of the run log; None writes none, and such a run cannot be resumed.
        sink: called with each event as it happens; what it raises ends the run.
        progress: whether to show it; by default where somebody can see it.
        synthetic: marks a run whose plan or answers were generated.

    Returns:
        A `PlanRun`: `.verdict`, `.status`, `.score`, `.report()`, `.frames`, `.state`, `.waiting`, `.log_path`.

    Raises:
        InputError: for a plan, repository or setting that cannot be used, listing all problems.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> plan = parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    >>> verify(plan, backend=ScriptedBackend({}), log_dir=None).verdict
    'PROCEED'
    """
    arguments = dict(locals())  # by the names of the parameters
    options = {name: arguments[name] for name in PlanSettings.model_fields}
    check_counts(repetition=repetition)
    parsed, speaker, settings = read_plan_arguments(plan, repo, backend, log_dir, options)
    started = begin(parsed, repo, speaker, settings, synthetic=synthetic, repetition=repetition)
    ask = None if isinstance(on_blocked, str) else on_blocked
    with open_log(log_dir, Path(started.plan.plan_name).stem or "plan", sink) as log:
        drive_plan(started, speaker, log.recorder, ask, progress)
    return PlanRun(tuple(log.recorder.records), log.path, log.run_id)


def begin(
    plan: Plan,
    repo: str | Path,
    speaker: Backend,
    settings: PlanSettings,
    *,
    synthetic: bool = False,
    repetition: int = 1,
) -> RunStarted:
    """Return the first event of a plan run; it says how many of the files that the plan names the repository has."""
    name = re.sub(r"[^\w.-]+", "-", Path(plan.path).name).strip("-") or "plan.md"
    repository = Repository.open(repo, plan.text)
    named = [path for path in plan.files if not (plan.creates(path) or path.startswith(("/", "~", "..")))]
    present = [p for p in named if repository.has(p) or any(file.endswith(f"/{p}") for file in repository.files)]
    counts = {"files_named": len(named), "files_found": len(present)}
    inputs = PlanInputs(
        plan_path=str(Path(plan.path).absolute()),
        plan_name=name if Path(name).suffix else f"{name}.md",
        plan_text=plan.text,
        plan_sha256=hashlib.sha256(plan.text.encode()).hexdigest(),
        repository=describe_repository(repository) | counts,
        settings=settings,
    )
    return start_event(plan.title or name, inputs, speaker, synthetic=synthetic, repetition=repetition)


def drive_plan(
    started: RunStarted,
    backend: Backend | None,
    recorder: Recorder,
    ask: Ask | None = None,
    progress: bool | None = None,
) -> None:
    """Drive a plan run until it ends or waits, from nothing or from what `recorder` holds of it; show its progress.

    CensoredError where there is no backend and a reply is missing.
    """
    with progress_bar("verifying the plan", None, progress) as step:
        run_async(in_session(backend, run_plan_loop(started, backend, recorder, ask, step)))


async def run_plan_loop(
    started: RunStarted,
    backend: Backend | None,
    recorder: Recorder,
    ask: Ask | None = None,
    step: Callable[[], None] = lambda: None,
) -> None:
    """Run the iterations of a plan run; its events go to `recorder`.

    `drive_plan` holds the backend's connections and shows progress around it.
    """
    inputs, state = started.plan, PlanState()
    budget = UsageBudget(inputs.settings)
    emitter = Emitter(recorder, budget.add, state.add)
    emitter.emit(started)
    plan = parse_plan(inputs.plan_text, inputs.plan_path)
    caller = Caller(backend, emitter, budget, inputs.settings.timeout)
    run = ActiveRun(plan, inputs.settings, state, caller, emitter.emit, step)
    with suppress(WaitingError):
        await run_iterations(run, assess(plan), ask)
