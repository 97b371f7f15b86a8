"""The tasks of a plan: attributes, elements as they are written, and their lines, whatever the block."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from verifyplan.documents.checks.check import check_document
from verifyplan.documents.kinds.plan import files_of, read_tasks
from verifyplan.documents.loading import load_text
from verifyplan.documents.reading.source import read_source

TEXT = """# Plan

<tasks>
<task id="01-01-T1" type="auto" tdd="true" complexity="simple">
  <name>Write
    it</name>
  <files>
    - `src/a.py`
    @src/b.py, c.md
  </files>
  <action>
1. Run:
```sh
echo "</action>"
```
  </action>
  <verify><automated>pytest -q</automated></verify>
</task>
<task type='tdd'>
<name>open
"""

PIECES = [
    "<task>", '<task id="1-T1" type="auto">', "</task>", "<name>", "</name>", "<files>", "</files>", "<action>",
    "</action>", "<verify>", "</verify>", "<done>", "</done>", "<tasks>", "</tasks>", "<task", ">", "<", "</", "`",
    "```\n", "\n", "\n\n", "<!--", "-->", "<![CDATA[", "]]>", "<?xml?>", "<!DOCTYPE x [<!ENTITY a 'b'>]>", "&a;",
    "&lt;", "<task/>", "x", " = ", '"', "## Summary\n", "---\n", "wave: 1\n",
]  # fmt: skip
BLOCKS = st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=60).map("".join))


def test_tasks_are_read_with_their_attributes_elements_and_lines():
    first, second = read_tasks(read_source(TEXT, "PLAN-01.md"))
    assert (first.line, first.last, first.closed) == (4, 18, True)
    assert (first.id, first.type, first.tdd, first.complexity) == ("01-01-T1", "auto", True, "simple")
    assert first.name == "Write it"
    assert [(e.name, e.line) for e in first.elements] == [
        ("name", 5),
        ("files", 7),
        ("action", 11),
        ("verify", 17),
        ("automated", 17),
    ]
    assert first.files == ("src/a.py", "src/b.py", "c.md")
    assert list(files_of(first)) == [(8, "src/a.py"), (9, "src/b.py"), (9, "c.md")]
    assert (second.line, second.closed, second.id, second.type, second.tdd) == (19, False, None, "tdd", None)


def test_an_element_keeps_its_code_as_it_is_written():
    task = read_tasks(read_source(TEXT, "PLAN-01.md"))[0]
    assert task.text("action") == '1. Run:\n```sh\necho "</action>"\n```'
    assert task.text("automated") == "pytest -q"
    assert (task.get("done"), task.text("done")) == (None, "")


def test_a_task_within_a_task_has_its_elements_alone():
    text = "<task><name>a</name>\n<task>\n<name>b</name>\n</task>\n<done>c</done>\n</task><task><name>d</name></task>\n"
    found = [(t.line, [e.text for e in t.elements]) for t in read_tasks(read_source(text, "PLAN-01.md"))]
    assert found == [(1, ["a", "c"]), (2, ["b"]), (6, ["d"])]


@given(BLOCKS)
def test_any_block_of_tags_gives_tasks_and_violations_at_lines_that_are_there(block):
    text = f"---\nplan: 01-01\n---\n<task>\n{block}\n</task>\n"
    document = load_text(text, "01-01-PLAN.md")
    count = len(document.source.lines)
    for task in document.tasks:
        assert 1 <= task.line <= task.last <= count
        assert all(task.line <= element.line <= task.last for element in task.elements)
        assert all(task.line <= line <= task.last for line, _ in files_of(task))
    assert all(1 <= violation.line <= count for violation in check_document(document))
    assert document.write() == text
