"""What the plan states of the code as it is, and the code does not bear out: tests, use, existence, values."""

from __future__ import annotations

import re
from collections.abc import Iterator

from verifyplan.agents.static.roles.checks import stale_amounts, stale_values
from verifyplan.agents.static.roles.issues import Issue, Place
from verifyplan.agents.static.roles.known import plain
from verifyplan.agents.static.roles.phrases import statement
from verifyplan.agents.static.roles.scene import Scene

_NO_TESTS = re.compile(
    r"\b(?:no|without(?: any)?|lacks?)\s+(?:unit |integration |automated |existing )*tests?\s+(?:of|for"
    r"|cover(?:s|ing)?)\s+(?:the |our )?(?P<behind>`[^`]+`|[A-Za-z][\w-]{3,})"
    r"|(?P<before>`[^`]+`|[A-Za-z][\w-]{3,})\s+(?:has|have)\s+no\s+(?:unit |integration |automated )*tests?\b"
    r"|(?P<untested>`[^`]+`|[A-Za-z][\w-]{3,})\s+(?:is|are)\s+(?:untested|not (?:yet )?tested|not covered by "
    r"(?:any )?tests?)\b",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\bthere (?:is|are) (?:currently |still |as yet |so far )?no `(?P<none>[^`\s]+)`|`(?P<gone>[^`\s]+)` "
    r"(?:does not exist|doesn't exist|is not there|is missing)\b",
    re.IGNORECASE,
)
_UNUSED = re.compile(
    r"`(?P<unused>[^`\s]+)` (?:is|are) (?:now |currently |already |no longer |not )*(?:unused|dead(?: code)?"
    r"|used (?:anywhere|by (?:anything|anyone|any code))|called (?:anywhere|by anything)|imported anywhere)\b"
    r"|\b(?:nothing|nobody|no one|no code)(?: else)? (?:uses|calls|imports|reads|depends on|relies on) "
    r"`(?P<nobody>[^`\s]+)`"
    r"|`(?P<left>[^`\s]+)`(?: (?:in|of) `[^`]+`)? has no (?:other |more )?(?:callers?|users?|uses|importers?)\b"
    r"|\bno (?:other )?(?:callers?|users?|uses|importers?|references?) (?:of|to) `(?P<callers>[^`\s]+)`",
    re.IGNORECASE,
)
_ONLY = re.compile(
    r"`(?P<name>[^`\s]+)`(?: is| are)? (?:only |solely )(?:used|called|imported|read)(?: only)? (?:in|by"
    r"|from) `(?P<where>[^`\s]+)`"
    r"|`(?P<name2>[^`\s]+)` is used only (?:in|by|from) `(?P<where2>[^`\s]+)`"
    r"|\bonly `(?P<where3>[^`\s]+)` (?:uses|calls|imports|reads) `(?P<name3>[^`\s]+)`",
    re.IGNORECASE,
)
_NO_INDEX = re.compile(
    r"\b(?:no|without an?|lacks an?) index (?:on|for|over) `?([a-z_]+(?:[.( ]+[a-z_]+)?)", re.IGNORECASE
)
_TEST = re.compile(r"(?:^|[/_.-])tests?(?:[/_.-]|$)|\.spec\.|(?:^|/)spec/", re.IGNORECASE)
_CODE = re.compile(r"\.(?:py|js|jsx|ts|tsx|go|rs|java|rb|php|cs|c|cc|cpp|h|kt|swift|sh|sql)$")
_STARTS_TEST = re.compile(r"^\s*(?:async )?(?:def test|it\(|test\(|describe\(|func Test|#\[test\]|@Test)")


def check(scene: Scene) -> Iterator[Issue]:
    """An issue for each statement about the code that a look at the code refutes, with the line that refutes it.

    Only plain statements are looked at: that something has no tests, is not there, is used nowhere or in one place
    only, or has a certain value. What the plan's own steps change is not held against it.
    """
    if scene.known.empty:
        return
    for at, line in scene.reading.prose:
        for find in (_tests, _there, _used, _elsewhere, _index):
            yield from find(scene, at, line)
    yield from stale_values.check(scene)
    yield from stale_amounts.check(scene)


def stale(line: int, says: str, why: str, place: Place) -> Issue:
    """An issue on a statement that a place refutes."""
    return Issue(
        statement("stale-claim", says),
        line,
        f"{why}.",
        "SIGNIFICANT",
        "HIGH",
        scenario=(
            "A decision that rests on it is taken on a wrong footing, and shows only when the plan is carried out."
        ),
        alternative="Correct the statement, and what the plan concludes from it.",
        beside=(place,),
    )


def _tests(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    match = _NO_TESTS.search(line)
    if match is None:
        return
    name = next(group for group in match.groups() if group).strip("`")
    path = _test_of(scene, name)
    if path is not None:
        read = scene.tools.read(path)
        first = next((n for n, text in enumerate(read.lines, 1) if _STARTS_TEST.search(text)), 0)
        if first:
            yield stale(at, match.group(), f"{path}:{first} tests it", Place(path, first, read.lines[first - 1]))


def _test_of(scene: Scene, name: str) -> str | None:
    """A test file that is named for a thing, or that speaks of it."""
    stem = name.rpartition("/")[2].partition(".")[0].lower()
    tests = [path for path in scene.repository.files if _TEST.search(path)]
    if len(stem) < 4 or stem in ("code", "repository", "there", "tests"):
        return None
    named = [
        path
        for path in tests
        if stem in re.split(r"[^a-z0-9]+", path.rpartition("/")[2].lower()) or f"test_{stem}." in path.lower()
    ]
    if named or not re.search(r"[_/.A-Z]", name):
        return named[0] if named else None
    word = name.rpartition("/")[2].rpartition(".")[0] if "/" in name else name.removesuffix("()")
    return next((hit.path for hit in scene.known.mentions(word) if _TEST.search(hit.path)), None)


def _index(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    """An index that is said to be missing."""
    match = _NO_INDEX.search(line)
    if match is None:
        return
    words = [word for word in re.split(r"[^a-z_]+", match[1]) if len(word) > 1]
    pattern = r"(?i)create (?:unique )?index .*" + ".*".join(rf"\b{word}\b" for word in words)
    hit = next(iter(scene.tools.grep(pattern).matches), None) if words else None
    if hit is not None:
        yield stale(at, match.group(), f"{hit.path}:{hit.line} creates one", Place(hit.path, hit.line, hit.text))


def _there(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    match = _ABSENT.search(line)
    if match is None:
        return
    name = match["none"] or match["gone"]
    path = scene.known.file(name) if plain(name) and ("/" in name or "." in name) else None
    if path is not None and path == name:
        yield stale(at, match.group(), f"{path} is in the repository", Place(path, 1))
        return
    found = scene.known.symbols(name) if re.search(r"_|[a-z][A-Z]", name) else []
    if found:
        yield stale(
            at, match.group(), f"{found[0].path}:{found[0].line} defines it", Place(found[0].path, found[0].line)
        )


def _used(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    match = _UNUSED.search(line)
    if match is None:
        return
    name = next(group for group in match.groups() if group)
    use = next(iter(_uses(scene, name)), None)
    if use is not None:
        yield stale(at, match.group(), f"{use.path}:{use.line} uses it", use)


def _elsewhere(scene: Scene, at: int, line: str) -> Iterator[Issue]:
    match = _ONLY.search(line)
    if match is None:
        return
    name = match["name"] or match["name2"] or match["name3"]
    where = match["where"] or match["where2"] or match["where3"]
    other = next((use for use in _uses(scene, name) if not use.path.endswith(where) and where not in use.path), None)
    if other is not None and scene.known.exists(where):
        yield stale(at, match.group(), f"{other.path}:{other.line} uses it, too", other)


def _uses(scene: Scene, name: str) -> list[Place]:
    """Lines of code, tests left out, that use a name and do not define it."""
    path = scene.known.file(name) if "/" in name or "." in name else None
    if path is not None:
        return [Place(hit.path, hit.line) for hit in scene.repository.importers(path) if not _TEST.search(hit.path)]
    bare = name.removesuffix("()")
    symbols = scene.known.symbols(bare)
    hits = scene.known.mentions(bare.rpartition(".")[2]) if symbols else []
    own = {(symbol.path, line) for symbol in symbols for line in range(symbol.line, symbol.last + 1)}
    used = [
        hit for hit in hits if (hit.path, hit.line) not in own and _CODE.search(hit.path) and not _TEST.search(hit.path)
    ]
    return [Place(hit.path, hit.line) for hit in used]
