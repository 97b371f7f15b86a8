"""Files that the plan changes, and targets, scripts and files that it runs, which the repository does not have."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Callable, Iterator
from functools import cache, partial

from verifyplan.agents.static.roles.context import RoleContext, plain
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, assertion
from verifyplan.agents.static.roles.plan_text import Instruction

_OUTPUT = re.compile(
    r"\.(?:csv|tsv|parquet|log|html|png|jpe?g|svg|pdf|tiff?|h5|nc|zip|lock|ipynb)$|(?<!package)(?<!tsconfig)\.json$"
)
PARTS = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_WRAPPERS = frozenset(("micromamba", "conda", "mamba", "uv", "poetry", "pdm"))
_PREFIXES = frozenset({"sudo", "time", "env", "nohup", "exec"})
_INTERPRETERS = frozenset({"python", "python3", "bash", "sh", "zsh", "node", "ruby", "source", "pytest"})
_READERS = frozenset({"grep", "cat", "wc", "head", "tail"})
_CODE_FILE = re.compile(r"[\w.-]+/[\w./-]+\.(?:py|js|ts|tsx|go|rs|java|sh)")
_PACKAGE_JSON = ("package.json", r"package\.json|\bscripts?\b|\bnpm init\b")
_MANIFESTS = {
    "make": ("Makefile", r"[Mm]akefile|\btargets?\b|\.mk\b"),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _PACKAGE_JSON),
}
_MAKES_MAKEFILES = ("CMakeLists.txt", "configure", "configure.ac", "Makefile.am", "Makefile.in", "Makefile.PL")
_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)", re.MULTILINE)


def check_files(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Look up each file that an instruction changes in git's list of files.

    A file is not an issue where the plan or a plan that it depends on may have made it, where git ignores it, or where
    it lies outside. It is BLOCKING where it is edited and no folder has a file of its name, else SIGNIFICANT.
    """
    if context.index.empty:
        return
    for change in context.text.file_instructions:
        listed = not change.by_sentence and context.text.listed(change.name)  # "In `a.py`, ..." may then be a new file
        if change.changes and not listed and plain(change.name) and not _OUTPUT.search(change.name):
            yield CitedLine("", change.line)
            if not may_exist(context, change.name, change.line):
                yield _file_issue(context, change)


def may_exist(context: RoleContext, path: str, line: int) -> bool:
    """Whether a file is there, or may be by the time that the plan comes to this line."""
    return (
        context.index.exists(path)
        or bool(context.text.makes(path))
        or bool(context.text.listed_in_task_before(path, line))
        or context.repository.ignored(path)
        or context.other_plan_may_add(path)
    )


def _file_issue(context: RoleContext, change: Instruction) -> StaticIssue:
    same = context.index.same_name(change.name)
    deletes = change.verb == "delete"
    beside = (CitedLine(same[0], 1, (context.repository.lines(same[0]) or ("",))[0]),) if same else ()
    elsewhere = f" {same[0]} has that name." if same else " No file of that name is in any folder."
    return StaticIssue(
        assertion("file-missing", change.name),
        change.line,
        f"A step {'deletes' if deletes else 'changes'} it, git lists no such file, and no step makes it.{elsewhere}",
        "SIGNIFICANT" if same or deletes else "BLOCKING",
        scenario="Whoever carries out the step finds nothing there, and makes up what was meant or stops.",
        alternative=f"Name {same[0]}, if that is meant." if same else "Name the file that is meant, or create it.",
        beside=beside,
    )


