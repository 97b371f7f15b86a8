"""What a script can answer: messages, and everything that can go wrong instead of one."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass, field, replace
from typing import Any

from tests.live.scripted_asked import Asked
from tests.live.scripted_http import Reply
from tests.live.scripted_usage import Spent, usage_of

ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


@dataclass(frozen=True)
class Answer:
    """A message, or a reply that is none. `a + b` is one message with the content of both, which ends as `b` does."""

    content: tuple[dict[str, Any], ...] = ()
    stop_reason: str = "end_turn"
    usage: dict[str, Any] = field(default_factory=dict)  # in place of what the server estimates
    seconds: float = 0.0  # how long it takes beyond the latency of the server
    truncated: bool = False
    sent: int | None = None  # bytes of the body that go out before a reset
    outcome: str = ""  # in a batch, in place of a message: expired or canceled
    way: dict[str, Any] = field(default_factory=dict)  # how the reply goes out: more of `Reply`
    reply: Reply | None = None  # in place of a message

    def using(self, **usage: Any) -> Answer:
        """The same with this usage, such as `input_tokens=7, cache_read_input_tokens=90`; the rest is estimated."""
        return replace(self, usage=self.usage | usage)

    def after(self, seconds: float) -> Answer:
        """The same, so much later."""
        return replace(self, seconds=seconds)

    def stopping(self, reason: str) -> Answer:
        """The same with another stop reason, such as `pause_turn`."""
        return replace(self, stop_reason=reason)

    def __add__(self, other: Answer) -> Answer:
        return replace(other, content=self.content + other.content, usage=self.usage | other.usage)

    def message(self, asked: Asked, spent: Spent, tier: str = "standard") -> dict[str, Any]:
        """The message as JSON; tool uses get ids of this request, so that a script may give an answer twice."""
        content, use = [], ""
        for place, block in enumerate(self.content):
            if block["type"] in ("tool_use", "server_tool_use"):
                use = f"{'srv' * block['type'].startswith('server')}toolu_{asked.ids}{asked.number:06}_{place}"
                content.append(block | {"id": use})
            else:
                content.append(block | ({"tool_use_id": use} if block["type"].endswith("_tool_result") else {}))
        refusal = {"type": "refusal", "category": None, "explanation": None}
        return {
            "id": f"msg_{asked.ids}{asked.number:06}", "type": "message", "role": "assistant", "model": asked.model,
            "content": content, "stop_reason": self.stop_reason, "stop_sequence": None,
            "stop_details": refusal if self.stop_reason == "refusal" else None,
            "usage": usage_of(spent, content, tier) | self.usage,
        }  # fmt: skip


def says(text: str) -> Answer:
    return Answer(({"type": "text", "text": text},))


def says_json(value: Any) -> Answer:
    return says(json.dumps(value, ensure_ascii=False))


def calls(tool: str, /, **arguments: Any) -> Answer:
    """A wish to use a tool of the client; `calls(...) + calls(...)` are two in one message."""
    return Answer(({"type": "tool_use", "id": "", "name": tool, "input": arguments},), "tool_use")


def refuses() -> Answer:
    return Answer(stop_reason="refusal")


def cut(text: str) -> Answer:
    """A message that reached `max_tokens`."""
    return says(text).stopping("max_tokens")


def searches(query: str, *found: tuple[str, str], text: str = "", error: str = "") -> Answer:
    """A web search by the API itself, with its results (address, title) or an error code, and what was made of them."""
    entry = {"type": "web_search_result", "encrypted_content": "e30=", "page_age": None}
    results = [entry | {"url": url, "title": title} for url, title in found]
    return _served("web_search", {"query": query}, results, text, error)


def fetches(url: str, page: str = "", text: str = "", error: str = "") -> Answer:
    """A web page fetched by the API itself, or an error code, and what was made of it."""
    source = {"type": "text", "media_type": "text/plain", "data": page}
    document = {"type": "document", "source": source, "title": None, "citations": None}
    fetched = {"type": "web_fetch_result", "url": url, "content": document, "retrieved_at": None}
    return _served("web_fetch", {"url": url}, fetched, text, error)


def _served(name: str, arguments: dict[str, str], result: Any, text: str, error: str) -> Answer:
    use = {"type": "server_tool_use", "id": "", "name": name, "input": arguments}
    content = {"type": f"{name}_tool_result_error", "error_code": error} if error else result
    answer = Answer((use, {"type": f"{name}_tool_result", "tool_use_id": "", "content": content}))
    return answer + says(text) if text else answer


def error(code: int, message: str = "scripted") -> dict[str, Any]:
    """The body of an error."""
    known = ERROR_TYPES.get(code, "api_error" if code >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": known, "message": message}, "request_id": None}


def status(code: int, retry_after: float | None = None, message: str = "scripted") -> Answer:
    """An error of the API: 429, 500, 529 ... In a batch it is the outcome `errored`."""
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    return raw(json.dumps(error(code, message)), code, **headers)


def raw(body: str, code: int = 200, content_type: str = "application/json", **headers: str) -> Answer:
    """Any body at all."""
    return Answer(reply=Reply(body.encode(), code, {"content-type": content_type} | headers))


def html(code: int = 502) -> Answer:
    """The page of a proxy that does not reach the server behind it."""
    return raw("<html><body><h1>Bad Gateway</h1></body></html>", code, "text/html")


def empty() -> Answer:
    return raw("")


def error_in_200() -> Answer:
    return raw(json.dumps(error(500)))


def resets(sent: int = 40) -> Answer:
    """A connection that is reset when so many bytes of the body are out; -1: before any."""
    return replace(says("never read to its end"), sent=sent)


def closes(sent: int = 40) -> Answer:
    """A connection that is closed in order when so many bytes of the body are out, of more that were announced."""
    return replace(resets(sent), way={"closes": True})


def drips(answer: Answer, pause: float, piece: int = 40) -> Answer:
    """An answer of which so many bytes come at a time."""
    way: dict[str, Any] = {"piece": piece, "pause": pause}
    return replace(answer, way=way) if answer.reply is None else replace(answer, reply=answer.reply._replace(**way))


def chatter(words: str = "SSH-2.0-OpenSSH_9.6\r\n") -> Answer:
    """What a server says that speaks no HTTP."""
    return Answer(reply=Reply(words.encode(), bare=True))


def endless(piece: bytes = b" " * 65_536, **more: Any) -> Answer:
    """A body without end, piece after piece, until the client has enough."""
    return Answer(reply=Reply(piece, times=1 << 20, **more))


def bomb(megabytes: int = 1_000, encoding: str = "gzip") -> Answer:
    """A message of some kilobytes that is so many megabytes when it is unpacked."""
    packer = zlib.compressobj(9, wbits={"gzip": 31, "deflate": 15}[encoding])
    head = packer.compress(b'{"content": [{"type": "text", "text": "') + packer.flush(zlib.Z_FULL_FLUSH)
    megabyte = packer.compress(b"x" * 1_000_000) + packer.flush(zlib.Z_FULL_FLUSH)
    tail = packer.compress(b'"}], "stop_reason": "end_turn"}') + packer.flush()
    body = head + megabyte * megabytes + tail  # but for the sums at its end, as if it was packed in one go
    return Answer(reply=Reply(body, headers={"content-type": "application/json", "content-encoding": encoding}))


def truncates() -> Answer:
    """A body that ends early though its length is right: it is not JSON."""
    return replace(says("never read to its end"), truncated=True)


def hangs(seconds: float = 60.0) -> Answer:
    """No reply; the connection is closed after so long, or when the client has left."""
    return Answer(reply=Reply(silence=seconds))


def expires() -> Answer:
    """The outcome of a batched request that came too late."""
    return Answer(outcome="expired")


def cancels() -> Answer:
    """The outcome of a batched request that was canceled."""
    return Answer(outcome="canceled")
