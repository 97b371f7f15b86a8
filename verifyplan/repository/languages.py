"""Which language a file is written in, by its name."""

from __future__ import annotations

import posixpath

LANGUAGES: dict[str, str] = {
    "bash": "shell",
    "c": "c",
    "cc": "c++",
    "cfg": "ini",
    "cjs": "javascript",
    "cpp": "c++",
    "cs": "c#",
    "css": "css",
    "cts": "typescript",
    "go": "go",
    "gradle": "gradle",
    "h": "c",
    "hpp": "c++",
    "html": "html",
    "ini": "ini",
    "java": "java",
    "js": "javascript",
    "json": "json",
    "jsx": "javascript",
    "kt": "kotlin",
    "kts": "kotlin",
    "md": "markdown",
    "mjs": "javascript",
    "mk": "make",
    "mts": "typescript",
    "php": "php",
    "proto": "protobuf",
    "py": "python",
    "pyi": "python",
    "rb": "ruby",
    "rs": "rust",
    "rst": "restructuredtext",
    "scala": "scala",
    "sh": "shell",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "ts": "typescript",
    "tsx": "typescript",
    "xml": "xml",
    "yaml": "yaml",
    "yml": "yaml",
}
"""Languages by the end of a file's name."""

NAMED: dict[str, str] = {"dockerfile": "docker", "gnumakefile": "make", "justfile": "just", "makefile": "make"}
"""Languages of files whose name has no end."""

PARSED = frozenset({"go", "java", "javascript", "python", "rust", "typescript"})
"""Languages whose definitions and imports are read."""


def language_of(path: str) -> str | None:
    """The language of a file, None if its name does not tell.

    >>> language_of("src/app.tsx"), language_of("Makefile"), language_of("LICENSE")
    ('typescript', 'make', None)
    """
    name = posixpath.basename(path).lower()
    return NAMED.get(name) or LANGUAGES.get(name.rpartition(".")[2] if "." in name else "")
