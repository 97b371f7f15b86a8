"""Values that the plan says the code has today, held against the lines that set them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene

_WHERE = r"(?: (?:in|of|from) (?:the )?(?:file )?`[^`]+`)?"
_IS = (
    r"(?:is|are|stands at|defaults to|has the value|is set to|was set to)\s+(?:now |still |currently |today |set "
    r"to |about |at most |up to |only )*"
)
_SAYS = re.compile(
    rf"`(?P<name>[A-Za-z_][\w.-]{{2,60}})`{_WHERE}(?:,? (?:which|that))?,? {_IS}"
    r"(?:`(?P<value>[^`]{1,40})`|(?P<number>\d[\d,_]*(?:\.\d+)?)(?![\w-]))"
)
_BRACKETED = re.compile(
    r"(?P<number>(?<![\w.])\d[\d,_]*(?:\.\d+)?)(?: [a-z-]+){0,4} \((?:see |by |from |the "
    r")?`(?P<name>[A-Za-z_]\w{3,60})`"
    r"|`(?P<name2>[A-Za-z_]\w{3,60})`(?:,| of| =| at|:)? \(?(?:about |at most |up to "
    r")?(?P<number2>\d[\d,_]*(?:\.\d+)?)(?![\w-])"
)
_IN_FILE = re.compile(r"`(?P<path>[\w./-]+\.[A-Za-z]\w*)`")
_MEASURE = re.compile(
    r"(?<![\w.-])(?P<number>\d[\d,_]*(?:\.\d+)?)(?:\s|-)?(?P<unit>ms|milliseconds?|s|secs?|seconds?|min"
    r"|minutes?|h|hours?|days?|attempts?|times|retries|tries|rows|items|entries|characters|bytes|workers"
    r"|connections|pages?)\b"
)
_FUTURE = re.compile(
    r"\b(?:will|shall|should|becomes?|instead|from now|(?:we|to|be) set|raise|lower|change|changes|would"
    r"|after (?:this"
    r"|the) change|new|must|may|can|within|under|over|more than|less than|measured|takes? (?:up to|about))\b",
    re.IGNORECASE,
)
_APART = re.compile(r"\b(?:because|while|when|after|before|if|since|until|but|whereas)\b|[;]", re.IGNORECASE)
_LATER = re.compile(r"\s*(?:later|earlier|ago|before|after)\b", re.IGNORECASE)
_FAMILIES = {
    "time": (
        re.compile(r"^(?:ms|milli|s$|sec|min|h$|hour)"),
        re.compile(
            r"timeout|wait|delay|interval|period|ttl|every|expire|lifetime|deadline|sleep|pause|backoff", re.IGNORECASE
        ),
    ),
    "count": (re.compile(r"^(?:attempt|times|retr|tries)"), re.compile(r"attempt|retr|tries", re.IGNORECASE)),
    "days": (re.compile(r"^day"), re.compile(r"day|retention|keep|age", re.IGNORECASE)),
    "size": (
        re.compile(r"^(?:row|item|entr|char|byte|page)"),
        re.compile(r"limit|size|max|length|page|chunk|batch|count", re.IGNORECASE),
    ),
    "pool": (
        re.compile(r"^(?:worker|connection)"),
        re.compile(r"worker|pool|connection|concurren|thread", re.IGNORECASE),
    ),
}
_NUMBER = re.compile(r"(?<![\w.])\d[\d_,]*(?:\.\d+)?")
_SETS = (
    r"(?<![\w.-])[\"']?{0}[\"']?\s*(?::[^=:]{{1,40}})?\s*(?::=|=|:)\s*(?P<value>[^#;,\n]+)"
    r"|[\"']{0}[\"']\s*,\s*(?P<default>[^,)\n]+)"
)
_SET = re.compile(
    r"\s*(?:const |let |var |export |static |final |private |public |int |float )*([A-Za-z_][\w.]*)"
    r"\s*(?::[^=]{1,40}|[a-z.A-Z]{1,30})?\s*(?::=|=|:)\s*\(?\d|.*?\b(\w*(?:Sleep|After|Tick|NewTicker"
    r"|timeout)\w*)\((?:\d|\w+\.)"
)
_SECONDS = {"ms": 0.001, "mi": 60.0, "h": 3600.0, "ho": 3600.0}


class _Value(NamedTuple):
    place: Place
    text: str


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each value that is stated of a named setting, or of a file, and that the code sets otherwise.

    Only lines that state how things are count: those outside of steps, and none that speak of what will be.
    A number that stands anywhere in the file, in any unit, is borne out.
    """
    for at, line in scene.reading.stated:
        if _FUTURE.search(line):
            continue
        yield from _named(scene, at, line)
        yield from _measured(scene, at, line)


