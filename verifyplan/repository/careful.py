"""Work that may hang or end its process, done in a process that may (rule H3)."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import verifyplan
from verifyplan.repository.messages import read_frame, write_frame

_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from verifyplan.repository.careful_main import main; main()"
)


class GaveUpError(Exception):
    """The work was not done; the text says why, as part of a sentence."""


class _Helper(NamedTuple):
    process: subprocess.Popen[bytes]
    stdin: IO[bytes]
    stdout: IO[bytes]
    end: weakref.finalize[..., Any]


class Careful:
    """One helping process, started when it is first asked, and again whenever it has died.

    Not safe to use from several threads at once. The process ends with this object.
    """

    def __init__(self) -> None:
        self._helper: _Helper | None = None

    def ask(self, *request: Any, seconds: float) -> Any:
        """The reply to a request of `careful_main`; GaveUpError if it says that it cannot, takes too long, or dies."""
        helper = self._helper = self._helper or self._start()
        late = threading.Event()

        def stop() -> None:
            late.set()
            helper.process.kill()

        timer = threading.Timer(seconds, stop)
        timer.daemon = True
        timer.start()
        try:
            reply = _exchange(helper, request)
        except BaseException:  # an interrupt leaves a reply behind that no later request must take for its own
            self.close()
            raise
        finally:
            timer.cancel()
        if reply is None:
            self.close()
            raise GaveUpError(
                f"it takes longer than {seconds:g} seconds" if late.is_set() else "it takes too much work"
            )
        if "error" in reply:
            raise GaveUpError(reply["error"])
        return reply["value"]

    def close(self) -> None:
        """End the process, if there is one; the next request starts another."""
        if self._helper is not None:
            self._helper.end()
        self._helper = None

    def _start(self) -> _Helper:
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
            raise GaveUpError("no helping process could be started") from None
        end = weakref.finalize(self, _end, process)
        return _Helper(process, cast(IO[bytes], process.stdin), cast(IO[bytes], process.stdout), end)


def _exchange(helper: _Helper, request: tuple[Any, ...]) -> Any:
    """The reply; None if the process has died."""
    try:
        write_frame(helper.stdin, request)
        return read_frame(helper.stdout)
    except OSError:
        return None


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    for stream in (process.stdin, process.stdout):
        try:
            if stream is not None:
                stream.close()
        except OSError:  # what was not written yet has nowhere to go
            continue
    process.wait()
