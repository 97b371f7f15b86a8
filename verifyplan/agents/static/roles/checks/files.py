"""Files that the plan changes, and targets, scripts and files that it runs, which the repository does not have."""

from __future__ import annotations

import json
import posixpath
import re
import shlex
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place, statement
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.plan_text import Order
from verifyplan.agents.static.roles.scene import Scene

_OUTPUT = re.compile(
    r"\.(?:csv|tsv|parquet|log|html|png|jpe?g|svg|pdf|tiff?|h5|nc|zip|lock|ipynb)$|(?<!package)(?<!tsconfig)\.json$"
)


def check_files(scene: Scene) -> Iterator[Place | Issue]:
    """Look up each file of such a sentence in git's list of files.

    A file is no issue where the plan or a plan that it depends on may have made it, where git ignores it, or where
    it lies outside. It is BLOCKING where it is edited and no file of its name is anywhere, else SIGNIFICANT.
    """
    if scene.known.empty:
        return
    for order in scene.text.file_orders():
        listed = not order.by_sentence and scene.text.listed(order.name)  # "In `a.py`, ..." may then be a new file
        changes = order.verb in ("edit", "delete", "rename") and not listed
        if changes and plain(order.name) and not _OUTPUT.search(order.name):
            yield Place("", order.line)
            if not may_exist(scene, order.name, order.line):
                yield _issue_of_file(scene, order)


def may_exist(scene: Scene, path: str, line: int) -> bool:
    """Whether a file is there, or may be by the time that the plan comes to this line."""
    return (
        scene.known.exists(path)
        or bool(scene.text.makes(path))
        or bool(scene.text.listed_in_task_before(path, line))
        or scene.repository.ignored(path)
        or scene.other_plan_may_add(path)
    )


def _issue_of_file(scene: Scene, order: Order) -> Issue:
    same = scene.known.same_name(order.name)
    deletes = order.verb == "delete"
    beside = (Place(same[0], 1, (scene.repository.lines(same[0]) or ("",))[0]),) if same else ()
    elsewhere = f" {same[0]} has that name." if same else " No file of that name is in any folder."
    return Issue(
        statement("file-missing", order.name),
        order.line,
        f"A step {'deletes' if deletes else 'changes'} it, git lists no such file, and no step makes it.{elsewhere}",
        "SIGNIFICANT" if same or deletes else "BLOCKING",
        scenario="Whoever carries out the step finds nothing there, and makes up what was meant or stops.",
        alternative=f"Name {same[0]}, if that is meant." if same else "Name the file that is meant, or create it.",
        beside=beside,
    )


PARTS = re.compile(r"&&|\|\||[;|\n]")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*$")
_WRAPPERS = frozenset(("micromamba", "conda", "mamba", "uv", "poetry", "pdm"))
_PREFIXES = frozenset({"sudo", "time", "env", "nohup", "exec"})
_INTERPRETERS = frozenset({"python", "python3", "bash", "sh", "zsh", "node", "ruby", "source", "pytest"})
_READERS = frozenset({"grep", "cat", "wc", "head", "tail"})
_PACKAGE_JSON = ("package.json", r"package\.json|\bscripts?\b|\bnpm init\b")
_MANIFESTS = {
    "make": ("Makefile", r"[Mm]akefile|\btargets?\b|\.mk\b"),
    **dict.fromkeys(("npm", "pnpm", "yarn"), _PACKAGE_JSON),
}
_MAKES_MAKEFILES = ("CMakeLists.txt", "configure", "configure.ac", "Makefile.am", "Makefile.in", "Makefile.PL")
_TARGET = re.compile(r"^([^\s#:=][^:=#]*?)\s*::?(?!=)", re.MULTILINE)


def check_commands(scene: Scene) -> Iterator[Place | Issue]:
    """Look up what each command line runs: make targets, npm scripts, script files, modules of `python -m`."""
    if scene.known.empty:
        return
    for line, text in scene.text.commands:
        moved = False
        for part in PARTS.split(text):
            words = words_of(part)
            moved = moved or words[:1] == ["cd"]
            found = () if moved or len(words) < 2 else _missing(scene, words, line)
            for one in found:
                yield one if isinstance(one, Place) else _issue_of_command(one, line)


def words_of(part: str) -> list[str]:
    """The words of a command without assignments, `sudo` and what runs it in an environment."""
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