def _named(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    said = [(match["name"], match["value"] or match["number"], match.group()) for match in _SAYS.finditer(line)]
    numbers = re.findall(r"(?<![\w.`-])\d[\d,_]*(?:\.\d+)?(?![\w`-])", line)
    settings = re.findall(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`", line)
    if len(numbers) == 1 and len(settings) == 1:
        said.append((settings[0], numbers[0], f"{numbers[0]} by {settings[0]}"))
    bracketed = (match.groupdict() | {"words": match.group()} for match in _BRACKETED.finditer(line))
    said += [(one["name"] or one["name2"], one["number"] or one["number2"], one["words"]) for one in bracketed]
    for name, value, words in said:
        values = [one for one in _values(scene, name) if _comparable(value, one.text)]
        if values and not any(_agrees(value, one.text) for one in values):
            first = values[0]
            yield _stale(
                at, words, f"{first.place.path}:{first.place.line} says {first.text.strip()[:60]}", first.place
            )


def _stale(line: int, says: str, why: str, place: Place) -> Issue:
    return Issue(
        statement("stale-claim", says),
        line,
        f"{why}.",
        "SIGNIFICANT",
        "HIGH",
        scenario="What the plan concludes from the value does not hold.",
        alternative="Correct the value, and what the plan concludes from it.",
        beside=(place,),
    )


def _values(scene: Scene, name: str) -> list[_Value]:
    """The values that lines of code or configuration give a name; at most three files are opened."""
    last = name.rpartition(".")[2]
    hits = [
        hit
        for hit in scene.known.mentions(last)
        if not hit.path.endswith((".md", ".rst", ".txt")) and "test" not in hit.path
    ]
    pattern = re.compile(_SETS.format(re.escape(last)))
    found = []
    first = {symbol.path for symbol in scene.known.symbols(last)}
    for path in sorted(dict.fromkeys(hit.path for hit in hits), key=lambda path: (path not in first, path))[:3]:
        lines = scene.tools.read(path).lines
        for hit in hits:
            match = pattern.search(lines[hit.line - 1]) if hit.path == path and hit.line <= len(lines) else None
            if match is not None:
                found.append(_Value(Place(path, hit.line, lines[hit.line - 1]), match["value"] or match["default"]))
    return found


def _plain(text: str) -> str:
    text = text.strip().strip("\"'`;,").strip().lower()
    number = re.fullmatch(r"\d[\d_,]*(?:\.\d+)?", text)
    return f"{float(re.sub('[_,]', '', text)):g}" if number else text


def _agrees(said: str, value: str) -> bool:
    return _plain(said) == _plain(value) or _plain(said) in {_plain(word) for word in re.findall(r"[\w.]+", value)}


def _comparable(said: str, value: str) -> bool:
    """Whether both are plain values of one kind: two numbers, two switches, or two texts in quotation marks."""
    ours, theirs = _plain(said), _plain(value)
    switches = {"true", "false", "on", "off", "yes", "no"}
    both_numbers = all(re.fullmatch(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?", one) for one in (ours, theirs))
    return both_numbers or (ours in switches and theirs in switches)


def _measured(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    """A measure stated beside one file: refuted if the file sets such measures, and none to this."""
    paths = [
        path
        for match in _IN_FILE.finditer(line)
        if (path := scene.known.file(match["path"])) and not path.endswith((".md", ".sql"))
    ]
    measures = list(_MEASURE.finditer(line))
    if len(set(paths)) != 1 or not measures:
        return
    path = paths[0]
    for measure in measures:
        low, high = sorted((measure.start(), line.find(path.rpartition("/")[2])))
        if _APART.search(line[low:high]) or _LATER.match(line[measure.end() :]):
            continue
        family = next((names for units, names in _FAMILIES.values() if units.match(measure["unit"])), None)
        lines = scene.tools.read(path).lines if family else ()
        numbers = {_plain(number) for text in lines for number in _NUMBER.findall(text)}
        sets = [(n, text) for n, text in enumerate(lines, 1) if family and _sets_measure(family, text)]
        if sets and not numbers & _spellings(measure["number"], measure["unit"]):
            n, text = sets[0]
            yield _stale(
                at, f"{measure.group()} in {path}", f"{path}:{n} reads {text.strip()[:80]}", Place(path, n, text)
            )


def _sets_measure(names: re.Pattern[str], text: str) -> bool:
    match = _SET.match(text)
    return match is not None and names.search(match[1] or match[2]) is not None


def _spellings(number: str, unit: str) -> set[str]:
    """The number as it can stand in code: in its unit, in seconds, in milliseconds, in minutes."""
    value = float(re.sub("[_,]", "", number))
    factor = next((seconds for start, seconds in _SECONDS.items() if unit.startswith(start)), 1.0)
    minutes = value * factor / 60
    return {f"{one:g}" for one in (value, value * factor, value * factor * 1000, minutes if minutes >= 1 else value)}
