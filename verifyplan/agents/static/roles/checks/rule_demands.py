"""What rules ask for wherever something is done: words in the code, a file beside it, a step before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.concepts import Concept, doing, named_in
from verifyplan.agents.static.roles.issues import Issue
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.rulebook import Rule
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.agents.static.roles.wordsets import words
from verifyplan.documents.values import CodeBlock, normalised
from verifyplan.protocol.challenge import Severity

_ASKS = re.compile(
    r"\b(?:takes?|has|have|needs?|requires?|must|carr(?:y|ies)|compares?|checks?|calls?|uses?|go(?:es)? "
    r"through|comes? with|begins? with|ends? with)\b",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\bis (?:added|changed|written|described|listed|documented|recorded|updated)\b|\bwithout\b|\bin the "
    r"same\b|\bis also\b|\bgoes with\b|\bneeds an? (?:entry|line|record|test)\b",
    re.IGNORECASE,
)
_ORDER = re.compile(r"\bto ([a-z]{4,20}) first,? (?:and )?then (?:to )?([a-z]{4,20})\b", re.IGNORECASE)
_ACCESS = re.compile(
    r"\b(?:roles?|auth\w*|permissions?|access|sees? only|own|caller|logged in|sign(?:ed)? in)\b", re.IGNORECASE
)
_NEGATIVE = re.compile(r"\b(?:never|do not|don't|must not|may not)\b", re.IGNORECASE)
_UNIVERSAL = re.compile(
    r"\b(?:all|every|each|any|always|must|needs?|requires?|only|handlers|routes|migrations|endpoints)\b", re.IGNORECASE
)
_OWN = re.compile(
    r"\b(?:own|their|theirs|belongs?|compares?|another (?:customer|user|shop)'s|only the|mine)\b", re.IGNORECASE
)
_WANTS_TEST = re.compile(
    r"\b(?:every|each|all|any|an?) (?:\w+ )?(?:fix(?:es)?|changes?|bug ?fix(?:es)?|routes?|features?"
    r"|functions?|modules?)\b"
    r"[^.;]{0,30}\b(?:comes? with|has|have|needs?|gets?|must have|requires?) (?:an? |its |their )?(?:\w+ )?tests?\b",
    re.IGNORECASE,
)
_TEST = re.compile(r"\b(?:tests?|tested|pytest|specs?)\b|\btest_|_test\b|\.test\.", re.IGNORECASE)
_SOURCE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|kt|swift)$")
_TICKED = re.compile(r"`([^`]{1,200})`")
_EXCEPT = re.compile(r"\b(?:except|exception|but not|unless|apart from)\b(.*)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_][\w.:]*[\w]")
_COMMON = words("Depends self none null true false str int self.request")


def left_out(rule: Rule, line: int, why: str, severity: Severity = "SIGNIFICANT") -> Issue:
    """An issue on a rule whose demand a line does not meet."""
    return Issue(
        statement("rule-left-out", rule.text),
        line,
        f"{why} ({rule.name}).",
        severity,
        "HIGH",
        scenario="What the rule guards is left open from the first release on."
        if severity == "BLOCKING"
        else "The change is turned down in review, or is found incomplete after it.",
        alternative="Add what the rule asks for to the step.",
        beside=(rule.place,),
    )


def in_code(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Code of the plan that does what the rule speaks of, without the words that the rule asks for.

    The words are those in backticks behind the verb; those in front of it are conditions, which the code must
    hold. Code that calls a function of the repository in which the words stand has them, too.
    """
    for sentence in re.split(r"(?<=[.;:])\s", rule.text):
        verb = _ASKS.search(sentence)
        subject = (
            next((c for c in named_in(sentence[: verb.start()]) if c.key in ("route", "migration")), None)
            if verb
            else None
        )
        if verb is None or subject is None or _NEGATIVE.search(sentence) or not _UNIVERSAL.search(sentence):
            continue
        asked = [name for name in _TICKED.findall(sentence[verb.end() :]) if not scene.known.exists(name)]
        conditions = [name for name in _TICKED.findall(sentence[: verb.start()]) if "/" not in name]
        exceptions = [name for found in [_EXCEPT.search(rule.text)] if found for name in _TICKED.findall(found[1])]
        for block in scene.plan.blocks if asked else ():
            at = _begins(scene, block, subject)
            if not at or any(name in block.text for name in exceptions) or not all(_has(block, c) for c in conditions):
                continue
            missing = next((name for name in asked if not _holds(scene, block, name)), None)
            if missing is not None:
                severity: Severity = (
                    "BLOCKING" if subject.key == "route" and _ACCESS.search(rule.text) else "SIGNIFICANT"
                )
                yield left_out(rule, at, f"The code of the plan has no `{missing}`", severity)


