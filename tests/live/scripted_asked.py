"""A request as the scripted server saw it, with the parts that scripts and tests ask for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SECRET_HEADERS = ("authorization", "x-api-key")


@dataclass(frozen=True)
class Asked:
    """One request for a message: sent by itself, or in a batch."""

    number: int  # from 1, over all requests for messages; a repeated request has a number of its own
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)  # names in lower case, without those that carry a key
    keyed: bool = False  # whether a key came; the key itself is kept nowhere
    custom_id: str | None = None  # of a batched request
    batch: int = 0  # the number of its batch, from 1
    at: float = 0.0  # time.monotonic()
    ids: str = ""  # stands in the id of its message, and tells servers apart

    @property
    def path(self) -> str:
        return "/v1/messages/batches" if self.batch else "/v1/messages"

    @property
    def in_batch(self) -> bool:
        return self.batch > 0

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def system(self) -> str:
        return text_of(self.body.get("system"))

    @property
    def last(self) -> str:
        """The text of the newest user message, that of tool results included."""
        return next((text_of(message["content"]) for message in reversed(self._of("user"))), "")

    @property
    def prompt(self) -> str:
        """The text of all user messages."""
        return "\n".join(text_of(message["content"]) for message in self._of("user"))

    @property
    def tools(self) -> list[str]:
        return [tool["name"] for tool in self.body.get("tools") or ()]

    @property
    def turn(self) -> int:
        """How many messages of the model came before."""
        return len(self._of("assistant"))

    @property
    def retry(self) -> int:
        """How often the SDK has repeated this request by itself."""
        return int(self.headers.get("x-stainless-retry-count", 0))

    def _of(self, role: str) -> list[dict[str, Any]]:
        return [message for message in self.body.get("messages", ()) if message.get("role") == role]


def text_of(content: Any) -> str:
    """The text of a string, a block or a list of blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return str(content["text"]) if "text" in content else text_of(content.get("content"))
    return "\n".join(filter(None, map(text_of, content or ())))
