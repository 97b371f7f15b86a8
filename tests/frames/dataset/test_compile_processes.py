"""Compiles as processes of their own: two at once, Ctrl-C, a full disk (rule E5)."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys

import pytest

import verifyplan as vp
from tests.frames.dataset.folders import expect_equal, write_run
from tests.processes import forked, process
from verifyplan.errors import InputError
from verifyplan.frames.dataset.compile import compile_dataset

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals and limits are those of POSIX")

HELD = """
import sys
from verifyplan.cli import main
from verifyplan.frames.dataset import compile as compiling

write = compiling.write_manifest

def held(*arguments):
    print("all but the manifest is written", flush=True)
    sys.stdin.read()
    write(*arguments)

compiling.write_manifest = held
main()
"""
"""The command, which waits before its last step until its input ends."""


@pytest.fixture
def compiled(tmp_path):
    """Compile a run, and add another."""
    write_run(tmp_path / "runs", "a")
    compile_dataset(tmp_path / "runs", tmp_path / "set")
    write_run(tmp_path / "runs", "b")
    return tmp_path


def held_compile(folder):
    words = [sys.executable, "-c", HELD, "compile", str(folder / "runs"), "--out", str(folder / "set")]
    return process(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def left_over(folder):
    named = {part.name for part in vp.load(folder / "set").statistics}
    return {path.name for path in (folder / "set/parts").iterdir()} - named


def test_a_second_process_is_refused_and_the_first_ends_well(compiled):
    with held_compile(compiled) as first:
        assert "manifest" in first.stdout.readline()
        second = forked(
            "everything", "tests.fork_server", "command", "compile", compiled / "runs", "--out", compiled / "set"
        )
        assert (second.returncode, "is being compiled by another process" in second.stderr) == (2, True), second.stderr
        assert len(vp.load(compiled / "set")) == 1
        _, errors = first.communicate("", timeout=60)
    assert first.returncode == 0, errors
    expect_equal(vp.load(compiled / "set"), vp.load(compiled / "runs"))


def test_after_ctrl_c_the_dataset_is_the_old_one_and_nothing_is_left_over(compiled):
    with held_compile(compiled) as running:
        assert "manifest" in running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert (running.returncode, "Interrupted; nothing is half-written." in errors) == (130, True), errors
    assert len(vp.load(compiled / "set")) == 1
    assert not left_over(compiled)
    compile_dataset(compiled / "runs", compiled / "set")
    expect_equal(vp.load(compiled / "set"), vp.load(compiled / "runs"))


def test_where_a_file_cannot_be_written_whole_the_dataset_is_the_old_one(compiled):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))  # as a full disk, files end early
    try:
        with pytest.raises(InputError, match=r"cannot be written \(File too large\); it is as it was before"):
            compile_dataset(compiled / "runs", compiled / "set")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert len(vp.load(compiled / "set")) == 1
    assert not left_over(compiled)
    assert compile_dataset(compiled / "runs", compiled / "set").added == 1
