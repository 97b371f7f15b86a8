"""`verify`: may this plan be executed? From the arguments to the run (part A of the rules)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from verifyplan.agents.base import Backend
from verifyplan.documents.dimensions.check_context import tasks_and_features
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.documents.reading.source import read_source
from verifyplan.errors import InputError, Problem, Problems, SettingsError, one_of
from verifyplan.plans.plan import Plan, parse_plan, read_plan
from verifyplan.protocol.event import Sink
from verifyplan.protocol.event_run import PlanInputs, RunStarted
from verifyplan.protocol.records import DIMENSIONS, TeamMode
from verifyplan.protocol.settings import ON_BLOCKED, OnBlocked, PanelSettings, PlanSettings, Policy
from verifyplan.protocol.weights_file import load, text_of
from verifyplan.repository.repository import Repository
from verifyplan.rules.scoring import check_weights
from verifyplan.rules.sizing import THRESHOLD
from verifyplan.runs.arguments import (
    check_booleans,
    check_counts,
    check_log_dir,
    read_folder,
    read_roster,
    timeout_problems,
    writable,
)
from verifyplan.runs.backends import check_affordable, check_workers, make_backend
from verifyplan.runs.plan.loop import drive_plan
from verifyplan.runs.plan.pauses import PauseHandler
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.start import describe_repository, open_log, start_event

DEFAULT_PANEL = PanelSettings()

BY_WORD = tuple(word for word in ON_BLOCKED if word != "ask")
"""The words that `on_blocked` can be; "ask" is how settings say that a function answers."""


def verify(
    plan: str | Path | Plan | PlanDocument,
    repo: str | Path = ".",
    *,
    backend: str | Backend = "static",
    panel: PanelSettings | Sequence[str] | None = DEFAULT_PANEL,
    policy: Policy = "protocol",
    on_blocked: OnBlocked | PauseHandler = "continue",
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
    r"""Let agents challenge a plan, look things up and settle the challenges; judge by counts whether to execute it.

    Call it from a script or a notebook alike; code that awaits calls it through `asyncio.to_thread`.

    Args:
        plan: the plan: a Markdown file, what `plans.parse_plan` read from a text, or a `PlanDocument`.
        repo: the folder that the plan is about; nothing outside it is read, and nothing in it is changed.
        backend: who plays the agents: `"static"` (offline, the same answers every time), `agents.Anthropic(...)`, or
            an object of your own with the methods of `agents.base.Backend`.
        panel: who votes on the challenges: a `PanelSettings`, or names of workers; None for no panel.
        policy: `"protocol"` judges by the counts at once; `"deliberate"` goes on while evidence is pending (rule A3).
        on_blocked: what happens where a BLOCKING challenge is left: `"continue"`; `"pause"` stops the run until
            `resume` brings an answer; or a function that takes a `Pause` and returns an `Answer`, its text such as
            "acknowledge:C3", or None to stop and wait.
        team: `"base"` or `"scaled"`, whatever the plan; None chooses by the plan's complexity.
        threshold: the complexity, 0 to 16, from which on the team is scaled.
        max_iterations: how many iterations there are at most; the last one ends with a verdict.
        weights: the weight of each of the six dimensions of the score: decimals that sum to exactly 1, or a weights
            file (`weights.save`); None for the default. The score informs and never decides the verdict.
        plan_check: whether the blockers that a plan check finds in the text of a PLAN document become challenges of
            the first iteration (rule D4).
        timeout: the seconds that one call may take; None waits for ever.
        max_tokens: how many tokens, in and out, the run may use; it then ends without a verdict. None for any number.
        max_cost: how many US dollars the run may cost, for a backend that knows its prices; None for any sum.
        repetition: the number of this run among runs of the same plan and settings, from 1.
        log_dir: the folder that the run log is written to; None writes none, and such a run cannot be resumed.
        sink: a function that is called with each event as it happens; what it raises ends the run.
        progress: whether to show progress; None shows it in a terminal or a notebook.
        synthetic: whether to mark the run as one whose plan or answers were generated.

    Returns:
        A `PlanRun`: `.verdict`, `.status`, `.score`, `.report()`, `.frames`, `.state`, `.waiting`, `.log_path`.

    Raises:
        InputError: for a plan, a folder or a setting that cannot be used, listing all problems at once.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> plan = parse_plan("# Fix a typo\n\nCorrect the spelling in `README.md`.")
    >>> verify(plan, backend=ScriptedBackend({}), log_dir=None).verdict
    'PROCEED'
    """
    arguments = read_plan_arguments(
        plan,
        repo,
        backend,
        log_dir,
        repetition=repetition,
        synthetic=synthetic,
        panel=panel,
        policy=policy,
        on_blocked=on_blocked,
        team=team,
        threshold=threshold,
        max_iterations=max_iterations,
        weights=weights,
        plan_check=plan_check,
        timeout=timeout,
        max_tokens=max_tokens,
        max_cost=max_cost,
    )
    started = begin(arguments, repo, synthetic=synthetic, repetition=repetition)
    handler = None if isinstance(on_blocked, str) else on_blocked
    with open_log(log_dir, Path(started.plan.plan_name).stem or "plan", sink) as log:
        drive_plan(started, arguments.backend, log.recorder, handler, progress)
    return PlanRun(tuple(log.recorder.records), log.path, log.run_id)


class PlanArguments(NamedTuple):
    """Arguments of `verify` that can be used."""

    plan: Plan
    backend: Backend
    settings: PlanSettings


def read_plan_arguments(
    plan: object,
    repo: object,
    backend: str | Backend,
    log_dir: object,
    *,
    repetition: object = 1,
    synthetic: object = False,
    **options: object,
) -> PlanArguments:
    """Read the plan, make the backend and the settings; InputError listing everything that is wrong.

    `options` are the arguments of `verify` that become settings, `on_blocked` as a word or a function.
    """
    problems = Problems()
    on_blocked, max_cost = options["on_blocked"], options["max_cost"]
    if on_blocked not in BY_WORD and not callable(on_blocked):
        expected = f"{one_of(BY_WORD)}, or a function that answers"
        problems.append(Problem("on_blocked", f"must be {expected}, got {on_blocked!r}", f"use {expected}"))
    weights = problems.of(lambda: _read_weights(options["weights"]))
    panel = problems.of(lambda: _read_panel(options["panel"]))
    options |= {
        "max_cost": str(max_cost) if isinstance(max_cost, float) else max_cost,
        "on_blocked": on_blocked if on_blocked in BY_WORD else "ask",
        "weights": weights,
        "panel": panel,
    }
    settings = problems.of(lambda: make_settings(**options))
    parsed = problems.of(lambda: _read_plan(plan))
    folder = problems.of(lambda: read_folder(repo, "repo", "the plan"))
    made = problems.of(lambda: make_backend(backend, (), folder or "."))
    problems.of(lambda: check_log_dir(log_dir))
    problems.of(lambda: check_counts(repetition=repetition))
    problems.of(lambda: check_booleans(synthetic=synthetic))
    if parsed is not None and options["plan_check"] is True:
        problems.of(lambda: _expect_tasks(parsed))
    if made is not None and panel is not None:
        problems.of(lambda: check_workers(made, panel.workers))
    if made is not None and settings is not None:
        problems.of(lambda: check_affordable(made, settings))
    if problems or parsed is None or made is None or settings is None:
        raise SettingsError(problems) if settings is None else InputError(problems)
    return PlanArguments(parsed, made, settings)


def make_settings(**settings: object) -> PlanSettings:
    """Return the settings of a plan run; SettingsError listing everything that does not fit."""
    problems = timeout_problems(settings.get("timeout"))
    try:
        made = PlanSettings.model_validate(settings)
    except ValidationError as error:
        raise SettingsError(problems + _misfits(error)) from None
    problems = problems or timeout_problems(made.timeout)  # "-5" and "nan" are read as numbers
    if problems:
        raise SettingsError(problems)
    return made


_EXPECTED = {
    "literal_error": "{expected}",
    "greater_than": "a number above {gt}",
    "greater_than_equal": "an integer of at least {ge}",
    "less_than_equal": "an integer of at most {le}",
    "int": "an integer",
    "float": "a number",
    "decimal": "a number",
    "finite": "a finite number",
    "bool": "True or False",
    "string": "a text",
}
"""What a setting must be, by the type of pydantic's error or the first word of it."""


