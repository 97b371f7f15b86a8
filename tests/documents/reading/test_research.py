"""Research notes, research summaries and codebase maps: what they say, with its lines."""

from __future__ import annotations

import pytest

from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.codebase_map import NamedPath
from verifyplan.documents.kinds.research_note import confidence_in, version_sensitive
from verifyplan.documents.loading import load_text
from verifyplan.documents.reading.phrases import LocatedText

NOTE = """---
confidence: medium
sources_checked: 3
coverage: partial
---

## Key Findings

- [S4] [S1] (high) One
  - and its detail
- [S5] [SPECULATIVE] two, LOW

| Finding | Level |
|---|---|
| three | [S2] medium confidence |

## Gaps

Nothing is known of speed.

## Sources

1. [S1] Manual - versions
2. Blog
"""


def test_findings_are_items_with_what_stands_below_and_rows():
    note = load_text(NOTE, "research/x.md")
    assert (note.confidence, note.sources_checked, note.coverage) == ("medium", 3, "partial")
    assert [(f.source_level, f.confidence, f.speculative, f.line) for f in note.findings] == [
        ("S1", "high", False, 9),
        ("S5", "low", True, 11),
        ("S2", "medium", False, 15),
    ]
    assert note.findings[0].text == "[S4] [S1] (high) One and its detail"
    assert note.gaps == (LocatedText("Nothing is known of speed.", 19),)
    assert [(s.levels, s.line) for s in note.sources] == [(("S1",), 23), ((), 24)]


def test_findings_without_items_are_paragraphs():
    note = load_text("## Key Findings\n\n### A\n\n[S1] (high) one\nline\n\n[S2] (low) two\n", "RESEARCH.md")
    assert [(f.text, f.line) for f in note.findings] == [("[S1] (high) one line", 5), ("[S2] (low) two", 8)]


@pytest.mark.parametrize(
    ("text", "confidence"),
    [
        ("(high)", "high"),
        ("[MEDIUM]", "medium"),
        ("**Confidence:** LOW", "low"),
        ("confidence: high", "high"),
        ("high confidence", "high"),
        ("it is HIGH", "high"),
        ("(confidence: low)", "low"),
        ("high load", None),
        ("a highway", None),
        ("", None),
    ],
)
def test_a_confidence_is_stated_in_brackets_in_capitals_or_beside_the_word(text, confidence):
    assert confidence_in(text) == confidence


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("needs v18", "v18"),
        ("since 1.2.3 it", "1.2.3"),
        ("httpx >=0.27", ">=0.27"),
        ("Python 3.12 is", "Python 3.12"),
        ("call `run(x, y)` then", "`run(x, y)`"),
        ("set `timeout: 30`", "`timeout: 30`"),
        ("with `--strict`", "`--strict`"),
        ("version 5", "version 5"),
        ("took 2.5 seconds", ""),
        ("Memory 2.5 GB", ""),
        ("see `src/a.py`", ""),
        ("grew by 10.5%", ""),
    ],
)
def test_versions_signatures_and_settings_are_told_from_numbers(text, named):
    assert version_sensitive(text) == named


def test_a_note_without_frontmatter_says_its_confidence_under_its_title():
    note = load_text("# R\n\n**Confidence**: MEDIUM-ish, HIGH later\n\n## Open Questions\n\n- Why?\n", "RESEARCH.md")
    assert (note.form, note.confidence) == ("labelled", "medium")
    note = load_text("# R\n\n**Overall confidence:** HIGH (read)\n\n## Open Questions\n\n- Why?\n", "RESEARCH.md")
    assert (note.confidence, note.gaps) == ("high", (LocatedText("Why?", 7),))


def test_a_summary_has_decisions_questions_and_ideas():
    text = (
        "---\nconfidence: high\nsources: 2\nconflicts: 1\n---\n## Resolved Decisions\n\n"
        "|Topic|Sources|Decision|Confidence|\n|-|-|-|-|\n|T|a.md|use x|**Medium**|\n|U||y|sure|\n\n"
        "## Open Questions\n\n- [NEEDS DECISION] a?\n- b?\n\n## Deferred Ideas\n\nNone\n"
    )
    summary = load_text(text, "research/SUMMARY.md")
    assert (summary.confidence, summary.sources, summary.conflicts) == ("high", 2, 1)
    assert [tuple(d) for d in summary.decisions] == [
        ("T", "use x", "medium", "a.md", 10),
        ("U", "y", None, "", 11),
    ]
    assert [(q.needs_decision, q.line) for q in summary.open_questions] == [(True, 15), (False, 16)]
    assert [item.text for item in summary.deferred] == ["None"]


def test_a_map_has_claims_with_the_paths_that_they_name():
    text = (
        "# T\n\n## Run\n\n- Tests: `tests/**/*.py`,\n  started by Makefile\n- [`src/[id]/a.ts:12`](src/[id]/a.ts)\n"
        "\n## Data\n\n| A | B |\n|-|-|\n| x | https://a.b/c.js |\n"
    )
    found = load_text(text, "codebase/TESTING.md")
    assert (found.map, found.focus) == ("TESTING", "quality")
    assert [(c.section, c.line, [p.path for p in c.paths]) for c in found.claims] == [
        ("Run", 5, ["tests/**/*.py", "Makefile"]),
        ("Run", 7, ["src/[id]/a.ts", "src/[id]/a.ts"]),
        ("Data", 13, []),
    ]
    assert NamedPath("Makefile", 6) in found.paths
    assert load_text(text, "codebase/OTHER.md").focus is None


def test_paths_are_looked_up_in_the_repository_alone(tmp_path):
    root = tmp_path / "repository"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").touch()
    (tmp_path / "secret.py").touch()
    (root / "out").symlink_to(tmp_path, target_is_directory=True)
    text = (
        "## A\n\n- `src/a.py` and src/**/*.py\n- lib/**/*.py\n- `out/secret.py`\n- `../secret.py`\n- `/etc/hosts.py`\n"
    )
    document = load_text(text, "codebase/STRUCTURE.md")
    found = [(v.line, v.rule.partition("/")[2]) for v in check_document(document, root)]
    assert sorted(found) == [(4, "path-missing"), (5, "path-missing"), (6, "path-outside"), (7, "path-outside")]
    assert {v.rule for v in check_document(document, None)} == {"codebase-map/path-outside"}
