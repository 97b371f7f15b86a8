"""Sentences of rules files that forbid something by its name, and steps of the plan that do it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from verifyplan.agents.static.roles.checks.files import PARTS, words_of
from verifyplan.agents.static.roles.issues import Issue, Place, quoted, statement
from verifyplan.agents.static.roles.known import Known
from verifyplan.agents.static.roles.plan_text import Sentence, sentences
from verifyplan.agents.static.roles.scene import CodeRead, Scene, code_blocks
from verifyplan.plans.values import normalised

_RULES_FILES = re.compile(
    r"(?:^|/)(?:(?:agents|claude|gemini|contributing|conventions|copilot-instructions)\.(?:md|rst|txt)"
    r"|\.(?:cursorrules|windsurfrules|clinerules))$|(?:^|/)\.cursor/rules/|(?:^|/)\.github/instructions/",
    re.IGNORECASE,
)
_FORBIDS = re.compile(
    r"(?:^[*_]*no|(?:^|[.;:,(]\s|\band\s|\bbut\s|[\u2014\u2013-]\s)[*_]*"
    r"(?:never|do not|don['\u2019]t|must not|avoid))\b[*_]*,?\s+"
    r"(?P<verb>(?:use|add|import|install|introduce|depend on|call|edit|modify|touch|change|delete|run|write)\s+)?"
    r"(?:(?:a|an|any|the|new|file|files|in|on|under)\s+){0,4}"
    r"(?P<names>`[^`]+`(?:(?:\s*,\s*|\s+(?:or|and|nor)\s+)`[^`]+`)*)"
    r"(?P<rest>[^.;]*)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?:\b(?:instead of|rather than)|,\s(?:and\s)?not)\s+(?P<names>`[^`]+`)(?P<rest>[^.;]*)", re.IGNORECASE
)
_ASKS_FOR_OTHER = re.compile(r"\b(?:use|prefer|always)\b", re.IGNORECASE)
_NARROWED = re.compile(
    r"^\s*(?:or\b|and\b)?.*\b(?:unless|except|without|outside|when|where|if|until|before|inside|within|only|alone"
    r"|in (?:tests?|production|the|new|public|this|a|an|any)|for (?!\w+ing\b)(?:the|new|production))\b",
    re.IGNORECASE,
)
_PINNED = re.compile(r"\b(?:pin(?:ned)?|exact versions?)\b", re.IGNORECASE)
_PACKAGES = re.compile(r"\b(?:dependenc|package|requirement|version|librar|crate)\w*", re.IGNORECASE)
_NEGATED = re.compile(r"\b(?:not|never|no|don't|without|un)\b[^.]{0,20}\bpin", re.IGNORECASE)

Forbidden = Literal["use", "edit", "run"]


class Rule(NamedTuple):
    """What a sentence of a rules file forbids by name, or that it asks for pinned versions."""

    path: str
    line: int
    text: str
    kind: Forbidden | Literal["unpinned"]
    name: str


def rules(known: Known) -> Iterator[Rule]:
    """The rules of all rules files that name what they forbid, in order of path and line."""
    for path in known.repository.files:
        if _RULES_FILES.search(path):
            lines = tuple((known.repository.text(path) or "").split("\n"))
            for sentence in sentences(lines):
                yield from _rules_in(path, sentence)


def _rules_in(path: str, sentence: Sentence) -> Iterator[Rule]:
    text = re.sub(r"^[A-Z]{1,2}\d{1,2}\.\s+", "", sentence.text)
    if _PINNED.search(text) and _PACKAGES.search(text) and not _NEGATED.search(text):
        yield Rule(path, sentence.line, sentence.text, "unpinned", "")
    instead = _INSTEAD.finditer(text) if _ASKS_FOR_OTHER.search(text) else iter(())
    for found in (*_FORBIDS.finditer(text), *instead):
        verb = (found.groupdict().get("verb") or "").strip().lower()
        kind: Forbidden = "edit" if verb in ("edit", "modify", "touch", "change", "delete") else "use"
        for name in re.findall(r"`([^`]+)`", found["names"]):
            if kind == "edit" or not _NARROWED.match(found["rest"]):
                yield Rule(path, sentence.line, sentence.text, "run" if " " in name.strip() else kind, name.strip())


_MANIFEST = re.compile(r"\b(?:requirements[\w-]*\.txt|pyproject\.toml|package\.json|Cargo\.toml)\b")
_REQUIREMENT = re.compile(r"[A-Za-z][\w.-]*(?P<bound>\s*[><~^][=\d].*)?")
_TYPE = r"(?::|->|\bas\b(?:\s+an?)?)\s*`?(?:[\w.]+\[)?{}\b"
_TAKES = (
    r"\b(?:add|use|using|with|via|adopt|introduce|install|import|switch(?:es)? to|depends? on)\s+"
    r"(?:(?:the|new|a|an)\s+)?`{}(?:`|[(.:])"
)
_DENIED = re.compile(
    r"\b(?:no|not|never|without|instead of|rather than|avoid|remove[sd]?|replac\w+|drop|don['\u2019]t|forbid\w*|nor)\b",
    re.IGNORECASE,
)


def check(scene: Scene) -> Iterator[Place | Issue]:
    """Hold each forbidden name against what the plan's sentences order, its commands run and its code uses."""
    for rule in rules(scene.known):
        look = {"use": _uses, "edit": _edits, "run": _runs, "unpinned": _bare_requirements}[rule.kind]
        yield Place("", scene.plan.body)
        found = next(look(scene, rule), None)
        if found is not None:
            yield _issue(rule, *found)


