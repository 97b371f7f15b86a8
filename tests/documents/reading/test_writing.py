"""Documents are written back byte for byte, and changed line by line."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.longer import examples
from verifyplan.documents.loading import REGISTRY, load, load_text
from verifyplan.documents.reading.document import KINDS
from verifyplan.documents.reading.writing import front_lines
from verifyplan.errors import InputError

PLAN = """---
plan: 01
wave: 2 # first

# gaps
gaps:
  - a
  - b
provides: []
---
# P

## Notes

old

## Summary
end""".replace("\n", "\r\n")

VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=20)),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


def plan(text):
    return load_text(text, "PLAN-01.md")


def test_a_key_gets_a_new_value_and_every_other_line_stays():
    changed = plan(PLAN).with_front(gaps=["c: d"], wave=3)
    assert changed.text == PLAN.replace("gaps:\r\n  - a\r\n  - b\r\n", 'gaps: ["c: d"]\r\n').replace("2 # first", "3")
    assert changed.wave == 3
    assert changed.path == "PLAN-01.md"


def test_a_missing_key_is_added_before_the_closing_fence():
    changed = plan(PLAN).with_front(overrides=[], attempt=2)
    assert changed.text == PLAN.replace("provides: []\r\n", "provides: []\r\noverrides: []\r\nattempt: 2\r\n")


@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_missing_frontmatter_is_put_at_the_head(mark):
    assert plan(f"{mark}# P\n").with_front(wave=1, plan="01").text == f'{mark}---\nwave: 1\nplan: "01"\n---\n# P\n'


def test_frontmatter_in_one_line_is_written_anew():
    assert plan("---\n{wave: 1, plan: a}\n---\nx").with_front(wave=2).text == "---\nwave: 2\nplan: a\n---\nx"


def test_damaged_frontmatter_is_not_changed():
    with pytest.raises(
        InputError, match=r"PLAN-01.md: line 3: the frontmatter cannot be changed: the key 'a' is given"
    ):
        plan("---\na: 1\na: 2\n---\n").with_front(wave=1)


def test_a_value_that_yaml_cannot_hold_is_refused():
    for value in (object(), {1, 2}):
        with pytest.raises(InputError, match=r"PLAN-01.md: key wave: frontmatter cannot hold this value"):
            plan("---\nwave: 1\n---\n").with_front(wave=value)


def test_keys_that_are_indented_stay_so():
    assert plan("---\n  wave: 1\n  plan: a\n---\n").with_front(wave=2, x=[]).text == (
        "---\n  wave: 2\n  plan: a\n  x: []\n---\n"
    )


def test_a_section_is_replaced_and_a_missing_one_added_last():
    changed = plan(PLAN).with_section("notes", "new\nlines\n")
    assert changed.text == PLAN.replace("old\r\n", "new\r\nlines\r\n")
    assert plan("# P\n").with_section("Gaps", "None").text == "# P\n\n## Gaps\n\nNone\n"
    assert plan("# P").with_section("Gaps", "None").text == "# P\n\n## Gaps\n\nNone"
    assert plan("Gaps\n----\nold\n").with_section("Gaps", "None").text == "Gaps\n----\n\nNone\n"
    assert plan("## Gaps").with_section("Gaps", "None").text == "## Gaps\n\nNone"


def test_saving_writes_the_bytes_that_were_read(tmp_path):
    data = ("\ufeff" + PLAN + "é\u2028\x0b\x85").encode()
    place = tmp_path / "PLAN-01.md"
    place.write_bytes(data)
    document = load(place)
    assert document.save(tmp_path / "new" / "PLAN-01.md").read_bytes() == data


def test_half_a_character_is_not_saved(tmp_path):
    with pytest.raises(InputError, match="the text holds half a character"):
        plan("\ud800").save(tmp_path / "PLAN-01.md")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind in REGISTRY])
@given(text=st.text(), end=ENDS)
@settings(max_examples=examples(40))
def test_any_text_is_written_back_as_it_was_read(kind, text, end):
    text = text.replace("\n", end)
    document = load_text(text, "x.md", kind)
    assert document.write() == text
    assert document.as_contract().write() == text


@given(
    end=ENDS, values=st.dictionaries(st.sampled_from(["wave", "gaps", "x y", "yes", "#", "- a"]), VALUES, max_size=3)
)
@settings(max_examples=examples(80))
def test_values_read_as_they_were_given_and_other_keys_stay(end, values):
    before = plan("---\nwave: 1\n# c\ngaps:\n- a\n\nplan: 01\n---\n# P\n".replace("\n", end))
    try:
        after = before.with_front(**values)
    except InputError:
        return  # half a character, or a key that is a text alone in YAML
    assert {name: after.source.front.values[name] for name in values} == values
    assert after.source.front.raw("plan") == "01"
    assert after.text.endswith(f"---{end}# P{end}")
    assert f"{end}# c{end}" in after.text


@given(st.text(max_size=60), ENDS)
def test_a_replaced_section_leaves_what_stands_before_and_behind(text, end):
    before = plan("# P\n\n## Gaps\n\nold\n\n## End\n\nlast\n".replace("\n", end))
    try:
        after = before.with_section("Gaps", text)
    except InputError:
        return  # a heading of its own, or code or a comment that never closes
    assert after.text.startswith(f"# P{end}{end}## Gaps{end}{end}")
    assert after.text.endswith(f"{end}## End{end}{end}last{end}")


def test_entries_are_short_where_they_can_be():
    assert front_lines("a", {"b": [{"c": 1, "d": ["x", "z"]}, []]}) == [
        "a:",
        "  b:",
        "    - c: 1",
        "      d: [x, z]",
        "    - []",
    ]
    assert front_lines("a", ["x" * 80, "y" * 80]) == ["a:", f"  - {'x' * 80}", f"  - {'y' * 80}"]
    assert front_lines("a", {}) == ["a: {}"]
    assert front_lines("yes", "no") == ['"yes": "no"']


@pytest.mark.parametrize(
    ("before", "title", "text"),
    [
        ("# P\n\n```md\n", "Gaps", "None"),
        ("## Gaps\n\nold\n\n## End\n", "Gaps", "```\nopen"),
        ("## Gaps\n\nold\n\n## End\n", "Gaps", "a\n\n## Other\n"),
        ("# P\n", "two\nlines", "a"),
    ],
)
def test_a_section_that_would_not_read_as_it_is_given_is_refused(before, title, text):
    with pytest.raises(InputError, match="would not read as it is given"):
        plan(before).with_section(title, text)


FRONT = ["wave: 1", "plan: 01", "block: |\n  a\n  b: c", "kept: |+\n  k\n", "fold: >-\n  x\n  y", "# a comment"]
FRONT += [
    "",
    "seq:\n- a\n- b",
    "flow: {a: [1, 2]}",
    "many: [a,\n  b]",
    "deep:\n  a: 1\n  # inside\n  b: 2",
    "? odd\n: v",
]
BODY = [
    "# P",
    "## A",
    "text",
    "```\n## A\n```",
    "<!--\n## A\n-->",
    "A\n---",
    "### sub",
    "- x",
    "",
    "| a |\n|---|",
    "    ## A",
]


@given(
    st.lists(st.sampled_from(FRONT), unique=True, max_size=6),
    st.lists(st.sampled_from(BODY), max_size=6),
    ENDS,
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["wave", "block", "kept", "seq", "deep", "new"]),
    st.sampled_from([1, "x", "a: b", ["a", "- b"], None, {"a": ["x"]}, "two\nlines", "# no", "é\u2028"]),
)
@settings(max_examples=examples(150))
def test_one_key_or_one_section_changes_and_nothing_else_does(front, body, end, mark, key, value):
    text = "\n".join(["---", *front, "---", *body, ""])
    before = plan(mark + text.replace("\n", end))
    after = before.with_front(**{key: value})
    assert after.source.front.values == {**before.source.front.values, key: value}
    assert after.source.lines[after.source.front.last :] == before.source.lines[before.source.front.last :]
    assert {line for line in before.source.lines if line == "# a comment"} <= set(after.source.lines)
    changed = before.with_section("A", "- new\n\ntext")
    part, old = changed.source.section("A"), before.source.section("A")
    assert [line for _, line in changed.source.lines_of(part) if line] == ["- new", "text"]
    if old:
        assert changed.source.lines[: old.head] == before.source.lines[: old.head]
        behind = before.source.lines[old.last :]
        assert changed.source.lines[len(changed.source.lines) - len(behind) :] == behind
    else:
        assert changed.text.startswith(before.text)


def test_a_number_that_no_document_holds_is_refused():
    for number in (2**70, 10**5000):
        with pytest.raises(InputError, match="cannot hold this value"):
            plan(PLAN).with_front(wave=number)