def _missing(scene: Scene, words: list[str], line: int) -> Iterator[Place | str]:
    """The place, where something was looked up, and the command's name where it is not there."""
    runner, *arguments = words
    name = ""
    if runner == "make" and not any(one.startswith(("-C", "-f", "--")) for one in arguments):
        name = next((one for one in arguments if not one.startswith("-") and "=" not in one), "")
        known = bool(name) and _make_knows(scene, name)
    elif runner in ("npm", "pnpm", "yarn") and arguments[0] == "run" and len(arguments) > 1:
        runner, name = f"{runner} run", arguments[1]
        known = name in _scripts(scene)
    elif runner in ("python", "python3") and arguments[0] == "-m" and len(arguments) > 1:
        runner, name = f"{runner} -m", arguments[1]
        known = _module_knows(scene, name, line)
    elif runner in _INTERPRETERS or runner.startswith("./"):
        name = runner if runner.startswith("./") else _script(arguments, runner == "pytest")
        runner = "" if runner.startswith("./") else runner
        known = not name or not plain(name) or bool(scene.text.listed(name)) or may_exist(scene, name, line)
    elif runner in _READERS:
        name = next(
            (one for one in arguments if re.fullmatch(r"[\w.-]+/[\w./-]+\.(?:py|js|ts|tsx|go|rs|java|sh)", one)),
            "",
        )
        known = "!" in arguments or not name or bool(scene.text.listed(name)) or may_exist(scene, name, line)
    if name and not re.search(r"[<>{}$*\[\]]|\.\.\.", name):
        yield Place("", line)
        if not known and not _may_be_added(scene, runner, name):
            yield f"{runner} {name}".strip()


def _may_be_added(scene: Scene, runner: str, name: str) -> bool:
    """Whether the plan, or one beside it, may add it: targets and scripts only where their manifest is spoken of."""
    manifest, spoken_of = _MANIFESTS.get(runner.partition(" ")[0] if " run" in runner else runner, ("", ""))
    here = not manifest or re.search(spoken_of, scene.plan.text) is not None
    beside = not manifest or scene.other_plan_may_add(manifest)
    return (here and bool(scene.text.adds(name))) or (beside and scene.other_plan_may_add(name))


def _script(arguments: list[str], tests: bool) -> str:
    """The script, or file of tests, that an interpreter is given."""
    first = next((one for one in arguments if not one.startswith("-")), "") if tests else arguments[0]
    path = first.partition("::")[0].removeprefix("./")
    return path if re.fullmatch(r"[\w./-]+\.(?:py|sh|js|mjs|cjs|rb)", path) else ""


def _make_knows(scene: Scene, target: str) -> bool:
    """Whether some makefile has the target, or has rules that could make it."""
    paths = [one for one in scene.repository.files if re.search(r"(?:^|/)(?:GNU)?[Mm]akefile$|\.mk$", one)]
    text = scene.known.texts(paths)
    targets = {name for found in _TARGET.findall(text) for name in found.split()}
    open_ended = any("%" in one or "$" in one for one in targets) or re.search(r"^-?include\s+\S*\$", text, re.M)
    made = scene.text.makes("Makefile") or any(scene.known.same_name(one) for one in _MAKES_MAKEFILES)
    ignored = not paths and scene.repository.ignored("Makefile")
    return target in targets or bool(open_ended) or bool(made) or ignored or scene.known.exists(target)


def _scripts(scene: Scene) -> set[str]:
    """The scripts of all package.json files."""
    found: set[str] = set()
    for path in scene.known.manifests("javascript"):
        try:
            scripts = json.loads(scene.repository.text(path) or "{}").get("scripts", {})
            found.update(scripts)
        except (ValueError, AttributeError, TypeError):  # a damaged manifest may hold any script
            found.update(re.findall(r"\"([\w:.-]+)\"\s*:", scene.repository.text(path) or ""))
    return found


def _module_knows(scene: Scene, module: str, line: int) -> bool:
    """Whether a module of the repository's own packages is there; others are not known."""
    path = module.replace(".", "/")
    packages = (posixpath.dirname(one) for one in scene.known.same_name("__init__.py"))
    own = [one for one in packages if posixpath.basename(one) == path.partition("/")[0]]
    if not own or not re.fullmatch(r"[\w.]+", module):
        return True
    places = [
        f"{posixpath.join(posixpath.dirname(top), path)}{end}" for top in own for end in (".py", "/__main__.py", "")
    ]
    named = bool(scene.text.listed(f"{path}.py")) or bool(scene.text.makes(f"{path}.py"))
    return named or any(may_exist(scene, place, line) for place in places)


def _issue_of_command(command: str, line: int) -> Issue:
    return Issue(
        statement("command-missing", command),
        line,
        "The plan runs it, and neither the repository's files and manifests have it nor a step of the plan adds it.",
        scenario="The command ends with an error, and the step that rests on it shows nothing.",
        alternative="Name the command that is meant, or add it in a step.",
    )
