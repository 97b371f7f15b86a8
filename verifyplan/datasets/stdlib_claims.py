"""True and false claims about the Python standard library, with evidence as workers give it (SPEC B2).

Facts are read off the syntax trees of the running interpreter's own library; nothing of it is imported or
run. A false claim is a true one with one detail altered, and is checked on the tree to be really false.
"""

from __future__ import annotations

import ast
import builtins
import platform
import re
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from random import Random

import pandas as pd

from verifyplan.agents.static import CHECKERS
from verifyplan.agents.static import definitions as read
from verifyplan.agents.static.sources import UnreadableError, parse, read_lines
from verifyplan.errors import InputError, Problem

COLUMNS = ("finding_id", "summary", "evidence", "worker", "category", "truth")

_SKIPPED = re.compile(r"(^|/)(test|tests|idle_test|lib2to3|idlelib|turtledemo|site-packages|dist-packages|encodings)/")
_COMMON = {  # details that are plausible anywhere; more come from the same module
    "parameter": ("name", "value", "encoding", "timeout", "flags"),
    "default": ("None", "True", "False", "0", "1", "-1", "''", "()"),
    "raises": ("ValueError", "TypeError", "KeyError", "RuntimeError", "OSError", "NotImplementedError"),
    "imports": (
        "os",
        "re",
        "sys",
        "io",
        "types",
        "warnings",
        "functools",
        "collections",
        "itertools",
        "time",
    ),
    "base-class": ("Exception", "ValueError", "dict", "list", "OSError"),
    "calls": ("len", "isinstance", "getattr", "open", "str", "repr", "super", "int"),
    "location": (),
}
_MODULES = sorted(name for name in sys.stdlib_module_names if len(name) > 4 and name[0] != "_")
_MENTIONED = re.compile(rf"\b(?:{'|'.join(_MODULES)})\b")
CATEGORIES = tuple(_COMMON)
"""The kinds of claims, dealt in turn."""

_WORDINGS = {  # [what states the fact|what denies it]
    "parameter": (
        "`{subject}` takes [a|no] parameter `{detail}`.",
        "`{detail}` is [a|not a] parameter of `{subject}`.",
        "The signature of `{subject}` has [an|no] argument named `{detail}`.",
    ),
    "default": (
        "The parameter `{of}` of `{subject}` [defaults|does not default] to `{detail}`.",
        "In `{subject}`, `{of}` [has|does not have] the default value `{detail}`.",
        "`{detail}` is [the|not the] default of `{of}` in `{subject}`.",
    ),
    "raises": (
        "`{subject}` [raises|does not raise] `{detail}`.",
        "`{detail}` is [raised|never raised] in the body of `{subject}`.",
        "The body of `{subject}` [can|cannot] raise an exception of type `{detail}`.",
    ),
    "imports": (
        "The module `{subject}` [imports|does not import] `{detail}`.",
        "`{detail}` is [imported|not imported] by `{subject}`.",
        "`{of}` has [an|no] import of `{detail}`.",
    ),
    "base-class": (
        "`{subject}` [inherits|does not inherit] from `{detail}`.",
        "`{subject}` is [a|not a] subclass of `{detail}`.",
        "`{detail}` is [a|not a] base class of `{subject}`.",
    ),
    "calls": (
        "`{subject}` [calls|does not call] `{detail}`.",
        "`{detail}` is [called|not called] in the body of `{subject}`.",
        "The body of `{subject}` contains [a|no] call to `{detail}`.",
    ),
    "location": (
        "`{subject}` is [defined|not defined] at line {detail} of `{of}`.",
        "The definition of `{subject}` [starts|does not start] at line {detail}.",
    ),
}
_FORMS = {"exact": 34, "decisive": 34, "off": 12, "inside": 10, "shortened": 6, "retyped": 4}
_DENIED, _BARE, _INHERITED = 0.12, 0.2, 0.08  # shares of ways to say it, the same for true and false
_DISCOVERERS = {1: 76, 2: 20, 3: 2, 10**9: 2}  # how many workers found a claim; the last: all of them


