"""Names of code: those that the plan uses and no module has, and those that it changes while others use them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.agents.static.roles.context import ParsedBlock, RoleContext, code_blocks
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, assertion
from verifyplan.agents.static.roles.plan_text import PART_OF
from verifyplan.repository.listing import PARSED
from verifyplan.repository.records import Import

_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)?(?P<name>[A-Za-z_]\w{3,})(?:\([^()]*\))?")
_ALL_USES = re.compile(
    r"\b(?:callers?|call[- ]?sites?|usages?|references?|importers?|everywhere|all uses|all imports|consumers?)\b", re.I
)
_SIGNATURE = re.compile(r"`(?:async\s+)?def\s+(?P<signature>[A-Za-z_]\w{3,}\([^`]*\)[^`]*)`")
_CHANGES = re.compile(r"\b(?:change|signature|becomes?|turn|update|replace)\b", re.IGNORECASE)
_KINDS = ("function", "class", "method")
_NAME_IN_FILE = re.compile(
    r"`(?P<name>[A-Za-z_]\w{2,})(?:\([^`]*\))?`\s+(?:(?:function|method|class|helper|constant)\s+)?(?:of|in|from)\s+(?:the\s+(?:file|module)\s+)?`(?P<path>[^`\s]+\.\w+)`",
    re.IGNORECASE,
)
_SYMBOL = re.compile(r"(?:[A-Za-z_]\w*\.)?(?P<name>[A-Za-z_]\w{2,})(?:\([^()]*\))?")
_BOUND_ANEW = r"\b{0}\s+as\b|\bas\s+{0}\b|\b{0}\s*(?::|=(?!=))|[(,]\s*{0}\s*[,)]|\bfor\s+{0}\b"
_TWO_PARTS = re.compile(r"`(?P<path>[^`\s:]+\.\w+)::(?P<name>[A-Za-z_]\w{2,})(?:\(\))?`")

SymbolUse = tuple[int, str, str]
"""Line of the plan, name, and the file from which the plan takes it."""


def check_symbols(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Look up each name by the syntax tree of the module that it is taken from, in code and in sentences."""
    changed = list(_in_instructions(context))
    plain = [*_in_sentences(context), *_attributes(context), *changed]
    is_plain, is_changed = frozenset(plain), frozenset(use[:2] for use in changed)
    for line, name, path in (*_imported(context), *plain):
        outline = context.repository.outline(path)
        text = context.repository.text(path) or ""
        if not outline.definitions or "__getattr__" in text or "import *" in text or "export *" in text:
            continue
        yield CitedLine("", line)
        held = {definition.name for definition in outline.definitions}
        held |= {name for imported in outline.imports for name in imported.names}
        # an imported name may also get its value in some way that is not a definition: a loop, `with`, a field
        bound = rf"(?:\bas\s+{name}\b|\b{name}\s*(?::|=|,|\)\s*=|\bin\b)|[\"']{name}[\"'])"
        if name in held or re.search(rf"\b{name}\b" if (line, name, path) in is_plain else bound, text):
            continue
        at = line if (line, name) in is_changed else 0  # it orders to change what must be there
        if not context.text.adds(name, at) and not context.other_plan_may_add(name):
            yield _symbol_issue(context, name, path, line)
    for line, module, package in _missing_modules(context):
        yield CitedLine("", line)
        file, last = f"{module.replace('.', '/')}.py", module.rpartition(".")[2]
        made = context.text.listed(file) or context.text.makes(file) or context.text.adds(last)
        if not made and not context.other_plan_may_add(last):
            yield _symbol_issue(context, module, package, line)


def _in_instructions(context: RoleContext) -> Iterator[SymbolUse]:
    """Yield the uses of "change `name` in `path`"."""
    for change in context.text.instructions:
        name, path = _SYMBOL.fullmatch(change.name), _module(context, change.home)
        behind = change.text.partition(f"`{change.name}`")[2]
        if name and path and change.changes and not PART_OF.match(behind):
            yield change.line, name["name"], path


def _in_sentences(context: RoleContext) -> Iterator[SymbolUse]:
    """Yield the uses of "call `name` of `path`" and `path::name`."""
    for sentence in context.text.sentences:
        for match in (*_NAME_IN_FILE.finditer(sentence.text), *_TWO_PARTS.finditer(sentence.text)):
            if path := _module(context, match["path"]):
                yield sentence.line, match["name"], path


def _module(context: RoleContext, name: str) -> str:
    """Return the one file of code that a name can mean; empty if there is none, or several."""
    files = context.index.files(name)
    return files[0] if len(files) == 1 and context.repository.files[files[0]].language in PARSED else ""


def _python_imports(context: RoleContext) -> Iterator[tuple[ParsedBlock, Import]]:
    """Yield the imports of the plan's Python, each with its block."""
    blocks = (block for block in code_blocks(context) if block.language == "python")
    return ((block, imported) for block in blocks for imported in block.outline.imports)


def _attributes(context: RoleContext) -> Iterator[SymbolUse]:
    """Yield the uses of `module.name` in the plan's Python, where the module is the repository's."""
    for block, imported in _python_imports(context):
        for module in imported.names if not imported.module.startswith(".") else ():
            path = _module(context, f"{imported.module.replace('.', '/')}/{module}.py")
            if path and not re.search(_BOUND_ANEW.format(module), block.text):
                used = re.compile(rf"(?<![\w.\"'/{{}}]){module}\.([A-Za-z_]\w*)(?![\w\"'])")
                for at, line in enumerate(block.text.split("\n"), block.above + 1):
                    yield from ((at, name, path) for name in used.findall(line.partition("#")[0]))


