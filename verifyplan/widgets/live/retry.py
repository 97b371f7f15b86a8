"""The failed calls of a run that ended: whether they can be asked again, and at what cost at most (rule E6)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from verifyplan import agents
from verifyplan.agents.base import ModelBackend
from verifyplan.analysis.failed_calls import failed_calls_of
from verifyplan.errors import SettingsError, VerifyplanError
from verifyplan.plans.plan import parse_plan
from verifyplan.protocol.event_run import CrossInputs, PlanInputs
from verifyplan.protocol.settings import Limits
from verifyplan.reports.usage import dollars
from verifyplan.runlog.recorder import Past
from verifyplan.runs.call_use import CASES, VOTE_TOKENS, PlayedRole, call_use
from verifyplan.runs.estimated_use import EstimatedUse, use_of_calls
from verifyplan.runs.expected_calls import CrossCalls, PlanCalls
from verifyplan.runs.merges import matcher_of
from verifyplan.runs.reopen import check_unused, retryable
from verifyplan.runs.run import Run
from verifyplan.runs.start import at_present, limits_of
from verifyplan.text import counted

_VOTE = re.compile(r"([rp])(\d+)/(.+?)(?:/p\d+)?")
"""The id of a call of a cross run: part, round, worker, and which of several calls with some of the findings."""


class RetryOffer(NamedTuple):
    """The offer to ask failed calls again, in words."""

    words: str
    is_possible: bool
    """Whether they can be asked again now; else the words say what must change."""


def retry_offer(run: Run, backend: object = None) -> RetryOffer | None:
    """Return the offer to ask the failed calls of a run again; None if no call failed, or there is no log.

    `backend` is the run's backend, or None for the one that its log names.
    """
    failed = calls_to_retry(run)
    if not failed:
        return None
    past, head = Past(run.records), f"{failed_calls_of(run.frames)}."
    try:
        check_unused(limits_of(at_present(run.started, past)), past)
    except SettingsError as error:
        changed = f"{error.problems[0].place}=..." if error.problems else "..."
        how = f"LiveRun.resume({str(run.log_path)!r}, retry_failed=True, {changed})"
        return RetryOffer(f"{head} {error} To ask again: {how}.", is_possible=False)
    try:
        use = _largest_use(run, failed, backend)
    except (VerifyplanError, OSError):  # missing files, a model without settings: the calls can still be asked again
        use = None
    return RetryOffer(f"{head} Asking again {_cost_words(use)}", is_possible=True)


def calls_to_retry(run: Run) -> tuple[str, ...]:
    """Return the failed calls of a run that ended and has a log, in the order in which they failed."""
    if run.log_path is None or not run.has_ended:
        return ()
    return retryable(run.records, limits_of(at_present(run.started, Past(run.records)))).calls


def _cost_words(use: EstimatedUse | None) -> str:
    if use is None:
        return "has a cost that is not estimated here."
    cost = "an unknown sum" if use.cost is None else dollars(use.cost)
    tokens = f"{use.input_tokens:,} tokens in, {use.output_tokens:,} out"
    return f"costs at most {cost} by estimate ({counted(use.calls, 'call')}, those that follow included; {tokens})."


def _largest_use(run: Run, failed: tuple[str, ...], given: object) -> EstimatedUse | None:
    """Return the usage of asking calls of models again, in the high case; None where it is not estimated.

    For a cross run, that of the failed calls and of all later rounds; for a plan run, that of the whole run.
    """
    inputs, backend = run.started.inputs, _model_backend(run, given)
    if backend is None:
        return None
    if isinstance(inputs, PlanInputs):
        root, plan = inputs.repository["root"], parse_plan(inputs.plan_text, inputs.plan_path)
        return PlanCalls(plan, root, inputs.settings, backend.at(root)).use(CASES["high"], batch=False)
    if not isinstance(inputs, CrossInputs):
        return None
    backend, places = backend.at(inputs.root), [match.groups() for call in failed if (match := _VOTE.fullmatch(call))]
    first = {part: min(int(number) for of, number, _ in places if of == part) for part, _, _ in places}
    worker: PlayedRole = "worker"
    calls = []
    for request in CrossCalls(inputs, matcher_of(inputs, strict=False), backend).requests(CASES["high"]):
        part = "p" if request.call_id.startswith("p/") else "r"
        is_later = part in first and request.round > first[part]
        if is_later or (part, str(request.round), request.worker) in places:
            use = call_use(backend.first_request(request), CASES["high"], VOTE_TOKENS * len(request.items))
            calls.append((worker, use))
    return use_of_calls(calls, backend.prices, batch=False, limits=Limits())


def _model_backend(run: Run, given: object) -> Any:
    """Return the models of a run, without a key if its log names them; None for other agents."""
    described = run.started.backend
    if given is None and described.get("name") == "anthropic":
        return agents.Anthropic.keyless(**agents.Anthropic.arguments_of(described))
    return given if isinstance(given, ModelBackend) else None
