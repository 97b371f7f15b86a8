"""Whether something was said before, in these or other words, so that nothing is said twice in a plan run.

The judge is the matcher `likeness` of cross-verification (rule B2): the same place, names, numbers, like words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping

from verifyplan.protocol.vote import Finding
from verifyplan.rules.citations import places
from verifyplan.rules.grouping import MATCHERS

_MATCHER = MATCHERS["likeness"]


class Sayings:
    """The texts so far, by id; finds the ones that a new text repeats."""

    def __init__(self, said: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._by_key: dict[Hashable, list[Finding]] = {}
        self._by_words: dict[Hashable, list[Finding]] = {}
        for name, (text, evidence) in (said or {}).items():
            self.add(name, text, evidence)

    def add(self, name: str, text: str, evidence: str = "") -> None:
        """Remember what was said under an id, and the places that it cites."""
        for said, evidence_of in ((self._by_key, evidence), (self._by_words, "")):
            finding = _finding(name, text, evidence_of)
            said.setdefault(_MATCHER.key(finding), []).append(finding)

    def again(self, text: str, evidence: str = "") -> str | None:
        """The id of the first that said the same; None if it is new.

        >>> said = Sayings({"C1": ("`store.py` is missing: step 2 changes it.", "plan.md:12")})
        >>> said.again("`store.py` is missing; step 2 changes it", "plan.md:12"), said.again("`a.py` is missing.")
        ('C1', None)
        """
        return next(self.every(text, evidence), None)

    def every(self, text: str, evidence: str = "") -> Iterator[str]:
        """The ids of all that said the same, in the order in which they were said.

        >>> said = Sayings({"C1": ("The store is locked.", ""), "C2": ("The store is locked.", "")})
        >>> list(said.every("The store is locked"))
        ['C1', 'C2']
        """
        return _same(self._by_key, _finding("new", text, evidence))

    def worded(self, text: str) -> Iterator[str]:
        """The ids of all that said the same in like words, whatever places they cite.

        >>> list(Sayings({"C1": ("The store is locked.", "a.py:3")}).worded("The store is locked"))
        ['C1']
        """
        return _same(self._by_words, _finding("new", text, ""))


def brings_new_place(evidence: str, settled: Iterable[str]) -> bool:
    """Whether evidence cites lines that none of the `settled` evidence cites (rule A5, disputes).

    >>> brings_new_place("b.py:7", ["a.py:7"]), brings_new_place("a.py:7", ["a.py:5-9"]), brings_new_place("", [""])
    (True, False, False)
    """
    known = [place for text in settled for place in places(text)]
    return any(
        not any(new.path == old.path and new.first <= old.last and old.first <= new.last for old in known)
        for new in places(evidence)
    )


def _same(said: Mapping[Hashable, list[Finding]], finding: Finding) -> Iterator[str]:
    return (other.finding_id for other in said.get(_MATCHER.key(finding), []) if _MATCHER.same(other, finding))


def _finding(name: str, text: str, evidence: str) -> Finding:
    return Finding(finding_id=name, summary=text if text.strip() else "-", evidence=evidence, worker="-")
