"""Files that a run is to write when it is over: refused before any agent is called if they could not be (rule H3)."""

from __future__ import annotations

from pathlib import Path

from verifyplan.errors import InputError, Problem
from verifyplan.files import try_to_write


def check_output(place: str, path: str | Path | None) -> None:
    """InputError, at `place`, for a file that cannot be written; None is no file, and passes.

    >>> check_output("--diff", None)
    >>> try:
    ...     check_output("--diff", ".")
    ... except InputError as error:
    ...     print(error.problems[0].message)
    '.' cannot be written (is a folder)
    """
    if path is None:
        return
    try:
        if Path(path).is_dir():
            raise IsADirectoryError("is a folder")
        try_to_write(Path(path).parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        fix = "name a file in a folder that you may write to"
        raise InputError(Problem(place, f"{str(path)!r} cannot be written ({reason})", fix)) from None
