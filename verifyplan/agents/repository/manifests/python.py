"""Python's manifests: requirements, pyproject.toml, setup.cfg, and conda environments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from verifyplan.agents.repository.manifests.text import Lines, Manifest, strings, table, toml, version_of
from verifyplan.agents.repository.records import Command, Package, Runner

_REQUIREMENT = re.compile(r"([A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?)[ \t]*(?:\[[^\]]*\])?[ \t]*(.*)", re.DOTALL)
_EGG = re.compile(r"[#&]egg=([\w.-]+)")
_CONDA = re.compile(r"(?:[\w.-]+::)?([A-Za-z0-9_][\w.-]*)[ \t]*(.*)")
_ITEM = re.compile(r"([ \t]*)-[ \t]+(.*)")
_SCRIPTS: tuple[tuple[tuple[str, ...], Runner], ...] = (
    (("project", "scripts"), "script"),
    (("project", "gui-scripts"), "script"),
    (("tool", "poetry", "scripts"), "script"),
    (("tool", "pdm", "scripts"), "pdm"),
    (("tool", "poe", "tasks"), "poe"),
)


def requirement(text: str) -> tuple[str, str] | None:
    """Name and version of a requirement; None where it names no package.

    >>> requirement("pandas[excel] >=3.0 ; python_version > '3.10'"), requirement("-r base.txt")
    (('pandas', '>=3.0'), None)
    """
    egg = _EGG.search(text)
    if egg:
        return egg[1], ""
    found = _REQUIREMENT.match(text.strip())
    if found is None or "://" in text.partition("@")[0]:
        return None
    rest = re.split(r";|[ \t]#|[ \t]--|\\", found[2])[0].strip()
    return found[1], "" if rest.startswith("@") else rest.strip("() ")


def requirements(manifest: Manifest) -> Iterator[Package]:
    """Packages of a requirements file; options and other files that it names are not."""
    continued = False
    for number, line in enumerate(manifest.lines, 1):
        text = line.strip()
        if text and not continued and not text.startswith(("#", "-r", "-c", "--", "-i", "-f")):
            found = requirement(text.removeprefix("-e").strip())
            if found is not None and (not text.startswith("-e") or "egg=" in text):
                yield manifest.package(*found, number, "pypi")
        continued = text.endswith("\\")


def pyproject(manifest: Manifest) -> Iterator[Package]:
    """Packages of pyproject.toml: the project's, optional ones, groups, the build system's, and Poetry's."""
    data = toml(manifest)
    lines = Lines(manifest)
    for header, listed in _lists(data):
        line = lines.section(*header)
        for text in listed:
            found = requirement(text)
            if found is not None:
                line = lines.find(rf"""["']{re.escape(text)}["']""", line)
                yield manifest.package(*found, line, "pypi")
    yield from _poetry(manifest, data, lines)


def _lists(data: dict[str, Any]) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """Patterns of the line where a list begins, the likelier first, and its requirements."""
    project = table(data, "project")
    yield (r"^dependencies\s*=", r"^\[project\]"), strings(project.get("dependencies"))
    for name, listed in table(project, "optional-dependencies").items():
        yield (rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=", r"^\[project\.optional-dependencies\]"), strings(listed)
    for name, listed in table(data, "dependency-groups").items():
        yield (rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=", r"^\[dependency-groups\]"), strings(listed)
    yield (r"^requires\s*=", r"^\[build-system\]"), strings(table(data, "build-system").get("requires"))


def _poetry(manifest: Manifest, data: dict[str, Any], lines: Lines) -> Iterator[Package]:
    poetry = table(data, "tool", "poetry")
    groups = [(f"group.{name}.", table(group, "dependencies")) for name, group in table(poetry, "group").items()]
    for prefix, listed in [("", table(poetry, "dependencies")), ("dev-", table(poetry, "dev-dependencies")), *groups]:
        header = re.escape(f"[tool.poetry.{prefix}dependencies")
        line = lines.section(header)
        for name, value in listed.items():
            if name.lower() != "python":
                line = lines.find(rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=|{header}\.[\"']?{re.escape(name)}", line)
                yield manifest.package(name, version_of(value), line, "pypi")


def pyproject_commands(manifest: Manifest) -> Iterator[Command]:
    """Commands of pyproject.toml: entry points, and the tasks of pdm and poe."""
    data = toml(manifest)
    lines = Lines(manifest)
    for keys, runner in _SCRIPTS:
        header = re.escape(".".join(keys))
        line = lines.section(rf"^\[{header}\]", rf"^\[{header}\.")
        for name in table(data, *keys):
            pattern = rf"^\s*[\"']?{re.escape(name)}[\"']?\s*=|\[{header}\.[\"']?{re.escape(name)}[\"'\]]"
            line = lines.find(pattern, line)
            yield manifest.command(name, runner, line)


def setup_cfg(manifest: Manifest) -> Iterator[Package]:
    """Packages of setup.cfg: `install_requires`, `setup_requires`, `tests_require` and the extras."""
    section, listing = "", False
    for number, line in enumerate(manifest.lines, 1):
        text = line.strip()
        if line.startswith("["):
            section, listing = text.strip("[] "), False
        elif text and not line[0].isspace():
            key, _, text = text.partition("=")
            wanted = key.strip() in ("install_requires", "setup_requires", "tests_require")
            listing = (section == "options" and wanted) or section == "options.extras_require"
        if listing and text.strip() and not text.strip().startswith("#"):
            found = requirement(text)
            if found is not None:
                yield manifest.package(*found, number, "pypi")


def environment(manifest: Manifest) -> Iterator[Package]:
    """Packages of a conda environment, those that pip installs among them; read line by line."""
    listing, pip = False, -1
    for number, line in enumerate(manifest.lines, 1):
        if line and not line[0].isspace() and not line.startswith(("-", "#")):
            listing, pip = line.startswith("dependencies:"), -1
        item = _ITEM.match(line)
        if not listing or item is None:
            continue
        depth, text = len(item[1]), item[2].partition(" #")[0].strip().strip("\"'")
        if text == "pip:":
            pip = depth
        elif pip >= 0 and depth > pip:
            found = requirement(text) if not text.startswith("-") else None
            yield from [manifest.package(*found, number, "pypi")] if found else []
        elif (found_conda := _CONDA.match(text)) is not None:
            pip = -1
            yield manifest.package(found_conda[1], found_conda[2], number, "conda")
