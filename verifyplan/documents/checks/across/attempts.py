"""Verifications of one phase, attempt by attempt: counted up, and nothing that passed is forgotten (rule D3)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from verifyplan.documents.checks.catalogue import Violation
from verifyplan.documents.checks.changes import check_change
from verifyplan.documents.tree import Tree


def check_attempts(tree: Tree) -> Iterator[Violation]:
    """Each verification of a phase against the attempt before it; those without an attempt are left out.

    A phase has several where an attempt did not overwrite the one before (VERIFICATION.md, VERIFICATION-2.md).
    Source: document 003, Verifier -> Planner: re-verification raises `attempt` and checks for regressions; rule D3.
    """
    for phase in tree.phases:
        for series in phase.series:
            for before, after in pairwise(one for one in series if one.attempt is not None):
                yield from check_change(before, after)
