"""Match challenges with labels: by the words that they mention, and by where they look (rule G2)."""

from __future__ import annotations

import re
from pathlib import PurePath, PurePosixPath
from typing import Any

import pandas as pd

from verifyplan.rules.citations import Place, places

NEAR_LINES = 3
"""A challenge that cites a line so near to a label's, or nearer, looks at it."""

PLAN = "plan"
"""The name by which a label may cite the plan itself."""

MIN_PART_CHARACTERS = 3
"""A needle that is shorter, such as the id of a rule, must be a whole word; as a part, it would be in most texts."""

OWN_WORDS = ("claim", "concern", "failure_scenario", "alternative")
"""The columns of a challenge's own words."""

ALL_WORDS = (*OWN_WORDS, "evidence")
"""Those, and what it quotes: every word of a line that it cites is among them."""

_FILE = r"(?<![\w./\\-])([\w./\\-]*[\w-]\.[A-Za-z]\w*)"
_LINES = r"(?:[Ll]ines? |L)(\d{1,9})(?:(?:-| to )(\d{1,9}))?"
_IN_WORDS = re.compile(rf"{_FILE}`?,? \(?{_LINES}|\b{_LINES} (?:of|in) `?{_FILE}")
_LABELLED_PLACE = re.compile(r"(.+):(\d+)(?:-(\d+))?")


def matching_pairs(
    labelled: pd.DataFrame, challenges: pd.DataFrame, texts: tuple[str, ...] = ALL_WORDS
) -> pd.DataFrame:
    """Return the pairs of a label and a challenge of one run in which the challenge says what the label is about.

    It mentions one of the `needles` in one of the columns `texts` (one of fewer than three characters as a whole word),
    and cites a line within 3 of one of the `places`, in the plan or the repository. `labelled` has `run_id,
    needles, places`; the challenges are those of a RunSet with their `plan_path`. Columns are those of the label, then
    those of the challenge, with `_given` behind names that both have.
    """
    text = challenges[texts[0]].str.cat(challenges[list(texts[1:])], sep=" ", na_rep="").str.lower()
    columns = ["run_id", "plan_path", "challenge_id", "severity", "status", "text", "evidence"]
    pairs = labelled.merge(challenges.assign(text=text)[columns], on="run_id", suffixes=("", "_given"))
    return _citing(_mentioning(pairs))


def _mentioning(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a label and a challenge whose text mentions one of the label's needles."""
    needles = pairs[["text", "needles"]].explode("needles").dropna(subset="needles")
    hits = needles.groupby("needles", group_keys=False)["text"].apply(
        lambda texts: texts.str.contains(_pattern(str(texts.name).lower()), regex=True)
    )
    return pairs[pairs.index.isin(hits.index[hits.to_numpy(dtype=bool)])]


def _pattern(needle: str) -> str:
    """Return the pattern of a needle: itself, or itself as a whole word if it is short.

    >>> [bool(re.search(_pattern("d1"), text)) for text in ("rule d1.", "rule d12")]
    [True, False]
    """
    escaped = re.escape(needle)
    return escaped if len(needle) >= MIN_PART_CHARACTERS else rf"(?<!\w){escaped}(?!\w)"


def _citing(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs of a label and a challenge that cites a line within 3 of a place that the label names."""
    cited = _place_rows(pairs["evidence"].fillna("").map(cited_places))
    labelled = _place_rows(pairs["places"].map(lambda texts: [_labelled_place(text) for text in texts]))
    both = cited.add_suffix("_cited").join(labelled, how="inner").join(pairs["plan_path"])
    both = both[(both["first_cited"] - NEAR_LINES <= both["last"]) & (both["first"] <= both["last_cited"] + NEAR_LINES)]
    files = both[["path_cited", "path", "plan_path"]].itertuples(name=None)
    return pairs[pairs.index.isin([row for row, *paths in files if _same_file(*paths)])]


def cited_places(text: str) -> list[Place]:
    """Return the places that evidence cites, also those in words: `store.py line 12`, `lines 12-14 of store.py`.

    Only what scores agents reads words; the rules and the workers read `store.py:12` alone, as recorded runs did.

    >>> [place.path for place in cited_places("a.py:3, then b/s.py, lines 12 to 14; line 7 of `c.md`; not line 9")]
    ['a.py', 'b/s.py', 'c.md']
    """
    found = places(text)
    for match in _IN_WORDS.finditer(text):
        path, first, last = match.group(1, 2, 3) if match[1] else match.group(6, 4, 5)
        low, high = sorted((int(first), int(last or first)))
        found.append(Place(path, low, high))
    return found


def _place_rows(column: pd.Series[Any]) -> pd.DataFrame:
    """Return one row a place of a column of lists of places, under the index of the column."""
    each = column.explode().dropna()
    return pd.DataFrame(each.tolist(), columns=["path", "first", "last"], index=each.index)


def _labelled_place(text: str) -> Place:
    match = _LABELLED_PLACE.fullmatch(text)
    if match is None:  # labels are checked where they are read
        raise ValueError(f"{text!r} is not a place")
    first, last = sorted((int(match[2]), int(match[3] or match[2])))
    return Place(match[1], first, last)


def _same_file(cited: str, labelled: str, plan_path: str) -> bool:
    """Return whether a cited path and that of a label name one file, whatever folder they are written from.

    The plan is `plan`, its file's name or its path. An absolute path is that of a relative one if it ends with it.

    >>> _same_file("/repo/src/db.py", "src/db.py", "plans/move.md"), _same_file("move.md", "plan", "plans/move.md")
    (True, True)
    """
    plan = PurePath(plan_path).as_posix()
    if labelled == PLAN or _ends_alike(labelled, plan):
        return _ends_alike(cited, plan)
    if cited.startswith("/") == labelled.startswith("/"):
        return _parts(cited) == _parts(labelled)
    absolute, relative = sorted((cited, labelled), key=lambda path: not path.startswith("/"))
    return _ends_with(_parts(absolute), _parts(relative))


def _ends_alike(path: str, other: str) -> bool:
    """Return whether two paths name one file as far as both are written out."""
    return _ends_with(*sorted((_parts(path), _parts(other)), key=len, reverse=True))


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part for part in PurePosixPath(path.replace("\\", "/")).parts if part not in ("/", "."))


def _ends_with(path: tuple[str, ...], end: tuple[str, ...]) -> bool:
    return bool(end) and path[-len(end) :] == end
