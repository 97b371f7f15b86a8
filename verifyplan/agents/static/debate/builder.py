"""The builder: a unified diff of real files that meets what it can, and says what it leaves (SPEC C2, C4)."""

from __future__ import annotations

from verifyplan.agents.static.debate.diffs import diff_of
from verifyplan.agents.static.debate.matter import Files, Matter
from verifyplan.agents.static.debate.patch import PatchError, apply
from verifyplan.protocol.debate_call import BuilderAnswer, DebateRequest

_MOST = 40


def answer(request: DebateRequest, matter: Matter) -> BuilderAnswer:
    """The whole diff as it then stands: what was there, if it applies, with what the last critique asks for.

    What cannot be done without a person's decision, or without writing code, is left; the diff then stays the same,
    and the debate ends by stagnation.
    """
    critique = next((one.content for one in reversed(request.messages) if one.type == "critique"), "")
    draft = matter.draft(_before(request.diff, matter), critique)
    changes = {path: (matter.read(path), text) for path, text in draft.files.items()}
    diff = diff_of(changes)
    changed = [path for path, (old, new) in changes.items() if old != new]
    said = f"Produced a diff for {', '.join(changed)}." if diff else "Produced no change."
    return BuilderAnswer(
        content="\n".join([said, *(f"- {one}" for one in draft.done[:_MOST])]),
        reasons=draft.done[:_MOST] or ("Nothing more can be done without a decision of a person.",),
        evidence=tuple(changed) or matter.places(),
        risks=tuple(f"Left: {one}" for one in draft.left[:_MOST]),
        diff=diff,
    )


def _before(diff: str, matter: Matter) -> Files:
    """The files as the diff so far leaves them; as they are where it does not apply."""
    try:
        return apply(diff, matter.read) if diff.strip() else {}
    except PatchError:
        return {}
