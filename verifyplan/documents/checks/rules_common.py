"""The rules that hold for every kind of document, and for files that cannot be read (rules D2, H3)."""

from __future__ import annotations

from verifyplan.documents.checks.violation import Rule

RULES_COMMON = (
    Rule("document/unreadable", "error", "H3", "A document is text in UTF-8, no larger than 20 MB."),
    Rule(
        "document/not-followed", "info", "H3", "Links, and names that cannot be shown, are neither followed nor read."
    ),
    Rule("document/no-repository", "info", "D2", "Paths are looked up where the repository is beside .planning."),
    Rule("document/too-long", "error", "H3", "A document has no more than 20,000 lines and a million characters."),
    Rule("document/frontmatter", "error", "D2", "Frontmatter is plain YAML: no anchor, alias, tag, and no key twice."),
)
