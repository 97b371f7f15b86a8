"""The commands that a repository defines: targets, scripts, recipes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verifyplan.agents.repository.manifests import others, python
from verifyplan.agents.repository.manifests.packages import Readers, read_manifests
from verifyplan.agents.repository.manifests.text import Manifest
from verifyplan.agents.repository.records import Command, FileEntry
from verifyplan.agents.repository.texts import Texts

_TARGETS = re.compile(r"([^\s:=#$%.][^:=#$%\t]*?)[ ]*::?(?![:=])")
_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)(?:[ \t]+[^:]*)?:(?!=)")


def _makefile(manifest: Manifest) -> Iterator[Command]:
    """Targets that are plain names; patterns, variables and special targets such as .PHONY are left out."""
    for number, line in enumerate(manifest.lines, 1):
        found = _TARGETS.match(line[:1_000])
        for name in found[1].split() if found else ():
            yield manifest.command(name, "make", number)


def _justfile(manifest: Manifest) -> Iterator[Command]:
    for number, line in enumerate(manifest.lines, 1):
        found = _RECIPE.match(line[:1_000])
        if found and found[1] not in ("set", "alias", "export", "import", "mod"):
            yield manifest.command(found[1], "just", number)


_READERS: Readers[Command] = (
    ("Makefile", _makefile),
    ("makefile", _makefile),
    ("GNUmakefile", _makefile),
    ("*.mk", _makefile),
    ("package.json", others.package_json_commands),
    ("pyproject.toml", python.pyproject_commands),
    ("justfile", _justfile),
    ("Justfile", _justfile),
    (".justfile", _justfile),
)


def read_commands(files: Mapping[str, FileEntry], texts: Texts) -> list[Command]:
    """All commands, in order of path and line; a name that a file gives twice counts once, where it stands first."""
    found: dict[tuple[str, str, str], Command] = {}
    for command in sorted(read_manifests(files, texts, _READERS), key=lambda one: (one.path, one.line, one.name)):
        found.setdefault((command.path, command.runner, command.name), command)
    return list(found.values())
