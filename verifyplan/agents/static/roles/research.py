"""Research: the plan's open points as questions and their answers, rules and tests near by, importers (A1, A5, A12)."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Sequence

from verifyplan.agents.static.roles.check_rules import project_rules
from verifyplan.agents.static.roles.context import RoleContext, plain
from verifyplan.agents.static.roles.issues import CitedLine, StaticIssue, evidence, names_in, quoted, shortened
from verifyplan.protocol.records import Unknown, UnknownResolution, UnknownType
from verifyplan.protocol.role_call import (
    ProbeAnswer,
    RaisedContext,
    RaisedRisk,
    RaisedUnknown,
    ResolverAnswer,
    SurfaceAnswer,
    UnknownAnswer,
)
from verifyplan.text import counted

MAX_QUESTIONS, MAX_CONTEXTS, MAX_RISKS = 5, 5, 3
"""Questions, contexts and risks in one iteration."""
MIN_IMPORTERS = 5
"""Files that import a changed file and that the plan does not name, from which on they are a risk to name."""

_DECISION = re.compile(r"\b(?:decid|decision|agree|chose|approv|policy|convention)\w*", re.IGNORECASE)
_OUTSIDE = re.compile(r"\b(?:api|endpoint|webhook|sdk|rate limit|service|provider|third[- ]party)\b", re.IGNORECASE)
_OLD = re.compile(r"\b(?:version|deprecat\w+|still|latest|up to date|supports?|since)\b", re.IGNORECASE)
_MAX_PART_CHARACTERS = 200
_MAX_HITS = 40
_PROSE = (".md", ".rst", ".txt")  # of several hits, those in code are better


def unknowns(context: RoleContext, challenges: Sequence[StaticIssue]) -> list[RaisedUnknown]:
    """Return the lines that the plan marks as open, one question each, in the order of the plan; at most 5.

    A question is asked once. `affects` names a challenge of the same answer by its position.
    """
    asked = {unknown.description for unknown in context.request.unknowns}
    questions = []
    for sign in context.text.assessment.found.get("unknown", ()):
        line = next(context.text.sentences_at(sign.line, sign.word), context.plan.line(sign.line))
        description = f"Does it hold what {context.at(sign.line)} leaves open: {quoted(line)}"
        at = next((n for n, issue in enumerate(challenges, 1) if issue.line == sign.line), None)
        affects = f"#{at}" if at else None
        if description not in asked:
            question = RaisedUnknown(
                description=description, type=_type(line), affects=affects, suggested_query=_query(line)
            )
            questions.append(question)
    return questions[:MAX_QUESTIONS]


def _type(line: str) -> UnknownType:
    if any("/" in name and plain(name) for name in names_in(line)):
        return "FILE_MISSING"
    if _DECISION.search(line):
        return "PRIOR_DECISION"
    if _OUTSIDE.search(line):
        return "API_BEHAVIOR"
    return "STALE_KNOWLEDGE" if _OLD.search(line) else "INTEGRATION_UNKNOWN"


def _query(line: str) -> str:
    """Return the first name in backticks, else the rarest-looking word: what the resolver reads or searches."""
    names = names_in(line)
    if names:
        return names[0] if "/" in names[0] else re.escape(names[0])
    words = re.findall(r"[A-Za-z][\w-]{4,}", line)
    rarest = max(words, key=lambda word: (("_" in word) + any(map(str.isupper, word[1:])), len(word)), default="")
    return re.escape(rarest)


def resolve(context: RoleContext) -> ResolverAnswer:
    """Return one answer to each unknown that has none yet, in order of their ids.

    A path is looked up and read, anything else searched for. An unknown about which the repository shows nothing, or
    for which no budget is left, is UNRESOLVABLE; the refused call is among the tool uses.
    """
    answers = []
    for unknown in context.request.unknowns:
        if unknown.resolution is not None:
            continue
        names = (unknown.suggested_query, *names_in(unknown.description))
        path = next((name for name in names if "/" in name and " " not in name and plain(name)), "")
        if context.index.empty or not (path or unknown.suggested_query.strip()):
            answers.append(UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE"))
        else:
            answers.append(_by_file(context, unknown, path) if path else _by_search(context, unknown))
    return ResolverAnswer(answers=tuple(answers))


def _resolved(unknown: Unknown, resolution: UnknownResolution, *parts: str) -> UnknownAnswer:
    """Return an answer with its finding: the source, its text, and what that means for the plan."""
    finding = f"[VERIFIED: {' | '.join(map(part, parts))}]"
    return UnknownAnswer(id=unknown.id, resolution=resolution, finding=finding)


def part(text: str) -> str:
    """Return a text as a part of a finding: on one line, without the signs that end a part, not long and not blank.

    >>> part("a | b] c")
    'a / b) c'
    """
    text = " ".join(text.replace("|", "/").replace("]", ")").replace("[", "(").split())
    return shortened(text, _MAX_PART_CHARACTERS) or "-"


def _by_file(context: RoleContext, unknown: Unknown, path: str) -> UnknownAnswer:
    files, meaning = context.index.files(path), "the plan can count on it"
    if not files and context.index.exists(path):
        return _resolved(unknown, "CONFIRMED", path, "the folder is there", meaning)
    if not files:
        same = context.index.same_name(path)
        missing = f"no {path} is there" + (f"; a file of that name is {same[0]}" if same else "")
        return _resolved(unknown, "REFUTED", "list of files", missing, "the plan must create it or name another")
    read = context.tools.read(files[0], serves=unknown.id)
    if read.refused:
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    at, text = next(((at, line) for at, line in enumerate(read.lines, 1) if line.strip()), (1, "it is empty"))
    begins = f"the file is there and begins: {text.strip()}"
    return _resolved(unknown, "CONFIRMED", f"{files[0]}:{at}", begins, meaning)


def _by_search(context: RoleContext, unknown: Unknown) -> UnknownAnswer:
    pattern = unknown.suggested_query
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError):
        pattern = re.escape(pattern)
    hits = context.tools.grep(pattern, serves=unknown.id).matches
    if not 0 < len(hits) <= _MAX_HITS:
        return UnknownAnswer(id=unknown.id, resolution="UNRESOLVABLE")
    best = min(hits, key=lambda hit: (hit.path.endswith(_PROSE), hit.path, hit.line))
    place = f"{best.path}:{best.line}"
    reads = f"{len(hits)} lines speak of it; {place} reads: {best.text.strip()}"
    return _resolved(unknown, "PARTIALLY_RESOLVED", place, reads, "whoever wrote the plan can decide by it")


def surface(context: RoleContext) -> SurfaceAnswer:
    """Return new rules that name what the plan touches, and tests of it that the plan does not name."""
    known = {known.location for known in context.request.contexts}
    rules = context.isolated("rules", lambda: _rules(context))
    tests = context.isolated("tests", lambda: _tests(context))
    new = [raised for raised in (*rules, *tests) if raised.location not in known]
    return SurfaceAnswer(contexts=tuple(new)[:MAX_CONTEXTS])


def probe(context: RoleContext) -> ProbeAnswer:
    """Return files that many others import, if the plan names none of those; MINOR, as an import breaks nothing."""
    known = {risk.risk for risk in context.request.risks}
    risks = context.isolated("importers", lambda: _importers(context))
    return ProbeAnswer(risks=tuple(risk for risk in risks if risk.risk not in known)[:MAX_RISKS])


def _touched(context: RoleContext) -> dict[str, int]:
    """Return the existing files that the plan says it changes, each with the first line that says so."""
    lines: dict[str, int] = {}
    for instruction in context.text.file_instructions:
        paths = context.index.files(instruction.name)
        if instruction.changes and len(paths) == 1:
            lines.setdefault(paths[0], instruction.line)
    return lines


def _rules(context: RoleContext) -> Iterator[RaisedContext]:
    touched = _touched(context)
    for rule in project_rules(context.index):
        path = next((path for path in touched if rule.name and path.startswith(rule.name.rstrip("/"))), None)
        if path is not None:
            why = f"{rule.name} speaks of what {context.at(touched[path])} touches: {quoted(rule.text)}"
            place = f"{rule.path}:{rule.line}"
            yield RaisedContext(source="claude_md", location=place, relevance=why, impact="changes_needed")


def _tests(context: RoleContext) -> Iterator[RaisedContext]:
    for path, line in _touched(context).items():
        stem, _, ending = posixpath.basename(path).partition(".")
        names = (f"test_{stem}.{ending}", f"{stem}_test.{ending}", f"{stem}.test.{ending}", f"{stem}.spec.{ending}")
        test = next((file for name in names for file in context.index.same_name(name)), None)
        if test and posixpath.basename(test) not in context.plan.text:
            why = f"It tests {path}, which {context.at(line)} touches; the plan does not name it"
            yield RaisedContext(source="codebase", location=f"{test}:1", relevance=why, impact="changes_needed")


def _importers(context: RoleContext) -> Iterator[RaisedRisk]:
    for path, line in _touched(context).items():
        stem = posixpath.basename(path).partition(".")[0]
        unnamed = [
            CitedLine(other, imported.line)
            for other, outline in context.index.outlines(stem)
            for imported in outline.imports[:200]
            if other != path and (f"/{imported.module}".endswith((f"/{stem}", f".{stem}")) or stem in imported.names)
            if posixpath.basename(other) not in context.plan.text
        ]
        files = list(dict.fromkeys(place.path for place in unnamed))
        if len(files) >= MIN_IMPORTERS:
            yield RaisedRisk(
                risk=f"A change of {path} reaches {counted(len(files), 'file')} that the plan does not name.",
                trigger=f"{context.at(line)} changes what {unnamed[0].path}:{unnamed[0].line} imports.",
                cascade=f"{', '.join(files[:3])} fail with it.",
                probability="LOW",
                severity="MINOR",
                evidence=evidence([CitedLine("", line), *unnamed[:3]], context.text, context.name),
            )
