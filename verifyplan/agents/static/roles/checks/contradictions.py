"""Lines of the plan that cannot both hold: kept and changed, two values, none and yet one, deleted and used."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from verifyplan.agents.static.roles.concepts import concepts, doing
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.reading import denied
from verifyplan.agents.static.roles.scene import Scene
from verifyplan.protocol.challenge import Severity

_KEEPS = re.compile(
    r"\b(?:do not|don't|never|must not|without) (?:touch(?:ing)?|chang(?:e|ing)|edit(?:ing)?|modify(?:ing)?"
    r"|alter(?:ing)?|rewrit(?:e|ing)) (?:the )?`(?P<untouched>[^`]+)`"
    r"|`(?P<stays>[^`]+)` (?:itself )?(?:stays|remains|is left|stay|remain|are left|keeps its|is kept) "
    r"(?:exactly )?(?:as (?:it is|they are|is)|unchanged|untouched|alone|the same)\b"
    r"|\bleaves? (?:the )?(?:(?:answer|body|output|result|text|content|code|signature|behaviou?r) of "
    r")?`(?P<left>[^`]+)` "
    r"(?:exactly )?(?:alone|as it is|as is|unchanged|untouched)\b",
    re.IGNORECASE,
)
_CHANGES = (
    r"\b(?:change|edit|modify|rewrite|rename|delete|remove|replace|extend|update|refactor|move|drop)s? (?:the "
    r"|file |function |method |class )*`{0}`"
    r"|`{0}` (?:now |then |also )?(?:returns?|gets?|gains?|answers? with|no longer)\b"
)
_DELETES = re.compile(
    r"`([^`]+)` \((?:gone|deleted|removed)\)|"
    r"\b(?:delete|remove|drop)s? (?:the |file |function |method |class |script |old |whole )*`([^`]+)`(?! "
    r"(?:from|in|of|out)\b)"
    r"|\b(?:delete|remove|drop)s? (?:the |an? )?(?:\w+ )?(?:flag|column|field|setting|variable|function|route"
    r"|endpoint|job|table|index|key|option) `([^`]+)`",
    re.IGNORECASE,
)
_NEEDS = (
    r"\b(?:change|edit|modify|extend|update|call|use|run|import|execute|turn|set|enable|switch|read|keep"
    r"|ask)s? (?:on |off )?"
    r"(?:the |file |function |flag |column |field )*`{}\b"
)
_VALUE = re.compile(
    r"`(?P<name>[A-Za-z_][\w.-]{2,60})`(?: is| to| of|:| =|=| defaults to| stays| at)+ (?:about |at most |up "
    r"to )?`?(?P<value>\d[\d,_]*(?:\.\d+)?)\b(?!\s*%)"
    r"|`(?P<key>[A-Za-z_][\w.-]{2,60})\s*[:=]\s*(?P<given>\d[\d,_]*(?:\.\d+)?)`",
)
_OF = re.compile(
    r"\b(?P<name>batches|chunks|pages|blocks|groups|intervals|periods|windows?|a limit|a timeout|steps) of "
    r"(?P<value>\d[\d,_]*(?:\.\d+)?) (?P<unit>\w+)",
    re.IGNORECASE,
)
_KEPT = re.compile(
    r"\b(?:the )?(?P<name>timeout|limit|interval|retention|period|size|ttl|deadline|window|threshold)(?: stays"
    r"| remains| is kept)(?: at)? (?P<value>\d[\d,_]*(?:\.\d+)?)",
    re.IGNORECASE,
)
_BECOMES = re.compile(
    r"`(?P<name>[a-z_]*(?P<noun>timeout|limit|interval|retention|period|size|ttl|deadline|window"
    r"|threshold)\w*)`(?: becomes| is set to| is raised to| is lowered to| to) (?P<value>\d[\d,_]*(?:\.\d+)?)",
    re.IGNORECASE,
)
_RATHER = re.compile(
    r"\b(?:rather than|instead of|, not)(?: in| by| with| as)? (?:an? |the |another )?(?:new |separate "
    r"|second |own )?(?P<noun>table|migration|queue|cache|job|column|flag|service|package|library|class|route"
    r"|endpoint|index|file|worker|webhook|view|trigger|dictionary|script)\b(?! (?:that|which|of the|of what"
    r"|before|scan))",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?P<name>(?:[a-z]+[ -])(?:timeout|limit|interval|retention|period|size|ttl|deadline|window"
    r"|threshold))(?: is| of|:| to| at| stays)* (?P<value>\d[\d,_]*(?:\.\d+)?) ?(?P<unit>ms|s|seconds?"
    r"|minutes?|hours?|days?|rows|mb|gb|kb|%)?",
    re.IGNORECASE,
)
_MOST_NAMES = 200
_VARIES = re.compile(
    r"\b(?:from|was|were|old|instead|currently|before|now|today|staging|production|dev|development|test|tests"
    r"|first|later|then|after|until|raise|lower|increase|decrease|default|example|e\.g\.|per|each|for|if|when"
    r"|case|cases)\b",
    re.IGNORECASE,
)
_NONE = re.compile(
    r"\bno (?:new |further |additional |other |extra )?(?P<what>migrations?|packages?|dependenc(?:y|ies)"
    r"|routes?|endpoints?)\b(?! (?:other than|except|but|besides|without|has|have|may|is older|that))",
    re.IGNORECASE,
)
_TAKES_OUT = re.compile(
    r"\b(?:take[s]? out|remove[s]?|drop[s]?|delete[s]?|stop[s]? making) (?:the |every |all )*(?P<what>call"
    r"|calls|check|checks|retry|retries|column|field|header|parameter|import|query|lock|cache|log line"
    r"|redirect)\b",
    re.IGNORECASE,
)
_COUNTS = (
    r"\b(?:makes?|made|does|sends?|has|gives?|expects?|still|keeps?) (?:exactly |at least |still |only )*(?:one"
    r"|two|three|a|the|\d+) {}\b|\bexactly (?:one|two|\d+) {}\b"
)


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each pair of lines of which one takes back what the other says; needs no repository.

    Both lines are cited. A value that varies by place or time, and what a line denies, is no contradiction.
    """
    yield from _kept(scene)
    yield from _deleted(scene)
    yield from _none(scene)
    yield from _values(scene)
    yield from _counted(scene)
    yield from _raised(scene)
    yield from _rather(scene)


