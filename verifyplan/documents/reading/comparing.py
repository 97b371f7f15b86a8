"""Compare what documents say: ids of plans and phases, texts, their words with meaning, the files that they name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

from verifyplan.plans.code_names import is_glob, is_path, without_place
from verifyplan.plans.word_lists import words
from verifyplan.rules.likeness import Sayings

MAX_COMPARISONS = 250_000
"""Pairs of texts beyond which only equal wording matches: similar wording takes a comparison of each with each."""
MAX_COMPARED_CHARACTERS = 600
"""Characters of a text beyond which only equal wording matches: comparing takes time by the square of the length."""
MIN_WORD_CHARACTERS = 4

_PHASE = re.compile(r"(\d+(?:\.\d+)?)(?:-|$)")
_PLAN_OR_SUMMARY = re.compile(r"(?:^|-)(?:plan|summary)(?=-|$)")
_LIST_NUMBER = re.compile(r"^\s*(?:[-*+]\s+)?(?:#?\d{1,4}[.):]\s+)?")
_TOKEN = re.compile(r"\w+|[<>=!+%$]+")
_SIGN = re.compile(r"[<>=!+%$]")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]+|\d+")
_CASE_CHANGE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ingly", "ings", "ions", "ing", "ion", "ies", "ed", "es", "s", "y", "e")
_MIN_STEM, _MAX_CHARACTERS, _MAX_GLOB_CHARACTERS = 4, 400_000, 300
_PATH_TOKEN = re.compile(r"[^\s,;:()'\"`]{2,300}")
_BRACES = re.compile(r"\{([^{}]*)\}")


def plan_key(plan_id: str, phase: str = "") -> str:
    """Return a plan's id as ids are compared: small letters, no leading zeros, with its phase.

    So `01`, `26-01` and `26-01-PLAN.md` in the folder of phase 26 are one plan. An id that is a number alone belongs to
    `phase`, the name of its folder or its `phase` field; without one it stays as it is. An empty id gives an empty key.

    >>> plan_key("01", "26-backend"), plan_key("26-01", "26-backend"), plan_key("12.1-01"), plan_key("auth-02b")
    ('26-1', '26-1', '12.1-1', 'auth-02b')
    """
    parts = plan_id.strip().strip("\"'").lower().split("-")
    number = phase_number(phase)
    if len(parts) == 1 and parts[0].isdecimal() and number:
        parts = [number, *parts]
    return "-".join(map(_without_leading_zeros, parts))


def phase_number(phase: str) -> str:
    """Return the number that a phase's name begins with, without leading zeros; empty without one.

    >>> phase_number("01-foundation"), phase_number("12.1-iac"), phase_number("3"), phase_number("auth")
    ('1', '12.1', '3', '')
    """
    number = _PHASE.match(phase.strip())
    return _without_leading_zeros(number[1]) if number else ""


def _without_leading_zeros(part: str) -> str:
    whole, dot, rest = part.partition(".")
    return f"{whole.lstrip('0') or '0'}{dot}{rest}" if whole.isdecimal() and whole.isascii() else part


def id_in_name(path: str) -> str:
    """Return the plan id in the name of a plan's or a summary's file; empty without one.

    >>> id_in_name("01-01-PLAN.md"), id_in_name("SUMMARY-auth-02.md"), id_in_name("PLAN-03.md"), id_in_name("PLAN.md")
    ('01-01', 'auth-02', '03', '')
    """
    return _PLAN_OR_SUMMARY.sub("", PurePath(path).stem.lower()).strip("-")


def wording(text: str) -> str:
    """Return a text as it is compared: small letters, without numbering, formatting, punctuation and blanks.

    Signs that change the meaning (`<`, `>=`, `!`, `%`) stay.

    >>> wording("1. **Tokens** expire in `<= 15` minutes."), wording("tokens expire in <= 15 minutes")
    ('tokens expire in <= 15 minutes', 'tokens expire in <= 15 minutes')
    """
    plain = _LIST_NUMBER.sub("", unicodedata.normalize("NFKC", text).casefold(), count=1)
    tokens = (token.strip("_") for token in _TOKEN.findall(plain))
    return " ".join(token for token in tokens if token)


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text that carry meaning: of four letters or more, or with a digit.

    >>> sorted(words_of("Which of S3 or GCS stores the uploads?"))
    ['s3', 'stores', 'uploads', 'which']
    """
    tokens = wording(text).split()
    return frozenset(word for word in tokens if len(word) >= MIN_WORD_CHARACTERS or any(map(str.isdigit, word)))


def matched(texts: Sequence[str], others: Sequence[str]) -> list[int | None]:
    """Return for each text in `texts` the place of the first one in `others` that says the same; None without one.

    Equal wording matches first, each text any number of times. What is left on both sides is compared as findings are
    (rule B2): the same names, numbers and negations, and similar words; here the same signs, too.

    >>> matched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    [0, None]
    """
    left, right = [wording(text) for text in texts], [wording(text) for text in others]
    first = {text: at for at, text in reversed(list(enumerate(right)))}
    places = [first.get(text) for text in left]
    known = set(left)
    open_left = [at for at, place in enumerate(places) if place is None and len(texts[at]) <= MAX_COMPARED_CHARACTERS]
    open_right = [
        at for at, text in enumerate(right) if text not in known and len(others[at]) <= MAX_COMPARED_CHARACTERS
    ]
    if open_left and open_right and len(open_left) * len(open_right) <= MAX_COMPARISONS:
        candidates = Sayings({str(at): (others[at], "") for at in open_right})
        for at in open_left:
            similar = map(int, candidates.every(texts[at]))
            places[at] = next((place for place in similar if _signs(right[place]) == _signs(left[at])), None)
    return places


def unmatched(texts: Sequence[str], others: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the places in `texts` that `others` does not say, and those in `others` that `texts` does not say.

    >>> unmatched(["Login works", "Tokens expire"], ["1. `Login` works.", "Dark mode exists"])
    ([1], [1])
    """
    both = (matched(texts, others), matched(others, texts))
    missing, extra = ([at for at, place in enumerate(places) if place is None] for places in both)
    return missing, extra


def _signs(words: str) -> list[str]:
    return [word for word in words.split() if _SIGN.match(word)]


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
    tokens = (without_place(token.rstrip(".")) for token in _PATH_TOKEN.findall(text))
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
    """Whether a glob matches a path, with or without the folders before it; its first braces are written out."""
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
