"""True and false claims about the Python standard library, with evidence as workers give it (rule B2).

Facts are read off the syntax trees of the running interpreter's own library; nothing of it is imported or
run. A false claim is a true one with one detail altered, and is checked on the tree to be really false.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Sequence
from math import ceil
from random import Random

import pandas as pd

from verifyplan.agents.static import CHECKERS
from verifyplan.datasets.stdlib.alterations import altered
from verifyplan.datasets.stdlib.facts import CATEGORIES, Fact, facts, module_paths, read_module, stdlib_root
from verifyplan.errors import InputError, Problem, expect_lists

COLUMNS = ("finding_id", "summary", "evidence", "worker", "category", "truth")

_DISCOVERERS = {1: 76, 2: 20, 3: 2, 10**9: 2}  # how many workers found a claim; the last: all of them


def stdlib_claims(
    n: int = 600,
    *,
    seed: int = 0,
    false_share: float = 0.5,
    workers: Sequence[str] = CHECKERS,
    modules: Iterable[str] | None = None,
) -> pd.DataFrame:
    """Return a labelled fixture set of `n` findings about the standard library: one row per finding and discoverer.

    Columns are `finding_id`, `summary`, `evidence`, `worker`, `category`, `truth`; rows that share an id are
    the same finding. A fact is what the text of a definition holds, functions within it included: "raises"
    means a `raise` statement of that very name; a bare name means the definition that the evidence points to.
    Of the claims, `false_share` (rounded to whole claims) are false; wording, evidence form and discoverers
    are drawn alike for both. Evidence is `path:line` and quoted lines, at times off, shortened or miscopied.
    `modules` are paths under `stdlib_root()`, such as "json/decoder.py", to draw from; by default a seeded
    sample. The same arguments under the same Python give the same table. InputError lists what is out of
    range, and says if fewer claims exist. Source: rule B2.

    >>> frame = stdlib_claims(4, modules=["textwrap.py"])
    >>> frame["finding_id"].nunique(), frame.attrs["synthetic"]
    (4, True)
    """
    expect_lists(workers=workers, modules=modules)
    paths = None if modules is None else list(modules)
    _expect_valid(n, false_share, workers, paths)
    rng = Random(seed)  # noqa: S311  (a fixture, no secret)
    drawn = _draw(n, rng, module_paths() if paths is None else paths)
    truths = [False] * round(n * false_share)
    truths += [True] * (n - len(truths))
    rng.shuffle(truths)
    rows = []
    for number, ((fact, alteration), truth) in enumerate(zip(drawn, truths, strict=True), 1):
        summary, evidence = _summary(fact, alteration, truth, rng)
        count = rng.choices(list(_DISCOVERERS), list(_DISCOVERERS.values()))[0]
        chosen = rng.sample(list(workers), min(count, len(workers)))
        found_by = [worker for worker in workers if worker in chosen]
        rows += [(f"F-{number:04d}", summary, evidence, worker, fact.category, truth) for worker in found_by]
    frame = pd.DataFrame(rows, columns=list(COLUMNS))
    frame.attrs = {"python": platform.python_version(), "seed": seed, "synthetic": True, "false_share": false_share}
    return frame


def _expect_valid(n: int, false_share: float, workers: Sequence[str], paths: list[str] | None) -> None:
    missing = [path for path in paths or () if not (stdlib_root() / path).is_file()]
    fix = "give paths under stdlib_root(), such as 'json/decoder.py'"
    problems = [Problem("modules", f"there is no file {path!r}", fix) for path in missing]
    if n < 1:
        problems.append(Problem("n", f"must be at least 1, got {n!r}", "ask for one claim or more"))
    if not 0 <= false_share <= 1:
        problems.append(
            Problem(
                "false_share", f"must be a number from 0 to 1, got {false_share!r}", "give the share of false claims"
            )
        )
    if not workers or len(set(workers)) < len(workers):
        problems.append(Problem("workers", f"must be different names, got {workers!r}", "name each worker once"))
    if problems:
        raise InputError(problems)


def _draw(n: int, rng: Random, paths: Sequence[str]) -> list[tuple[Fact, str]]:
    """Draw facts, each with a false detail: categories in turn, from as few modules as give a choice."""
    waiting = rng.sample(paths, len(paths))
    stock: dict[str, list[Fact]] = {category: [] for category in CATEGORIES}
    needed, first = 4 * ceil(n / len(CATEGORIES)) + 20, 8 + n // 12
    while True:
        while waiting and (first > 0 or min(map(len, stock.values())) < needed):
            first -= 1
            module = read_module(waiting.pop())
            for fact in facts(module) if module else ():
                stock[fact.category].append(fact)
        drawn = _deal(n, stock, rng)
        if len(drawn) == n:
            return drawn
        if not waiting:
            fix = "ask for fewer, or draw from more modules"
            raise InputError(Problem("n", f"{n} claims are asked for, and {len(drawn)} exist", fix))
        needed *= 2


def _deal(n: int, stock: dict[str, list[Fact]], rng: Random) -> list[tuple[Fact, str]]:
    piles = [rng.sample(pile, len(pile)) for pile in stock.values()]
    drawn: list[tuple[Fact, str]] = []
    while any(piles) and len(drawn) < n:
        for pile in piles:
            while pile and len(drawn) < n:
                fact = pile.pop()
                detail = altered(fact, rng)
                if detail is not None:
                    drawn.append((fact, detail))
                    break
    return drawn


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


def _summary(fact: Fact, alteration: str, truth: bool, rng: Random) -> tuple[str, str]:
    """Return the summary and evidence of a fact, as careful and as careless as people are.

    A denial is true of the altered detail.
    """
    denied = rng.random() < _DENIED
    detail = fact.detail if truth != denied else alteration
    wording = rng.choice(_WORDINGS[fact.category]).format(subject=_subject(fact, rng), detail=detail, of=fact.of)
    summary = re.sub(r"\[([^|\]]*)\|([^\]]*)\]", lambda match: match[2 if denied else 1], wording)
    offset = int(detail) - fact.line if fact.category == "location" else 0
    return summary, _evidence(fact, offset, rng)


def _subject(fact: Fact, rng: Random) -> str:
    """Return the name of the fact's subject: in full, bare, or through a subclass that inherits it."""
    form = rng.random()
    owner, _, bare = fact.subject.rpartition(".")
    if fact.category == "imports" or not owner:
        return fact.subject
    definitions = fact.module.definitions
    heirs = [definition.bare for definition in definitions if owner in definition.bases]
    if form < _INHERITED and heirs:
        heir = rng.choice(heirs)
        own = any(definition.name == f"{heir}.{bare}" for definition in definitions)
        return fact.subject if own else f"{heir}.{bare}"
    return bare if form > 1 - _BARE else fact.subject


def _evidence(fact: Fact, offset: int, rng: Random) -> str:
    """Return a cited line, `offset` lines from the fact's, and quoted lines, in a form as in real life.

    The quotation is whole, shortened at the end, or typed anew without much care.
    """
    form = rng.choices(list(_FORMS), list(_FORMS.values()))[0]
    first, last = fact.decisive if form == "decisive" else (fact.line, fact.line + rng.randint(0, 1))
    shift = {"off": rng.choice((-4, -3, -2, -1, 1, 2, 3)), "inside": rng.randint(0, fact.last - fact.line)}
    quote = [line for line in fact.module.lines[first - 1 : min(last, first + 7)] if line.strip()]
    if form == "shortened" and quote:
        quote[-1] = quote[-1][: max(12, len(quote[-1]) * 3 // 5)].rstrip() + " ..."
    if form == "retyped":
        quote = [line.replace('"', "'").replace(", ", ",").replace(" = ", "=") for line in quote]
    cited = min(max(first + offset + shift.get(form, 0), 1), len(fact.module.lines))
    return "\n".join([f"{fact.module.path}:{cited}", *(f"> {line}" for line in quote)])