def _uses(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Sentences that take the name up, commands of it, and the plan's code that imports it or has it as a type."""
    name = rule.name.removesuffix("()")
    takes, typed = (re.compile(form.format(re.escape(name)), re.IGNORECASE) for form in (_TAKES, _TYPE))
    for sentence in scene.text.sentences:
        if (takes.search(sentence.text) or typed.search(sentence.text)) and not _DENIED.search(sentence.text):
            yield sentence.line, sentence.text
    if re.fullmatch(r"[A-Za-z_][\w.-]*", name):
        yield from ((line, command) for line, command in scene.text.commands if command.split()[:1] == [name])
        for block in code_blocks(scene):
            yield from _in_code(block, name, typed)


def _in_code(block: CodeRead, name: str, typed: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    lines = block.text.split("\n")
    for one in block.outline.imports:
        if one.module == name or one.module.startswith((f"{name}.", f"{name}/")):
            yield block.above + one.line, lines[one.line - 1]
    for at, line in enumerate(lines, block.above + 1):
        if typed.search(line) and not line.lstrip().startswith(("#", "//", "*", "import", "from")):
            yield at, line


def _edits(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Orders to change or delete an existing file of that name or in that folder."""
    path = normalised(rule.name)
    for order in scene.text.file_orders():
        inside = order.name == path or order.name.startswith(f"{path}/")
        if order.verb in ("edit", "delete", "rename") and inside and scene.known.exists(order.name):
            yield order.line, order.text


def _runs(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Commands that begin with the forbidden one, in whatever environment, whatever else they are given."""
    wanted = rule.name.split()
    for line, command in scene.text.commands:
        for words in (words_of(part) for part in PARTS.split(command)):
            plain = {re.split(r"[=<>~!\[]", word)[0] or word for word in words[2:]}
            if words[:2] == wanted[:2] and plain.issuperset(wanted[2:]) and not _denied(scene, line, command):
                yield line, command


def _denied(scene: Scene, line: int, command: str) -> bool:
    """Whether the sentence that holds a command says not to run it."""
    there = (one.text for one in scene.text.sentences if one.line <= line <= one.last and command in one.text)
    return any(_DENIED.search(text.partition(command)[0]) for text in there)


def _bare_requirements(scene: Scene, rule: Rule) -> Iterator[tuple[int, str]]:
    """Orders to add a package to a manifest that state no version, or no exact one where the rule asks for that."""
    exact = re.search(r"\bexact|==", rule.text) is not None
    for order in scene.text.orders:
        name, manifest = _REQUIREMENT.fullmatch(order.name), _MANIFEST.search(order.text)
        if order.verb == "add" and manifest and name and not _MANIFEST.fullmatch(order.name):
            rest = order.text.replace(order.name, "")
            versioned = re.search(r"\d+\.\d|[=~^]=|\bpin|\bversion|\bentry|\bsection|\bscript", rest)
            if not versioned and (name["bound"] is None or exact):
                yield order.line, order.text


def _issue(rule: Rule, line: int, words: str) -> Issue:
    return Issue(
        statement("rule-broken", words),
        line,
        f"{rule.path}:{rule.line} forbids it: {quoted(rule.text)}"
        if rule.kind != "unpinned"
        else f"{rule.path}:{rule.line} asks for pinned versions: {quoted(rule.text)}",
        scenario="The change breaks a rule that the project holds its contributors to, and is sent back.",
        alternative="Do it as the rule asks, or say in the plan why the rule does not apply.",
        beside=(Place(rule.path, rule.line),),
    )
