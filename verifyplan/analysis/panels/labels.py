"""Which of a panel's two labels is the positive one (rule F3)."""

from __future__ import annotations

from verifyplan.errors import Problem, SettingsError, one_of
from verifyplan.frames.panel_votes import CLAIM_LABELS, PanelVotes
from verifyplan.text import counted, did_you_mean


def positive_code(votes: PanelVotes, positive: str | None) -> int | None:
    """Return the position of the positive label; None where none is named, or where labels are not two.

    Votes on claims have the labels `false` and `true`, of which `true` is positive if none is named. Raises
    SettingsError for a name that is no label, and for any name where labels are not two.
    """
    if positive is None:
        return CLAIM_LABELS.index("true") if votes.labels == CLAIM_LABELS else None
    if positive not in votes.labels:
        message = f"{positive!r} is no label of these votes{did_you_mean(positive, votes.labels)}"
        raise SettingsError(Problem("positive", message, f"use one of {one_of(votes.labels[:10])}"))
    if len(votes.labels) != 2:
        message = f"names one of two labels, and these votes have {counted(len(votes.labels), 'label')}"
        raise SettingsError(Problem("positive", message, "leave it out"))
    return votes.labels.index(positive)
