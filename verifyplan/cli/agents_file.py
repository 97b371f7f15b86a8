"""A file of arguments for agents that are models: read and checked whole, keys refused (rules G3, H3)."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

import verifyplan as vp
from verifyplan.agents.anthropic.key import Key, hide_key
from verifyplan.errors import InputError, Problem, SettingsError
from verifyplan.files import decode
from verifyplan.redaction import remember
from verifyplan.text import did_you_mean

LARGEST = 1_000_000
"""Bytes of a file of arguments."""
DEEPEST = 8
"""Tables within tables; the arguments have three."""
KEY_VARIABLES = "key_variables"
"""Names environment variables that hold keys, by the address of their endpoint."""

_NOT_HERE = ("self", "root", "api_key", "api_keys", "return")
_KEY = re.compile(r"(.*[-_ ])?(keys?|token|secret|password)", re.IGNORECASE)
_FIX = "set ANTHROPIC_API_KEY, or keep it in the keyring; for other endpoints name its variable in key_variables"


@cache
def arguments_model() -> type[BaseModel]:
    """What may stand in a file: the arguments of `agents.Anthropic` but its keys and its root, and `key_variables`."""
    hints = {name: kind for name, kind in get_type_hints(vp.agents.Anthropic.__init__).items() if name not in _NOT_HERE}
    hints[KEY_VARIABLES] = Mapping[str, str]
    fields: dict[str, Any] = {name: (kind | None, None) for name, kind in hints.items()}
    return create_model("AgentsFile", __config__=ConfigDict(extra="forbid", strict=True), **fields)


def read_agents(path: Path, *, keys: bool = True) -> dict[str, Any]:
    """The arguments in a file, and `api_keys` from the variables that it names if `keys` are wanted.

    SettingsError with all that is wrong.
    """
    table = _table(path)
    if problems := [*_keys(table, str(path))]:
        raise SettingsError(problems)
    try:
        arguments_model().model_validate(table)
    except ValidationError as error:
        raise SettingsError(
            _misfit(str(path), one["type"], one["loc"], one["msg"]) for one in error.errors(include_url=False)
        ) from None
    variables = table.pop(KEY_VARIABLES, None)
    return table | ({"api_keys": _from_environment(variables, str(path))} if variables and keys else {})


def _table(path: Path) -> dict[str, Any]:
    fix = "name a .toml or .json file with arguments of agents.Anthropic"
    if path.suffix not in (".toml", ".json"):
        raise SettingsError(Problem("--agents", f"{str(path)!r} is no .toml or .json file", fix))
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            raise SettingsError(Problem("--agents", f"{str(path)!r} is no file of at most {LARGEST:,} bytes", fix))
        text = decode(path.read_bytes(), str(path))
        table = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except InputError as error:
        raise SettingsError(error.problems) from None
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(Problem("--agents", f"{str(path)!r} cannot be read ({error})", fix)) from None
    if not isinstance(table, dict):
        raise SettingsError(Problem("--agents", f"{str(path)!r} holds no table of arguments", fix))
    return table


def _keys(value: object, place: str, depth: int = 0) -> Iterator[Problem]:
    """Keys that stand in a file, wherever: a file is copied, shown and committed. No message holds one."""
    if isinstance(value, Mapping) and depth > DEEPEST:
        yield Problem(place, f"has tables within tables, {depth} deep", "write the arguments of agents.Anthropic")
    elif isinstance(value, Mapping):
        for name, held in value.items():
            if _KEY.fullmatch(str(name)):
                _forget(held)
                why = "is not read from a file, which others may see"
                yield Problem(f"{place}: {name}", why, _FIX)
            elif name != KEY_VARIABLES:
                yield from _keys(held, f"{place}: {name}", depth + 1)


def _forget(held: object) -> None:
    for text in held.values() if isinstance(held, Mapping) else [held]:
        if isinstance(text, str) and text.strip():
            remember(text)


def _misfit(path: str, kind: str, loc: tuple[int | str, ...], message: str) -> Problem:
    names = list(arguments_model().model_fields)
    place = f"{path}: {': '.join(map(str, loc[:1]))}"
    if kind == "extra_forbidden":
        told = f"is no argument of agents.Anthropic{did_you_mean(loc[0], names)}"
        return Problem(place, told, f"use some of {', '.join(names)}")
    return Problem(place, f"does not fit: {message[0].lower()}{message[1:]}", "see the arguments of agents.Anthropic")


def _from_environment(variables: Mapping[str, str], path: str) -> dict[str, Key]:
    missing = [name for name in variables.values() if not os.environ.get(name, "").strip()]
    if missing:
        raise SettingsError(
            Problem(f"{path}: {KEY_VARIABLES}", f"the variable {name!r} is not set", "set it to the endpoint's key")
            for name in missing
        )
    return {address: hide_key(os.environ[name], name) for address, name in variables.items()}
