"""A helper process for work that may hang or end its process: parsing, and trying patterns (rule H3).

Messages are JSON behind their length in four bytes. `helper_tasks` is the other side.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, cast

import verifyplan

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from verifyplan.repository.helper_tasks import main; main()"
)


class HelperError(Exception):
    """The work was not done; the text says why, as part of a sentence."""


class HelperProcess:
    """One helper process, started by the first request, and again by the next whenever it has died.

    Not safe to use from several threads at once. The process ends with this object.
    """

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._end: Callable[[], object] = lambda: None

    def request(self, *task: Any, seconds: float) -> Any:
        """Return the value of a task of `helper_tasks`; HelperError if it fails, is too slow, or ends the process."""
        process = self._process = self._process or self._start()
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            write_frame(cast(IO[bytes], process.stdin), task)
            reply = read_frame(cast(IO[bytes], process.stdout))
        except OSError:  # the process has died
            reply = None
        except BaseException:  # an interrupt leaves a reply behind that no later request must take for its own
            self.close()
            raise
        finally:
            timer.cancel()
        if reply is None:
            self.close()
            slow = f"it takes longer than {seconds:g} seconds"
            raise HelperError(slow if late.is_set() else "it takes too much work")
        if "error" in reply:
            raise HelperError(reply["error"])
        return reply["value"]

    def close(self) -> None:
        """End the process, if there is one; the next request starts another."""
        self._end()
        self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        paths = [path for path in sys.path if path] + [str(Path(verifyplan.__file__).parent.parent)]
        try:
            process = subprocess.Popen(
                [sys.executable, "-I", "-c", _START, json.dumps(paths)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt in a notebook is not meant for it
            )
        except (OSError, ValueError):
            raise HelperError("no helping process could be started") from None
        self._end = weakref.finalize(self, _end, process)
        return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:  # the unwritten rest has no reader any more
            continue
    process.wait()


def read_frame(stream: IO[bytes]) -> Any:
    """Return the next message, None at the end of the stream."""
    size = stream.read(4)
    data = stream.read(int.from_bytes(size, "big"))
    return json.loads(data) if len(size) == 4 and len(data) == int.from_bytes(size, "big") else None


def write_frame(stream: IO[bytes], message: Any) -> None:
    """Send a message."""
    data = json.dumps(message).encode()
    stream.write(len(data).to_bytes(4, "big") + data)
    stream.flush()
