"""From the options of a command to the backend that plays its agents; all that is wrong with them told at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import verifyplan as vp
from verifyplan.agents.anthropic.endpoints import check_logged
from verifyplan.agents.base import Backend
from verifyplan.agents.prices import unknown_price
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.cli.agents_file import arguments_model, read_agents
from verifyplan.cli.live import MODEL_VARIABLE, AgentOptions, BackendName, option_of
from verifyplan.errors import InputError, Problem, SettingsError

if TYPE_CHECKING:
    from verifyplan.agents.anthropic.backend import Anthropic

T = TypeVar("T")

PAIRS = {"models": ("--model-for", "ROLE=MODEL"), "workers": ("--worker-model", "NAME=MODEL")}
"""The arguments that options give in pairs."""


def backend_of_options(options: AgentOptions, *, timeout: float, max_cost: str | None = None) -> str | Anthropic:
    """The models that the options ask for, or "static".

    SettingsError, naming options, for all that does not fit, and for a cost that cannot be kept, as there is no price.
    """
    if not _are_models(options):
        return "static"
    backend = made(options, vp.agents.Anthropic, {"timeout": timeout})
    if max_cost is not None:
        _check_priced(backend)
    return backend


def writer_of_options(options: AgentOptions, script: Path | None, *, timeout: float, max_cost: str | None) -> Backend:
    """Return who plays architect and builder: the models that the options ask for, or a script of answers.

    SettingsError where neither is named, or both are.
    """
    if script is not None:
        return script_of_options(options, script)
    backend = backend_of_options(options, timeout=timeout, max_cost=max_cost)
    if isinstance(backend, str):
        fix = "name a model (--model MODEL), or answers that are written down (--script FILE)"
        raise SettingsError(Problem("--model", "no architect and builder: the static agents write nothing", fix))
    return backend


def script_of_options(options: AgentOptions, script: Path) -> ScriptedBackend:
    """Return the backend that answers from a script; SettingsError where options name other agents, too."""
    if options.given or options.backend:
        option = next(iter(options.given), "--backend")
        fix = "leave one of them out: a script answers in the place of agents"
        raise SettingsError(Problem("--script", f"and {option} name two players of the same roles", fix))
    return ScriptedBackend(script)


def backend_of_log(options: AgentOptions, log: Path) -> str | Anthropic | None:
    """The backend that goes on with a logged run: None for the log's own, which the options else change in parts."""
    if options.backend is None and not options.given:
        return None
    if not _are_models(options):
        return "static"
    told = vp.read_run(log).started.backend
    if told.get("name") != "anthropic":
        return made(options, vp.agents.Anthropic, {})
    before = {name: one for name, one in vp.agents.Anthropic.arguments_of(told).items() if one is not None}
    stray = check_logged(before.get("base_url"))
    if stray is not None:
        del before["base_url"]

    def build(**arguments: Any) -> Anthropic:
        if stray is not None and "base_url" not in arguments:
            fix = "if your key is for it, name it by --base-url; else name the endpoint that goes on"
            raise SettingsError(Problem("--base-url", stray.message, fix))
        return vp.agents.Anthropic(**arguments)

    return made(options, build, before)


def keyless_of_options(options: AgentOptions) -> Anthropic:
    """The models that the options ask for, to estimate for: no key is looked up."""
    if options.backend is BackendName.static:
        fix = "leave it out: static agents cost nothing"
        raise SettingsError(Problem("--backend", "estimates are made for models", fix))
    return made(options, vp.agents.Anthropic.keyless, {}, keys=False)


def made(options: AgentOptions, build: Callable[..., T], before: Mapping[str, Any], *, keys: bool = True) -> T:
    """What `build` makes of the options; the file goes before what was `before`, the command line before both.

    SettingsError listing everything that is wrong, each with the option or the file that it stands in.
    """
    problems: list[Problem] = []
    pairs = {name: _pairs(*PAIRS[name], given or (), problems) for name, given in _paired(options).items()}
    try:
        arguments = dict(before) | (read_agents(options.agents, keys=keys) if options.agents else {})
    except SettingsError as error:
        raise SettingsError([*problems, *error.problems]) from None
    arguments |= _single(options)
    for name, given in pairs.items():
        if given:
            arguments[name] = _joined(arguments.get(name) or {}, given)
    if not {"model", "models", "workers"} & arguments.keys() and os.environ.get(MODEL_VARIABLE, "").strip():
        arguments["model"] = os.environ[MODEL_VARIABLE].strip()
    try:
        result = build(**arguments)
    except InputError as error:
        raise SettingsError([*problems, *(_renamed(one, options) for one in error.problems)]) from None
    if problems:
        raise SettingsError(problems)
    return result


def _are_models(options: AgentOptions) -> bool:
    """Whether models are asked for; SettingsError where options of theirs are given to static agents."""
    if options.backend is BackendName.static and options.given:
        fix = "leave it out, or --backend static"
        raise SettingsError(Problem(option, "is for agents that are models", fix) for option in options.given)
    return options.backend is BackendName.anthropic or bool(options.given)


def _single(options: AgentOptions) -> dict[str, Any]:
    names = ("model", "base_url", "web", "memory", "prices", "max_concurrency")
    given = {name: getattr(options, name) for name in names if getattr(options, name)}
    return given | ({"effort": options.effort.value} if options.effort else {})


def _paired(options: AgentOptions) -> dict[str, list[str] | None]:
    return {"models": options.model_for, "workers": options.worker_model}


def _pairs(option: str, form: str, given: Sequence[str], problems: list[Problem]) -> dict[str, str]:
    """The pairs of a repeated option; what is none, or names somebody twice, is added to the problems."""
    read: dict[str, str] = {}
    for pair in given:
        name, sign, model = (part.strip() for part in pair.partition("="))
        if not (name and sign and model):
            problems.append(Problem(option, f"{pair!r} is no {form}", f"write it as {form}"))
        elif name in read:
            problems.append(Problem(option, f"{name!r} stands twice", "name each once"))
        read[name] = model
    return read


def _joined(before: Mapping[str, Any], models: Mapping[str, str]) -> dict[str, Any]:
    """Settings by name, with other models for some; what else was said of them stands."""
    other = {
        name: {**before[name], "model": model} if isinstance(before.get(name), Mapping) else model
        for name, model in models.items()
    }
    return {**before, **other}


def _renamed(problem: Problem, options: AgentOptions) -> Problem:
    """A problem of an argument, told of the option that gave it, or of the file."""
    if problem.place in ("Anthropic", "Anthropic: model") and problem.message == "no model is named":
        fix = f"name one by --model or in {MODEL_VARIABLE}; `verifyplan doctor` lists those of an endpoint"
        return Problem("--model", problem.message, fix)
    place = problem.place.removeprefix("Anthropic: ")
    name = place.partition(":")[0].partition("[")[0]
    option = PAIRS[name][0] if name in PAIRS else option_of(name)
    if option in options.given:
        place = option + place[len(name) :]
    elif options.agents and name in arguments_model().model_fields:
        place = f"{options.agents}: {place}"
    return Problem(place, problem.message, problem.fix)


def _check_priced(backend: Anthropic) -> None:
    unknown = [unknown_price(model) for model, price in backend.prices.items() if price is None]
    if unknown:
        raise SettingsError(problem for error in unknown for problem in error.problems)
