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
from verifyplan.agents.static.roles.wordsets import words

_MEMBER = re.compile(r"`([A-Z]\w+)\.([A-Za-z_]\w*)(?:\([^`]*\))?`")
_NOUN = re.compile(
    r"\b(?:the|our|its|existing) (?:existing |shared |\w+ )?(?:fixture|helper|hook|decorator|middleware"
    r"|factory|mixin|component|handler|macro)s? "
    r"`([A-Za-z_]\w{2,60})(?:\(\))?`(?! (?:is new|that (?:this|the) (?:plan|step)))",
    re.IGNORECASE,
)
_ADDS = re.compile(
    r"\b(?:add|adds|added|new|gets?|gains?|give|gives|define|introduce|create|takes?|with a field)\b", re.IGNORECASE
)
_COLUMN = re.compile(r"`([a-z][a-z_]{2,30})\.([a-z][a-z0-9_]{2,40})`")
_KEYWORDS = re.compile(r"(?<![\w.])(?:[a-z_]\w*\.)?([a-z_]\w{2,60})\(([^()]*=[^()]*)\)")
_INSTANCE = re.compile(r"(?<![\w./@-])([a-z]\w{3,30})\.([a-z_]\w{2,40})(?![\w./(-])")
_METHODS = words("get items keys values append copy update pop json dict model_dump read write close format join split")
_FILE_ENDS = words(
    "py js ts tsx jsx go rs java sql sh md yaml yml json toml csv txt html css log dump com org net io",
    "lock cfg ini env example",
)
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


def columns(scene: Scene) -> Iterator[Issue]:
    """Columns of known tables that stand nowhere and that the plan does not add."""
    seen = set()
    for at, line in (*scene.reading.to_do, *scene.reading.stated):
        for match in _COLUMN.finditer(line) if scene.reading.block(at) is None else ():
            table, column = match.groups()
            name = f"{table}.{column}"
            tables = [hit for hit in scene.known.mentions(table) if hit.path.endswith(".sql")]
            if (
                name in seen
                or not tables
                or column in ("sql", "py", "csv", "id")
                or scene.known.mentions(column)
                or denied(line, match.start())
            ):
                continue
            added = re.compile(
                rf"\badd (?:column )?(?:if not exists )?[`\"]?{column}\b"
                rf"|\b(?:new|add|adds|gets?|create|rename)\b[^.;]*\b{column}\b",
                re.IGNORECASE,
            )
            if any(added.search(text) for text in scene.plan.lines):
                continue
            seen.add(name)
            yield _issue(
                name,
                at,
                Symbol(table, "variable", tables[0].path, tables[0].line, tables[0].line, ""),
                "speaks of the table; no line has this column, and no step adds it",
            )


def keywords(scene: Scene) -> Iterator[Issue]:
    """Arguments by name that a function of the repository does not take, in calls that the plan writes down."""
    seen = set()
    for at, line in scene.reading.to_do:
        code = line if scene.reading.block(at) is not None else " ".join(re.findall(r"`([^`]+)`", line))
        for called, arguments in _KEYWORDS.findall(code):
            symbols = [one for one in scene.known.symbols(called) if one.kind in ("function", "method")]
            given: list[str] = re.findall(r"(?:^|,)\s*([a-z_]\w*)\s*=(?!=)", arguments)
            if (
                not symbols
                or any("**" in one.signature or "..." in one.signature for one in symbols)
                or re.search(rf"\bdef\s+{called}\b", code)
            ):
                continue
            for one in given:
                known = any(re.search(rf"\b{one}\b", symbol.signature) for symbol in symbols)
                if (
                    known
                    or one in seen
                    or _taught(scene, called, one)
                    or not all(
                        symbol.signature.rstrip().endswith((")", ":")) or "->" in symbol.signature for symbol in symbols
                    )
                ):
                    continue
                seen.add(one)
                yield _wrong_call(called, one, at, symbols[0])


def _taught(scene: Scene, called: str, parameter: str) -> bool:
    """Whether the plan gives the function that parameter in some other line."""
    lines = [one.text for one, _ in scene.reading.naming(parameter)]
    return any(_ADDS.search(line) or f"def {called}" in line for line in lines)


def _has(scene: Scene, classes: list[Symbol], member: str) -> bool:
    """Whether a class has a member, or its file names it, or it inherits from what cannot be looked into."""
    paths = {one.path for one in classes}
    if any(hit.path in paths for hit in scene.known.mentions(member)):
        return True
    return any(
        re.search(r"\(\s*(?!object|str|int|enum|Enum|StrEnum|Exception)[A-Z]\w+", one.signature) for one in classes
    )


def _given(scene: Scene, name: str, member: str) -> bool:
    """Whether the plan adds it: in words beside it, or in code."""
    lines = [sentence.text for one in (name, member) for sentence, _ in scene.reading.naming(one)]
    code = re.compile(
        rf"^\s*(?:def |async def )?{re.escape(member)}\s*[:=(]|\b{re.escape(member)}\s+\w+\s*`?json", re.MULTILINE
    )
    return any(_ADDS.search(line) for line in lines) or any(code.search(block.text) for block in scene.plan.blocks)


