"""The nearest paths and names to one that does not exist."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Mapping

from rapidfuzz import fuzz, process

_LEAST = 60.0
"""Likeness, of 100, below which two names are not near."""


def similar_paths(path: str, known: Collection[str], by_name: Mapping[str, list[str]], n: int) -> list[str]:
    """Up to `n` other known paths near `path`: those of the same file name first, then by likeness; ties in path order.

    >>> similar_paths("lib/app.py", ["src/app.py", "src/apps.py"], {"app.py": ["src/app.py"]}, 2)
    ['src/app.py', 'src/apps.py']
    """
    same = nearest(path, by_name.get(posixpath.basename(path).lower(), []), n + 1, least=0)
    like = nearest(path, known, n + 1 + len(same)) if len(same) <= n else []
    return [one for one in dict.fromkeys([*same, *like]) if one != path][: max(n, 0)]


def nearest(name: str, known: Iterable[str], n: int, least: float = _LEAST) -> list[str]:
    """Up to `n` known names by likeness, letters' case aside; ties in alphabetical order.

    >>> nearest("pars_file", ["write_file", "parse_file", "ParseFile"], 2)
    ['parse_file', 'ParseFile']
    """
    choices = known if isinstance(known, list) else list(known)
    found = process.extract(name[:300], choices, scorer=fuzz.ratio, processor=str.lower, limit=None, score_cutoff=least)
    return [one for one, _, _ in sorted(found, key=lambda hit: (-hit[1], hit[0]))][: max(n, 0)]
