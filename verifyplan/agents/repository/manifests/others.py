"""The manifests of npm, Cargo, Go, Maven and Gradle."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from verifyplan.agents.repository.manifests.text import Lines, Manifest, json_table, table, toml, version_of
from verifyplan.agents.repository.records import Command, Package

_NPM_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")
_CARGO_KINDS = ("dependencies", "dev-dependencies", "build-dependencies")
_GO_REQUIRE = re.compile(r"[ \t]*(?:require[ \t]+)?([\w.~-]+(?:/[\w.~-]+)+|[\w-]+\.[\w.-]+)[ \t]+(v[^\s]+)")
_GRADLE = re.compile(
    r"[ \t]*(?:\w*[iI]mplementation|\w*[aA]pi|\w*[cC]ompile(?:Only)?|\w*[rR]untime(?:Only)?|kapt|ksp"
    r"|annotationProcessor)"
    r"[ \t]*\(?[ \t]*(?:platform\()?[\"']([\w.-]{1,200}):([\w.-]{1,200})(?::([^\"']{0,200}))?[\"']"
)
_TAG = re.compile(r"<(groupId|artifactId|version)>\s*([^<\s]{1,300})\s*</")


def package_json(manifest: Manifest) -> Iterator[Package]:
    """Packages of package.json, of all kinds."""
    data, lines = json_table(manifest), Lines(manifest)
    for kind in _NPM_KINDS:
        line = lines.find(rf"\"{kind}\"\s*:")
        for name, value in table(data, kind).items():
            line = lines.find(rf"\"{re.escape(name)}\"\s*:", line)
            yield manifest.package(name, version_of(value), line, "npm")


def package_json_commands(manifest: Manifest) -> Iterator[Command]:
    """The scripts of package.json."""
    data, lines = json_table(manifest), Lines(manifest)
    line = lines.find(r"\"scripts\"\s*:")
    for name in table(data, "scripts"):
        line = lines.find(rf"\"{re.escape(name)}\"\s*:", line)
        yield manifest.command(name, "npm", line)


def cargo(manifest: Manifest) -> Iterator[Package]:
    """Packages of Cargo.toml: of all kinds, of targets, and of the workspace; a renamed one by its real name."""
    data, lines = toml(manifest), Lines(manifest)
    places = [("", data), ("workspace.", table(data, "workspace"))]
    places += [("target.", one) for one in map(table, table(data, "target").values())]
    for prefix, place in places:
        for kind in _CARGO_KINDS:
            header = rf"^\s*\[{re.escape(prefix)}{'.*' if prefix == 'target.' else ''}{kind}"
            line = lines.section(rf"{header}\]", header)
            for name, value in table(place, kind).items():
                line = lines.find(rf"^\s*\"?{re.escape(name)}\"?\s*[.=]|{header}\.\"?{re.escape(name)}\"?\]", line)
                real = value.get("package", name) if isinstance(value, Mapping) else name
                yield manifest.package(real if isinstance(real, str) else name, version_of(value), line, "crates")


def go_mod(manifest: Manifest) -> Iterator[Package]:
    """Modules that go.mod requires."""
    block = ""
    for number, line in enumerate(manifest.lines, 1):
        text = line.strip()
        if text.endswith("("):
            block = text[:-1].strip()
        elif text == ")":
            block = ""
        elif block == "require" or (not block and text.startswith("require ")):
            found = _GO_REQUIRE.match(line[:1_000])
            if found:
                yield manifest.package(found[1], found[2], number, "go")


def pom(manifest: Manifest) -> Iterator[Package]:
    """Artifacts in the `<dependency>` elements of pom.xml, as `group:artifact`, at the line of the artifact."""
    parts = manifest.text.split("<dependency>")
    line = parts[0].count("\n") + 1
    for part in parts[1:]:
        inside = part.partition("</dependency>")[0].partition("<exclusions>")[0]
        found = {tag[1]: tag for tag in reversed(list(_TAG.finditer(inside)))}
        if "artifactId" in found:
            at = line + inside.count("\n", 0, found["artifactId"].start(2))
            group = f"{found['groupId'][2]}:" if "groupId" in found else ""
            version = found["version"][2] if "version" in found else ""
            yield manifest.package(f"{group}{found['artifactId'][2]}", version, at, "maven")
        line += part.count("\n")


def gradle(manifest: Manifest) -> Iterator[Package]:
    """Artifacts that a Gradle build declares as `group:artifact:version` on one line."""
    for number, line in enumerate(manifest.lines, 1):
        found = _GRADLE.match(line[:1_000])
        if found:
            yield manifest.package(f"{found[1]}:{found[2]}", found[3] or "", number, "maven")
