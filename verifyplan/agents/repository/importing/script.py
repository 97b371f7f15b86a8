"""JavaScript and TypeScript: files by relative paths, and by the usual short forms of paths below `src`."""

from __future__ import annotations

import posixpath
import re

from verifyplan.agents.repository.importing.target import Target

_END = re.compile(r"(?:\.d)?\.(?:[cm]?[jt]s|[jt]sx)$")
_NEARBY = re.compile(r"[\"'](?:\.\./)*\.{1,2}/?(?:index(?:\.\w{1,3})?)?[\"']")
_SHORT = re.compile(r"(?:@|~|#)/")
_BASES = ("", "src/", "app/", "lib/")


def target(path: str) -> Target:
    """How a file is imported: with or without its ending, an `index` file by its folder, too."""
    plain = _END.sub("", path)
    folder, _, stem = plain.rpartition("/")
    meant = {plain, folder} if stem == "index" and folder else {plain}

    def imports(importer: str, source: str) -> bool:
        if source.startswith("."):
            joined = posixpath.normpath(posixpath.join(posixpath.dirname(importer), source))
            return not meant.isdisjoint({joined, _END.sub("", joined)})
        rest = _END.sub("", _SHORT.sub("", source, count=1)).rstrip("/")
        short = any(f"{base}{rest}" in meant for base in _BASES)
        return bool(rest) and (short or (rest != source and any(one.endswith(f"/src/{rest}") for one in meant)))

    hints = tuple(sorted({stem, folder.rpartition("/")[2]} - {"", "index"})) if stem == "index" else (stem,)
    return Target(hints, imports, folder=folder, nearby=_NEARBY if stem == "index" else None)
