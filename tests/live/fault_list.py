"""What endpoints and models send in place of an answer, and how the failure of a call begins that hears no other.

One list for the tests of each rule and for `benchmarks/faults.py`, which tries all of it on whole runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tests.live.live_faults import message, soon
from tests.live.scripted_http import Reply
from tests.live.scripted_replies import (
    Answer,
    calls,
    chatter,
    closes,
    cut,
    empty,
    html,
    raw,
    refuses,
    resets,
    says,
    says_json,
    status,
    truncates,
)

NO_JSON, NO_MESSAGE = "the endpoint's reply is not JSON (", "the endpoint's reply is not a message"
CUT = "the answer was cut off at 16,000 tokens; give the model a larger max_tokens"
LOST, DAMAGED = (
    "the connection failed (",
    "the endpoint's message is damaged: part 2 of its content is not a content block",
)


class Fault(NamedTuple):
    """What is sent in place of an answer."""

    answer: Answer
    reason: str


RETRIED: Mapping[str, Fault] = {
    **{str(code): Fault(soon(code), f"the endpoint answered {code}: overloaded: later")
       for code in (408, 409, 429, 500, 502, 503, 504, 529)},
    "502 with an HTML page of a proxy": Fault(
        raw("<html>no</html>", 502, "text/html", **{"retry-after-ms": "5"}),
        "the endpoint answered 502: no reason given",
    ),
    "connection reset in the body": Fault(resets(), LOST),
    "connection reset before the head": Fault(resets(-1), LOST),
    "connection closed in the body": Fault(closes(), LOST),
    "connection closed before the head": Fault(closes(-1), LOST),
    "a reply that is not HTTP": Fault(chatter(), LOST),
    "a truncated body": Fault(truncates(), NO_JSON),
    "an empty body": Fault(empty(), NO_JSON),
    "an HTML page": Fault(html(200), NO_JSON),
}  # fmt: skip
"""What passes: the request is sent again, within the same turn."""

REFUSED: Mapping[str, Fault] = {
    **{str(code): Fault(status(code), f"the endpoint answered {code}: {kind}: scripted")
       for code, kind in ((400, "invalid_request_error"), (413, "request_too_large"), (422, "invalid_request_error"))},
    **{str(code): Fault(raw("", code, location="http://127.0.0.1:9/"), f"the endpoint answered {code}: it leads to")
       for code in (301, 302, 307, 308)},
    "a refusal with status 200": Fault(
        raw('{"type": "error", "error": {"type": "invalid_request_error", "message": "scripted"}}'),
        "the endpoint answered with an error: invalid_request_error: scripted",
    ),
    "an error that is a text": Fault(raw('{"type": "error", "error": "overloaded"}'), NO_MESSAGE),
    "content that is text": Fault(raw('{"content": "hello"}'), NO_MESSAGE),
    "a body that is a list": Fault(raw("[1]"), NO_MESSAGE),
    "a body that is null": Fault(raw("null"), NO_MESSAGE),
}  # fmt: skip
"""What would be refused again: it fails the call at once."""

SETTINGS: Mapping[str, str] = {
    "401": "check the key",
    "402": "credit",
    "403": "what the key may do",
    "404": "model's name",
}
"""What every request would hear: it ends the process with this advice."""

_UNWRITABLE = {
    "half a surrogate pair": '"\\ud800"',
    "NaN": "NaN",
    "JSON nested 900 deep": f"{'[' * 900}{']' * 900}",
    "JSON nested 100,000 deep": f"{'[' * 100_000}{']' * 100_000}",
    "a number of 5,000 digits": "9" * 5000,
    "a body in Latin-1": '"\xff"',
}


def _holding(value: str) -> Answer:
    body = f'{{"content": [{{"type": "text", "text": "x"}}], "stop_reason": "end_turn", "x": {value}}}'
    return replace(raw(""), reply=Reply(body.encode("latin-1")))


UNWRITABLE: Mapping[str, Fault] = {name: Fault(_holding(value), NO_JSON) for name, value in _UNWRITABLE.items()}
"""Bodies that no log can hold."""

UNFINISHED: Mapping[str, Fault] = {
    "max_tokens": Fault(cut('{"votes": ['), CUT),
    "refusal": Fault(refuses(), "the model refused to answer"),
    "pause_turn": Fault(says("wait").stopping("pause_turn"), "the model paused its turn and gave no answer"),
    "a full context": Fault(
        says("full").stopping("model_context_window_exceeded"),
        "request and answer exceed the model's context",
    ),
    "no stop reason": Fault(replace(says("and th"), stop_reason=None), "the reply broke off before its end"),  # type: ignore[arg-type]
    "a tool call cut off": Fault(calls("Read", path="a.py").stopping("max_tokens"), CUT),
}
"""Messages that did not come to their end: they are paid for, and fail the call."""

_BLOCKS: Mapping[str, Any] = {
    "a block that is a text": "x",
    "a block that is null": None,
    "an empty block": {},
    "a block whose type is a number": {"type": 3},
    "a text block without text": {"type": "text"},
    "a text block whose text is null": {"type": "text", "text": None},
    "a tool use without an id": {"type": "tool_use", "name": "Read"},
    "a tool use whose id is a number": {"type": "tool_use", "id": 7, "name": "Read", "input": {}},
    "a tool use with a list of names": {"type": "tool_use", "id": "t", "name": ["Read"], "input": {}},
}
DAMAGED_BLOCKS: Mapping[str, Fault] = {
    name: Fault(message({"type": "text", "text": "so"}, block), DAMAGED) for name, block in _BLOCKS.items()
}
"""Messages with a part that is none, which is what it is named for."""

OUTSIDE: Mapping[str, Answer] = {
    "prose": says("I think the plan is fine."),
    "only spaces": says("  "),
    "an empty text": says(""),
    "no content": Answer(),
    "an answer that is a list": says_json([]),
    "half of the answer": says('{"challenges": [{"claim": "a"'),
    "the answer of another role": says_json({"answers": []}),
}
"""What is no answer but of a resolver: one turn is given to put it right."""

USAGES: tuple[Any, ...] = (
    None,
    [1],
    {},
    {"input_tokens": "7", "output_tokens": -3},
    {"input_tokens": 10**30, "output_tokens": True},
)
"""What no count of tokens is."""

BAD_ARGUMENTS: Mapping[str, Mapping[str, Any]] = {
    "none": {},
    "a number": {"path": 3},
    "line 0": {"path": "a", "first": 0},
    "one too many": {"path": "a", "mode": "w"},
    "long": {"path": "x" * 9999},
    "null": {"path": None},
}
"""Arguments of Read that are outside its schema."""