@dataclass(frozen=True)
class _Definition:
    """What the tree states of one function or class; mappings go from what it holds to its line."""

    name: str
    node: type
    line: int
    last: int
    header: int  # the last line before the body
    defaults: dict[str, str]
    parameter: dict[str, int]
    raises: dict[str, int]
    calls: dict[str, int]
    bases: tuple[str, ...]

    @property
    def bare(self) -> str:
        return self.name.rpartition(".")[2]


@dataclass(frozen=True)
class _Module:
    """What the tree states of one file; imports with their lines."""

    path: str
    lines: tuple[str, ...]
    definitions: tuple[_Definition, ...]
    imports: dict[str, int]


@dataclass(frozen=True)
class _Fact:
    """Something true, from `line` to `last`; `decisive` lines show it; `of` is a parameter or a path."""

    module: _Module
    category: str
    subject: str
    detail: str
    of: str
    line: int
    last: int
    decisive: tuple[int, int]
    definition: _Definition | None = None


def stdlib_root() -> Path:
    """The folder of the running interpreter's standard library: the root that the claims' paths start from."""
    return Path(sysconfig.get_path("stdlib"))


def stdlib_claims(
    n: int = 600,
    *,
    seed: int = 0,
    false_share: float = 0.5,
    workers: Sequence[str] = CHECKERS,
    modules: Iterable[str] | None = None,
) -> pd.DataFrame:
    """A labelled fixture set of `n` findings about the standard library: one row per finding and discoverer.

    Columns are `finding_id`, `summary`, `evidence`, `worker`, `category`, `truth`; rows that share an id are
    the same finding. A fact is what the text of a definition holds, functions within it included: "raises"
    means a `raise` statement of that very name; a bare name means the definition that the evidence points to.
    Of the claims, `false_share` (rounded to whole claims) are false; wording, evidence form and discoverers
    are drawn alike for both. Evidence is `path:line` and quoted lines, at times off, shortened or miscopied.
    `modules` are paths under `stdlib_root()`, such as "json/decoder.py", to draw from; by default a seeded
    sample. The same arguments under the same Python give the same table. InputError lists what is out of
    range, and tells if fewer claims exist. Source: SPEC B2.

    >>> frame = stdlib_claims(4, modules=["textwrap.py"])
    >>> frame["finding_id"].nunique(), frame.attrs["synthetic"]
    (4, True)
    """
    names = None if modules is None else list(modules)
    _check(n, false_share, workers, names)
    rng = Random(seed)  # noqa: S311  (a fixture, no secret)
    drawn = _draw(n, rng, _paths() if names is None else names)
    truths = [False] * round(n * false_share)
    truths += [True] * (n - len(truths))
    rng.shuffle(truths)
    found = (_finding(*pair, truth, rng) for pair, truth in zip(drawn, truths, strict=True))
    rows = [
        (f"F-{number:04d}", *claim, worker, category, truth)
        for number, (claim, category, truth) in enumerate(found, 1)
        for worker in _discoverers(workers, rng)
    ]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame.attrs = {
        "python": platform.python_version(),
        "seed": seed,
        "synthetic": True,
        "false_share": false_share,
    }
    return frame


def _check(n: int, false_share: float, workers: Sequence[str], modules: list[str] | None) -> None:
    root = stdlib_root()
    missing = [name for name in modules or () if not (root / name).is_file()]
    fix = "give paths under stdlib_root(), such as 'json/decoder.py'"
    problems = [Problem("modules", f"there is no file {name!r}", fix) for name in missing]
    if n < 1:
        problems.append(Problem("n", f"{n!r} is less than 1", "ask for one claim or more"))
    if not 0 <= false_share <= 1:
        problems.append(Problem("false_share", f"{false_share!r} is out of range", "give a number from 0 to 1"))
    if not workers or isinstance(workers, str) or len(set(workers)) < len(workers):
        problems.append(Problem("workers", f"{workers!r} is no list of different names", "name each worker once"))
    if problems:
        raise InputError(problems)


