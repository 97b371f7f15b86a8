"""Plans from files: what is read, and what is refused, with which words."""

from __future__ import annotations

import pytest

from verifyplan.errors import InputError
from verifyplan.plans import plan as module
from verifyplan.plans.plan import parse_plan, read_plan


@pytest.mark.parametrize("data", [b"# A\n\n1. b\n", b"\xef\xbb\xbf# A\r\n\r\n1. b\r\n", b"# A\r\r1. b\r"])
def test_any_line_end_and_a_byte_order_mark_are_read(tmp_path, data):
    (tmp_path / "p.md").write_bytes(data)
    plan = read_plan(tmp_path / "p.md")
    assert plan.lines == ("# A", "", "1. b")
    assert (plan.title, plan.path, plan.steps[0].first) == ("A", str(tmp_path / "p.md"), 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (None, r"cannot be read \(No such file or directory\)\. Fix: name a plan that exists"),
        (b"a\n\xff\n", r"line 2: byte 0xff is not UTF-8\. Fix: save the file as UTF-8"),
        (b"a\0b", r"is binary\. Fix: name a plan in Markdown"),
        (b"x" * 101, r"is larger than 100 bytes\. Fix: name a plan, or split it"),
    ],
)
def test_what_is_refused(tmp_path, monkeypatch, data, message):
    monkeypatch.setattr(module, "MAX_PLAN_BYTES", 100)
    if data is not None:
        (tmp_path / "p.md").write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_plan(tmp_path / "p.md")


def test_a_folder_and_an_impossible_name_are_refused(tmp_path):
    with pytest.raises(InputError, match="is a folder"):
        read_plan(tmp_path)
    with pytest.raises(InputError, match="cannot be read"):
        read_plan("a\0b")


def test_a_link_to_itself_is_refused(tmp_path):
    (tmp_path / "p.md").symlink_to(tmp_path / "p.md")
    with pytest.raises(InputError, match="cannot be read"):
        read_plan(tmp_path / "p.md")


def test_the_path_is_kept_as_it_was_given():
    assert parse_plan("", "x/y.md").path == "x/y.md"
