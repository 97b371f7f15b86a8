"""Names that the plan takes from the repository's own modules, and that these do not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.issues import Issue, Place, statement
from verifyplan.agents.static.roles.plan_text import PART_OF
from verifyplan.agents.static.roles.scene import CodeRead, Scene, code_blocks
from verifyplan.repository.languages import PARSED
from verifyplan.repository.records import Import

_NAME_IN_FILE = re.compile(
    r"`(?P<name>[A-Za-z_]\w{2,})(?:\([^`]*\))?`\s+(?:(?:function|method|class|helper|constant)\s+)?(?:of|in|from)\s+(?:the\s+(?:file|module)\s+)?`(?P<path>[^`\s]+\.\w+)`",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"(?:[A-Za-z_]\w*\.)?(?P<name>[A-Za-z_]\w{2,})(?:\([^()]*\))?")
_BOUND_ANEW = r"\b{0}\s+as\b|\bas\s+{0}\b|\b{0}\s*(?::|=(?!=))|[(,]\s*{0}\s*[,)]|\bfor\s+{0}\b"
_TWO_PARTS = re.compile(r"`(?P<path>[^`\s:]+\.\w+)::(?P<name>[A-Za-z_]\w{2,})(?:\(\))?`")


def check(scene: Scene) -> Iterator[Place | Issue]:
    """Look up each name by the syntax tree of the module that it is taken from, in code and in sentences."""
    named = [*_named(scene), *_attributes(scene), *_ordered(scene)]
    for line, name, path in (*_imported(scene), *named):
        outline = scene.repository.outline(path)
        text = scene.repository.text(path) or ""
        if not outline.definitions or "__getattr__" in text or "import *" in text or "export *" in text:
            continue
        yield Place("", line)
        held = {one.name for one in outline.definitions} | {name for one in outline.imports for name in one.names}
        found = re.search(rf"\b{name}\b", text) if (line, name, path) in named else _bound(text, name)
        absent = name not in held and not found
        if absent and not scene.text.adds(name, _order_at(scene, line, name)) and not scene.other_plan_may_add(name):
            yield _issue(scene, name, path, line)
    for line, module, package in _missing_modules(scene):
        yield Place("", line)
        file, last = f"{module.replace('.', '/')}.py", module.rpartition(".")[2]
        made = scene.text.listed(file) or scene.text.makes(file) or scene.text.adds(last)
        if not made and not scene.other_plan_may_add(last):
            yield _issue(scene, module, package, line)


def _ordered(scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Line, name and file of "change `name` in `path`"."""
    for order in scene.text.orders:
        name, files = _SYMBOL.fullmatch(order.name), scene.known.files(order.home) if order.home else []
        here = len(files) == 1 and scene.repository.files[files[0]].language in PARSED
        behind = order.text.partition(f"`{order.name}`")[2]
        if name and here and order.verb in ("edit", "delete", "rename") and not PART_OF.match(behind):
            yield order.line, name["name"], files[0]


def _order_at(scene: Scene, line: int, name: str) -> int:
    """The line itself, where it orders to change the name as something that is there; else 0."""
    return line if any(line == at and name == ordered for at, ordered, _ in _ordered(scene)) else 0


def _python_imports(scene: Scene) -> Iterator[tuple[CodeRead, Import]]:
    """The imports of the plan's Python, each with the block that it stands in."""
    blocks = (block for block in code_blocks(scene) if block.language == "python")
    return ((block, one) for block in blocks for one in block.outline.imports)


def _attributes(scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Line, name and file of `module.name` in the plan's Python, where the module is the repository's."""
    for block, one in _python_imports(scene):
        for module in one.names if not one.module.startswith(".") else ():
            files = scene.known.files(f"{one.module.replace('.', '/')}/{module}.py")
            if len(files) == 1 and not re.search(_BOUND_ANEW.format(module), block.text):
                used = re.compile(rf"(?<![\w.\"'/{{}}]){module}\.([A-Za-z_]\w*)(?![\w\"'])")
                for at, line in enumerate(block.text.split("\n"), block.above + 1):
                    yield from ((at, name, files[0]) for name in used.findall(line.partition("#")[0]))


def _missing_modules(scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Line, name and package of the repository's own modules that the plan's Python imports and that are not there."""
    for block, one in _python_imports(scene):
        stem = one.module.replace(".", "/")
        package = scene.known.files(f"{stem.rpartition('/')[0]}/__init__.py") if "/" in stem else []
        there = scene.known.files(f"{stem}.py") or scene.known.exists(stem)
        if len(package) == 1 and not there and re.fullmatch(r"[\w.]+", one.module):
            yield block.above + one.line, one.module, package[0]


def _imported(scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Line, name and file of what the plan's Python imports from modules of the repository."""
    for block, one in _python_imports(scene):
        stem = one.module.replace(".", "/")
        files = scene.known.files(f"{stem}.py") or scene.known.files(f"{stem}/__init__.py")
        for name in one.names if len(files) == 1 and not one.module.startswith(".") else ():
            if not scene.known.files(f"{stem}/{name}.py") and not scene.known.exists(f"{stem}/{name}"):
                yield block.above + one.line, name, files[0]


def _named(scene: Scene) -> Iterator[tuple[int, str, str]]:
    """Line, name and file of "call `name` of `path`" and `path::name`."""
    for sentence in scene.text.sentences:
        for found in (*_NAME_IN_FILE.finditer(sentence.text), *_TWO_PARTS.finditer(sentence.text)):
            files = scene.known.files(found["path"])
            if len(files) == 1 and scene.repository.files[files[0]].language in PARSED:
                yield sentence.line, found["name"], files[0]


def _bound(text: str, name: str) -> re.Match[str] | None:
    """Whether a text gives a value to the name in some way that is no definition: a loop, `with`, a field."""
    return re.search(rf"(?:\bas\s+{name}\b|\b{name}\s*(?::|=|,|\)\s*=|\bin\b)|[\"']{name}[\"'])", text)


def _issue(scene: Scene, name: str, path: str, line: int) -> Issue:
    near = [one.name for one in scene.repository.outline(path).definitions if name.lower() in one.name.lower()]
    return Issue(
        statement("symbol-missing", name, path),
        line,
        f"The plan counts on it, and {path} neither defines nor imports it, nor does a step of the plan add it.",
        scenario="The first line that uses the name fails.",
        alternative=f"Use {near[0]}, if that is meant." if near else "Name what is meant, or add it in a step.",
        beside=(Place(path, 1, (scene.repository.lines(path) or ("",))[0]),),
    )
