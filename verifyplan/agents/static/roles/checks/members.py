"""Names that can only be there already: members of known classes, calls in code, and what a noun calls existing."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rapidfuzz import fuzz

from verifyplan.agents.repository.records import Symbol
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene

_MEMBER = re.compile(r"`([A-Z]\w+)\.([A-Za-z_]\w*)(?:\([^`]*\))?`")
_NOUN = re.compile(
    r"\b(?:the|our|its|existing) (?:existing |shared |\w+ )?(?:fixture|helper|hook|decorator|middleware|factory|mixin|function|method|class|component|constant|enum|handler|macro|trait|interface)s? `([A-Za-z_]\w{2,60})(?:\(\))?`(?! (?:is new|that (?:this|the) (?:plan|step)))",
    re.IGNORECASE,
)
_ADDS = re.compile(r"\b(?:add|adds|added|new|gets?|gains?|give|gives|define|introduce|create|takes?|with a field)\b", re.IGNORECASE)
_CALL = re.compile(r"(?<![\w.])([a-z_]\w{2,40})\.([a-z_]\w{2,60})\(")
_FROM = re.compile(r"^\s*from\s+([\w.]+)\s+import\s+\(?([\w, ]+)", re.MULTILINE)
_LIKE = 80.0
_MOST_MODULES = 3


def check(scene: Scene) -> Iterator[Issue]:
    """Members of classes that the repository defines, which neither the class nor the plan has."""
    seen = set()
    for at, line in (*scene.reading.to_do, *scene.reading.stated):
        for match in _MEMBER.finditer(line) if scene.reading.block(at) is None else ():
            owner, member = match.groups()
            name = f"{owner}.{member}"
            classes = [one for one in scene.known.symbols(owner) if one.kind in ("class", "type")]
            described = re.match(r"\s*[:=]", line[match.end(2) :]) or denied(line, match.start())
            if name in seen or not classes or described or _has(scene, classes, member) or _given(scene, name, member):
                continue
            seen.add(name)
            yield _issue(name, at, classes[0], "defines no such member, and no step adds it")


def _has(scene: Scene, classes: list[Symbol], member: str) -> bool:
    """Whether a class has a member, or its file names it, or it inherits from what cannot be looked into."""
    paths = {one.path for one in classes}
    if any(hit.path in paths for hit in scene.known.mentions(member)):
        return True
    return any(re.search(r"\(\s*(?!object|str|int|enum|Enum|StrEnum|Exception)[A-Z]\w+", one.signature) for one in classes)


def _given(scene: Scene, name: str, member: str) -> bool:
    """Whether the plan adds it: in words beside it, or in code."""
    lines = [scene.plan.line(at) for one in (name, member) for at, _ in scene.reading.naming(one)]
    code = re.compile(rf"^\s*(?:def |async def )?{re.escape(member)}\s*[:=(]|\b{re.escape(member)}\s+\w+\s*`?json", re.MULTILINE)
    return any(_ADDS.search(line) for line in lines) or any(code.search(block.text) for block in scene.plan.blocks)


def in_code(scene: Scene) -> Iterator[Issue]:
    """Functions that code of the plan calls of a module of the repository, or imports from it, and that it lacks."""
    seen = set()
    for block in scene.plan.blocks:
        if block.language not in ("python", "py") or scene.reading.told(block.first):
            continue
        lines = list(enumerate(block.text.split("\n"), block.first + 1))
        wanted = [(at, module, name) for at, line in lines for module, name in _CALL.findall(line)]
        wanted += [(at, module, one.strip()) for at, line in lines for module, names in _FROM.findall(line) for one in names.split(",")]
        for at, module, name in wanted:
            paths = _modules(scene, module)
            if not name or not paths or name in seen or not all(_lacks(scene, path, name) for path in paths):
                continue
            seen.add(name)
            first = next(iter(scene.repository.definitions(paths[0])), None)
            if first is not None:
                yield _issue(name, at, first, "does not define it, and no step adds it")


def _modules(scene: Scene, name: str) -> list[str]:
    """The Python files that a module's name can mean, if other files import them; none if there are many."""
    found = [one for one in scene.known.files(f"{name.replace('.', '/')}.py") if "test" not in one]
    imported = [one for one in found if scene.repository.importers(one, 1)]
    return imported if len(imported) <= _MOST_MODULES else []


def _lacks(scene: Scene, path: str, name: str) -> bool:
    if any(hit.path == path for hit in scene.known.mentions(name)) or scene.reading.makes(name):
        return False
    described = re.compile(rf"`{re.escape(name)}[`(]")
    return not any(described.search(line) for _, line in scene.reading.prose)


def called_so(scene: Scene) -> Iterator[Issue]:
    """Names in backticks behind a noun that calls them existing, such as "the fixture `x`", that stand nowhere."""
    seen = set()
    for at, line in (*scene.reading.to_do, *scene.reading.stated):
        for match in _NOUN.finditer(line) if scene.reading.block(at) is None else ():
            name = match[1]
            if name in seen or denied(line, match.start()) or scene.known.symbols(name) or scene.known.mentions(name):
                continue
            if scene.reading.makes(name) or any(scene.reading.block(n) for n, _ in scene.reading.naming(name)) or _first_new(scene, name):
                continue
            seen.add(name)
            near = next((one for one in scene.repository.similar_symbols(name, 1) if fuzz.ratio(one.name, name) >= _LIKE), None)
            yield _issue(name, at, near, "is the nearest name there is" if near else "")


def _first_new(scene: Scene, name: str) -> bool:
    """Whether some mention describes the name as one does of what is new: with a signature, a colon, or a verb of making."""
    describes = re.compile(rf"`{re.escape(name)}(?:\([^`]+\)|`\s*(?::|\(|gives|returns|takes|is |that |which ))")
    return any(describes.search(scene.plan.line(at)) for at, _ in scene.reading.naming(name))


def _issue(name: str, line: int, near: Symbol | None, why: str) -> Issue:
    said = f"{near.path}:{near.line} {why}" if near else "It stands nowhere in the repository, and no step creates it"
    return Issue(
        statement("symbol-missing", name),
        line,
        f"{said}.",
        "BLOCKING" if near is None or "nearest" not in why else "SIGNIFICANT",
        "HIGH",
        scenario="The step cannot be carried out as written, or fails when the code first runs.",
        alternative=f"Name what is meant in `{near.path}`, or add the step that creates it." if near else "Add the step that creates it, or name what is meant.",
        beside=(Place(near.path, near.line),) if near else (),
    )