def _imported(context: RoleContext) -> Iterator[SymbolUse]:
    """Yield the names that the plan's Python imports from modules of the repository."""
    for block, imported in _python_imports(context):
        stem = imported.module.replace(".", "/")
        files = context.index.files(f"{stem}.py") or context.index.files(f"{stem}/__init__.py")
        for name in imported.names if len(files) == 1 and not imported.module.startswith(".") else ():
            if not context.index.files(f"{stem}/{name}.py") and not context.index.exists(f"{stem}/{name}"):
                yield block.above + imported.line, name, files[0]


def _missing_modules(context: RoleContext) -> Iterator[SymbolUse]:
    """Yield the missing modules of own packages that the plan's Python imports, with the file of the package."""
    for block, imported in _python_imports(context):
        stem = imported.module.replace(".", "/")
        package = context.index.files(f"{stem.rpartition('/')[0]}/__init__.py") if "/" in stem else []
        exists = context.index.files(f"{stem}.py") or context.index.exists(stem)
        if len(package) == 1 and not exists and re.fullmatch(r"[\w.]+", imported.module):
            yield block.above + imported.line, imported.module, package[0]


def _symbol_issue(context: RoleContext, name: str, path: str, line: int) -> StaticIssue:
    names = (definition.name for definition in context.repository.outline(path).definitions)
    near = [other for other in names if name.lower() in other.lower()]
    return StaticIssue(
        assertion("symbol-missing", name, path),
        line,
        f"The plan counts on it, and {path} neither defines nor imports it, nor does a step of the plan add it.",
        scenario="The first line that uses the name fails.",
        alternative=f"Use {near[0]}, if that is meant." if near else "Name what is meant, or add it in a step.",
        beside=(CitedLine(path, 1, (context.repository.lines(path) or ("",))[0]),),
    )


class _SymbolChange(NamedTuple):
    line: int
    name: str
    needs: int  # arguments that a call must have from then on; 0 where the name is gone
    how: str
    home: str = ""  # the file that the plan says it is taken from


def check_dependents(context: RoleContext) -> Iterator[CitedLine | StaticIssue]:
    """Look up by syntax tree who imports or calls a changed name in files that the plan never names.

    Changed names are functions, classes and methods that the plan removes, renames or gives other parameters, and
    that one file of the repository defines. A plan that speaks of the callers in the same sentence answers for all of
    them.
    """
    for change in (*_taken_away(context), *_new_signatures(context)):
        homes = [
            (path, definition)
            for path, outline in context.index.outlines(change.name)
            for definition in outline.definitions
            if definition.name == change.name and definition.kind in _KINDS
        ]
        if len(homes) != 1 or not homes[0][0].endswith(change.home):
            continue
        path, old = homes[0]
        if not change.needs or (old.kind == "function" and change.needs > old.most):
            yield CitedLine("", change.line)
            user = next(_users(context, change, path), None)
            if user is not None:
                yield StaticIssue(
                    assertion("dependents", change.name, user.path),
                    change.line,
                    f"The plan {change.how}; {user.path}:{user.line} still uses it as it is, and the plan does not"
                    " name that file.",
                    scenario=f"{user.path} fails once the step is done.",
                    alternative=f"Say what becomes of {user.path}, or keep the old form beside the new one.",
                    beside=(user, CitedLine(path, old.line)),
                )


def _taken_away(context: RoleContext) -> Iterator[_SymbolChange]:
    for removal in context.text.instructions:
        name = _NAME.fullmatch(removal.name)
        _, ticked, behind = removal.text.partition(f"`{removal.name}`")
        partly = PART_OF.match(behind) and not re.match(r"\s+from\s+`", behind)  # something of it is taken away
        if (
            removal.verb in ("delete", "rename")
            and name
            and not _ALL_USES.search(removal.text)
            and ticked
            and not partly
        ):
            how = "takes it away" if removal.verb == "delete" else "renames it"
            yield _SymbolChange(removal.line, name["name"], 0, how, removal.home)


def _new_signatures(context: RoleContext) -> Iterator[_SymbolChange]:
    """Yield Python functions that need more arguments, in the plan's code or by a `def name(...)` of a sentence."""
    for block in code_blocks(context):
        for new in block.outline.definitions:
            if new.kind == "function" and new.required and len(new.name) > 3 and not new.name.startswith("__"):
                yield _SymbolChange(
                    block.above + new.line, new.name, new.required, f"needs {new.required} arguments now"
                )
    for sentence in context.text.sentences:
        signatures = list(_SIGNATURE.finditer(sentence.text))
        words = re.sub(r"`[^`]*`", " ", sentence.text)
        if signatures and _CHANGES.search(words) and not _ALL_USES.search(words):
            outline = context.repository.outline_of(f"def {signatures[-1]['signature'].rstrip(':')}: pass", "python")
            for new in outline.definitions[:1]:
                yield _SymbolChange(sentence.line, new.name, new.required, f"needs {new.required} arguments now")


def _users(context: RoleContext, change: _SymbolChange, home: str) -> Iterator[CitedLine]:
    """Yield calls with too few arguments, or any calls and imports, in files that the plan does not name."""
    for path, outline in context.index.outlines(change.name):
        folder = f"{posixpath.dirname(path)}/"
        named = posixpath.basename(path) in context.plan.text or (folder != "/" and f"`{folder}`" in context.plan.text)
        if path == home or named:
            continue
        lines = (context.repository.text(path) or "").split("\n")
        calls = [call for call in outline.calls if call.name == change.name]
        broken = [call.line for call in calls if not change.needs or call.arguments < change.needs]
        imports = [used.line for used in outline.imports if change.name in used.names and not change.needs]
        yield from (CitedLine(path, at, lines[at - 1]) for at in sorted([*broken, *imports])[:1])