def _misfits(error: ValidationError, *above: str) -> list[Problem]:
    """Return a problem for each setting that does not fit, in words."""
    problems = []
    for detail in error.errors(include_url=False):
        kind = detail["type"]
        form = _EXPECTED.get(kind) or _EXPECTED.get(kind.partition("_")[0])
        expected = form.format(**detail.get("ctx", {})) if form else detail["msg"].removeprefix("Input should be ")
        message = "is no setting" if kind == "extra_forbidden" else f"must be {expected}, got {detail['input']!r}"
        place = ".".join(str(part) for part in (*above, *detail["loc"]))
        problems.append(Problem(place, message, "see the arguments of verify"))
    return problems


def _read_weights(weights: object) -> dict[str, str] | None:
    """Return weights as the log has them, from a mapping or a weights file; InputError listing all that is wrong."""
    if weights is None:
        return None
    if isinstance(weights, str | Path):
        return {name: text_of(weight) for name, weight in load(weights, DIMENSIONS).items()}
    if not isinstance(weights, Mapping):
        fix = "give a mapping of the six dimensions to decimals, or a weights file"
        raise SettingsError(Problem("weights", f"must be a mapping, got a {type(weights).__name__}", fix))
    by_name = {str(name): weight for name, weight in weights.items()}
    check_weights(by_name)
    return {name: str(weight) for name, weight in by_name.items()}


