"""Whether something was said before, in these or other words, so that nothing is said twice in a plan run.

The judge is the matcher of cross-verification (SPEC B2): the same place, the same names and numbers, like words.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from verifyplan.protocol.finding import Finding
from verifyplan.rules.grouping import PlaceAndText

_MATCHER = PlaceAndText()


class Sayings:
    """What was said so far, by id; finds what a new text says again."""

    def __init__(self, said: Mapping[str, tuple[str, str]] | None = None) -> None:
        self._by_key: dict[Hashable, list[Finding]] = {}
        for name, (text, evidence) in (said or {}).items():
            self.add(name, text, evidence)

    def add(self, name: str, text: str, evidence: str = "") -> None:
        """Remember what was said under an id, and the places that it cites."""
        finding = _finding(name, text, evidence)
        self._by_key.setdefault(_MATCHER.key(finding), []).append(finding)

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
        finding = _finding("new", text, evidence)
        for one in self._by_key.get(_MATCHER.key(finding), []):
            if _MATCHER.same(one, finding):
                yield one.finding_id


def _finding(name: str, text: str, evidence: str) -> Finding:
    return Finding(finding_id=name, summary=text if text.strip() else "-", evidence=evidence, worker="-")
