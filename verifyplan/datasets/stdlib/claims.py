"""True and false claims about the Python standard library, with evidence as workers give it (rule B2).

Facts are read off the syntax trees of the running interpreter's own library; nothing of it is imported or
run. A false claim is a true one with one detail altered, and is checked on the tree to be really false.
"""

from __future__ import annotations

import platform
from collections.abc import Iterable, Sequence
from math import ceil
from random import Random

import pandas as pd

from verifyplan.agents.static import CHECKERS
from verifyplan.datasets.stdlib.alterations import altered
from verifyplan.datasets.stdlib.facts import CATEGORIES, Fact, facts
from verifyplan.datasets.stdlib.reading import module_paths, read_module, stdlib_root
from verifyplan.datasets.stdlib.words import finding
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
    """A labelled fixture set of `n` findings about the standard library: one row per finding and discoverer.

    Columns are `finding_id`, `summary`, `evidence`, `worker`, `category`, `truth`; rows that share an id are
    the same finding. A fact is what the text of a definition holds, functions within it included: "raises"
    means a `raise` statement of that very name; a bare name means the definition that the evidence points to.
    Of the claims, `false_share` (rounded to whole claims) are false; wording, evidence form and discoverers
    are drawn alike for both. Evidence is `path:line` and quoted lines, at times off, shortened or miscopied.
    `modules` are paths under `stdlib_root()`, such as "json/decoder.py", to draw from; by default a seeded
    sample. The same arguments under the same Python give the same table. InputError lists what is out of
    range, and tells if fewer claims exist. Source: rule B2.

    >>> frame = stdlib_claims(4, modules=["textwrap.py"])
    >>> frame["finding_id"].nunique(), frame.attrs["synthetic"]
    (4, True)
    """
    expect_lists(workers=workers, modules=modules)
    names = None if modules is None else list(modules)
    _check(n, false_share, workers, names)
    rng = Random(seed)  # noqa: S311  (a fixture, no secret)
    drawn = _draw(n, rng, module_paths() if names is None else names)
    truths = [False] * round(n * false_share)
    truths += [True] * (n - len(truths))
    rng.shuffle(truths)
    found = (finding(*pair, truth, rng) for pair, truth in zip(drawn, truths, strict=True))
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
    if not workers or len(set(workers)) < len(workers):
        problems.append(Problem("workers", f"{workers!r} is no list of different names", "name each worker once"))
    if problems:
        raise InputError(problems)


def _discoverers(workers: Sequence[str], rng: Random) -> list[str]:
    count = rng.choices(list(_DISCOVERERS), list(_DISCOVERERS.values()))[0]
    chosen = rng.sample(list(workers), min(count, len(workers)))
    return [worker for worker in workers if worker in chosen]


def _draw(n: int, rng: Random, paths: list[str]) -> list[tuple[Fact, str]]:
    """Facts, each with a false detail beside it: categories in turn, from as few modules as give a choice."""
    waiting = rng.sample(paths, len(paths))
    stock: dict[str, list[Fact]] = {category: [] for category in CATEGORIES}
    enough, first = 4 * ceil(n / len(CATEGORIES)) + 20, 8 + n // 12
    while True:
        while waiting and (first > 0 or min(map(len, stock.values())) < enough):
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
        enough *= 2


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
