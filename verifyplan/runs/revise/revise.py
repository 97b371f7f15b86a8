"""`revise`: a plan that got REVISE, debated and verified again until it may proceed (rule C5)."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from verifyplan.agents.base import Backend
from verifyplan.errors import InputError, Problem, without_keys_in_tracebacks
from verifyplan.files import write_text
from verifyplan.plans.plan import Plan, parse_plan
from verifyplan.protocol.settings import PlanSettings
from verifyplan.rules.debate import MAX_TURNS
from verifyplan.runs.arguments import check_booleans, check_counts, check_output, make_backend, read_folder
from verifyplan.runs.debate.debate import debate
from verifyplan.runs.debate.pair import backend_of_roles
from verifyplan.runs.plan.run import PlanRun
from verifyplan.runs.plan.settings import make_settings
from verifyplan.runs.plan.verify import PreparedPlanRun, first_event, verify
from verifyplan.runs.resume import read_run
from verifyplan.runs.revise.revision import Revision, Round, apply_debate, debate_task, open_challenges
from verifyplan.text import counted

MAX_ROUNDS = 3


@without_keys_in_tracebacks
def revise(
    run: PlanRun | str | Path | Plan,
    repo: str | Path | None = None,
    *,
    architect: Backend | None = None,
    builder: Backend | None = None,
    backend: str | Backend = "static",
    max_turns: int = MAX_TURNS,
    max_rounds: int = MAX_ROUNDS,
    log_dir: str | Path | None = "runs",
    out: str | Path | None = None,
    timeout: float | None = None,
    max_tokens: int | None = None,
    max_cost: Decimal | str | float | None = None,
    progress: bool | None = None,
    synthetic: bool = False,
) -> Revision:
    r"""Let architect and builder settle what is open about a plan that got REVISE, and verify the revised plan again.

    In each round the open BLOCKING and SIGNIFICANT challenges are debated into a diff of the plan, which is applied
    and verified with the settings of the first run. A round is adopted if less is open after it, whatever the
    architect said of its diff (only steps may not be lost without its word); else the plan stays as it was before it,
    and the revision ends. A plan that got PROCEED is never touched, one that got RETHINK is left to the person who
    decides. The repository is only read. Source: rule C5.

    Args:
        run: a plan run, the path of its log (.jsonl), or a plan, which is verified first.
        repo: the folder that the plan is about; by default that of the run, for a plan the current one.
        architect: who proposes, criticises and verifies in the debates: a backend that can write, such as
            `agents.Anthropic` or a `ScriptedBackend`.
        builder: who writes their diffs; by default the architect.
        backend: who verifies the revised plan; choose that of the first run for verdicts that can be compared.
        max_turns: the last turn of a debate, 3 unless you say more here.
        max_rounds: the last round.
        log_dir: the folder of the logs, one for each debate and each run; None writes none.
        out: a file for the revised plan, written only if the plan was revised (`Revision.revised`); the plan's own
            file is written to only if it is named here.
        timeout: seconds that one call may take; by default those of the first run.
        max_tokens: tokens that end a debate or a run once they are used; by default those of the first run.
        max_cost: US dollars that do; by default those of the first run.
        progress: whether to show progress; by default in a terminal or a notebook.
        synthetic: marks debates and runs of a generated plan.

    Returns:
        A `Revision`: `.plan`, `.diff`, `.verdict`, `.table`, `.rounds`, `.runs`, `.debates`, `.why`.

    Raises:
        InputError: for a run that waits or was broken off, roles that nobody can play, or anything else that cannot
            be used; before any agent is called.

    >>> from verifyplan.agents.scripted import ScriptedBackend
    >>> from verifyplan.plans.plan import parse_plan
    >>> writer = ScriptedBackend({})
    >>> revise(
    ...     parse_plan("# Fix a typo\n\nCorrect the spelling."),
    ...     ".",
    ...     architect=writer,
    ...     log_dir=None,
    ... ).why
    'nothing was checked, so nothing was revised'
    """
    check_counts(max_turns=max_turns, max_rounds=max_rounds)
    check_booleans(synthetic=synthetic)
    backend_of_roles(architect, builder, Path())  # before the first verification is paid
    check_output("out", out)
    cost = str(max_cost) if isinstance(max_cost, float) else max_cost
    limits = {"timeout": timeout, "max_tokens": max_tokens, "max_cost": cost}
    changed = {name: value for name, value in limits.items() if value is not None}
    common: dict[str, Any] = {"backend": backend, "log_dir": log_dir, "progress": progress, "synthetic": synthetic}
    first = _first_run(run, repo, common | changed)
    inputs = first.started.plan
    folder = read_folder(inputs.repository.get("root") if repo is None else repo, "repo", "the plan")
    settings = make_settings(**inputs.settings.model_dump() | {"on_blocked": "continue"} | changed)
    common["synthetic"] = synthetic or first.started.synthetic
    setup = RoundSetup(architect, builder, folder=folder, settings=settings, max_turns=max_turns, **common)
    why, rounds, last = _why_not_debated(first), list[Round](), first
    while not why:
        rounds.append(hold_round(setup, len(rounds) + 1, last))
        last = rounds[-1].after or last
        why = _why_over(rounds[-1], max_rounds)
    revision = Revision(first, tuple(rounds), why)
    if out is not None and revision.revised:
        write_text(out, revision.plan)
    return revision


def _first_run(run: object, repo: str | Path | None, settings: dict[str, Any]) -> PlanRun:
    """Return the run to begin with: as given, from its log, or made of a plan. InputError if it has not ended."""
    if isinstance(run, str | Path) and Path(run).suffix == ".jsonl":
        run = read_run(run)
    if isinstance(run, str | Path | Plan):
        run = verify(run, "." if repo is None else repo, **settings)
    if not isinstance(run, PlanRun):
        raise InputError(Problem("run", f"is a {type(run).__name__}, not a plan run", "give the log of `verify`"))
    if run.outcome is None:
        raise InputError(Problem("run", "has not ended: it waits, or was broken off", "resume it first"))
    return run


def _why_not_debated(run: PlanRun) -> str:
    """Return why nothing is debated; blank for a plan that got REVISE and has an open challenge to debate."""
    if run.verdict == "REVISE":
        challenges = open_challenges(run)
        return "" if challenges else "no challenge that is more than MINOR is open: nothing can be debated"
    if run.verdict == "PROCEED" and run.outcome is not None and run.outcome.ended_by == "sizing":
        return "nothing was checked, so nothing was revised"
    if run.verdict == "PROCEED":
        raised = "what was raised is settled or MINOR" if run.state.raised else "nothing was raised"
        return f"{raised}, so nothing was revised"
    if run.verdict == "RETHINK":
        return "a plan with RETHINK is left to a person: changing its wording does not help"
    return f"the run has no verdict ({run.outcome.exit_reason if run.outcome else 'it did not end'})"


def _why_over(last: Round, max_rounds: int) -> str:
    """Return why no further round follows; blank if one does."""
    if last.debate.status is None:
        return f"the debate has no result ({last.debate.outcome.exit_reason if last.debate.outcome else 'broken off'})"
    if last.after is None:
        return f"the debate changed nothing ({last.debate.ending}): what is open takes a decision"
    if last.after.verdict is None:
        return f"the run of the revised plan has no verdict ({last.after.outcome and last.after.outcome.exit_reason})"
    if last.lost:
        return f"the debate took {counted(last.lost, 'step')} out of the plan, which its architect did not verify"
    if not last.adopted:
        return "the last round left no fewer challenges open, so its changes were not adopted"
    if last.after.verdict == "PROCEED":
        return "the revised plan may proceed"
    return f"the last of {max_rounds} rounds is over" if last.number >= max_rounds else ""


@dataclass(frozen=True)
class RoundSetup:
    """The roles, the verifier and the settings that all rounds of a revision share."""

    architect: Backend | None
    builder: Backend | None
    backend: str | Backend
    folder: Path
    settings: PlanSettings
    """Those of the first run; nobody is there to answer, so a revised plan never waits."""
    max_turns: int
    log_dir: str | Path | None
    progress: bool | None
    synthetic: bool


def hold_round(setup: RoundSetup, number: int, before: PlanRun) -> Round:
    """Debate what is open, and verify the plan again if that changed anything."""
    inputs, settings = before.started.plan, setup.settings
    held = debate(
        debate_task(before, inputs.plan_name),
        setup.architect,
        setup.builder,
        setup.max_turns,
        repo=setup.folder,
        documents={inputs.plan_name: inputs.plan_text},
        challenges=open_challenges(before),
        timeout=settings.timeout,
        max_tokens=settings.max_tokens,
        max_cost=settings.max_cost,
        log_dir=setup.log_dir,
        progress=setup.progress,
        synthetic=setup.synthetic,
    )
    text = apply_debate(held, inputs.plan_name, inputs.plan_text)
    if held.status is None or text == inputs.plan_text:
        return Round(number, before, held, inputs.plan_text)
    backend = make_backend(setup.backend, (), setup.folder)
    plan = parse_plan(text, inputs.plan_path)
    first = first_event(plan, setup.folder, settings, backend, synthetic=setup.synthetic)
    started = first.model_copy(update={"task_key": f"{first.task_key} (revision {number})"})
    stem = f"{Path(inputs.plan_name).stem}-revised"
    after = PreparedPlanRun(started, plan, backend, setup.log_dir, stem, progress=setup.progress).drive()
    return Round(number, before, held, text, after)
