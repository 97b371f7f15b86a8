"""Which files hold a word, found in one pass over all texts and kept small."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

_MASK = 0xFFFF
_WORD = re.compile(r"\w+")
_BREAKS = bytes(byte if re.match(rb"\w", bytes([byte])) else 0x20 for byte in range(256))
_METHOD = r"^[ \t]+(?:async[ \t]+)?([\w$]{2,80})\([^()\n]*\)[^;{}()\n]{0,80}\{"
_SCRIPT = (
    *(rf"{keyword} +([\w$]{{2,80}})" for keyword in ("function", "class", "const", "interface", "type", "enum")),
    _METHOD,
)
_NAMING: dict[str, tuple[str, ...]] = {
    "python": (r"def +(\w{2,80})", r"class +(\w{2,80})"),
    "javascript": _SCRIPT,
    "typescript": _SCRIPT,
    "go": (r"func +(?:\([^()\n]*\) *)?(\w{2,80})", r"type +(\w{2,80})"),
    "rust": tuple(rf"{keyword} +(\w{{2,80}})" for keyword in ("fn", "struct", "enum", "trait", "type", "const", "mod")),
    "java": (
        *(rf"{keyword} +(\w{{2,80}})" for keyword in ("class", "interface", "enum", "record")),
        r"(?:public|private|protected|static) [^()=;\n\"]{0,100}?\b(\w{2,80})\(",
    ),
}
_NAMES = {
    language: tuple(re.compile(pattern, re.MULTILINE) for pattern in shapes) for language, shapes in _NAMING.items()
}


class Words:
    """An index from words to the files that may hold them; `names` are names that some definition may have.

    Words are told apart by two bytes of their hash: a file that is named may lack the word, but none that has it
    is left out.
    """

    def __init__(self, texts: Iterable[tuple[str, str]], languages: Mapping[str, str]) -> None:
        self.names: set[str] = set()
        self._paths: list[str] = []
        self._holding: defaultdict[int, array[int]] = defaultdict(lambda: array("I"))
        for number, (path, text) in enumerate(texts):
            self._paths.append(path)
            for one in set(_hashes(text)):
                self._holding[one].append(number)
            for pattern in _NAMES.get(languages.get(path, ""), ()):
                self.names.update(pattern.findall(text))

    def files(self, text: str) -> Iterator[str]:
        """Paths of files that may hold all words of `text`, in the order of the pass; all files if it has none."""
        holding = sorted((self._holding.get(one, array("I")) for one in set(_hashes(text))), key=len)
        if not holding:
            return iter(self._paths)
        others = [frozenset(files) for files in holding[1:]]
        return (self._paths[number] for number in holding[0] if all(number in files for files in others))


def _hashes(text: str) -> list[int]:
    r"""Hashes of all words of a text; words are what `\w+` finds, which bytes tell faster where all is ASCII."""
    if text.isascii():
        return [hash(word) & _MASK for word in set(text.encode().translate(_BREAKS).split())]
    return [hash(word.encode("utf-8", "surrogatepass")) & _MASK for word in set(_WORD.findall(text))]


def whole_word(word: str) -> re.Pattern[str]:
    """A pattern that finds `word` where no letter, digit or underscore continues it at either end.

    >>> [bool(whole_word("run").search(text)) for text in ("a.run()", "rerun", "run_all")]
    [True, False, False]
    """
    before = r"(?<!\w)" if re.match(r"\w", word) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", word) else ""
    return re.compile(before + re.escape(word) + after)
