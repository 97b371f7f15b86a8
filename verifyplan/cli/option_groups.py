"""Declare options that belong together once: each field of a dataclass becomes an option of a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def option_of(name: str) -> str:
    """Return the name of the option for an argument.

    >>> option_of("base_url")
    '--base-url'
    """
    return f"--{name.replace('_', '-')}"


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with an option for each field of a group of options, such as `agents: AgentOptions`."""
    signature = inspect.signature(command, eval_str=True)
    groups: dict[str, Any] = {}
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters: list[inspect.Parameter] = []
    for each in signature.parameters.values():
        if not is_dataclass(each.annotation):
            parameters.append(each.replace(kind=keyword))
            continue
        groups[each.name] = each.annotation
        hints = get_type_hints(each.annotation, include_extras=True)
        parameters += [
            inspect.Parameter(
                field.name,
                keyword,
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
                annotation=hints[field.name],
            )
            for field in fields(each.annotation)
        ]

    @wraps(command)
    def call(**values: Any) -> None:
        grouped = {
            name: group(**{field.name: values.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        command(**values, **grouped)

    call.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # as inspect reads it
    call.__annotations__ = {each.name: each.annotation for each in parameters}
    return call
