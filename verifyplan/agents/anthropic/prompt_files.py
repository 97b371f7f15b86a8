"""The prompts: files of words in this package, each with a version, whose hashes stand in the run log (rule G3)."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.resources import files
from typing import NamedTuple, TypedDict

from verifyplan.errors import Problem, SettingsError
from verifyplan.text import did_you_mean

_FOLDER = files("verifyplan.agents.anthropic").joinpath("prompts")
_VERSION, _SUFFIX = "version: ", ".md"


class Prompt(NamedTuple):
    """One file of words."""

    name: str
    version: int
    """From 1; raised whenever the words change, so that runs of different words can be told apart."""
    text: str
    """What a model is told: the file without its first line."""
    sha256: str
    """Over all bytes of the file."""


class PromptVersion(TypedDict):
    """What the log keeps of a prompt."""

    version: int
    sha256: str


@cache
def prompt_names() -> tuple[str, ...]:
    """The names of all prompts, sorted."""
    found = (file.name for file in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


@cache
def prompt(name: str) -> Prompt:
    """The prompt of that name, read once; SettingsError for a name that there is no file for.

    >>> prompt("challenger").text.startswith("# Your task: challenger")
    True
    """
    if name not in prompt_names():
        message = f"there is no prompt {name!r}{did_you_mean(name, prompt_names())}"
        raise SettingsError(Problem("prompt", message, f"use one of {', '.join(prompt_names())}"))
    data = _FOLDER.joinpath(name + _SUFFIX).read_bytes()
    version, _, text = data.decode().partition("\n")
    number = int(version.removeprefix(_VERSION))
    return Prompt(name, number, text.strip(), hashlib.sha256(data).hexdigest())


def prompt_versions() -> dict[str, PromptVersion]:
    """Version and hash of every prompt by its name, for the log: whoever reads a run can tell which words it used."""
    found = (prompt(name) for name in prompt_names())
    return {one.name: {"version": one.version, "sha256": one.sha256} for one in found}
