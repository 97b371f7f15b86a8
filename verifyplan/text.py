"""Words for people: counted things, texts of others without signs that act, the nearest name to a mistyped one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

_JOINERS = "\u200c\u200d"  # scripts and emoji need them, and they turn nothing round


def visible(text: object) -> str:
    r"""Return a text in which every invisible character, or one that turns the writing direction, is its code.

    Spaces stay, all other white space becomes its code, too; `one_line` and `lines` remove it before.

    >>> print(visible("a\u202eb\x1b[31m"))
    a\u202eb\x1b[31m
    """
    whole = str(text)
    if whole.isprintable():
        return whole
    return "".join(each if each.isprintable() or each in _JOINERS else _code(each) for each in whole)


@cache
def _code(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def counted(n: int, noun: str) -> str:
    """A number with its noun, which takes an s unless there is one.

    >>> counted(1, "run"), counted(2, "missing basis"), counted(0, "finding")
    ('1 run', '2 missing bases', '0 findings')
    """
    plural = f"{noun[:-2]}es" if noun.endswith("sis") else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def is_or_are(n: int) -> str:
    """Return the verb for a number of things.

    >>> is_or_are(1), is_or_are(2)
    ('is', 'are')
    """
    return "is" if n == 1 else "are"


def span(seconds: float) -> str:
    """Return a length of time in its largest usual unit.

    >>> [span(seconds) for seconds in (0.25, 90, 3600, 90_000, 1e9)]
    ['0.25 s', '90 s', '60 min', '25 h', '11,574 days']
    """
    for unit, length, limit in (("s", 1, 120), ("min", 60, 120), ("h", 3600, 48)):
        if seconds < limit * length:
            return f"{seconds / length:,.2f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{seconds / 86_400:,.0f} days"


def filled_words(filled: int, counter: int, disagreements: int) -> str:
    """Say how many disagreements had no basis, and as what they were read.

    >>> filled_words(17, 5, 21)
    '17 of 21 disagreements had no basis; 5 read as counter-evidence, 12 as burden-not-met'
    """
    return (
        f"{filled:,} of {counted(disagreements, 'disagreement')} had no basis; "
        f"{counter:,} read as counter-evidence, {filled - counter:,} as burden-not-met"
    )


def joined(words: Iterable[str]) -> str:
    """Return words with commas, the last with "and".

    >>> joined(["a", "b", "c"]), joined(["a"])
    ('a, b and c', 'a')
    """
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


MAX_SHOWN_CHARACTERS = 60
"""How much of a name is shown in a list."""


def listed(names: Iterable[object], shown: int = 5) -> str:
    """The first names with commas, each cut to 60 characters, and how many more there are.

    >>> listed(["c1", "c2", "c3"], 2), listed([])
    ('c1, c2 and 1 more', '')
    """
    every = [visible(f"{name!s:.{MAX_SHOWN_CHARACTERS}}") for name in names]
    more = f" and {len(every) - shown} more" if len(every) > shown else ""
    return ", ".join(every[:shown]) + more


def short_repr(value: object) -> str:
    """Return the repr of a received value, truncated to 60 characters, for a message.

    >>> short_repr("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    """
    text = repr(value)
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[: MAX_SHOWN_CHARACTERS - 3]}..."


def did_you_mean(value: object, known: Iterable[object]) -> str:
    """A question to put behind a message, if a known name is near, in this case or another; else nothing.

    >>> did_you_mean("eror-analysis", ["error-analysis", "implementation"]), did_you_mean("judge", [" JUDGE", "vote"])
    (" (did you mean 'error-analysis'?)", " (did you mean ' JUDGE'?)")
    """
    texts = list(map(str, known))
    near = get_close_matches(str(value), texts, n=1, cutoff=0.7)
    if not near:
        in_any_case = {text.strip().casefold(): text for text in reversed(texts)}
        found = get_close_matches(str(value).strip().casefold(), in_any_case, n=1, cutoff=0.7)
        near = [in_any_case[text] for text in found]
    return f" (did you mean {near[0]!r}?)" if near else ""


def truncate(text: str, limit: int, mark: str = "...", *, mark_included: bool = False) -> str:
    """Return the text, or of a longer one the first `limit` characters and a mark.

    With `mark_included`, text and mark together have `limit` characters.

    >>> truncate("abcdefgh", 8), truncate("abcdefgh", 5), truncate("abcdefgh", 5, mark_included=True)
    ('abcdefgh', 'abcde...', 'ab...')
    """
    if len(text) <= limit:
        return text
    return text[: limit - len(mark) if mark_included else limit] + mark