def _paths() -> list[str]:
    root = stdlib_root()
    paths = sorted(path.relative_to(root).as_posix() for path in root.rglob("*.py"))
    return [path for path in paths if not _SKIPPED.search(path)]


def _discoverers(workers: Sequence[str], rng: Random) -> list[str]:
    count = rng.choices(list(_DISCOVERERS), list(_DISCOVERERS.values()))[0]
    chosen = rng.sample(list(workers), min(count, len(workers)))
    return [worker for worker in workers if worker in chosen]


# Reading ------------------------------------------------------------------------------------------------


def _read(path: str) -> _Module | None:
    """What the tree of one file states; None if it cannot be read or does not parse."""
    try:
        lines = read_lines(stdlib_root(), path)
    except UnreadableError:
        return None
    tree = parse("\n".join(lines))
    if tree is None:
        return None
    found = tuple(_definition(name, node) for name, node in read.definitions(tree))
    return _Module(path, lines, found, _lines(read.imported(list(ast.walk(tree)))))


def _definition(name: str, node: read.Definition) -> _Definition:
    function = None if isinstance(node, ast.ClassDef) else node
    everything = read.inside(node)
    given = [one for one in ast.walk(function.args) if isinstance(one, ast.arg)] if function else []
    own = read.parameters(function) if function else {}
    return _Definition(
        name=name,
        node=type(node),
        line=node.lineno,
        last=node.end_lineno or node.lineno,
        header=max(node.body[0].lineno - 1, node.lineno),
        defaults={key: read.written(value) for key, value in read.defaults(function).items()} if function else {},
        parameter={key: next(one.lineno for one in given if one.arg == key) for key in own},
        raises=_lines(read.raised(everything)),
        calls=_lines(read.called(everything)),
        bases=tuple(read.bases(node)) if isinstance(node, ast.ClassDef) else (),
    )


def _lines(found: list[tuple[str, int]]) -> dict[str, int]:
    """The first line of each name."""
    return dict(sorted(found, key=lambda one: -one[1]))


# True facts, and what is false beside them --------------------------------------------------------------


def _facts(module: _Module) -> Iterator[_Fact]:
    """All true facts of a module, of every category."""
    for name, line in module.imports.items():
        if _is_module(name):
            yield _Fact(module, "imports", _dotted(module), name, module.path, line, line, (line, line))
    functions = {one.name for one in module.definitions if one.node is not ast.ClassDef}
    for one in module.definitions:
        if one.name.rpartition(".")[0] not in functions:
            yield from _facts_of(module, one)


def _facts_of(module: _Module, one: _Definition) -> Iterator[_Fact]:
    def fact(category: str, detail: str, of: str = "", line: int = 0) -> _Fact:
        decisive = (line, line) if line else (one.line, one.header)
        return _Fact(module, category, one.name, detail, of, one.line, one.last, decisive, one)

    yield fact("location", str(one.line), module.path)
    yield from (fact("parameter", name) for name in one.parameter if name not in {"self", "cls"})
    yield from (fact("default", text, name) for name, text in one.defaults.items() if _short(text))
    yield from (fact("calls", name, line=line) for name, line in one.calls.items() if one.node is not ast.ClassDef)
    yield from (fact("base-class", name) for name in sorted(_ancestors(module, one)))
    if all(name.rpartition(".")[2][:1].isupper() for name in one.raises) and one.node is not ast.ClassDef:
        yield from (fact("raises", name, line=line) for name, line in one.raises.items())


def _short(text: str) -> bool:
    return len(text) <= 24 and "`" not in text and text.isprintable()


def _dotted(module: _Module) -> str:
    return module.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def _is_module(name: str) -> bool:
    path = stdlib_root() / name.replace(".", "/")
    return name in sys.stdlib_module_names or path.with_suffix(".py").is_file() or path.is_dir()


def _ancestors(module: _Module, one: _Definition) -> set[str]:
    """The bases of a class and, as far as they stand in its module, the bases of those."""
    known = {other.bare: other.bases for other in module.definitions}
    found, waiting = set(), list(one.bases)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += known.get(name, ())
    return found - {"object"}


