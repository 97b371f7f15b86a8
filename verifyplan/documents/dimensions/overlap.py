"""Whether two texts speak of the same thing: their words with meaning, and the files that they name."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

from verifyplan.plans.code_names import is_glob, is_path, without_place
from verifyplan.plans.word_lists import words

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+|\d+")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ions", "ing", "ion", "ies", "ed", "es", "s", "y", "e")
_MIN_STEM, _MAX_CHARACTERS, _MAX_GLOB_CHARACTERS = 4, 400_000, 300
_TOKEN = re.compile(r"[^\s,;:()'\"`]{2,300}")
_BRACES = re.compile(r"\{([^{}]*)\}")


def meaningful_words(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning, without their endings; those of names are taken apart.

    >>> sorted(meaningful_words("The handler validates webhookSignatures with `hmac_secret`"))
    ['handler', 'hmac', 'secret', 'signatur', 'validat', 'webhook']
    """
    lower = (word.lower() for word in _WORD.findall(_CASE_CHANGE.sub(" ", text[:_MAX_CHARACTERS])) if len(word) > 2)
    return frozenset(_stem(word) for word in lower if word not in words("plan_check", "stop"))


def _stem(word: str) -> str:
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_STEM:
            return word[: -len(ending)]
    return word


def share_of_meaning(text: str, other_words: frozenset[str]) -> float:
    """Return how many of a text's words with meaning are among other words, from 0 to 1; 1 where it has none.

    >>> share_of_meaning("Users can log in", meaningful_words("Add the login form for users"))
    0.5
    """
    own = meaningful_words(text)
    return len(own & other_words) / len(own) if own else 1.0


def is_empty(text: str) -> bool:
    """Return whether a text says nothing: it is blank, or a placeholder.

    >>> is_empty(" TBD "), is_empty("..."), is_empty("Run the tests")
    (True, True, False)
    """
    placeholders = words("plan_check", "empty")
    bare = (word.lower().strip("*`[](){}<>:;!") for word in text.split())
    return all(not word or word in placeholders for word in bare)


def vague_words(text: str) -> list[str]:
    """Return the words of a text that two people would judge differently, in order.

    >>> vague_words("The login works correctly and looks good")
    ['works', 'correctly', 'good']
    """
    lower = (word.lower() for word in _WORD.findall(text[:_MAX_CHARACTERS]))
    return [word for word in lower if word in words("plan_check", "vague")]


def plain_words(text: str) -> frozenset[str]:
    """Return the words with meaning of a text that are not vague.

    >>> sorted(plain_words("The login works correctly"))
    ['login']
    """
    vague = (meaningful_words(word) for word in vague_words(text))
    return meaningful_words(text).difference(*vague)


def paths_in(text: str) -> list[str]:
    """Return the paths that a text names, each once, without the place behind them.

    >>> paths_in("src/app.js imports `src/auth.js:12` and uses it")
    ['src/app.js', 'src/auth.js']
    """
    tokens = (without_place(token.rstrip(".")) for token in _TOKEN.findall(text))
    return list(dict.fromkeys(token for token in tokens if is_path(token)))


def same_file(one: str, other: str) -> bool:
    """Return whether two paths may mean one file: equal, one the end of the other, or a folder or glob that has it.

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
    """Whether a glob matches a path, be it without the folders before it; its first braces are written out."""
    if not is_glob(glob) or len(glob) > _MAX_GLOB_CHARACTERS:
        return False
    braces = _BRACES.search(glob)
    globs = [f"{glob[: braces.start()]}{n}{glob[braces.end() :]}" for n in braces[1].split(",")] if braces else [glob]
    patterns = [each.replace("**/", "*") for each in globs]
    return any(fnmatchcase(path, f"{before}{pattern}") for pattern in patterns for before in ("", "*/"))


def names_file(text: str, path: str) -> bool:
    """Return whether a text names a file, in full or without its folders; names that many files have count in full.

    >>> names_file("Run a_test.go", "pkg/a_test.go"), names_file("Run a_test.go", "pkg/test.go")
    (True, False)
    """
    whole = path.strip("`").rstrip("/").removeprefix("./")
    name = whole.rpartition("/")[2]
    distinct = name.partition(".")[0].lower() not in words("plan_check", "common_file_names")
    return _has_word(text, whole) or (distinct and _has_word(text, name))


def _has_word(text: str, name: str) -> bool:
    """Whether a text has a name as a word, and not as the end of a longer one."""
    at = text.find(name) if name else -1
    while at >= 0:
        around = (text[at - 1 : at], text[at + len(name) : at + len(name) + 1])
        if not any(letter.isalnum() or letter in ("_", "-") for letter in around):
            return True
        at = text.find(name, at + len(name))
    return False
