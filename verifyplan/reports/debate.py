"""Report a debate turn by turn, in few lines or in HTML: messages, grounds, and how it ended (rules C2-C4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from verifyplan.protocol.message import Message, MessageType
from verifyplan.reports.visible import MAX_LINE_CHARACTERS, lines, one_line, truncated
from verifyplan.runlog.debate_state import DebateState
from verifyplan.text import counted

VERBS: dict[MessageType, str] = {
    "propose": "proposes",
    "critique": "criticizes",
    "implement": "implements",
    "verify": "verifies",
}
"""The action of a role in a message of each type."""


def debate_text(state: DebateState, notes: Sequence[str] = ()) -> str:
    """Return how a debate ended, and its messages turn by turn, a line each; of one that was broken off, too.

    Texts of agents are cut and shown on one line. The risks of the closing message follow it, each on a line: what a
    verification does not say. `notes` follow the headline. Source: rules C2, C3.
    """
    text = [headline(state), *(f"  {line}" for line in [*_ending(state), *notes])]
    for number, message in enumerate(state.messages):
        if not number or message.turn != state.messages[number - 1].turn:
            text.append(f"turn {message.turn}")
        text.append(f"  {_action(message, state)}: {one_line(message.content, MAX_LINE_CHARACTERS)}")
    closing = state.messages[-1].risks if state.messages else ()
    return "\n".join([*text, *(f"    risk: {one_line(risk, MAX_LINE_CHARACTERS)}" for risk in closing)])


def headline(state: DebateState) -> str:
    """Return how a debate ended, and its task, on one line."""
    outcome, task = state.outcome, one_line(state.inputs.task, MAX_LINE_CHARACTERS)
    if outcome is None:
        return f"broken off in turn {state.turns}; resume it to get an outcome: {task}"
    status = outcome.status or "no outcome"
    return f"{status} ({outcome.reason}) in turn {outcome.turns} of at most {state.inputs.max_turns}: {task}"


def _ending(state: DebateState) -> list[str]:
    """Return the lines under the headline: why there is no outcome, uncut for programs; how to get more turns."""
    if state.outcome is None:
        return []
    if state.outcome.reason == "MAX_TURNS":
        return ["more turns only if you ask for them: max_turns=, in a shell --max-turns"]
    return [one_line(state.outcome.exit_reason)] if state.outcome.exit_reason.strip() else []


def _action(message: Message, state: DebateState) -> str:
    """Return a message's role and what it does."""
    size = counted(len(state.diffs.get(message.turn, "").splitlines()), "line")
    diff = f" (diff of {size})" if message.type == "implement" else ""
    return f"{message.role} {VERBS[message.type]}{diff}"


def debate_html(state: DebateState, notes: Sequence[str] = ()) -> str:
    """Return the same for a notebook, with reasons, evidence, risks and the last diff; every text is escaped."""
    return "".join(_html(state, notes))


def _html(state: DebateState, notes: Sequence[str]) -> Iterator[str]:
    yield f"<p><b>{escape(headline(state))}</b></p>"
    for line in [*_ending(state), *notes]:
        yield f'<p style="overflow-wrap:anywhere">{escape(line)}</p>'
    if state.messages:
        heads = "".join(f'<th scope="col" style="text-align:left">{name}</th>' for name in ("turn", "who", "message"))
        rows = "".join(_row(message, state) for message in state.messages)
        yield f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    if diff := truncated("\n".join(lines(state.diff))):
        yield f"<details><summary>diff, {counted(len(state.diff.splitlines()), 'line')}</summary>"
        yield f'<pre style="overflow-x:auto">{escape(diff)}</pre></details>'


def _row(message: Message, state: DebateState) -> str:
    content = "<br>".join(escape(line) for line in lines(truncated(message.content)))
    for name in ("reasons", "evidence", "risks"):
        if texts := getattr(message, name):
            listed = escape("; ".join(one_line(text, MAX_LINE_CHARACTERS) for text in texts))
            content += f"<br><i>{name}:</i> {listed}"
    style = 'style="text-align:left;vertical-align:top;overflow-wrap:anywhere;padding:2px 12px 2px 0"'
    cells = (str(message.turn), escape(_action(message, state)), content)
    return f"<tr>{''.join(f'<td {style}>{cell}</td>' for cell in cells)}</tr>"
