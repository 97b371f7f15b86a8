"""Commands that the plan runs and that no manifest defines: make targets, npm scripts, modules, scripts."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from verifyplan.agents.static.roles.checks import programs
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words
from verifyplan.words import did_you_mean

_NPM_OWN = words(
    "install i ci add remove test start stop publish pack audit outdated update exec run init link",
    "version dlx create why view",
)
_TARGET = re.compile(r"[A-Za-z0-9][\w.-]*")
_COMMENT = re.compile(r"(?:^|\s)#\s.*")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each make target, npm script, module, script or argument of one that is defined nowhere.

    Silent for runners that the repository does not use, for targets that the plan adds, and for command lines that
    cannot be split into words.
    """
    if scene.known.empty:
        return
    runners = {command.runner for command in scene.known.commands}
    seen: set[str] = set()
    for at, text in scene.reading.ticked:
        sentence = scene.reading.sentence(at, text).text
        if denied(sentence, max(sentence.find(text), 0)):
            continue
        for part in re.split(r"&&|\|\||[;|]", _COMMENT.sub("", text)):
            for runner, name in wanted(part):
                full = f"{runner} {name}"
                if (
                    runner in runners
                    and name not in _commands(scene, runner)
                    and full not in seen
                    and not _added(scene, name)
                ):
                    seen.add(full)
                    yield _issue(scene, full, name, runner, at)
            for issue in programs.check(scene, part, at):
                if issue.statement.names[0] not in seen:
                    seen.add(issue.statement.names[0])
                    yield issue


def wanted(command: str) -> list[tuple[str, str]]:
    """The targets and scripts that a command line runs, each with its runner.

    >>> wanted("make lint test"), wanted("npm run build -- --watch"), wanted("npm ci")
    ([('make', 'lint'), ('make', 'test')], [('npm', 'build')], [])
    """
    try:
        words = shlex.split(command)
    except ValueError:
        return []
    while words and re.fullmatch(r"[A-Z_]+=.*", words[0]):
        words = words[1:]
    match words:
        case ["make", *rest]:
            if any(word in ("-C", "-f", "--directory", "--file") for word in rest):
                return []
            words = [word for before, word in zip(["", *rest], rest, strict=False) if before not in ("-j", "-l", "-f")]
            return [("make", word) for word in words if _TARGET.fullmatch(word) and "=" not in word]
        case ["npm" | "pnpm" | "yarn", "run", name, *_] if _TARGET.fullmatch(name.replace(":", "-")):
            return [("npm", name)]
        case ["yarn" | "pnpm", name, *_] if name not in _NPM_OWN and _TARGET.fullmatch(name.replace(":", "-")):
            return [("npm", name)]
        case ["just", name, *_] if _TARGET.fullmatch(name):
            return [("just", name)]
    return []


def _commands(scene: Scene, runner: str) -> set[str]:
    return {command.name for command in scene.known.commands if command.runner == runner}


def _added(scene: Scene, name: str) -> bool:
    """Whether the plan makes the target: says so, or has code that defines it."""
    target = re.compile(rf'^\s*(?:\+\s*)?"?{re.escape(name)}"?\s*:', re.MULTILINE)
    if any(name in block.text and target.search(block.text) for block in scene.plan.blocks):
        return True
    makes = re.compile(
        rf"\b(?:add|adds|new|create|creates|define|defines|introduce)\b[^.;]*(?<![\w-]){re.escape(name)}(?![\w-])[^.;]*\b(?:target|script|command|recipe)\b|\b(?:add|adds|new|create|creates|define)\b[^.;]*\b(?:target|script|recipe)s?\b[^.;]*(?<![\w-]){re.escape(name)}(?![\w-])",
        re.IGNORECASE,
    )
    return any(name in line and makes.search(line) for _, line in scene.reading.prose)


def _issue(scene: Scene, full: str, name: str, runner: str, line: int) -> Issue:
    known = sorted(_commands(scene, runner))
    first = min((c for c in scene.known.commands if c.runner == runner), key=lambda c: (c.path, c.line))
    near = did_you_mean(name, known).strip(" ()?").removeprefix("did you mean ").strip("'")
    hint = f"The nearest is `{near}`; run that." if near else f"Add it to `{first.path}`, or run what is there."
    return Issue(
        statement("command-missing", full),
        line,
        f"{first.path} defines no {name}, and no step adds it.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The command stops with an error, and the step that rests on it was never checked.",
        alternative=hint,
        beside=(Place(first.path, first.line),),
    )
