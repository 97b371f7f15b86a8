"""Steps that break a rule of the project's rules files, or leave out what a rule asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from verifyplan.agents.static.roles.checks import rule_demands, rule_words
from verifyplan.agents.static.roles.concepts import Concept, concepts, doing, named_in
from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.rulebook import Rule, rulebook
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.documents.values import normalised
from verifyplan.protocol.challenge import Severity

_FORBIDS = re.compile(
    r"\b(?:never|do not|don't|must not|may not|nobody may|no one may)\s+(?:ever\s+)?"
    r"(edit|change|modify|touch|alter|rewrite|rename|delete|remove|move)\b",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\b(?:add|insert|append|edit|change|modify|update|rewrite|extend|rename|remove|delete|drop|put|move|replace|fix|"
    r"correct|amend|alter|adjust)(?:s|ed|ing|es)?\b",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"\b(?:go(?:es)?|calls?|run|come|pass(?:es)?|happen|live[sd]?|stands?|belongs?)\b(?:[^.;]"
    r"|\.(?=\S))*?\b(?:through|via|in|by|into)\b(?P<where>(?:[^.;:]|\.(?=\S))*)",
    re.IGNORECASE,
)
_SOLE = re.compile(r"\b(?:only|all|every|nothing else|no other|one place)\b", re.IGNORECASE)
_CALLS = re.compile(r"\b(?:calls?|asks?|talks? to)\b.*\b(?:api|server|service|backend)\b", re.IGNORECASE)
_TESTS = re.compile(r"\b(?:tests?|caplog)\b|\btest_", re.IGNORECASE)
_ABOVE = 4
_NEGATIVE = re.compile(r"\b(?:never|do not|don't|must not|may not|no|none|nothing|nobody)\b", re.IGNORECASE)
_TICKED = re.compile(r"`([^`]{1,200})`")
_CLAUSE = re.compile(r"[;:.](?:\s|$)")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each rule that a step breaks or that the plan leaves out, in the order of the rules.

    A rule is broken where a step changes what may never be changed, does something at another place than the only
    one, or does two things together that may not be. Only rules of the folder that the plan works on count.
    """
    if scene.known.empty:
        return
    for rule in rulebook(scene):
        if _in_scope(scene, rule):
            for find in (
                _edited,
                _elsewhere,
                _together,
                rule_demands.in_code,
                rule_demands.in_prose,
                rule_demands.in_files,
                rule_demands.first,
                rule_demands.tested,
            ):
                yield from _first(find, scene, rule)
            yield from _first(_worded, scene, rule)


def _first(find: Callable[[Scene, Rule], Iterator[Issue]], scene: Scene, rule: Rule) -> Iterator[Issue]:
    yield from list(find(scene, rule))[:1]


def _in_scope(scene: Scene, rule: Rule) -> bool:
    return not rule.scope or any(path.startswith(f"{rule.scope}/") for path in scene.plan.files)


def _worded(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """What the rule forbids in so many words, and values that it does not want."""
    for at, words in rule_words.in_words(scene, rule):
        yield rule_words.conflict(rule, at, f"The step does what the rule forbids ({words})")
    for at, words in rule_words.value(scene, rule):
        yield rule_words.conflict(rule, at, f"The step has {words}")


def _edited(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Files that may not be changed, changed in a step."""
    if not _FORBIDS.search(rule.text):
        return
    guarded = [normalised(name) for name in rule.names if "/" in name or "." in name]
    for one in scene.reading.actions("file"):
        path = scene.known.file(one.name.split()[0]) if one.name.split() else None
        inside = path is not None and any(
            path == name or path.startswith(f"{name.rstrip('*').rstrip('/')}/") for name in guarded
        )
        if path is None or not inside or scene.reading.block(one.line) is not None:
            continue
        if one.intent in ("change", "delete", "move") or _changes(scene, one.line, one.name):
            yield rule_words.conflict(
                rule, one.line, f"The step changes {path}, which the rule keeps from being changed"
            )


def _changes(scene: Scene, line: int, name: str) -> bool:
    text = scene.reading.sentence(line, name).text
    before = text.partition(name)[0]
    found = list(_CHANGES.finditer(before))
    return (
        bool(found)
        and not denied(text, len(before))
        and not re.search(r"\b(?:see|like|as|since|beside|from)\s+`?$", before)
    )


def _elsewhere(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Something that has one place, done at another: the nearest file before it in the step is none of the allowed."""
    found = _ONLY.search(rule.text)
    if found is None or not _SOLE.search(rule.text):
        return
    allowed = [normalised(name) for name in _TICKED.findall(found["where"]) if "/" in name or "." in name]
    subjects = [
        concept
        for concept in named_in(rule.text[: found.start()])
        if concept.key in ("http", "sql", "environment", "flag")
    ]
    if not subjects and _CALLS.search(found.group()):
        subjects = [concept for concept in concepts() if concept.key == "http"]
    if not allowed or not subjects:
        return
    near = {path.split("/")[0] for path in allowed} | {path.rpartition(".")[2] for path in allowed}
    for at, words in doing(scene.reading, subjects[0]):
        path = _file_before(scene, at)
        if path is None or any(path == one or path.startswith(f"{one}/") for one in allowed):
            continue
        if path.split("/")[0] in near and ("test" not in path) and not _names(scene, at, allowed):
            yield rule_words.conflict(
                rule, at, f"The step does `{words.strip()[:60]}` in {path}, while the rule names the one place for it"
            )


def _names(scene: Scene, line: int, allowed: list[str]) -> bool:
    """Whether the step itself names one of the allowed places."""
    return any(
        one in text or one.rpartition("/")[2] in text for _, text in scene.reading.around(line) for one in allowed
    )


def _file_before(scene: Scene, line: int) -> str | None:
    """The file that a line is about: the last one that its step names up to there."""
    step = scene.reading.outer_step(line)
    first = step.first if step else max(scene.reading.part(line)[0] - _ABOVE, 1)
    named = [
        one.name.split()[0]
        for one in scene.plan.references
        if one.kind == "file" and first <= one.line <= line and one.name.split()
    ]
    named = [name for name in named if not name.endswith((".sh", ".md"))]
    return normalised(named[-1]) if named else None


def _together(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Two things that may not go together, in one line of a step or in two that follow each other."""
    for pair in _pairs(rule):
        for at, line in scene.reading.to_do:
            is_code = scene.reading.block(at) is not None
            if _TESTS.search(line):
                continue
            joined = line
            found = [concept.done_in(joined, is_code) for concept in pair]
            if all(found) and (found[-1] is not None) and any(c.done_in(line, is_code) for c in pair):
                severity: Severity = "BLOCKING" if pair[-1].key == "secret" else "SIGNIFICANT"
                yield rule_words.conflict(rule, at, "The step does what the rule says is never done", severity)


def _pairs(rule: Rule) -> Iterator[tuple[Concept, ...]]:
    """The concepts that a rule keeps apart: those of a negative clause, with the subject of the rule."""
    kept_apart = {("flag", "environment"), ("personal", "log"), ("secret",)}
    by_key = {concept.key: concept for concept in concepts()}
    for clause in _CLAUSE.split(rule.text):
        if _NEGATIVE.search(clause):
            keys = {concept.key for concept in named_in(clause)}
            for pair in sorted(kept_apart):
                if (pair[-1] in keys or len(pair) == 1) and all(by_key[key].named.search(rule.text) for key in pair):
                    yield tuple(by_key[key] for key in pair)
