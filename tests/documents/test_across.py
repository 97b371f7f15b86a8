"""Each rule across documents: a tree that breaks it alone, at the right line, and trees that do not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from tests.sample_tree import FILES, PHASE, line_of, sample_tree
from verifyplan.documents import Tree, check, load, load_text
from verifyplan.documents.checks.catalogue import RULES
from verifyplan.documents.checks.check import check_tree
from verifyplan.documents.reading.comparing import matched, unmatched

RESEARCH, AUTH, STORAGE = "research/SUMMARY.md", "research/auth.md", "research/storage.md"
PLAN, SECOND = f"{PHASE}/PLAN-01.md", f"{PHASE}/PLAN-02.md"
SUMMARY, VERIFICATION = f"{PHASE}/SUMMARY-01-01.md", f"{PHASE}/VERIFICATION.md"


def changed(*edits):
    """The files of the sample tree after edits (file, what stands there, what is to stand there)."""
    files = dict(FILES)
    for name, old, new in edits:
        assert old in files[name], (name, old)
        files[name] = files[name].replace(old, new, 1)
    return files


def found(folder, files):
    report = check(sample_tree(folder, files))
    return [(one.rule, one.path.rpartition(".planning/")[2], one.line) for one in report.violations]


def test_the_sample_tree_breaks_nothing(tmp_path):
    report = check(sample_tree(tmp_path))
    assert (report.violations, len(report.documents), len(report.others)) == ((), 8, 1)


BREAKS = [
    # rule, edits, the file and the text of the line that it stands on
    (
        "tree/confidence-upgraded",
        [
            (RESEARCH, "confidence: medium", "confidence: high"),
            (AUTH, "confidence: high", "confidence: medium"),
            (RESEARCH, "| high | auth.md", "| medium | auth.md"),
        ],
        (RESEARCH, "confidence: high"),
    ),
    ("tree/confidence-upgraded", [(RESEARCH, "| low | storage.md", "| high | storage.md")], (RESEARCH, "| Storage |")),
    (
        "tree/speculation-upgraded",
        [(RESEARCH, "Put them into the database | low", "Keep all sessions in one shared table | medium")],
        (RESEARCH, "| Storage |"),
    ),
    ("tree/task-unknown", [(SUMMARY, "| 01-01-T2 |", "| 01-01-T9 |")], (SUMMARY, "| 01-01-T9 |")),
    ("tree/task-unknown", [(SUMMARY, "| 01-01-T2 |", "| 01-01-T10 |")], (SUMMARY, "| 01-01-T10 |")),
    ("tree/sources-count", [(RESEARCH, "sources: 2", "sources: 3")], (RESEARCH, "sources: 3")),
    ("tree/conflicts-count", [(RESEARCH, "conflicts: 1", "conflicts: 2")], (RESEARCH, "conflicts: 2")),
    ("tree/conflicts-count", [(RESEARCH, "conflicts: 1", "conflicts: 0")], (RESEARCH, "conflicts: 0")),
    (
        "tree/conflict-dropped",
        [
            (RESEARCH, "conflicts: 1", "conflicts: 0"),
            (RESEARCH, "## Contradictions\n\n- storage.md says that", "That"),
            (AUTH, "- [S1] Tokens", "- [S1] [CONFLICT] Tokens"),
        ],
        (RESEARCH, "conflicts: 0"),
    ),
    (
        "tree/decision-unmet",
        [(RESEARCH, "retention period do expired sessions", "cipher do stored backups")],
        (RESEARCH, "cipher"),
    ),
    ("tree/dependency-unknown", [(SECOND, '["01-01"]', '["01-01", "01-07"]')], (SECOND, "depends_on")),
    ("tree/dependency-unknown", [(SECOND, '["01-01"]', '\n  - "01-01"\n  - "07"')], (SECOND, '- "07"')),
    ("tree/dependency-unknown", [(SECOND, '["01-01"]', '["02-01"]')], (SECOND, "depends_on")),
    ("tree/consumed-unprovided", [(SECOND, '["login 1"]', '["mail"]')], (SECOND, "consumes")),
    ("tree/requirement-unknown", [(SECOND, '["AUTH-02"]', '["AUTH-03"]')], (SECOND, "requirement_ids")),
    ("tree/task-untold", [(SUMMARY, "| 01-01-T2 | done | a day |\n", "")], (SUMMARY, "| Task |")),
    ("tree/provides-dropped", [(SUMMARY, '["login 1"]', "[]")], (SUMMARY, "provides")),
    (
        "tree/must-have-not-in-summary",
        [(SUMMARY, '  - "src/auth_1.py: checks tokens: DONE"\n', "")],
        (SUMMARY, "must_haves"),
    ),
    (
        "tree/must-have-unknown",
        [(SUMMARY, "must_haves:\n", 'must_haves:\n  - "Mail is sent: DONE"\n')],
        (SUMMARY, "Mail is sent"),
    ),
    (
        "tree/must-haves-count",
        [
            (VERIFICATION, "| 6 |", "| 6 | src/app_2.py calls src/auth_2.py | VERIFIED | src/b.py:1 |\n| 7 |"),
            (VERIFICATION, "total: 6", "total: 7"),
            (VERIFICATION, "passed: 6", "passed: 7"),
        ],
        (VERIFICATION, "must_haves_total"),
    ),
]


@pytest.mark.parametrize(("rule", "edits", "place"), BREAKS, ids=lambda value: value if isinstance(value, str) else "")
def test_a_rule_is_broken_alone_at_its_line(tmp_path, rule, edits, place):
    files = changed(*edits)
    assert found(tmp_path, files) == [(rule, place[0], line_of(files[place[0]], place[1]))]


def test_a_verification_that_leaves_a_must_have_out_breaks_one_rule(tmp_path):
    """Its table is shorter, so its counts are changed with it; the count of the plans is told, too."""
    files = changed((VERIFICATION, "| 2 | src/auth_1.py: checks tokens | VERIFIED | src/auth_1.py:1 |\n", ""))
    files[VERIFICATION] = files[VERIFICATION].replace(": 6", ": 5")
    assert found(tmp_path, files) == [
        ("tree/must-haves-count", VERIFICATION, 4),
        ("tree/must-have-not-verified", VERIFICATION, line_of(files[VERIFICATION], "| 1 |")),
    ]


def test_a_verification_that_adds_a_must_have_is_told_at_its_row(tmp_path):
    last = "| 6 | `src/app_2.py` calls"
    files = changed((VERIFICATION, last, f"| 6 | `src/mail.py` sends | PASS | a.py:1 |\n{last.replace('6', '7')}"))
    files[VERIFICATION] = files[VERIFICATION].replace(": 6", ": 7")
    assert found(tmp_path, files) == [
        ("tree/must-haves-count", VERIFICATION, 4),
        ("tree/must-have-unknown", VERIFICATION, line_of(files[VERIFICATION], "mail.py")),
    ]


def test_ids_and_summaries_that_do_not_pair(tmp_path):
    third = f"{PHASE}/SUMMARY-01-03.md"
    lone = {third: FILES[SUMMARY].replace("01-01", "01-03")}
    assert ("tree/summary-without-plan", third, 2) in found(tmp_path / "lone", lone)
    again = {f"{PHASE}/SUMMARY-again.md": FILES[SUMMARY]}
    rules = [rule for rule, _, _ in found(tmp_path / "again", again)]
    assert "tree/summary-repeated" in rules
    assert "tree/summary-without-plan" not in rules
    twice = found(tmp_path / "twice", {f"{PHASE}/PLAN-03.md": FILES[PLAN]})
    assert ("tree/plan-id-repeated", f"{PHASE}/PLAN-03.md", 3) in twice


def test_attempts_of_one_phase_are_compared(tmp_path):
    second = f"{PHASE}/VERIFICATION-2.md"
    fine = FILES[VERIFICATION].replace("attempt: 1", "attempt: 2")
    assert found(tmp_path / "fine", {second: fine}) == []
    same = found(tmp_path / "same", {second: FILES[VERIFICATION] + "\nAgain.\n"})
    assert same == [("verification/attempt-not-grown", second, 3)]
    row = "| 2 | src/auth_1.py: checks tokens | VERIFIED | src/auth_1.py:1 |\n"
    dropped = found(tmp_path / "dropped", {second: fine.replace(row, "").replace(": 6", ": 5")})
    assert "verification/must-have-dropped" in {rule for rule, _, _ in dropped}


def test_verifications_of_a_plan_each_are_no_attempts_of_one_another(tmp_path):
    head = FILES[VERIFICATION].partition("| 4 |")[0]
    first = head.replace(": 6", ": 3") + "\n## Gaps\n\nNone\n"
    second = first.replace("part 1", "part 2").replace("_1.py", "_2.py")
    files = {VERIFICATION: None, f"{PHASE}/01-01-VERIFICATION.md": first, f"{PHASE}/01-02-VERIFICATION.md": second}
    assert found(tmp_path, files) == []


FINE = {
    "a dependency on a plan by its number": [(SECOND, '["01-01"]', '["01"]')],
    "a dependency without leading zeros": [(SECOND, '["01-01"]', '["1-1"]')],
    "a dependency on a file's name": [(SECOND, '["01-01"]', '["PLAN-01.md"]')],
    "a dependency on a phase": [(SECOND, '["01-01"]', '["Phase 1"]')],
    "no confidence that is stated": [(RESEARCH, "| low | storage.md", "| medium | storage.md")],
    "a decision that a line states": [
        (PLAN, "Ask for the retention period that expired sessions have", "Ask"),
        (PLAN, "Decide the retention period of expired sessions", "Decide"),
        (SECOND, "Ask for the retention period that expired sessions have", "Decision: retention of expired sessions"),
    ],
    "like words for a must-have": [(SUMMARY, "src/auth_1.py: checks tokens", "src/auth_1.py: checks the tokens")],
    "a summary that is partial": [(SUMMARY, "complete", "partial"), (SUMMARY, '["login 1"]', "[]")],
}


@pytest.mark.parametrize("edits", FINE.values(), ids=FINE)
def test_what_looks_like_a_violation_and_is_none(tmp_path, edits):
    assert not [one for one in found(tmp_path, changed(*edits)) if one[0].startswith("tree/")]


def test_what_is_not_there_is_not_asked(tmp_path):
    """No notes, no plans, no requirements file, no verification: nothing to hold the others to."""
    assert found(tmp_path / "notes", {AUTH: None, STORAGE: None}) == []
    unasked = {**changed((PLAN, "AUTH-01", "X-9")), "REQUIREMENTS.md": None}
    assert found(tmp_path / "unasked", unasked) == []
    plans = {name: None for name in FILES if name.startswith("phases")}
    assert found(tmp_path / "plans", plans) == []


def test_a_plan_that_was_not_executed_needs_no_verification(tmp_path):
    gap = FILES[SECOND].replace("01-02", "01-03").replace("part 2", "part 3").replace("login 2", "login 3")
    assert found(tmp_path, {f"{PHASE}/PLAN-03.md": gap}) == []


def test_a_verification_may_have_rows_for_a_plan_that_was_not_executed(tmp_path):
    gap = FILES[SECOND].replace("01-02", "01-03").replace("part 2", "part 3").replace("login 2", "login 3")
    gap = gap.replace('artifacts: ["src/auth_2.py: checks tokens"]', "artifacts: []")
    gap = gap.replace('key_links: ["src/app_2.py calls src/auth_2.py"]', "key_links: []")
    rows = FILES[VERIFICATION].replace(
        "\n\n## Gaps", "\n| 7 | Users of part 3 can log in | VERIFIED | a.py:1 |\n\n## Gaps"
    )
    files = {f"{PHASE}/PLAN-03.md": gap, VERIFICATION: rows.replace(": 6", ": 7")}
    assert not [one for one in found(tmp_path, files) if one[0].startswith("tree/must-have")]


def test_of_one_phase_only_its_own_plans_are_asked_for(tmp_path):
    root = sample_tree(tmp_path, changed((SECOND, '["01-01"]', '["01-01", "02-01", "setup-01", "01-09"]')))
    rules = [one.rule for one in check(root / PHASE).violations if one.rule == "tree/dependency-unknown"]
    assert len(rules) == 1


def test_a_heading_that_names_a_conflict_of_another_kind_is_no_contradiction(tmp_path):
    note = FILES[AUTH].replace("## Gaps", "## Concurrency group conflicts\n\n- Two jobs run at once.\n\n## Gaps")
    files = changed((RESEARCH, "conflicts: 1", "conflicts: 0"), (RESEARCH, "## Contradictions\n\n- storage.md", "So"))
    assert found(tmp_path, {**files, AUTH: note}) == []


def test_every_rule_across_documents_is_tried_here():
    tried = {rule for rule, _, _ in BREAKS} | {
        "tree/must-have-not-verified",
        "tree/summary-without-plan",
        "tree/summary-repeated",
        "tree/plan-id-repeated",
    }
    assert tried == {rule for rule in RULES if rule.startswith("tree/")}


def test_a_mark_that_a_plan_repeats_decides_nothing(tmp_path):
    files = changed(
        (RESEARCH, "retention period do expired sessions", "cipher do stored backups"),
        (SECOND, "<done>", "<done>[NEEDS DECISION] Which cipher do stored backups have? "),
    )
    assert [rule for rule, *_ in found(tmp_path, files)].count("tree/decision-unmet") == 1
    files[SECOND] = files[SECOND].replace("[NEEDS DECISION] Which cipher do", "Decided: the cipher that")
    assert "tree/decision-unmet" not in [rule for rule, *_ in found(tmp_path, files)]


def test_formatting_and_numbering_do_not_matter_and_numbers_do():
    wanted = ["Tokens expire in <= 15 minutes", "`a.py` is not read", "Retries at most 3 times"]
    assert matched(wanted, ["3) **tokens** expire in <= 15 minutes.", "- A.PY is not read"]) == [0, 1, None]
    other = ["Tokens expire in > 15 minutes", "`a.py` is read", "Retries at most 4 times"]
    assert unmatched(wanted, other) == ([0, 1, 2], [0, 1, 2])


texts = st.lists(st.text(alphabet="ab 12.`*<>", max_size=12), max_size=8)


@settings(max_examples=examples(60))
@given(texts, texts)
def test_every_text_matches_itself_and_either_side_gives_the_same(wanted, given_):
    assert None not in matched(wanted, wanted)
    lacking, extra = unmatched(wanted, given_)
    assert unmatched(given_, wanted) == (extra, lacking)


def test_of_very_many_must_haves_only_equal_wording_counts():
    """A hostile tree must not take minutes: like wording takes a comparison of each with each."""
    wanted = [f"thing is ready {'x' * n}" for n in range(2000)]
    given_ = [f"thing was ready {'x' * n}" for n in range(2000)]
    assert [len(places) for places in unmatched(wanted, given_)] == [2000, 2000]
    assert unmatched(wanted[20:29], given_[20:29]) == ([], [])
    assert unmatched(["word " * 400_000], ["words " * 400_000]) == ([0], [0])


pieces = st.sampled_from([*sorted({line for text in FILES.values() for line in text.splitlines()}), "\x1b[2J", "-"])


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(st.sampled_from(sorted(FILES)), st.lists(st.one_of(pieces, st.text(max_size=9)))), max_size=9)
)
def test_documents_of_any_lines_are_checked_against_each_other(written):
    """Whatever lines they hold, and however they are mixed: violations in order, never an error."""
    documents = [load_text("\n".join(lines), f".planning/{name}") for name, lines in written]
    tree = Tree(".planning", tuple(document for document in documents if document is not None))
    report = check_tree(tree)
    assert list(report.violations) == sorted(report.violations)
    assert all(one.line >= 1 for one in report.violations)


def test_documents_that_are_loaded_keep_their_phase(tmp_path):
    tree = load(sample_tree(tmp_path))
    assert [phase.name for phase in tree.phases] == ["01-auth"]
