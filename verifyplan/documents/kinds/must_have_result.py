"""A must-have as it was verified, and whether it counts as passed: by its status, or because a user let it pass."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from verifyplan.documents.kinds.outcome import Outcome, outcome
from verifyplan.documents.reading.labelled import is_blank
from verifyplan.documents.reading.wording import wording

_REASONS = (" (", ": ", " - ")
"""What a reason may begin with behind the must-have that an override names."""


class MustHaveResult(NamedTuple):
    """A row of the table of must-haves; `status` is as written, `outcome` what it says."""

    number: str
    text: str
    status: str
    evidence: str
    line: int = 0

    @property
    def unproven(self) -> bool:
        """Whether it is said to hold, or not to, without evidence; a dash is none."""
        return self.outcome in ("passed", "failed") and is_blank(self.evidence)

    @property
    def outcome(self) -> Outcome | None:
        """Whether the must-have holds, by its status; None where the status is no word for that."""
        return outcome(self.status)


def counts_as_passed(result: MustHaveResult, overrides: Iterable[str]) -> bool:
    """Whether a must-have passed, or a user let it: its status says so, or an override names it.

    >>> failed = MustHaveResult("2", "Logs are kept", "FAILED", "no file")
    >>> [counts_as_passed(failed, given) for given in ([], ["logs are kept (agreed)"], ["#2"])]
    [False, True, True]
    """
    return result.outcome in ("passed", "override") or is_named(result, override_names(overrides))


def override_names(overrides: Iterable[str]) -> frozenset[str]:
    """What overrides may name, as must-haves are compared: their whole text, a number, or the text before a reason."""
    names = list(overrides)
    names += [name.partition(end)[0] for name in names for end in _REASONS]
    return frozenset(map(wording, names)) - {""}


def is_named(result: MustHaveResult, names: frozenset[str]) -> bool:
    """Whether names hold the text of a must-have, or its number."""
    return wording(result.text) in names or wording(result.number) in names
