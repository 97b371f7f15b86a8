"""Functions, classes and methods that the plan removes, renames or gives other parameters, and who still uses them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.agents.static.roles.issues import Issue, Place, statement
from verifyplan.agents.static.roles.plan_text import PART_OF, Order
from verifyplan.agents.static.roles.scene import Scene, code_blocks
from verifyplan.repository.records import Definition

_NAME = re.compile(r"(?:[A-Za-z_]\w*\.)?(?P<name>[A-Za-z_]\w{3,})(?:\([^()]*\))?")
_ALL_USES = re.compile(
    r"\b(?:callers?|call[- ]?sites?|usages?|references?|importers?|everywhere|all uses|all imports|consumers?)\b", re.I
)
_SIGNATURE = re.compile(r"`(?:async\s+)?def\s+(?P<signature>[A-Za-z_]\w{3,}\([^`]*\)[^`]*)`")
_CHANGES = re.compile(r"\b(?:change|signature|becomes?|turn|update|replace)\b", re.IGNORECASE)
_KINDS = ("function", "class", "method")


class _Change(NamedTuple):
    line: int
    name: str
    needs: int  # arguments that a call must give from then on; 0 where the name is gone
    how: str
    where: str = ""  # the file that the plan says it is taken from


def check(scene: Scene) -> Iterator[Place | Issue]:
    """Look up by syntax tree who imports or calls a changed name in files that the plan never names.

    Only names that one file of the repository defines; a plan that speaks of the callers in the same sentence
    answers for all of them.
    """
    for change in (*_taken_away(scene), *_changed(scene), *_signed_anew(scene)):
        homes = [
            (path, one)
            for path, outline in scene.known.outlines(change.name)
            for one in outline.definitions
            if one.name == change.name and one.kind in _KINDS
        ]
        if len(homes) == 1 and homes[0][0].endswith(change.where) and _breaks(homes[0][1], change):
            yield Place("", change.line)
            user = next(_users(scene, change, homes[0][0]), None)
            if user is not None:
                yield _issue(change, homes[0], user)


def _taken_away(scene: Scene) -> Iterator[_Change]:
    for order in scene.text.orders:
        name = _NAME.fullmatch(order.name)
        if order.verb in ("delete", "rename") and name and not _ALL_USES.search(order.text) and _is_object(order):
            how = "takes it away" if order.verb == "delete" else "renames it"
            yield _Change(order.line, name["name"], 0, how, order.home)


def _is_object(order: Order) -> bool:
    """Whether the name itself is taken away, and not something of it."""
    _, ticked, behind = order.text.partition(f"`{order.name}`")
    partly = PART_OF.match(behind) is not None and re.match(r"\s+from\s+`", behind) is None
    return bool(ticked) and not partly


def _changed(scene: Scene) -> Iterator[_Change]:
    """Python functions of the plan's code that need more arguments."""
    for block in code_blocks(scene):
        for one in block.outline.definitions:
            if one.kind == "function" and one.required and len(one.name) > 3 and not one.name.startswith("__"):
                yield _Change(block.above + one.line, one.name, one.required, f"needs {one.required} arguments now")


def _signed_anew(scene: Scene) -> Iterator[_Change]:
    """Python functions whose signature a sentence changes to its last `def name(...)`."""
    for one in scene.text.sentences:
        signed = list(_SIGNATURE.finditer(one.text))
        words = re.sub(r"`[^`]*`", " ", one.text)
        if signed and _CHANGES.search(words) and not _ALL_USES.search(words):
            outline = scene.repository.outline_of(f"def {signed[-1]['signature'].rstrip(':')}: pass", "python")
            for found in outline.definitions[:1]:
                yield _Change(one.line, found.name, found.required, f"needs {found.required} arguments now")


def _breaks(old: Definition, change: _Change) -> bool:
    return not change.needs or (old.kind == "function" and change.needs > old.most)


def _users(scene: Scene, change: _Change, home: str) -> Iterator[Place]:
    """Calls with too few arguments, or any calls and imports, in files that the plan does not name."""
    for path, outline in scene.known.outlines(change.name):
        if path == home or _named_by_plan(scene, path):
            continue
        lines = (scene.repository.text(path) or "").split("\n")
        calls = [one.line for one in outline.calls if one.name == change.name and _fails(one.arguments, change)]
        imports = [one.line for one in outline.imports if change.name in one.names and not change.needs]
        yield from (Place(path, at, lines[at - 1]) for at in sorted([*calls, *imports])[:1])


def _fails(arguments: int, change: _Change) -> bool:
    return not change.needs or arguments < change.needs


def _named_by_plan(scene: Scene, path: str) -> bool:
    folder = f"{posixpath.dirname(path)}/"
    return posixpath.basename(path) in scene.plan.text or (folder != "/" and f"`{folder}`" in scene.plan.text)


def _issue(change: _Change, home: tuple[str, Definition], user: Place) -> Issue:
    return Issue(
        statement("dependents", change.name, user.path),
        change.line,
        f"The plan {change.how}; {user.path}:{user.line} still uses it as it is, and the plan does not name that file.",
        scenario=f"{user.path} fails once the step is done.",
        alternative=f"Say what becomes of {user.path}, or keep the old form beside the new one.",
        beside=(user, Place(home[0], home[1].line)),
    )
