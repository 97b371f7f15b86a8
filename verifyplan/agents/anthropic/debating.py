"""What architect and builder are shown: task and documents, what was said, the diff, what is due (rules C2, H3)."""

from __future__ import annotations

from verifyplan.agents.anthropic.allowances import tool_budget_text, tools_of
from verifyplan.agents.anthropic.record import challenge_entry, record_entry
from verifyplan.agents.untrusted_text import delimited, numbered_lines
from verifyplan.protocol.debate_call import DebateRequest
from verifyplan.protocol.message import DebateRole, Message

DEBATE_PROMPTS: dict[DebateRole, tuple[str, ...]] = {
    "architect": ("debate", "architect"),
    "builder": ("debate", "builder"),
}
"""What a role is told: the same in all of its calls, so that a cache of prompts holds it with all that follows."""


def debate_blocks(request: DebateRequest) -> tuple[str, str, str]:
    """What lasts for the whole debate, what has come of it so far, and what this call is about.

    Documents stand in the order of their names. Every text that is not ours is marked as data: the task, too, of which
    the prompt says what it may ask for.
    """
    return _lasting(request), _so_far(request), _due(request)


def _lasting(request: DebateRequest) -> str:
    told = ["The task:\n" + delimited(request.task, "task")]
    if request.documents:
        texts = [delimited(numbered_lines(text), "document", name) for name, text in sorted(request.documents.items())]
        told.append("The documents:\n" + "\n\n".join(texts))
    if request.challenges:
        told.append("The challenges:\n" + delimited("\n".join(map(challenge_entry, request.challenges)), "challenges"))
    return "\n\n".join(told)


def _so_far(request: DebateRequest) -> str:
    said = "Nothing has been said yet."
    if request.messages:
        said = "The messages so far:\n" + delimited("\n".join(map(_message, request.messages)), "messages")
    return f"{said}\n\n{_diff(request)}"


def _diff(request: DebateRequest) -> str:
    if request.diff:
        return "The builder's diff:\n" + delimited(request.diff, "diff")
    answered = any(message.type == "implement" for message in request.messages)
    return "The builder's diff is blank: it changes nothing." if answered else "There is no diff yet."


def _message(one: Message) -> str:
    return record_entry(
        f"turn {one.turn}, {one.role}, {one.type}",
        ("content", one.content),
        *(("reason", text) for text in one.reasons),
        *(("evidence", text) for text in one.evidence),
        *(("risk", text) for text in one.risks),
    )


def _due(request: DebateRequest) -> str:
    return "\n\n".join(
        [
            f"You are the {request.role}. This is turn {request.turn} of at most {request.max_turns}."
            f" The message that is due: `{request.type}`.",
            tool_budget_text(tools_of(request)),
            "Do your task now, and answer with the JSON object.",
        ]
    )