def in_code(scene: Scene) -> Iterator[Issue]:
    """Functions that code of the plan calls of a module of the repository, or imports from it, and that it lacks."""
    seen = set()
    for block in scene.plan.blocks:
        if block.language not in ("python", "py") or scene.reading.told(block.first):
            continue
        lines = list(enumerate(block.text.split("\n"), block.first + 1))
        wanted = [(at, module, name) for at, line in lines for module, name in _CALL.findall(line)]
        wanted += [
            (at, module, one.strip())
            for at, line in lines
            for module, names in _FROM.findall(line)
            for one in names.split(",")
        ]
        for at, module, name in wanted:
            paths = _modules(scene, module)
            if not name or not paths or name in seen or not all(_lacks(scene, path, name) for path in paths):
                continue
            seen.add(name)
            first = next(iter(scene.repository.definitions(paths[0])), None)
            if first is not None:
                yield _issue(name, at, first, "does not define it, and no step adds it")


def _modules(scene: Scene, name: str) -> list[str]:
    """The Python files that a module's name means, if the repository imports them under that name; none if many."""
    found = [one for one in scene.known.files(f"{name.replace('.', '/')}.py") if "test" not in one]
    last = re.escape(name.rpartition(".")[2])
    imports = re.compile(rf"\bimport\b[^#]*\b{last}\b|\bfrom\s+[\w.]*\b{last}\s+import\b")
    named = any(
        imports.search(hit.text) for hit in scene.known.mentions(name.rpartition(".")[2]) if hit.path.endswith(".py")
    )
    return found if named and len(found) <= _MOST_MODULES else []


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
            if (
                scene.reading.makes(name)
                or any(scene.reading.block(one.first) for one, _ in scene.reading.naming(name))
                or _first_new(scene, name)
            ):
                continue
            seen.add(name)
            near = next(
                (one for one in scene.repository.similar_symbols(name, 1) if fuzz.ratio(one.name, name) >= _LIKE), None
            )
            yield _issue(name, at, near, "is the nearest name there is" if near else "")


def _first_new(scene: Scene, name: str) -> bool:
    """Whether some mention describes the name as one does of what is new: with a signature, a colon, a verb."""
    describes = re.compile(rf"`{re.escape(name)}(?:\([^`]+\)|`\s*(?::|\(|gives|returns|takes|is |that |which ))")
    return any(describes.search(one.text) for one, _ in scene.reading.naming(name))


def _issue(name: str, line: int, near: Symbol | None, why: str) -> Issue:
    said = f"{near.path}:{near.line} {why}" if near else "It stands nowhere in the repository, and no step creates it"
    return Issue(
        statement("symbol-missing", name),
        line,
        f"{said}.",
        "BLOCKING" if near is None or "nearest" not in why else "SIGNIFICANT",
        "HIGH",
        scenario="The step cannot be carried out as written, or fails when the code first runs.",
        alternative=f"Name what is meant in `{near.path}`, or add the step that creates it."
        if near
        else "Add the step that creates it, or name what is meant.",
        beside=(Place(near.path, near.line),) if near else (),
    )


def instances(scene: Scene) -> Iterator[Issue]:
    """Attributes of a value that is named like a class of the repository, which that class does not have."""
    seen = set()
    for at, line in (*scene.reading.to_do, *scene.reading.stated):
        for owner, member in _INSTANCE.findall(line):
            name = f"{owner}.{member}"
            fits = name not in seen and member not in _FILE_ENDS | _METHODS
            classes = _classes(scene, owner) if fits else []
            if not classes or _has(scene, classes, member) or _given(scene, name, member):
                continue
            seen.add(name)
            yield _issue(name, at, classes[0], f"defines {classes[0].name} without it, and no step adds it")


def _classes(scene: Scene, owner: str) -> list[Symbol]:
    """The one class that a value is named for; none if there are several, or if the name means something else, too."""
    if len(owner) < 5:
        return []
    named = scene.known.symbols(f"{owner[0].upper()}{owner[1:]}")
    found = [
        one for one in named if one.kind in ("class", "type") and one.path.endswith(".py") and "test" not in one.path
    ]
    used = any(f"{owner}." in hit.text for hit in scene.known.mentions(owner) if hit.path.endswith(".py"))
    return found if used and len(found) == 1 and scene.known.file(f"{owner}.py") is None else []


def _wrong_call(called: str, argument: str, line: int, symbol: Symbol) -> Issue:
    return Issue(
        statement("wrong-call", f"{called}({argument})", symbol.path),
        line,
        f"{symbol.path}:{symbol.line} has no parameter {argument}, and no step adds one.",
        "SIGNIFICANT",
        "HIGH",
        scenario="The call fails when the code first runs.",
        alternative=f"Call it as `{symbol.path}` defines it, or add the parameter in a step before.",
        beside=(Place(symbol.path, symbol.line),),
    )
