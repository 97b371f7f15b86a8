"""The architect: proposes the acceptance checklist, names what a diff leaves unmet, verifies it (SPEC C2-C4)."""

from __future__ import annotations

from verifyplan.agents.static.debate.matter import Files, Matter, Unmet
from verifyplan.agents.static.debate.patch import PatchError, apply
from verifyplan.protocol.debate_call import ArchitectAnswer, DebateRequest
from verifyplan.rules.debate import VERIFIED
from verifyplan.words import counted

_LONGEST_TASK = 300
_MOST = 40


def answer(request: DebateRequest, matter: Matter) -> ArchitectAnswer:
    """What the architect says to the diff as it stands; it judges by the checklist alone, and never edits."""
    if request.type == "propose":
        return _proposal(request, matter)
    unmet, evidence = _judged(request.diff, matter)
    return _verification(unmet, evidence, matter) if request.type == "verify" else _critique(unmet, evidence)


def _proposal(request: DebateRequest, matter: Matter) -> ArchitectAnswer:
    criteria = matter.checklist()[:_MOST]
    numbered = [f"{number}. {criterion}" for number, criterion in enumerate(criteria, 1)]
    head = f"Acceptance checklist for: {' '.join(request.task.split())[:_LONGEST_TASK] or 'a task that says nothing'}"
    return ArchitectAnswer(
        content="\n".join([head, *numbered]),
        reasons=("Each criterion can be checked in the diff, by what the files hold after it.",),
        evidence=matter.places(),
        risks=("The checklist is taken from words; that a text which meets it is also good is not checked.",),
    )


def _critique(unmet: tuple[Unmet, ...], evidence: tuple[str, ...]) -> ArchitectAnswer:
    if not unmet:
        return ArchitectAnswer(
            content="No further changes needed.", reasons=("Every criterion is met.",), evidence=evidence
        )
    return ArchitectAnswer(
        content="\n".join(
            ["Critique: the diff does not meet the checklist yet.", *(f"- {one}" for one in unmet[:_MOST])]
        ),
        reasons=tuple(dict.fromkeys(f"{one.criterion}: not met" for one in unmet[:_MOST])),
        evidence=evidence,
        risks=(f"{counted(len(unmet), 'point')} would be released unsettled.",),
    )


def _verification(unmet: tuple[Unmet, ...], evidence: tuple[str, ...], matter: Matter) -> ArchitectAnswer:
    if unmet:
        return ArchitectAnswer(
            content="\n".join(["Verification failed.", *(f"- {one}" for one in unmet[:_MOST])]),
            reasons=tuple(dict.fromkeys(f"{one.criterion}: not met" for one in unmet[:_MOST])),
            evidence=evidence,
            risks=("What is not met is not done by this diff.",),
        )
    number = len(matter.checklist())
    met = "its one criterion is" if number == 1 else f"the {number} criteria of the checklist are"
    return ArchitectAnswer(
        content=f"{VERIFIED}: the diff applies, and {met} met.",
        reasons=("The diff applies line by line to the files as they are.", *matter.checklist()[:_MOST]),
        evidence=evidence,
        risks=matter.unjudged(),
    )


def _judged(diff: str, matter: Matter) -> tuple[tuple[Unmet, ...], tuple[str, ...]]:
    """What a diff leaves unmet, and the places where that is seen."""
    files: Files = {}
    if not diff.strip():
        blank = Unmet("The diff changes something", "it is blank")
        return (blank, *matter.unmet(files)), matter.places()
    try:
        files = apply(diff, matter.read)
    except PatchError as error:
        return (Unmet("The diff applies", str(error)),), matter.places()
    unmet = matter.unmet(files)
    return unmet, tuple(dict.fromkeys((*files, *(one.place for one in unmet if one.place))))
