"""`verify`: may this plan be executed? From the arguments to the run (part A of the rules)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.documents.dimensions.check_context import tasks_and_features
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem, Problems, SettingsError
from verifyplan.plans.plan import Plan, parse_plan, read_plan
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunStarted
from verifyplan.protocol.plan_rules import PlanRules, Policy
from verifyplan.protocol.records import TeamMode
from verifyplan.protocol.settings import BlockedWord, PanelSettings, PlanSettings
from verifyplan.repository.reading import hidden_folder
from verifyplan.repository.repository import Repository
from verifyplan.runs.arguments import (
    check_affordable,
    check_booleans,
    check_counts,
    check_log_dir,
    check_workers,
    make_backend,
    read_folder,
    writable,
)
from verifyplan.runs.plan.loop import drive_plan
from verifyplan.runs.plan.pauses import PauseHandler
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.settings import read_settings
from verifyplan.runs.start import describe_repository, driven, open_log, start_event

DEFAULT_PANEL = PanelSettings()


@dataclass(frozen=True)
class PreparedPlanRun:
    """A plan run whose arguments were read; nothing is written and no agent is called before it is driven."""

    started: RunStarted
    """Its first event, with its settings and inputs."""
    plan: Plan
    """The plan as it was read; the first event has its text without keys."""
    backend: Backend
    """Who answers, made for the folder that the plan is about."""
    log_dir: str | Path | None
    """The folder of its log; None writes nothing."""
    log_stem: str
    """The name of its log, before the number."""
    pause_handler: PauseHandler | None = None
    """Answers pauses; None where the settings decide."""
    sink: Sink | None = None
    progress: bool | None = None

    def drive(self) -> PlanRun:
        """Drive the run to its end, or to a pause that nobody answers, and write its log."""
        with open_log(self.log_dir, self.log_stem, self.sink) as log:
            drive_plan(self.started, self.backend, log.recorder, self.pause_handler, self.progress)
        return PlanRun(log.recorder.finished(), log.path, log.run_id)


# `driven` drives what this body prepares: callers get a PlanRun, as the docstring says.
@driven(PlanRun)
def verify(
    plan: str | Path | Plan | PlanDocument,
    repo: str | Path = ".",
    *,
    backend: str | Backend = "static",
    panel: PanelSettings | Sequence[str] | None = DEFAULT_PANEL,
    rules: PlanRules | Mapping[str, Any] | str | Path | None = None,
    policy: Policy | None = None,
    on_blocked: BlockedWord | PauseHandler = "continue",
    team: TeamMode | None = None,
    threshold: int | None = None,
    max_iterations: int | None = None,
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
) -> PreparedPlanRun:
    r"""Let agents challenge a plan, look things up and settle the challenges; judge by counts whether to execute it.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        plan: the plan: a Markdown file, what `plans.parse_plan` read from a text, or a `PlanDocument`.
        repo: the folder that the plan is about; nothing outside it is read, and nothing in it is changed.
        backend: who plays the agents: `"static"` (offline, the same answers every time), `agents.Anthropic(...)`, or
            an object of your own with the methods of `agents.base.Backend`.
        panel: who votes on the challenges: a `PanelSettings`, or names of workers; None for no panel.
        rules: what decides the run: a `PlanRules`, the name of a preset, a mapping of fields, or a JSON file; None for
            the rules of the protocol.
        policy: of the rules: `"protocol"` judges by the counts at once; `"deliberate"` goes on while evidence is
            pending (rule A3).
        on_blocked: what happens where a BLOCKING challenge is left: `"continue"`; `"pause"` stops the run until
            `resume` brings an answer; or a function that takes a `Pause` and returns an `Answer`, its text such as
            "acknowledge:C3", or None to stop and wait.
        team: `"base"` or `"scaled"`, whatever the plan; None chooses by the plan's complexity.
        threshold: of the rules: the complexity, 0 to 16, from which on the team is scaled; None for 7.
        max_iterations: of the rules: how many iterations there are at most, the last one ends with a verdict; None for
            3.
        weights: the weight of each of the six dimensions of the score: decimals that sum to exactly 1, or a weights
            file (`weights.save`); None for the default. The score informs and never decides the verdict.
        plan_check: whether the blockers that a plan check finds in the text of a PLAN document become challenges of
            the first iteration (rule D4).
        timeout: the seconds that one call may take; None for no limit.
        max_tokens: how many tokens, in and out, the run may use; it then ends without a verdict. None for any number.
        max_cost: how many US dollars the run may cost, for a backend that knows its prices; None for any sum.
        repetition: the number of this run among runs of the same plan and settings, from 1.
        log_dir: the folder that the run log is written to; None writes none, and such a run cannot be resumed.
        sink: a function that is called with each event as it happens; an error that it raises ends the run.
        progress: whether to show progress; None shows it in a terminal or a notebook.
        synthetic: whether to mark the run as one whose plan or answers were generated.

    Returns:
        A `PlanRun`: `.verdict`, `.status`, `.score`, `.report()`, `.frames`, `.state`, `.waiting`, `.log_path`.

    Raises:
        InputError: for a plan, a folder or a setting that cannot be used, listing all problems at once; a SettingsError
            where a setting is among them.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> plan = parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    >>> verify(plan, backend=ScriptedBackend({}), log_dir=None).verdict
    'PROCEED'
    """
    problems = Problems()
    settings = read_settings(
        problems, on_blocked, weights, panel, rules, policy=policy, max_iterations=max_iterations, threshold=threshold,
        team=team, timeout=timeout, plan_check=plan_check, max_tokens=max_tokens, max_cost=max_cost,
    )  # fmt: skip
    error = SettingsError if problems else InputError
    parsed = problems.of(lambda: _read_plan(plan))
    folder = problems.of(lambda: read_folder(repo, "repo", "the plan"))
    bound = problems.of(lambda: make_backend(backend, (), folder or ".", repetition))
    problems.of(lambda: check_log_dir(log_dir))
    problems.of(lambda: check_counts(repetition=repetition))
    problems.of(lambda: check_booleans(synthetic=synthetic))
    if parsed is not None and plan_check is True:
        problems.of(lambda: _expect_tasks(parsed))
    if bound is not None and settings is not None:
        problems.of(lambda: check_workers(bound, settings.panel.workers if settings.panel else ()))
        problems.of(lambda: check_affordable(bound, settings))
    if problems or parsed is None or bound is None or settings is None:
        raise error(problems)
    started = first_event(parsed, repo, settings, bound, synthetic=synthetic, repetition=repetition)
    handler = None if isinstance(on_blocked, str) else on_blocked
    stem = Path(started.plan.plan_name).stem or "plan"
    return PreparedPlanRun(started, parsed, bound, log_dir, stem, handler, sink, progress)


def _read_plan(plan: object) -> Plan:
    """Return the plan, read if it is a file; InputError where it is blank, or holds what no log can."""
    if isinstance(plan, PlanDocument):
        plan = parse_plan(plan.text, plan.path)
    if not isinstance(plan, str | Path | Plan):
        fix = "name a Markdown file, or give what parse_plan reads from a text"
        raise InputError(Problem("plan", f"is a {type(plan).__name__}, not a path", fix))
    path = plan.path if isinstance(plan, Plan) else str(plan)
    if not writable(path):
        raise InputError(Problem("plan", f"{path!r} is a name that no log can hold", "rename the file"))
    parsed = plan if isinstance(plan, Plan) else read_plan(plan)
    if not parsed.text.strip():
        raise InputError(Problem("plan", f"{path!r} holds no text", "write the plan down, or name another file"))
    if not writable(parsed.text):
        fix = "read the text as UTF-8"
        raise InputError(Problem("plan", "holds halves of surrogate pairs, which cannot be written down", fix))
    return parsed


def _expect_tasks(plan: Plan) -> None:
    """Raise an InputError unless a plan is a PLAN document, with frontmatter or tasks: the check reads no other."""
    document = PlanDocument.read(read_source(plan.text, plan.path))
    if not tasks_and_features(document) and not document.source.front.last:
        fix = "write its tasks as <task> elements, or leave plan_check out"
        raise InputError(Problem("plan_check", f"{plan.path!r} is not a PLAN document: it has no tasks", fix))


def first_event(
    plan: Plan,
    repo: str | Path,
    settings: PlanSettings,
    backend: Backend,
    *,
    synthetic: bool = False,
    repetition: int = 1,
) -> RunStarted:
    """Return the first event of a plan run; it says how many of the files that the plan names the repository has."""
    name = re.sub(r"[^\w.-]+", "-", Path(plan.path).name).strip("-") or "plan.md"
    repository = Repository.open(repo, plan.text)
    looked_up = [path for path in plan.files if not (path.startswith(("/", "~", "..")) or hidden_folder(path))]
    named = [path for path in looked_up if not plan.creates(path)]
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
    return start_event(plan.title or name, inputs, backend, synthetic=synthetic, repetition=repetition)
