"""Make the golden tables, or write anew what somebody decided to change: `python -m tests.golden.make`.

Files that are there are never overwritten, but with `--decide REASON`: it adds to decisions.csv what differs, with old
and new values and the reason, and then writes the tables that differ. Look at both with `git diff` before a commit.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
from pathlib import Path

from tests.golden import tables


def main(words: list[str] | None = None) -> int:
    """Return 0 if golden files were written or nothing differs, 1 if files are there and no reason is given."""
    parser = argparse.ArgumentParser(prog="python -m tests.golden.make", description=__doc__)
    parser.add_argument("--decide", metavar="REASON", help="write anew what differs, and why")
    parser.add_argument("--folder", type=Path, default=tables.FOLDER, help="where the files are (for tests)")
    asked = parser.parse_args(words)
    there = [name for name in tables.FILES.values() if (asked.folder / name).exists()]
    if asked.decide is None and there:
        print(f"not overwritten: {', '.join(there)}. Fix: to change them, say why: --decide REASON", file=sys.stderr)
        return 1
    if asked.decide is not None and not asked.decide.strip():
        parser.error("--decide needs a reason")
    with tempfile.TemporaryDirectory() as made:
        for table in tables.FILES:
            _make(table, asked.folder, Path(made).resolve() / table, asked.decide)
    return 0


def _make(table: str, folder: Path, made: Path, reason: str | None) -> None:
    content = tables.computed(table, made)
    if reason is not None:
        new, old = tables.cells(table, content), tables.cells(table, tables.read(table, folder))
        found = tables.differences(table, old, new)
        if found.empty:
            return
        rows = tables.decided(table, tables.undecided(table, found, tables.read_decisions(folder)), reason.strip())
        with (folder / "decisions.csv").open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows(rows)
        print(f"{table}: {len(found)} cells differ, {len(rows)} rows added to decisions.csv")
    tables.write(table, content, folder)
    print(f"{tables.FILES[table]}: {(folder / tables.FILES[table]).stat().st_size:,} bytes")


if __name__ == "__main__":
    sys.exit(main())
