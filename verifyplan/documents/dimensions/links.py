"""Key links: what a plan says is to be joined with what, and which tasks touch both."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from verifyplan.documents.dimensions.scene import TaskInPlan
from verifyplan.documents.dimensions.wording import meaningful_words
from verifyplan.documents.kinds.plan import PlanDocument
from verifyplan.plans.paths import is_glob, is_path, without_place
from verifyplan.plans.wordlists import words

_TOKEN = re.compile(r"[^\s,;:()'\"`]{2,300}")
_BRACES = re.compile(r"\{([^{}]*)\}")
_ARROW = re.compile(r"\s+(?:->|=>|-->|→|imports|calls|uses|to)\s+")
_MOST_ENDS = 6
_SHORTEST = 5
_LONGEST_GLOB = 300
HALF, MOSTLY = 0.5, 0.6
"""How much of an end that is no path, and of how a link is made, a task must speak of."""


class KeyLink(NamedTuple):
    """A link: how it is written, its two ends (fewer where they cannot be told), its line, and how they are joined."""

    text: str
    ends: tuple[str, ...]
    line: int
    paths: tuple[tuple[str, ...], ...]  # that each end names
    via: str = ""
    pattern: str = ""  # what is to be found in the first end, without backslashes


def key_links(plan: PlanDocument) -> Iterator[KeyLink]:
    """The key links of a plan: `{from, to, via}` as newer plans have them, or a sentence that names both ends."""
    for line, entry in stated(plan, "key_links"):
        if isinstance(entry, dict):
            ends = tuple(str(entry[key]) for key in ("from", "to") if entry.get(key))
            via, pattern = (str(entry.get(key) or "") for key in ("via", "pattern"))
            yield KeyLink(" to ".join(ends) or via, ends, line, _paths_of_ends(ends), via, pattern.replace("\\", ""))
        elif str(entry or "").strip():
            ends = _ends(str(entry))
            yield KeyLink(str(entry), ends, line, _paths_of_ends(ends))


def stated(plan: PlanDocument, group: str) -> Iterator[tuple[int, Any]]:
    """The must-haves of one list as they stand in the frontmatter, each with its line."""
    front = plan.source.front
    wanted = front.values.get("must_haves")
    found = wanted.get(group) if isinstance(wanted, dict) else None
    for at, entry in enumerate(found if isinstance(found, list) else []):
        yield front.line("must_haves", group, at), entry


def paths_in(text: str) -> list[str]:
    """The paths that a text names, each once, without the place behind them.

    >>> paths_in("src/app.js imports `src/auth.js:12` and uses it")
    ['src/app.js', 'src/auth.js']
    """
    tokens = (without_place(token.rstrip(".")) for token in _TOKEN.findall(text))
    return list(dict.fromkeys(token for token in tokens if is_path(token)))


def touches(job: TaskInPlan, link: KeyLink, at: int) -> bool:
    """Whether a task touches an end of a link: a path by its files or words, anything else by half of its words."""
    end, paths = link.ends[at], link.paths[at]
    if paths:
        named = any(names_file(job.text, path) or _is_module(path, job) for path in paths)
        return named or any(same_file(file, path) for path in paths for file in job.files)
    wanted = meaningful_words(end)
    return end.strip() in job.text or (bool(wanted) and len(wanted & job.meaning) >= HALF * len(wanted))


def _paths_of_ends(ends: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(paths_in(end)[:_MOST_ENDS]) for end in ends)


def joins(job: TaskInPlan, link: KeyLink) -> bool:
    """Whether a task realises a link: it touches both ends, or one and says how they are joined."""
    touched = [touches(job, link, at) for at in range(len(link.ends))]
    if all(touched) or not any(touched):
        return all(touched)
    wanted = meaningful_words(link.via)
    said = len(wanted & job.meaning) >= MOSTLY * len(wanted) if len(wanted) > 1 else False
    return said or (len(link.pattern) >= _SHORTEST and link.pattern in job.text)


def same_file(one: str, other: str) -> bool:
    """Whether two paths may mean one file: they are equal, one is the end of the other, a folder or a glob that has it.

    >>> same_file("src/a.py", "./src/a.py"), same_file("app/src/a.py", "src/a.py"), same_file("src/", "src/a.py")
    (True, True, True)
    >>> same_file("*_test.go", "pkg/a_test.go"), same_file("src/**/*.{ts,js}", "src/a.ts"), same_file("s/a*", "b/a.py")
    (True, True, False)
    """
    a, b = (path.strip("` ").removeprefix("./").split(" ")[0] for path in (one, other))
    if not a.strip("/") or not b.strip("/"):
        return False
    if is_glob(a) or is_glob(b):
        return _matches(a, b) or _matches(b, a)
    inside = (a.endswith("/") and b.startswith(a)) or (b.endswith("/") and a.startswith(b))
    a, b = a.rstrip("/"), b.rstrip("/")
    return a == b or a.endswith(f"/{b}") or b.endswith(f"/{a}") or inside


def _matches(glob: str, path: str) -> bool:
    """Whether a path is one of those that a glob stands for, be it without the folders before it."""
    if not is_glob(glob) or len(glob) > _LONGEST_GLOB:
        return False
    patterns = [pattern.replace("**/", "*") for pattern in _alternatives(glob)]
    return any(fnmatchcase(path, f"{before}{pattern}") for pattern in patterns for before in ("", "*/"))


def _alternatives(glob: str) -> list[str]:
    """A glob without its first braces, once for each name in them."""
    found = _BRACES.search(glob)
    return [f"{glob[: found.start()]}{name}{glob[found.end() :]}" for name in found[1].split(",")] if found else [glob]


def names_file(text: str, path: str) -> bool:
    """Whether a text names a file, in full or without its folders; names that many files have are none alone.

    >>> names_file("Run a_test.go", "pkg/a_test.go"), names_file("Run a_test.go", "pkg/test.go")
    (True, False)
    """
    whole = path.strip("`").rstrip("/").removeprefix("./")
    name = whole.rpartition("/")[2]
    alone = name.partition(".")[0].lower() not in words("plan_check", "anywhere")
    return _stands_in(whole, text) or (alone and _stands_in(name, text))


def _stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text as a word, and not as the end of a longer one."""
    at = text.find(name) if name else -1
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-")) and not (after.isalnum() or after in ("_", "-")):
            return True
        at = text.find(name, at + len(name))
    return False


def _ends(text: str) -> tuple[str, ...]:
    """The two ends of a link that is a sentence: its first two paths, else what stands around an arrow."""
    paths = paths_in(text)
    if len(paths) >= 2:
        return tuple(paths[:2])
    around = [part.strip() for part in _ARROW.split(text, maxsplit=1)]
    return tuple(around) if len(around) == 2 and all(around) else ()


def _is_module(path: str, job: TaskInPlan) -> bool:
    """Whether a task names a file as a module; names that many files have tell none."""
    stem = path.rstrip("/").rpartition("/")[2].partition(".")[0]
    return stem.lower() not in words("plan_check", "anywhere") and stem in job.names
