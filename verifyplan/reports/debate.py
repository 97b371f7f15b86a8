"""A debate turn by turn, in few lines or in HTML: who said what on which grounds, and how it ended (rules C2-C4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from verifyplan.protocol.message import Message, MessageType
from verifyplan.reports.visible import lines, one_line, shortened
from verifyplan.runlog.debate_state import DebateState
from verifyplan.text import counted

DOES: dict[MessageType, str] = {
    "propose": "proposes",
    "critique": "criticizes",
    "implement": "implements",
    "verify": "verifies",
}
"""What a role does by a message of each type."""

SHORT = 200
"""Longest text of somebody else's in a line."""


def debate_text(state: DebateState, notes: Sequence[str] = ()) -> str:
    """How a debate ended, and its messages turn by turn, a line each; of one that was broken off, too.

    Texts of agents are cut and shown on one line. Below the message that closes a debate stand its risks, each on a
    line: what a verification does not say. `notes` stand below its headline. Source: rules C2, C3.
    """
    told = [headline(state), *(f"  {line}" for line in [*_ending(state), *notes])]
    for number, message in enumerate(state.messages):
        if not number or message.turn != state.messages[number - 1].turn:
            told.append(f"turn {message.turn}")
        told.append(f"  {_who(message, state)}: {one_line(message.content, SHORT)}")
    closing = state.messages[-1].risks if state.messages else ()
    return "\n".join([*told, *(f"    risk: {one_line(risk, SHORT)}" for risk in closing)])


def headline(state: DebateState) -> str:
    """How a debate ended, and what it was about, on one line."""
    outcome, about = state.outcome, one_line(state.inputs.task, SHORT)
    if outcome is None:
        return f"broken off in turn {state.turns}; resume it to get an outcome: {about}"
    where = f"in turn {outcome.turns} of at most {state.inputs.max_turns}"
    if outcome.status is None:
        return f"no outcome ({outcome.reason}) {where}: {about}"
    return f"{outcome.status} ({outcome.reason}) {where}: {about}"


def _ending(state: DebateState) -> list[str]:
    """Return the lines under the headline: why there is no outcome, uncut for programs; how to get more turns."""
    if state.outcome is None:
        return []
    if state.outcome.reason == "MAX_TURNS":
        return ["more turns only if you ask for them: max_turns=, in a shell --max-turns"]
    return [one_line(state.outcome.exit_reason)] if state.outcome.exit_reason.strip() else []


def debate_html(state: DebateState, notes: Sequence[str] = ()) -> str:
    """The same for a notebook, with reasons, evidence, risks and the last diff; every text is shown as text."""
    rows = "".join(_row(message, state) for message in state.messages)
    heads = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("turn", "who", "message"))
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    diff = shortened("\n".join(lines(state.diff)))
    shown = (
        f"<details><summary>diff, {counted(len(state.diff.splitlines()), 'line')}</summary>"
        f'<pre style="overflow-x:auto">{escape(diff)}</pre></details>'
        if diff
        else ""
    )
    below = [*_ending(state), *notes]
    ending = "".join(f'<p style="overflow-wrap:anywhere">{escape(line)}</p>' for line in below)
    return f"<p><b>{escape(headline(state))}</b></p>{ending}{table}{shown}"


def _who(message: Message, state: DebateState) -> str:
    size = counted(len(state.diffs.get(message.turn, "").splitlines()), "line")
    diff = f" (diff of {size})" if message.type == "implement" else ""
    return f"{message.role} {DOES[message.type]}{diff}"


def _row(message: Message, state: DebateState) -> str:
    grounds = {"reasons": message.reasons, "evidence": message.evidence, "risks": message.risks}
    said = "".join(f"<br><i>{name}:</i> {_listed(texts)}" for name, texts in grounds.items() if texts)
    content = "<br>".join(escape(line) for line in lines(shortened(message.content)))
    style = 'style="text-align:left;vertical-align:top;overflow-wrap:anywhere"'
    cells = (str(message.turn), escape(_who(message, state)), f"{content}{said}")
    return f"<tr>{''.join(f'<td {style}>{cell}</td>' for cell in cells)}</tr>"


def _listed(texts: Iterable[str]) -> str:
    return escape("; ".join(one_line(text, SHORT) for text in texts))