def _read_panel(panel: object) -> PanelSettings | None:
    """Return settings or names of workers as settings; SettingsError where they cannot be a panel."""
    if panel is None:
        return None
    if isinstance(panel, Mapping):
        try:
            panel = PanelSettings.model_validate(dict(panel))
        except ValidationError as error:
            raise SettingsError(_misfits(error, "panel")) from None
    fix = "give names of workers, a PanelSettings, or None for no panel"
    names = panel.workers if isinstance(panel, PanelSettings) else panel
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise SettingsError(Problem("panel", f"must name workers, got {names!r}", fix))
    try:
        workers = tuple(read_roster(names))
    except SettingsError as error:
        raise SettingsError(Problem("panel", problem.message, problem.fix) for problem in error.problems) from None
    return panel if isinstance(panel, PanelSettings) else PanelSettings(workers=workers)


def _read_plan(plan: object) -> Plan:
    """Return the plan, read if it is a file; InputError where it is blank, or holds what no log can."""
    if isinstance(plan, PlanDocument):
        plan = parse_plan(plan.text, plan.path)
    if not isinstance(plan, str | Path | Plan):
        fix = "name a Markdown file, or give what parse_plan reads from a text"
        raise InputError(Problem("plan", f"is a {type(plan).__name__}, not a path", fix))
    path = plan.path if isinstance(plan, Plan) else str(plan)
    if not writable(path):
        raise InputError(Problem("plan", f"{path!r} is a name that cannot be written down", "rename the file"))
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


def begin(arguments: PlanArguments, repo: str | Path, *, synthetic: bool = False, repetition: int = 1) -> RunStarted:
    """Return the first event of a plan run; it says how many of the files that the plan names the repository has."""
    plan = arguments.plan
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
        settings=arguments.settings,
    )
    return start_event(plan.title or name, inputs, arguments.backend, synthetic=synthetic, repetition=repetition)