def check_commands(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Look up what each command line runs: make targets, npm scripts, script files, modules of `python -m`."""
    if context.index.empty:
        return
    # a long plan runs the same command in many steps, and each look-up goes through all of its sentences
    make_knows, may_be_added = cache(partial(_make_knows, context)), cache(partial(_may_be_added, context))
    for line, text in context.text.commands:
        moved = False
        for part in PARTS.split(text):
            words = words_of(part)
            moved = moved or words[:1] == ["cd"]
            if moved or len(words) < 2:
                continue
            runner, name, known = _looked_up(context, words, line, make_knows)
            if name and not re.search(r"[<>{}$*\[\]]|\.\.\.", name):
                yield CitedLine("", line)
                if not known and not may_be_added(runner, name):
                    yield StaticIssue(
                        assertion("command-missing", f"{runner} {name}".strip()),
                        line,
                        "The plan runs it, and neither the repository's files and manifests have it nor a step of the"
                        " plan adds it.",
                        scenario="The command ends with an error, and the step that rests on it shows nothing.",
                        alternative="Name the command that is meant, or add it in a step.",
                    )


def words_of(part: str) -> list[str]:
    """Return the words of a command without assignments, `sudo` and what runs it in an environment."""
    try:
        words = shlex.split(part, comments=True)
    except ValueError:
        return []
    while words and (_ASSIGNMENT.match(words[0]) or words[0] in _PREFIXES):
        words = words[1:]
    if words[:1] and words[0] in _WRAPPERS and words[1:2] == ["run"]:
        words = words[2:]
        while words and words[0].startswith("-"):
            words = words[2 if words[0] in ("-n", "-p", "--name", "--prefix") else 1 :]
    if words[:1] and words[0] in ("python", "python3") and words[1:3] == ["-m", "pytest"]:
        words = words[2:]
    return words


def _looked_up(
    context: RoleContext, words: list[str], line: int, make_knows: Callable[[str], bool]
) -> tuple[str, str, bool]:
    """Return what runs, the name that it runs (empty: none that is looked up), and whether that is there."""
    runner, *arguments = words
    if runner == "make":
        other = any(argument.startswith(("-C", "-f", "--")) for argument in arguments)
        targets = (argument for argument in arguments if not argument.startswith("-") and "=" not in argument)
        name = "" if other else next(targets, "")
        return runner, name, bool(name) and make_knows(name)
    if runner in ("npm", "pnpm", "yarn") and arguments[0] == "run" and len(arguments) > 1:
        return f"{runner} run", arguments[1], arguments[1] in _scripts(context)
    if runner in ("python", "python3") and arguments[0] == "-m" and len(arguments) > 1:
        return f"{runner} -m", arguments[1], _module_known(context, arguments[1], line)
    if runner.startswith("./"):
        return "", runner, not plain(runner) or _file_known(context, runner, line)
    if runner in _INTERPRETERS:
        name = _script(arguments, tests=runner == "pytest")
        return runner, name, not plain(name) or _file_known(context, name, line)
    if runner in _READERS:
        name = next((argument for argument in arguments if _CODE_FILE.fullmatch(argument)), "")
        return runner, name, "!" in arguments or not name or _file_known(context, name, line)
    return runner, "", False


def _file_known(context: RoleContext, name: str, line: int) -> bool:
    return bool(context.text.listed(name)) or may_exist(context, name, line)


def _may_be_added(context: RoleContext, runner: str, name: str) -> bool:
    """Whether the plan, or another plan, may add it: targets and scripts only where their manifest is mentioned."""
    manifest, mentioned = _MANIFESTS.get(runner.partition(" ")[0] if " run" in runner else runner, ("", ""))
    here = not manifest or re.search(mentioned, context.plan.text) is not None
    beside = not manifest or context.other_plan_may_add(manifest)
    return (here and bool(context.text.adds(name))) or (beside and context.other_plan_may_add(name))


def _script(arguments: list[str], tests: bool) -> str:
    """Return the script, or file of tests, among the arguments of an interpreter."""
    options = (argument for argument in arguments if not argument.startswith("-"))
    first = next(options, "") if tests else arguments[0]
    path = first.partition("::")[0].removeprefix("./")
    return path if re.fullmatch(r"[\w./-]+\.(?:py|sh|js|mjs|cjs|rb)", path) else ""


def _make_knows(context: RoleContext, target: str) -> bool:
    """Whether some makefile has the target, or has rules that could make it."""
    paths = [path for path in context.repository.files if re.search(r"(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$", path)]
    text = context.index.texts(paths)
    targets = {name for listed in _TARGET.findall(text) for name in listed.split()}
    open_ended = any("%" in name or "$" in name for name in targets) or re.search(r"^-?include\s+\S*\$", text, re.M)
    made = context.text.makes("Makefile") or any(context.index.same_name(name) for name in _MAKES_MAKEFILES)
    ignored = not paths and context.repository.ignored("Makefile")
    return target in targets or bool(open_ended) or bool(made) or ignored or context.index.exists(target)


def _scripts(context: RoleContext) -> set[str]:
    """Return the scripts of all package.json files."""
    names: set[str] = set()
    for path in context.index.manifests("javascript"):
        text = context.repository.text(path)
        try:
            names.update(json.loads(text or "{}").get("scripts", {}))
        except (ValueError, AttributeError, TypeError):  # a damaged manifest may hold any script
            names.update(re.findall(r"\"([\w:.-]+)\"\s*:", text or ""))
    return names


def _module_known(context: RoleContext, module: str, line: int) -> bool:
    """Whether a module of the repository's own packages is there; True for all others."""
    path = module.replace(".", "/")
    packages = (posixpath.dirname(init) for init in context.index.same_name("__init__.py"))
    own = [package for package in packages if posixpath.basename(package) == path.partition("/")[0]]
    if not own or not re.fullmatch(r"[\w.]+", module):
        return True
    if context.text.listed(f"{path}.py") or context.text.makes(f"{path}.py"):
        return True
    tops = [posixpath.join(posixpath.dirname(package), path) for package in own]
    return any(may_exist(context, f"{top}{end}", line) for top in tops for end in (".py", "/__main__.py", ""))