def in_prose(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Something that meets a rule's condition, described in words, where no line has what the rule asks for then."""
    for sentence in re.split(r"(?<=[.;:])\s", rule.text):
        verb = _ASKS.search(sentence)
        subject = next((c for c in named_in(sentence[: verb.start()]) if c.key == "route"), None) if verb else None
        conditions = [name for name in _TICKED.findall(sentence[: verb.start()]) if "/" not in name] if verb else []
        if verb is None or subject is None or not conditions or _NEGATIVE.search(sentence):
            continue
        asked = [name for name in _TICKED.findall(sentence[verb.end() :]) if not scene.known.exists(name)]
        every = "\n".join(scene.plan.lines).lower()
        for at, _ in doing(scene.reading, subject) if asked else ():
            step = " ".join(line for _, line in scene.reading.around(at))
            meets = scene.reading.block(at) is None and all(f"`{one}`" in step for one in conditions)
            words = (word.lower() for name in asked for word in _carriers(scene, name)) if meets else ()
            if meets and not _OWN.search(step) and not any(word in every for word in words):
                severity: Severity = "BLOCKING" if _ACCESS.search(rule.text) else "SIGNIFICANT"
                yield left_out(rule, at, f"No line of the plan has `{asked[0]}`", severity)


def _carriers(scene: Scene, name: str) -> list[str]:
    """A name, and the definitions of the repository in which it stands."""
    hits = scene.known.mentions(name) + scene.known.mentions(name[:1].lower() + name[1:])
    holders = [
        symbol.name
        for path in dict.fromkeys(hit.path for hit in hits)
        for symbol in scene.repository.definitions(path)
        if symbol.kind in ("function", "method")
        and any(hit.path == path and symbol.line < hit.line <= symbol.last for hit in hits)
    ]
    return [name, *(one for one in holders if "_" in one)]


def _begins(scene: Scene, block: CodeBlock, subject: Concept) -> int:
    """The first line of a block that does what a rule speaks of; 0 if none does, or if it is only shown."""
    if not scene.reading.planned(block.first):
        return 0
    lines = enumerate(block.text.split("\n"), block.first + 1)
    return next((at for at, line in lines if subject.code.search(line)), 0)


def _has(block: CodeBlock, name: str) -> bool:
    return re.search(rf"[\"'`]{re.escape(name)}[\"'`]", block.text) is not None


def _holds(scene: Scene, block: CodeBlock, name: str) -> bool:
    """Whether a block has the most telling word of a name, or calls something of the repository that has it."""
    words = [word for word in _WORD.findall(name) if word not in _COMMON] or [name]
    telling = max(words, key=lambda word: ("_" in word or "." in word or ":" in word, len(word)))
    if telling.lower() in block.text.lower():
        return True
    mentions = scene.known.mentions(telling) + scene.known.mentions(telling[:1].lower() + telling[1:])
    for called in set(re.findall(r"\b([A-Za-z_]\w{2,})\(", block.text)):
        for symbol in scene.repository.symbols(called, 5):
            if any(hit.path == symbol.path and symbol.line < hit.line <= symbol.last for hit in mentions):
                return True
    return False


def in_files(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """Something is added, and the file or folder that the rule wants to go with it is never named in the plan."""
    beside = _BESIDE.search(rule.text)
    if beside is None:
        return
    subject = next(
        (c for c in named_in(rule.text[: beside.start()]) if c.key in ("route", "dependency", "migration", "flag")),
        None,
    )
    wanted = [name for name in _TICKED.findall(rule.text) if scene.known.exists(name)]
    if subject is None or not wanted or subject.key == "flag":
        return
    path = normalised(wanted[0])
    if any(path in line for line in scene.plan.lines):
        return
    for at, _ in doing(scene.reading, subject):
        if not scene.reading.told(at):
            yield left_out(rule, at, f"The plan never names {path}, which the rule wants to go with it")


def first(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """A place that the rule wants to come before another one, and that the plan leaves out."""
    found = _ORDER.search(rule.text)
    if found is None:
        return
    before, after = found[1].lower(), found[2].lower()
    lines = [(at, line.lower()) for at, line in scene.reading.to_do]
    if any(before in line for _, line in lines):
        return
    for at, line in lines:
        if re.search(rf"\b(?:deploy|release|ship|roll)\w*\b[^.;]*\b{after}\b", line):
            yield left_out(rule, at, f"The plan goes to {after} and never to {before}")


def tested(scene: Scene, rule: Rule) -> Iterator[Issue]:
    """A rule that wants a test with every change or fix, and a plan that changes code and speaks of no test."""
    if not _WANTS_TEST.search(rule.text) or any(_TEST.search(line) for _, line in scene.reading.to_do):
        return
    changed = next((one for one in scene.reading.actions("file") if _SOURCE.search(one.name)), None)
    if changed is not None and not any(_TEST.search(section.title) for section in scene.plan.sections):
        yield left_out(rule, changed.line, f"The plan changes {changed.name} and speaks of no test")
