"""Make the backend of agents from the options of a command, with everything that is wrong in one error.

The options name models directly or by a file of arguments (TOML or JSON). Files may not contain keys, because files
are copied, shown and committed (rules G3, H3).
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import ErrorDetails

import verifyplan as vp
from verifyplan.agents.anthropic.endpoints import check_logged
from verifyplan.agents.anthropic.key import Key, hide_key
from verifyplan.agents.base import Backend
from verifyplan.agents.prices import unknown_price
from verifyplan.agents.scripted import ScriptedBackend
from verifyplan.cli.option_groups import option_of
from verifyplan.cli.options import MODEL_VARIABLE, AgentOptions
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import decode
from verifyplan.redaction import remember
from verifyplan.text import did_you_mean

if TYPE_CHECKING:
    from verifyplan.agents.anthropic.backend import Anthropic

T = TypeVar("T")

PAIRS = {"models": ("--model-for", "ROLE=MODEL"), "workers": ("--worker-model", "NAME=MODEL")}
"""The arguments whose options take pairs."""


def backend_of_options(options: AgentOptions, *, timeout: float, max_cost: str | None = None) -> str | Anthropic:
    """Return the models that the options ask for, or "static".

    SettingsError, naming options, for everything that is wrong, and for a limit of cost without a price.
    """
    if not _are_models(options):
        return "static"
    backend = _build(options, vp.agents.Anthropic, {"timeout": timeout})
    unpriced = [model for model, price in backend.prices.items() if price is None] if max_cost is not None else []
    if unpriced:
        raise unknown_price(*unpriced)
    return backend


def previewed_backend(options: AgentOptions) -> str | Anthropic:
    """Return the models that the options ask for, without a key, to preview what they would be sent; or "static"."""
    return keyless_of_options(options) if _are_models(options) else "static"


def writer_of_options(options: AgentOptions, script: Path | None, *, timeout: float, max_cost: str | None) -> Backend:
    """Return the backend of architect and builder: the models that the options ask for, or a script of answers.

    SettingsError if neither is named, or both.
    """
    if script is not None:
        return script_of_options(options, script)
    backend = backend_of_options(options, timeout=timeout, max_cost=max_cost)
    if isinstance(backend, str):
        fix = "name a model (--model MODEL), or a file of answers (--script FILE)"
        raise SettingsError(Problem("--model", "static agents cannot play architect and builder", fix))
    return backend


def script_of_options(options: AgentOptions, script: Path) -> ScriptedBackend:
    """Return the backend that answers from a script; SettingsError if options name other agents, too."""
    if options.set_options or options.backend:
        option = next(iter(options.set_options), "--backend")
        fix = "leave one of them out: a script replaces the agents"
        raise SettingsError(Problem("--script", f"does not go with {option}", fix))
    return ScriptedBackend(script)


def backend_of_log(options: AgentOptions, log: Path) -> str | Anthropic | None:
    """Return the backend that continues a logged run: None for the one in the log, unless options change it."""
    if options.backend is None and not options.set_options:
        return None
    if not _are_models(options):
        return "static"
    backend = vp.read_run(log).started.backend
    if backend.get("name") != "anthropic":
        return _build(options, vp.agents.Anthropic, {})
    arguments = {name: value for name, value in vp.agents.Anthropic.arguments_of(backend).items() if value is not None}
    untrusted = check_logged(arguments.get("base_url"))
    if untrusted is not None:
        del arguments["base_url"]

    def build(**arguments: Any) -> Anthropic:
        if untrusted is not None and "base_url" not in arguments:
            fix = "if your key is for it, name it by --base-url; else name the endpoint to use instead"
            raise SettingsError(Problem("--base-url", untrusted.message, fix))
        return vp.agents.Anthropic(**arguments)

    return _build(options, build, arguments)


def keyless_of_options(options: AgentOptions) -> Anthropic:
    """Return the models that the options ask for, to estimate their cost: no key is looked up."""
    if options.backend == "static":
        fix = "leave it out: static agents cost nothing"
        raise SettingsError(Problem("--backend", "estimates are for models, got static", fix))
    return _build(options, vp.agents.Anthropic.keyless, {}, with_keys=False)


def _build(options: AgentOptions, build: Callable[..., T], logged: Mapping[str, Any], *, with_keys: bool = True) -> T:
    """Return the result of `build` for the options; they override the file of arguments, which overrides the log.

    SettingsError listing everything that is wrong, each with its option or file.
    """
    problems: list[Problem] = []
    by_name = {
        "models": _pairs(*PAIRS["models"], options.model_for or (), problems),
        "workers": _pairs(*PAIRS["workers"], options.worker_model or (), problems),
    }
    try:
        arguments = dict(logged) | (read_agents(options.agents, with_keys=with_keys) if options.agents else {})
    except SettingsError as error:
        raise SettingsError([*problems, *error.problems]) from None
    for name in ("model", "base_url", "web", "memory", "allow_files", "prices", "max_concurrency", "effort"):
        if value := getattr(options, name):
            arguments[name] = value
    for name, models in by_name.items():
        if models:
            arguments[name] = _with_models(arguments.get(name) or {}, models)
    if not {"model", "models", "workers"} & arguments.keys() and os.environ.get(MODEL_VARIABLE, "").strip():
        arguments["model"] = os.environ[MODEL_VARIABLE].strip()
    try:
        result = build(**arguments)
    except InputError as error:
        raise SettingsError([*problems, *(_renamed(problem, options) for problem in error.problems)]) from None
    if problems:
        raise SettingsError(problems)
    return result


def _are_models(options: AgentOptions) -> bool:
    """Return whether the agents are models; SettingsError for options of models with static agents."""
    if options.backend == "static" and options.set_options:
        fix = "leave it out, or --backend static"
        raise SettingsError(Problem(option, "is for agents that are models", fix) for option in options.set_options)
    return options.backend == "anthropic" or bool(options.set_options)


def _pairs(option: str, form: str, values: Sequence[str], problems: list[Problem]) -> dict[str, str]:
    """Return the pairs of a repeated option; values that are not pairs, and repeated names, become problems."""
    pairs: dict[str, str] = {}
    for pair in values:
        name, sign, model = (part.strip() for part in pair.partition("="))
        if not (name and sign and model):
            problems.append(Problem(option, f"{pair!r} is not {form}", f"write it as {form}"))
        elif name in pairs:
            problems.append(Problem(option, f"{name!r} is repeated", "name each once"))
        pairs[name] = model
    return pairs


def _with_models(settings: Mapping[str, Any], models: Mapping[str, str]) -> dict[str, Any]:
    """Return settings by name with the models of some replaced; all other settings stay."""
    changed = {
        name: {**settings[name], "model": model} if isinstance(settings.get(name), Mapping) else model
        for name, model in models.items()
    }
    return {**settings, **changed}


def _renamed(problem: Problem, options: AgentOptions) -> Problem:
    """Return a problem of an argument with the option or the file that set it as its place."""
    if problem.place in ("Anthropic", "Anthropic: model") and problem.message == "no model is named":
        fix = f"name one by --model or in {MODEL_VARIABLE}; `verifyplan doctor` lists the models of an endpoint"
        return Problem("--model", problem.message, fix)
    place = problem.place.removeprefix("Anthropic: ")
    name = place.partition(":")[0].partition("[")[0]
    option = PAIRS[name][0] if name in PAIRS else option_of(name)
    if option in options.set_options:
        place = option + place[len(name) :]
    elif options.agents and name in arguments_model().model_fields:
        place = f"{options.agents}: {place}"
    return Problem(place, problem.message, problem.fix)


MAX_FILE_BYTES = 1_000_000
MAX_FILE_DEPTH = 8
"""Levels of nested tables; the arguments have three."""
KEY_VARIABLES = "key_variables"
"""Names environment variables that hold keys, by the address of their endpoint."""

_NOT_IN_FILE = ("self", "repo", "api_key", "api_keys", "return")
_KEY = re.compile(r"(.*[-_ ])?(keys?|token|secret|password)", re.IGNORECASE)
_FIX = "set ANTHROPIC_API_KEY, or keep it in the keyring; for other endpoints name its variable in key_variables"


@cache
def arguments_model() -> type[BaseModel]:
    """Return the model of a file: the arguments of `agents.Anthropic` without keys and repo, and `key_variables`."""
    hints = {
        name: kind for name, kind in get_type_hints(vp.agents.Anthropic.__init__).items() if name not in _NOT_IN_FILE
    }
    hints[KEY_VARIABLES] = Mapping[str, str]
    fields: dict[str, Any] = {name: (kind | None, None) for name, kind in hints.items()}
    return create_model("AgentsFile", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def read_agents(path: Path, *, with_keys: bool = True) -> dict[str, Any]:
    """Return the arguments in a file; `with_keys` includes `api_keys` from the variables that it names.

    SettingsError listing everything that is wrong.
    """
    table = _table(path)
    if problems := list(_keys_in(table, str(path))):
        raise SettingsError(problems)
    try:
        arguments_model().model_validate(table)
    except ValidationError as error:
        raise SettingsError(_misfit(str(path), misfit) for misfit in error.errors(include_url=False)) from None
    variables = table.pop(KEY_VARIABLES, None)
    return table | ({"api_keys": _from_environment(variables, str(path))} if variables and with_keys else {})


def _table(path: Path) -> dict[str, Any]:
    fix = "name a .toml or .json file with arguments of agents.Anthropic"
    if path.suffix not in (".toml", ".json"):
        raise SettingsError(Problem("--agents", f"must be a .toml or .json file, got {str(path)!r}", fix))
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            raise SettingsError(
                Problem("--agents", f"{str(path)!r} is not a file of at most {MAX_FILE_BYTES:,} bytes", fix)
            )
        text = decode(path.read_bytes(), str(path))
        table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except InputError as error:
        raise SettingsError(error.problems) from None
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(Problem("--agents", f"{str(path)!r} cannot be read ({error})", fix)) from None
    if not isinstance(table, dict):
        raise SettingsError(Problem("--agents", f"{str(path)!r} does not contain a table of arguments", fix))
    return table


def _keys_in(value: object, place: str, depth: int = 0) -> Iterator[Problem]:
    """Yield a problem for each key anywhere in a file; no message contains the key."""
    if isinstance(value, Mapping) and depth > MAX_FILE_DEPTH:
        yield Problem(place, f"has tables nested {depth} deep", "write the arguments of agents.Anthropic")
    elif isinstance(value, Mapping):
        for name, held in value.items():
            if _KEY.fullmatch(str(name)):
                for text in held.values() if isinstance(held, Mapping) else [held]:
                    if isinstance(text, str) and text.strip():
                        remember(text)
                why = "a key is not read from a file, which others may see"
                yield Problem(f"{place}: {name}", why, _FIX)
            elif name != KEY_VARIABLES:
                yield from _keys_in(held, f"{place}: {name}", depth + 1)


def _misfit(path: str, error: ErrorDetails) -> Problem:
    """Return a pydantic error as a problem of its argument."""
    names, argument = list(arguments_model().model_fields), error["loc"][0] if error["loc"] else ""
    place = f"{path}: {argument}"
    if error["type"] == "extra_forbidden":
        message = f"is not an argument of agents.Anthropic{did_you_mean(argument, names)}"
        return Problem(place, message, f"use some of {', '.join(names)}")
    message = f"does not fit: {error['msg'][0].lower()}{error['msg'][1:]}"
    return Problem(place, message, "see the arguments of agents.Anthropic")


def _from_environment(variables: Mapping[str, str], path: str) -> dict[str, Key]:
    missing = [name for name in variables.values() if not os.environ.get(name, "").strip()]
    if missing:
        raise SettingsError(
            Problem(f"{path}: {KEY_VARIABLES}", f"the variable {name!r} is not set", "set it to the endpoint's key")
            for name in missing
        )
    return {address: hide_key(os.environ[name], name) for address, name in variables.items()}
