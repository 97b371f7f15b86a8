"""Whether the last diff of a debate applies to the files of its folder, as they are when somebody asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from verifyplan.diffs import PatchError, apply
from verifyplan.protocol.event_run import DebateInputs
from verifyplan.reports.visible import one_line

MAX_NOTE_CHARACTERS = 300


def diff_problem(diff: str, inputs: DebateInputs) -> str:
    """Say why a diff does not apply to the documents and files of a debate; blank where it does, or there is none.

    Nothing is recorded: the files are read as they are now. A folder or file that cannot be read is "not checked".
    """
    root = Path(str(inputs.repository.get("root", "")))
    if not diff.strip():
        return ""
    try:
        apply(diff, _reader(inputs, root, keep_ends="\r" in diff))
    except PatchError as error:
        return f"the diff does not apply: {one_line(error.problems[0].message, MAX_NOTE_CHARACTERS)}"
    except (OSError, ValueError) as error:
        return f"whether the diff applies was not checked: {one_line(str(error), MAX_NOTE_CHARACTERS)}"
    return ""


def _reader(inputs: DebateInputs, root: Path, keep_ends: bool) -> Callable[[str], str | None]:
    """Return what reads a document or a file by its path; CRLF counts as LF unless the diff itself has any."""

    def read(path: str) -> str | None:
        text = inputs.documents.get(path)
        if text is None:
            if not root.is_dir():
                raise OSError(f"the folder {str(root)!r} is not there any more")
            file = root / path
            text = file.read_bytes().decode("utf-8") if file.exists() else None
        return text if text is None or keep_ends else text.replace("\r\n", "\n")

    return read