def _altered(fact: _Fact, rng: Random) -> str | None:
    """A detail with which the fact is false for all definitions of that full name; None if none is found."""
    module = fact.module
    same_name = [one for one in module.definitions if one.name == fact.subject]
    near = sorted(module.definitions, key=lambda one: abs(one.line - fact.line))[:8]
    pools = (_pool(fact, near), _pool(fact, module.definitions), _COMMON[fact.category])
    choices = [sorted(pool) for pool in map(set, pools) if pool]
    for _ in range(12):
        detail = rng.choice(rng.choice(choices)) if choices else fact.detail
        if detail != fact.detail and _is_false(fact, detail, same_name):
            return detail
    return None


def _pool(fact: _Fact, definitions: Iterable[_Definition]) -> Iterable[str]:
    """Details of that category that some definitions have; lines near by; modules that the text mentions."""
    if fact.category == "imports":
        return _MENTIONED.findall("\n".join(fact.module.lines))
    details = [detail for one in definitions for detail in _details(one, fact.category)]
    lines = (fact.line + by for by in (-9, -3, -2, -1, 1, 2, 3, 4, 12) if fact.category == "location")
    return [*details, *(str(line) for line in lines if 0 < line <= len(fact.module.lines))]


def _details(one: _Definition, category: str) -> Iterable[str]:
    match category:
        case "parameter":
            return set(one.parameter) - {"self", "cls"}
        case "default":
            return filter(_short, one.defaults.values())
        case "raises":
            return (name for name in one.raises if name.rpartition(".")[2][:1].isupper())
        case "calls":
            return one.calls
        case "base-class":
            return (*one.bases, *((one.bare,) if one.node is ast.ClassDef else ()))
    return (str(one.line),)


def _is_false(fact: _Fact, detail: str, same_name: list[_Definition]) -> bool:
    """Whether the tree shows that no definition of the fact's name has this detail."""
    match fact.category:
        case "parameter":
            return all(detail not in one.parameter for one in same_name)
        case "default":
            return all(_differs(one.defaults.get(fact.of), detail) for one in same_name)
        case "raises":
            return not any(_is_a(name, detail) for one in same_name for name in one.raises)
        case "calls":
            return not any(_last(name) == _last(detail) for one in same_name for name in one.calls)
        case "imports":
            return not any(_related(name, detail) for name in fact.module.imports)
        case "base-class":
            return all(_no_base(fact.module, one, detail) for one in same_name)
    bare = _last(fact.subject)  # a bare name at the line of a namesake would be true
    return all(int(detail) != one.line for one in fact.module.definitions if one.bare == bare)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _differs(value: str | None, text: str) -> bool:
    """Whether two defaults are different values, not only different texts."""
    try:
        return value is None or bool(ast.literal_eval(value) != ast.literal_eval(text))
    except (ValueError, SyntaxError):
        return value != text


def _is_a(name: str, other: str) -> bool:
    """Whether a name means another class, or one that is built in and derives from it."""
    one, base = (getattr(builtins, _last(text), None) for text in (name, other))
    if isinstance(one, type) and isinstance(base, type):
        return issubclass(one, base)
    return not name or not name[0].isupper() or _last(name) == _last(other)


def _related(name: str, other: str) -> bool:
    return name == other or name.startswith(f"{other}.") or other.startswith(f"{name}.") or _last(name) == other


def _no_base(module: _Module, one: _Definition, detail: str) -> bool:
    """Whether `detail` is surely no base: a class of the module, or a built-in one where all bases are known."""
    found = _ancestors(module, one)
    own = {other.bare for other in module.definitions if other.node is ast.ClassDef}
    if _last(detail) in {one.bare, *map(_last, found)}:
        return False
    outside = [name for name in found if name not in own]
    known = all(isinstance(getattr(builtins, name, None), type) for name in outside)
    builtin = detail not in own and isinstance(getattr(builtins, detail, None), type)
    return detail in own or (builtin and known and not any(_is_a(name, detail) for name in outside))