def _pair(kind: str, names: tuple[str, ...], line: int, other: int, why: str, severity: Severity) -> Issue:
    return Issue(
        statement(kind, *names),  # type: ignore[arg-type]
        line,
        why,
        severity,
        "HIGH" if severity == "BLOCKING" else "MED",
        scenario="Whoever carries out the plan cannot do both, and cannot know which is meant.",
        alternative="Say which of the two holds, and strike the other.",
        beside=(Place("", other),),
    )


def _kept(scene: Scene) -> Iterator[Issue]:
    for at, line in scene.reading.prose:
        for match in _KEEPS.finditer(line):
            name = next(group for group in match.groups() if group)
            changes = re.compile(_CHANGES.format(re.escape(name)), re.IGNORECASE)
            for other, text in scene.reading.to_do:
                found = changes.search(text) if other != at else None
                if found is not None and not denied(text, found.start()) and scene.reading.block(other) is None:
                    why = f"One line says that it stays as it is: {match.group()}. The other changes it."
                    yield _pair("kept-and-changed", (name,), other, at, why, "BLOCKING")
                    break


def _deleted(scene: Scene) -> Iterator[Issue]:
    gone: dict[str, int] = {}
    for at, line in scene.reading.to_do:
        for match in _DELETES.finditer(line) if scene.reading.block(at) is None else ():
            if not denied(line, match.start()):
                gone.setdefault(next(group for group in match.groups() if group), at)
    for name, first in list(gone.items())[:_MOST_NAMES]:
        module = re.escape(name.removesuffix(".py").replace("/", ".")) if name.endswith(".py") else "(?!)"
        needs = re.compile(f"{_NEEDS.format(re.escape(name))}|\\b(?:from|import) {module}\\b", re.IGNORECASE)
        last = scene.reading.part(first)[1]
        for at, line in scene.reading.to_do:
            found = needs.search(line) if name in line or name.endswith(".py") else None
            if found and at > last and not denied(line, found.start()):
                yield _pair(
                    "used-after-deleted", (name,), at, first, "A later step works on it, when it is gone.", "BLOCKING"
                )
                break


