"""What a step of the plan lacks: a package that is declared, a test, a file beside it, who else is touched."""

from __future__ import annotations

import posixpath
import re

from verifyplan.agents.static.debate.page import Lines
from verifyplan.agents.static.debate.remedies import migrations
from verifyplan.agents.static.debate.remedies.case import Case
from verifyplan.agents.static.roles.rulebook import rulebook
from verifyplan.words import counted

_WANTS_TEST = re.compile(r"^The plan changes (\S+) and speaks of no test ")
_NEVER_NAMES = re.compile(r"^The plan never names (\S+), which the rule wants to go with it ")
_NEVER_TO = re.compile(r"^The plan goes to (\w+) and never to (\w+) ")
_DEPENDS = re.compile(r"\b(?:add|new)\b.{0,40}\bdependenc(?:y|ies)\b", re.IGNORECASE)
_SOURCE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go)$")
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.", re.IGNORECASE)
_OF_GO, _OF_SCRIPT = re.compile(r"go|poller|worker"), re.compile(r"frontend|web|ui|js")
_MANIFESTS = {
    "go": re.compile(r"(?:^|/)go\.mod$"),
    "script": re.compile(r"(?:^|/)package\.json$"),
    "python": re.compile(r"(?:^|/)(?:pyproject\.toml|requirements[\w-]*\.txt|setup\.(?:cfg|py))$"),
}
_BLOCKS = {"py": "python", "python": "python", "go": "go", "ts": "script", "tsx": "script", "js": "script"}


def package(case: Case) -> Lines | None:
    """A sentence that declares the package in the manifest of its language; None where there is none."""
    name, language = case.names[0], _language(case)
    wanted = _MANIFESTS.get(language)
    manifests = sorted(path for path in case.known.repository.files if wanted is not None and wanted.search(path))
    if not manifests:
        return None
    declared = f"the module of `{name}`" if language == "go" else f"`{name}`"
    said = f"Before that, declare {declared} in `{manifests[0]}`, with the version that it is tested with."
    return case.add(f"{said}{_along(case)}")


def _along(case: Case) -> str:
    """What a rule of the project wants to go with a new dependency, where the plan does not name it yet."""
    plan = "\n".join(case.lines)
    for one in rulebook(case.scene):
        place = next((name for name in one.names if "/" in name and case.known.exists(name)), "")
        if place and place not in plan and _DEPENDS.search(one.text):
            return f" In the same change `{place}` gets what {one.path}:{one.line} asks for."
    return ""


def _language(case: Case) -> str:
    name, block = case.names[0], case.reading.block(case.finding.line)
    if block is not None and block.language in _BLOCKS:
        return _BLOCKS[block.language]
    if re.match(r"(?:[a-z0-9-]+\.)+[a-z]+/\w", name):
        return "go"
    ends = [one.name.rpartition(".")[2] for one in case.reading.actions("file")]
    return next((_BLOCKS[end] for end in ends if end in _BLOCKS), "")


def rule(case: Case) -> Lines | None:
    """What a rule of the project asks for: a test, the file that goes with it, the way down, the place before."""
    concern = case.finding.concern
    test, beside, order = _WANTS_TEST.search(concern), _NEVER_NAMES.search(concern), _NEVER_TO.search(concern)
    if test is not None:
        return _tested(case, test[1])
    if beside is not None and case.finding.beside:
        said = f"In the same change `{beside[1]}` gets what {case.finding.beside[0]} asks for."
        return case.add(said)
    if order is not None:
        return case.add(f"It goes to {order[2]} first, where its effect is looked at, and then to {order[1]}.")
    return migrations.down(case)


def check(case: Case) -> Lines | None:
    """A test of the first source file that the plan changes, and the command that runs it."""
    changed = (one for one in case.reading.actions("file") if _SOURCE.search(one.name) and not _TEST.search(one.name))
    there = sorted(changed, key=lambda one: one.line != case.finding.line)
    return _tested(case, there[0].name) if there else None


def _tested(case: Case, path: str) -> Lines | None:
    test, command = test_of(case, path)
    new = "" if case.known.exists(test) else "A new "
    return case.add_before_release(
        f"{new}`{test}` gets a test that fails without this change, and `{command}` passes before anything goes out."
    )


def test_of(case: Case, path: str) -> tuple[str, str]:
    """The test file of a source file, there or not, and the command that runs such tests."""
    folder, _, base = path.rpartition("/")
    stem, _, end = base.partition(".")
    made = [one.name for one in case.known.commands if one.runner == "make" and "test" in one.name]
    if end == "go":
        return posixpath.join(folder, f"{stem}_test.go"), _make(made, _OF_GO) or "go test ./..."
    if end in ("ts", "tsx", "js", "jsx"):
        return posixpath.join(folder, f"{stem}.test.{end}"), _make(made, _OF_SCRIPT) or "npm test"
    named = [one for one in case.known.repository.files if one.rpartition("/")[2] == f"test_{stem}.py"]
    return (named[0] if named else f"tests/test_{stem}.py"), "make test" if "test" in made else "pytest"


def _make(targets: list[str], pattern: re.Pattern[str]) -> str:
    return next((f"make {name}" for name in targets if pattern.search(name)), "")


def dependents(case: Case) -> Lines | None:
    """The places that use what is changed, named as changed along."""
    paths = list(dict.fromkeys(one.path for one in case.finding.beside if one.path in case.known.repository.files))
    if not paths:
        return None
    named = ", ".join(f"`{path}`" for path in paths)
    return case.add(f"What uses it is changed in the same step: {counted(len(paths), 'file')}, {named}.")