def _draw(n: int, rng: Random, paths: list[str]) -> list[tuple[_Fact, str]]:
    """Facts, each with a false detail beside it: categories in turn, from as few modules as give a choice."""
    waiting = rng.sample(paths, len(paths))
    stock: dict[str, list[_Fact]] = {category: [] for category in CATEGORIES}
    enough, first = 4 * ceil(n / len(CATEGORIES)) + 20, 8 + n // 12
    while True:
        while waiting and (first > 0 or min(map(len, stock.values())) < enough):
            first -= 1
            module = _read(waiting.pop())
            for fact in _facts(module) if module else ():
                stock[fact.category].append(fact)
        drawn = _deal(n, stock, rng)
        if len(drawn) == n:
            return drawn
        if not waiting:
            fix = "ask for fewer, or draw from more modules"
            raise InputError(Problem("n", f"{n} claims are asked for, and {len(drawn)} exist", fix))
        enough *= 2


def _deal(n: int, stock: dict[str, list[_Fact]], rng: Random) -> list[tuple[_Fact, str]]:
    piles = [rng.sample(pile, len(pile)) for pile in stock.values()]
    drawn: list[tuple[_Fact, str]] = []
    while any(piles) and len(drawn) < n:
        for pile in piles:
            while pile and len(drawn) < n:
                fact = pile.pop()
                detail = _altered(fact, rng)
                if detail is not None:
                    drawn.append((fact, detail))
                    break
    return drawn


# Words and evidence -------------------------------------------------------------------------------------


def _finding(fact: _Fact, altered: str, truth: bool, rng: Random) -> tuple[tuple[str, str], str, bool]:
    """Summary and evidence, category and truth; a denial is true of the altered detail."""
    denied = rng.random() < _DENIED
    detail = fact.detail if truth != denied else altered
    wording = rng.choice(_WORDINGS[fact.category]).format(subject=_subject(fact, rng), detail=detail, of=fact.of)
    summary = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", lambda match: match[2 if denied else 1], wording)
    by = int(detail) - fact.line if fact.category == "location" else 0
    return (summary, _evidence(fact, by, rng)), fact.category, truth


def _subject(fact: _Fact, rng: Random) -> str:
    """The name of what the fact is about: in full, bare, or through a subclass that inherits it."""
    kind = rng.random()
    owner, _, bare = fact.subject.rpartition(".")
    if fact.category == "imports" or not owner:
        return fact.subject
    heirs = [one.bare for one in fact.module.definitions if owner in one.bases]
    if kind < _INHERITED and heirs:
        heir = rng.choice(heirs)
        own = any(one.name == f"{heir}.{bare}" for one in fact.module.definitions)
        return fact.subject if own else f"{heir}.{bare}"
    return bare if kind > 1 - _BARE else fact.subject


def _evidence(fact: _Fact, by: int, rng: Random) -> str:
    """A cited line, `by` lines from where the fact stands, and quoted lines, in a form as in real life."""
    form = rng.choices(list(_FORMS), list(_FORMS.values()))[0]
    first, last = fact.decisive if form == "decisive" else (fact.line, fact.line + rng.randint(0, 1))
    shift = {"off": rng.choice((-4, -3, -2, -1, 1, 2, 3)), "inside": rng.randint(0, fact.last - fact.line)}
    quote = [line for line in fact.module.lines[first - 1 : min(last, first + 7)] if line.strip()]
    cited = min(max(first + by + shift.get(form, 0), 1), len(fact.module.lines))
    return "\n".join([f"{fact.module.path}:{cited}", *(f"> {line}" for line in _copied(quote, form))])


def _copied(quote: list[str], form: str) -> list[str]:
    """The quoted lines as they were copied: whole, shortened at the end, or typed anew without much care."""
    if form == "shortened" and quote:
        return [*quote[:-1], quote[-1][: max(12, len(quote[-1]) * 3 // 5)].rstrip() + " ..."]
    if form == "retyped":
        return [line.replace('"', "'").replace(", ", ",").replace(" = ", "=") for line in quote]
    return quote
