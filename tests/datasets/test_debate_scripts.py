"""The scripted debates: they end as their names say, and what they change is there."""

from __future__ import annotations

import json

import pytest

import verifyplan as vp
from verifyplan.datasets.bundled import DEBATES, debate_script
from verifyplan.datasets.plans import plan_path
from verifyplan.diffs import apply
from verifyplan.errors import InputError
from verifyplan.rules.citations import places

ENDS = {
    "readme-section": ("CONVERGED", "VERIFIED", 2),
    "purge-stop": ("FAILED", "NO_IMPROVEMENT", 3),
    "excel-export": ("CONVERGED", "VERIFIED", 1),
}


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    return vp.datasets.sample_repository(tmp_path_factory.mktemp("sample") / "waybill")


def reader(name, repository):
    """Reads a file of the sample repository, or the plan of that name."""

    def read(path):
        file = plan_path(name) if path == f"{name}.md" else repository / path
        return file.read_text() if file.is_file() else None

    return read


@pytest.mark.parametrize("name", DEBATES)
def test_a_scripted_debate_ends_as_it_is_told_and_every_diff_applies(name, repository):
    run = vp.debate(DEBATES[name], vp.agents.ScriptedBackend(debate_script(name)), repo=repository, log_dir=None)
    assert (run.status, run.reason, run.turns) == ENDS[name]
    read = reader(name, repository)
    for diff in run.state.diffs.values():
        changed = apply(diff, read)
        assert changed
        assert all(text != read(path) for path, text in changed.items())


@pytest.mark.parametrize("name", DEBATES)
def test_what_a_scripted_debate_cites_is_there(name, repository):
    read = reader(name, repository)
    for answer in json.loads(debate_script(name).read_text()).values():
        changed = apply(answer.get("diff", ""), read)
        for place in places(" ".join(answer["evidence"])):
            text = changed.get(place.path) or read(place.path)
            assert text, place
            assert place.last <= len(text.splitlines()), place


def test_another_name_is_told_which_there_are():
    with pytest.raises(
        InputError, match=r"must be a scripted debate, got 'readme'.*Fix: use 'readme-section', 'purge-stop'"
    ):
        debate_script("readme")
