"""Names of code in prose: how a text marks them, and which of them are paths or symbols; in linear time."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from verifyplan.plans.word_lists import words

SpanMark = Literal["code", "link", "bold", "bare"]

HIDDEN = "\0"
"""Replaces each character of a marked name where only the words around it are read."""

_MAX_NAME_CHARACTERS, _MAX_PATH_CHARACTERS, _MAX_SYMBOL_CHARACTERS = 2_000, 300, 500
_BACKTICKS = re.compile(r"`+")
_LINK = re.compile(r"\]\([ \t]*<?([^\s()<>]{1,300})|^\[[^\]\n]{1,200}\]:[ \t]*<?([^\s<>]{1,300})", re.MULTILINE)
_WORD_OR_PATH = re.compile(r"[^\s()\[\],;\"'<>|\0]+")

_PLACE = re.compile(r"(?::\d{1,9}(?:[-:]\d{1,9})?|#L\d{1,9}(?:-L?\d{1,9})?)$")
_PATH = re.compile(r"(?:\.{1,2}/)*/?[\w.@+()\[\]-]+(?:/[\w.@+()\[\]-]+)*/?", re.ASCII)
_EXTENSION = re.compile(r"[^/]\.([A-Za-z][A-Za-z0-9]{0,11})$")
_GLOB = re.compile(r"[*?]|\{[^{}]*,[^{}]*\}")
_VARIABLE = re.compile(r"[$<>{}~%]")
_RC_FILE = re.compile(r"\.[a-z]+(?:rc|ignore)")

_NAME = r"[A-Za-z_$][\w$]*"
_DOTTED = rf"{_NAME}(?:(?:\.|::|\#){_NAME})*"
_CALL = re.compile(rf"\.?({_DOTTED})\(.*\)(?:\s*(?:->|:).*)?", re.DOTALL | re.ASCII)
_DECLARED = re.compile(
    rf"(?:(?:async|export|default|pub|public|private|static|abstract)\s+){{0,4}}"
    rf"(?:def|class|func|function|fn|interface|struct|enum|trait)\s+({_NAME})\b.*",
    re.DOTALL | re.ASCII,
)
_QUALIFIED = re.compile(rf"{_NAME}(?:(?:\.|::|\#){_NAME})+", re.ASCII)
_SNAKE = re.compile(r"_*[a-z][a-z0-9]*(?:_[a-z0-9]+)+_*", re.ASCII)
_PASCAL = re.compile(r"_?[A-Z][A-Z0-9]*[a-z][A-Za-z0-9]*", re.ASCII)
_HUMP = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_CAMEL = re.compile(r"[a-z]+[a-z0-9]*(?:[A-Z][A-Za-z0-9]*)+", re.ASCII)


class MarkedName(NamedTuple):
    """A marked name: its text, and its place together with its marks."""

    mark: SpanMark
    text: str
    start: int
    end: int


def spans(content: str) -> tuple[list[MarkedName], str]:
    """Return the marked names of a text in their order, and the text with all of them hidden.

    Inline code is what CommonMark takes for it; longer than 2,000 characters it is hidden and not listed.

    >>> spans("Edit `a.py`, **b.py** and src/c.py.")[0]  # doctest: +NORMALIZE_WHITESPACE
    [MarkedName(mark='code', text='a.py', start=5, end=11), MarkedName(mark='bold', text='b.py', start=13, end=21),
     MarkedName(mark='bare', text='src/c.py', start=26, end=35)]
    """
    code = list(_code(content))
    plain = _hidden(content, code)
    links = [
        MarkedName("link", (matched[1] or matched[2]).partition("#")[0], matched.start(), matched.end())
        for matched in _LINK.finditer(plain)
    ]
    plain = _hidden(plain, links)
    paths = list(_words(plain))
    plain, marked = _hidden(plain, paths), [*code, *links, *paths]
    short = (span for span in marked if len(span.text) <= _MAX_NAME_CHARACTERS)
    return sorted(short, key=lambda span: span.start), plain


def _hidden(content: str, marked: Sequence[MarkedName]) -> str:
    pieces, at = [], 0
    for span in marked:
        pieces += [content[at : span.start], HIDDEN * (span.end - span.start)]
        at = span.end
    return "".join([*pieces, content[at:]])


def _code(content: str) -> Iterator[MarkedName]:
    runs = [(run.start(), run.end()) for run in _BACKTICKS.finditer(content)]
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for at, (start, end) in enumerate(runs):
        by_length[end - start].append(at)
    at = 0
    while at < len(runs):
        start, end = runs[at]
        same = by_length[end - start]
        after = bisect_right(same, at)
        if after == len(same):
            at += 1
            continue
        closing = same[after]
        yield MarkedName("code", " ".join(content[end : runs[closing][0]].split()), start, runs[closing][1])
        at = closing + 1


def _words(plain: str) -> Iterator[MarkedName]:
    """Yield words that may be paths: with a slash, or bold, with a dot in them; `**/*.py` is a glob, not bold."""
    for matched in _WORD_OR_PATH.finditer(plain):
        word = matched.group()
        glob = word.startswith("**/") and not word.rstrip(".:!?").endswith("**")
        if "." not in word or len(word) > _MAX_PATH_CHARACTERS or glob:
            continue
        bold = word.startswith("**")
        name = word.lstrip("*_:!?").rstrip("*_.:!?")
        if name and (bold or "/" in name or word.startswith("@")):
            yield MarkedName("bold" if bold and "/" not in name else "bare", name, matched.start(), matched.end())


def without_place(name: str) -> str:
    """Return a path without the place behind it.

    >>> [without_place(name) for name in ("a.py:12", "a.py:12-20", "src/a.ts#L3-L9", "a.py")]
    ['a.py', 'a.py', 'src/a.ts', 'a.py']
    """
    return _PLACE.sub("", name)


def is_glob(name: str) -> bool:
    """Return whether a name is a pattern of many paths.

    >>> is_glob("src/**/*.py"), is_glob("src/{a,b}.py"), is_glob("a.py"), is_glob("*args")
    (True, True, False, False)
    """
    return " " not in name and _GLOB.search(name) is not None and ("/" in name or known_extension(name))


def is_variable(name: str) -> bool:
    """Return whether a path holds a part that only its reader can fill in, as `$HOME/a.py` and `<name>.py` do."""
    return " " not in name and _VARIABLE.search(name) is not None and ("/" in name or known_extension(name))


def known_extension(name: str) -> bool:
    """Return whether a name ends as files do.

    >>> known_extension("a/b.py"), known_extension("1.2.3"), known_extension("os.path")
    (True, False, False)
    """
    matched = _EXTENSION.search(name)
    return matched is not None and matched[1].lower() in words("paths", "extensions")


def is_path(name: str, folders: Iterable[str] = ()) -> bool:
    """Return whether a name, without the place behind it, is the path of a file or a folder.

    It is with a known extension or file name, with a slash at its end or a dot before it, or with a first folder
    that is usual or among `folders`. URLs, MIME types, branches, domains, packages with a scope, versions and
    HTTP routes are not. Ties go to "no": a path that is missed costs less than a false one.

    >>> [is_path(n) for n in ("src/a.py", "Makefile", "docs/", "lib/core", "./x", "/abs/a.py")]
    [True, True, True, True, True, True]
    >>> [is_path(n) for n in ("application/json", "origin/main", "/api/users", "v1.2.3", "e.g.", "and/or", "Node.js")]
    [False, False, False, False, False, False, False]
    """
    if not name or len(name) > _MAX_PATH_CHARACTERS or _PATH.fullmatch(name) is None or name.strip("./") == "":
        return False
    first, _, rest = name.removeprefix("./").partition("/")
    host, _, top = first.rpartition(".")
    is_host = host and host[0].isalnum() and top.lower() in words("paths", "top_level_domains")  # as `github.com/a/b`
    parts = name.split(".")  # `data.aws_policy.logs.json` is a value of Terraform's language
    is_expression = len(parts) > 2 and "/" not in name and parts[0] in words("symbols", "not_qualifiers")
    if name.lower() in words("paths", "not_files") or (rest and is_host) or is_expression:
        return False
    last = name.rstrip("/").rpartition("/")[2]
    dotfile = last in words("paths", "dotfiles") or last.startswith(".env.") or _RC_FILE.fullmatch(last) is not None
    if known_extension(last) or last in words("paths", "names") or dotfile:
        return not (first.startswith("@") or "@" in last)
    if "/" not in name or name.startswith("/") or "@" in name:
        return False
    own_folder = first in frozenset(folders)
    if first.lower() in words("paths", "mime") and not name.endswith("/"):
        return False
    if (first.lower() in words("paths", "branches") and not own_folder) or not re.search(r"[A-Za-z]", last):
        return False
    formed = name.endswith("/") or name.startswith(".") or "/." in name
    return formed or own_folder or first in words("paths", "folders")


def symbol_name(code: str) -> str:
    """Return the name of the function, class or method that a piece of inline code is; empty if it is none.

    Arguments and keywords of a declaration are dropped. Constants in capitals, plain words, names of products
    and the best-known functions of standard libraries are not symbols.

    >>> [symbol_name(code) for code in ("parse()", "Plan.read(path)", "class Foo(Bar):", "snake_case", "CamelCase")]
    ['parse', 'Plan.read', 'Foo', 'snake_case', 'CamelCase']
    >>> [symbol_name(code) for code in ("PATH", "MAX_SIZE", "true", "GitHub", "name", "print()", "COUNT(*)")]
    ['', '', '', '', '', '', '']
    """
    if len(code) > _MAX_SYMBOL_CHARACTERS:
        return ""
    matched = _CALL.fullmatch(code) or _DECLARED.fullmatch(code)
    name = matched[1] if matched else code if _looks_like_symbol(code) else ""
    if not name or name in words("symbols", "not_symbols") or name in words("symbols", "builtins"):
        return ""
    return "" if _is_constant(name) or "$" in name else name


def is_certain(code: str) -> bool:
    """Return whether a symbol is written as code: called, declared or qualified by a class, not a bare name."""
    return bool(_CALL.fullmatch(code) or _DECLARED.fullmatch(code))


def _looks_like_symbol(code: str) -> bool:
    if not _QUALIFIED.fullmatch(code):
        hump = _PASCAL.fullmatch(code) and _HUMP.search(code)
        return bool(_SNAKE.fullmatch(code) or _CAMEL.fullmatch(code) or hump)
    parts = re.split(r"\.|::|#", code)
    if parts[-1].lower() in words("paths", "top_level_domains") and "::" not in code:
        return False  # a host
    return parts[0] not in words("symbols", "not_qualifiers") and not any(map(_is_constant, parts))


def _is_constant(name: str) -> bool:
    letters = name.rpartition(".")[2].replace("_", "")
    return letters.isupper() and len(letters) > 1
