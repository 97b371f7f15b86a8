"""What a page and its kernel say to each other: what is still under way, and what failed without a word on the page."""

from __future__ import annotations

import json
import struct
from functools import partial
from typing import Any, NamedTuple

from playwright.sync_api import Page, WebSocket

TRACEBACK = "Traceback (most recent call last)"
AWAITED = ("execute_request", "comm_msg")  # others are the page's own, and a kernel that restarts may lose them
PROBE = "No such comm"  # what a fresh kernel answers when the page asks for widgets of the kernel before


class Message(NamedTuple):
    """The parts of a Jupyter message that matter here."""

    channel: str
    header: dict[str, Any]
    parent: dict[str, Any]
    content: dict[str, Any]


def read_message(frame: bytes) -> Message:
    """A frame of the websocket as a message, by v1.kernel.websocket.jupyter.org, which both servers speak."""
    (count,) = struct.unpack_from("<Q", frame)
    at = struct.unpack_from(f"<{count}Q", frame, 8)
    channel, header, parent, _, content = (frame[at[i] : at[i + 1]] for i in range(5))
    return Message(channel.decode(), json.loads(header), json.loads(parent), json.loads(content))


class Traffic:
    """Listens to every kernel of a page: the requests it has not finished, and the errors it told."""

    def __init__(self, page: Page) -> None:
        self._pending: dict[WebSocket, dict[str, str]] = {}
        self.errors: list[str] = []
        page.on("websocket", self._listen)

    @property
    def pending(self) -> list[str]:
        """The sorts of the requests that wait for an answer; a kernel that has been left owes none."""
        return [sort for requests in self._pending.values() for sort in requests.values()]

    def clear(self) -> None:
        self._pending.clear()
        self.errors.clear()

    def _listen(self, socket: WebSocket) -> None:
        if "/api/kernels/" in socket.url:
            socket.on("framesent", partial(self._sent, socket))
            socket.on("framereceived", partial(self._received, socket))
            socket.on("close", lambda _: self._pending.pop(socket, None))

    def _sent(self, socket: WebSocket, frame: bytes) -> None:
        message = read_message(frame)
        sort = message.header["msg_type"]
        if message.channel == "shell" and sort in AWAITED:
            self._pending.setdefault(socket, {})[message.header["msg_id"]] = sort

    def _received(self, socket: WebSocket, frame: bytes) -> None:
        message = read_message(frame)
        kind, content, during = message.header["msg_type"], message.content, message.parent.get("msg_type", "")
        if kind == "status":
            self._status(socket, content["execution_state"], message.parent.get("msg_id", ""))
        elif kind == "error":
            where = "cell" if during == "execute_request" else "callback"
            self.errors.append(f"{where}: {content['ename']}: {content['evalue']}")
        elif kind == "stream" and content["name"] == "stderr":
            self._stderr(content["text"], during)

    def _status(self, socket: WebSocket, state: str, request: str) -> None:
        if state == "idle":
            self._pending.get(socket, {}).pop(request, None)
        elif state in ("dead", "restarting", "autorestarting"):
            self._pending.pop(socket, None)
            self.errors.append(f"kernel: {state}")

    def _stderr(self, text: str, during: str) -> None:
        """A callback that writes there has failed or warns; a cell may, unless it is a traceback (of a thread, say)."""
        if TRACEBACK in text or (during.startswith("comm") and not text.startswith(PROBE)):
            self.errors.append(f"{'callback' if during.startswith('comm') else 'cell'} (stderr): {text.strip()[-500:]}")
