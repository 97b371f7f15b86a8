"""Messages between a process and its helper: JSON behind its length in four bytes."""

from __future__ import annotations

import json
from typing import IO, Any


def read_frame(stream: IO[bytes]) -> Any:
    """The next message, None at the end of the stream."""
    size = stream.read(4)
    data = stream.read(int.from_bytes(size, "big"))
    return json.loads(data) if len(size) == 4 and len(data) == int.from_bytes(size, "big") else None


def write_frame(stream: IO[bytes], message: Any) -> None:
    """Send a message."""
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()
