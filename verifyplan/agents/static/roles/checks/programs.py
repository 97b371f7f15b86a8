"""Programs of the repository that the plan runs and that are not there, and arguments they do not know."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene

_SCRIPT = re.compile(r"(?:\./)?[\w.-]+(?:/[\w.-]+)+\.(?:sh|py|js|ts|mjs|rb|pl)|\./[\w.-]+(?:/[\w.-]+)*")
_WORD = re.compile(r"[a-z][a-z0-9_-]{2,30}")
_CASES = re.compile(r"^\s*\(?(?:[\w-]+\s*\|\s*)*[\w-]+\)\s", re.MULTILINE)
_OPTIONS = re.compile(r"--[a-z][a-z0-9-]{2,30}")
_TEACHES = re.compile(
    r"\b(?:add|adds|gets?|learns?|takes?|new|accepts?|knows?|understands?|option|argument|subcommand)\b", re.IGNORECASE
)
_COMMON = frozenset({"--help", "--version"})


def check(scene: Scene, command: str, line: int) -> Iterator[Issue]:
    """An issue if a command runs a script or module that is not there, or gives it a word or option it does not know.

    Arguments are looked up in the program's text: a word only in shell scripts that tell words apart, an option in
    programs that read options. Programs that the plan makes or changes in that respect are left alone.
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return
    while words and (re.fullmatch(r"[A-Z_]+=.*", words[0]) or words[0] in ("bash", "sh", "sudo", "time")):
        words = words[1:]
    if not words:
        return
    name, arguments = _program(words)
    if not name:
        yield from _given(scene, words, line)
        return
    path = _path(scene, name)
    if path is None:
        if not _made(scene, name):
            yield _missing(name, line)
        return
    yield from _arguments(scene, path, name, arguments, line)


def _given(scene: Scene, words: list[str], line: int) -> Iterator[Issue]:
    """Paths that a command reads and that are not there: of tests to run, packages to build, files to load."""
    if words[0] == "go" and len(words) > 2 and words[1] in ("run", "test", "build", "vet"):
        paths = [
            word.removeprefix("./").removesuffix("/...").removesuffix("...")
            for word in words[2:]
            if word.startswith("./")
        ]
    elif words[0] in ("pytest", "bash", "sh", "ruff", "mypy", "vitest") or words[:2] == ["psql", "-f"]:
        paths = [
            word.partition("::")[0]
            for word in words[1:]
            if re.fullmatch(r"[\w.-]+(?:/[\w.-]+)+", word.partition("::")[0])
        ]
    else:
        return
    for path in paths:
        if (
            path
            and plain(path)
            and not scene.known.exists(path)
            and not _made(scene, f"./{path}")
            and not any(one.startswith(f"{path}/") for one in scene.plan.created)
        ):
            yield _missing(path, line)


def _program(words: list[str]) -> tuple[str, list[str]]:
    """The script or module that a command runs, and its arguments; empty if it runs neither."""
    match words:
        case ["python" | "python3", "-m", module, *rest] if re.fullmatch(r"\w+(?:\.\w+)+", module):
            return module, rest
        case ["python" | "python3" | "node", script, *rest] if _SCRIPT.fullmatch(script):
            return script, rest
        case [script, *rest] if _SCRIPT.fullmatch(script) and (rest or script.endswith(".sh")):
            return script, rest
    return "", []


def _path(scene: Scene, name: str) -> str | None:
    """The file of a program; the name itself where it is none of this repository's, so that nothing is missing."""
    if "/" in name:
        return scene.known.file(name) or (
            None if plain(name.removeprefix("./")) and name.endswith((".sh", ".py", ".js", ".ts")) else name
        )
    path = name.replace(".", "/")
    top = path.partition("/")[0]
    if top not in scene.repository.folders and not any(
        folder.endswith(f"/{top}") for folder in scene.repository.folders
    ):
        return name
    return next(
        (found for end in (".py", "/__main__.py", "/__init__.py") if (found := scene.known.file(path + end))), None
    )


def _made(scene: Scene, name: str) -> bool:
    path = name.removeprefix("./") if "/" in name else f"{name.replace('.', '/')}.py"
    created = scene.plan.created
    return any(path.endswith(one) or one.endswith(path) for one in created) or scene.reading.makes(path) > 0


def _missing(name: str, line: int) -> Issue:
    return Issue(
        statement("command-missing", name),
        line,
        "The repository has no such program, and no step creates it.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The command stops with an error, and the step that rests on it is not carried out.",
        alternative="Add the step that creates it, or run what is there.",
    )


def _arguments(scene: Scene, path: str, name: str, arguments: list[str], line: int) -> Iterator[Issue]:
    wanted = [word for word in arguments if word.startswith("--") and word.split("=")[0] not in _COMMON]
    first = arguments[0] if arguments and _WORD.fullmatch(arguments[0]) else ""
    if path not in scene.repository.files or not (wanted or (first and path.endswith(".sh"))):
        return
    text = "\n".join(scene.tools.read(path).lines)
    if not text:
        return
    tells_words = path.endswith(".sh") and 'case "$' in text and _CASES.search(text) is not None
    unknown = (
        [first] if first and tells_words and not re.search(rf"(?<![\w-]){re.escape(first)}(?![\w-])", text) else []
    )
    reads_options = (
        _OPTIONS.search(text) is not None or "argparse" in text or "sys.argv" in text or path.endswith((".sh", ".py"))
    )
    unknown += [
        one for word in wanted if (one := word.split("=")[0]) not in text and reads_options and "$@" not in text
    ]
    for one in unknown:
        if not any(
            path.rpartition("/")[2] in other.text and _TEACHES.search(other.text)
            for other, _ in scene.reading.naming(one)
        ):
            yield _unknown(path, name, one, line)


def _unknown(path: str, name: str, argument: str, line: int) -> Issue:
    return Issue(
        statement("command-missing", f"{name} {argument}"),
        line,
        f"{path} does not know {argument}, and no step adds it.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The command stops with its usage text, and the step that rests on it is not carried out.",
        alternative=f"Run it with what `{path}` knows, or add the argument in a step before.",
        beside=(Place(path, 1),),
    )