def _none(scene: Scene) -> Iterator[Issue]:
    by_name = {concept.key: concept for concept in concepts()}
    for at, line in scene.reading.prose:
        match = _NONE.search(line)
        concept = next(
            (
                by_name[key]
                for key in ("migration", "dependency", "route")
                if match and by_name[key].named.fullmatch(match["what"])
            ),
            None,
        )
        if match is None or concept is None:
            continue
        done = next(
            (
                (n, words)
                for n, words in doing(scene.reading, concept)
                if n != at and not _NONE.search(scene.reading.sentence(n, words).text) and not scene.reading.downward(n)
            ),
            None,
        )
        if done is not None:
            why = f"One line says {match.group()}, and a step does it all the same."
            yield _pair("denied-and-done", (match.group(), done[1]), done[0], at, why, "BLOCKING")
            return


def _values(scene: Scene) -> Iterator[Issue]:
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for at, line in scene.reading.prose:
        if scene.reading.told(at) or _VARIES.search(_OF.sub(" ", line) if not _OF.search(line) else ""):
            continue
        for match in (*_VALUE.finditer(line), *_PHRASE.finditer(line), *_OF.finditer(line)):
            groups = match.groupdict()
            name = groups.get("name") or groups.get("key") or ""
            value = (groups.get("value") or groups.get("given") or "").strip(",._").replace(",", "").replace("_", "")
            found[name].setdefault(f"{value} {groups.get('unit') or ''}".strip(), at)
    for name, values in found.items():
        if len(values) == 2 and len(set(values.values())) == 2:
            (one, first), (two, second) = values.items()
            why = "Both lines speak of the same value, and nothing says that it changes in between."
            yield _pair("two-values", (name, one, two), second, first, why, "SIGNIFICANT")


def _counted(scene: Scene) -> Iterator[Issue]:
    """Something is taken out in one step, and a later one, such as a test, counts on it being there."""
    for at, line in scene.reading.to_do:
        match = _TAKES_OUT.search(line)
        if match is None or denied(line, match.start()) or scene.reading.block(at) is not None:
            continue
        what = match["what"].removesuffix("s") if match["what"] != "retries" else "retr"
        counts = re.compile(_COUNTS.format(what, what), re.IGNORECASE)
        last = scene.reading.part(at)[1]
        for other, text in scene.reading.to_do:
            found = counts.search(text)
            if found and other > last and not denied(text, found.start()):
                why = f"An earlier step says: {match.group()}; this one counts on it: {found.group()}."
                yield _pair("kept-and-changed", (match["what"],), other, at, why, "BLOCKING")
                return


def _raised(scene: Scene) -> Iterator[Issue]:
    """A value that the plan says stays, set to another one in a step."""
    stays = {
        match["name"].lower(): (at, match["value"])
        for at, line in scene.reading.prose
        for match in _KEPT.finditer(line)
    }
    for at, line in scene.reading.to_do if stays else ():
        for match in _BECOMES.finditer(line):
            first, value = stays.get(match["noun"].lower(), (0, ""))
            if first and value.replace(",", "") != match["value"].replace(",", "") and not denied(line, match.start()):
                yield _pair(
                    "two-values",
                    (match["name"], value, match["value"]),
                    at,
                    first,
                    "One line says that it stays.",
                    "BLOCKING",
                )
                return


def _rather(scene: Scene) -> Iterator[Issue]:
    """Something that the plan decided against, made in a step all the same."""
    for at, line in scene.reading.stated:
        match = _RATHER.search(line)
        if match is None:
            continue
        noun = match["noun"].lower()
        makes = re.compile(
            rf"\b(?:new|creates?|adds?|introduces?) (?:an? )?(?:new )?(?:separate )?{noun}\b"
            r"(?! (?:driven|test|file|entry|row))",
            re.IGNORECASE,
        )
        for other, text in scene.reading.to_do:
            found = makes.search(text)
            if found is not None and not denied(text, found.start()):
                why = f"The plan decided against it: {match.group()}."
                yield _pair("denied-and-done", (match.group(), found.group()), other, at, why, "BLOCKING")
                return
